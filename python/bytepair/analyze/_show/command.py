"""``bytepair show``: a text in coloured tokens, for one or more tokenizers.

The whole text and its tokens are in memory, about a kilobyte for each byte of text, so the
length of texts is limited.
"""

import json
from typing import Any

from rich.console import Console

from bytepair import Tokenizer
from bytepair._io.recognising import names_of
from bytepair.analyze import Cut, cut
from bytepair.cli.command import DISPLAY, Argument, Option, command, refuse_options
from bytepair.cli.options import ALLOWED_SPECIAL, JSON
from bytepair.cli.streams import naming
from bytepair.cli.texts import TEXT_OPTION, source_of
from bytepair.cli.tokenizers_first import told_apart
from bytepair.views._terminal import columns_of, has_colours, print_lines

from .draw import drawn
from .layout import Options

__all__ = ["show"]

MAX_BYTES = 200_000
DRAWING = ("ids", "bytes", "spaces", "pieces")
"""Options that affect only the drawing."""


@command(
    Argument(
        "arguments",
        "TOKENIZER... [TEXT|FILE|-]",
        "One or more tokenizers, then the text in quotes, the name of a file, or - for standard input. "
        "Without either, standard input is read, unless it is a terminal.",
        reads=True,
    ),
    TEXT_OPTION,
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

    $ bytepair show tokenizer.json "Hello world"
    $ bytepair show tokenizer.json other.json "Hello world"
    $ bytepair show tokenizer.json --ids --spaces corpus.txt
    """
    drawing = {name: options.pop(name) for name in DRAWING if name in options}
    if as_json:
        refuse_options(drawing, "has no effect on --json, which writes everything")
    paths, rest = told_apart(arguments, None, may_be_nothing=True)
    content = source_of(rest, text).read(MAX_BYTES, "show")
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
