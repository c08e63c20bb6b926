"""splintr, an encoder that is quick with short texts.

Its arrays are bytes of one text or a batch; wrapping them is part of the call.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import splintr

from . import Case


def load(folder: Path, case: Case) -> splintr.AnyTokenizer:
    """Load a ``tokenizer.json``."""
    return splintr.from_json(str(folder / "vocabulary.json"))


def batch(
    tokenizer: splintr.AnyTokenizer, output: str, n_threads: int
) -> Callable[[list[str]], Any]:
    """Encode to lists, or to an array for each text, on one thread."""
    work = one(tokenizer, output, n_threads)
    return lambda texts: [work(text) for text in texts]


def one(
    tokenizer: splintr.AnyTokenizer, output: str, n_threads: int
) -> Callable[[str], Any]:
    """Encode a text without the tokens that a model puts around it."""
    if output == "numpy":
        return lambda text: np.frombuffer(tokenizer.encode_flat(text), np.uint32)
    return tokenizer.encode_raw
