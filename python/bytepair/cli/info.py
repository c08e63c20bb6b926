"""``bytepair info``: what a tokenizer is made of."""

import json
from typing import Annotated, Any

import typer

from bytepair import Tokenizer

from .help_pages import DISPLAY
from .options import LoadingOptions, TokenizerPath
from .show import longest_tokens, merge_lines, plain, quoted
from .spreading import spread

__all__ = ["info"]

N_SHOWN = 5
"""How many merges are shown of each end, and how many of the longest tokens."""


@spread
def info(
    tokenizer_path: TokenizerPath,
    *,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Write one JSON object.", rich_help_panel=DISPLAY),
    ] = False,
    loading: LoadingOptions,
) -> None:
    """Show what a tokenizer is made of and what it loses."""
    tokenizer = loading.load(tokenizer_path)
    print(json.dumps(as_object(tokenizer)) if as_json else as_text(tokenizer))


def as_object(tokenizer: Tokenizer) -> dict[str, Any]:
    """Describe a tokenizer for a program."""
    merges = [[plain(left), plain(right)] for left, right in tokenizer.merges]
    return {
        "n_vocab": tokenizer.n_vocab,
        "n_merges": len(merges),
        "fingerprint": tokenizer.fingerprint,
        "pipeline": dict(tokenizer._describe()),
        "split_execution": tokenizer.explain(),
        "special_tokens": tokenizer.special_tokens,
        "longest_tokens": [
            plain(token) for token in longest_tokens(tokenizer, N_SHOWN)
        ],
        "first_merges": merges[:N_SHOWN],
        "last_merges": merges[-N_SHOWN:],
    }


def as_text(tokenizer: Tokenizer) -> str:
    """Describe a tokenizer for a reader."""
    n_merges = len(tokenizer.merges)
    first_of_last = max(N_SHOWN, n_merges - N_SHOWN)
    specials = [f"{id_:>7,}  {name}" for name, id_ in tokenizer.special_tokens.items()]
    rows = [
        *((name, [text]) for name, text in tokenizer._describe()),
        ("split runs as", tokenizer.explain()),
        ("special tokens", specials),
        ("longest tokens", [quoted(t) for t in longest_tokens(tokenizer, N_SHOWN)]),
        ("first merges", merge_lines(tokenizer, range(min(N_SHOWN, n_merges)))),
        ("last merges", merge_lines(tokenizer, range(first_of_last, n_merges))),
        ("fingerprint", [tokenizer.fingerprint]),
    ]
    return "\n".join(_row(name, texts) for name, texts in rows if texts)


def _row(name: str, texts: list[str]) -> str:
    """Lay out a name and one or more lines beside it."""
    indent = "\n" + " " * 16
    return f"{name:<16}{indent.join(map(_printable, texts))}"


def _printable(text: str) -> str:
    r"""Escape what would break a line, such as the newlines of a pattern.

    >>> _printable("[\n]")
    '[\\n]'
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
