"""What data frames and files share on Apache Spark: adding up, results, what workers keep.

Costs nothing beside the work but the way of the results to the driver.
"""

from __future__ import annotations

import functools
import pickle
import re
from typing import TYPE_CHECKING, Any

from bytepair import errors
from bytepair.data._optional import load
from bytepair.errors import TokenizerError

from . import _rows
from ._counter import CountSpec, jsonable

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

__all__ = ["KEY", "added_up", "collected", "packed", "unpacked"]

KEY = "bytepair.counts"
"""Under this name a column of pieces says how they were counted."""


def added_up(
    df: DataFrame,
    count: Any,  # noqa: ANN401 -- as Spark takes it
    spec: CountSpec,
    *,
    by_group: bool = False,
) -> DataFrame:
    """Count by a function of batches, and add its rows up; how was counted goes along."""
    functions = load("pyspark.sql.functions", "spark")
    counted = df.mapInArrow(count, _rows.COLUMNS)
    # A sum beyond 63 bits is null, whatever the session does with such sums.
    sums = counted.groupBy("total", "group", "piece").agg(
        functions.try_sum("count").alias("count"), functions.min("first").alias("first")
    )
    names = ("dialect", "options", "special_tokens")
    described = {name: getattr(spec, name) for name in names}
    described["options"] = jsonable(spec.options)
    return sums.withMetadata("piece", {KEY: {"spec": described, "by_group": by_group}})


def collected(df: DataFrame) -> pa.Table:
    """Run a job; what a worker raised is raised as what it was."""
    try:
        return df.toArrow()
    except Exception as error:
        found = re.findall(r"^bytepair\.errors\.(\w+): (.*)", str(error), re.MULTILINE)
        if not found:
            raise
        kind = getattr(errors, found[-1][0], TokenizerError)
        raise kind(found[-1][1]) from error


def packed(value: object) -> bytes:
    """Pack what every task needs, to be unpacked once in each worker."""
    dumped: bytes = load("pyspark.cloudpickle", "spark").dumps(value)
    return dumped


@functools.lru_cache(maxsize=2)
def unpacked(value: bytes) -> Any:  # noqa: ANN401 -- what was packed
    """Unpack it, or give what was: a tokenizer stays warm from task to task."""
    return pickle.loads(value)
