"""``bytepair encode``: text to ids.

Without ``--lines`` the input is one text and is read whole; with it, memory holds a
few megabytes of lines at a time.
"""

from itertools import pairwise
from typing import Annotated, Any, BinaryIO

import typer

from bytepair import Tokenizer, TokenizerError

from .ids import RAW, check_width, format_ids
from .options import DialectName, Input, Lines, NumberFormat, Output, TokenizerPath
from .streams import line_batches, name_of, naming, reading, writing_to

__all__ = ["encode"]


def encode(
    tokenizer_path: TokenizerPath,
    file: Input = "-",
    *,
    output: Output = "-",
    number_format: Annotated[
        NumberFormat,
        typer.Option(
            "--format",
            help="Blank-separated numbers, a JSON array, or raw little-endian numbers.",
        ),
    ] = NumberFormat.TEXT,
    lines: Lines = False,
    add_special_tokens: Annotated[
        bool,
        typer.Option(
            "--add-special-tokens",
            help="Add the tokens that the tokenizer puts around a text.",
        ),
    ] = False,
    allowed_special: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOKEN",
            help="A special token that counts as one where it stands in the text, or "
            "'all'; others are plain text. May be repeated.",
            show_default=False,
        ),
    ] = None,
    dialect: DialectName = None,
) -> None:
    """Encode text: one line of ids for the whole input, or for each line of it."""
    if lines and number_format in RAW:
        message = "raw numbers would not tell where a line ends; use text or json"
        raise typer.BadParameter(message, param_hint="--lines")
    tokenizer = Tokenizer.from_file(tokenizer_path, dialect=dialect)
    check_width(tokenizer, number_format)
    names = allowed_special or []
    options: dict[str, Any] = {
        "allowed_special": "all" if "all" in names else names,
        "add_special_tokens": add_special_tokens,
    }
    tokenizer.count("", **options)  # refuses bad names before any text is read
    with reading(file) as source, writing_to(output) as target:
        if lines:
            write_lines(
                tokenizer, source, target, number_format, options, name_of(file)
            )
            return
        with naming(name_of(file)):
            ids = tokenizer.encode_to_numpy(source.read(), **options)
        target.write(format_ids(ids, number_format))


def write_lines(
    tokenizer: Tokenizer,
    source: BinaryIO,
    target: BinaryIO,
    number_format: NumberFormat,
    options: dict[str, Any],
    name: str,
) -> None:
    """Write the ids of each line of ``source`` as a line."""
    n_lines = 0
    for batch in line_batches(source):
        try:
            ids, starts = tokenizer.encode_batch_to_numpy(batch, **options)
        except TokenizerError:
            for number, line in enumerate(batch, n_lines + 1):
                with naming(f"{name}: line {number}"):
                    tokenizer.count(line, **options)
            raise
        for start, end in pairwise(starts):
            target.write(format_ids(ids[start:end], number_format))
        n_lines += len(batch)
