"""The project itself. It reads files on its own; there is one feed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bytepair

from . import Case

PARTS = ("pattern", "byte_ids", "unmatched", "min_count", "ties", "dialect")


def trainer(
    case: Case, path: Path, feed: str, n_threads: int
) -> Callable[[], bytepair.Tokenizer]:
    """Train with the parts of the dialect that the case names."""
    parts = {name: case[name] for name in PARTS if name in case}
    return lambda: bytepair.train(
        path, merges=case["merges"], threads=n_threads, **parts
    )


def learned(tokenizer: bytepair.Tokenizer) -> list[bytes]:
    """List the tokens that the merges made."""
    return [left + right for left, right in tokenizer.merges]


def encoder(
    folder: Path, case: Case, variant: str, n_threads: int
) -> Callable[[list[str]], Any]:
    """Encode to lists, or in the variant ``numpy`` to one array for all texts."""
    tokenizer = bytepair.Tokenizer.from_file(folder / "vocabulary.json")
    if variant == "numpy":
        tokenizer.encode_to_numpy("")  # numpy is imported at the first call
        return lambda batch: tokenizer.encode_batch_to_numpy(batch, threads=n_threads)
    return lambda batch: tokenizer.encode_batch(batch, threads=n_threads)
