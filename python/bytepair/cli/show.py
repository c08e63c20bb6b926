"""``bytepair show``: a text in coloured tokens, for one or more tokenizers.

The whole text and its tokens are in memory, about a kilobyte for each byte of text, so the
length of texts is limited.
"""

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from bytepair import FileError, Tokenizer, TokenizerError
from bytepair._io.loading import is_tokenizer
from bytepair.analyze import Cut, cut
from bytepair.views._layout import Options
from bytepair.views._showing import drawn
from bytepair.views._terminal import has_colours, print_lines

from .help_pages import DISPLAY
from .options import Added, AddedTokens, Json
from .spreading import spread
from .streams import name_of, naming, reading, refuse_no_text
from .tokenizers_first import names_of

__all__ = ["show"]

MAX_BYTES = 200_000
FILE_ENDINGS = (".json", ".bytepair", ".tiktoken", ".model", ".gguf", ".txt", ".md")

Arguments = Annotated[
    list[str],
    typer.Argument(
        metavar="TOKENIZER... [TEXT|FILE|-]",
        help="One or more tokenizers, then the text: the name of a file, - for standard input, "
        "or the text itself. Without a text, standard input is read unless it is a terminal.",
        show_default=False,
    ),
]
TextItself = Annotated[
    str | None,
    typer.Option("--text", metavar="TEXT", help="The text itself.", show_default=False),
]
TextFile = Annotated[
    str | None,
    typer.Option(
        "--file",
        metavar="FILE",
        help="A file with the text; - is standard input.",
        show_default=False,
    ),
]
AllowedSpecial = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TOKEN",
        help="A special token to find in the text, or 'all'; other special tokens are plain "
        "text. May be repeated.",
        show_default=False,
    ),
]


@spread
def show(
    arguments: Arguments,
    *,
    text: TextItself = None,
    file: TextFile = None,
    ids: Annotated[
        bool,
        typer.Option(
            "--ids", rich_help_panel=DISPLAY, help="Write the id below each token."
        ),
    ] = False,
    bytes_below: Annotated[
        bool,
        typer.Option(
            "--bytes", rich_help_panel=DISPLAY, help="Write the bytes below each token."
        ),
    ] = False,
    spaces: Annotated[
        bool,
        typer.Option(
            "--spaces",
            rich_help_panel=DISPLAY,
            help="Draw spaces as ·, joiners as ⁀ and non-joiners as ¦. Tabs (→), line ends (⏎) "
            "and control characters are always drawn.",
        ),
    ] = False,
    pieces: Annotated[
        bool,
        typer.Option(
            "--pieces",
            rich_help_panel=DISPLAY,
            help="Draw │ where the split pattern cuts the text.",
        ),
    ] = False,
    as_json: Json = False,
    allowed_special: AllowedSpecial = None,
    added_tokens: AddedTokens = Added.FIND,
) -> None:
    """Show a text in tokens, a row for each tokenizer.

    Each token has a colour, or brackets if the output is not a terminal. With several
    tokenizers, text that all of them cut in the same way is grey.
    """
    if as_json:
        _refuse_drawing(ids=ids, bytes=bytes_below, spaces=spaces, pieces=pieces)
    paths, content = told_apart(arguments, text=text, file=file)
    tokenizers = [Tokenizer.from_file(path) for path in paths]
    names = allowed_special or []
    cuts = []
    for path, tokenizer in zip(paths, tokenizers, strict=True):
        with naming(str(path)):
            cuts.append(
                cut(
                    tokenizer,
                    content,
                    allowed_special="all" if "all" in names else names,
                    added_tokens=added_tokens.value,
                )
            )
    if as_json:
        for path, found in zip(paths, cuts, strict=True):
            print(json.dumps(as_object(str(path), found)))
        return
    console = Console(highlight=False, soft_wrap=True)
    options = Options(
        spaces=spaces,
        pieces=pieces,
        ids=ids,
        bytes=bytes_below,
        brackets=not has_colours(console),
        columns=columns_of(console),
    )
    print_lines(console, drawn(cuts, names_of(paths), options))


def columns_of(console: Console) -> int | None:
    """Give the width of a terminal, or of ``COLUMNS``; ``None`` for a pipe without it."""
    is_told = os.environ.get("COLUMNS", "").isdigit()
    return console.width if console.is_terminal or is_told else None


