"""``bytepair count-tokens``: the number of tokens of files, as ``wc`` counts words."""

import json
from typing import Annotated

import typer

from bytepair._labels import harmless

from . import corpus_options
from .help_pages import DISPLAY
from .options import Added, AddedTokens, LoadingOptions
from .progress_line import ProgressLine
from .spreading import spread
from .tokenizers_first import TokenizerOption, short_names, told_apart
from .training_options import Threads

__all__ = ["count_tokens"]

Arguments = Annotated[
    list[str],
    typer.Argument(
        metavar="TOKENIZER... [FILE]",
        help="One or more tokenizers, then files, folders, globs, or URLs that fsspec opens; "
        "- is standard input, which is also read if no file is named.",
        show_default=False,
    ),
]
AsJson = Annotated[
    bool,
    typer.Option("--json", help="Write one JSON object.", rich_help_panel=DISPLAY),
]


@spread
def count_tokens(
    arguments: Arguments,
    *,
    tokenizer: TokenizerOption = None,
    reading: corpus_options.ReadingOptions,
    added_tokens: AddedTokens = Added.FIND,
    threads: Threads = None,
    loading: LoadingOptions,
    as_json: AsJson = False,
    quiet: corpus_options.Quiet = False,
) -> None:
    """Count the tokens of each file, and in total.

    Files are read like corpora: in JSON lines and tables, only the field with the text counts.
    With --input-format text, all bytes of a file count.
    """
    from bytepair.analyze import file_tokens

    paths, corpus = told_apart(arguments, tokenizer, default="-")
    names = short_names(paths)
    tokenizers = loading.load_all(paths)
    line = ProgressLine(is_shown=not quiet)
    rows = file_tokens(
        tokenizers,
        corpus,
        **reading.reading(),
        added_tokens=added_tokens.value,
        threads=threads,
        progress=lambda done, total: line.show_bytes("counting", done, total),
    )
    line.clear()
    totals = tuple(map(sum, zip(*(numbers for _path, numbers in rows), strict=True)))
    if as_json:
        print(json.dumps(_as_object(names, rows, totals)))
        return
    lines = [*rows, ("total", totals)] if len(rows) > 1 else rows
    for text in _laid_out(names, lines):
        print(harmless(text))


def _as_object(
    names: list[str], rows: list[tuple[str, tuple[int, ...]]], totals: tuple[int, ...]
) -> dict[str, object]:
    """Describe counts for a program."""
    return {
        "tokenizers": names,
        "files": [
            {"file": path, "tokens": dict(zip(names, numbers, strict=True))}
            for path, numbers in rows
        ],
        "total": dict(zip(names, totals, strict=True)),
    }


def _laid_out(names: list[str], rows: list[tuple[str, tuple[int, ...]]]) -> list[str]:
    """Write a line for each file, after a line of names if there are several tokenizers.

    >>> _laid_out(["gpt2"], [("a.txt", (120,)), ("total", (1120,))])
    [' 120 a.txt', '1120 total']
    >>> _laid_out(["gpt2", "x"], [("a.txt", (120, 3))])
    ['gpt2 x', ' 120 3 a.txt']
    """
    columns = [
        [str(numbers[place]) for _path, numbers in rows] for place in range(len(names))
    ]
    heads = names if len(names) > 1 else [""] * len(names)
    widths = [
        max(map(len, [head, *column]))
        for head, column in zip(heads, columns, strict=True)
    ]
    lines = [] if len(names) == 1 else [_line(heads, widths, "")]
    for number, (path, _numbers) in enumerate(rows):
        lines.append(_line([column[number] for column in columns], widths, path))
    return lines


def _line(cells: list[str], widths: list[int], path: str) -> str:
    parts = [f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)]
    return " ".join([*parts, path]).rstrip()
