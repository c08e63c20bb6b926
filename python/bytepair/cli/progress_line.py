"""The line of progress of a command, and what its summary begins with."""

from bytepair import _terminal

from .problems import remark

__all__ = ["ProgressLine", "rate"]


class ProgressLine(_terminal.ProgressLine):
    """Shows how far a job has come.

    Attributes
    ----------
    deferred
        Lines that a summary begins with, since no terminal showed them.
    """

    def __init__(self, *, is_shown: bool) -> None:
        super().__init__(is_shown=is_shown)
        self.deferred: list[str] = []

    def note(self, text: str) -> None:
        """Write a line that stays; without a terminal it waits for the summary."""
        if self.is_shown:
            remark(text)
        else:
            self.deferred.append(text)


def rate(n_bytes: int, seconds: float) -> str:
    """Write a rate.

    >>> rate(2_500_000, 0.5)
    '5.0 MB/s'
    """
    return f"{n_bytes / 1e6 / max(seconds, 1e-9):,.1f} MB/s"
