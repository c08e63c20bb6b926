"""What a cluster has to offer to count and tokenize files: two functions.

A task may be done more than once, at the same time too; its result must be taken once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from bytepair._labels import argument
from bytepair.errors import TokenizerError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bytepair.data._counts import CountsInfo
    from bytepair.data._plan import Task
    from bytepair.data._readers import ReadOptions
    from bytepair.data._sums import CountSums

    from ._counter import CountSpec

__all__ = ["Engine", "refuse_processes"]

T = TypeVar("T")
R = TypeVar("R")


class Engine(Protocol):
    """Moves tasks to workers, and their results back."""

    def run(
        self, work: Callable[[T], R], tasks: Sequence[T], /
    ) -> Iterator[tuple[T, R]]:
        """Do ``work`` on each task; give each task with its one result."""

    def count(
        self,
        tasks: Sequence[Task],
        spec: CountSpec,
        options: ReadOptions,
        min_piece_count: int | None,
        sums: CountSums,
        /,
    ) -> CountsInfo:
        """Count each task with `counting.count_alone`, and add its rows to the sums.

        Rare pieces may be left out on the way, if that is told with what was counted.
        """


def refuse_processes(engine: Engine | None, processes: int) -> None:
    """Refuse what is no engine, and a number of processes where an engine does the work.

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
