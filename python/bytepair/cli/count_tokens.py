"""``bytepair count-tokens``: the number of tokens of files, as ``wc`` counts words."""

import contextlib
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

from bytepair import Tokenizer
from bytepair._labels import harmless
from bytepair._plurals import amount

from .command import Argument, command
from .corpus_options import READING_OPTIONS
from .options import ADDED_TOKENS, JSON
from .progress_line import ProgressLine
from .texts import TEXT_OPTION, is_text, source_of
from .tokenizers_first import TOKENIZERS, load_all, told_apart

__all__ = ["count_tokens"]

Row: TypeAlias = tuple[str, tuple[int, ...]]
"""A file and its tokens, by tokenizer."""
Missing: TypeAlias = tuple[Counter[bytes], ...]
"""The characters of a file without a token, by tokenizer."""
N_SHOWN = 8
"""The number of these characters that are named, the most frequent first."""


@command(
    Argument(
        "arguments",
        "TOKENIZER... [TEXT|FILE]...",
        "One or more tokenizers, then a text in quotes, or files, folders, globs, or URLs that fsspec "
        "opens; - is standard input, which is also read if there is neither.",
        reads=True,
    ),
    TOKENIZERS,
    TEXT_OPTION,
    *READING_OPTIONS,
    ADDED_TOKENS,
    JSON,
)
def count_tokens(
    arguments: list[str],
    *,
    tokenizers: list[Path] | None = None,
    text: str | None = None,
    as_json: bool = False,
    **options: Any,
) -> None:
    """Count the tokens of a text, or of each file and in total.

    Files are read like corpora: in JSON lines and tables, only the field with the text counts.
    With --input-format text, all bytes of a file count. A character without a token counts
    as one token, unless the tokenizer leaves it out; a line at the end says how many there are.

    $ bytepair count-tokens tokenizer.json "How many tokens?"
    $ bytepair count-tokens tokenizer.json other.json *.txt
    $ cat corpus.txt | bytepair count-tokens tokenizer.json
    """
    from bytepair.analyze import file_sums

    paths, corpus = told_apart(arguments, tokenizers, may_be_nothing=True)
    is_one_text = text is not None or all(map(is_text, corpus))
    source = source_of(corpus, text) if is_one_text else None
    loaded = load_all(paths)
    names = list(loaded)
    line = ProgressLine(is_shown=True)
    if source is not None and source.typed is not None:
        options.setdefault("input_format", "text")
    with contextlib.nullcontext() if source is None else source.as_file() as path:
        found = file_sums(
            list(loaded.values()),
            corpus if path is None else [path],
            **options,
            progress=lambda done, total: line.show_bytes("counting", done, total),
        )
    line.clear()
    rows = [
        ("" if source else path, tuple(one.tokens for one in sums))
        for path, sums in found
    ]
    missing = [tuple(one.missing for one in sums) for _path, sums in found]
    if as_json:
        print(json.dumps(_as_object(names, rows, missing)))
        return
    lines = [*rows, ("total", _totals(rows))] if len(rows) > 1 else rows
    for text in _laid_out(names, lines):
        print(harmless(text))
    several = names if len(names) > 1 else [""]
    for name, own, counts in zip(
        several, loaded.values(), _by_tokenizer(missing), strict=True
    ):
        if counts:
            print(harmless(_missing_line(name, own, counts)))


def _totals(rows: list[Row]) -> tuple[int, ...]:
    return tuple(map(sum, zip(*(numbers for _path, numbers in rows), strict=True)))


def _by_tokenizer(missing: list[Missing]) -> list[Counter[bytes]]:
    """Add up the missing characters of all files, by tokenizer."""
    return [sum(counts, Counter()) for counts in zip(*missing, strict=True)]


def _missing_line(name: str, tokenizer: Tokenizer, counts: Counter[bytes]) -> str:
    """Return a line that names the characters without a token, the most frequent first."""
    from bytepair.views._glyphs import visible

    what = (
        "left out" if tokenizer.inspect().settings["drops_missing"] else "without an id"
    )
    order = sorted(counts, key=lambda text: (-counts[text], text))
    shown = [f"{visible(text, spaces=True)} {counts[text]}" for text in order[:N_SHOWN]]
    rest = ["…"] if len(order) > N_SHOWN else []
    named = f" {name}" if name else ""
    n_missing = amount(counts.total(), "character")
    return f"{n_missing} {what}{named}: {', '.join(shown + rest)}"


def _as_object(
    names: list[str], rows: list[Row], missing: list[Missing]
) -> dict[str, Any]:
    """Return the counts as JSON values; missing characters only if there are any."""
    found: dict[str, Any] = {
        "tokenizers": names,
        "files": [
            {"file": path, "tokens": dict(zip(names, numbers, strict=True))}
            for path, numbers in rows
        ],
        "total": dict(zip(names, _totals(rows), strict=True)),
    }
    totals = _by_tokenizer(missing)
    if any(totals):
        for file, counts in zip(found["files"], missing, strict=True):
            file["missing"] = _numbers(names, counts)
        found["missing"] = _numbers(names, totals)
    return found


def _numbers(names: list[str], counts: Iterable[Counter[bytes]]) -> dict[str, int]:
    numbers = (count.total() for count in counts)
    return dict(zip(names, numbers, strict=True))


def _laid_out(names: list[str], rows: list[Row]) -> list[str]:
    """Return a line for each file, after a line of names if there are several tokenizers.

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
