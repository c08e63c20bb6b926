"""How long the merges that are still to be done will take.

Later pairs occur less often and cost less, but from time to time the trainer looks
through the whole corpus for pairs that have become worth listing. Both together, time
grows in steps around a low power of the number of merges. So the remaining time is the
time so far, continued along that power. Its statements are within a factor of two of the
truth for about three quarters of a run, of three for nearly all; just before and after a step they are not.
Costs nothing.
"""

__all__ = ["Remaining"]

POWER = 0.24
"""Time grows with this power of the number of merges: fitted to recorded courses."""


class Remaining:
    """Estimates the remaining time from the course so far.

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
        """Take note that so many merges were done after so many seconds."""
        self.n_points += 1
        if self.n_points == 2:  # preparation came before the first, and does not return
            self.first = self.last
        self.last = (done, seconds)

    def seconds_left(self, total: int | None) -> float | None:
        """Give the remaining time up to ``total`` merges, if that can be said."""
        done, seconds = self.last
        first_done, first_seconds = self.first
        if total is None or done <= first_done:
            return None
        so_far = done**POWER - first_done**POWER
        to_come = max(total, done) ** POWER - done**POWER
        return float((seconds - first_seconds) * to_come / so_far)