def as_object(name: str, found: Cut) -> dict[str, Any]:
    """Describe a cut for a program; spans are of bytes."""
    return {
        "tokenizer": name,
        "tokens": found.n_tokens,
        "pieces": found.n_pieces,
        "characters": found.n_characters,
        "bytes": found.n_bytes,
        "bytes_per_token": found.bytes_per_token,
        "groups": [
            {
                "text": found.text[group.start : group.end].decode(
                    errors="backslashreplace"
                ),
                "start": group.start,
                "end": group.end,
                "tokens": [
                    {
                        "id": None if token.kind == "missing" else token.id,
                        "token": token.written,
                        "bytes": list(token.content),
                        "kind": token.kind,
                        "start": token.start,
                        "end": token.end,
                        "piece": token.piece,
                    }
                    for token in group.tokens
                ],
            }
            for group in found.groups
        ],
    }


# Telling tokenizers from the text


def told_apart(
    arguments: list[str], *, text: str | None, file: str | None
) -> tuple[list[Path], bytes]:
    """Tell the paths of tokenizers from the text, and read it."""
    if text is not None and file is not None:
        message = "give either --text or --file, not both"
        raise TokenizerError(message)
    if text is not None or file is not None:
        paths = [_tokenizer(name, "with --text or --file") for name in arguments]
        return paths, _read(file) if file is not None else _limited(
            _encoded(text), "--text"
        )
    *names, last = arguments
    has_text = last in ("", "-") or not is_tokenizer(Path(last))
    if not has_text:
        names = arguments
    paths = [_tokenizer(name, "before the text") for name in names]
    if not paths:
        _tokenizer(last, "first")
    if has_text:
        return paths, _text_of(last)
    if sys.stdin is None or sys.stdin.isatty():
        message = "give a text after the tokenizer, a file with --file, or - for standard input"
        raise TokenizerError(message)
    return paths, _read("-")


def _tokenizer(name: str, where: str) -> Path:
    """Take the path of a tokenizer."""
    path = Path(name)
    if not name:
        message = f"'' is not a path; expected a tokenizer {where}"
        raise FileError(message)
    if name == "-":
        message = f"-: standard input is not a tokenizer; expected a tokenizer {where}"
        raise TokenizerError(message)
    if not path.exists():
        message = (
            f"{name!r}: no such file or folder; expected a tokenizer {where}; put a text of "
            "several words in quotes"
        )
        raise FileError(message)
    return path


def _text_of(argument: str) -> bytes:
    """Take the last argument as the text, or as the name of its file."""
    if not argument:
        return b""
    path = Path(argument)
    try:
        is_there = path.exists()
    except (OSError, ValueError):  # too long for a name, or with a zero
        is_there = False
    if argument == "-" or (is_there and not path.is_dir()):
        return _read(argument)
    if is_there:
        message = (
            f"{argument}: this folder has no tokenizer; to show the text {argument!r} itself, "
            f"give --text {argument}"
        )
        raise FileError(message)
    if argument.endswith(FILE_ENDINGS) and not any(map(str.isspace, argument)):
        message = (
            f"{argument}: no such file; to show the text {argument!r} itself, give "
            f"--text {argument}"
        )
        raise FileError(message)
    return _limited(_encoded(argument), "the text")


def _encoded(text: str | None) -> bytes:
    """Give the bytes that were typed; surrogates stand for bytes that are not UTF-8."""
    return (text or "").encode(errors="surrogateescape")


def _read(path: str) -> bytes:
    refuse_no_text(path)
    with reading(path) as source:
        return _limited(source.read(MAX_BYTES + 1), name_of(path))


def _limited(content: bytes, name: str) -> bytes:
    if len(content) > MAX_BYTES:
        message = (
            f"{name}: more than {MAX_BYTES:,} bytes are too many to show; show a part of it, as "
            "in: head -c 5000 FILE | bytepair show TOKENIZER -"
        )
        raise TokenizerError(message)
    return content


def _refuse_drawing(**options: bool) -> None:
    """Refuse drawing options with --json."""
    for name, is_given in options.items():
        if is_given:
            message = f"--{name} has no effect on --json, which writes everything"
            raise TokenizerError(message)
