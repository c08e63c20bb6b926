"""``bytepair compare --exit-code`` and ``--extends``: an answer that is yes or no."""

import json
from pathlib import Path

from bytepair import FormatError, Tokenizer
from bytepair._plurals import amount
from bytepair._verify.verify import verify as find_difference

from .progress_line import ProgressLine
from .texts import read_texts

__all__ = ["is_as_asked"]


def is_as_asked(
    paths: tuple[Path, Path], corpus: list[str], *, extends: bool, as_json: bool
) -> bool:
    """Print the first difference, or what keeps the second from extending the first.

    Return whether there is none.
    """
    own = read_texts(corpus)
    show = _show_extension if extends else _show_difference
    return show(paths, own, as_json=as_json)


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
