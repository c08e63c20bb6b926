"""``bytepair compare``: the differences of two tokenizers, optionally with a limit.

The exit code is 3 if B needs more tokens than allowed, otherwise 0, whatever the differences.
With ``--exit-code`` it is 1 if there is a difference, with ``--extends`` if B does not extend A.
"""

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from bytepair import verify
from bytepair._plurals import amount
from bytepair.cli.command import DISPLAY, Argument, Option, command, refuse_options
from bytepair.cli.corpus_options import READING_OPTIONS
from bytepair.cli.options import JSON
from bytepair.cli.problems import tell
from bytepair.cli.progress_line import ProgressLine
from bytepair.cli.sizes import number
from bytepair.cli.texts import read_texts
from bytepair.cli.tokenizers_first import TokenizerPath

__all__ = ["EXCEEDED", "compare"]

N_LISTED = 10
DIFFERENT = 1
EXCEEDED = 3
"""The exit code if B needs more tokens than allowed."""


def share(text: str) -> Fraction:
    """Return a share that is written in percent.

    >>> share("0.5%")
    Fraction(1, 200)
    """
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?%", text)
    if found is None:
        message = f"{text!r} is not a share such as 1% or 0.5%"
        raise click.BadParameter(message)
    return Fraction(found[1]) / 100


@command(
    Argument(
        "first_path",
        "A",
        "A tokenizer: a file, a folder, or the name of a published one.",
        type=TokenizerPath(),
        reads=True,
    ),
    Argument(
        "second_path",
        "B",
        "The tokenizer to compare with A.",
        type=TokenizerPath(),
        reads=True,
    ),
    Argument(
        "corpus",
        "[CORPUS]...",
        "Texts to encode with both: files, folders, globs, or URLs that fsspec opens. File names "
        "set the formats, as for count-pieces.",
        reads=True,
    ),
    Option(
        "--exit-code",
        "Show only the first difference, and exit with code 1 if there is one: in ids, tokens, "
        "decoded text, the vocabulary and special tokens, for built-in texts and each file of the "
        "corpus.",
    ),
    Option(
        "--extends",
        "Check whether B extends A, and exit with code 1 if not: ids, merges and added tokens are "
        "unchanged, each new token is reachable, and texts are encoded to the old tokens with "
        "neighbours joined.",
    ),
    Option(
        "--max-growth PERCENT",
        "Exit with code 3 if B needs more tokens for the corpus than A, by more than this share, "
        "such as 1%.",
        type=share,
    ),
    *READING_OPTIONS,
    Option(
        "--limit N",
        "The number of tokens, merges and texts to list of each kind, by default 10; totals "
        "always count all.",
        type=number(),
        group=DISPLAY,
    ),
    JSON,
)
def compare(
    first_path: Path,
    second_path: Path,
    corpus: list[str] | None = None,
    *,
    exit_code: bool = False,
    extends: bool = False,
    as_json: bool = False,
    **options: Any,
) -> int:
    """Compare two tokenizers: vocabularies, merges, parts, and the tokens of a corpus.

    Tokens are compared by their content, not by their ids, since two vocabularies may number
    them differently.

    $ bytepair compare tokenizer.json other.json
    $ bytepair compare tokenizer.json other.json corpus.txt
    $ bytepair compare tokenizer.json copy.json --exit-code
    """
    paths = first_path, second_path
    if not (exit_code or extends):
        return compare_all(paths, corpus, as_json=as_json, **options)
    refuse_options(
        options, f"has no effect with --{'extends' if extends else 'exit-code'}"
    )
    is_right = _answer(paths, corpus or [], extends=extends, as_json=as_json)
    return 0 if is_right else DIFFERENT


def compare_all(
    paths: tuple[Path, Path],
    corpus: list[str] | None,
    *,
    max_growth: Fraction | None = None,
    limit: int = N_LISTED,
    as_json: bool = False,
    **options: Any,
) -> int:
    """Print all differences, and return the exit code."""
    from bytepair.analyze import compare as compared
    from bytepair.views._terminal import print_folded

    from .draw import as_lines, as_object

    if not corpus:
        typed = [*options] if max_growth is None else ["max_growth", *options]
        refuse_options(typed, "needs a corpus; give its files after A and B")
    with ProgressLine(is_shown=True).alive("comparing") as line:
        found = compared(
            *paths,
            corpus or None,
            **options,
            n_most=limit,
            progress=lambda done, total: line.show_bytes("comparing", done, total),
        )
    names = str(paths[0]), str(paths[1])
    if as_json:
        print(json.dumps({"paths": names, **as_object(found, limit)}))
    else:
        print_folded(as_lines(found, names, limit))
    if max_growth is None or found.corpus is None:
        return 0
    return _check_growth(
        found.corpus.first_tokens, found.corpus.second_tokens, max_growth
    )


def _check_growth(first: int, second: int, growth: Fraction) -> int:
    """Report whether B needs too many tokens, and return the exit code."""
    if second <= first * (1 + growth):
        return 0
    more = f" {100 * (second - first) / first:.2f} %" if first else ""
    tell(
        f"B needs{more} more tokens than A, {second:,} instead of {first:,}; "
        f"--max-growth allows {float(100 * growth):g} %"
    )
    return EXCEEDED


def _answer(
    paths: tuple[Path, Path], corpus: list[str], *, extends: bool, as_json: bool
) -> bool:
    """Print the first difference, or what prevents the second from extending the first.

    Return whether there is none.
    """
    own = read_texts(corpus)
    answer = _extension if extends else _difference
    with ProgressLine(is_shown=True).alive("comparing both tokenizers"):
        is_right, numbers, lines = answer(paths, own)
    print(json.dumps(numbers) if as_json else "\n".join(lines))
    return is_right


Answer = tuple[bool, dict[str, Any], list[str]]
"""Whether there is no difference, with the answer as JSON values and as lines."""


def _difference(paths: tuple[Path, Path], own: list[str]) -> Answer:
    """Find the first difference."""
    found = verify(*paths, texts=own)
    numbers = {"same": found is None, "difference": found and found._asdict()}
    if found is not None:
        return False, numbers, [str(found)]
    n_characters = sum(map(len, own))
    texts = f"; {amount(n_characters, 'character')} of your text" if own else ""
    compared = "ids, tokens, decoded text, vocabulary, special tokens"
    return True, numbers, [f"no difference: {compared}{texts}"]


def _extension(paths: tuple[Path, Path], own: list[str]) -> Answer:
    """Find what prevents the second from extending the first."""
    from bytepair.surgery import verify_extension

    found = verify_extension(*paths, texts=own)
    verb = "extends" if found else "does not extend"
    lines = [f"{paths[1]} {verb} {paths[0]}", *found.lines]
    return bool(found), found.to_json(), lines
