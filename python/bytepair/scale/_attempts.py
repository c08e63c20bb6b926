"""Documents without files behind them to a folder of shards: what surrounds a cluster's work.

Rows of a data frame may come in another order when a task is done again, so nothing of one
attempt may stand beside anything of another. Each attempt writes into a folder of its own in
``_work``; the attempts that count are those whose results arrive, and `settle` gives their files
their names. What others wrote goes with ``_work``. Left out: resuming, since nobody can say
that rows are the same as before.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from bytepair.data._readers import Tally, rows_of
from bytepair.data._work import Dataset, commit, new_attempt
from bytepair.errors import FileError

from .contract import ShardSpec, write_shards

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import pyarrow as pa


def begin(folder: Path, spec: ShardSpec) -> Dataset:
    """Prepare a folder for the shards of documents that are in no files.

    Raises
    ------
    FileError
        The folder holds a finished dataset or something else.
    """
    dataset = Dataset(folder, {**spec.plan, "sources": []})
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
    """Write the documents of a part as shards, out of the way of other attempts."""
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
    """Give the files of one attempt for each part their names, and write the manifest."""
    dataset.forget_all()  # of a run that ended right here
    tasks = sorted(done, key=lambda task: int(task["number"]))
    for task in tasks:
        attempt = dataset.work / task.pop("attempt")
        dataset.note(task.pop("number"), task)
        for shard in task["shards"]:
            for name in shard["files"]:
                (attempt / name).replace(dataset.folder / name)
    return commit(dataset.folder, dataset.plan, tasks)
