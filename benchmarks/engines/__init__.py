"""The libraries, each behind the same doors, in the module of its name.

``trainer(case, path, n_threads)`` gives a function that learns, beginning with the file
on disk; ``learned(result)`` lists the merges, each as its two sides in bytes, or as the
token that they make where the library tells no more.
``encoder(folder, case, variant, n_threads)`` loads a vocabulary and gives a function
from texts to one list or array of ids for each.

Libraries are imported by the job that uses them, so none weighs on another.
"""

import importlib
import importlib.util
from typing import Any

Case = dict[str, Any]


def engine(label: str) -> tuple[Any, str]:
    """Give the module of an engine such as ``bytepair numpy``, and its variant."""
    name, _, variant = label.partition(" ")
    return importlib.import_module(f"{__name__}.{name}"), variant


def is_installed(label: str) -> bool:
    """Say whether the library of an engine can be imported."""
    return importlib.util.find_spec(label.partition(" ")[0]) is not None
