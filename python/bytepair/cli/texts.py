"""Texts from files, for ``convert`` and ``compare``."""

from bytepair._io.files import expand
from bytepair.errors import EncodingError

__all__ = ["read_texts"]


def read_texts(paths: list[str]) -> list[str]:
    """Return the content of UTF-8 files, which may be compressed, a text for each file."""
    return [_read_text(path) for path in expand(paths)]


def _read_text(path: str) -> str:
    from bytepair.data._lists import read_list

    try:
        return read_list(path).decode()
    except UnicodeDecodeError as error:
        message = f"{path}: byte {error.start} is not UTF-8"
        raise EncodingError(message) from error
