"""What stands on the page of a report, section by section, written for its template.

Numbers are given their commas and units here, and charts are drawn; nothing is measured. Lists
are cut so that the page stays small enough to mail, and say how much they leave out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from bytepair import __version__
from bytepair._plurals import amount

from . import _charts
from ._charts import Axis, Series

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from markupsafe import Markup

    from bytepair.analyze._portrait import Portrait
    from bytepair.analyze._report import Report

__all__ = ["Page", "page_of"]

MAX_LENGTH = 24
"""Longer tokens are in one column, in bytes."""
MADE_OF = "What tokens are made of"
MAX_SPECIALS = 300
N_LONGEST = 10
MAX_TEXT = 48
"""So much of a token is written, in characters."""


class Cell(NamedTuple):
    """A cell of a table; ``value`` is what it is sorted by, ``share`` the length of its bar."""

    text: str
    kind: str = "text"
    value: float | None = None
    share: float | None = None
    series: int = 0
    aside: str = ""


class Column(NamedTuple):
    """The head of a column; ``series`` is the number of a tokenizer."""

    title: str
    is_number: bool = False
    series: int | None = None


class Table(NamedTuple):
    """Rows of cells below the heads of columns."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]


class Chart(NamedTuple):
    """A drawing, or a table, with its title and what it shows."""

    title: str
    note: str = ""
    drawing: Markup | None = None
    table: Table | None = None
    series: int | None = None


class Card(NamedTuple):
    """One metric of all tokenizers."""

    title: str
    values: Sequence[str]
    note: str = ""
    is_words: bool = False


class Value(NamedTuple):
    """A fact of one tokenizer: a text, or names with ids."""

    text: str = ""
    is_code: bool = False
    items: Sequence[tuple[str, str]] = ()
    n_more: int = 0


class Fact(NamedTuple):
    """A fact of all tokenizers."""

    title: str
    values: Sequence[Value]

    @property
    def differs(self) -> bool:
        """Whether it is not the same for all."""
        return len(set(self.values)) > 1


class Part(NamedTuple):
    """A table with what stands above it; ``series`` is the tokenizer that it is of."""

    title: str = ""
    note: str = ""
    table: Table | None = None
    series: int | None = None
    findings: Sequence[object] = ()
    charts: Sequence[Chart] = ()


@dataclass
class Section:
    """A section of the page."""

    id: str
    title: str
    note: str = ""
    cards: Sequence[Card] = ()
    facts: Sequence[Fact] = ()
    charts: Sequence[Chart] = ()
    parts: Sequence[Part] = ()
    samples: Sequence[object] = ()
    missing: Sequence[str] = ()


@dataclass
class Page:
    """All that the template writes."""

    title: str
    subtitle: str
    names: Sequence[str]
    sections: Sequence[Section]
    footer: str
    version: str = __version__


def page_of(report: Report) -> Page:
    """Lay a report out."""
    names = [subject.name for subject in report.subjects]
    found = [
        _overview(report),
        _facts(report),
        _vocabulary(report),
    ]
    return Page(
        title=" · ".join(names),
        subtitle=_subtitle(report),
        names=names,
        sections=[section for section in found if section is not None],
        footer=f"Made by bytepair {__version__}. This page loads nothing and sends nothing.",
    )


def _subtitle(report: Report) -> str:
    n_subjects = len(report.subjects)
    what = (
        "Tokenizer report" if n_subjects == 1 else f"Report on {n_subjects} tokenizers"
    )
    return f"{what}, without a corpus"


# Overview


def _overview(report: Report) -> Section:
    portraits = [subject.portrait for subject in report.subjects]

    def each(told: Callable[[Portrait], str]) -> list[str]:
        return [told(portrait) for portrait in portraits]

    cards = [
        Card(
            "Tokens",
            each(lambda p: f"{p.n_tokens:,}"),
            "special and other added ones included",
        ),
        Card(
            "Merges",
            each(lambda p: f"{p.n_merges:,}"),
            "rules that join two tokens into one",
        ),
        Card(
            "Special tokens",
            each(lambda p: f"{len(p.special_tokens):,}"),
            "found in a text only where the caller allows them",
        ),
        Card(
            "Loses",
            each(lambda p: p.loses),
            "what decoding does not give back",
            is_words=True,
        ),
    ]
    return Section("overview", "At a glance", cards=cards)


# Facts


def _facts(report: Report) -> Section:
    portraits = [subject.portrait for subject in report.subjects]
    found = [
        Fact("size", [Value(_size(p)) for p in portraits]),
        Fact("special tokens", [_named(p.special_tokens) for p in portraits]),
    ]
    if any(portrait.other_tokens for portrait in portraits):
        found.append(Fact("other added", [_named(p.other_tokens) for p in portraits]))
    parts = [dict(portrait.pipeline) for portrait in portraits]
    names = dict.fromkeys(name for part in parts for name in part)
    for name in names:
        if name in ("vocabulary", "added tokens"):
            continue
        found.append(
            Fact(
                name,
                [
                    Value(part.get(name, "none"), is_code=name == "split")
                    for part in parts
                ],
            )
        )
    found.append(Fact("loses", [Value(p.loses) for p in portraits]))
    found.append(
        Fact("fingerprint", [Value(p.fingerprint, is_code=True) for p in portraits])
    )
    note = "≠ marks what is not the same for all." if len(portraits) > 1 else ""
    return Section("facts", "Facts", note, facts=found)


