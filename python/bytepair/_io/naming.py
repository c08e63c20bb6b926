"""Put the path of a file before the message of an error: readers of bytes do not know the path."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from bytepair.errors import TokenizerError

_Loaded = TypeVar("_Loaded")


def named(path: Path | None, load_it: Callable[[], _Loaded]) -> _Loaded:
    """Call ``load_it``, and put the path, if there is one, before the message of an error."""
    try:
        return load_it()
    except TokenizerError as error:
        if path is None:
            raise
        message = f"{path}: {error}"
        raise type(error)(message) from error
