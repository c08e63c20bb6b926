"""Sources to tasks: parts that follow each other, about equally large.

A plan depends on the order and the sizes of the sources and on the size of a task, on nothing
else: so a task gives the same result whoever does it. Files of lines that are not compressed,
and Parquet, are cut; what cannot be cut is one part, however large. Costs a look into each
Parquet file that is larger than a task.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from bytepair._labels import argument
from bytepair.errors import TokenizerError

from ._opening import open_stored
from ._optional import load
from ._readers import Part, ReadOptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ._recognise import Source


TASK_BYTES = 256 << 20
"""How much of the files is one task, in bytes."""

Task: TypeAlias = tuple[Part, ...]


def plan(
    sources: Iterable[Source], options: ReadOptions, task_bytes: int = TASK_BYTES
) -> list[Task]:
    """Deal sources out as tasks of about ``task_bytes`` bytes, in order."""
    if task_bytes < 1:
        message = f"{argument('task_bytes')} must be at least 1"
        raise TokenizerError(message)
    tasks: list[Task] = []
    task: list[Part] = []
    n_bytes = 0
    for source in sources:
        for part in _parts(source, options, task_bytes):
            if task and n_bytes + part.size > task_bytes:
                tasks.append(tuple(task))
                task, n_bytes = [], 0
            task.append(part)
            n_bytes += part.size
    return [*tasks, tuple(task)] if task else tasks


def _parts(source: Source, options: ReadOptions, task_bytes: int) -> Iterator[Part]:
    is_small = source.size <= task_bytes
    is_lines = source.format == "jsonl" or (source.format == "text" and options.lines)
    if is_small or source.compression or not (is_lines or source.format == "parquet"):
        yield Part(source)
    elif is_lines:
        for start in range(0, source.size, task_bytes):
            stop = min(start + task_bytes, source.size)
            yield Part(source, start, stop, stop - start)
    else:
        yield from _row_groups(source, task_bytes)


def _row_groups(source: Source, task_bytes: int) -> Iterator[Part]:
    """Cut a Parquet file between row groups, whose sizes are in proportion to its own."""
    with open_stored(source) as stored:
        metadata = load("pyarrow.parquet").ParquetFile(stored).metadata
        sizes = [
            metadata.row_group(group).total_byte_size
            for group in range(metadata.num_row_groups)
        ]
    total = max(sum(sizes), 1)
    start, n_bytes = 0, 0
    for group, size in enumerate(sizes):
        stored_size = source.size * size // total
        if group > start and n_bytes + stored_size > task_bytes:
            yield Part(source, start, group, n_bytes)
            start, n_bytes = group, 0
        n_bytes += stored_size
    yield Part(source, start, len(sizes), n_bytes)
