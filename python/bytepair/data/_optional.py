"""Libraries that only corpora need, with what to install where one is missing."""

from __future__ import annotations

import importlib
from typing import Any

from bytepair.errors import MissingLibraryError


def load(name: str, extra: str = "data") -> Any:  # noqa: ANN401 -- a module
    """Import a library, or say how to install it.

    >>> load("json").loads("1")
    1
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        top = name.partition(".")[0]
        if (error.name or "").partition(".")[0] != top:
            raise
        message = f"this needs {top}: pip install 'bytepair[{extra}]'"
        raise MissingLibraryError(message) from error
