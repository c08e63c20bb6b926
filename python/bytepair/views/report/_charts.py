"""Charts as inline SVG: lines, columns, and bars in table cells.

Colours are classes, ``s0`` to ``s5`` for series, which the styles of the page define, so that
charts follow the dark, light and print themes. Curves also differ by their dashes. The only text
is numbers, axis titles and names, and all of it is escaped. The same points give the same
characters: positions are rounded to a tenth. Takes time linear in the points.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

__all__ = [
    "N_COLOURS",
    "Axis",
    "Series",
    "bar",
    "columns",
    "compact",
    "lines",
    "thinned",
]

N_COLOURS = 6
MAX_POINTS = 160
"""The largest number of points of a curve: more make no visible difference."""

WIDTH, HEIGHT = 480, 280
LEFT, RIGHT, TOP, BOTTOM = 46, 14, 30, 44
FRAME = (LEFT, TOP, WIDTH - RIGHT, HEIGHT - BOTTOM)
MAX_TICKS = 6


class Series(NamedTuple):
    """A curve: its name and its points, from left to right."""

    name: str
    points: Sequence[tuple[float, float]]


class Axis(NamedTuple):
    """The title of an axis, and whether it is logarithmic; ``is_share`` writes percent."""

    title: str
    is_log: bool = False
    is_share: bool = False


class Scale(NamedTuple):
    """The position of numbers."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool

    def __call__(self, value: float) -> float:
        low, high = self.low, self.high
        if self.is_log:
            low, high, value = math.log10(low), math.log10(high), math.log10(value)
        share = (value - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)


# Charts


def lines(series: Sequence[Series], x: Axis, y: Axis, label: str) -> Markup:
    """Draw a curve for each series.

    >>> drawn = lines(
    ...     [Series("a<b", [(1, 10), (10, 1)])], Axis("x"), Axis("y"), "falling"
    ... )
    >>> "a&lt;b" in drawn, "a<b" in drawn
    (True, False)
    """
    shown = [Series(one.name, _drawable(one.points, x, y)) for one in series]
    points = [point for one in shown for point in one.points]
    if not points:
        return Markup()
    across = _scale(
        [place for place, _ in points], x, LEFT, WIDTH - RIGHT, from_zero=False
    )
    up = _scale([value for _, value in points], y, HEIGHT - BOTTOM, TOP)
    drawn = [
        _curve(number, one, across, up)
        for number, one in enumerate(shown)
        if one.points
    ]
    return _chart([*_x_ticks(across, x), *_y_ticks(up, y), *drawn], x, y, label)


def columns(
    names: Sequence[str],
    places: Sequence[str],
    rows: Sequence[Sequence[float]],
    x: Axis,
    y: Axis,
    label: str,
) -> Markup:
    """Draw one or more columns side by side for each place: ``rows`` has a row for each series.

    >>> drawn = columns(
    ...     ["a"], ["1", "2"], [[0.5, 0.25]], Axis("x"), Axis("y"), "two columns"
    ... )
    >>> drawn.count("<rect")
    2
    """
    up = _scale([value for row in rows for value in row], y, HEIGHT - BOTTOM, TOP)
    room = (WIDTH - RIGHT - LEFT) / max(len(places), 1)
    n_columns = max(len(rows), 1)
    width = room * (0.86 if n_columns > 1 else 0.78) / n_columns
    drawn: list[Markup] = list(_y_ticks(up, y))
    for number, place in enumerate(places):
        middle = LEFT + room * (number + 0.5)
        if len(places) <= 12 or number % 4 == 0 or number + 1 == len(places):
            drawn.append(_tick_text(middle, HEIGHT - BOTTOM + 16, place, "middle"))
        for series, (name, row) in enumerate(zip(names, rows, strict=True)):
            start = middle + width * (series - n_columns / 2)
            top = up(row[number])
            told = f"{name}, {place}: {_written(row[number], y)}"
            drawn.append(
                Markup(
                    '<rect class="f{}" x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>'
                ).format(
                    series % N_COLOURS,
                    _place(start),
                    _place(top),
                    _place(width),
                    _place(max(HEIGHT - BOTTOM - top, 0)),
                    told,
                )
            )
    return _chart(drawn, x, y, label)


def bar(share: float, series: int = 0) -> Markup:
    """Draw a bar that fills a share of the width.

    >>> 'width="25"' in bar(0.25)
    True
    """
    width = _place(min(max(share, 0), 1) * 100)
    return Markup(
        '<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="f{}" width="{}" height="8"/></svg>'
    ).format(series % N_COLOURS, width)


def thinned(
    points: Sequence[tuple[float, float]], n_points: int = MAX_POINTS
) -> list[tuple[float, float]]:
    """Leave out points, so that the others are spread evenly on a logarithmic scale.

    >>> len(thinned([(n, n) for n in range(1, 100_000)])) <= MAX_POINTS + 1
    True
    >>> thinned([(n, n) for n in range(1, 100_000)])[-1]
    (99999, 99999)
    """
    n_all = len(points)
    if n_all <= n_points:
        return list(points)
    step = math.log(n_all) / n_points
    places = {
        min(int(math.exp(number * step)), n_all) - 1 for number in range(n_points)
    }
    return [points[place] for place in sorted({*places, n_all - 1})]


