"""Counting and tokenizing the rows of a data frame on Apache Spark.

Spark distributes record batches, adds up rows of counts, and repeats lost tasks. The order of rows may
differ then, so the files of two attempts must not mix: each attempt writes to a folder of its own in
``_work``, and only attempts whose results arrive are used. Nothing shows whether rows are the same as
before, so nothing is resumed. `scale.spark_engine` counts and tokenizes files, and
`docs/how-to/spark.md` says how to set up a cluster. It costs the time that Spark takes to move text to
Python.
"""

from __future__ import annotations

import functools
import json
import pickle
import re
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bytepair import errors
from bytepair._expected import loaded, refuse_unknown
from bytepair._io.temporary import TemporaryFolder
from bytepair._names import in_order
from bytepair._training.options import DialectOptions
from bytepair.analyze._behaviour import behaviour_of
from bytepair.data._columns import as_bytes, text_batch
from bytepair.data._optional import load
from bytepair.data._readers import Tally, rows_of
from bytepair.data._sums import CountSums
from bytepair.data._work import Dataset, commit, new_attempt
from bytepair.errors import FileError, TokenizerError, TrainingError

from . import _rows
from ._counter import CountSpec, jsonable
from ._counting import settled
from ._writing import ShardSpec, write_shards

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

    from bytepair import Tokenizer
    from bytepair._io.files import StrPath
    from bytepair.data._counts import Counts, CountsInfo
    from bytepair.data._shards import ShardFormat

__all__ = [
    "added_up",
    "collect_counts",
    "collect_into",
    "collected",
    "packed",
    "spark_count",
    "spark_tokenize",
    "unpacked",
]

