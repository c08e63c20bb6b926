"""Files on Apache Spark: its workers read them, so all its machines have to reach them.

One task of the plan is one task of Spark, found by its number; the rest is `scale.spark`. Costs
nothing beside the work but some milliseconds for each task.
"""

from __future__ import annotations

import os
import pickle
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from bytepair.data.optional import load

from .counting import count_parts
from .rows import as_rows
from .spark import added_up, collect_counts, collected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from bytepair.data.counts import Counts
    from bytepair.data.plan import Task
    from bytepair.data.readers import ReadOptions

    from .counter import CountSpec

__all__ = ["SparkEngine", "session"]

T = TypeVar("T")
R = TypeVar("R")


class SparkEngine:
    """Counts and tokenizes files: ``scale.count(files, engine=SparkEngine(spark))``."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark

    def run(self, work: Callable[[T], R], tasks: Sequence[T]) -> Iterator[tuple[T, R]]:
        """Do ``work`` on each task; give each with its result when all are done."""
        if not tasks:
            return
        kernel = partial(_work, work=work, tasks=_packed(tasks))
        done = self._numbers(tasks).mapInArrow(kernel, "number bigint, result binary")
        for row in collected(done).to_pylist():
            yield tasks[row["number"]], pickle.loads(row["result"])

    def count(
        self,
        tasks: Sequence[Task],
        spec: CountSpec,
        options: ReadOptions,
        min_piece_count: int | None,
    ) -> Counts:
        """Count tasks, and add their counts up on Spark."""
        kernel = partial(_count, tasks=_packed(tasks), spec=spec, options=options)
        return collect_counts(
            added_up(self._numbers(tasks), kernel, spec), min_piece_count
        )

    def _numbers(self, tasks: Sequence[object]) -> DataFrame:
        """Make a row for each task, in a partition of its own."""
        return self.spark.range(0, len(tasks), 1, max(len(tasks), 1))


def session(settings: Mapping[str, str], cores: int) -> SparkSession:
    """Begin a session, or give the one there is.

    Without a master in ``settings``, the environment or the files of Spark it is on this
    machine, where a task is tried four times as on a cluster.
    """
    spark = load("pyspark", "spark")
    conf = spark.SparkConf()
    for name, value in settings.items():
        conf.set(name, value)
    if not conf.contains("spark.master") and "MASTER" not in os.environ:
        conf.set("spark.master", f"local[{cores},4]")
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    conf.setIfMissing("spark.app.name", "bytepair")
    builder = load("pyspark.sql", "spark").SparkSession.builder
    found: SparkSession = builder.config(conf=conf).getOrCreate()
    return found


def _work(
    batches: Iterable[pa.RecordBatch],
    work: Callable[[Any], Any],
    tasks: Sequence[bytes],
) -> Iterator[pa.RecordBatch]:
    pa = load("pyarrow")
    for number, task in _tasks_in(batches, tasks):
        result = pickle.dumps(work(task))
        yield pa.RecordBatch.from_pydict({"number": [number], "result": [result]})


def _count(
    batches: Iterable[pa.RecordBatch],
    tasks: Sequence[bytes],
    spec: CountSpec,
    options: ReadOptions,
) -> Iterator[pa.RecordBatch]:
    for number, task in _tasks_in(batches, tasks):
        yield from as_rows(count_parts(task, spec, options), number)


def _packed(tasks: Sequence[object]) -> list[bytes]:
    """Pack each task alone: a worker gets all of them, and opens its own."""
    return [pickle.dumps(task) for task in tasks]


def _tasks_in(
    batches: Iterable[pa.RecordBatch], tasks: Sequence[bytes]
) -> Iterator[tuple[int, Any]]:
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield number, pickle.loads(tasks[number])
