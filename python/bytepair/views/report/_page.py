"""The content of the report page, section by section, prepared for its template.

This module formats numbers and draws charts, but measures nothing. Lists are cut so that the page
stays small enough to mail, and say how much they leave out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from bytepair import __version__
from bytepair._plurals import amount
from bytepair.views._html import rows_html
from bytepair.views._showing import counts

from ._corpus import corpus_section, group_sections, metric_cards
from ._findings import findings_section, severities
from ._parts import Card, Fact, Page, Section, Shown, ShownRow, Value, printable, short
from ._vocabulary import vocabulary_section

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bytepair.analyze import Cut, Portrait, Report
    from bytepair.analyze._samples import Sample

__all__ = ["page_of"]

CARDS = (
    "missing_share",
    "bytes_per_token",
    "tokens_per_word",
    "pieces_per_word",
    "used_share",
    "gini",
)
"""Metrics that come first."""
MAX_SPECIALS = 300


def page_of(report: Report) -> Page:
    """Lay out a report."""
    names = [printable(subject.name) for subject in report.subjects]
    found = [
        _overview(report),
        _facts(report),
        *([] if report.stats is None else [corpus_section(report.stats)]),
        *([] if report.stats is None else group_sections(report.stats)),
        _samples(report),
        vocabulary_section(report),
        findings_section(report),
        *([] if report.stats is not None else [_absent()]),
    ]
    return Page(
        title=" · ".join(names),
        subtitle=_subtitle(report),
        names=names,
        sections=found,
        footer=f"Made by bytepair {__version__}. This page loads nothing and sends nothing.",
    )


def _subtitle(report: Report) -> str:
    n_subjects = len(report.subjects)
    what = (
        "Tokenizer report" if n_subjects == 1 else f"Report on {n_subjects} tokenizers"
    )
    if report.stats is None:
        return f"{what}, without a corpus"
    total = report.stats.measurements[0].total
    size = f"{amount(total.documents, 'document')} of {amount(total.bytes, 'byte')}"
    n_groups = len(report.stats.groups)
    groups = f" in {n_groups} groups" if n_groups else ""
    return f"{what}, on a corpus of {size}{groups}"


def _absent() -> Section:
    return Section(
        "corpus",
        "Not shown without a corpus",
        missing=[
            "Compression, tokens per word, rank against frequency, groups such as languages, and "
            "tokens that never occur. To show them, give files after the tokenizers."
        ],
    )


# Sections


def _overview(report: Report) -> Section:
    portraits = [subject.portrait for subject in report.subjects]

    def each(told: Callable[[Portrait], str]) -> list[str]:
        return [told(portrait) for portrait in portraits]

    cards = []
    if report.stats is not None:
        cards += metric_cards(report.stats, CARDS)
    cards.append(
        Card(
            "Tokens",
            each(lambda p: f"{p.n_tokens:,}"),
            "in the vocabulary, added tokens included",
        )
    )
    cards += [
        Card(
            "Merges",
            each(lambda p: f"{p.n_merges:,}"),
            "rules that join two tokens into one",
        ),
        Card(
            "Special tokens",
            each(lambda p: f"{len(p.special_tokens):,}"),
            "found in a text only if the caller allows them",
        ),
    ] * (report.stats is None)
    cards += [
        Card(
            "Findings",
            [severities(subject.diagnosis) for subject in report.subjects],
            "errors, warnings and notes; see below",
            is_words=True,
        ),
        Card(
            "Loses",
            each(lambda p: p.loses),
            "not restored by decoding",
            is_words=True,
        ),
    ]
    return Section("overview", "At a glance", cards=cards)


def _facts(report: Report) -> Section:
    portraits = [subject.portrait for subject in report.subjects]
    found = [
        Fact("dialect", [Value(_dialect(p)) for p in portraits]),
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
                    Value(printable(part.get(name, "none")), is_code=name == "split")
                    for part in parts
                ],
            )
        )
    found.append(Fact("loses", [Value(p.loses) for p in portraits]))
    found.append(
        Fact("fingerprint", [Value(p.fingerprint, is_code=True) for p in portraits])
    )
    note = "• marks differences between tokenizers." if len(portraits) > 1 else ""
    return Section("facts", "Facts", note, facts=found)


def _dialect(portrait: Portrait) -> str:
    found = portrait.likeness
    return f"like {found}" if found.names else "of its own"


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
    found = [(short(name), f"{id_:,}") for name, id_ in tokens[:MAX_SPECIALS]]
    if not found:
        return Value("none")
    return Value(items=tuple(found), n_more=len(tokens) - len(found))


def _samples(report: Report) -> Section:
    if not report.samples:
        missing = ["The corpus has no text to show."]
        return Section("samples", "In tokens", missing=missing)
    is_own = report.stats is None
    note = (
        "One sentence in several languages, and some other text."
        if is_own
        else "The beginning of the first text of each group or file."
    )
    if len(report.subjects) > 1:
        note += " Text that all tokenizers cut in the same way is grey."
    if any(found.n_missing for sample in report.samples for found in _cuts(sample)):
        note += " Characters without a token have a red background."
    note += (
        " Dots mark characters that several tokens share. Point at a token, or move to it with "
        "the arrow keys, to see its ids and bytes."
    )
    return Section(
        "samples", "In tokens", note, samples=[_shown(s) for s in report.samples]
    )


def _cuts(sample: Sample) -> list[Cut]:
    return [found for found in sample.cuts if not isinstance(found, str)]


def _shown(sample: Sample) -> Shown:
    cuts = _cuts(sample)
    drawn = iter(rows_html(cuts))
    rows = [
        ShownRow(f"cannot encode it: {printable(found)}", Markup())
        if isinstance(found, str)
        else ShownRow(counts(found), Markup(next(drawn)))
        for found in sample.cuts
    ]
    return Shown(printable(sample.title) or "(none)", rows)
