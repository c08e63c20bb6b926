"""Metrics as a table for a terminal: tokenizers side by side, as many as fit.

Nothing is computed here. On a narrow terminal, tokenizers are spread over several tables, and names
are wrapped or shortened; numbers are never cut.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, NamedTuple

from bytepair._labels import harmless
from bytepair._plurals import amount
from bytepair.analyze._show.draw import shortened
from bytepair.views._glyphs import visible
from bytepair.views._runs import Line, Run

from .metric_table import METRICS, SECTIONS
from .verdict import verdict_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from .meter import Measurement, Segmenter
    from .metric_table import Metric
    from .stats import Stats, StatsRow

__all__ = ["N_MISSING", "as_lines", "best_of", "fate", "shown", "word_note"]

GROUP_METRICS = (
    "bytes_per_token",
    "tokens_per_word",
    "pieces_per_word",
    "premium",
    "used_share",
    "missing_share",
)
"""Metrics that are shown by group, if they exist."""
INDENT, GAP = "  ", "  "
MIN_TITLE, SHORT_TITLE = 14, 26
"""The smallest widths of titles: on a narrow terminal, and if longer titles would leave no room for a tokenizer."""
MIN_COLUMN, MAX_COLUMN = 7, 24
MAX_WIDTH = 200
"""Wider tables are hard to read."""
NO_VALUE, BEST = "-", "*"
N_SCRIPTS = 8
"""The number of scripts that are shown, the most frequent first."""
N_MISSING = 12
"""The number of characters without a token that are shown, the most frequent first."""


class Row(NamedTuple):
    """A title, and a cell for each tokenizer; a heading has no cells.

    ``best`` has the places of the best cells, if tokenizers differ and one direction is better.
    """

    title: str
    cells: Sequence[str] = ()
    best: Collection[int] = ()


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


def as_lines(stats: Stats, width: int) -> Iterator[Line]:
    """Lay out a verdict, all metrics, scripts, missing characters, and some metrics of each group."""
    width = min(width, MAX_WIDTH)
    sentences = verdict_of(stats)
    for sentence in sentences:
        yield from _wrapped(sentence, "heading", width)
    if sentences:
        yield []
    rows = [*_metric_rows(stats), *_script_rows(stats), *_missing_rows(stats)]
    for key in GROUP_METRICS:
        if stats.groups and METRICS[key].by_group and key in stats.keys:
            rows += _group_rows(stats, METRICS[key])
    yield from _table(list(map(harmless, stats.names)), rows, width)
    for note in _notes(stats):
        yield from _wrapped(note, "note", width)


def _wrapped(text: str, style: str, width: int) -> Iterator[Line]:
    return ([Run(part, style)] for part in textwrap.wrap(text, width))


def _metric_rows(stats: Stats) -> Iterator[Row]:
    for section, metrics in SECTIONS.items():
        keys = [m.key for m in metrics if m.of_all and m.key in stats.keys]
        if keys:
            yield Row(section)
        yield from (_row(row.metric.title, row) for row in map(stats.row, keys))


def _row(title: str, row: StatsRow) -> Row:
    return Row(title, [shown(v, row.metric.unit) for v in row.values], best_of(row))


def best_of(row: StatsRow) -> set[int]:
    """Return the places of the best values of a metric; none if all are shown alike.

    >>> from .stats import StatsRow
    >>> best_of(StatsRow(METRICS["tokens"], None, (3, 2, None, 2)))
    {1, 3}
    """
    metric, values = row.metric, [value for value in row.values if value is not None]
    cells = [shown(value, metric.unit) for value in row.values]
    if not metric.best or len({*cells} - {NO_VALUE}) < 2:
        return set()
    best = shown({"most": max, "fewest": min}[metric.best](values), metric.unit)
    return {place for place, cell in enumerate(cells) if cell == best}


def _script_rows(stats: Stats) -> Iterator[Row]:
    scripts = [row for row in stats.scripts() if any(row.shares)]
    if scripts:
        yield Row("Occurrences of tokens, by script")
    for row in scripts[:N_SCRIPTS]:
        yield Row(row.script, [shown(share, "share") for share in row.shares])
    if len(scripts) > N_SCRIPTS:
        others = zip(*(row.shares for row in scripts[N_SCRIPTS:]), strict=True)
        cells = [shown(sum(share or 0 for share in each), "share") for each in others]
        yield Row(f"{len(scripts) - N_SCRIPTS} others", cells)


def _missing_rows(stats: Stats) -> Iterator[Row]:
    rows = stats.missing()
    if rows:
        yield Row("Characters without a token")
    for row in rows[:N_MISSING]:
        title = visible(row.text, spaces=True) or '""'
        yield Row(title, [f"{n:,}" for n in row.counts])
    if len(rows) > N_MISSING:
        others = zip(*(row.counts for row in rows[N_MISSING:]), strict=True)
        cells = [f"{sum(each):,}" for each in others]
        yield Row(f"{len(rows) - N_MISSING:,} others", cells)


def _group_rows(stats: Stats, metric: Metric) -> Iterator[Row]:
    yield Row(f"{metric.title[:1].upper()}{metric.title[1:]}, by group")
    for group in stats.groups:
        yield _row(harmless(group) or "(no group)", stats.row(metric.key, group))


def _notes(stats: Stats) -> Iterator[str]:
    """Describe the metrics that are left out, how to get them, and what was skipped."""
    if len(stats.names) > 1:
        yield "* marks the best value of a row, if either more or fewer is better."
    yield word_note(stats.segmenter)
    yield "Efficiency is how evenly tokens are used: 100 % if all were equally frequent."
    if stats.groups and stats.baseline is None:
        yield (
            "Comparing the tokens of groups (premium, Gini) needs texts that say the same, and "
            "--baseline."
        )
    for name, measurement in zip(stats.names, stats.measurements, strict=True):
        if measurement.total.n_missing:
            yield f"{harmless(name)} {fate(measurement)}"
    n_bad = stats.measurements[0].bad_lines
    if n_bad:
        yield f"{n_bad:,} bad lines skipped."


def word_note(segmenter: Segmenter | None) -> str:
    """Define a word.

    >>> word_note(None)
    'Words are not counted without a segmenter.'
    """
    if segmenter is None:
        return "Words are not counted without a segmenter."
    kind = {
        "whitespace": "a run of characters other than white space",
        "letters": "a run of letters and marks",
    }.get(segmenter.name, f"a match of {harmless(segmenter.pattern)}")
    others = "" if segmenter.counts_types else "; --segmenter defines it differently"
    return f"A word is {kind}{others}."


def fate(measurement: Measurement) -> str:
    """Describe what happens to characters that no token stands for."""
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


def _table(names: Sequence[str], rows: Sequence[Row], width: int) -> Iterator[Line]:
    """Lay out rows, below the names of tokenizers, in several tables if not all columns fit."""
    cells = [cell for row in rows for cell in row.cells]
    n_name = min(max(map(len, names)), MAX_COLUMN)
    n_mark = len(BEST) if len(names) > 1 else 0
    n_column = max(MIN_COLUMN, n_name, *map(len, cells)) + len(GAP) + n_mark
    longest = max(len(row.title) + len(INDENT) * bool(row.cells) for row in rows)
    n_title = min(longest, max(width - n_column * len(names), SHORT_TITLE))
    n_title = max(min(n_title, width - n_column), MIN_TITLE)
    n_beside = max((width - n_title) // n_column, 1)
    for first in range(0, len(names), n_beside):
        part = slice(first, first + n_beside)
        heads = [shortened(name, n_name).strip() for name in names[part]]
        for number, row in enumerate(rows):
            if number and not row.cells:
                yield []
            if row.cells:
                yield from _lines(row, part, n_title, n_column - n_mark)
                continue
            *above, last = textwrap.wrap(row.title, n_title)
            yield from ([Run(text, "heading")] for text in above)
            columns = "".join(f"{head + ' ' * n_mark:>{n_column}}" for head in heads)
            yield [Run(f"{last:<{n_title}}", "heading"), Run(columns, "name")]
        yield []


def _lines(row: Row, part: slice, n_title: int, n_column: int) -> Iterator[Line]:
    *above, last = textwrap.wrap(row.title, n_title - len(INDENT)) or [""]
    yield from ([Run(INDENT + text)] for text in above)
    line = [Run(f"{INDENT + last:<{n_title}}")]
    for place, cell in list(enumerate(row.cells))[part]:
        is_best = place in row.best
        mark = BEST if is_best else " " * (len(row.cells) > 1)
        line += [Run(" " * (n_column - len(cell))), Run(cell + mark, "best" * is_best)]
    yield line
