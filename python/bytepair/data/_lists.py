"""Files that a user names beside a corpus, such as lists of words and of ids, read whole.

They are read as a corpus is: the first bytes say how a file is compressed, and what is no text in UTF-8
is refused by name. What the text says is left to who reads it.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NoReturn

from bytepair._io.files import MAX_READ_LEN, refuse_no_name
from bytepair._io.signatures import CONTENT_LEN, signature
from bytepair.errors import FileError, FormatError

from ._opening import open_source
from ._recognise import read_by_nothing
from ._sources import look

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bytepair._io.files import StrPath


BLOCK_LEN = 1 << 20
WIDE = "UTF-16 or UTF-32"


@contextlib.contextmanager
def open_list(path: StrPath) -> Iterator[BinaryIO]:
    """Open a file, or standard input for ``-``, with its compression undone.

    Raises
    ------
    FileError
        It cannot be read, or is damaged.
    """
    name = os.fspath(path)
    refuse_no_name(name)
    is_file = name != "-" and Path(name).is_file()
    size = Path(name).stat().st_size if is_file else -1
    with open_source(look(name, size, "jsonl")) as stream:
        yield stream


def read_list(path: StrPath) -> bytes:
    """Read all that a file holds, as :func:`open_list` does.

    Raises
    ------
    FileError
        It cannot be read, or is damaged.
    FormatError
        It holds no text in UTF-8.
    """
    name = os.fspath(path)
    unread = read_by_nothing(name)
    if unread is not None:
        _refuse(name, unread)
    parts: list[bytes] = []
    n_bytes = 0
    with open_list(name) as stream:
        while block := stream.read(BLOCK_LEN):
            parts.append(block)
            n_bytes += len(block)
            if n_bytes > MAX_READ_LEN:
                message = f"{name}: too large; at most {MAX_READ_LEN:,} bytes are read"
                raise FileError(message)
    data = b"".join(parts)
    found = signature(data[:CONTENT_LEN])
    if found is None and _is_wide(data[:CONTENT_LEN]):
        found = WIDE
    if found is not None:
        _refuse("standard input" if name == "-" else name, found)
    return data


def _refuse(name: str, found: str) -> NoReturn:
    if found == WIDE:
        what = "save it as UTF-8, for instance with iconv -f UTF-16 -t UTF-8"
    else:
        what = "give a file of text in UTF-8; it may be compressed with gzip, zstd, xz or bzip2"
    message = f"{name}: this looks like {found}, not text in UTF-8; {what}"
    raise FormatError(message)


def _is_wide(head: bytes) -> bool:
    r"""Whether bytes are a short text in UTF-16 or UTF-32, whose characters are too few for a signature.

    >>> _is_wide("lo\n".encode("utf-16-le")), _is_wide(b"lo\n")
    (True, False)
    """
    zeros = head.count(0)
    return zeros > 0 and 4 * zeros >= len(head)
