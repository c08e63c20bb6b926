"""The project itself. It reads files on its own; there is one feed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bytepair

from . import Case

PARTS = ("pattern", "byte_ids", "unmatched", "min_count", "ties", "dialect")
OPTIONS = (*PARTS, "separator", "memory_limit")


def trainer(case: Case, path: Path, n_threads: int) -> Callable[[], bytepair.Tokenizer]:
    """Train with the parts of the dialect that the case names."""
    options = {name: case[name] for name in OPTIONS if name in case}
    return lambda: bytepair.train(
        path, merges=case["merges"], threads=n_threads, **options
    )


def counts_trainer(
    case: Case, counts: dict[bytes, int]
) -> Callable[[], bytepair.Tokenizer]:
    """Train on pieces that were counted already."""
    options = {name: case[name] for name in PARTS if name in case}
    return lambda: bytepair.train_from_counts(counts, merges=case["merges"], **options)


def learned(tokenizer: bytepair.Tokenizer) -> list[tuple[bytes, bytes]]:
    """List the merges."""
    return tokenizer.merges


def encoder(
    folder: Path, case: Case, variant: str, n_threads: int
) -> Callable[[list[str]], Any]:
    """Encode to lists, or in the variant ``numpy`` to one array for all texts."""
    tokenizer = bytepair.Tokenizer.from_file(folder / "vocabulary.json")
    if variant == "numpy":
        tokenizer.encode_to_numpy("")  # numpy is imported at the first call
        return lambda batch: tokenizer.encode_batch_to_numpy(batch, threads=n_threads)
    return lambda batch: tokenizer.encode_batch(batch, threads=n_threads)
