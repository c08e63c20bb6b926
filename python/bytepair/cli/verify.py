"""``bytepair verify``: the first difference between two tokenizers."""

from pathlib import Path
from typing import Annotated

import typer

from bytepair._plurals import amount
from bytepair._verify.verify import verify as find_difference

from .options import LoadingOptions, Texts
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


@spread
def verify(
    first_path: FirstPath,
    second_path: SecondPath,
    *,
    texts: Texts = None,
    loading: LoadingOptions,
) -> None:
    """Show the first difference between two tokenizers; the exit code is 1 if there is one."""
    own = read_texts(texts or [])
    line = ProgressLine(is_shown=True)
    line.show("reading both tokenizers")
    try:
        first, second = loading.load_all((first_path, second_path))
        line.show("comparing them")
        found = find_difference(first, second, texts=own)
    finally:
        line.clear()
    if found is not None:
        print(found)
        raise typer.Exit(DIFFERENT)
    print(
        f"no difference: ids, tokens, decoded text, vocabulary, special tokens{_of(own)}"
    )


def _of(own: list[str]) -> str:
    n_characters = sum(map(len, own))
    return f"; {amount(n_characters, 'character')} of your text" if own else ""
