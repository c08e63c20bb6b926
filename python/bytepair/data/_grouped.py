"""Rows of counts for the core: as arrays, by group where documents have groups.

Costs one look-up of each row where they are added up to be learned from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from bytepair import _core
from bytepair._numpy import np
from bytepair.errors import TrainingError

from ._columns import arrays_of
from ._optional import load

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import pyarrow as pa
    from numpy.typing import NDArray

    Arrays: TypeAlias = tuple[
        tuple[NDArray[np.uint8], NDArray[np.int64]],
        NDArray[np.int64],
        NDArray[np.int64] | None,
    ]

__all__ = ["LARGEST", "arrays_of_rows", "parts_of", "weighted_sum"]

LARGEST = np.iinfo(np.int64).max


def weighted_sum(
    batches: Iterable[pa.RecordBatch], multipliers: Mapping[str, int] | None
) -> _core.PieceTable:
    """Add up the groups, each as often as said; those that are not named are left out.

    Raises
    ------
    TrainingError
        A sum exceeds 63 bits.
    """
    table = _core.PieceTable()
    for batch in batches:
        for group, part in parts_of(batch):
            multiplier = 1 if multipliers is None else multipliers.get(group or "", 0)
            if multiplier:
                pieces, counts, firsts = arrays_of_rows(part)
                table.add((pieces, _times(counts, multiplier), firsts))
    return table


def parts_of(rows: pa.RecordBatch) -> Iterator[tuple[str | None, pa.RecordBatch]]:
    """Give the rows of each group; ``None`` is the group where there are none."""
    if "group" not in rows.schema.names:
        yield None, rows
        return
    pa, compute = load("pyarrow"), load("pyarrow.compute")
    names = rows.column("group")
    rows = rows.drop_columns(["group"])
    for name in sorted(compute.unique(names.cast(pa.large_string())).to_pylist()):
        yield name, rows.filter(compute.equal(names, name))


def arrays_of_rows(rows: pa.RecordBatch) -> Arrays:
    """Give pieces, counts and, where they are known, first occurrences."""
    firsts = None
    if "first" in rows.schema.names:
        firsts = rows.column("first").to_numpy().astype(np.int64, copy=False)
    counts = rows.column("count").to_numpy().astype(np.int64, copy=False)
    return arrays_of(rows.column("piece")), counts, firsts


def _times(counts: NDArray[np.int64], multiplier: int) -> NDArray[np.int64]:
    if len(counts) and int(counts.max()) > LARGEST // multiplier:
        message = (
            f"a count of {int(counts.max()):,} times {multiplier:,} exceeds 63 bits"
        )
        raise TrainingError(message)
    return counts * multiplier if multiplier != 1 else counts