def _size(portrait: Portrait) -> str:
    parts = [
        amount(portrait.n_tokens, "token"),
        amount(portrait.n_merges, "merge"),
        amount(portrait.n_added, "added token"),
    ]
    n_holes = portrait.n_vocab - portrait.n_tokens
    if n_holes:
        parts.append(f"{amount(n_holes, 'id')} that no token has")
    return ", ".join(parts)


def _named(tokens: Sequence[tuple[str, int]]) -> Value:
    """List tokens with their ids."""
    found = [(_short(name), f"{id_:,}") for name, id_ in tokens[:MAX_SPECIALS]]
    if not found:
        return Value("none")
    return Value(items=tuple(found), n_more=len(tokens) - len(found))


# Vocabulary


def _vocabulary(report: Report) -> Section:
    names = [subject.name for subject in report.subjects]
    portraits = [subject.portrait for subject in report.subjects]
    charts = [
        Chart(
            "Length of tokens",
            "Share of the tokens that have each length in bytes; added tokens are left out.",
            _lengths(names, portraits),
        ),
        Chart(
            "Merges in training",
            "How often the pair of each merge occurred when it was learned, by its rank.",
            _merge_counts(names, portraits),
        ),
    ]
    if len(names) == 1:
        charts.append(Chart(MADE_OF, "", table=_kinds_of(portraits[0])))
        charts.append(Chart("Longest tokens", "", table=_longest(portraits[0])))
        return Section("vocabulary", "Vocabulary", charts=charts)
    charts.append(Chart(MADE_OF, "", table=_kinds(names, portraits)))
    longest = [
        Chart(name, table=_longest(portrait), series=number)
        for number, (name, portrait) in enumerate(zip(names, portraits, strict=True))
    ]
    part = Part("Longest tokens", charts=longest)
    return Section("vocabulary", "Vocabulary", charts=charts, parts=[part])


def _lengths(names: Sequence[str], portraits: Sequence[Portrait]) -> Markup:
    rows = []
    for portrait in portraits:
        row = [0] * (MAX_LENGTH + 1)
        for length, n_tokens in portrait.lengths:
            row[min(max(length, 1), MAX_LENGTH + 1) - 1] += n_tokens
        total = sum(row) or 1
        rows.append([n_tokens / total for n_tokens in row])
    places = [*map(str, range(1, MAX_LENGTH + 1)), f">{MAX_LENGTH}"]
    x, y = Axis("bytes"), Axis("share of tokens", is_share=True)
    label = "Share of tokens by length in bytes"
    return _charts.columns(names, places, rows, x, y, label)


def _merge_counts(names: Sequence[str], portraits: Sequence[Portrait]) -> Markup:
    series = [
        Series(name, portrait.merge_counts)
        for name, portrait in zip(names, portraits, strict=True)
    ]
    x, y = Axis("rank of the merge", is_log=True), Axis("count", is_log=True)
    return _charts.lines(series, x, y, "Count of each merge in training, by rank")


def _kinds_of(portrait: Portrait) -> Table:
    columns = [
        Column("kind"),
        Column("tokens", is_number=True),
        Column("share", is_number=True),
    ]
    rows = []
    for kind, n_tokens in portrait.kinds:
        share = n_tokens / max(portrait.n_tokens, 1)
        rows.append(
            [
                Cell(kind),
                number_cell(n_tokens),
                Cell(f"{share:.1%}", "number", share, share),
            ]
        )
    return Table(columns, rows)


def _kinds(names: Sequence[str], portraits: Sequence[Portrait]) -> Table:
    columns = [Column("kind"), *_columns_of(names)]
    rows = []
    for place, (kind, _) in enumerate(portraits[0].kinds):
        row = [Cell(kind)]
        for portrait in portraits:
            n_tokens = portrait.kinds[place][1]
            share = n_tokens / max(portrait.n_tokens, 1)
            row.append(Cell(f"{n_tokens:,}", "small", n_tokens, aside=f"{share:.1%}"))
        rows.append(row)
    return Table(columns, rows)


def _columns_of(names: Sequence[str]) -> list[Column]:
    """Give each tokenizer a column of numbers."""
    return [Column(name, is_number=True, series=n) for n, name in enumerate(names)]


def _longest(portrait: Portrait) -> Table:
    columns = [
        Column("token"),
        Column("id", is_number=True),
        Column("characters", is_number=True),
        Column("bytes", is_number=True),
    ]
    rows = [
        [
            Cell(_short(token.text), "token"),
            number_cell(token.id),
            number_cell(token.n_characters),
            number_cell(token.n_bytes),
        ]
        for token in portrait.longest[:N_LONGEST]
    ]
    return Table(columns, rows)


# Parts


def number_cell(number: int) -> Cell:
    """Write a number with commas.

    >>> number_cell(1234).text
    '1,234'
    """
    return Cell(f"{number:,}", "number", number)


def _short(text: str) -> str:
    """Write a text so that all of it is seen, or its beginning where it is long."""
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    return shown if len(shown) <= MAX_TEXT else f"{shown[:MAX_TEXT]}…"
