"""``bytepair decode``: ids to text, the inverse of ``encode``.

The output of a byte-level tokenizer is the exact bytes of its tokens. The output of a
character-level tokenizer is text, in which end marks and ``▁`` have become spaces.
"""

from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Literal

import click

from bytepair import Tokenizer

from .command import Option, command
from .ids import RAW, RAW_ENDINGS, Ids, parse_file, parse_ids
from .options import INPUT, LINES, NUMBER_FORMATS, OUTPUT, TOKENIZER
from .pieces import Pieces
from .streams import line_batches, name_of, naming, reading, writing_to
from .transfer import Transfer

__all__ = ["decode"]

BLOCK_LEN = 1 << 20
"""How many ids are decoded at once, if a text can be decoded part by part."""


@command(
    TOKENIZER,
    INPUT,
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
    file: str = "-",
    *,
    output: str = "-",
    format: str | None = None,
    lines: bool = False,
) -> None:
    """Decode ids to text: all ids at once, or each line of ids to a line of text."""
    from bytepair.data._lists import open_list

    is_array = Path(file).suffix == ".npy"
    is_raw = is_array or Path(file).suffix.removeprefix(".").lower() in RAW_ENDINGS
    if lines and (format in RAW or (format is None and is_raw)):
        message = (
            "--lines: raw numbers have no lines; use --format text or --format json"
        )
        raise click.UsageError(message)
    name = name_of(file)
    opened = reading if format in RAW or is_raw else open_list
    tokenizer = Tokenizer.from_file(tokenizer_path)
    to_bytes = decoder(tokenizer)
    parse_all, parse_line = parsers(tokenizer, format, file)
    transfer = Transfer("decoding", [file], output)
    with opened(file) as source, writing_to(output) as target:
        if lines:
            n_bytes, n_tokens = 0, 0
            rows = chain.from_iterable(transfer.counted(line_batches(source)))
            for number, line in enumerate(rows, 1):
                with naming(f"{name}: line {number}"):
                    ids = parse_line(line)
                    n_bytes += target.write(to_bytes(ids) + b"\n")
                    n_tokens += len(ids)
        else:
            with naming(name):
                data = source.read()
                transfer.begin(len(data))
                ids = parse_all(data)
                n_tokens = len(ids)
                is_cut = output != "-" and can_be_cut(tokenizer)
                step = BLOCK_LEN if is_cut else max(n_tokens, 1)
                n_bytes = 0
                for start in range(0, max(n_tokens, 1), step):
                    n_bytes += target.write(to_bytes(ids[start : start + step]))
                    transfer.tell(len(data) * (start + step) // max(n_tokens, 1))
    transfer.finish(n_bytes, n_tokens)


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
