"""An estimate of the time that the remaining merges take.

Later pairs occur less often and cost less, but from time to time the trainer searches the whole corpus for
more frequent pairs. Together, time grows in steps around a low power of the number of merges. So the remaining
time is extrapolated by that power. The estimate is within a factor of two for about three quarters of a run, and
within a factor of three for nearly all of it, except just before and after a step. It costs nothing.
"""

__all__ = ["Remaining"]

POWER = 0.24
"""Time grows with this power of the number of merges: fitted to recorded courses."""


class Remaining:
    """Estimates the remaining time from the time so far.

    >>> remaining = Remaining()
    >>> for n_merges in (1, 1000):
    ...     remaining.add(n_merges, seconds=n_merges**POWER)
    >>> round(remaining.seconds_left(30_000), 1), round(30_000**POWER - 1000**POWER, 1)
    (6.6, 6.6)
    """

    def __init__(self, n_earlier: int = 0) -> None:
        self.first = self.last = (n_earlier, 0.0)
        self.n_points = 0

    def add(self, done: int, seconds: float) -> None:
        """Add a measurement: the number of merges after some seconds."""
        self.n_points += 1
        if self.n_points == 2:  # preparation came before the first, and does not return
            self.first = self.last
        self.last = (done, seconds)

    def seconds_left(self, total: int | None) -> float | None:
        """Return the remaining seconds up to ``total`` merges, or ``None`` if too little is known."""
        done, seconds = self.last
        first_done, first_seconds = self.first
        if total is None or done <= first_done:
            return None
        so_far = done**POWER - first_done**POWER
        to_come = max(total, done) ** POWER - done**POWER
        return float((seconds - first_seconds) * to_come / so_far)
