"""Plots of metrics: rank against frequency, lengths of tokens, and groups side by side.

One matplotlib figure. Only the positions of points are computed here; the command line writes the
file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair._labels import label_of
from bytepair._numpy import np
from bytepair.analyze import METRICS

from ._stats import GROUP_METRICS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bytepair.analyze import Measurement, Stats

__all__ = ["figure_of"]

PANEL_WIDTH, PANEL_HEIGHT, BAR_HEIGHT = 7.0, 3.6, 0.18
MAX_POINTS = 1000
"""The largest number of points of a curve: more make no visible difference."""
MAX_NAMES = 4
"""The number of tokenizers in a line of the legend."""
MAX_LENGTH = 16
"""Tokens of more bytes than this share a column."""


def figure_of(stats: Stats) -> Figure:
    """Draw metrics of tokenizers on a corpus."""
    from matplotlib.figure import Figure

    keys = [
        key
        for key in GROUP_METRICS
        if stats.groups and METRICS[key].by_group and key in stats.keys
    ]
    bars = max(PANEL_HEIGHT, BAR_HEIGHT * len(stats.groups) * (len(stats.names) + 1))
    heights = [PANEL_HEIGHT, PANEL_HEIGHT, *(bars for _key in keys)]
    figure = Figure(figsize=(PANEL_WIDTH, sum(heights)), layout="constrained")
    panels = figure.subplots(len(heights), squeeze=False, height_ratios=heights)[:, 0]
    _ranks(panels[0], stats)
    _lengths(panels[1], stats)
    for axes, key in zip(panels[2:], keys, strict=True):
        _groups(axes, stats, key)
    if len(stats.names) > 1:
        curves, names = panels[0].get_legend_handles_labels()
        figure.legend(curves, names, loc="outside upper center", ncols=MAX_NAMES)
    return figure


def _named(stats: Stats) -> list[tuple[str, Measurement]]:
    labels = map(label_of, stats.names)
    return list(zip(labels, stats.measurements, strict=True))


def _ranks(axes: Any, stats: Stats) -> None:  # noqa: ANN401 -- axes of matplotlib
    for name, measurement in _named(stats):
        counts = np.sort(measurement.total.counts)[::-1]
        counts = counts[counts > 0]
        last = max(len(counts), 1)
        ranks = np.unique(np.geomspace(1, last, min(MAX_POINTS, last)).astype(np.int64))
        axes.plot(ranks, counts[ranks - 1] if len(counts) else ranks * 0, label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("rank of a token")
    axes.set_ylabel("occurrences")
    _add_grid(axes)


def _lengths(axes: Any, stats: Stats) -> None:  # noqa: ANN401
    width = 0.8 / len(stats.names)
    places = np.arange(1, MAX_LENGTH + 1)
    for number, (name, measurement) in enumerate(_named(stats)):
        lengths = [
            min(max(len(text), 1), MAX_LENGTH) for text in measurement.tokens.texts
        ]
        counts = np.bincount(
            lengths, weights=measurement.total.counts, minlength=MAX_LENGTH + 1
        )[1:]
        shares = 100 * counts / max(measurement.total.tokens, 1)
        offset = (number - (len(stats.names) - 1) / 2) * width
        axes.bar(places + offset, shares, width, label=name)
    axes.set_xticks(places, [*map(str, places[:-1]), f"{MAX_LENGTH}+"])
    axes.set_xlabel("bytes of a token")
    axes.set_ylabel("occurrences in %")
    _add_grid(axes)


def _groups(axes: Any, stats: Stats, key: str) -> None:  # noqa: ANN401
    metric = METRICS[key]
    factor = 100 if metric.unit == "share" else 1
    width = 0.8 / len(stats.names)
    places = np.arange(len(stats.groups))
    rows = [stats.row(key, group).values for group in stats.groups]
    for number, name in enumerate(map(label_of, stats.names)):
        values = [factor * (row[number] or 0) for row in rows]
        offset = (number - (len(stats.names) - 1) / 2) * width
        axes.barh(places + offset, values, width, label=name)
    axes.set_yticks(places, [label_of(group) or "(no group)" for group in stats.groups])
    axes.invert_yaxis()
    axes.set_xlabel(f"{metric.title} in %" if factor == 100 else metric.title)
    _add_grid(axes)


def _add_grid(axes: Any) -> None:  # noqa: ANN401
    axes.grid(visible=True, alpha=0.3)
    axes.set_axisbelow(True)
