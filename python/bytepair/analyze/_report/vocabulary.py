"""Vocabularies and findings about them, for the page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from bytepair._labels import harmless
from bytepair.analyze.doctor import page
from bytepair.views._glyphs import visible

from .charts import Axis, Series, lines
from .corpus import N_SCRIPTS, length_chart, script_name
from .parts import Cell, Chart, Page, Section, Table, number, short

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bytepair.analyze.doctor import Finding

    from .portrait import Portrait
    from .report import Report

__all__ = ["N_TOKENS", "findings_section", "vocabulary_section"]

N_LONGEST = 10
N_TOKENS = 25
"""The number of tokens that are listed for a finding."""
BLOCK = re.compile(r"(?m)```\w*\n((?s:.*?))```|^## (.*)|^((?:(?!```|## ).+\n?)+)")
"""The blocks of a page in Markdown: an example, a heading, or a paragraph."""
LINK, CODE = re.compile(r"\[([^]]*)\]\([^)]*\)"), re.compile("`([^`]*)`")


def vocabulary_section(report: Report, names: Sequence[str]) -> Section:
    portraits = [subject.portrait for subject in report.subjects]
    named = list(zip(names, portraits, strict=True))
    counts = [Series(name, portrait.merge_counts) for name, portrait in named]
    curves = [Series(harmless(curve.name), curve.points) for curve in report.curves]
    charts = [
        length_chart(
            "Length of tokens",
            [Series(name, portrait.lengths) for name, portrait in named],
        ),
        Chart(
            "Merges in training",
            "Occurrences of the pair of each merge when it was learned, from the first merge on.",
            lines(counts, "number of the merge", Axis("count", is_log=True)),
            names,
        ),
        Chart(
            "Compression in training",
            "Bytes per token of the training corpus at each size of the vocabulary, from merge logs.",
            lines(curves, "size of the vocabulary", Axis("bytes per token")),
            [curve.name for curve in curves],
        ),
    ]
    tables = [_kinds(names, portraits), _scripts(names, portraits)]
    tables += [_longest(number, portrait) for number, portrait in enumerate(portraits)]
    return Section("vocabulary", "Vocabulary", charts=charts, tables=tables)


def _kinds(names: Sequence[str], portraits: Sequence[Portrait]) -> Table:
    rows = []
    for each in zip(*(portrait.kinds for portrait in portraits), strict=True):
        shares = [
            n_tokens / max(portrait.n_tokens, 1)
            for (_, n_tokens), portrait in zip(each, portraits, strict=True)
        ]
        cells = (
            Cell(f"{share:.1%}", share, share, f"{n_tokens:,}")
            for (_, n_tokens), share in zip(each, shares, strict=True)
        )
        if any(shares):
            rows.append([Cell(each[0][0]), *cells])
    return Table("Kinds of tokens", ["kind", *names], rows)


def _scripts(names: Sequence[str], portraits: Sequence[Portrait]) -> Table:
    counts = [dict(portrait.scripts) for portrait in portraits]
    most = {
        script: max(count.get(script, 0) for count in counts)
        for portrait in portraits
        for script, _ in portrait.scripts
    }
    rows = [
        [script_name(script), *(number(count.get(script, 0)) for count in counts)]
        for script in sorted(most, key=lambda script: -most[script])[:N_SCRIPTS]
    ]
    note = "Tokens with letters of each script; tokens with part of a character are left out."
    return Table("Scripts", ["script", *names], rows, note)


def _longest(series: int, portrait: Portrait) -> Table:
    rows = [
        [
            Cell(short(token.text), kind="token"),
            number(token.id),
            number(token.n_characters),
            number(token.n_bytes),
        ]
        for token in portrait.longest[:N_LONGEST]
    ]
    columns = ["token", "id", "characters", "bytes"]
    title = "Longest tokens with letters"
    return Table(title, columns, rows, is_of_tokenizers=False, series=series)


def findings_section(report: Report) -> Section:
    notes = ["Faults and facts worth knowing. Each links to the page that explains it."]
    tables: list[Table] = []
    for series, subject in enumerate(report.subjects):
        tables += _findings(series, subject.diagnosis.findings)
    if not tables:
        notes = ["Nothing found."]
    pages = [_page(code) for code in sorted({table.code for table in tables})]
    return Section("findings", "Findings", notes, tables=tables, pages=pages)


def _page(code: str) -> Page:
    r"""Lay out the page of a code: its headings, paragraphs and examples.

    >>> _page("BP101").title, _page("BP101").blocks[1]
    ('BP101 unreachable-token', ('h4', Markup('What it is')))
    """
    title, _, text = page(code).partition("\n")
    blocks = []
    for example, heading, paragraph in BLOCK.findall(text):
        if example:
            blocks.append(("pre", escape(example.strip())))
        elif heading:
            blocks.append(("h4", escape(heading)))
        else:
            marked = LINK.sub(r"\1", str(escape(paragraph))).replace("**", "")
            blocks.append(
                ("p", Markup(CODE.sub(r'<span class="code">\1</span>', marked)))
            )
    return Page(code, title.strip("# "), blocks)


def _findings(series: int, findings: Sequence[Finding]) -> Iterator[Table]:
    """List the first tokens of each finding."""
    for finding in findings:
        rows = [
            [
                Cell("") if token.id is None else number(token.id),
                Cell(short(token.text), kind="token"),
                Cell(visible(token.detail)),
            ]
            for token in finding.tokens[:N_TOKENS]
        ]
        n_more = finding.count - len(rows)
        more = f" The first {len(rows)} are listed." if n_more else ""
        yield Table(
            finding.heading,
            ["id", "token", "detail"],
            rows,
            visible(finding.message) + more,
            is_of_tokenizers=False,
            is_sortable=False,
            series=series,
            level=finding.severity,
            code=finding.code,
        )
