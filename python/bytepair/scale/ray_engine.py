"""Files on Ray: its workers read them, so all its machines must have access to them.

A task of the plan is a task of Ray. Counts come back as Arrow and are added up in this process:
a group-by on Ray would not pay off. It costs one copy of the counts of each task.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from bytepair.data._optional import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["RayEngine"]

T = TypeVar("T")
R = TypeVar("R")

MAX_RETRIES = 3
"""How often a task is repeated if its worker is lost; an exception ends all tasks."""


class RayEngine:
    """Counts and tokenizes files: ``scale.count(files, engine=RayEngine())``.

    Call ``ray.init()`` first, with the address of a cluster if there is one.
    """

    def run(self, work: Callable[[T], R], tasks: Sequence[T]) -> Iterator[tuple[T, R]]:
        """Do ``work`` on each task; yield each with its result, in any order."""
        ray = load("ray", "ray")
        do = ray.remote(max_retries=MAX_RETRIES)(_do)
        shared = ray.put(work)
        left = {do.remote(shared, task): task for task in tasks}
        while left:
            (done,), _ = ray.wait(list(left), num_returns=1)
            try:
                result = ray.get(done)
            except ray.exceptions.RayTaskError as error:
                raise error.cause from error
            yield left.pop(done), result


def _do(work: Callable[[T], R], task: T) -> R:
    return work(task)
