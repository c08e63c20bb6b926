"""Counting and tokenizing the rows of a data frame on Apache Spark.

Spark deals out record batches, adds rows of counts up, and does again what was lost; everything
else is `scale.rows`, `scale.attempts` and the contract. The result of a part is taken once,
however often it was tried. Files are counted and tokenized by `scale.spark_engine`, and how to
set a cluster up is in `docs/how-to/spark.md`. Costs what Spark takes to move text to Python.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bytepair._expected import refuse_unknown
from bytepair._io.temporary import TemporaryFolder
from bytepair._names import in_order
from bytepair._training.options import DialectOptions
from bytepair.data._columns import as_bytes, text_batch
from bytepair.data._optional import load
from bytepair.data._sums import CountSums
from bytepair.errors import TrainingError

from . import _attempts, _rows
from ._counter import CountSpec, jsonable
from ._counting import prepared_in, settled
from ._spark_jobs import KEY, added_up, collected, packed, unpacked
from ._tokenizing import marks_of, shard_spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

    from bytepair import Tokenizer
    from bytepair._io.files import StrPath
    from bytepair.data._counts import Counts, CountsInfo
    from bytepair.data._shards import ShardFormat

    from .contract import ShardSpec

__all__ = ["collect_counts", "collect_into", "spark_count", "spark_tokenize"]


def spark_count(
    df: DataFrame,
    *,
    column: str | Column = "text",
    group: str | Column | None = None,
    dialect: str = "gpt4o",
    special_tokens: Sequence[str] = (),
    **options: Any,  # noqa: ANN401 -- parts of the dialect
) -> DataFrame:
    """Count the pieces of the texts in a column, by group if ``group`` names a column.

    Gives the columns ``piece``, ``count``, ``group``, ``first`` (null), and ``total``: it is null
    for pieces, and names what else was counted, such as ``documents``. They can be written to
    Parquet and read again; :func:`collect_counts` makes counts of them to learn from.

    Raises
    ------
    TrainingError
        Ties are decided by the first occurrence: rows of a data frame have no order.
    """
    refuse_unknown("spark_count", options, DialectOptions.__annotations__)
    names = tuple(in_order("special_tokens", special_tokens))
    spec = CountSpec(dialect, jsonable(options), names)
    prepared_in(spec)  # refuses what cannot be
    if spec.needs_first:
        message = (
            "ties are decided by the first occurrence, and rows have no order; choose "
            "another rule (ties), or count files"
        )
        raise TrainingError(message)
    columns = [column] if group is None else [column, group]
    kernel = partial(_count, spec=spec)
    return added_up(df.select(*columns), kernel, spec, by_group=group is not None)


def collect_counts(counted: DataFrame, min_piece_count: int | None = None) -> Counts:
    """Bring counts to this process: what :func:`bytepair.train_from_counts` learns from.

    Pieces that occur less often than ``min_piece_count`` are left out on the cluster, and what
    that can change is told with the counts.
    """
    with TemporaryFolder() as folder:
        sums = CountSums(folder)
        return settled(sums, collect_into(sums, counted, min_piece_count))


def collect_into(
    sums: CountSums, counted: DataFrame, min_piece_count: int | None
) -> CountsInfo:
    """Bring counts to this process, and add them to others."""
    described = counted.schema["piece"].metadata[KEY]
    spec = CountSpec(**described["spec"])
    if min_piece_count is not None and min_piece_count > 1:
        counted = _with_sums(counted) if described["by_group"] else counted
        thin = partial(_rows.thin, min_piece_count=min_piece_count)
        counted = counted.mapInArrow(thin, _rows.COLUMNS)
    return _rows.add_up(sums, collected(counted), spec, min_piece_count)


def spark_tokenize(
    df: DataFrame,
    tokenizer: Tokenizer | StrPath,
    output: StrPath,
    *,
    column: str | Column = "text",
    format: ShardFormat = "npy",
    begin_of_document: str | None = None,
    end_of_document: str | None = None,
    mark_at: Literal["begin", "end"] | None = None,
    added_tokens: Literal["find", "text"] = "find",
    shard_tokens: int | None = None,
) -> dict[str, Any]:
    """Tokenize the texts in a column to shards in a folder that all machines share.

    Options are those of :func:`bytepair.scale.tokenize`. Each partition makes shards of its own,
    in the order of its rows. Gives the manifest. What is interrupted begins anew.
    """
    marks = marks_of(begin_of_document, end_of_document, mark_at)
    spec = shard_spec(
        tokenizer,
        format=format,
        marks=marks,
        shard_tokens=shard_tokens,
        added_tokens=added_tokens,
        threads=1,
    )
    dataset = _attempts.begin(Path(output).absolute(), spec, marks)
    write = partial(_write, spec=packed(spec), folder=dataset.folder)
    with dataset.writing():
        written = collected(df.select(column).mapInArrow(write, "done string"))
        return _attempts.settle(dataset, map(json.loads, written["done"].to_pylist()))


def _with_sums(counted: DataFrame) -> DataFrame:
    """Say of each row how often its piece occurs in all groups, and number those rows."""
    sql = load("pyspark.sql", "spark")
    of_piece = sql.Window.partitionBy("total", "piece")
    place = sql.functions.row_number().over(of_piece.orderBy("group"))
    of_all = sql.functions.try_sum("count").over(of_piece)
    return counted.withColumns({"of_all": of_all, "place": place})


def _count(
    batches: Iterable[pa.RecordBatch], spec: CountSpec
) -> Iterator[pa.RecordBatch]:
    return _rows.count_documents(_documents(batches), spec)


def _write(
    batches: Iterable[pa.RecordBatch], spec: bytes, folder: Path
) -> Iterator[pa.RecordBatch]:
    number = load("pyspark", "spark").TaskContext.get().partitionId()
    unpacked_spec: ShardSpec = unpacked(spec)
    done = _attempts.write_attempt(_documents(batches), unpacked_spec, folder, number)
    text = json.dumps(done)
    yield load("pyarrow").RecordBatch.from_pydict({"done": [text]})


def _documents(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return (text_batch(*map(as_bytes, batch.columns)) for batch in batches)
