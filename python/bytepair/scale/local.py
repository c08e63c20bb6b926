"""Tasks on processes of this machine.

A process that is killed is replaced and its task done again; an exception ends all. Each task
may be done more than once, so it must do the same each time. Processes are started afresh
(`spawn`): a program that asks for several has to begin under ``if __name__ == "__main__":``.
"""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import signal
import threading
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, Any, TypeVar

from bytepair.errors import TokenizerError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["run"]

T = TypeVar("T")
R = TypeVar("R")

MAX_LOSSES = 3
"""How often in a row processes may be lost without a task being finished."""


def run(
    work: Callable[[T], R], tasks: Sequence[T], processes: int = 1
) -> Iterator[tuple[T, R]]:
    """Do ``work`` on each task; give each task with its result, in whatever order.

    ``work`` and tasks go through ``pickle``, ``work`` once for each process.

    >>> sorted(run(len, ["one", "three"]))
    [('one', 3), ('three', 5)]

    Raises
    ------
    TokenizerError
        Processes were killed again and again.
    """
    if processes < 1:
        message = "processes must be at least 1"
        raise TokenizerError(message)
    if min(processes, len(tasks)) <= 1:
        for task in tasks:
            yield task, work(task)
        return
    left = dict(enumerate(tasks))
    n_losses = 0
    while left:
        n_before = len(left)
        for number, result in _run_once(work, left, processes):
            yield left.pop(number), result
        n_losses = n_losses + 1 if len(left) == n_before else 0
        if n_losses > MAX_LOSSES:
            message = (
                f"processes were killed {n_losses} times in a row, perhaps for their "
                "memory; use fewer processes"
            )
            raise TokenizerError(message)


def _run_once(
    work: Callable[[T], R], left: dict[int, T], processes: int
) -> Iterator[tuple[int, R]]:
    """Do what can be done until all is done or a process is killed."""
    executor = concurrent.futures.ProcessPoolExecutor(
        min(processes, len(left)),
        multiprocessing.get_context("spawn"),
        initializer=_begin,
        initargs=(work,),
    )
    try:
        futures = {executor.submit(_do, task): number for number, task in left.items()}
        for future in concurrent.futures.as_completed(futures):
            yield futures[future], future.result()
    except BrokenProcessPool:  # one was killed: what is left is done by new ones
        return
    except BaseException:
        for process in list((executor._processes or {}).values()):
            process.terminate()
        raise
    finally:
        executor.shutdown(cancel_futures=True)


_work: Callable[[Any], Any] | None = None


def _begin(work: Callable[[Any], Any]) -> None:
    """Prepare a process: Ctrl-C is for the main one, and it ends when that does."""
    global _work
    _work = work
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _do(task: Any) -> Any:  # noqa: ANN401 -- whatever the work takes and gives
    if _work is None:
        message = "a process without work"
        raise TokenizerError(message)
    return _work(task)
