"""Counts of pieces while they are added up, by group where documents have groups.

The core adds up; here is one of its tables for each group. What is rare is decided by the sum
over all groups, so that counts by group and counts of all leave out the same pieces. Costs
one look-up of each row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bytepair import _core
from bytepair.errors import TrainingError

from .columns import arrays_of, column_of
from .optional import load

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa
    from numpy.typing import NDArray

__all__ = ["CountTable", "add_rows", "rows_of"]

LARGEST = np.iinfo(np.int64).max


class CountTable:
    """Rows of counts that are added up; ``None`` is the group where there are none."""

    def __init__(self) -> None:
        self.by_group: dict[str | None, _core.PieceTable] = {}
        self.has_firsts = True

    def add(self, rows: pa.Table | pa.RecordBatch, source: int = 0) -> None:
        """Add rows; ``source`` is the place of their part of the corpus.

        Raises
        ------
        TrainingError
            Some rows have a group and others have none.
        """
        self.has_firsts &= "first" in rows.schema.names
        for group, part in _parts_of(rows):
            if self.by_group and (group is None) != (None in self.by_group):
                message = "counts by group and counts without groups; count again"
                raise TrainingError(message)
            table = self.by_group.setdefault(group, _core.PieceTable())
            add_rows(table, part, source)

    def drop_rare(self, min_count: int) -> tuple[int, int, int]:
        """Leave out pieces whose sum is smaller; see `_core.PieceTable.drop_rare`."""
        if set(self.by_group) <= {None}:
            return self.by_group.get(None, _core.PieceTable()).drop_rare(min_count)
        total = _core.PieceTable()
        for table in self.by_group.values():
            pieces, counts = table.rows()
            total.add(*pieces, counts)
        dropped = total.drop_rare(min_count)
        kept = column_of(*total.rows()[0])
        is_in = load("pyarrow.compute").is_in
        for group, table in self.by_group.items():
            rows = rows_of(table, with_first=False)
            staying = rows.filter(is_in(rows.column("piece"), kept))
            self.by_group[group] = _core.PieceTable()
            add_rows(self.by_group[group], staying)
        return dropped

    def rows(self, *, with_first: bool = True) -> pa.Table:
        """Give the rows in the order of counts, then of pieces, then of groups."""
        if set(self.by_group) <= {None}:
            table = self.by_group.get(None, _core.PieceTable())
            return rows_of(table, with_first=with_first and self.has_firsts)
        pa = load("pyarrow")
        parts = []
        for group, table in self.by_group.items():
            part = rows_of(table, with_first=False)
            name = pa.array([group], pa.large_string())
            column = name.take(pa.array(np.zeros(len(part), np.int64)))
            parts.append(part.append_column("group", column))
        keys = [("count", "descending"), ("piece", "ascending"), ("group", "ascending")]
        return pa.concat_tables(parts).sort_by(keys)


def weighted_sum(
    rows: pa.Table, multipliers: Mapping[str, int] | None
) -> _core.PieceTable:
    """Add up the groups, each as often as said; those that are not named are left out."""
    table = _core.PieceTable()
    for group, part in _parts_of(rows):
        multiplier = 1 if multipliers is None else multipliers.get(group or "", 0)
        if multiplier:
            add_rows(table, part, multiplier=multiplier)
    return table


def _parts_of(rows: pa.Table | pa.RecordBatch) -> Iterator[tuple[str | None, pa.Table]]:
    if "group" not in rows.schema.names:
        yield None, rows
        return
    pa, compute = load("pyarrow"), load("pyarrow.compute")
    names = rows.column("group")
    rows = rows.drop_columns(["group"])
    for name in sorted(compute.unique(names.cast(pa.large_string())).to_pylist()):
        yield name, rows.filter(compute.equal(names, name))


def add_rows(
    merged: _core.PieceTable,
    table: pa.Table | pa.RecordBatch,
    source: int = 0,
    multiplier: int = 1,
) -> None:
    """Add the rows of an Arrow table to a table of the core; ``source`` is its place.

    Raises
    ------
    TrainingError
        A count times ``multiplier`` exceeds 63 bits.
    """
    batches = table.to_batches() if hasattr(table, "to_batches") else [table]
    for batch in batches:
        firsts = None
        if "first" in batch.schema.names:
            firsts = batch.column("first").to_numpy().astype(np.int64, copy=False)
        counts = batch.column("count").to_numpy().astype(np.int64, copy=False)
        if multiplier != 1:
            counts = _times(counts, multiplier)
        pieces = arrays_of(batch.column("piece"))
        merged.add(*pieces, counts, firsts=firsts, source=source)


def _times(counts: NDArray[np.int64], multiplier: int) -> NDArray[np.int64]:
    if len(counts) and int(counts.max()) > LARGEST // multiplier:
        message = (
            f"a count of {int(counts.max()):,} times {multiplier:,} exceeds 63 bits"
        )
        raise TrainingError(message)
    return counts * multiplier


def rows_of(table: _core.PieceTable, *, with_first: bool) -> pa.Table:
    """Give a table of the core as an Arrow table, in the order of counts, then of pieces."""
    pa = load("pyarrow")
    pieces, counts = table.rows()
    columns = {"piece": column_of(*pieces), "count": pa.array(counts)}
    if with_first and table.knows_first:
        columns["first"] = pa.array(np.arange(len(counts)))
    keys = [("count", "descending"), ("piece", "ascending")]
    return pa.table(columns).sort_by(keys)
