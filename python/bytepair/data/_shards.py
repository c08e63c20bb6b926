"""Ids of documents to files, in the layouts that training programs read.

=========  =========================  ==================================================
format     ids                        documents
=========  =========================  ==================================================
npy        ``NAME.npy``               ``NAME.ends.npy``: where each ends, ``int64``
bin        ``NAME.bin``, ids alone    ``NAME.ends.npy``
megatron   ``NAME.bin``, ids alone    ``NAME.idx``: lengths, byte offsets and numbers
datatrove  ``NAME.ds``, ids alone     ``NAME.ds.index``: where each ends, ``uint64``
parquet    a column ``ids: list<int32>``, a row for each document
=========  =========================  ==================================================

Ids are little-endian. The layout of ``.idx`` is that of Megatron-LM's ``IndexedDataset``,
version 1. Files are drafts until all are written, flushed to the disk and hashed; then they are
renamed: what has its name is whole. A writer keeps 8 bytes for each document of its shard.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from bytepair._io.files import Draft
from bytepair._labels import argument
from bytepair._numpy import NDArray, np
from bytepair.errors import FileError, TokenizerError

from ._optional import load

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import TracebackType

    import pyarrow as pa
    from typing_extensions import Self


ShardFormat: TypeAlias = Literal["npy", "bin", "megatron", "datatrove", "parquet"]
Ids: TypeAlias = NDArray[np.uint16] | NDArray[np.uint32]
Ends: TypeAlias = NDArray[np.int64]

ENDINGS: dict[str, tuple[str, ...]] = {
    "npy": (".npy", ".ends.npy"),
    "bin": (".bin", ".ends.npy"),
    "megatron": (".bin", ".idx"),
    "datatrove": (".ds", ".ds.index"),
    "parquet": (".parquet",),
}
"""What the files of a shard are called: ids, and where documents end."""
NPY_HEADER_LEN = 128
MOST_OFFSET = np.iinfo(np.int32).max
"""The largest signed number of 32 bits."""
MEGATRON_TYPES = {2: 8, 4: 4}
"""The type code for ids of so many bytes: unsigned 16 bits, signed 32 bits."""


class Shards:
    """Writes documents to shards ``NAME-000``, ``NAME-001``, … of a folder.

    A context: drafts that have no name when it is left are removed.

    Attributes
    ----------
    written
        For each finished shard its name, documents, tokens, largest id, and the size and
        sha256 of each file.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        format_name: str,
        width: int,
        max_tokens: int | None = None,
    ) -> None:
        if format_name not in ENDINGS:
            known = ", ".join(ENDINGS)
            message = f"format must be one of {known}, not {format_name!r}"
            raise TokenizerError(message)
        if max_tokens is not None and max_tokens < 1:
            message = f"{argument('shard_tokens')} must be at least 1"
            raise TokenizerError(message)
        self.folder, self.name = folder, name
        self.format, self.width = format_name, width
        self.max_tokens = max_tokens
        self.written: list[dict[str, Any]] = []
        self.drafts: list[Draft] = []
        self.shard: _Shard | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(self.shard, _ParquetShard):
            with contextlib.suppress(Exception):  # Arrow would close it later
                self.shard.writer.close()
        for draft in self.drafts:
            draft.discard()

    def finish(self) -> list[dict[str, Any]]:
        """Write what is left; all shards are whole then, and on the disk."""
        if self.shard:
            self._finish_one(self.shard)
        return self.written

    def give_names(self) -> None:
        """Rename the files of all shards."""
        for draft in self.drafts:
            draft.rename()
        _flush_folder(self.folder)

    def write(self, ids: Ids, ends: Ends) -> None:
        """Write documents, given where each ends; one without ids is left out."""
        ends = ends[np.diff(ends, prepend=0) > 0]
        start, first = 0, 0
        while first < len(ends):
            shard = self.shard = self.shard or self._begin()
            n_fitting = len(ends)
            if self.max_tokens is not None:
                room = self.max_tokens - shard.n_tokens
                n_fitting = int(np.searchsorted(ends, start + room, "right"))
            if n_fitting <= first and shard.n_tokens:
                self._finish_one(shard)
                continue
            last = max(n_fitting, first + 1)  # one document may be longer than a shard
            stop = int(ends[last - 1])
            with _naming(self.folder / shard.name):
                shard.append(ids[start:stop], ends[first:last] - start)
            start, first = stop, last

    def _begin(self) -> _Shard:
        name = f"{self.name}-{len(self.written):03}"
        drafts = []
        for ending in ENDINGS[self.format]:
            drafts.append(Draft(self.folder / (name + ending)))
            self.drafts.append(drafts[-1])
        kind = _ParquetShard if self.format == "parquet" else _FlatShard
        with _naming(self.folder / name):
            return kind(name, drafts, self.format, self.width)

    def _finish_one(self, shard: _Shard) -> None:
        with _naming(self.folder / shard.name):
            self.written.append(shard.finish())
        self.shard = None


@contextlib.contextmanager
def _naming(shard: Path) -> Iterator[None]:
    """Name the shard that cannot be written."""
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        message = f"{shard}: {error.strerror or error}"
        raise FileError(message) from error


