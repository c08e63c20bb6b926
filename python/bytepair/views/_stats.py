"""Metrics as tables for a terminal: tokenizers side by side, as many as fit.

Nothing is computed here. On a narrow terminal, tokenizers are spread over several tables, and
names of metrics are wrapped; numbers are never cut.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, NamedTuple

from bytepair._labels import harmless
from bytepair._plurals import amount
from bytepair.analyze import METRICS

from ._glyphs import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from bytepair.analyze import Measurement, Metric, Stats

__all__ = ["GROUP_METRICS", "Line", "as_lines", "fate", "shown"]

GROUP_METRICS = (
    "bytes_per_token",
    "tokens_per_word",
    "pieces_per_word",
    "premium",
    "used_share",
    "missing_share",
)
"""Metrics that are shown by group, if they exist."""
SECTIONS = {
    "corpus": "Corpus",
    "compression": "Compression",
    "words": "Words",
    "groups": "Groups, of parallel text",
    "distribution": "Distribution",
    "vocabulary": "Vocabulary",
    "tokens": "Tokens",
}
INDENT, GAP = "  ", "  "
MIN_TITLE, MAX_TITLE = 14, 44
SHORT_TITLE = 26
"""Titles are wrapped at this length, if all columns have room then."""
MIN_COLUMN, MAX_COLUMN = 7, 24
MAX_WIDTH = 200
"""Wider tables are hard to read."""
NO_VALUE = "-"
N_SCRIPTS = 8
"""The number of scripts that are shown, those with the most occurrences first."""

N_MISSING = 12
"""The number of characters without a token that are shown, the most frequent first."""


class Line(NamedTuple):
    """A line of a table: its text and its kind (a heading, names, a row, or a note)."""

    text: str
    kind: str = "row"


class Row(NamedTuple):
    """A row of a table: a title and a cell for each tokenizer; a heading has none."""

    title: str
    cells: Sequence[str]


def shown(value: float | None, unit: str) -> str:
    """Write a value, with the unit for shares and multiples.

    >>> shown(0.12345, "share"), shown(4.56789, "bytes/token"), shown(1234567, "bytes")
    ('12.35 %', '4.568', '1,234,567')
    >>> shown(None, "share"), shown(1234.5, "tokens/line"), shown(1.75, "times")
    ('-', '1,234.5', '1.750 x')
    """
    if value is None:
        return NO_VALUE
    if unit == "share":
        return f"{100 * value:.2f} %"
    if isinstance(value, int):
        return f"{value:,}"
    text = f"{value:.3f}" if value < 1000 else f"{value:,.1f}"
    return f"{text} x" if unit == "times" else text


def as_lines(
    stats: Stats, width: int, metrics: Sequence[str] | None = None
) -> Iterator[Line]:
    """Lay out all metrics, then some of each group, then scripts."""
    width = min(width, MAX_WIDTH)
    names = list(map(harmless, stats.names))
    yield from _table(names, list(_metric_rows(stats)), width)
    yield from _table(names, list(_script_rows(stats)), width)
    if stats.has_missing:
        yield from _table(names, list(_missing_rows(stats)), width)
    wanted = GROUP_METRICS if metrics is None else metrics
    for key in wanted:
        metric = METRICS[key]
        if stats.groups and metric.by_group and key in stats.keys:
            yield from _table(names, list(_group_rows(stats, metric)), width)
    for note in _notes(stats):
        for text in textwrap.wrap(note, width):
            yield Line(text, "note")


def _metric_rows(stats: Stats) -> Iterator[Row]:
    section = ""
    for row in stats.rows():
        if row.group is not None:
            return
        if row.metric.section != section:
            section = row.metric.section
            yield Row(SECTIONS[section], ())
        yield Row(row.metric.title, [shown(v, row.metric.unit) for v in row.values])


def _script_rows(stats: Stats) -> Iterator[Row]:
    yield Row("Occurrences of tokens, by script", ())
    scripts = [row for row in stats.scripts() if any(row.shares)]
    for row in scripts[:N_SCRIPTS]:
        yield Row(row.script, [shown(share, "share") for share in row.shares])
    if len(scripts) > N_SCRIPTS:
        others = zip(*(row.shares for row in scripts[N_SCRIPTS:]), strict=True)
        cells = [shown(sum(share or 0 for share in each), "share") for each in others]
        yield Row(f"{len(scripts) - N_SCRIPTS} others", cells)


def _missing_rows(stats: Stats) -> Iterator[Row]:
    yield Row("Characters without a token", ())
    rows = stats.missing()
    for row in rows[:N_MISSING]:
        yield Row(
            visible(row.text, spaces=True) or '""', [f"{n:,}" for n in row.counts]
        )
    if len(rows) > N_MISSING:
        others = zip(*(row.counts for row in rows[N_MISSING:]), strict=True)
        cells = [f"{sum(each):,}" for each in others]
        yield Row(f"{len(rows) - N_MISSING:,} others", cells)


def _group_rows(stats: Stats, metric: Metric) -> Iterator[Row]:
    title = metric.title if metric.unit != "share" else f"{metric.title}"
    yield Row(f"{title[:1].upper()}{title[1:]}, by group", ())
    for group in stats.groups:
        row = stats.row(metric.key, group)
        yield Row(
            harmless(group) or "(no group)", [shown(v, metric.unit) for v in row.values]
        )


def _notes(stats: Stats) -> Iterator[str]:
    """Name metrics that are left out, and how to get them."""
    segmenter = stats.segmenter
    if segmenter is None:
        yield (
            "Words are not counted without --segmenter: whitespace, letters, or a regular "
            "expression."
        )
    else:
        yield f"Words: {segmenter.name}, the matches of {segmenter.pattern}"
    if stats.groups and not stats.is_parallel:
        yield (
            "Comparing the tokens of groups (premium, Gini) needs texts that say the same, and "
            "--parallel."
        )
    for name, measurement in zip(stats.names, stats.measurements, strict=True):
        if measurement.total.n_missing:
            yield f"{harmless(name)} {fate(measurement)}"
    n_bad = stats.measurements[0].bad_lines
    if n_bad:
        yield f"{n_bad:,} bad lines skipped."


def fate(measurement: Measurement) -> str:
    """Say what becomes of characters that no token stands for."""
    n_missing = amount(measurement.total.n_missing, "character")
    if measurement.leaves_out:
        return (
            f"drops {n_missing} that no token represents: they count as text, but not as "
            "tokens."
        )
    return (
        f"cannot encode these texts: no token represents {n_missing}. Each counts as a token "
        "without an id, as subword-nmt writes it."
    )


# Tables


def _table(names: Sequence[str], rows: Sequence[Row], width: int) -> Iterator[Line]:
    """Lay out a table, in several parts if not all columns fit."""
    if not any(row.cells for row in rows):
        return
    columns = [
        max(
            MIN_COLUMN,
            min(len(name), MAX_COLUMN),
            *(len(row.cells[place]) for row in rows if row.cells),
        )
        for place, name in enumerate(names)
    ]
    longest = max(len(row.title) for row in rows if row.cells) + len(INDENT)
    title = max(MIN_TITLE, min(longest, MAX_TITLE, width - max(columns) - len(GAP)))
    beside_all = width - sum(columns) - len(GAP) * len(columns)
    if SHORT_TITLE <= beside_all < title:
        title = beside_all
    for places in _parts(columns, width - title):
        yield from _part(names, rows, places, title, columns)
        yield Line("")


def _parts(columns: Sequence[int], room: int) -> Iterator[list[int]]:
    """Group columns so that each group fits; each has at least one column.

    >>> list(_parts([7, 7, 7], 18))
    [[0, 1], [2]]
    """
    part: list[int] = []
    taken = 0
    for place, column in enumerate(columns):
        if part and taken + column + len(GAP) > room:
            yield part
            part, taken = [], 0
        part.append(place)
        taken += column + len(GAP)
    yield part


def _part(
    names: Sequence[str],
    rows: Sequence[Row],
    places: Sequence[int],
    title: int,
    columns: Sequence[int],
) -> Iterator[Line]:
    names_lines = [_broken(names[place], columns[place]) for place in places]
    n_lines = max(map(len, names_lines))
    for number in range(n_lines):
        cells = (
            lines[number - n_lines + len(lines)]
            if number >= n_lines - len(lines)
            else ""
            for lines in names_lines
        )
        yield Line(_joined("", title, cells, places, columns), "names")
    is_first = True
    for row in rows:
        if not row.cells:
            if not is_first:
                yield Line("")
            is_first = False
            yield Line(row.title, "heading")
            continue
        *first, last = textwrap.wrap(row.title, title - len(INDENT)) or [""]
        yield from (Line(INDENT + text) for text in first)
        cells = (row.cells[place] for place in places)
        yield Line(_joined(INDENT + last, title, cells, places, columns))


def _joined(
    title: str,
    width: int,
    cells: Iterable[str],
    places: Sequence[int],
    columns: Sequence[int],
) -> str:
    parts = (
        f"{cell:>{columns[place]}}" for cell, place in zip(cells, places, strict=True)
    )
    return GAP.join([f"{title:<{width}}", *parts]).rstrip()


def _broken(name: str, width: int) -> list[str]:
    """Break a name that is longer than its column.

    >>> _broken("published/qwen3", 10), _broken("gpt2", 10)
    (['published/', 'qwen3'], ['gpt2'])
    """
    return (
        textwrap.wrap(name.replace("/", "/ "), width) if len(name) > width else [name]
    )