def compact(number: float) -> str:
    """Write a number in its shortest readable form.

    >>> [compact(n) for n in (0, 0.25, 4, 1000, 1500, 2_000_000)]
    ['0', '0.25', '4', '1k', '1.5k', '2M']
    """
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= unit:
            return f"{number / unit:.3g}{name}"
    return f"{number:.3g}"


# Parts


def _chart(parts: Iterable[Markup], x: Axis, y: Axis, label: str) -> Markup:
    left, top, right, bottom = FRAME
    axis = Markup('<path class="axis" d="M{} {}V{}H{}"/>').format(
        left, top, bottom, right
    )
    below = _tick_text(right, HEIGHT - 6, x.title, "end", "title")
    above = _tick_text(0, 14, y.title, "start", "title")
    return Markup(
        '<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>'
    ).format(WIDTH, HEIGHT, label, Markup().join([*parts, axis, below, above]))


def _curve(number: int, series: Series, across: Scale, up: Scale) -> Markup:
    places = [(across(x), up(y)) for x, y in series.points]
    path = "L".join(f"{_place(x)} {_place(y)}" for x, y in places)
    name = escape(series.name)
    if len(places) == 1:
        x, y = places[0]
        return Markup(
            '<circle class="f{}" cx="{}" cy="{}" r="3"><title>{}</title></circle>'
        ).format(number % N_COLOURS, _place(x), _place(y), name)
    return Markup('<path class="s{}" d="M{}"><title>{}</title></path>').format(
        number % N_COLOURS, path, name
    )


def _x_ticks(scale: Scale, axis: Axis) -> list[Markup]:
    bottom = HEIGHT - BOTTOM
    found = []
    for tick in _ticks(scale):
        place = scale(tick)
        found.append(
            Markup('<path class="grid" d="M{} {}V{}"/>').format(
                _place(place), TOP, bottom
            )
        )
        found.append(_tick_text(place, bottom + 16, _written(tick, axis), "middle"))
    return found


def _y_ticks(scale: Scale, axis: Axis) -> list[Markup]:
    found = []
    for tick in _ticks(scale):
        place = scale(tick)
        found.append(
            Markup('<path class="grid" d="M{} {}H{}"/>').format(
                LEFT, _place(place), WIDTH - RIGHT
            )
        )
        found.append(_tick_text(LEFT - 6, place + 4, _written(tick, axis), "end"))
    return found


def _tick_text(
    x: float, y: float, text: str, anchor: str, kind: str = "tick"
) -> Markup:
    return Markup('<text class="{}" x="{}" y="{}" text-anchor="{}">{}</text>').format(
        kind, _place(x), _place(y), anchor, text
    )


def _written(number: float, axis: Axis) -> str:
    return f"{number * 100:.3g}%" if axis.is_share else compact(number)


def _place(number: float) -> str:
    """Write a position, rounded to a tenth."""
    return f"{number:.1f}".removesuffix(".0")


# Scales


def _drawable(
    points: Sequence[tuple[float, float]], x: Axis, y: Axis
) -> list[tuple[float, float]]:
    """Leave out points that a logarithmic scale cannot show, and points without visible effect."""
    kept = [
        point
        for point in points
        if (point[0] > 0 or not x.is_log) and (point[1] > 0 or not y.is_log)
    ]
    return thinned(kept)


def _scale(
    values: Sequence[float],
    axis: Axis,
    start: float,
    end: float,
    *,
    from_zero: bool = True,
) -> Scale:
    low, high = min(values, default=0), max(values, default=1)
    if axis.is_log:
        high = high if high > low else low * 10
        return Scale(low, high, start, end, is_log=True)
    low = min(low, 0) if from_zero else low
    high = high if high > low else low + 1
    step = _step(high - low)
    return Scale(
        low,
        math.ceil(round(high / step, 6)) * step if from_zero else high,
        start,
        end,
        is_log=False,
    )


def _step(width: float) -> float:
    """Choose a round distance between ticks: 1, 2 or 5 times a power of ten."""
    rough = width / (MAX_TICKS - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * n for n in (1, 2, 5, 10) if power * n >= rough * 0.999)


def _ticks(scale: Scale) -> list[float]:
    if not scale.is_log:
        step = _step(scale.high - scale.low)
        first, last = (
            math.ceil(scale.low / step - 1e-9),
            math.floor(scale.high / step + 1e-9),
        )
        return [number * step for number in range(first, last + 1)]
    low, high = math.log10(scale.low), math.log10(scale.high)
    within = range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1)
    if len(within) < 2:
        several = [
            m * 10.0**p
            for p in range(math.floor(low), math.ceil(high) + 1)
            for m in (1, 2, 5)
        ]
        return [tick for tick in several if scale.low <= tick <= scale.high]
    return [10.0**power for power in within][:: -(-len(within) // MAX_TICKS)]
