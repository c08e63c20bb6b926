"""Arguments that begin with tokenizers: separating these from the rest, and naming them."""

from pathlib import Path

from bytepair import FileError, Tokenizer, TokenizerError
from bytepair._io.loading import is_tokenizer

from .command import Option

__all__ = ["TOKENIZERS", "load_all", "names_of", "short_names", "told_apart"]

USUAL_NAMES = ("tokenizer", "tekken", "vocab", "merges")
"""Usual names of tokenizer files in a folder, without their extensions."""

TOKENIZERS = Option(
    "--tokenizer TOKENIZER...",
    "A tokenizer; all arguments are then files of the corpus. May be repeated.",
    name="tokenizers",
    type=Path,
    reads=True,
)


def told_apart(
    arguments: list[str],
    tokenizers: list[Path] | None,
    default: str | None,
    *,
    may_be_nothing: bool = False,
) -> tuple[list[Path], list[str]]:
    """Split arguments into tokenizers and the corpus, which may have a default or be empty.

    The first argument is a tokenizer, and so are the next ones, up to the first that is not.
    """
    if tokenizers:
        paths, rest = tokenizers, arguments
    else:
        first, *others = arguments or [""]
        n_more = next(
            (n for n, name in enumerate(others) if not is_tokenizer(Path(name))),
            len(others),
        )
        paths, rest = (
            [Path(name) for name in [first, *others[:n_more]]],
            others[n_more:],
        )
    for path in paths:
        if not path.exists():
            message = f"{path}: no such file or folder; tokenizers come first"
            raise FileError(message)
    if not rest and default is not None:
        return paths, [default]
    if not rest and not may_be_nothing and not is_tokenizer(paths[0]):
        message = f"{paths[0]}: not a tokenizer; tokenizers come first, then a corpus"
        raise TokenizerError(message)
    if not rest and not may_be_nothing:
        message = (
            "give the files of a corpus after the tokenizers; if these files are tokenizers "
            "themselves, give the tokenizers with --tokenizer"
        )
        raise TokenizerError(message)
    return paths, rest


def names_of(paths: list[Path]) -> list[str]:
    """Return short names of tokenizers: the part in which their paths differ.

    >>> names_of([Path("models/a/tokenizer.json"), Path("models/b/tokenizer.json")])
    ['a', 'b']
    >>> names_of([Path("a.json"), Path("b/c.json"), Path("d"), Path("vocab.json")])
    ['a.json', 'c.json', 'd', 'vocab.json']
    >>> names_of([Path("models/a/1/t.json"), Path("models/b/1/t.json")])
    ['a/1/t.json', 'b/1/t.json']
    """
    names = [_own_name(path) for path in paths]
    n_parts = 1
    while len(set(names)) < len(names) and n_parts < max(len(p.parts) for p in paths):
        n_parts += 1
        names = [str(Path(*path.parts[-n_parts:])) for path in paths]
    return names


def short_names(paths: list[Path]) -> list[str]:
    """Return these names, or refuse a tokenizer that is named twice."""
    names = names_of(paths)
    if len(set(names)) == len(names):
        return names
    message = "a tokenizer is named twice"
    raise TokenizerError(message)


def load_all(paths: list[Path]) -> dict[str, Tokenizer]:
    """Load tokenizers, by their short names."""
    return dict(zip(short_names(paths), map(Tokenizer.from_file, paths), strict=True))


def _own_name(path: Path) -> str:
    """Return the name of a tokenizer's file, or of its folder if the file has a usual name."""
    is_usual = path.name.partition(".")[0] in USUAL_NAMES and path.suffix
    return path.parent.name or path.name if is_usual else path.name
