"""Text that every Python installation carries, to train on without a download.

The topics of ``help()`` and the sources of the standard library, in a fixed order, up
to a limit; where a Python comes without either, the docstrings of what it has.
"""

import importlib
import inspect
import sys
import sysconfig
import warnings
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
    values = [value for module in modules for value in [module, *_members(module)]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of values that are deprecated
        found = {getattr(value, "__doc__", None) for value in values}
    return sorted(text.encode() for text in found if isinstance(text, str))


def _members(module: ModuleType) -> list[object]:
    """List the functions and classes of a module."""
    values = list(vars(module).values())
    return [
        value for value in values if inspect.isroutine(value) or isinstance(value, type)
    ]
