"""``bytepair decode``: ids to text, the inverse of ``encode``.

Tokenizers of bytes give their tokens' bytes, exactly; those of characters give text,
where an end mark has become a space and ``▁`` a space again.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import typer

from bytepair import Tokenizer

from .ids import RAW, RAW_ENDINGS, parse_file, parse_ids
from .options import Input, Lines, LoadingOptions, NumberFormat, Output, TokenizerPath
from .spreading import spread
from .streams import line_batches, name_of, naming, reading, writing_to

__all__ = ["decode"]


@spread
def decode(
    tokenizer_path: TokenizerPath,
    file: Input = "-",
    *,
    output: Output = "-",
    number_format: Annotated[
        NumberFormat | None,
        typer.Option(
            "--format",
            help="Space-separated numbers, a JSON array, or raw little-endian numbers. "
            "By default what encode writes: a .npy array if the input is one, raw numbers in a .bin, "
            "else text.",
        ),
    ] = None,
    lines: Lines = False,
    loading: LoadingOptions,
) -> None:
    """Decode ids to text: all of them at once, or each line of ids to a line of text."""
    is_array = Path(file).suffix == ".npy"
    is_raw = is_array or Path(file).suffix.removeprefix(".").lower() in RAW_ENDINGS
    if lines and (number_format in RAW or (number_format is None and is_raw)):
        message = "raw numbers have no lines; use --format text or --format json"
        raise typer.BadParameter(message, param_hint="--lines")
    name = name_of(file)
    tokenizer = loading.load(tokenizer_path)
    to_bytes = decoder(tokenizer)
    with reading(file) as source, writing_to(output) as target:
        if not lines:
            with naming(name):
                ids = parse_file(source.read(), number_format, file, tokenizer.n_vocab)
                target.write(to_bytes(ids))
            return
        n_lines = 0
        for batch in line_batches(source):
            for line in batch:
                n_lines += 1
                with naming(f"{name}: line {n_lines}"):
                    ids = parse_ids(line, number_format or NumberFormat.TEXT)
                    target.write(to_bytes(ids) + b"\n")


def decoder(tokenizer: Tokenizer) -> Callable[[list[int]], bytes]:
    """Choose how ids become bytes: exactly, unless text has to be put together again."""
    if units_of(tokenizer) == "byte":
        return tokenizer.decode_bytes
    return lambda ids: tokenizer.decode(ids, errors="strict").encode()


def units_of(tokenizer: Tokenizer) -> Literal["byte", "character"]:
    """Tell what the tokens of a tokenizer are made of."""
    tokens = (token for token in tokenizer.vocabulary if token is not None)
    return "byte" if any(isinstance(token, bytes) for token in tokens) else "character"
