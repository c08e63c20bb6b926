"""Line charts as inline SVG, with a logarithmic scale from left to right.

Colours are classes, ``s0`` to ``s5`` for lines, which the styles of the page define, so that
charts follow the dark, light and print themes. Lines also differ by their dashes. The only text
is numbers, axis titles and names, and all of it is escaped. The same points give the same
output: positions are rounded to a tenth. Takes time linear in the points.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

__all__ = ["MAX_POINTS", "Axis", "Series", "lines"]

N_COLOURS = 6
MAX_POINTS = 160
"""The largest number of points of a line: more make no visible difference."""

WIDTH, HEIGHT = 480, 280
LEFT, RIGHT, TOP, BOTTOM = 46, 466, 30, 236
"""The edges of the frame."""
MAX_TICKS = 6


class Series(NamedTuple):
    """A line: its name and its points, from left to right."""

    name: str
    points: Sequence[tuple[float, float]]


class Axis(NamedTuple):
    """The title and the kind of an axis; with ``is_share``, its numbers are percentages."""

    title: str
    is_log: bool = False
    is_share: bool = False

    def written(self, number: float) -> str:
        """Write a number in its shortest readable form.

        >>> [Axis("").written(n) for n in (0, 0.25, 4, 1000, 1500, 2_000_000)]
        ['0', '0.25', '4', '1k', '1.5k', '2M']
        """
        if self.is_share:
            return f"{100 * number:.3g}%"
        for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
            if number >= unit:
                return f"{number / unit:.3g}{name}"
        return f"{number:.3g}"


class Scale(NamedTuple):
    """The positions of numbers between two edges, and the numbers at the ticks."""

    low: float
    high: float
    edges: tuple[float, float]
    ticks: Sequence[float]
    is_log: bool

    def place(self, number: float) -> float:
        """Return the position of a number."""
        low, high = self.low, self.high
        if self.is_log:
            low, high, number = math.log10(low), math.log10(high), math.log10(number)
        first, last = self.edges
        return round(first + (number - low) / (high - low) * (last - first), 1)


def lines(series: Sequence[Series], across: str, up: Axis) -> Markup:
    """Draw a line for each series; ``across`` is the title of the horizontal axis.

    >>> drawn = lines([Series("a<b", [(1, 10), (10, 1)])], "x", Axis("y"))
    >>> "a&lt;b" in drawn, "a<b" in drawn
    (True, False)
    """
    shown = [Series(each.name, _shown(each.points, up)) for each in series]
    points = [point for each in shown for point in each.points]
    if not points:
        return Markup()
    x = _log_scale([place for place, _ in points], (LEFT, RIGHT))
    scale = _log_scale if up.is_log else _scale_from_zero
    y = scale([number for _, number in points], (BOTTOM, TOP))
    grid = [
        _tick(x.place(n), BOTTOM + 16, "middle", Axis("").written(n)) for n in x.ticks
    ]
    grid += [_path("grid", [(x.place(n), TOP), (x.place(n), BOTTOM)]) for n in x.ticks]
    grid += [_tick(LEFT - 6, y.place(n) + 4, "end", up.written(n)) for n in y.ticks]
    grid += [_path("grid", [(LEFT, y.place(n)), (RIGHT, y.place(n))]) for n in y.ticks]
    drawn = [_line(n, each, x, y) for n, each in enumerate(shown) if each.points]
    axis = _path("axis", [(LEFT, TOP), (LEFT, BOTTOM), (RIGHT, BOTTOM)])
    titles = [
        _tick(RIGHT, HEIGHT - 6, "end", across),
        _tick(0, 14, "start", up.title),
    ]
    return Markup(
        '<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>'
    ).format(
        WIDTH,
        HEIGHT,
        f"{up.title} against {across}",
        Markup().join([*grid, *drawn, axis, *titles]),
    )


def _line(number: int, series: Series, x: Scale, y: Scale) -> Markup:
    places = [(x.place(place), y.place(value)) for place, value in series.points]
    colour = number % N_COLOURS
    if len(places) == 1:
        return Markup(
            '<circle class="f{}" cx="{}" cy="{}" r="3"><title>{}</title></circle>'
        ).format(colour, *places[0], series.name)
    return _path(f"s{colour}", places, series.name)


def _path(kind: str, places: Sequence[tuple[float, float]], name: str = "") -> Markup:
    drawn = "L".join(f"{x:g} {y:g}" for x, y in places)
    title = Markup("<title>{}</title>").format(name) if name else ""
    return Markup('<path class="{}" d="M{}">{}</path>').format(kind, drawn, title)


def _tick(x: float, y: float, anchor: str, text: str) -> Markup:
    return Markup('<text x="{:g}" y="{:g}" text-anchor="{}">{}</text>').format(
        x, y, anchor, text
    )


def _shown(
    points: Sequence[tuple[float, float]], up: Axis
) -> list[tuple[float, float]]:
    """Leave out points without a logarithm, and points that make no visible difference.

    The others are spread evenly on a logarithmic scale.
    """
    drawable = [(x, y) for x, y in points if x > 0 and (y > 0 or not up.is_log)]
    if len(drawable) <= MAX_POINTS:
        return drawable
    step = math.log(len(drawable)) / MAX_POINTS
    places = {int(math.exp(number * step)) - 1 for number in range(MAX_POINTS)}
    return [drawable[place] for place in sorted({*places, len(drawable) - 1})]


def _log_scale(numbers: Sequence[float], edges: tuple[float, float]) -> Scale:
    low, high = min(numbers), max(numbers)
    high = high if high > low else low * 10
    first, last = math.log10(low), math.log10(high)
    powers = range(math.ceil(first - 1e-9), math.floor(last + 1e-9) + 1)
    ticks = [10.0**power for power in powers][:: -(-len(powers) // MAX_TICKS) or 1]
    if len(powers) < 2:
        powers = range(math.floor(first), math.ceil(last) + 1)
        several = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
        ticks = [tick for tick in several if low <= tick <= high]
    return Scale(low, high, edges, ticks, is_log=True)


def _scale_from_zero(numbers: Sequence[float], edges: tuple[float, float]) -> Scale:
    """Choose a round distance between ticks: 1, 2 or 5 times a power of ten."""
    rough = (max(numbers) or 1) / (MAX_TICKS - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * n for n in (1, 2, 5, 10) if power * n >= rough * 0.999)
    n_steps = math.ceil(round((max(numbers) or 1) / step, 6))
    ticks = [number * step for number in range(n_steps + 1)]
    return Scale(0, ticks[-1], edges, ticks, is_log=False)
