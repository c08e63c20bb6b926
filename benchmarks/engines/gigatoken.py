"""gigatoken, a trainer with GPT-2's pattern and no other.

It reads documents from the file by itself, its fastest feed. The environment says how
many threads it uses. It goes on when no pair is left, with pairs that occur zero times.
"""

from collections.abc import Callable
from pathlib import Path

import gigatoken

from . import Case

Result = tuple[dict[int, bytes], list[tuple[bytes, bytes]]]


def trainer(case: Case, path: Path, n_threads: int) -> Callable[[], Result]:
    """Train with its own splitter; ties as in tokenizers."""
    source = gigatoken.TextFileSource([path], separator=case["separator"])
    vocab_size = 256 + case["merges"]
    return lambda: gigatoken.train_bpe(source, vocab_size, [], "huggingface")


def learned(result: Result) -> list[tuple[bytes, bytes]]:
    """List the merges."""
    return result[1]
