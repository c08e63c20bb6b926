"""Encodings by name, each made once.

Threads that ask for the same name get the same object. What a program puts into
``ENCODING_CONSTRUCTORS``, or a module of the namespace ``tiktoken_ext`` lists there, is
found too.
"""

import importlib
import os
import pkgutil
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from bytepair import Tokenizer
from bytepair._io.files import StrPath
from bytepair._io.published import FOLDER, RANKS, address_of, paths_of
from bytepair.errors import FileError, TokenizerError

from .core import Encoding

__all__ = ["ENCODINGS", "ENCODING_CONSTRUCTORS", "get_encoding", "list_encoding_names"]

PLUGINS = "tiktoken_ext"
PUBLISHED_PLUGIN = "openai_public"

ENCODINGS: dict[str, Encoding] = {}
"""The encodings that were made."""
ENCODING_CONSTRUCTORS: dict[str, Callable[[], dict[str, Any]]] = {}
"""By name, functions that return the arguments of ``Encoding``."""

_lock = threading.RLock()


def get_encoding(encoding_name: str, *, folder: StrPath | None = None) -> Encoding:
    """Load a published encoding by its name, or any by its path.

    ``NAME.tiktoken`` is looked for in ``folder``, or else in the folder that the environment
    variable ``BYTEPAIR_ENCODINGS`` names and in tiktoken's cache (``TIKTOKEN_CACHE_DIR``,
    ``DATA_GYM_CACHE_DIR`` or ``data-gym-cache`` in the folder for temporary files). A file of
    a published encoding must have the published content. Nothing is downloaded.

    A second call with the same name gives the same object. What comes from ``folder`` or
    a path is read each time.

    Raises
    ------
    ValueError
        The name is not known, or there is no such file.
    """
    if not isinstance(encoding_name, str | os.PathLike):
        message = f"expected the name of an encoding, not {encoding_name!r}"
        raise TokenizerError(message)
    name = os.fspath(encoding_name)
    if folder is not None:
        return _read(name, paths_of(name, folder))
    if name not in ENCODINGS and name not in list_encoding_names():
        return _from_path(name)
    with _lock:
        if name not in ENCODINGS:
            ENCODINGS[name] = _made(name)
        return ENCODINGS[name]


def list_encoding_names() -> list[str]:
    """List the names of published encodings, and of those that were registered.

    >>> "o200k_base" in list_encoding_names()
    True
    """
    return list(RANKS | _plugins() | ENCODING_CONSTRUCTORS)


@cache
def _plugins() -> dict[str, Any]:
    """Return the constructors that other packages offer to tiktoken."""
    try:
        namespace = importlib.import_module(PLUGINS)
    except ImportError:
        return {}
    found: dict[str, Any] = {}
    for plugin in pkgutil.iter_modules(namespace.__path__):
        if plugin.name != PUBLISHED_PLUGIN:
            module = importlib.import_module(f"{PLUGINS}.{plugin.name}")
            found |= module.ENCODING_CONSTRUCTORS
    return found


def _made(name: str) -> Encoding:
    constructor = ENCODING_CONSTRUCTORS.get(name)
    if constructor is None and name in RANKS:
        return _read(name, paths_of(name, os.environ.get(FOLDER), with_cache=True))
    return Encoding(**(constructor or _plugins()[name])())


def _read(name: str, paths: list[Path]) -> Encoding:
    """Read an encoding from the first of these paths that is a file."""
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        looked = ", ".join(map(str, paths)) or "nothing"
        fetch = (
            f" Nothing is downloaded: fetch {address_of(name)}" if name in RANKS else ""
        )
        message = (
            f"{name}: its file is not here; looked for {looked}.{fetch or ' Fetch it'}, and "
            f"name its folder with folder= or in the variable {FOLDER}, or tiktoken's cache "
            "in TIKTOKEN_CACHE_DIR"
        )
        raise FileError(message)
    if name not in RANKS:
        return Encoding.from_tokenizer(Tokenizer.from_file(path), name=name)
    published = "r50k_base" if name == "gpt2" else name
    tokenizer = Tokenizer.from_file(path, encoding=published)
    return Encoding.from_tokenizer(tokenizer, name=name)


def _from_path(name: str) -> Encoding:
    """Load an encoding that has no known name: from its path, or from the folder of the variable."""
    path = Path(name)
    if name and (path.suffix or path.exists()):
        return Encoding.from_tokenizer(Tokenizer.from_file(path), name=path.stem)
    folder = os.environ.get(FOLDER)
    if name and folder:
        return _read(name, paths_of(name, folder))
    message = (
        f"unknown encoding {name!r}; known are {', '.join(list_encoding_names())}. For "
        f"another, pass its path, or folder= with {name}.tiktoken in it, or name that "
        f"folder in the variable {FOLDER}"
    )
    raise FileError(message)
