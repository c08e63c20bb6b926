"""A text for a command: typed as an argument, or the content of a file or of standard input.

The same rule holds for all commands. The name of an existing file is that file, ``-`` is standard input, and
any other argument is the text itself, except one that looks like the name of a file. ``--text`` is always a text.
"""

import contextlib
import glob
import io
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import click

from bytepair._io.files import StrPath, expand
from bytepair._io.overwriting import refuse_overwriting
from bytepair._io.temporary import TemporaryFolder
from bytepair.errors import EncodingError, FileError, TokenizerError

from .command import Argument, Option
from .streams import name_of, reading, refuse_no_text

__all__ = ["TEXT", "TEXT_OPTION", "Source", "is_text", "read_texts", "source_of"]

TEXT = Argument(
    "arguments",
    "[TEXT|FILE]...",
    "The text, in quotes if it has spaces, or the name of a file; - is standard input. Without either, "
    "standard input is read, unless it is a terminal.",
)
TEXT_OPTION = Option("--text TEXT", "The text itself, even if a file has this name.")
FILE_ENDINGS = (
    ".bin",
    ".bytepair",
    ".csv",
    ".gguf",
    ".gz",
    ".json",
    ".jsonl",
    ".md",
    ".model",
    ".npy",
    ".parquet",
    ".tiktoken",
    ".txt",
    ".zst",
)
"""An argument without spaces that ends like this, or has a slash, is the name of a file, even if no file has it."""


@dataclass(frozen=True)
class Source:
    """A text that was typed, or the path of a file that contains it (``-`` for standard input)."""

    path: str = "-"
    typed: bytes | None = None
    kind: str = "text"

    @property
    def name(self) -> str:
        """What messages call the text."""
        return name_of(self.path) if self.typed is None else f"the {self.kind}"

    def opened(self) -> contextlib.AbstractContextManager[BinaryIO]:
        """Open the text as a file."""
        if self.typed is not None:
            return contextlib.nullcontext(io.BytesIO(self.typed))
        refuse_no_text(self.path)
        return reading(self.path)

    def read(self, most: int, command: str) -> bytes:
        """Return the text, of at most so many bytes; the message about a longer one names the command."""
        with self.opened() as file:
            content = file.read(most + 1)
        if len(content) <= most:
            return content
        message = (
            f"{self.name}: more than {most:,} bytes are too many to {command}; take a part, as in: "
            f"head -c 5000 FILE | bytepair {command} TOKENIZER -"
        )
        raise TokenizerError(message)

    @contextlib.contextmanager
    def as_file(self) -> Iterator[str]:
        """Yield the path of a file with the text: a temporary one if it was typed."""
        if self.typed is None:
            refuse_no_text(self.path)
            yield self.path
            return
        with TemporaryFolder() as folder:
            path = Path(folder, "text")
            path.write_bytes(self.typed)
            try:
                yield str(path)
            except TokenizerError as error:
                message = str(error).replace(str(path), self.name)
                raise type(error)(message) from error


def source_of(
    arguments: Sequence[str], text: str | None = None, output: StrPath | None = None
) -> Source:
    """Return the text that was typed, at most one; without any, standard input.

    Neither the output nor standard output may be the file of the text.

    Raises
    ------
    TokenizerError
        There is no text and standard input is a terminal, or there are several arguments, or one
        that is a folder or looks like the name of a file that does not exist, or an output is the
        file of the text.
    """
    source = _source_of(arguments, text)
    if source.typed is None:
        refuse_overwriting([source.path], [output, "-"])
    return source


def _source_of(arguments: Sequence[str], text: str | None) -> Source:
    if text is not None:
        if arguments:
            message = f"--text is the text; leave out {arguments[0]!r}"
            raise click.UsageError(message)
        return Source(typed=_as_bytes(text))
    if not arguments:
        if sys.stdin is not None and sys.stdin.isatty():
            message = (
                "give a text or a file after the tokenizer, or - for standard input"
            )
            raise TokenizerError(message)
        return Source()
    if len(arguments) > 1:
        raise click.UsageError(_several(arguments))
    argument = arguments[0]
    if not is_text(argument):
        _refuse_no_file(argument)
        return Source(argument)
    return Source(typed=_as_bytes(argument))


def is_text(argument: str) -> bool:
    """Whether an argument is a text itself, and not the name of a file, a folder or a pattern of names.

    >>> is_text("Hello world."), is_text("notes.txt"), is_text("-"), is_text("data/*")
    (True, False, False, False)
    """
    if not argument:
        return True
    if argument == "-" or _exists(argument):
        return False
    if _is_pattern(argument):
        return False
    if any(map(str.isspace, argument)):
        return True
    return not (argument.endswith(FILE_ENDINGS) or "/" in argument or "*" in argument)


def _is_pattern(argument: str) -> bool:
    """Whether an argument is a pattern that matches names of files."""
    return glob.has_magic(argument) and bool(glob.glob(argument))  # noqa: PTH207 -- any root


def _exists(argument: str) -> bool:
    try:
        return Path(argument).exists()
    except (OSError, ValueError):  # too long for a name, or with a null byte
        return False


def _refuse_no_file(argument: str) -> None:
    """Refuse the name of a folder, or of a file that does not exist."""
    as_text = f"to use {argument!r} itself as the text, give --text {argument}"
    if argument != "-" and Path(argument).is_dir():
        message = (
            f"{argument}: a folder, not a text; bytepair shard encodes the files of a folder, and "
            f"bytepair count-tokens counts their tokens; {as_text}"
        )
        raise FileError(message)
    if argument != "-" and not Path(argument).exists():
        message = f"{argument}: no such file; {as_text}"
        raise FileError(message)


def _several(arguments: Sequence[str]) -> str:
    """Return a message about several arguments where one text is expected."""
    if not is_text(arguments[0]):
        _refuse_no_file(arguments[0])
        return (
            f"{arguments[0]!r} and {arguments[1]!r}: one text at a time; bytepair shard encodes several "
            "files, and bytepair count-tokens counts their tokens"
        )
    return f"put a text of several words in quotes: {' '.join(arguments)!r}"


def _as_bytes(text: str) -> bytes:
    """Return the bytes that were typed; surrogates stand for bytes that are not UTF-8."""
    return text.encode(errors="surrogateescape")


# Texts for ``convert`` and ``compare``


def read_texts(paths: list[str]) -> list[str]:
    """Return the content of UTF-8 files, which may be compressed, a text for each file."""
    return [_read_text(path) for path in expand(paths)]


def _read_text(path: str) -> str:
    from bytepair.data._lists import read_list

    try:
        return read_list(path).decode()
    except UnicodeDecodeError as error:
        message = f"{path}: byte {error.start} is not UTF-8"
        raise EncodingError(message) from error
