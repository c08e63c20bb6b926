"""The results of tokenizers on a corpus, for the page: metrics, charts, and groups with bars."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from bytepair._labels import harmless
from bytepair._plurals import amount
from bytepair.analyze._stats.draw import N_MISSING, best_of, fate, shown, word_note
from bytepair.analyze._stats.metric_table import METRICS, SECTIONS
from bytepair.views._glyphs import visible

from .charts import Axis, Series, lines
from .parts import Cell, Chart, Section, Table, capital, metric_card, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytepair.analyze._stats.metric_table import Metric
    from bytepair.analyze._stats.stats import Stats

__all__ = [
    "N_SCRIPTS",
    "corpus_section",
    "group_section",
    "length_chart",
    "script_name",
]

GROUP_CHARTS = (
    "premium",
    "tokens_per_word",
    "bytes_per_token",
    "characters_per_token",
    "missing_share",
)
"""Metrics whose values in groups are drawn as bars."""
MAX_GROUPS = 60
"""The number of groups that are shown, those with the most bytes first."""
N_SCRIPTS = 12
SCRIPTS = (
    "Share of the corpus tokens with letters of a script; beside it, the number of such tokens in "
    "the vocabulary."
)


def corpus_section(stats: Stats, names: Sequence[str]) -> Section:
    notes = [
        "Each metric is computed from sums over all texts. Click on its name for the formula."
        + " The best value of a row is bold." * (len(names) > 1)
    ]
    if stats.segmenter is not None:
        notes.append(word_note(stats.segmenter))
    for reason in dict.fromkeys(stats.absent.values()):
        absent = [METRICS[k].title for k, why in stats.absent.items() if why == reason]
        notes.append(f"Left out, since {reason}: {', '.join(absent)}.")
    if n_bad := stats.measurements[0].bad_lines:
        notes.append(f"{amount(n_bad, 'line')} without a document skipped.")
    tables = [_metrics(stats, names), _scripts(stats, names)]
    if stats.has_missing:
        tables.append(_missing(stats, names))
    return Section(
        "corpus", "On the corpus", notes, charts=_charts(stats, names), tables=tables
    )


def _metrics(stats: Stats, names: Sequence[str]) -> Table:
    """List metrics below the titles of their sections."""
    rows = []
    for section, metrics in SECTIONS.items():
        found = [stats.row(m.key) for m in metrics if m.of_all and m.key in stats.keys]
        if found:
            rows.append([Cell(section, kind="heading")])
        for row in found:
            unit = row.metric.unit
            title = Cell(capital(row.metric.title), aside=_explained(row.metric))
            best = best_of(row)
            values = (
                Cell(shown(value, unit), value, kind="best" * (place in best))
                for place, value in enumerate(row.values)
            )
            rows.append([title, *values, Cell(unit)])
    return Table("Metrics", ["metric", *names, "unit"], rows, is_sortable=False)


def _explained(metric: Metric) -> str:
    return f"{capital(metric.formula)}. {metric.caveat}"


def _scripts(stats: Stats, names: Sequence[str]) -> Table:
    rows = []
    for row in [row for row in stats.scripts() if any(row.shares)][:N_SCRIPTS]:
        counted = zip(row.tokens, row.shares, strict=True)
        cells = (
            Cell(shown(share, "share"), share or 0, share or 0, f"{n_tokens:,}")
            for n_tokens, share in counted
        )
        rows.append([script_name(row.script), *cells])
    return Table("Scripts", ["script", *names], rows, SCRIPTS)


def script_name(name: str) -> Cell:
    return Cell({"none": "no letters", "several": "several scripts"}.get(name, name))


def _missing(stats: Stats, names: Sequence[str]) -> Table:
    found = stats.missing()
    rows = [
        [Cell(visible(row.text, spaces=True)), *map(number, row.counts)]
        for row in found[:N_MISSING]
    ]
    if len(found) > N_MISSING:
        others = zip(*(row.counts for row in found[N_MISSING:]), strict=True)
        name = Cell(f"{len(found) - N_MISSING:,} others")
        rows.append([name, *(number(sum(each)) for each in others)])
    fates = [
        f"{name} {fate(found)}"
        for name, found in zip(names, stats.measurements, strict=True)
        if found.total.n_missing
    ]
    title = "Characters without a token"
    return Table(title, ["character", *names], rows, " ".join(fates))


def _charts(stats: Stats, names: Sequence[str]) -> list[Chart]:
    frequencies, lengths = [], []
    for name, found in zip(names, stats.measurements, strict=True):
        counts = found.total.counts.tolist()
        ranked = sorted(filter(None, counts), reverse=True)
        frequencies.append(Series(name, list(enumerate(ranked, start=1))))
        by_length: Counter[int] = Counter()
        for text, count in zip(found.tokens.texts, counts, strict=True):
            by_length[len(text)] += count
        lengths.append(Series(name, sorted(by_length.items())))
    return [
        Chart(
            "Rank against frequency",
            "Occurrences of the most frequent token, the second most frequent, and so on.",
            lines(frequencies, "rank of the token", Axis("occurrences", is_log=True)),
            names,
        ),
        length_chart("Length of tokens in the corpus", lengths),
    ]


def length_chart(title: str, lengths: Sequence[Series]) -> Chart:
    """Draw the share of the tokens that have each length in bytes."""
    shares = []
    for name, points in lengths:
        total = sum(n_tokens for _, n_tokens in points) or 1
        shares.append(Series(name, [(x, n_tokens / total) for x, n_tokens in points]))
    drawing = lines(shares, "bytes", Axis("share of tokens", is_share=True))
    note = "Share of the tokens with each length in bytes."
    return Chart(title, note, drawing, [name for name, _ in lengths])


def group_section(stats: Stats, names: Sequence[str]) -> Section:
    """Lay out metrics by group."""
    notes = [f"Grouped by {harmless(str(stats.measurements[0].grouped_by))}."]
    if len(stats.groups) > MAX_GROUPS:
        notes.append(
            f"The {MAX_GROUPS} groups with the most bytes are shown, of {len(stats.groups):,}."
        )
    if "gini" in stats.absent:
        notes.append(
            f"No Gini coefficient: {stats.absent['gini']}. It compares the cost of the same text."
        )
    cards = ("gini", "most_to_fewest")
    return Section(
        "groups",
        "Groups",
        notes,
        [metric_card(stats.row(key)) for key in cards if key in stats.keys],
        tables=[_bars(stats, k, names) for k in GROUP_CHARTS if k in stats.keys],
    )


def _bars(stats: Stats, key: str, names: Sequence[str]) -> Table:
    """Draw a metric of the groups with the most bytes."""
    metric = METRICS[key]
    sums = stats.measurements[0].groups
    largest = sorted(stats.groups, key=lambda group: -sums[group].bytes)[:MAX_GROUPS]
    values = {
        group: stats.row(key, group).values
        for group in stats.groups
        if group in set(largest)
    }
    most = max((value or 0 for row in values.values() for value in row), default=0) or 1
    rows = [
        [
            Cell(harmless(group) or "(none)"),
            *(Cell(shown(v, metric.unit), v or 0, (v or 0) / most) for v in row),
            number(sums[group].documents),
            number(sums[group].bytes),
        ]
        for group, row in values.items()
    ]
    columns = ["group", *names, "documents", "bytes"]
    return Table(capital(metric.title), columns, rows, _explained(metric))
