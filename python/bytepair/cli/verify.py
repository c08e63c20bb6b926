"""``bytepair verify``: the first difference between two tokenizers."""

import typer

from bytepair._plurals import amount
from bytepair._verify import verify as find_difference

from .options import LoadingOptions, Texts, TokenizerPath
from .spreading import spread
from .texts import read_texts

__all__ = ["verify"]

DIFFERENT = 1


@spread
def verify(
    first_path: TokenizerPath,
    second_path: TokenizerPath,
    *,
    texts: Texts = None,
    loading: LoadingOptions,
) -> None:
    """Show the first difference between two tokenizers; the exit code is 1 if there is one."""
    own = read_texts(texts or [])
    first, second = loading.load_all((first_path, second_path))
    found = find_difference(first, second, texts=own)
    if found is not None:
        print(found)
        raise typer.Exit(DIFFERENT)
    print(
        f"no difference: ids, tokens, decoded text, vocabulary, special tokens{_of(own)}"
    )


def _of(own: list[str]) -> str:
    n_characters = sum(map(len, own))
    return f"; {amount(n_characters, 'character')} of your text" if own else ""
