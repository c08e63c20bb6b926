"""``bytepair decode``: ids to text, the inverse of ``encode``.

The output of a byte-level tokenizer is the exact bytes of its tokens. The output of a
character-level tokenizer is text, in which end marks and ``▁`` have become spaces.
"""

import contextlib
import re
import sys
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Literal

import click

from bytepair import FileError, Tokenizer
from bytepair._io.loading import is_missing

from .command import Argument, Option, command
from .ids import RAW, RAW_ENDINGS, Ids, parse_file, parse_ids
from .options import LINES, NUMBER_FORMATS, OUTPUT, TOKENIZER
from .pieces import Pieces
from .streams import line_batches, naming, reading, writing_to
from .texts import Source, is_text, source_of
from .transfer import Transfer

__all__ = ["decode"]

BLOCK_LEN = 1 << 20
"""How many ids are decoded at once, if a text can be decoded part by part."""


@command(
    TOKENIZER,
    Argument(
        "arguments",
        "[ID|FILE]...",
        "Ids, or the name of a file; - is standard input. Without either, standard input is read, "
        "unless it is a terminal.",
    ),
    OUTPUT,
    Option(
        f"--format {NUMBER_FORMATS}",
        "Space-separated numbers, tokens as text (pieces), a JSON array, or raw little-endian "
        "numbers. By default, the format that encode writes: an array for .npy, raw numbers for "
        ".bin, otherwise text.",
    ),
    LINES,
)
def decode(
    tokenizer_path: Path,
    arguments: list[str] | None = None,
    *,
    output: str = "-",
    format: str | None = None,
    lines: bool = False,
) -> None:
    """Decode ids to text: all ids at once, or each line of ids to a line of text.

    $ bytepair decode tokenizer.json 72 105
    $ bytepair decode tokenizer.json ids.npy
    $ bytepair encode tokenizer.json "Hello world" | bytepair decode tokenizer.json
    """
    source = ids_of(arguments or [], format, output)
    file = source.path
    is_array = Path(file).suffix == ".npy"
    is_raw = is_array or Path(file).suffix.removeprefix(".").lower() in RAW_ENDINGS
    if lines and (format in RAW or (format is None and is_raw)):
        message = (
            "--lines: raw numbers have no lines; use --format text or --format json"
        )
        raise click.UsageError(message)
    is_plain = format in RAW or is_raw
    if source.typed is not None and format not in (None, "pieces"):
        message = (
            f"--format {format} is for files, and has no effect on ids as arguments"
        )
        raise click.UsageError(message)
    tokenizer = Tokenizer.from_file(tokenizer_path)
    to_bytes = decoder(tokenizer)
    parse_all, parse_line = parsers(tokenizer, format, file)
    transfer = Transfer("decoding", [file], output)
    opened = ids_opened(source, is_plain=is_plain)
    with opened as data_file, writing_to(output) as target:
        if lines:
            n_bytes, n_tokens = 0, 0
            rows = chain.from_iterable(transfer.counted(line_batches(data_file)))
            for number, line in enumerate(rows, 1):
                with naming(f"{source.name}: line {number}"):
                    ids = parse_line(line)
                    n_bytes += target.write(to_bytes(ids) + b"\n")
                    n_tokens += len(ids)
        else:
            with naming(source.name):
                data = data_file.read()
                transfer.begin(len(data))
                ids = parse_all(data)
                n_tokens = len(ids)
                is_cut = output != "-" and can_be_cut(tokenizer)
                step = BLOCK_LEN if is_cut else max(n_tokens, 1)
                n_bytes = 0
                for start in range(0, max(n_tokens, 1), step):
                    n_bytes += target.write(to_bytes(ids[start : start + step]))
                    transfer.tell(len(data) * (start + step) // max(n_tokens, 1))
        if source.typed is not None and output == "-" and sys.stdout.isatty():
            target.write(b"\n")  # before the prompt of the shell
    transfer.finish(n_bytes, n_tokens)


def ids_of(
    arguments: list[str], number_format: str | None, output: str = "-"
) -> Source:
    """Return the ids that were typed, or where to read them.

    >>> ids_of(["15496", "995"], None).typed, ids_of(["[15496, 995]"], None).typed
    (b'15496 995', b'15496 995')

    Raises
    ------
    FileError
        An argument is neither an id nor the name of a file.
    """
    typed = " ".join(arguments)
    is_ids = re.fullmatch(r"\[?[0-9\s,]*\]?", typed) is not None
    if re.search(r"\d,\d", typed) and not typed.startswith("[") and is_text(typed):
        message = f"{typed!r:.80}: one id or several? put spaces between ids, and no commas within one"
        raise FileError(message)
    if arguments and is_ids and is_text(typed):
        ids = " ".join(re.findall(r"\d+", typed))
        return Source(typed=ids.encode(), kind="ids")
    if arguments and number_format == "pieces" and all(map(is_text, arguments)):
        return Source(typed=typed.encode())
    if arguments and arguments[0] != "-" and is_missing(Path(arguments[0])):
        message = f"{typed!r:.80}: neither an id nor the name of a file; ids are numbers such as 15496 995"
        raise FileError(message)
    return source_of(arguments, output=output)


def ids_opened(
    source: Source, *, is_plain: bool
) -> contextlib.AbstractContextManager[BinaryIO]:
    """Open ids as a file: raw numbers as they are, text with its compression undone."""
    from bytepair.data._lists import open_list

    if source.typed is not None:
        return source.opened()
    return reading(source.path) if is_plain else open_list(source.path)


def parsers(
    tokenizer: Tokenizer, number_format: str | None, file: str
) -> tuple[Callable[[bytes], Ids], Callable[[bytes], Ids]]:
    """Return the functions that read the ids of a file and of a line."""
    if number_format == "pieces":
        pieces = Pieces(tokenizer)
        return pieces.read, pieces.read
    n_vocab = tokenizer.n_vocab
    return (
        lambda data: parse_file(data, number_format, file, n_vocab),
        lambda line: parse_ids(line, number_format or "text"),
    )


def decoder(tokenizer: Tokenizer) -> Callable[[Ids], bytes]:
    """Return the function from ids to bytes; characters become UTF-8."""
    if units_of(tokenizer) == "byte":
        return tokenizer.decode_bytes
    return lambda ids: tokenizer.decode(ids, errors="strict").encode()


def can_be_cut(tokenizer: Tokenizer) -> bool:
    """Return whether ids can be decoded part by part: no token changes the text of another."""
    has_marks = "end mark" in tokenizer.inspect().description["units"]
    return units_of(tokenizer) == "byte" and not has_marks


def units_of(tokenizer: Tokenizer) -> Literal["byte", "character"]:
    """Return whether the tokens of a tokenizer consist of bytes or of characters."""
    tokens = (token for token in tokenizer.vocabulary if token is not None)
    return "byte" if any(isinstance(token, bytes) for token in tokens) else "character"
