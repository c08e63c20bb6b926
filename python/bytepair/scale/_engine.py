"""What a cluster has to offer to count and tokenize files, and how tasks tell of their progress.

An engine has one function, ``run``. A task may be done more than once, at the same time too; its result must be
taken once. An engine that can add up rows of counts itself has a second function, ``count``; see
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
"""How many numbers a task tells about itself."""
WATCH_SECONDS = 0.5
"""How often a watcher hears of them."""


class Engine(Protocol):
    """Moves tasks to workers, and their results back."""

    def run(
        self, work: Callable[[T], R], tasks: Sequence[T], /
    ) -> Iterator[tuple[T, R]]:
        """Do ``work`` on each task; return each task with its one result."""


class Seldom:
    """Calls a watcher, but not too often."""

    def __init__(self, watch: Tell) -> None:
        self.watch, self.next = watch, time.monotonic() + WATCH_SECONDS

    def __call__(self, numbers: Sequence[int]) -> None:
        """Tell the watcher, unless it heard something just now."""
        if time.monotonic() >= self.next:
            self.watch(list(numbers))
            self.next = time.monotonic() + WATCH_SECONDS


def refuse_processes(engine: Engine | None, processes: int) -> None:
    """Refuse what is no engine, and a number of processes if an engine does the work.

    Raises
    ------
    TypeError
        This is no engine.
    TokenizerError
        The processes would have nothing to do.
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
