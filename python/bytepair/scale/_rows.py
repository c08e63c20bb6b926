"""Counts and their totals, such as documents, as rows that any engine can add up.

A row is a piece, or a total: ``total`` names it and is null for pieces. Rows that agree in
``total``, ``group`` and ``piece`` are added up by ``count``, and the smallest ``first``
is kept, so an engine only needs a group-by. Nothing here depends on an engine. It costs one copy of
the rows, in batches of about 32 MiB.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from bytepair._io.temporary import TemporaryFolder
from bytepair._numpy import np
from bytepair.data._columns import as_bytes
from bytepair.data._counts import LARGEST, Counts, CountsInfo
from bytepair.data._optional import load
from bytepair.data._readers import rows_of
from bytepair.errors import TrainingError

from ._counter import CountSpec, PieceCounter
from ._counting import counts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

    from bytepair.data._sums import CountSums


COLUMNS = "total string, `group` string, piece binary, count bigint, first bigint"
"""The columns, as a schema in SQL."""
FLUSH_BYTES = 256 << 20
"""The bytes of documents after which their counts are returned, which bounds memory."""
BATCH_BYTES = 32 << 20
FIRST_BITS = 40
"""A task has fewer distinct pieces than two to this power, and there are fewer than 2^23 tasks."""
TOTALS = ("documents", "null", "empty", "bad", "bytes")
DROPPED = ("dropped_pieces", "dropped_occurrences")
Total: TypeAlias = tuple[str, str | None, str | None, int]
"""A name, a group, a text, and a number."""


def count_documents(
    batches: Iterable[pa.RecordBatch], spec: CountSpec
) -> Iterator[pa.RecordBatch]:
    """Yield the counts of documents, whose order does not matter, as rows."""
    with TemporaryFolder() as folder:
        counter = PieceCounter(spec, folder)
        for batch in batches:
            counter.tally.add_rows(rows_of(batch))
            counter.add(batch)
            if counter.tally.bytes >= FLUSH_BYTES:
                yield from as_rows(counts_of(counter.finish(), spec, folder))
                counter = PieceCounter(spec, folder)
        yield from as_rows(counts_of(counter.finish(), spec, folder))


def as_rows(counts: Counts, number: int = 0) -> Iterator[pa.RecordBatch]:
    """Yield the counts of task ``number`` as rows."""
    info = counts.info
    totals: list[Total] = [(name, None, None, getattr(info, name)) for name in TOTALS]
    for token, n_found in info.found_special.items():
        totals.append(("found_special", None, token, n_found))
    for group, sizes in info.groups.items():
        totals += [(f"group_{name}", group, None, n) for name, n in sizes.items()]
    yield _total_rows(totals)
    pa = load("pyarrow")
    for batch in _batches(counts):
        nothing = pa.nulls(len(batch), pa.string())
        first = pa.nulls(len(batch), pa.int64())
        if counts.knows_first:
            first = pa.array(batch.column("first").to_numpy() + (number << FIRST_BITS))
        group = nothing
        if "group" in batch.schema.names:
            group = batch.column("group").cast(pa.string())
        columns = [nothing, group, batch.column("piece"), batch.column("count"), first]
        yield pa.RecordBatch.from_arrays(columns, _names())


def thin(
    batches: Iterable[pa.RecordBatch], min_piece_count: int
) -> Iterator[pa.RecordBatch]:
    """Yield rows without those of rarer pieces, then totals of what was left out."""
    compute = load("pyarrow.compute")
    n_pieces = n_occurrences = 0
    for batch in batches:
        # A sum that is null exceeds 63 bits; it stays, and is refused later.
        counts = compute.coalesce(batch.column("count"), LARGEST)
        is_few = compute.less(counts, min_piece_count)
        is_rare = compute.and_(compute.is_null(batch.column("total")), is_few)
        yield _with_large_pieces(batch.filter(compute.invert(is_rare)))
        rare = batch.filter(is_rare).column("count")
        n_pieces += len(rare)
        n_occurrences += sum(rare.to_pylist())
        if n_occurrences > LARGEST:
            message = f"the pieces that are left out occur more often than {LARGEST:,} times (63 bits)"
            raise TrainingError(message)
    dropped = zip(DROPPED, (n_pieces, n_occurrences), strict=True)
    yield _total_rows([(name, None, None, n) for name, n in dropped])


def add_up(sums: CountSums, rows: pa.Table, spec: CountSpec) -> CountsInfo:
    """Add rows of pieces to the sums, and return the totals."""
    compute = load("pyarrow.compute")
    if rows.column("count").null_count:
        message = f"the count of a piece adds up to more than {LARGEST:,} (63 bits)"
        raise TrainingError(message)
    is_piece = compute.is_null(rows.column("total"))
    pieces = rows.filter(is_piece).drop_columns(["total"])
    columns = ("group", "first")
    unused = [n for n in columns if pieces.column(n).null_count == len(pieces)]
    sums.add(pieces.drop_columns(unused))
    info = spec.new_info()
    for row in rows.filter(compute.invert(is_piece)).to_pylist():
        total, n = row["total"], row["count"]
        if total in (*TOTALS, *DROPPED):
            setattr(info, total, getattr(info, total) + n)
        elif total == "found_special":
            info.found_special[row["piece"].decode()] += n
        else:
            sizes = info.groups.setdefault(row["group"], {"documents": 0, "bytes": 0})
            sizes[total.removeprefix("group_")] += n
    info.groups = dict(sorted(info.groups.items()))
    return info


def _with_large_pieces(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows with wide offsets, since an engine may have made them narrow."""
    columns = [
        as_bytes(column) if name == "piece" else column
        for name, column in zip(rows.schema.names, rows.columns, strict=True)
    ]
    return load("pyarrow").RecordBatch.from_arrays(columns, rows.schema.names)


def _names() -> list[str]:
    return [column.split()[0].strip("`") for column in COLUMNS.split(", ")]


def _total_rows(totals: list[Total]) -> pa.RecordBatch:
    pa = load("pyarrow")
    name, group, piece, count = zip(*totals, strict=True)
    columns = [
        pa.array(name, pa.string()),
        pa.array(group, pa.string()),
        pa.array([text and text.encode() for text in piece], pa.large_binary()),
        pa.array(count, pa.int64()),
        pa.nulls(len(totals), pa.int64()),
    ]
    return pa.RecordBatch.from_arrays(columns, _names())


def _batches(counts: Counts) -> Iterator[pa.RecordBatch]:
    """Yield batches of counts by their bytes, not their rows: a piece may be a document."""
    for batch in counts.batches():
        lengths = load("pyarrow.compute").binary_length(batch.column("piece"))
        ends = np.cumsum(lengths.to_numpy().astype(np.int64) + 64)
        total = int(ends[-1]) if len(ends) else 0
        cuts = np.searchsorted(ends, np.arange(0, total, BATCH_BYTES), "right")
        starts = [*np.unique(cuts).tolist(), len(batch)]
        for start, stop in pairwise(starts):
            yield batch.slice(start, stop - start)
