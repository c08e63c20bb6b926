"""The progress line of a command, and the first lines of its summary."""

from bytepair import _terminal

from .problems import remark

__all__ = ["ProgressLine", "rate"]


class ProgressLine(_terminal.ProgressLine):
    """Shows the progress of a job.

    Attributes
    ----------
    deferred
        Lines for the beginning of the summary, since no terminal showed them.
    """

    def __init__(self, *, is_shown: bool) -> None:
        super().__init__(is_shown=is_shown)
        self.deferred: list[str] = []

    def note(self, text: str) -> None:
        """Write a line that stays; without a terminal, defer it to the summary."""
        if self.is_shown:
            remark(text)
        else:
            self.deferred.append(text)


def rate(n_bytes: int, seconds: float) -> str:
    """Return a rate in megabytes per second, as text.

    >>> rate(2_500_000, 0.5)
    '5.0 MB/s'
    """
    return f"{n_bytes / 1e6 / max(seconds, 1e-9):,.1f} MB/s"