KEY = "bytepair.counts"
"""The key in the metadata of a column of pieces that says how they were counted."""


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

    The result has the columns ``piece``, ``count``, ``group``, ``first`` (null), and ``total``, which
    is null for pieces and names other totals, such as ``documents``. It can be written to Parquet
    and read again; :func:`collect_counts` turns it into counts to learn from.

    Raises
    ------
    TrainingError
        Ties are decided by the first occurrence: rows of a data frame have no order.
    """
    refuse_unknown("spark_count", options, DialectOptions.__annotations__)
    names = tuple(in_order("special_tokens", special_tokens))
    spec = CountSpec(dialect, jsonable(options), names)
    spec.new_info()  # refuses invalid options
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
    """Return counts in this process, for :func:`bytepair.train_from_counts`.

    Pieces that occur less often than ``min_piece_count`` are left out on the cluster; ``info``
    says how many.
    """
    with TemporaryFolder() as folder:
        sums = CountSums(folder)
        info = collect_into(sums, counted, min_piece_count)
        return settled(sums, info, min_piece_count)


def collect_into(
    sums: CountSums, counted: DataFrame, min_piece_count: int | None
) -> CountsInfo:
    """Bring counts to this process, add them to the sums, and return their description.

    Rare pieces are left out on the way, unless they may be frequent in all groups together.
    """
    described = counted.schema["piece"].metadata[KEY]
    if min_piece_count is not None and not described["by_group"]:
        thin = partial(_rows.thin, min_piece_count=min_piece_count)
        counted = counted.mapInArrow(thin, _rows.COLUMNS)
    return _rows.add_up(sums, collected(counted), CountSpec(**described["spec"]))


def spark_tokenize(
    df: DataFrame,
    tokenizer: Tokenizer | StrPath,
    output: StrPath,
    *,
    column: str | Column = "text",
    format: ShardFormat = "npy",
    begin_of_document: str | None = None,
    end_of_document: str | None = None,
    added_tokens: Literal["find", "text"] = "find",
    shard_tokens: int | None = None,
) -> dict[str, Any]:
    """Tokenize the texts in a column to shards in a folder that all machines share.

    Options are those of :func:`bytepair.scale.tokenize`. Each partition writes shards of its own,
    in the order of its rows. Return the manifest. An interrupted run starts from the beginning.
    """
    spec = ShardSpec(
        loaded(tokenizer),
        format,
        begin_of_document,
        end_of_document,
        shard_tokens,
        added_tokens=added_tokens,
    )
    dataset = begun(Path(output).absolute(), spec)
    write = partial(_write, spec=packed(spec), folder=dataset.folder)
    with dataset.writing():
        written = collected(df.select(column).mapInArrow(write, "done string"))
        return settle(dataset, map(json.loads, written["done"].to_pylist()))


def added_up(
    df: DataFrame,
    count: Any,  # noqa: ANN401 -- as Spark takes it
    spec: CountSpec,
    *,
    by_group: bool = False,
) -> DataFrame:
    """Count by a function of batches, and add up its rows; metadata says how they were counted."""
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
    """Run a job; an error of bytepair in a worker is raised with its own class."""
    try:
        return df.toArrow()
    except Exception as error:
        found = re.findall(r"^bytepair\.errors\.(\w+): (.*)", str(error), re.MULTILINE)
        if not found:
            raise
        kind = getattr(errors, found[-1][0], TokenizerError)
        raise kind(found[-1][1]) from error


def packed(value: object) -> bytes:
    """Pickle what every task needs; each worker unpickles it once."""
    dumped: bytes = load("pyspark.cloudpickle", "spark").dumps(value)
    return dumped


@functools.lru_cache(maxsize=2)
def unpacked(value: bytes) -> Any:  # noqa: ANN401 -- what was packed
    """Unpickle it, or return the earlier result, so that a tokenizer stays warm between tasks."""
    return pickle.loads(value)


def _count(
    batches: Iterable[pa.RecordBatch], spec: CountSpec
) -> Iterator[pa.RecordBatch]:
    return _rows.count_documents(_documents(batches), spec)


def _write(
    batches: Iterable[pa.RecordBatch], spec: bytes, folder: Path
) -> Iterator[pa.RecordBatch]:
    number = load("pyspark", "spark").TaskContext.get().partitionId()
    unpacked_spec: ShardSpec = unpacked(spec)
    done = write_attempt(_documents(batches), unpacked_spec, folder, number)
    text = json.dumps(done)
    yield load("pyarrow").RecordBatch.from_pydict({"done": [text]})


def _documents(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return (text_batch(*map(as_bytes, batch.columns)) for batch in batches)


def begun(folder: Path, spec: ShardSpec) -> Dataset:
    """Prepare a folder for the shards of documents that are not in files.

    Raises
    ------
    FileError
        The folder holds a finished dataset or something else.
    """
    plan = {**spec.plan, "sources": []}
    dataset = Dataset(folder, plan, behaviour_of(spec.tokenizer))
    if dataset.finished() is not None:
        message = (
            f"{folder} holds a finished dataset, and nothing shows whether these rows are the "
            "same; name another folder, or remove this one"
        )
        raise FileError(message)
    return dataset


def write_attempt(
    batches: Iterable[pa.RecordBatch], spec: ShardSpec, folder: Path, number: int
) -> dict[str, Any]:
    """Write the documents of a part as shards, apart from other attempts."""
    tally = Tally()

    def reading() -> Iterator[pa.RecordBatch]:
        for batch in batches:
            tally.add_rows(rows_of(batch))
            yield batch

    attempt = new_attempt(folder, number)
    written = write_shards(reading(), spec, attempt, f"shard-{number:05}")
    return {
        "attempt": attempt.name,
        "number": number,
        "parts": [],
        "tally": asdict(tally),
        **written,
    }


def settle(dataset: Dataset, done: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Move the files of one attempt for each part to the dataset, and write the manifest."""
    dataset.forget_all()  # of a run that was interrupted here
    tasks = sorted(done, key=lambda task: int(task["number"]))
    for task in tasks:
        attempt = dataset.work / task.pop("attempt")
        dataset.note(task.pop("number"), task)
        for shard in task["shards"]:
            for name in shard["files"]:
                (attempt / name).replace(dataset.folder / name)
    return commit(dataset, tasks)
