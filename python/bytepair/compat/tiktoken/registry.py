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
from pathlib import Path
from typing import Any

from bytepair import Tokenizer
from bytepair._io.files import StrPath
from bytepair.errors import FileError, TokenizerError

from . import published
from .core import Encoding

__all__ = ["ENCODINGS", "ENCODING_CONSTRUCTORS", "get_encoding", "list_encoding_names"]

FOLDER = "BYTEPAIR_ENCODINGS"
"""The variable that names the folder of ``.tiktoken`` files."""

ENCODINGS: dict[str, Encoding] = {}
"""What was made so far."""

ENCODING_CONSTRUCTORS: dict[str, Callable[[], dict[str, Any]]] = dict(
    published.CONSTRUCTORS
)
"""By name, what gives the arguments of ``Encoding``."""

PLUGINS = "tiktoken_ext"
OWN_PLUGIN = "openai_public"

_lock = threading.RLock()
_searched: list[str] = []


def get_encoding(encoding_name: str, *, folder: StrPath | None = None) -> Encoding:
    """Load a published encoding by its name, or any by its path.

    ``NAME.tiktoken`` is looked for in ``folder``, in the folder that the environment
    variable ``BYTEPAIR_ENCODINGS`` names, and in tiktoken's cache (``TIKTOKEN_CACHE_DIR``,
    ``DATA_GYM_CACHE_DIR`` or ``data-gym-cache`` in the folder for temporary files), whose
    files must have the hashes that tiktoken asks for. Nothing is downloaded.

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
        return _from_folder(name, Path(folder))
    made = ENCODINGS.get(name)
    if made is not None:
        return made
    if not _is_constructed(name):
        return _from_file(name)
    with _lock:
        if name not in ENCODINGS:
            ENCODINGS[name] = _made(name)
        return ENCODINGS[name]


def list_encoding_names() -> list[str]:
    """List the names of published encodings, and of those that were registered.

    >>> "o200k_base" in list_encoding_names()
    True
    """
    _find_plugins()
    return list(ENCODING_CONSTRUCTORS)


def _made(name: str) -> Encoding:
    constructor = ENCODING_CONSTRUCTORS[name]
    if constructor is not published.CONSTRUCTORS.get(name):
        return Encoding(**constructor())
    return _published(name, [Path(folder) for folder in _named_folders()])


def _published(name: str, folders: list[Path]) -> Encoding:
    encoding = Encoding.from_tokenizer(published.tokenizer(name, folders), name=name)
    encoding.__dict__["_pat_str"] = published.ENCODINGS[name].pattern
    return encoding


def _from_folder(name: str, folder: Path) -> Encoding:
    if name in published.ENCODINGS:
        return _published(name, [folder])
    return _read(folder / f"{name}.tiktoken", name)


def _from_file(name: str) -> Encoding:
    """Load what is no known name: a path, or a file in the folder of the variable."""
    path = Path(name)
    if name and (path.suffix or path.exists()):
        return _read(path, path.stem)
    for folder in _named_folders() if name else []:
        return _read(Path(folder) / f"{name}.tiktoken", name)
    message = (
        f"unknown encoding {name!r}; known are {', '.join(ENCODING_CONSTRUCTORS)}. For "
        f"another, pass its path, or folder= with {name}.tiktoken in it, or name that "
        f"folder in the variable {FOLDER}"
    )
    raise FileError(message)


def _read(path: Path, name: str) -> Encoding:
    return Encoding.from_tokenizer(Tokenizer.from_file(path), name=name)


def _named_folders() -> list[str]:
    folder = os.environ.get(FOLDER)
    return [folder] if folder else []


def _is_constructed(name: str) -> bool:
    if name not in ENCODING_CONSTRUCTORS:
        _find_plugins()
    return name in ENCODING_CONSTRUCTORS


def _find_plugins() -> None:
    """Register what other packages offer to tiktoken, once."""
    with _lock:
        if PLUGINS in _searched:
            return
        try:
            namespace = importlib.import_module(PLUGINS)
        except ImportError:
            namespace = None
        for found in pkgutil.iter_modules(getattr(namespace, "__path__", [])):
            if found.name != OWN_PLUGIN:
                module = importlib.import_module(f"{PLUGINS}.{found.name}")
                for name, constructor in module.ENCODING_CONSTRUCTORS.items():
                    ENCODING_CONSTRUCTORS.setdefault(name, constructor)
        _searched.append(PLUGINS)
