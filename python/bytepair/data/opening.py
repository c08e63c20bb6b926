"""Sources to streams of bytes: opened wherever they lie, compression undone.

A file that ends too early, or is damaged, is an error that names it, also where a library
would take its end for that of the text. Memory is that of one block.
"""

from __future__ import annotations

import contextlib
import gzip
import lzma
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from bytepair.errors import FileError, TokenizerError

from .members import open_bz2, open_xz
from .optional import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .sources import Source

__all__ = ["naming", "open_source", "open_stored"]


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
        if source.compression is None:
            yield stored
            return
        if source.size == 0:
            message = f"{source.path}: no bytes are no {source.compression} file"
            raise FileError(message)
        with _decompressed(stored, source.compression) as stream:
            yield stream


@contextlib.contextmanager
def open_stored(source: Source) -> Iterator[BinaryIO]:
    """Open a source as it is stored."""
    with naming(source.path):
        if source.is_local:
            with Path(source.path).open("rb") as file:
                yield file
        else:
            with load("fsspec").open(source.path, "rb") as remote:
                yield cast("BinaryIO", remote)


def _decompressed(stored: BinaryIO, compression: str) -> Any:  # noqa: ANN401
    if compression == "gzip":
        return gzip.open(stored)
    if compression == "bz2":
        return open_bz2(stored)
    if compression == "xz":
        return open_xz(stored)
    return load("pyarrow").CompressedInputStream(stored, "zstd")


@contextlib.contextmanager
def naming(path: str) -> Iterator[None]:
    """Put the path of a file before what is wrong with it."""
    try:
        yield
    except TokenizerError:
        raise
    except OSError as error:
        message = f"{path}: {error.strerror or error}"
        raise FileError(message) from error
    except (EOFError, zlib.error, lzma.LZMAError) as error:
        message = f"{path}: damaged, or not whole: {error}"
        raise FileError(message) from error
