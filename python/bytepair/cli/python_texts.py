"""Text that every Python installation carries, to train on without a download.

The topics of ``help()`` and the sources of the standard library, in a fixed order, up
to a limit; where a Python comes without either, the docstrings of what it has.
"""

import importlib
import inspect
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

__all__ = ["docstrings", "python_texts"]

LEFT_OUT = {
    "site-packages",
    "dist-packages",
    "test",
    "tests",
    "idle_test",
    "pydoc_data",
}
"""Folders of other people's code, of test data, and of what is read as topics."""


def python_texts(max_bytes: int) -> list[bytes]:
    """List texts of together at most ``max_bytes``, and at least one text.

    >>> len(python_texts(1_000_000)) > 0
    True
    """
    folder = Path(sysconfig.get_path("stdlib"))
    texts: list[bytes] = []
    for text in [*_topics(), *_sources(folder)] or docstrings():
        max_bytes -= len(text)
        if max_bytes < 0 and texts:
            break
        texts.append(text)
    return texts


def _topics() -> Iterator[bytes]:
    """Give what ``help()`` says about keywords and concepts."""
    try:
        topics = importlib.import_module("pydoc_data.topics").topics
    except ImportError:
        return
    for _name, text in sorted(topics.items()):
        yield text.encode()


def _sources(folder: Path) -> Iterator[bytes]:
    """Give the sources of the standard library that are there and can be read."""
    for path in sorted(folder.rglob("*.py")):
        if LEFT_OUT.isdisjoint(path.relative_to(folder).parts):
            try:
                yield path.read_bytes()
            except OSError:
                continue


def docstrings() -> list[bytes]:
    """List what the modules that are loaded say about themselves.

    >>> len(docstrings()) > 10
    True
    """
    modules = [m for m in list(sys.modules.values()) if inspect.ismodule(m)]
    found = [text for module in modules for text in _texts_of(module)]
    return sorted({text.encode() for text in found if isinstance(text, str)})


def _texts_of(module: ModuleType) -> Iterator[object]:
    """Give the docstrings of a module, its functions and its classes.

    They are read where they are stored. Asking an object for an attribute may run code of
    others, which warns of what is deprecated.
    """
    yield vars(module).get("__doc__")
    for value in list(vars(module).values()):
        if inspect.isfunction(value) or inspect.isbuiltin(value):
            yield value.__doc__
        elif isinstance(value, type):
            yield vars(value).get("__doc__")
