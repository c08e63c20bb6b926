"""The progress of training, and one line that shows it.

While text is counted, the remaining time assumes the speed so far. Nothing is shown without a terminal.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from bytepair import _terminal
from bytepair._plurals import amount
from bytepair._terminal import SECONDS_BETWEEN, bytes_done, clock

from .remaining import Remaining

__all__ = ["Progress", "ProgressLine", "Reporter", "Telling", "reporter"]


@dataclass(frozen=True)
class Progress:
    """The progress of training.

    Attributes
    ----------
    phase
        ``"count"`` while pieces are counted, ``"merge"`` while merges are learned,
        ``"done"`` at the end.
    done, total
        Bytes in the first phase, merges in the second. ``total`` is ``None`` if it
        is not known.
    characters, tokens
        Length of the corpus in characters and in tokens, with the weights of its files; 0
        while counting.
    seconds
        Time since the phase began; at the end, since training began.
    report
        At the end: numbers of what was read and learned, by name.
    seconds_left
        Estimated remaining time of this phase, or ``None``.
    corpus
        In the first step of training on files: their formats; otherwise empty.

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


class ProgressLine(_terminal.ProgressLine):
    """Shows progress as one line that is overwritten, on a terminal only."""

    def __call__(self, progress: Progress) -> None:
        """Show a step. The line about the corpus and that of the last step stay."""
        stays = bool(progress.corpus) or progress.phase == "done"
        share = progress.done / progress.total if progress.total and not stays else None
        self.show(progress.corpus or describe(progress), share)
        if self.is_shown and stays:
            sys.stderr.write("\n")


def describe(progress: Progress) -> str:
    """Return the progress of training as one line.

    >>> step = Progress("merge", 300, 1000, 300, 200, seconds=6.0, seconds_left=9.5)
    >>> describe(step)
    '300 of 1,000 merges done, 0:00:10 remaining, compression ratio 1.50'
    """
    if progress.phase == "count":
        sizes = (progress.done, progress.total)
        return bytes_done("counting", *sizes, progress.seconds)
    ratio = f"compression ratio {progress.characters_per_token:.2f}"
    if progress.phase == "done":
        merges = amount(progress.done, "merge")
        return f"{merges} done in {clock(progress.seconds)}, {ratio}"
    total = "" if progress.total is None else f" of {progress.total:,}"
    left = progress.seconds_left
    remaining = "" if left is None else f", {clock(left)} remaining"
    return f"{progress.done:,}{total} merges done{remaining}, {ratio}"


def reporter(progress: "bool | Reporter | None") -> Reporter | None:
    """Turn the ``progress`` argument into a function, or ``None``."""
    return ProgressLine() if progress is True else progress or None


class Telling:
    """Calls a function, if there is one, with the progress; the first call has the formats of the corpus."""

    def __init__(self, report: Reporter | None, n_earlier: int) -> None:
        self.report = report
        self.remaining = Remaining(n_earlier)
        self.recognised = ""
        self.n_characters: int | float = 0
        self.start = self.phase_start = time.perf_counter()
        self.told_at = 0.0

    def counted(self, done: int, total: int | None) -> None:
        """Report how much of the files is counted, in bytes as they are stored."""
        now = time.perf_counter()
        if not self.report or now - self.told_at < SECONDS_BETWEEN:
            return
        self.told_at, seconds = now, now - self.phase_start
        left = None
        if total is not None and done:
            left = seconds * max(total - done, 0) / done
        corpus, self.recognised = self.recognised, ""
        self.report(Progress("count", done, total, 0, 0, seconds, {}, left, corpus))

    def begin_merging(self, n_characters: float) -> None:
        """Begin the second phase, on a corpus of this many characters."""
        self.n_characters = n_characters
        self.phase_start = time.perf_counter()

    def merged(self, done: int, total: int | None, tokens: float) -> None:
        """Report the number of merges, and of tokens in the corpus."""
        seconds = time.perf_counter() - self.phase_start
        self.remaining.add(done, seconds)
        left = self.remaining.seconds_left(total)
        sizes = (self.n_characters, tokens)
        if self.report:
            self.report(Progress("merge", done, total, *sizes, seconds, {}, left))

    def end(self, report: dict[str, Any]) -> None:
        """Report what was read and learned."""
        seconds = time.perf_counter() - self.start
        done = report["merges"]
        sizes = (self.n_characters, report["tokens"])
        if self.report:
            self.report(Progress("done", done, done, *sizes, seconds, report))
