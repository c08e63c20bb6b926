"""Texts and tokenizers that a user names for ``convert`` and ``verify``."""

from pathlib import Path

from bytepair import Tokenizer
from bytepair._files import expand, read
from bytepair.errors import EncodingError

__all__ = ["load_both", "read_texts"]


def load_both(paths: tuple[Path, Path], dialect: str | None) -> list[Tokenizer]:
    """Load two tokenizers; the dialect is for those that are files of ranks."""
    ranks = [path for path in paths if path.suffix == ".tiktoken"]
    takers = ranks or paths  # where there is none, loading says that it has no effect
    return [
        Tokenizer.from_file(path, dialect=dialect if path in takers else None)
        for path in paths
    ]


def read_texts(paths: list[str]) -> list[str]:
    """Read files of UTF-8, each as one text."""
    return [_read_text(path) for path in expand(paths)]


def _read_text(path: str) -> str:
    try:
        return read(path).decode()
    except UnicodeDecodeError as error:
        message = f"{path}: byte {error.start} is not UTF-8"
        raise EncodingError(message) from error
