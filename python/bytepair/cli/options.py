"""Arguments that several commands share."""

import enum
from pathlib import Path
from typing import Annotated

import typer

from bytepair._formats import FORMATS

__all__ = [
    "DialectName",
    "Format",
    "Input",
    "Lines",
    "NumberFormat",
    "Output",
    "Texts",
    "TokenizerPath",
]


class NumberFormat(str, enum.Enum):
    """How ids are written."""

    TEXT = "text"
    JSON = "json"
    UINT16 = "uint16"
    UINT32 = "uint32"


TokenizerPath = Annotated[
    Path,
    typer.Argument(
        metavar="TOKENIZER",
        help="A tokenizer.json, .bytepair or .tiktoken file, or a folder with "
        "vocab.json and merges.txt.",
        show_default=False,
    ),
]
Input = Annotated[
    str, typer.Argument(metavar="[FILE]", help="What to read; - is standard input.")
]
Output = Annotated[
    str,
    typer.Option(
        "--output", "-o", metavar="FILE", help="Where to write; - is standard output."
    ),
]
Lines = Annotated[
    bool, typer.Option("--lines", help="Treat each line as a text of its own.")
]
DialectName = Annotated[
    str | None,
    typer.Option(
        "--dialect",
        metavar="NAME",
        help="For a .tiktoken file without its sidecar .tiktoken.json: its dialect.",
        show_default=False,
    ),
]
Texts = Annotated[
    list[str] | None,
    typer.Option(
        "--text",
        metavar="FILE",
        help="A text to compare, besides the built-in ones. May be repeated.",
        show_default=False,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help=f"The format to write, if the ending does not tell it: {', '.join(FORMATS)}.",
        show_default=False,
    ),
]
