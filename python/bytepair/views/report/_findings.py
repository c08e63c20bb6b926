"""Findings about tokenizers, for the page."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from bytepair._plurals import amount
from bytepair.views._glyphs import visible

from ._parts import (
    Cell,
    Column,
    Part,
    Section,
    Table,
    capital,
    number_cell,
    printable,
    short,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytepair.analyze import Report
    from bytepair.analyze.doctor import Diagnosis, Finding
    from bytepair.analyze.doctor._codes import Severity

__all__ = ["findings_section", "severities"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
N_TOKENS = 25
"""The number of tokens that are listed for a finding."""


def findings_section(report: Report) -> Section:
    parts = []
    for number, subject in enumerate(report.subjects):
        findings = subject.diagnosis.findings
        series = number if len(report.subjects) > 1 else None
        if findings:
            parts.append(
                Part(printable(subject.name), table=_findings(findings), series=series)
            )
        else:
            parts.append(Part(printable(subject.name), "Nothing found.", series=series))
    note = "Faults and facts worth knowing. bytepair doctor --explain CODE explains a code."
    return Section("findings", "Findings", note, parts=parts)


def _findings(findings: Sequence[Finding]) -> Table:
    columns = [
        Column("severity"),
        Column("code"),
        Column("finding"),
        Column("number", is_number=True),
    ]
    ordered = sorted(findings, key=lambda f: (SEVERITIES.index(f.severity), f.code))
    rows = []
    for finding in ordered:
        hint = "" if finding.is_fact else " (a hint)"
        tokens = Table(
            [Column("id", is_number=True), Column("token"), Column("detail")],
            [
                [
                    Cell("") if token.id is None else number_cell(token.id),
                    Cell(short(token.text), "token") if token.text else Cell(""),
                    Cell(visible(token.detail)),
                ]
                for token in finding.tokens[:N_TOKENS]
            ],
            is_sortable=False,
            title="tokens",
        )
        n_more = finding.count - len(tokens.rows)
        rows.append(
            [
                Cell(finding.severity, "badge", SEVERITIES.index(finding.severity)),
                Cell(finding.code, "code"),
                Cell(
                    f"{capital(finding.name.replace('-', ' '))}{hint}",
                    "finding",
                    aside=visible(finding.message),
                    table=tokens,
                    n_more=f"{n_more:,}" if n_more else "",
                ),
                number_cell(finding.count),
            ]
        )
    return Table(columns, rows)


def severities(diagnosis: Diagnosis) -> str:
    counts = Counter(finding.severity for finding in diagnosis.findings)
    found = [amount(counts[kind], kind) for kind in SEVERITIES if counts[kind]]
    return ", ".join(found) or "none"
