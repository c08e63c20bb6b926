"""How far training has come, and one line that shows it.

The time that is left assumes the speed so far. Nothing is shown where there is no terminal.
"""

import math
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TextIO, TypeAlias

from ._plurals import amount

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
        line = f"{text}\n" if is_last else fitting(text, self.stream)
        self.stream.write(f"\r\x1b[K{line}")
        self.stream.flush()


def fitting(text: str, stream: TextIO) -> str:
    """Cut a text so that a terminal shows it in one line: of two, only the last can be written over."""
    try:
        n_columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):  # a terminal that does not say
        return text
    return text[: n_columns - 1] if n_columns > 1 else text


def describe(progress: Progress) -> str:
    """Say in one line how far training has come.

    >>> step = Progress("merge", 300, 1000, 300, 200, seconds=6.0, seconds_left=9.5)
    >>> describe(step)
    '300 of 1,000 merges done, 0:00:10 remaining, compression ratio 1.50'
    """
    if progress.phase == "count":
        total = "" if progress.total is None else f" of {progress.total / 1e6:,.1f}"
        return f"counting: {progress.done / 1e6:,.1f}{total} MB{_remaining(progress)}"
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
