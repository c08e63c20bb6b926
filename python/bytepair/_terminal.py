"""A terminal's colours, and a line of progress that is written over again.

Nothing is drawn in colours if ``NO_COLOR`` is set. The line of progress needs ``rich``, which is imported when a line is shown.
"""

import contextlib
import math
import os
import sys
import threading
import time
from typing import TYPE_CHECKING, TextIO

from ._labels import harmless
from .errors import MissingLibraryError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Self

__all__ = ["ProgressLine", "bytes_done", "clock", "has_colours", "paint"]

MIN_BAR_LEN, MAX_BAR_LEN = 8, 30
SECONDS_BETWEEN = 0.1
"""The shortest time between two lines that say how many bytes are done."""
SECONDS_UNTIL_RATE = 0.5
"""The shortest time after which a rate is meaningful."""
SECONDS_OF_SILENCE = 1.0
"""The longest time in which nothing is shown."""


def has_colours(stream: TextIO) -> bool:
    """Whether a stream is a terminal that shows colours."""
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return stream.isatty() and not is_plain


def paint(text: str, colour: str, *, is_painted: bool) -> str:
    r"""Return a text in a colour, if it is painted and not empty.

    >>> paint("a", "1;31", is_painted=True), paint("a", "1;31", is_painted=False)
    ('\x1b[1;31ma\x1b[0m', 'a')
    """
    return f"\x1b[{colour}m{text}\x1b[0m" if is_painted and text else text


class ProgressLine:
    """One line on standard error that is written over again; nothing without a terminal.

    Attributes
    ----------
    is_shown
        Whether there is a terminal, and progress is wanted.
    """

    def __init__(self, *, is_shown: bool = True) -> None:
        self.is_shown = is_shown and sys.stderr.isatty()
        self.start = time.perf_counter()
        self.shown_at = 0.0
        self.doing = ""

    @contextlib.contextmanager
    def alive(self, doing: str) -> "Iterator[Self]":
        """Show what is done and for how long, as soon as nothing was shown for a second.

        The line is taken away at the end.
        """
        self.doing = doing
        ended = threading.Event()
        thread = threading.Thread(target=self._break_silence, args=[ended], daemon=True)
        if self.is_shown:
            thread.start()
        try:
            yield self
        finally:
            ended.set()
            if self.is_shown:
                thread.join()
            self.clear()

    def _break_silence(self, ended: threading.Event) -> None:
        while not ended.wait(SECONDS_OF_SILENCE / 2):
            now = time.perf_counter()
            if now - max(self.shown_at, self.start) >= SECONDS_OF_SILENCE:
                self.show(f"{self.doing}: {now - self.start:.0f} s")

    def show(self, text: str, share: float | None = None) -> None:
        """Show a text in place of the last one, with a bar if the share that is done is known."""
        if self.is_shown:
            drawn = _drawn(harmless(text), share) if text else ""
            sys.stderr.write(f"\r\x1b[K{drawn}")
            sys.stderr.flush()

    def show_bytes(self, what: str, done: int, total: int | None) -> None:
        """Show the bytes done and in all, the remaining time, and the rate."""
        self.doing = what
        now = time.perf_counter()
        is_early = now - self.shown_at < SECONDS_BETWEEN and done != total
        if self.is_shown and not is_early:
            self.shown_at = now
            if done == total:  # a full bar would say that all is done
                self.show(f"{what}: {done / 1e6:,.1f} MB")
                return
            text = bytes_done(what, done, total, now - self.start)
            self.show(text, done / total if total else None)

    def clear(self) -> None:
        """Take the line away."""
        self.show("")


def _drawn(text: str, share: float | None) -> str:
    """Draw a line that fits the terminal: a text, after a bar and a percentage if they fit too."""
    try:
        from rich.console import Console
        from rich.progress_bar import ProgressBar
        from rich.table import Table
    except ImportError as error:
        message = "progress=True needs rich: pip install 'bytepair[cli]'"
        raise MissingLibraryError(message) from error
    console = Console(file=sys.stderr, highlight=False, markup=False, emoji=False)
    most = console.width - 1
    while len(text) > most and ", " in text:  # the least important comes last
        text = text.rpartition(", ")[0]
    if share is None:
        return text[:most]
    percent = f"{int(100 * min(share, 1.0)):>3}%"
    n_columns = len(percent) + 1 + len(text)
    if n_columns > most:
        return text[:most]
    width = min(most - n_columns - 1, MAX_BAR_LEN)
    if width < MIN_BAR_LEN:
        return f"{percent} {text}"
    bar = ProgressBar(1.0, completed=share, width=width, complete_style="cyan")
    line = Table.grid(padding=(0, 1))
    line.add_row(bar, percent, text)
    with console.capture() as captured:
        console.print(line, no_wrap=True)
    return captured.get().rstrip()


def bytes_done(what: str, done: int, total: int | None, seconds: float) -> str:
    """Write the bytes done and in all, the remaining time at this rate, and the rate.

    >>> bytes_done("counting", 5_000_000, 20_000_000, seconds=2.0)
    'counting: 5.0 of 20.0 MB, 0:00:06 remaining, 2.5 MB/s'
    """
    of_all = "" if total is None else f" of {total / 1e6:,.1f}"
    text = f"{what}: {done / 1e6:,.1f}{of_all} MB"
    if not done or seconds < SECONDS_UNTIL_RATE:
        return text
    rate = f"{done / 1e6 / seconds:,.1f} MB/s"
    if total is None:
        return f"{text}, {rate}"
    left = seconds * max(total - done, 0) / done
    return f"{text}, {clock(left)} remaining, {rate}"


def clock(seconds: float) -> str:
    """Write a time as hours, minutes and seconds, rounded up.

    >>> clock(3725.4)
    '1:02:06'
    """
    minutes, rest = divmod(math.ceil(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
