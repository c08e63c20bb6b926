"""``bytepair compare``: the differences of two tokenizers, optionally with limits.

The exit code is 3 if a given limit is exceeded, otherwise 0, whatever the differences; with
``--exit-code`` and ``--extends`` it is 1 if there is one.
"""

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from bytepair import Tokenizer
from bytepair.analyze import Comparison

from . import corpus_options
from .first_difference import is_as_asked
from .help_pages import DISPLAY
from .options import Added, Json
from .problems import tell
from .progress_line import ProgressLine
from .sizes import number
from .spreading import spread

__all__ = ["EXCEEDED", "compare"]

N_LISTED = 10
DIFFERENT = 1
EXCEEDED = 3
"""The exit code if a given limit is exceeded."""
LIMITS = "Limits, for continuous integration"

FirstPath = Annotated[
    Path,
    typer.Argument(
        metavar="A",
        help="A tokenizer: a file, or a folder with vocab.json and merges.txt.",
        show_default=False,
    ),
]
SecondPath = Annotated[
    Path,
    typer.Argument(
        metavar="B", help="The tokenizer to compare with A.", show_default=False
    ),
]
Corpus = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[CORPUS]",
        help="Texts to encode with both: files, folders, globs, or URLs that fsspec opens. "
        "File names set the formats, as for count-pieces.",
        show_default=False,
    ),
]
MaxGrowth = Annotated[
    str | None,
    typer.Option(
        metavar="PERCENT",
        help="Exit with code 3 if B needs more tokens for the corpus than A, by more than "
        "this share, such as 1%.",
        show_default=False,
        rich_help_panel=LIMITS,
    ),
]
MaxChangedTexts = Annotated[
    str | None,
    typer.Option(
        metavar="N|PERCENT",
        help="Exit with code 3 if more texts than this get different tokens, such as 0, 100 or "
        "0.5%.",
        show_default=False,
        rich_help_panel=LIMITS,
    ),
]
SameVocabulary = Annotated[
    bool,
    typer.Option(
        "--same-vocabulary",
        help="Exit with code 3 if a token is missing in A or in B, or has different ids; added "
        "tokens count.",
        rich_help_panel=LIMITS,
    ),
]
AddedInCorpus = Annotated[
    Added | None,
    typer.Option(
        "--added-tokens",
        help="Find added tokens in the corpus (the default; special ones are plain text), or treat "
        "all of them as plain text.",
        show_default=False,
    ),
]
ListLimit = Annotated[
    int | None,
    typer.Option(
        "--limit",
        metavar="N",
        parser=number(),
        help="The number of tokens, merges and texts to list of each kind, by default 10; totals "
        "always count all.",
        show_default=False,
        rich_help_panel=DISPLAY,
    ),
]


ExitCode = Annotated[
    bool,
    typer.Option(
        "--exit-code",
        help="Show only the first difference, and exit with code 1 if there is one: in ids, "
        "tokens, decoded text, the vocabulary and special tokens, for built-in texts and each "
        "file of the corpus.",
    ),
]
Extends = Annotated[
    bool,
    typer.Option(
        "--extends",
        help="Check whether B extends A, and exit with code 1 if not: ids, merges and added "
        "tokens are unchanged, each new token is reachable, and texts are encoded to the old "
        "tokens with neighbours joined.",
    ),
]


class Limits(NamedTuple):
    """Limits for the differences of two tokenizers."""

    growth: Fraction | None
    changed: int | Fraction | None
    has_same_vocabulary: bool


@spread
def compare(
    first_path: FirstPath,
    second_path: SecondPath,
    corpus: Corpus = None,
    *,
    exit_code: ExitCode = False,
    extends: Extends = False,
    max_growth: MaxGrowth = None,
    max_changed_texts: MaxChangedTexts = None,
    same_vocabulary: SameVocabulary = False,
    reading: corpus_options.ReadingOptions,
    added_tokens: AddedInCorpus = None,
    limit: ListLimit = None,
    as_json: Json = False,
) -> None:
    """Compare two tokenizers: vocabularies, merges, parts, and the tokens of a corpus.

    Tokens are compared by their content, not by their ids, since two vocabularies may number
    them differently.
    """
    from rich.console import Console

    from bytepair.analyze import compare as compared
    from bytepair.views._compare import as_lines, as_object
    from bytepair.views._terminal import folded

    from .show import columns_of

    limits = Limits(
        _limit(max_growth, "--max-growth", is_number=False),  # type: ignore[arg-type]
        _limit(max_changed_texts, "--max-changed-texts", is_number=True),
        same_vocabulary,
    )
    of_corpus = {
        "max_growth": max_growth,
        "max_changed_texts": max_changed_texts,
        "added_tokens": added_tokens,
    }
    if exit_code or extends:
        others = {**of_corpus, **reading.given(), "limit": limit}
        others |= {"same_vocabulary": same_vocabulary or None}
        _refuse(others, f"has no effect with --{'extends' if extends else 'exit-code'}")
        paths = first_path, second_path
        is_right = is_as_asked(paths, corpus or [], extends=extends, as_json=as_json)
        raise typer.Exit(0 if is_right else DIFFERENT)
    if not corpus:
        message = "needs a corpus; give its files after A and B"
        _refuse({**of_corpus, **reading.given()}, message)
    n_listed = N_LISTED if limit is None else limit
    first, second = map(Tokenizer.from_file, (first_path, second_path))
    line = ProgressLine(is_shown=True)
    found = compared(
        first,
        second,
        corpus or None,
        **reading.reading(),
        n_most=n_listed,
        added_tokens=(added_tokens or Added.FIND).value,
        progress=lambda done, total: line.show_bytes("comparing", done, total),
    )
    line.clear()
    names = str(first_path), str(second_path)
    exceeded = reasons(found, limits)
    if as_json:
        print(json.dumps({**as_object(found, names, n_listed), "exceeded": exceeded}))
    else:
        console = Console(highlight=False, soft_wrap=True)
        n_columns = columns_of(console)
        for text in as_lines(found, names, n_listed):
            for part in folded(text, console, n_columns):
                console.print(part)
    for reason in exceeded:
        tell(reason)
    if exceeded:
        raise typer.Exit(EXCEEDED)


def _refuse(options: dict[str, Any], message: str) -> None:
    """Refuse options that were typed but have no meaning here."""
    for name, value in options.items():
        if value is not None:
            option = f"--{name.replace('_', '-')}"
            raise typer.BadParameter(message, param_hint=option)


def _limit(text: str | None, option: str, *, is_number: bool) -> int | Fraction | None:
    """Read a share in percent or, if ``is_number``, a number.

    >>> _limit("0.5%", "--max-growth", is_number=False)
    Fraction(1, 200)
    >>> _limit("12", "--max-changed-texts", is_number=True)
    12
    """
    if text is None:
        return None
    if found := re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?%", text):
        return Fraction(found[1]) / 100
    if is_number and re.fullmatch(r"[0-9]+", text):
        return int(text)
    number = "a number such as 100, or " if is_number else ""
    message = f"{text!r} is not {number}a share such as 1% or 0.5%"
    raise typer.BadParameter(message, param_hint=option)


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
