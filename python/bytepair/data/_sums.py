"""Counts of the parts of a corpus, added up in bounded memory, by group where documents have groups.

The core adds up, sorts and leaves out, through temporary files where memory is not enough; here groups
have their names. What is rare is decided by the sum over all groups, so that counts by group and
counts of all leave out the same pieces. The rows are the same whatever the parts were, in whatever
order they came.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytepair import _core
from bytepair._labels import argument
from bytepair._numpy import np
from bytepair._ranges import check_whole
from bytepair.errors import TokenizerError, TrainingError

from ._columns import arrays_of, by_group, column_of
from ._optional import load

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray


ADDING_BYTES = 256 << 20
"""The memory of adding up where no limit is given."""
LEAST_BYTES = 16 << 20
"""The least memory that adding up can do with."""
WRITING_BYTES = 32 << 20
"""What a batch of rows takes, and the writer of a file that gets it."""
BATCH_ROWS = 1 << 18
BATCH_BYTES = 8 << 20
"""The bytes of pieces of a batch: a piece may be a document. The same whatever the limit,
since a batch is a row group of a file."""


class CountSums:
    """Counts while they are added up; ``None`` is the group where there are none.

    >>> import pyarrow as pa, tempfile
    >>> sums = CountSums(tempfile.gettempdir())
    >>> for count in (2, 3):
    ...     sums.add(pa.table({"piece": [b"low"], "count": [count]}))
    >>> sums.finish()
    (0, 0)
    >>> sums.table().to_pydict()
    {'piece': [b'low'], 'count': [5]}
    """

    def __init__(self, folder: str, memory_limit: int | None = None) -> None:
        check_whole(memory_limit=memory_limit)
        limit = ADDING_BYTES if memory_limit is None else memory_limit
        if limit < LEAST_BYTES:
            message = (
                f"{argument('memory_limit')}: {limit:,} bytes are too few to add counts up; give at "
                f"least {LEAST_BYTES:,}"
            )
            raise TokenizerError(message)
        self.core = _core.CountSums(folder, limit - min(limit // 2, WRITING_BYTES))
        self.numbers: dict[str | None, int] = {}
        self.has_firsts = True

    def add(self, rows: pa.Table | pa.RecordBatch, source: int = 0) -> None:
        """Add rows; ``source`` is the place of their part of the corpus.

        Raises
        ------
        TrainingError
            Some rows have a group and others have none.
        """
        if not hasattr(rows, "schema"):
            message = f"expected a table of counts, found {type(rows).__name__}"
            raise TypeError(message)
        self.has_firsts &= "first" in rows.schema.names
        for batch in rows.to_batches() if hasattr(rows, "to_batches") else [rows]:
            for group, part in by_group(batch):
                rows_of_group = arrays_of_rows(part)
                self.core.add(rows_of_group, group=self._number(group), source=source)

    def add_runs(
        self, runs: Mapping[str | None, Iterable[Path]], source: int = 0
    ) -> None:
        """Add the files of a part that was counted, by group, and take them over."""
        for group, files in runs.items():
            for file in files:
                self.core.add_run(file, group=self._number(group), source=source)

    def finish(
        self, min_count: int | None = None, *, with_first: bool = True
    ) -> tuple[int, int]:
        """End the adding up, and leave out pieces whose sum is smaller.

        Says how many these were, and how often they occur.
        """
        self.has_firsts &= with_first and not self._is_grouped
        names = sorted(self.numbers, key=lambda name: name or "")
        places = [names.index(name) for name in self.numbers]
        return self.core.finish(min_count or 0, places, self.has_firsts)

    @property
    def schema(self) -> pa.Schema:
        """Of the rows: what they say beside the piece and its count."""
        return columns(has_firsts=self.has_firsts, is_grouped=self._is_grouped)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Return the rows, once, in the order of counts, then of pieces, then of groups."""
        pa = load("pyarrow")
        names = pa.array(sorted(name or "" for name in self.numbers), pa.large_string())
        while True:
            pieces, counts, groups, firsts = self.core.next_rows(
                BATCH_ROWS, BATCH_BYTES
            )
            if not len(counts):
                return
            arrays = [column_of(*pieces), pa.array(counts)]
            if self.has_firsts:
                arrays.append(pa.array(firsts.astype(np.int64)))
            if self._is_grouped:
                arrays.append(names.take(pa.array(groups)))
            yield pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def table(self) -> pa.Table:
        """Return the rows, once, in memory."""
        return load("pyarrow").Table.from_batches(self.batches(), self.schema)

    @property
    def _is_grouped(self) -> bool:
        return any(group is not None for group in self.numbers)

    def _number(self, group: str | None) -> int:
        if self.numbers and (group is None) != (None in self.numbers):
            message = "counts by group and counts without groups; count again"
            raise TrainingError(message)
        return self.numbers.setdefault(group, len(self.numbers))


def columns(*, has_firsts: bool = False, is_grouped: bool = False) -> pa.Schema:
    """Return the columns of rows of counts."""
    pa = load("pyarrow")
    found = [("piece", pa.large_binary()), ("count", pa.int64())]
    found += [("first", pa.int64())] * has_firsts
    found += [("group", pa.large_string())] * is_grouped
    return pa.schema(found)


def arrays_of_rows(
    rows: pa.RecordBatch,
) -> tuple[
    tuple[NDArray[np.uint8], NDArray[np.int64]],
    NDArray[np.int64],
    NDArray[np.int64] | None,
]:
    """Return pieces, counts and, if they are known, first occurrences."""
    firsts = None
    if "first" in rows.schema.names:
        firsts = rows.column("first").to_numpy().astype(np.int64, copy=False)
    counts = rows.column("count").to_numpy().astype(np.int64, copy=False)
    return arrays_of(rows.column("piece")), counts, firsts
