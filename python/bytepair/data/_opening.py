"""Sources to streams of bytes: opened wherever they lie, and decompressed.

Parallel compressors write members one after the other, and `.xz` may have zeros between them. Python's own
readers of `.bz2` and `.xz` take anything that is no member for the end; here it is an error. A file that ends too
early, or is damaged, is an error that names it. Memory is that of one block.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from bytepair._io.files import is_address
from bytepair._io.signatures import CONTENT_LEN, signature
from bytepair._labels import argument
from bytepair.errors import FileError, FormatError, MissingLibraryError, TokenizerError

from ._optional import load
from ._recognise import Stream, compression_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ._recognise import Compression, Source


HEAD_LEN = 64 << 10
"""How much of a compressed file is read to see what it holds, in bytes."""
STREAM_HEAD_LEN = 16
"""The least of what can be read only once that says what it is."""
STORED_BLOCK_LEN = 256 << 10
"""How much is read at once of what is compressed, in bytes."""


@contextlib.contextmanager
def open_source(
    source: Source, watch: Callable[[BinaryIO], object] | None = None
) -> Iterator[BinaryIO]:
    """Open the content of a source from its beginning.

    ``watch`` gets the file as it is stored.
    """
    with naming_damage(source.path), open_stored(source) as stored:
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
    with naming_damage(source.path):
        if source.path == "-":
            if sys.stdin is None:
                message = "standard input is closed"
                raise FileError(message)
            yield sys.stdin.buffer
        elif source.is_local:
            with Path(source.path).open("rb") as file:
                yield file
        else:
            with load("fsspec").open(source.path, "rb") as remote:
                yield cast("BinaryIO", remote)


def first_bytes(path: str, *, is_packed: bool) -> bytes:
    """Read the first bytes of a file, as it is stored; more if it is compressed."""
    n_bytes = HEAD_LEN if is_packed else CONTENT_LEN
    with naming_damage(path):
        if not is_address(path):
            with Path(path).open("rb") as file:
                return file.read(n_bytes)
        system, name = load("fsspec").core.url_to_fs(path)
        return bytes(system.cat_file(name, start=0, end=n_bytes))


def first_content(source: Source, head: bytes) -> bytes:
    """Return the first bytes of the content of a file, given the first ones that are stored.

    None, if these are too few to be decompressed.

    Raises
    ------
    FileError
        All that is stored is ``head``, and it is damaged.
    """
    if source.compression is None:
        return head[:CONTENT_LEN]
    try:
        with (
            naming_damage(source.path),
            _decompressed(io.BytesIO(head), source.compression) as stream,
        ):
            return bytes(stream.read(CONTENT_LEN))
    except FileError:
        if len(head) >= source.size:
            raise
        return b""


@contextlib.contextmanager
def naming(path: str, *refused: type[Exception]) -> Iterator[None]:
    """Put the path of a file before what is wrong with it; ``refused`` are errors of its format."""
    place = "standard input" if path == "-" else path
    try:
        with naming_damage(path):
            yield
    except (TokenizerError, MemoryError) as error:
        if place in str(error):
            raise
        message = f"{place}: {str(error) or 'out of memory'}"
        raise type(error)(message) from error
    except refused as error:
        message = f"{place}: {error}"
        raise FormatError(message) from error


@contextlib.contextmanager
def naming_damage(path: str) -> Iterator[None]:
    """Put the path of a file before what is wrong with its bytes, whatever is made of them."""
    place = "standard input" if path == "-" else path
    try:
        yield
    except MissingLibraryError as error:
        if place in str(error):
            raise
        message = f"{place}: {error}"
        raise MissingLibraryError(message) from error
    except TokenizerError:
        raise
    except OSError as error:
        message = f"{place}: {error.strerror or error}"
        raise FileError(message) from error
    except (EOFError, zlib.error, lzma.LZMAError) as error:
        message = f"{place}: damaged or truncated: {error}"
        raise FileError(message) from error


def _begun(stored: BinaryIO, stream: Stream) -> tuple[BinaryIO, Compression | None]:
    """Look at the first bytes of what can be read only once."""
    if stream.is_told and stream.format == "text":
        return stored, None
    head = b""
    while len(head) < STREAM_HEAD_LEN and (more := _some(stored, HEAD_LEN)):
        head += more  # what is there, without waiting for more
    whole = cast("BinaryIO", io.BufferedReader(_Rejoined(head, stored), HEAD_LEN))
    if stream.is_told:
        return whole, compression_of(head)
    found = signature(head)
    if found is not None:
        message = (
            f"{stream.path}: read as text, but the first bytes look like {found}; pass "
            f'{argument("input_format", "")} to set the format ("text" reads its bytes as they are)'
        )
        raise FormatError(message)
    return whole, None


def _some(stream: BinaryIO, most: int) -> bytes:
    """Read what a stream has, at least something if it has not ended."""
    return bytes(stream.read1(most))  # type: ignore[attr-defined]


def _decompressed(stored: BinaryIO, compression: Compression) -> Any:  # noqa: ANN401
    if compression == "gzip":
        return gzip.open(stored)
    if compression == "zstd":
        return load("pyarrow").CompressedInputStream(stored, "zstd")
    if compression == "xz":
        members = _Members(stored, lzma.LZMADecompressor, b"\0")
    else:
        members = _Members(stored, bz2.BZ2Decompressor, b"")
    return io.BufferedReader(members, STORED_BLOCK_LEN)


class _Stream(io.RawIOBase):
    """A stream of what ``some`` returns, which is empty at the end."""

    def readable(self) -> bool:
        """Whether it can be read: always."""
        return True

    def readinto(self, memory: Any) -> int:  # noqa: ANN401 -- any buffer
        """Read some bytes."""
        data = self.some(len(memory))
        memory[: len(data)] = data
        return len(data)

    def some(self, most: int) -> bytes:
        """Return the next bytes."""
        raise NotImplementedError


class _Rejoined(_Stream):
    """The bytes that were read of a stream, followed by the rest of it."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self.head, self.rest = head, rest

    def some(self, most: int) -> bytes:
        """Return the next bytes."""
        data = self.head[:most] or _some(self.rest, most)
        self.head = self.head[most:]
        return data


class _Members(_Stream):
    """The content of the members of a file, one after the other.

    ``rest`` is what was read and belongs to no member so far.
    """

    def __init__(
        self, stored: BinaryIO, new: Callable[[], Any], padding: bytes
    ) -> None:
        self.stored, self.new, self.padding = stored, new, padding
        self.member = new()
        self.rest = b""

    def some(self, most: int) -> bytes:
        """Return the next bytes, none after the last member."""
        data = b""
        while not data:
            if self.member.eof and not self._begin_next():
                return b""
            if self.member.needs_input and not self.rest:
                self.rest = self.stored.read(STORED_BLOCK_LEN)
                if not self.rest:
                    message = "it ends in the middle of a member"
                    raise EOFError(message)
            data = self.member.decompress(self.rest, most)
            self.rest = self.member.unused_data
        return data

    def _begin_next(self) -> bool:
        """Begin the next member, if there is one."""
        self.rest = self.rest.lstrip(self.padding)
        while not self.rest:
            block = self.stored.read(STORED_BLOCK_LEN)
            if not block:
                return False
            self.rest = block.lstrip(self.padding)
        self.member = self.new()
        return True
