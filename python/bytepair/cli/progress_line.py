"""A progress line on a terminal, written over again; nothing without a terminal.

It has a bar, the amounts done and in all, the rate, and the remaining time at this rate.
"""

import math
import sys
import time

from bytepair._labels import harmless
from bytepair._terminal import with_bar
from bytepair._training.progress import SECONDS_UNTIL_RATE, clock

from .problems import remark

__all__ = ["ProgressLine", "rate"]

SECONDS_BETWEEN = 0.1
"""The shortest time between two lines."""


class ProgressLine:
    """Shows how far a job has come.

    Attributes
    ----------
    is_shown
        Whether there is a terminal, and progress is wanted.
    deferred
        Lines that a summary begins with, since no terminal showed them.
    """

    def __init__(self, *, is_shown: bool) -> None:
        self.is_shown = is_shown and sys.stderr.isatty()
        self.deferred: list[str] = []
        self.start = time.perf_counter()
        self.shown_at = 0.0

    def note(self, text: str) -> None:
        """Write a line that stays; without a terminal it waits for the summary."""
        if self.is_shown:
            remark(text)
        else:
            self.deferred.append(text)

    def show(self, text: str, share: float | None = None) -> None:
        """Show a text in place of the last one, with a bar where a share of the job is done."""
        if self.is_shown:
            shown = with_bar(harmless(text), share, sys.stderr)
            sys.stderr.write(f"\r\x1b[K{shown}")
            sys.stderr.flush()

    def show_bytes(self, what: str, done: int, total: int | None) -> None:
        """Show the bytes done and in all, the rate, and the remaining time."""
        now = time.perf_counter()
        is_last = done == total
        if not self.is_shown or (now - self.shown_at < SECONDS_BETWEEN and not is_last):
            return
        self.shown_at = now
        of_all = "" if total is None else f" of {total / 1e6:,.1f}"
        text = f"{what}: {done / 1e6:,.1f}{of_all} MB"
        seconds = now - self.start
        if done and seconds > SECONDS_UNTIL_RATE:
            if total is not None:
                left = seconds * max(total - done, 0) / done
                text += f", {clock(math.ceil(left))} remaining"
            text += f", {rate(done, seconds)}"
        self.show(text, done / total if total else None)

    def clear(self) -> None:
        """Take the line away."""
        self.show("")


def rate(n_bytes: int, seconds: float) -> str:
    """Write a rate.

    >>> rate(2_500_000, 0.5)
    '5.0 MB/s'
    """
    return f"{n_bytes / 1e6 / max(seconds, 1e-9):,.1f} MB/s"
