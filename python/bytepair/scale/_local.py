"""Tasks on processes of this machine.

A killed process is replaced and its task repeated; an exception ends all processes. A task may
run more than once, so it must do the same each time. Processes are started afresh
(`spawn`): a program that uses several must start them under ``if __name__ == "__main__":``.
"""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import signal
import threading
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, Any, TypeVar

from bytepair._labels import argument
from bytepair.errors import TokenizerError

from ._engine import N_TOLD, WATCH_SECONDS, Throttled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, MutableSequence, Sequence

    from ._engine import Tell


T = TypeVar("T")
R = TypeVar("R")

MAX_LOSSES = 3
"""How often in a row processes may be killed before a task is finished."""


def run(
    work: Callable[..., R],
    tasks: Sequence[T],
    processes: int = 1,
    watch: Tell | None = None,
) -> Iterator[tuple[T, R]]:
    """Do ``work`` on each task; yield each task with its result, in any order.

    ``work`` is pickled once for each process, and each task once. With ``watch``, ``work`` gets a
    second argument, a function that it calls from time to time with ``N_TOLD`` numbers. ``watch``
    is called with their sums over all running tasks, also when a task is done.

    >>> sorted(run(len, ["one", "three"]))
    [('one', 3), ('three', 5)]

    Raises
    ------
    TokenizerError
        Processes were killed several times in a row.
    """
    if processes < 1:
        message = f"{argument('processes')} must be at least 1"
        raise TokenizerError(message)
    if min(processes, len(tasks)) <= 1:
        for task in tasks:
            yield task, work(task, *([] if watch is None else [Throttled(watch)]))
            if watch is not None:
                watch([0] * N_TOLD)
        return
    left = dict(enumerate(tasks))
    n_losses = 0
    while left:
        n_before = len(left)
        for number, result in _run_once(work, left, processes, watch):
            yield left.pop(number), result
        n_losses = n_losses + 1 if len(left) == n_before else 0
        if n_losses > MAX_LOSSES:
            message = (
                f"processes were killed {n_losses} times in a row, perhaps for lack of "
                "memory; use fewer processes"
            )
            raise TokenizerError(message)


def _run_once(
    work: Callable[..., R], left: dict[int, T], processes: int, watch: Tell | None
) -> Iterator[tuple[int, R]]:
    """Yield results until all tasks are done or a process is killed."""
    context = multiprocessing.get_context("spawn")
    n_told = 0 if watch is None else N_TOLD * (max(left) + 1)
    board = context.RawArray("q", n_told)
    executor = concurrent.futures.ProcessPoolExecutor(
        min(processes, len(left)), context, initializer=_begin, initargs=(work, board)
    )
    try:
        futures = {
            executor.submit(_do, number, task): number for number, task in left.items()
        }
        for future in _as_completed(set(futures), board, watch):
            number = futures[future]
            result = future.result()
            board[N_TOLD * number : N_TOLD * (number + 1)] = [0] * (n_told and N_TOLD)
            yield number, result
    except BrokenProcessPool:  # a process was killed: new ones do the rest
        return
    except BaseException:
        for process in list((executor._processes or {}).values()):
            process.terminate()
        raise
    finally:
        executor.shutdown(cancel_futures=True)


def _as_completed(
    futures: set[concurrent.futures.Future[R]], board: Sequence[int], watch: Tell | None
) -> Iterator[concurrent.futures.Future[R]]:
    """Yield futures that are done; meanwhile report the progress on the board to the watcher."""
    seconds = None if watch is None else WATCH_SECONDS
    first = concurrent.futures.FIRST_COMPLETED
    while futures:
        done, futures = concurrent.futures.wait(futures, seconds, first)
        yield from done
        if watch is not None:
            watch([sum(board[index::N_TOLD]) for index in range(N_TOLD)])


_work: Callable[..., Any] | None = None
_board: MutableSequence[int] = []


def _begin(work: Callable[..., Any], board: MutableSequence[int]) -> None:
    """Prepare a worker process: it ignores Ctrl-C, and ends when the main process does."""
    global _work, _board
    _work, _board = work, board
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _do(number: int, task: Any) -> Any:  # noqa: ANN401 -- any argument and result
    if _work is None:
        message = "a process without work"
        raise TokenizerError(message)
    if not len(_board):
        return _work(task)

    def tell(numbers: Sequence[int]) -> None:
        _board[N_TOLD * number : N_TOLD * (number + 1)] = numbers

    return _work(task, tell)
