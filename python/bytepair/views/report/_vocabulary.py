"""Vocabularies, for the page: the lengths and kinds of tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _charts
from ._charts import Axis, Series
from ._parts import (
    LENGTHS,
    N_SCRIPTS,
    SCRIPT_NAMES,
    Cell,
    Chart,
    Column,
    Part,
    Section,
    Table,
    columns_of,
    length_shares,
    number_cell,
    printable,
    short,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from bytepair.analyze import Portrait, Report

__all__ = ["vocabulary_section"]

VOCABULARY_SCRIPTS = (
    "Tokens with letters of each script; tokens with part of a character are left out."
)
LONGEST = "Longest tokens with letters"
MADE_OF = "Kinds of tokens"
N_LONGEST = 10


def vocabulary_section(report: Report) -> Section:
    names = [printable(subject.name) for subject in report.subjects]
    portraits = [subject.portrait for subject in report.subjects]
    curves = [Series(printable(curve.name), curve.points) for curve in report.curves]
    charts = [
        Chart(
            "Length of tokens",
            "Share of the tokens with each length in bytes, without added tokens.",
            _lengths(names, portraits),
        ),
        Chart(
            "Merges in training",
            "Occurrences of the pair of each merge when it was learned, by rank.",
            _merge_counts(names, portraits),
        ),
        Chart(
            "Compression in training",
            "Bytes per token of the training corpus at each size of the vocabulary, from merge logs.",
            _charts.lines(
                curves,
                Axis("size of the vocabulary", is_log=True),
                Axis("bytes per token"),
                "Bytes per token against the size of the vocabulary",
            ),
            names=[printable(curve.name) for curve in report.curves],
        ),
    ]
    scripts = Chart(
        "Scripts", VOCABULARY_SCRIPTS, table=_vocabulary_scripts(names, portraits)
    )
    if len(names) == 1:
        charts.append(Chart(MADE_OF, "", table=_kinds_of(portraits[0])))
        charts += [scripts, Chart(LONGEST, "", table=_longest(portraits[0]))]
        return Section("vocabulary", "Vocabulary", charts=charts)
    charts += [Chart(MADE_OF, "", table=_kinds(names, portraits)), scripts]
    longest = [
        Chart(name, table=_longest(portrait), series=number)
        for number, (name, portrait) in enumerate(zip(names, portraits, strict=True))
    ]
    part = Part(LONGEST, charts=longest)
    return Section("vocabulary", "Vocabulary", charts=charts, parts=[part])


def _lengths(names: Sequence[str], portraits: Sequence[Portrait]) -> Markup:
    rows = [length_shares(portrait.lengths) for portrait in portraits]
    x, y = Axis("bytes"), Axis("share of tokens", is_share=True)
    label = "Share of tokens by length in bytes"
    return _charts.columns(names, LENGTHS, rows, x, y, label)


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
        if not n_tokens:
            continue
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
    columns = [Column("kind"), *columns_of(names)]
    rows = []
    for place, (kind, _) in enumerate(portraits[0].kinds):
        if not any(portrait.kinds[place][1] for portrait in portraits):
            continue
        row = [Cell(kind)]
        for portrait in portraits:
            n_tokens = portrait.kinds[place][1]
            share = n_tokens / max(portrait.n_tokens, 1)
            row.append(Cell(f"{n_tokens:,}", "small", n_tokens, aside=f"{share:.1%}"))
        rows.append(row)
    return Table(columns, rows)


def _vocabulary_scripts(names: Sequence[str], portraits: Sequence[Portrait]) -> Table:
    columns = [Column("script"), *columns_of(names)]
    counts = [dict(portrait.scripts) for portrait in portraits]
    found = dict.fromkeys(
        script for portrait in portraits for script, _ in portrait.scripts
    )
    order = sorted(
        found, key=lambda script: -max(count.get(script, 0) for count in counts)
    )
    rows = [
        [
            Cell(SCRIPT_NAMES.get(script, script)),
            *(number_cell(n.get(script, 0)) for n in counts),
        ]
        for script in order[:N_SCRIPTS]
    ]
    return Table(columns, rows)


def _longest(portrait: Portrait) -> Table:
    columns = [
        Column("token"),
        Column("id", is_number=True),
        Column("characters", is_number=True),
        Column("bytes", is_number=True),
    ]
    rows = [
        [
            Cell(short(token.text), "token"),
            number_cell(token.id),
            number_cell(token.n_characters),
            number_cell(token.n_bytes),
        ]
        for token in portrait.longest[:N_LONGEST]
    ]
    return Table(columns, rows)
