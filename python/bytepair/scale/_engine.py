"""The interface of engines that count and tokenize files, and how tasks report their progress.

An engine has one function, ``run``. A task may run more than once, even at the same time; its result must be
returned once. An engine that can add up rows of counts itself has a second function, ``count``; see
`spark_engine`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from bytepair._labels import argument
from bytepair.errors import TokenizerError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


T = TypeVar("T")
R = TypeVar("R")
Tell: TypeAlias = "Callable[[Sequence[int]], object]"

N_TOLD = 3
"""The number of numbers by which a task reports its progress."""
WATCH_SECONDS = 0.5
"""The time between calls of a watcher, in seconds."""


class Engine(Protocol):
    """Moves tasks to workers, and their results back."""

    def run(
        self, work: Callable[[T], R], tasks: Sequence[T], /
    ) -> Iterator[tuple[T, R]]:
        """Do ``work`` on each task; yield each task with its result, once."""


class Throttled:
    """Calls a watcher, but not too often."""

    def __init__(self, watch: Tell) -> None:
        self.watch, self.next = watch, time.monotonic() + WATCH_SECONDS

    def __call__(self, numbers: Sequence[int]) -> None:
        """Call the watcher, unless it was called just now."""
        if time.monotonic() >= self.next:
            self.watch(list(numbers))
            self.next = time.monotonic() + WATCH_SECONDS


def refuse_processes(engine: Engine | None, processes: int) -> None:
    """Refuse an object that is not an engine, and a number of processes beside an engine.

    Raises
    ------
    TypeError
        ``engine`` is not an engine.
    TokenizerError
        There are several processes, and an engine that replaces them.
    """
    if engine is not None and not callable(getattr(engine, "run", None)):
        message = f"engine must be an engine such as RayEngine(), not {engine!r:.80}"
        raise TypeError(message)
    if engine is not None and processes != 1:
        message = (
            f"{argument('processes', '')} are those of this machine, which "
            f"{argument('engine', '')} replaces; leave them out"
        )
        raise TokenizerError(message)
