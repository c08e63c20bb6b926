"""Files on Apache Spark: its workers read them, so all its machines must have access to them.

One task of the plan is one task of Spark, identified by its number; the rest is `scale.spark`. The
overhead is some milliseconds for each task.
"""

from __future__ import annotations

import os
import pickle
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from bytepair.data._optional import load
from bytepair.errors import TokenizerError

from ._counting import count_alone
from ._rows import as_rows
from .spark import added_up, collect_into, collected, packed, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from bytepair.data._counts import CountsInfo
    from bytepair.data._plan import Task
    from bytepair.data._readers import ReadOptions
    from bytepair.data._sums import CountSums

    from ._counter import CountSpec

__all__ = ["SparkEngine", "session"]

T = TypeVar("T")
R = TypeVar("R")


class SparkEngine:
    """Counts and tokenizes files: ``scale.count(files, engine=SparkEngine(spark))``."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark

    def run(self, work: Callable[[T], R], tasks: Sequence[T]) -> Iterator[tuple[T, R]]:
        """Do ``work`` on each task; yield each with its result when all are done."""
        if not tasks:
            return
        kernel = partial(_work, work=packed(work), tasks=list(map(pickle.dumps, tasks)))
        done = self._numbers(tasks).mapInArrow(kernel, "number bigint, result binary")
        for row in collected(done).to_pylist():
            yield tasks[row["number"]], pickle.loads(row["result"])

    def count(
        self,
        tasks: Sequence[Task],
        spec: CountSpec,
        options: ReadOptions,
        min_piece_count: int | None,
        sums: CountSums,
    ) -> CountsInfo:
        """Count tasks, add up their counts on Spark, and return their description."""
        each = list(
            map(pickle.dumps, tasks)
        )  # a worker gets all, and unpickles its own
        kernel = partial(_count, tasks=each, spec=spec, options=options)
        numbers, by_group = self._numbers(tasks), options.group is not None
        counted = added_up(numbers, kernel, spec, by_group=by_group)
        return collect_into(sums, counted, min_piece_count)

    def _numbers(self, tasks: Sequence[object]) -> DataFrame:
        """Return a row for each task, in a partition of its own."""
        return self.spark.range(0, len(tasks), 1, max(len(tasks), 1))


def session(settings: Mapping[str, str], cores: int) -> SparkSession:
    """Return the current session, or a new one.

    Without a master in ``settings``, the environment or the files of Spark, it runs on this
    machine, where a task is tried four times, as on a cluster.

    Raises
    ------
    TokenizerError
        Spark cannot start, usually because Java is missing.
    """
    spark = load("pyspark", "spark")
    is_own = False
    conf = spark.SparkConf()
    for name, value in settings.items():
        conf.set(name, value)
    if not conf.contains("spark.master") and "MASTER" not in os.environ:
        conf.set("spark.master", f"local[{cores},4]")
        is_own = spark.SparkContext._active_spark_context is None
    conf.setIfMissing("spark.app.name", "bytepair")
    builder = load("pyspark.sql", "spark").SparkSession.builder
    try:
        found: SparkSession = builder.config(conf=conf).getOrCreate()
    except load("pyspark.errors", "spark").PySparkRuntimeError as error:
        message = f"Spark did not start: {error}; it needs Java 17 (JAVA_HOME)"
        raise TokenizerError(message) from error
    if (
        is_own and "PYSPARK_PYTHON" not in os.environ
    ):  # this Python, not the first on the path
        found.sparkContext.pythonExec = sys.executable
    return found


def _work(
    batches: Iterable[pa.RecordBatch], work: bytes, tasks: Sequence[bytes]
) -> Iterator[pa.RecordBatch]:
    pa = load("pyarrow")
    do = unpacked(work)
    for number, task in _tasks_in(batches, tasks):
        result = pickle.dumps(do(task))
        yield pa.RecordBatch.from_pydict({"number": [number], "result": [result]})


def _count(
    batches: Iterable[pa.RecordBatch],
    tasks: Sequence[bytes],
    spec: CountSpec,
    options: ReadOptions,
) -> Iterator[pa.RecordBatch]:
    for number, task in _tasks_in(batches, tasks):
        yield from as_rows(count_alone(task, spec, options), number)


def _tasks_in(
    batches: Iterable[pa.RecordBatch], tasks: Sequence[bytes]
) -> Iterator[tuple[int, Any]]:
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield number, pickle.loads(tasks[number])
