"""bpeasy, a trainer. It leaves out what the pattern does not match.

The environment says how many threads it uses. Batches of 1,000 documents, its default,
were faster than smaller ones.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import bpeasy

from benchmarks import texts

from . import Case


def trainer(case: Case, path: Path, n_threads: int) -> Callable[[], dict[bytes, int]]:
    """Train with the case's pattern, and tokens of any length."""
    vocab_size = 256 + case["merges"]

    def work() -> dict[bytes, int]:
        found = texts.read_documents(path, case["separator"])
        return bpeasy.train_bpe(found, case["pattern"], sys.maxsize, vocab_size)

    return work


def learned(ranks: dict[bytes, int]) -> list[tuple[bytes]]:
    """List the tokens that the merges made."""
    return [(token,) for token in sorted(ranks, key=ranks.__getitem__)[256:]]
