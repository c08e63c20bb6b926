"""Sources to streams of bytes: opened wherever they lie, compression undone.

A file that ends too early, or is damaged, is an error that names it, also where a library
would take its end for that of the text. Memory is that of one block.
"""

from __future__ import annotations

import contextlib
import gzip
import importlib
import io
import lzma
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from bytepair._labels import argument
from bytepair.errors import FileError, FormatError, TokenizerError

from ._members import open_bz2, open_xz, open_zstd
from ._optional import MissingLibraryError, load
from ._recognise import COMPRESSIONS, CONTENT_LEN, Stream, is_address, signature

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ._recognise import Compression, Source

__all__ = ["first_bytes", "first_content", "naming", "open_source", "open_stored"]

HEAD_LEN = 64 << 10
"""How much of a compressed file is read to see what it holds, in bytes."""
STREAM_HEAD_LEN = 16
"""The least of what can be read only once that says so."""


@contextlib.contextmanager
def open_source(
    source: Source, watch: Callable[[BinaryIO], object] | None = None
) -> Iterator[BinaryIO]:
    """Open a source for reading what it holds, from its beginning.

    ``watch`` gets the file as it is stored.
    """
    with naming(source.path), open_stored(source) as stored:
        if watch is not None:
            watch(stored)
        compression = source.compression
        if isinstance(source, Stream):
            stored, compression = _begun(stored, source)
        if compression is None:
            yield stored
            return
        if source.size == 0 and not isinstance(source, Stream):
            message = f"{source.path}: the file is empty, so it is not {compression}"
            raise FileError(message)
        with _decompressed(stored, compression) as stream:
            yield stream


@contextlib.contextmanager
def open_stored(source: Source) -> Iterator[BinaryIO]:
    """Open a source as it is stored."""
    with naming(source.path):
        if source.path == "-":
            yield _standard_input()
        elif source.is_local:
            with Path(source.path).open("rb") as file:
                yield file
        else:
            with load("fsspec").open(source.path, "rb") as remote:
                yield cast("BinaryIO", remote)


def first_bytes(path: str, *, is_packed: bool) -> bytes:
    """Read the first bytes of a file, as it is stored; more where it is compressed."""
    n_bytes = HEAD_LEN if is_packed else CONTENT_LEN
    with naming(path):
        if not is_address(path):
            with Path(path).open("rb") as file:
                return file.read(n_bytes)
        system, name = load("fsspec").core.url_to_fs(path)
        return bytes(system.cat_file(name, start=0, end=n_bytes))


def first_content(source: Source, head: bytes) -> bytes:
    """Give the first bytes of what a file holds, by the first ones that are stored.

    None, if so few hold nothing that is whole.

    Raises
    ------
    FileError
        All that is stored is ``head``, and it is damaged.
    """
    if source.compression is None:
        return head[:CONTENT_LEN]
    is_whole = len(head) >= source.size
    try:
        with (
            naming(source.path),
            _decompressed(io.BytesIO(head), source.compression) as stream,
        ):
            return bytes(stream.read(CONTENT_LEN))
    except MissingLibraryError:
        raise
    except FileError:
        if is_whole:
            raise
        return b""


def _standard_input() -> BinaryIO:
    if sys.stdin is None:
        message = "standard input is closed"
        raise FileError(message)
    return sys.stdin.buffer


def _begun(stored: BinaryIO, stream: Stream) -> tuple[BinaryIO, Compression | None]:
    """Look at the first bytes of what can be read only once."""
    if stream.is_told and stream.format == "text":
        return stored, None
    head = b""
    while len(head) < STREAM_HEAD_LEN and (more := _some(stored, HEAD_LEN)):
        head += more  # what is there, without waiting for more
    whole = cast("BinaryIO", io.BufferedReader(_Rejoined(head, stored), HEAD_LEN))
    found = signature(head)
    if not stream.is_told:
        if found is not None:
            message = (
                f"{stream.path}: read as text, but the first bytes look like {found}; pass "
                f'{argument("input_format", "")} to set the format ("text" reads its bytes as they are)'
            )
            raise FormatError(message)
        return whole, None
    by_bytes = [kind for kind in COMPRESSIONS.values() if kind == found]
    return whole, by_bytes[0] if by_bytes else None


def _some(stream: BinaryIO, most: int) -> bytes:
    """Read what a stream has, at least something if it has not ended."""
    return bytes(stream.read1(most))  # type: ignore[attr-defined]


class _Rejoined(io.RawIOBase):
    """What was read of a stream, and then the rest of it."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self.head, self.rest = head, rest

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, memory: Any) -> int:  # noqa: ANN401 -- any buffer
        """Read some bytes."""
        data = self.head[: len(memory)] or _some(self.rest, len(memory))
        self.head = self.head[len(memory) :]
        memory[: len(data)] = data
        return len(data)


def _decompressed(stored: BinaryIO, compression: Compression) -> Any:  # noqa: ANN401
    if compression == "gzip":
        return gzip.open(stored)
    if compression == "bz2":
        return open_bz2(stored)
    if compression == "xz":
        return open_xz(stored)
    try:
        return open_zstd(stored, importlib.import_module("compression.zstd"))
    except ModuleNotFoundError:  # Python has it from 3.14 on
        pass
    try:
        return load("pyarrow").CompressedInputStream(stored, "zstd")
    except MissingLibraryError as error:
        message = "zstd needs Python 3.14, or pyarrow: pip install 'bytepair[data]'"
        raise MissingLibraryError(message) from error


@contextlib.contextmanager
def naming(path: str) -> Iterator[None]:
    """Put the path of a file before what is wrong with it."""
    try:
        yield
    except MissingLibraryError as error:
        if path in str(error):
            raise
        message = f"{path}: {error}"
        raise MissingLibraryError(message) from error
    except TokenizerError:
        raise
    except OSError as error:
        message = f"{path}: {error.strerror or error}"
        raise FileError(message) from error
    except (EOFError, zlib.error, lzma.LZMAError) as error:
        message = f"{path}: damaged or truncated: {error}"
        raise FileError(message) from error
