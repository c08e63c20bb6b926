"""tiktoken, an encoder."""

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tiktoken

from . import Case


def encoder(
    folder: Path, case: Case, variant: str, n_threads: int
) -> Callable[[list[str]], Any]:
    """Encode with every special token as plain text."""
    encoding = tiktoken.Encoding(
        "benchmark",
        pat_str=case["pattern"],
        mergeable_ranks=_ranks(folder / "vocabulary.tiktoken"),
        special_tokens={},
    )
    return lambda batch: encoding.encode_ordinary_batch(batch, num_threads=n_threads)


def _ranks(path: Path) -> dict[bytes, int]:
    fields = (line.split() for line in path.read_bytes().splitlines())
    return {base64.b64decode(token): int(rank) for token, rank in fields}
