"""How far training has come, and one line that shows it.

The time that is left assumes the speed so far. Nothing is shown where there is no terminal.
"""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TextIO, TypeAlias

from bytepair._plurals import amount
from bytepair._terminal import with_bar

__all__ = ["Progress", "ProgressLine", "Reporter", "reporter"]


@dataclass(frozen=True)
class Progress:
    """What training has done so far.

    Attributes
    ----------
    phase
        ``"count"`` while pieces are counted, ``"merge"`` while merges are learned,
        ``"done"`` at the end.
    done, total
        Bytes in the first phase, merges in the second. ``total`` is ``None`` where it
        is not known.
    characters, tokens
        Length of the corpus in characters and in tokens, weighted as its files are; 0
        while counting.
    seconds
        Time since the phase began; at the end, since training began.
    report
        At the end: what was read and learned, by name.
    seconds_left
        Estimated remaining time of this phase, or ``None``.
    corpus
        In the first step of training on files: what they were recognised as; else empty.

    >>> import bytepair
    >>> phases = []
    >>> tokenizer = bytepair.train_from_iterator(
    ...     ["low lower"],
    ...     vocab_size=258,
    ...     progress=lambda progress: phases.append(progress.phase),
    ... )
    >>> phases[-1]
    'done'
    """

    phase: Literal["count", "merge", "done"]
    done: int
    total: int | None
    characters: int | float
    tokens: int | float
    seconds: float
    report: dict[str, Any] = field(default_factory=dict)
    seconds_left: float | None = None
    corpus: str = ""

    @property
    def characters_per_token(self) -> float:
        """Compression ratio: the mean length of a token in characters.

        >>> Progress(
        ...     "merge", 1, 10, characters=300, tokens=200, seconds=0.1
        ... ).characters_per_token
        1.5
        """
        return self.characters / self.tokens if self.tokens else 0.0


SECONDS_UNTIL_RATE = 0.5
"""How long a job lasts before its rate says anything."""

Reporter: TypeAlias = Callable[[Progress], object]


class ProgressLine:
    """Shows progress as one line that is written over again, on a terminal only."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self.is_shown = self.stream.isatty()

    def __call__(self, progress: Progress) -> None:
        """Show a step."""
        if not self.is_shown:
            return
        text = progress.corpus or describe(progress)
        is_last = bool(progress.corpus) or progress.phase == "done"
        line = (
            f"{text}\n" if is_last else with_bar(text, share_of(progress), self.stream)
        )
        self.stream.write(f"\r\x1b[K{line}")
        self.stream.flush()


def share_of(progress: Progress) -> float | None:
    """Say how much of its phase is done, from 0 to 1, where that is known.

    >>> share_of(Progress("merge", 300, 1000, 300, 200, seconds=6.0))
    0.3
    """
    return progress.done / progress.total if progress.total else None


def describe(progress: Progress) -> str:
    """Say in one line how far training has come.

    >>> step = Progress("merge", 300, 1000, 300, 200, seconds=6.0, seconds_left=9.5)
    >>> describe(step)
    '300 of 1,000 merges done, 0:00:10 remaining, compression ratio 1.50'
    >>> describe(Progress("count", 5_000_000, 20_000_000, 0, 0, seconds=2.0))
    'counting: 5.0 of 20.0 MB, 0:00:06 remaining, 2.5 MB/s'
    """
    if progress.phase == "count":
        total = "" if progress.total is None else f" of {progress.total / 1e6:,.1f}"
        text = f"counting: {progress.done / 1e6:,.1f}{total} MB"
        return f"{text}{_speed(progress)}"
    ratio = f"compression ratio {progress.characters_per_token:.2f}"
    if progress.phase == "done":
        return f"{amount(progress.done, 'merge')} done in {clock(progress.seconds)}, {ratio}"
    total = "" if progress.total is None else f" of {progress.total:,}"
    return f"{progress.done:,}{total} merges done{_remaining(progress)}, {ratio}"


def clock(seconds: float) -> str:
    """Write a time as hours, minutes and seconds.

    >>> clock(3725.4)
    '1:02:05'
    """
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def _speed(progress: Progress) -> str:
    """Say how fast bytes are counted, and how long the rest takes at that rate."""
    done, seconds = progress.done, progress.seconds
    if not done or seconds < SECONDS_UNTIL_RATE:
        return ""
    rate = f", {done / 1e6 / seconds:,.1f} MB/s"
    if progress.total is None:
        return rate
    left = seconds * max(progress.total - done, 0) / done
    return f", {clock(math.ceil(left))} remaining{rate}"


def _remaining(progress: Progress) -> str:
    left = progress.seconds_left
    return "" if left is None else f", {clock(math.ceil(left))} remaining"


def reporter(
    progress: "bool | Reporter | None",
) -> Reporter | None:
    """Turn the ``progress`` argument into a function, or ``None``."""
    if progress is True:
        return ProgressLine()
    return progress or None
