"""``bytepair encode``: text to ids.

Without ``--lines`` the input is one text: it is read whole, unless raw numbers go to a
file, which takes bounded memory for each thread. With it, memory holds a few megabytes of
lines at a time.
"""

from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer

from bytepair import Tokenizer, TokenizerError

from .ids import RAW, check_width, format_ids
from .options import Input, Lines, LoadingOptions, NumberFormat, Output, TokenizerPath
from .spreading import spread
from .streams import line_batches, name_of, naming, reading, writing_to

__all__ = ["encode"]


@spread
def encode(
    tokenizer_path: TokenizerPath,
    file: Input = "-",
    *,
    output: Output = "-",
    number_format: Annotated[
        NumberFormat | None,
        typer.Option(
            "--format",
            help="Space-separated numbers, a JSON array, or raw little-endian numbers; "
            "by default raw numbers wide enough for all ids if the output ends in .npy or .bin, else text.",
            show_default=False,
        ),
    ] = None,
    lines: Lines = False,
    add_special_tokens: Annotated[
        bool,
        typer.Option(
            "--add-special-tokens",
            help="Add the special tokens that the tokenizer puts around a text.",
        ),
    ] = False,
    allowed_special: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOKEN",
            help="A special token to encode as one where the text contains it, or 'all'; "
            "others are plain text. May be repeated.",
            show_default=False,
        ),
    ] = None,
    loading: LoadingOptions,
) -> None:
    """Encode text: one line of ids for the whole input, or for each line of it."""
    is_array = Path(output).suffix == ".npy"
    is_raw = number_format in RAW or (
        number_format is None and (is_array or Path(output).suffix == ".bin")
    )
    if lines and is_raw:
        message = "raw numbers do not show where a line ends; use --format text or --format json"
        raise typer.BadParameter(message, param_hint="--lines")
    if add_special_tokens and is_raw and (is_array or number_format is None):
        message = "give --format uint16 or --format uint32, and an output that does not end in .npy"
        raise typer.BadParameter(message, param_hint="--add-special-tokens")
    tokenizer = loading.load(tokenizer_path)
    names = allowed_special or []
    options: dict[str, Any] = {"allowed_special": "all" if "all" in names else names}
    if number_format is not None:
        check_width(tokenizer, number_format)
    tokenizer.count("", **options)  # refuses bad names before any text is read
    if is_raw and output != "-" and not add_special_tokens:
        dtype: Any = number_format.value if number_format else None
        tokenizer.encode_file(file, output, dtype=dtype, **options)
        return
    options["add_special_tokens"] = add_special_tokens
    number_format = number_format or NumberFormat.TEXT
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
