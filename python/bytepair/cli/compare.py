"""``bytepair compare``: the differences of two tokenizers, optionally with limits.

The exit code is 3 if a given limit is exceeded, otherwise 0, whatever the differences; with
``--exit-code`` and ``--extends`` it is 1 if there is one.
"""

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import click

from bytepair import Tokenizer
from bytepair.analyze import Comparison

from .command import DISPLAY, Argument, Option, command, refuse_options
from .corpus_options import READING_OPTIONS
from .first_difference import is_as_asked
from .options import JSON
from .problems import tell
from .progress_line import ProgressLine
from .sizes import number

__all__ = ["EXCEEDED", "compare"]

N_LISTED = 10
DIFFERENT = 1
EXCEEDED = 3
"""The exit code if a given limit is exceeded."""
LIMITS = "Limits, for continuous integration"


class Limits(NamedTuple):
    """Limits for the differences of two tokenizers."""

    growth: Fraction | None
    changed: int | Fraction | None
    has_same_vocabulary: bool


def share(text: str) -> Fraction:
    """Read a share in percent.

    >>> share("0.5%")
    Fraction(1, 200)
    """
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?%", text)
    if found is None:
        message = f"{text!r} is not a share such as 1% or 0.5%"
        raise click.BadParameter(message)
    return Fraction(found[1]) / 100


def number_or_share(text: str) -> int | Fraction:
    """Read a whole number, or a share in percent.

    >>> number_or_share("12")
    12
    """
    return int(text) if re.fullmatch(r"[0-9]+", text) else share(text)


@command(
    Argument(
        "first_path",
        "A",
        "A tokenizer: a file, or a folder with vocab.json and merges.txt.",
        type=Path,
        reads=True,
    ),
    Argument(
        "second_path", "B", "The tokenizer to compare with A.", type=Path, reads=True
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
        group=LIMITS,
    ),
    Option(
        "--max-changed-texts N|PERCENT",
        "Exit with code 3 if more texts than this get different tokens, such as 0, 100 or 0.5%.",
        type=number_or_share,
        group=LIMITS,
    ),
    Option(
        "--same-vocabulary",
        "Exit with code 3 if a token is missing in A or in B, or has different ids; added tokens "
        "count.",
        group=LIMITS,
    ),
    *READING_OPTIONS,
    Option(
        "--added-tokens [find|text]",
        "Find added tokens in the corpus (the default; special ones are plain text), or treat all "
        "of them as plain text.",
    ),
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
    """
    paths = first_path, second_path
    if not (exit_code or extends):
        return compare_all(paths, corpus, as_json=as_json, **options)
    refuse_options(
        options, f"has no effect with --{'extends' if extends else 'exit-code'}"
    )
    is_right = is_as_asked(paths, corpus or [], extends=extends, as_json=as_json)
    return 0 if is_right else DIFFERENT


def compare_all(
    paths: tuple[Path, Path],
    corpus: list[str] | None,
    *,
    max_growth: Fraction | None = None,
    max_changed_texts: int | Fraction | None = None,
    same_vocabulary: bool = False,
    limit: int = N_LISTED,
    as_json: bool = False,
    **options: Any,
) -> int:
    """Print all differences, and return the exit code."""
    from bytepair.analyze import compare as compared
    from bytepair.views._compare import as_lines, as_object

    from .info import print_folded

    limits = Limits(max_growth, max_changed_texts, same_vocabulary)
    if not corpus:
        given = {"max_growth": max_growth, "max_changed_texts": max_changed_texts}
        typed = [name for name, value in given.items() if value is not None]
        reason = "needs a corpus; give its files after A and B"
        refuse_options([*typed, *options], reason)
    line = ProgressLine(is_shown=True)
    first, second = map(Tokenizer.from_file, paths)
    found = compared(
        first,
        second,
        corpus or None,
        **options,
        n_most=limit,
        progress=lambda done, total: line.show_bytes("comparing", done, total),
    )
    line.clear()
    names = str(paths[0]), str(paths[1])
    exceeded = reasons(found, limits)
    if as_json:
        print(json.dumps({**as_object(found, names, limit), "exceeded": exceeded}))
    else:
        print_folded(as_lines(found, names, limit))
    for reason in exceeded:
        tell(reason)
    return EXCEEDED if exceeded else 0


def reasons(found: Comparison, limits: Limits) -> list[str]:
    """List the limits that are exceeded, in words."""
    exceeded = []
    vocabulary = found.vocabulary
    if limits.has_same_vocabulary and not found.has_same_vocabulary:
        numbers = {
            "only in A": len(vocabulary.only_in_first),
            "only in B": len(vocabulary.only_in_second),
            "with different ids": len(vocabulary.moved),
            "added tokens that differ": len(found.added),
        }
        words = ", ".join(f"{n:,} {what}" for what, n in numbers.items() if n)
        exceeded.append(f"the vocabularies differ (--same-vocabulary): {words}")
    corpus = found.corpus
    if corpus is None:
        return exceeded
    first, second = corpus.first_tokens, corpus.second_tokens
    if limits.growth is not None and second > first * (1 + limits.growth):
        more = f" {100 * (second - first) / first:.2f} %" if first else ""
        exceeded.append(
            f"B needs{more} more tokens than A, {second:,} instead of {first:,}; "
            f"--max-growth allows {float(100 * limits.growth):g} %"
        )
    most = limits.changed
    if isinstance(most, Fraction):
        most = most * corpus.n_texts
    if most is not None and corpus.n_changed > most:
        exceeded.append(
            f"{corpus.n_changed:,} of {corpus.n_texts:,} texts have different tokens; "
            f"--max-changed-texts allows {_allowed(limits.changed)}"
        )
    return exceeded


def _allowed(most: int | Fraction | None) -> str:
    return f"{float(100 * most):g} %" if isinstance(most, Fraction) else f"{most:,}"
