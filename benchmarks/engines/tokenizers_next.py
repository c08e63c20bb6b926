"""The newest pre-release of Hugging Face tokenizers, an encoder.

On one thread, a call for each text was faster than one for the batch.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import tokenizers

from . import Case


def load(folder: Path, case: Case) -> tokenizers.Tokenizer:
    """Load a ``tokenizer.json``."""
    return tokenizers.Tokenizer.from_file(str(folder / "vocabulary.json"))


def batch(
    tokenizer: tokenizers.Tokenizer, output: str, n_threads: int
) -> Callable[[list[str]], list[Any]]:
    """Encode to lists, or to an array for each text."""
    if n_threads == 1:
        work = one(tokenizer, output, n_threads)
        return lambda texts: [work(text) for text in texts]
    encode = tokenizer.encode_batch
    if output == "numpy":
        return lambda texts: [
            found.ids_array for found in encode(texts, add_special_tokens=False)
        ]
    return lambda texts: [
        found.ids for found in encode(texts, add_special_tokens=False)
    ]


def one(
    tokenizer: tokenizers.Tokenizer, output: str, n_threads: int
) -> Callable[[str], Any]:
    """Encode a text."""
    encode = tokenizer.encode
    if output == "numpy":
        return lambda text: encode(text, add_special_tokens=False).ids_array
    return lambda text: encode(text, add_special_tokens=False).ids
