"""fastokens, an encoder.

It works on a thread of its own beside the calling one, whatever the environment says: CPU
time counts both. A call for each text was faster than one for a batch, but for arrays,
which it gives as bytes and for batches alone.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import fastokens
import numpy as np

from . import Case


def load(folder: Path, case: Case) -> fastokens.Tokenizer:
    """Load a ``tokenizer.json``."""
    return fastokens.Tokenizer.from_file(str(folder / "vocabulary.json"))


def batch(
    tokenizer: fastokens.Tokenizer, output: str, n_threads: int
) -> Callable[[list[str]], Any]:
    """Encode to lists, or to one array for all texts."""
    if output == "numpy":
        return lambda texts: _arrays(tokenizer.encode_batch_flat(texts))
    if n_threads == 1:
        return lambda texts: [tokenizer.encode(text).ids for text in texts]
    return lambda texts: [found.ids for found in tokenizer.encode_batch(texts)]


def one(
    tokenizer: fastokens.Tokenizer, output: str, n_threads: int
) -> Callable[[str], Any]:
    """Encode a text."""
    if output == "numpy":
        return lambda text: _arrays(tokenizer.encode_batch_flat([text]))[0]
    return lambda text: tokenizer.encode(text).ids


def _arrays(found: tuple[bytes, bytes]) -> tuple[Any, Any]:
    ids, offsets = found
    return np.frombuffer(ids, np.uint32), np.frombuffer(offsets, np.uint64)
