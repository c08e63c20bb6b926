"""``bytepair verify``: the first difference between two tokenizers, or whether one extends the other."""

import json
from pathlib import Path
from typing import Annotated

import typer

from bytepair import FormatError, Tokenizer
from bytepair._plurals import amount
from bytepair._verify.verify import verify as find_difference

from .options import Texts
from .progress_line import ProgressLine
from .spreading import spread
from .texts import read_texts

__all__ = ["verify"]

DIFFERENT = 1

FirstPath = Annotated[
    Path,
    typer.Argument(
        metavar="FIRST",
        help="A tokenizer: a file, or a folder with vocab.json and merges.txt.",
        show_default=False,
    ),
]
SecondPath = Annotated[
    Path,
    typer.Argument(
        metavar="SECOND",
        help="The tokenizer to compare with FIRST.",
        show_default=False,
    ),
]


Extends = Annotated[
    bool,
    typer.Option(
        "--extends",
        help="Check whether SECOND extends FIRST: ids, merges and added tokens are unchanged, each new "
        "token is reachable, and texts are encoded to the old tokens with neighbours joined.",
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Write the result as JSON to standard output.")
]


@spread
def verify(
    first_path: FirstPath,
    second_path: SecondPath,
    *,
    extends: Extends = False,
    texts: Texts = None,
    as_json: Json = False,
) -> None:
    """Show the first difference between two tokenizers; the exit code is 1 if there is one.

    With --extends, show everything that keeps SECOND from being an extension of FIRST.
    """
    own = read_texts(texts or [])
    show = _show_extension if extends else _show_difference
    is_right = show((first_path, second_path), own, as_json=as_json)
    if not is_right:
        raise typer.Exit(DIFFERENT)


def _show_difference(
    paths: tuple[Path, Path], own: list[str], *, as_json: bool
) -> bool:
    """Print the first difference; tell whether there is none."""
    line = ProgressLine(is_shown=True)
    line.show("reading both tokenizers")
    try:
        first, second = map(Tokenizer.from_file, paths)
        line.show("comparing them")
        found = find_difference(first, second, texts=own)
    finally:
        line.clear()
    if as_json:
        difference = found and found._asdict()
        print(json.dumps({"same": found is None, "difference": difference}))
    elif found is not None:
        print(found)
    else:
        print(
            "no difference: ids, tokens, decoded text, vocabulary, special tokens"
            f"{_of(own)}"
        )
    return found is None


def _show_extension(paths: tuple[Path, Path], own: list[str], *, as_json: bool) -> bool:
    """Print whether the second extends the first, and return it."""
    from bytepair.surgery._extends import check, unreadable

    line = ProgressLine(is_shown=True)
    line.show("reading both tokenizers")
    try:
        base, new = map(Tokenizer.from_file, paths)
        line.show("comparing them")
        found = check(base, new, own, *paths)
    except FormatError as error:  # the base can be read, or this raises again
        found = unreadable(Tokenizer.from_file(paths[0]), error)
    finally:
        line.clear()
    if as_json:
        print(json.dumps(found.to_json()))
        return bool(found)
    verb = "extends" if found else "does not extend"
    print(f"{paths[1]} {verb} {paths[0]}", *found.lines, sep="\n")
    return bool(found)


def _of(own: list[str]) -> str:
    n_characters = sum(map(len, own))
    return f"; {amount(n_characters, 'character')} of your text" if own else ""
