"""Texts and tokenizers that a user names for ``convert`` and ``verify``."""

from pathlib import Path

from bytepair import Tokenizer
from bytepair.errors import EncodingError
from bytepair.files import expand, read

__all__ = ["load", "read_texts"]


def load(path: Path, dialect: str | None) -> Tokenizer:
    """Load a tokenizer; the dialect is for what holds no pattern."""
    is_ranks = path.suffix == ".tiktoken"
    return Tokenizer.from_file(path, dialect=dialect if is_ranks else None)


def read_texts(paths: list[str]) -> list[str]:
    """Read files of UTF-8, each as one text."""
    return [_read_text(path) for path in expand(paths)]


def _read_text(path: str) -> str:
    try:
        return read(path).decode()
    except UnicodeDecodeError as error:
        message = f"{path}: byte {error.start} is not UTF-8"
        raise EncodingError(message) from error
