"""How long the merges that are still to be done will take.

A merge costs about as much as the places that it changes, and later pairs occur less
often: time per merge falls, roughly as a power of the number of merges. So the speed of
the last third of the merges is extrapolated along a power law, whose exponent is that
between the last third and the third before it, where the course is long enough to show
one. Keeps a few hundred times and costs as much for each estimate.
"""

import bisect
import math

__all__ = ["Remaining"]

WINDOW = 2 / 3
"""A window reaches from this part of the merges done to all of them."""
USUAL_EXPONENT = 0.6
"""With what power the time per merge falls before the course shows it."""
MAX_EXPONENT = 1.2
MIN_SECONDS = 0.05
"""A shorter window shows no speed."""
MAX_POINTS = 512


class Remaining:
    """Estimates the remaining time from the course so far.

    >>> remaining = Remaining()
    >>> for n_merges in range(1, 1001):
    ...     remaining.add(n_merges, math.sqrt(n_merges))
    >>> round(remaining.seconds_left(4000))  # sqrt(4000) - sqrt(1000) is 31.6
    31
    """

    def __init__(self, n_earlier: int = 0) -> None:
        self.n_earlier = n_earlier
        self.done: list[int] = []
        self.seconds: list[float] = []

    def add(self, done: int, seconds: float) -> None:
        """Take note that so many merges were done after so many seconds."""
        if self.done and done <= self.done[-1]:
            return
        self.done.append(done)
        self.seconds.append(seconds)
        if len(self.done) > MAX_POINTS:  # the early ones are far apart for their number
            del self.done[1 : MAX_POINTS // 2 : 2], self.seconds[1 : MAX_POINTS // 2 : 2]

    def seconds_left(self, total: int | None) -> float | None:
        """Give the remaining time up to ``total`` merges, if that can be said."""
        if total is None or not self.done:
            return None
        last = self._window(len(self.done) - 1)
        if last is None:  # what there is to go by is the mean so far
            n_done = self.done[-1] - self.n_earlier
            return self.seconds[-1] * (total - self.done[-1]) / n_done
        place, speed, start = last
        exponent = USUAL_EXPONENT
        before = self._window(start)
        if before is not None:
            exponent = math.log(before[1] / speed) / math.log(place / before[0])
            exponent = min(max(exponent, 0.0), MAX_EXPONENT)
        return _integral(place, speed, exponent, self.done[-1], total)

    def _window(self, end: int) -> tuple[float, float, int] | None:
        """Give the middle, the seconds per merge and the first point of a window."""
        start = bisect.bisect_right(self.done, self.done[end] * WINDOW, 0, end) - 1
        start = min(max(start, 0), end - 1)
        if start < 0:
            return None
        seconds = self.seconds[end] - self.seconds[start]
        if seconds < MIN_SECONDS:
            return None
        n_merges = self.done[end] - self.done[start]
        middle = math.sqrt(max(self.done[start], 1) * self.done[end])
        return middle, seconds / n_merges, start


def _integral(
    place: float, speed: float, exponent: float, start: int, end: int
) -> float:
    """Add up the time per merge, ``speed`` at ``place`` and falling from there."""
    if exponent == 1:
        return speed * place * math.log(end / start)
    power = 1 - exponent
    scale = speed * place**exponent
    return float(scale * (end**power - start**power) / power)
