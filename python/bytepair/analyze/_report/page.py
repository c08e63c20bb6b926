"""The content of the report page, section by section, prepared for its template.

This module formats numbers and draws charts, but measures nothing. Long lists are cut, so that
the page stays small enough to mail, and say how much they leave out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from bytepair._labels import harmless
from bytepair._plurals import amount
from bytepair.analyze._show.draw import counts
from bytepair.analyze._show.layout import Options, cuts_html
from bytepair.analyze._stats.verdict import verdict_of
from bytepair.analyze.doctor._draw import severities

from .corpus import corpus_section, group_section
from .parts import Card, Cell, Section, Table, metric_card
from .portrait import facts_of
from .vocabulary import findings_section, vocabulary_section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .report import Report
    from .samples import Sample

__all__ = ["sections_of", "subtitle"]

CARDS = (
    "missing_share",
    "bytes_per_token",
    "tokens_per_word",
    "used_share",
    "gini",
)
"""Metrics that come first."""


def sections_of(report: Report, names: Sequence[str]) -> list[Section]:
    """Lay out a report."""
    stats = report.stats
    sections = [_overview(report), _facts(report, names)]
    if stats is not None:
        sections.append(corpus_section(stats, names))
    if stats is not None and stats.groups:
        sections.append(group_section(stats, names))
    sections += [_samples(report), vocabulary_section(report, names)]
    sections.append(findings_section(report))
    if stats is None:
        absent = (
            "Compression, tokens per word, rank against frequency, groups such as languages, and "
            "tokens that never occur. To show them, give files after the tokenizers."
        )
        sections.append(Section("corpus", "Not shown without a corpus", [absent]))
    return sections


def subtitle(report: Report) -> str:
    """Describe how many tokenizers and texts a report covers."""
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


def _overview(report: Report) -> Section:
    portraits = [subject.portrait for subject in report.subjects]
    stats = report.stats
    cards = []
    if stats is not None:
        cards = [metric_card(stats.row(key)) for key in CARDS if key in stats.keys]
    tokens = [f"{portrait.n_tokens:,}" for portrait in portraits]
    cards.append(Card("Tokens", tokens, "in the vocabulary, added tokens included"))
    if stats is None:
        merges = [f"{portrait.n_merges:,}" for portrait in portraits]
        cards.append(Card("Merges", merges, "rules that join two tokens into one"))
    found = [severities(subject.diagnosis) or "none" for subject in report.subjects]
    cards.append(Card("Findings", found, "errors, warnings and notes; see below"))
    loses = [portrait.loses for portrait in portraits]
    cards.append(Card("Loses", loses, "what decoding does not restore"))
    lead = () if stats is None else verdict_of(stats)
    return Section("overview", "At a glance", lead=lead, cards=cards)


def _facts(report: Report, names: Sequence[str]) -> Section:
    facts = [facts_of(subject.portrait) for subject in report.subjects]
    rows = []
    for title in dict.fromkeys(title for each in facts for title in each):
        values = [each.get(title, "none") for each in facts]
        mark = " •" if len(set(values)) > 1 else ""
        rows.append([Cell(title + mark), *map(Cell, values)])
    notes = ["• marks differences between tokenizers."] if len(names) > 1 else []
    table = Table("", ["", *names], rows, is_sortable=False)
    return Section("facts", "Facts", notes, tables=[table])


def _samples(report: Report) -> Section:
    if not report.samples:
        notes = ["The corpus has no text to show."]
        return Section("samples", "In tokens", notes)
    notes = ["The beginning of the first text of each group or file."]
    if report.stats is None:
        notes = ["One sentence in several languages, and some other text."]
    if len(report.subjects) > 1:
        notes.append("Text that all tokenizers cut in the same way is grey.")
    cuts = [cut for sample in report.samples for cut in sample.cuts]
    if any(not isinstance(cut, str) and cut.n_missing for cut in cuts):
        notes.append("Characters without a token have a red background.")
    notes.append(
        "Dots mark characters that several tokens share. Point at a token, or move to it with "
        "the arrow keys, to see its ids and bytes."
    )
    shown = [(harmless(s.title) or "(none)", _drawn(s)) for s in report.samples]
    return Section("samples", "In tokens", [" ".join(notes)], samples=shown)


def _drawn(sample: Sample) -> list[tuple[str, Markup]]:
    """Draw a text as each tokenizer cuts it."""
    cuts = [cut for cut in sample.cuts if not isinstance(cut, str)]
    drawn = iter(cuts_html(cuts, Options()))
    return [
        (f"cannot encode it: {harmless(cut)}", Markup())
        if isinstance(cut, str)
        else (counts(cut), Markup(next(drawn)))
        for cut in sample.cuts
    ]
