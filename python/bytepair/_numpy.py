"""numpy, or an error of ours that says how to install it.

Where Ctrl-C comes while numpy is imported, numpy stays half imported and says that it is broken.
So a thread of its own imports it, and Python interrupts only the main one, which waits.
"""

import importlib
import sys
import threading

from .errors import MissingLibraryError

__all__ = ["NDArray", "np"]


def _import() -> None:
    failures: list[BaseException] = []

    def import_it() -> None:
        try:
            importlib.import_module("numpy.typing")
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=import_it, daemon=True)
    thread.start()
    thread.join()
    for error in failures:
        is_missing = isinstance(error, ModuleNotFoundError) and error.name == "numpy"
        problem = "this needs numpy" if is_missing else f"numpy cannot be used: {error}"
        message = f"{problem}: pip install numpy" if is_missing else problem
        raise MissingLibraryError(message) from error


if "numpy.typing" not in sys.modules:
    _import()

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402
