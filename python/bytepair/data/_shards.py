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
version 1. Files are written in ``_work``, flushed to the disk, hashed and, when all are written,
renamed: what has its name is whole. A writer keeps 8 bytes for each document of its shard.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import struct
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TypeAlias, get_args

from bytepair._labels import argument
from bytepair._numpy import NDArray, np
from bytepair.errors import FileError, TokenizerError

from ._optional import load
from ._work import WorkFolder

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    import pyarrow as pa
    from typing_extensions import Self

__all__ = [
    "ShardFormat",
    "Shards",
    "all_endings",
    "endings_of",
    "list_column",
    "npy_header",
    "sha256_of",
    "shard_formats",
]

ShardFormat: TypeAlias = Literal["npy", "bin", "megatron", "datatrove", "parquet"]
Ids: TypeAlias = NDArray[np.uint16] | NDArray[np.uint32]
Ends: TypeAlias = NDArray[np.int64]

ENDINGS = {
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


def shard_formats() -> tuple[str, ...]:
    """List the formats of shards."""
    return get_args(ShardFormat)


def endings_of(format_name: str) -> tuple[str, ...]:
    """List how the names of the files of a shard end.

    >>> endings_of("megatron")
    ('.bin', '.idx')
    """
    return ENDINGS.get(format_name, ())


def all_endings() -> list[str]:
    """List how the names of files of shards end, in whatever format."""
    return sorted({ending for endings in ENDINGS.values() for ending in endings})


class Shards:
    """Writes documents to shards ``NAME-000``, ``NAME-001``, … of a folder.

    A context: what has no name when it is left is removed.

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
        if format_name not in shard_formats():
            known = ", ".join(shard_formats())
            message = f"format must be one of {known}, not {format_name!r}"
            raise TokenizerError(message)
        if max_tokens is not None and max_tokens < 1:
            message = f"{argument('shard_tokens')} must be at least 1"
            raise TokenizerError(message)
        self.folder, self.name = folder, name
        self.format, self.width = format_name, width
        self.max_tokens = max_tokens
        self.written: list[dict[str, Any]] = []
        self.finished: list[_Shard] = []
        self.shard: _Shard | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for shard in [*self.finished, *filter(None, [self.shard])]:
            shard.abandon()

    def finish(self) -> list[dict[str, Any]]:
        """Write what is left; all shards are whole then, and on the disk."""
        if self.shard:
            self._finish_one(self.shard)
        return self.written

    def give_names(self) -> None:
        """Give the files of all shards their names."""
        for shard in self.finished:
            shard.give_names()
        _flush_folder(self.folder)

    def _finish_one(self, shard: _Shard) -> None:
        self.written.append(shard.finish())
        self.finished.append(shard)
        self.shard = None

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
            shard.append(ids[start:stop], ends[first:last] - start)
            start, first = stop, last

    def _begin(self) -> _Shard:
        name = f"{self.name}-{len(self.written):03}"
        writer = _ParquetFile if self.format == "parquet" else _FlatFiles
        return _Shard(self.folder, name, writer(name, self.format, self.width))


class _Shard:
    """A shard while it is written."""

    def __init__(
        self, folder: Path, name: str, files: _FlatFiles | _ParquetFile
    ) -> None:
        self.folder, self.name, self.files = folder, name, files
        self.n_documents = self.n_tokens = self.largest_id = 0
        self.paths: dict[str, Path] = {}
        with self._naming():
            for file_name in files.names:
                self.paths[file_name] = WorkFolder(folder).temporary(file_name)
            files.open([self.paths[file_name] for file_name in files.names])

    def append(self, ids: Ids, ends: Ends) -> None:
        with self._naming():
            self.files.append(ids, ends)
        self.n_documents += len(ends)
        self.n_tokens += len(ids)
        self.largest_id = max(self.largest_id, int(ids.max()))

    def finish(self) -> dict[str, Any]:
        """Bring the files to the disk, and say what they hold."""
        with self._naming():
            self.files.close()
            files = {}
            for file_name, path in self.paths.items():
                with path.open("rb+") as file:
                    os.fsync(file.fileno())
                files[file_name] = {
                    "bytes": path.stat().st_size,
                    "sha256": self.files.digests.get(file_name) or sha256_of(path),
                }
        return {
            "name": self.name,
            "documents": self.n_documents,
            "tokens": self.n_tokens,
            "largest_id": self.largest_id,
            "files": files,
        }

    def give_names(self) -> None:
        """Rename the files."""
        with self._naming():
            for file_name, path in self.paths.items():
                path.replace(self.folder / file_name)

    def abandon(self) -> None:
        """Remove the files, unless they have their names."""
        with contextlib.suppress(Exception):
            self.files.abandon()
        for path in self.paths.values():
            path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _naming(self) -> Any:  # noqa: ANN401 -- an iterator for contextlib
        try:
            yield
        except OSError as error:
            self.abandon()
            place = self.folder / self.name
            message = f"{place}: {error.strerror or error}"
            raise FileError(message) from error
        except BaseException:
            self.abandon()
            raise


class _FlatFiles:
    """Ids one after the other in one file, the documents in another.

    What is written only once is hashed then, while it is at hand.
    """

    def __init__(self, name: str, format_name: str, width: int) -> None:
        self.names = [name + ending for ending in endings_of(format_name)]
        self.format, self.width = format_name, width
        self.n_tokens = 0
        self.ends: list[Ends] = []
        self.digest = hashlib.sha256()
        self.digests: dict[str, str] = {}

    def open(self, paths: list[Path]) -> None:
        self.paths = paths
        self.file: BinaryIO = paths[0].open("xb")
        if self.format == "npy":
            self.file.write(npy_header(self.n_tokens, self.width))

    def append(self, ids: Ids, ends: Ends) -> None:
        data = ids.astype(f"<u{self.width}", copy=False).data
        self.file.write(data)
        if self.format != "npy":
            self.digest.update(data)
        self.ends.append(ends + self.n_tokens)
        self.n_tokens += len(ids)

    def close(self) -> None:
        if self.format == "npy":
            self.file.seek(0)
            self.file.write(npy_header(self.n_tokens, self.width))
        else:
            self.digests[self.names[0]] = self.digest.hexdigest()
        self.file.close()
        ends = np.concatenate(self.ends)
        with self.paths[1].open("xb") as index:
            if self.format == "megatron":
                index.write(_megatron_index(ends, self.width))
            elif self.format == "datatrove":
                index.write(ends.astype("<u8").data)
            else:
                np.save(index, ends.astype("<i8", copy=False))

    def abandon(self) -> None:
        self.file.close()


def npy_header(n_tokens: int, width: int) -> bytes:
    """Give the header of a ``.npy`` file of this many ids, always of one length."""
    fields = (
        f"{{'descr': '<u{width}', 'fortran_order': False, 'shape': ({n_tokens},), }}"
    )
    length = NPY_HEADER_LEN - 10
    text = fields.ljust(length - 1) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", length) + text.encode()


class _ParquetFile:
    """A row for each document; each batch is a row group."""

    def __init__(self, name: str, _format_name: str, _width: int) -> None:
        self.names = [f"{name}.parquet"]
        self.digests: dict[str, str] = {}

    def open(self, paths: list[Path]) -> None:
        pa = load("pyarrow")
        self.schema = pa.schema([("ids", pa.list_(pa.int32()))])
        parquet = load("pyarrow.parquet")
        self.file = paths[0].open("xb")
        self.writer = parquet.ParquetWriter(self.file, self.schema, compression="zstd")

    def append(self, ids: Ids, ends: Ends) -> None:
        pa = load("pyarrow")
        column = list_column(ids, np.concatenate([[0], ends]))
        self.writer.write_batch(
            pa.RecordBatch.from_arrays([column], schema=self.schema)
        )

    def close(self) -> None:
        self.writer.close()
        self.file.close()

    def abandon(self) -> None:
        with contextlib.suppress(Exception):
            self.writer.close()
        self.file.close()


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


def _flush_folder(folder: Path) -> None:
    """Bring the names of a folder to the disk, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
