"""``bytepair show``: a text in coloured tokens, for one or more tokenizers.

The whole text and its tokens are in memory, about a kilobyte for each byte of text, so the
length of texts is limited.
"""

import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from bytepair import FileError, Tokenizer, TokenizerError
from bytepair._io.loading import is_tokenizer
from bytepair.analyze import Cut, cut
from bytepair.cli.command import DISPLAY, Argument, Option, command, refuse_options
from bytepair.cli.options import ALLOWED_SPECIAL, JSON
from bytepair.cli.streams import name_of, naming, reading, refuse_no_text
from bytepair.cli.tokenizers_first import names_of
from bytepair.views._terminal import columns_of, has_colours, print_lines

from .draw import drawn
from .layout import Options

__all__ = ["show"]

MAX_BYTES = 200_000
DRAWING = ("ids", "bytes", "spaces", "pieces")
"""Options that affect only the drawing."""
FILE_ENDINGS = (".json", ".bytepair", ".tiktoken", ".model", ".gguf", ".txt", ".md")


@command(
    Argument(
        "arguments",
        "TOKENIZER... [TEXT|FILE|-]",
        "One or more tokenizers, then the text: the name of a file, - for standard input, or the "
        "text itself. Without a text, standard input is read unless it is a terminal.",
    ),
    Option("--text TEXT", "The text itself."),
    Option("--ids", "Write the id below each token.", group=DISPLAY),
    Option("--bytes", "Write the bytes below each token.", group=DISPLAY),
    Option(
        "--spaces",
        "Draw spaces as ·, joiners as ⁀ and non-joiners as ¦. Tabs (→), line ends (⏎) and control "
        "characters are always drawn.",
        group=DISPLAY,
    ),
    Option("--pieces", "Draw │ where the split pattern cuts the text.", group=DISPLAY),
    JSON,
    ALLOWED_SPECIAL,
)
def show(
    arguments: list[str],
    *,
    text: str | None = None,
    as_json: bool = False,
    **options: Any,
) -> None:
    """Show a text in tokens, a row for each tokenizer.

    Each token has a colour, or brackets if the output is not a terminal. With several
    tokenizers, text that all of them cut in the same way is grey.
    """
    drawing = {name: options.pop(name) for name in DRAWING if name in options}
    if as_json:
        refuse_options(drawing, "has no effect on --json, which writes everything")
    paths, content = told_apart(arguments, text)
    tokenizers = [Tokenizer.from_file(path) for path in paths]
    cuts = []
    for path, tokenizer in zip(paths, tokenizers, strict=True):
        with naming(str(path)):
            cuts.append(cut(tokenizer, content, **options))
    if as_json:
        for path, found in zip(paths, cuts, strict=True):
            print(json.dumps(as_object(str(path), found)))
        return
    console = Console(highlight=False, soft_wrap=True)
    layout = Options(
        **drawing, brackets=not has_colours(console), columns=columns_of(console)
    )
    print_lines(console, drawn(cuts, names_of(paths), layout))


def as_object(name: str, found: Cut) -> dict[str, Any]:
    """Return a cut as JSON values; spans are in bytes."""
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


# Separating tokenizers from the text


def told_apart(arguments: list[str], text: str | None) -> tuple[list[Path], bytes]:
    """Split arguments into the paths of tokenizers and the text, and read the text."""
    if text is not None:
        paths = [_tokenizer(name, "with --text") for name in arguments]
        return paths, _limited(_encoded(text), "--text")
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
        message = "give a text or a file after the tokenizer, or - for standard input"
        raise TokenizerError(message)
    return paths, _read("-")


def _tokenizer(name: str, where: str) -> Path:
    """Return the path of a tokenizer, or refuse it."""
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
    """Return the text: the last argument, or the content of the file that it names."""
    if not argument:
        return b""
    path = Path(argument)
    try:
        is_there = path.exists()
    except (OSError, ValueError):  # too long for a name, or with a null byte
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


def _encoded(text: str) -> bytes:
    """Return the bytes that were typed; surrogates stand for bytes that are not UTF-8."""
    return text.encode(errors="surrogateescape")


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
