"""Bytes in and out: files and the standard streams, ``-``."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from bytepair import FileError, FormatError, TokenizerError
from bytepair._io.files import writing

__all__ = [
    "line_batches",
    "name_of",
    "naming",
    "reading",
    "refuse_no_text",
    "writing_to",
]

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
BATCH_LEN = 4 << 20
"""How much of a file of lines is read at once, in bytes."""


def name_of(path: str) -> str:
    """Name an input in a message.

    >>> name_of("-")
    'standard input'
    """
    return "standard input" if path == "-" else path


@contextlib.contextmanager
def naming(position: str) -> Iterator[None]:
    """Put a position, such as a file and a line, before the message of an error."""
    try:
        yield
    except TokenizerError as error:
        message = f"{position}: {error}"
        raise type(error)(message) from error


def reading(path: str) -> contextlib.AbstractContextManager[BinaryIO]:
    """Open a file, or standard input for ``-``, which stays open."""
    if path == "-":
        if sys.stdin is None:
            message = "standard input is closed"
            raise FileError(message)
        return contextlib.nullcontext(sys.stdin.buffer)
    try:
        return Path(path).open("rb")
    except OSError as error:
        message = f"{path}: {error.strerror or error}"
        raise FileError(message) from error


def refuse_no_text(path: str) -> None:
    """Refuse a file whose first bytes or name show that it is not text.

    Standard input is not checked.
    """
    if path == "-" or not Path(path).is_file():
        return
    from bytepair._io.signatures import CONTENT_LEN, signature
    from bytepair.data._recognise import read_by_nothing

    with reading(path) as file:
        found = signature(file.read(CONTENT_LEN)) or read_by_nothing(path)
    if found is not None:
        message = (
            f"{path}: this looks like {found}, not text; to take its bytes as they are, "
            "pass the file to standard input"
        )
        raise FormatError(message)


@contextlib.contextmanager
def writing_to(path: str) -> Iterator[BinaryIO]:
    """Open standard output for ``-``, or a file that appears once it is complete."""
    if path != "-":
        with writing(path) as file:
            yield file
        return
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()


def line_batches(file: BinaryIO) -> Iterator[list[bytes]]:
    r"""Yield batches of the lines of a file, as lines of a corpus are read.

    A line ends with ``\\n`` or ``\\r\\n``, and a byte order mark before the first line is skipped.

    >>> import io
    >>> list(line_batches(io.BytesIO(b"\xef\xbb\xbfone\r\n\ntwo\r")))
    [[b'one', b'', b'two\r']]
    """
    mark = BYTE_ORDER_MARK
    while lines := file.readlines(BATCH_LEN):
        lines[0] = lines[0].removeprefix(mark)
        mark = b""
        yield [
            line[:-1].removesuffix(b"\r") if line.endswith(b"\n") else line
            for line in lines
        ]
