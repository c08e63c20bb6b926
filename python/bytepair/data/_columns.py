"""Arrow columns and the two arrays that the core takes: bytes of all rows, and offsets.

Batches are also cut by group.

Nothing is copied. Text of any Arrow type becomes ``large_binary``, whose offsets have 64 bits,
so a batch may be of any size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair._numpy import np
from bytepair.errors import FormatError

from ._optional import load

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray


TEXT_TYPES = ("string", "large_string", "string_view", "binary", "binary_view")
"""The types of Arrow that become ``large_binary``."""


def column_of(
    data: NDArray[np.uint8], offsets: NDArray[np.int64]
) -> pa.LargeBinaryArray:
    """Make a column of the bytes of all rows and their offsets."""
    pa = load("pyarrow")
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_binary(), len(offsets) - 1, buffers)


def arrays_of(column: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the bytes of all rows and their offsets; a null is an empty row."""
    column = as_bytes(column)
    if column.null_count:
        column = column.fill_null(b"")
    _validity, offsets, data = column.buffers()
    if len(column) == 0 or offsets is None:
        return np.empty(0, np.uint8), np.zeros(1, np.int64)
    ends = np.frombuffer(offsets, np.int64, len(column) + 1, column.offset * 8)
    bytes_ = np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8)
    return bytes_, ends


def as_bytes(column: Any) -> pa.LargeBinaryArray:  # noqa: ANN401 -- any Arrow array
    """Return a column of texts of any type as ``large_binary``.

    Raises
    ------
    FormatError
        It is a column of something else.
    """
    pa = load("pyarrow")
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_large_binary(column.type):
        return column
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_null(column.type):
        return column.cast(pa.large_binary())
    if str(column.type) not in TEXT_TYPES:
        message = f"a column of {column.type}, not of texts"
        raise FormatError(message)
    if str(column.type) in ("string", "string_view"):
        column = column.cast(pa.large_string())
    return column.cast(pa.large_binary())


def text_batch(column: pa.Array, groups: pa.Array | None = None) -> pa.RecordBatch:
    """Make a record batch of documents, perhaps each with the name of its group."""
    pa = load("pyarrow")
    if groups is None:
        return pa.RecordBatch.from_arrays([column], ["text"])
    names = groups.cast(pa.large_string())
    return pa.RecordBatch.from_arrays([column, names], ["text", "group"])


def texts_of(batch: pa.RecordBatch) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the documents of a record batch: the column ``text``."""
    if "text" not in batch.schema.names:
        message = f'no column "text" in a batch of {", ".join(batch.schema.names)}'
        raise FormatError(message)
    return arrays_of(batch.column("text"))


def by_group(batch: pa.RecordBatch) -> Iterator[tuple[str | None, pa.RecordBatch]]:
    """Return the rows of each group of the column ``group``; ``None`` stands for no column.

    A row without a name is in the group ``""``.
    """
    if "group" not in batch.schema.names:
        yield None, batch
        return
    pa, compute = load("pyarrow"), load("pyarrow.compute")
    names = batch.column("group").cast(pa.large_string()).fill_null("")
    for name in sorted(compute.unique(names).to_pylist()):
        yield name, batch.filter(compute.equal(names, name))