class _Shard:
    """A shard while it is written."""

    def __init__(
        self, name: str, drafts: list[Draft], format_name: str, width: int
    ) -> None:
        self.name, self.drafts = name, drafts
        self.format, self.width = format_name, width
        self.n_documents = self.n_tokens = self.largest_id = 0

    def append(self, ids: Ids, ends: Ends) -> None:
        """Write documents."""
        self.n_documents += len(ends)
        self.n_tokens += len(ids)
        self.largest_id = max(self.largest_id, int(ids.max()))

    def finish(self) -> dict[str, Any]:
        """Flush the files to the disk, and say what they hold."""
        files = {}
        for draft in self.drafts:
            draft.finish()
            path = Path(draft.file.name)
            n_bytes = path.stat().st_size
            files[draft.target.name] = {"bytes": n_bytes, "sha256": sha256_of(path)}
        return {
            "name": self.name,
            "documents": self.n_documents,
            "tokens": self.n_tokens,
            "largest_id": self.largest_id,
            "files": files,
        }


class _FlatShard(_Shard):
    """Ids one after the other in one file, the documents in another."""

    def __init__(self, *arguments: Any) -> None:  # noqa: ANN401 -- those of every shard
        super().__init__(*arguments)
        self.file, self.index = (draft.file for draft in self.drafts)
        self.ends: list[Ends] = []
        self._write_header()

    def append(self, ids: Ids, ends: Ends) -> None:
        self.file.write(ids.astype(f"<u{self.width}", copy=False).data)
        self.ends.append(ends + self.n_tokens)
        super().append(ids, ends)

    def finish(self) -> dict[str, Any]:
        self._write_header()
        ends = np.concatenate(self.ends)
        if self.format == "megatron":
            self.index.write(_megatron_index(ends, self.width))
        elif self.format == "datatrove":
            self.index.write(ends.astype("<u8").data)
        else:
            np.save(self.index, ends.astype("<i8", copy=False))
        return super().finish()

    def _write_header(self) -> None:
        if self.format == "npy":
            self.file.seek(0)
            self.file.write(npy_header(self.n_tokens, self.width))


class _ParquetShard(_Shard):
    """A row for each document; each batch is a row group."""

    def __init__(self, *arguments: Any) -> None:  # noqa: ANN401 -- those of every shard
        super().__init__(*arguments)
        pa, parquet = load("pyarrow"), load("pyarrow.parquet")
        self.schema = pa.schema([("ids", pa.list_(pa.int32()))])
        file = self.drafts[0].file
        self.writer = parquet.ParquetWriter(file, self.schema, compression="zstd")

    def append(self, ids: Ids, ends: Ends) -> None:
        column = list_column(ids, np.concatenate([[0], ends]))
        batch = load("pyarrow").RecordBatch.from_arrays([column], schema=self.schema)
        self.writer.write_batch(batch)
        super().append(ids, ends)

    def finish(self) -> dict[str, Any]:
        self.writer.close()
        return super().finish()


def npy_header(n_tokens: int, width: int) -> bytes:
    """Return the header of a ``.npy`` file of this many ids, always of one length."""
    fields = (
        f"{{'descr': '<u{width}', 'fortran_order': False, 'shape': ({n_tokens},), }}"
    )
    length = NPY_HEADER_LEN - 10
    text = fields.ljust(length - 1) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", length) + text.encode()


def list_column(ids: Ids, offsets: Ends) -> pa.ListArray:
    """Make a column of lists of ids, as Arrow and Spark take them: 32 bits, signed.

    Raises
    ------
    TokenizerError
        There are more ids than the offsets of such a column can count.
    """
    pa = load("pyarrow")
    if offsets[-1] > MOST_OFFSET:
        message = (
            f"{offsets[-1]:,} ids in one batch, and lists of Arrow hold {MOST_OFFSET:,}; "
            "make batches or documents shorter"
        )
        raise TokenizerError(message)
    return pa.ListArray.from_arrays(
        pa.array(offsets.astype(np.int32)), pa.array(ids.astype(np.int32, copy=False))
    )


def _megatron_index(ends: Ends, width: int) -> bytes:
    """Lay out an ``.idx`` file: each document is one sequence."""
    lengths = np.diff(ends, prepend=0)
    if lengths.max() > MOST_OFFSET:
        message = "a document of more than 2^31 tokens, which Megatron cannot hold"
        raise TokenizerError(message)
    starts = (ends - lengths) * width
    parts = [
        b"MMIDIDX\x00\x00",
        struct.pack("<QBQQ", 1, MEGATRON_TYPES[width], len(ends), len(ends) + 1),
        lengths.astype("<i4").tobytes(),
        starts.astype("<i8").tobytes(),
        np.arange(len(ends) + 1, dtype="<i8").tobytes(),
    ]
    return b"".join(parts)


def sha256_of(path: Path) -> str:
    """Hash a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def problem_of(path: Path, file: Mapping[str, Any], *, is_read: bool) -> str | None:
    """Describe how a file of a shard differs from the one that was written, by size, or also by checksum."""
    try:
        size = path.stat().st_size
        is_changed = is_read and sha256_of(path) != file["sha256"]
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    if size != file["bytes"]:
        return f"has {size:,} bytes, but {file['bytes']:,} were written"
    return "has changed since it was written" if is_changed else None


def _flush_folder(folder: Path) -> None:
    """Bring the names of a folder to the disk, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
