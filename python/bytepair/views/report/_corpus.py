"""The results of tokenizers on a corpus, for the page: metrics, charts, and groups with bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytepair._plurals import amount
from bytepair.analyze import METRICS
from bytepair.views._glyphs import visible
from bytepair.views._stats import N_MISSING, fate

from . import _charts
from ._charts import Axis, Series
from ._parts import (
    LENGTHS,
    N_SCRIPTS,
    SCRIPT_NAMES,
    Card,
    Cell,
    Chart,
    Column,
    Part,
    Section,
    Table,
    capital,
    columns_of,
    length_shares,
    number_cell,
    printable,
    value_cell,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from markupsafe import Markup

    from bytepair.analyze import Measurement, Metric, Stats, StatsRow

__all__ = ["corpus_section", "group_sections", "metric_cards"]

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
SECTIONS = {
    "corpus": "Corpus",
    "compression": "Compression",
    "words": "Words",
    "groups": "Groups",
    "distribution": "Distribution",
    "vocabulary": "Vocabulary in use",
    "tokens": "Kinds of tokens",
}
SCRIPTS = (
    "Share of the corpus tokens with letters of a script; beside it, the number of such tokens in "
    "the vocabulary."
)


def corpus_section(stats: Stats) -> Section:
    names = list(map(printable, stats.names))
    rows = [row for row in stats.rows() if row.group is None]
    parts = [Part("Metrics", table=_metrics(names, rows))]
    parts.append(Part("Scripts", SCRIPTS, _scripts(stats)))
    if stats.has_missing:
        parts.append(Part("Characters without a token", _fates(stats), _missing(stats)))
    series = [
        Series(name, _frequencies(found))
        for name, found in zip(names, stats.measurements, strict=True)
    ]
    x, y = Axis("rank of the token", is_log=True), Axis("occurrences", is_log=True)
    label = "Occurrences of tokens against their rank"
    charts = [
        Chart(
            "Rank against frequency",
            "Occurrences of the most frequent token, the second most frequent, and so on.",
            _charts.lines(series, x, y, label),
        ),
        Chart(
            "Length of tokens in the corpus",
            "Share of the corpus tokens with each length in bytes.",
            _occurring_lengths(stats),
        ),
    ]
    reasons = dict.fromkeys(stats.absent.values())
    missing = [
        f"Left out, since {reason}: "
        + ", ".join(
            METRICS[key].title for key, why in stats.absent.items() if why == reason
        )
        + "."
        for reason in reasons
    ]
    n_bad = stats.measurements[0].bad_lines
    if n_bad:
        missing.append(f"{amount(n_bad, 'line')} without a document skipped.")
    note = "Each metric is computed from sums over all texts. Click on its name for the formula."
    if stats.segmenter is not None:
        note += f" A word is a match of {printable(stats.segmenter.pattern)}."
    return Section(
        "corpus", "On the corpus", note, charts=charts, parts=parts, missing=missing
    )


def _metrics(names: Sequence[str], rows: Sequence[StatsRow]) -> Table:
    """List metrics below the titles of their sections."""
    columns = [Column("metric"), *columns_of(names), Column("unit")]
    found = []
    section = ""
    for row in rows:
        metric = row.metric
        if metric.section != section:
            section = metric.section
            found.append([Cell(SECTIONS[section], "heading")])
        title = Cell(capital(metric.title), "metric", aside=_explained(metric))
        values = (value_cell(value, metric.unit) for value in row.values)
        found.append([title, *values, Cell(metric.unit, "unit")])
    return Table(columns, found, is_sortable=False)


def _explained(metric: Metric) -> str:
    return f"{capital(metric.formula)}. {metric.caveat}"


def _scripts(stats: Stats) -> Table:
    columns = [Column("script"), *columns_of(list(map(printable, stats.names)))]
    rows = []
    found = [row for row in stats.scripts() if any(row.shares)]
    for row in found[:N_SCRIPTS]:
        cells = []
        for number, (n_tokens, share) in enumerate(
            zip(row.tokens, row.shares, strict=True)
        ):
            text = "–" if share is None else f"{share:.1%}"  # noqa: RUF001 -- no value
            cells.append(
                Cell(text, "number", share or 0, share or 0, number, f"{n_tokens:,}")
            )
        rows.append([Cell(SCRIPT_NAMES.get(row.script, row.script)), *cells])
    return Table(columns, rows)


def _fates(stats: Stats) -> str:
    """Say what becomes of the characters that no token stands for."""
    both = zip(stats.names, stats.measurements, strict=True)
    return " ".join(
        f"{printable(name)} {fate(one)}" for name, one in both if one.total.n_missing
    )


def _missing(stats: Stats) -> Table:
    columns = [Column("character"), *columns_of(list(map(printable, stats.names)))]
    found = stats.missing()
    rows = [
        [Cell(visible(row.text, spaces=True)), *map(number_cell, row.counts)]
        for row in found[:N_MISSING]
    ]
    if len(found) > N_MISSING:
        others = zip(*(row.counts for row in found[N_MISSING:]), strict=True)
        name = Cell(f"{len(found) - N_MISSING:,} others")
        rows.append([name, *(number_cell(sum(each)) for each in others)])
    return Table(columns, rows)


def _frequencies(found: Measurement) -> list[tuple[float, float]]:
    counts = sorted((n for n in found.total.counts.tolist() if n), reverse=True)
    return [(float(rank), float(n)) for rank, n in enumerate(counts, 1)]


def _occurring_lengths(stats: Stats) -> Markup:
    rows = []
    for found in stats.measurements:
        counts = found.total.counts.tolist()
        texts = found.tokens.texts
        rows.append(
            length_shares((len(t), n) for t, n in zip(texts, counts, strict=True))
        )
    x, y = Axis("bytes"), Axis("share of tokens", is_share=True)
    label = "Share of the corpus tokens by length in bytes"
    return _charts.columns(
        list(map(printable, stats.names)), LENGTHS, rows, x, y, label
    )


def group_sections(stats: Stats) -> list[Section]:
    """Lay out metrics by group, if there are groups."""
    if not stats.groups:
        return []
    keys = [key for key in GROUP_CHARTS if key in stats.keys]
    parts = []
    for key in keys:
        metric = METRICS[key]
        parts.append(
            Part(capital(metric.title), _explained(metric), _group_bars(stats, key))
        )
    note = f"Grouped by {printable(str(stats.measurements[0].grouped_by))}."
    n_more = len(stats.groups) - MAX_GROUPS
    if n_more > 0:
        note += f" The {MAX_GROUPS} groups with the most bytes are shown, of {len(stats.groups):,}."
    missing = []
    if "gini" in stats.absent:
        missing.append(
            f"No Gini coefficient: {stats.absent['gini']}. It compares the cost of the same text."
        )
    cards = metric_cards(stats, ("gini", "most_to_fewest"))
    return [
        Section("groups", "Groups", note, cards=cards, parts=parts, missing=missing)
    ]


def _largest(stats: Stats) -> list[str]:
    """List the groups with the most bytes, ordered by name."""
    sums = stats.measurements[0].groups
    largest = sorted(stats.groups, key=lambda group: -sums[group].bytes)[:MAX_GROUPS]
    return [group for group in stats.groups if group in set(largest)]


def _group_bars(stats: Stats, key: str) -> Table:
    metric = METRICS[key]
    rows = {group: stats.row(key, group).values for group in _largest(stats)}
    most = (
        max((value or 0 for values in rows.values() for value in values), default=0)
        or 1
    )
    columns = [
        Column("group"),
        *columns_of(list(map(printable, stats.names))),
        Column("documents", is_number=True),
        Column("bytes", is_number=True),
    ]
    first = stats.measurements[0]
    found = []
    for group, values in rows.items():
        sums = first.groups[group]
        bars = [
            Cell(
                written(value, metric.unit),
                "number",
                value or 0,
                (value or 0) / most,
                number,
            )
            for number, value in enumerate(values)
        ]
        name = Cell(printable(group) if group else "(none)")
        found.append(
            [name, *bars, number_cell(sums.documents), number_cell(sums.bytes)]
        )
    return Table(columns, found)


def metric_cards(stats: Stats, keys: Iterable[str]) -> list[Card]:
    """Give a card for each metric that exists."""
    return [_metric_card(stats.row(key)) for key in keys if key in stats.keys]


def _metric_card(row: StatsRow) -> Card:
    metric = row.metric
    values = [written(value, metric.unit) for value in row.values]
    return Card(capital(metric.title), values, metric.formula)
