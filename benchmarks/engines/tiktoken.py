"""tiktoken, an encoder."""

import base64
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tiktoken

from . import Case


def load(folder: Path, case: Case) -> tiktoken.Encoding:
    """Load ranks; special tokens are plain text."""
    path = folder / "vocabulary.tiktoken"
    if not path.exists():
        message = "it takes ranks and one pattern, and no normalization"
        raise ValueError(message)
    return tiktoken.Encoding(
        "benchmark",
        pat_str=case["pattern"],
        mergeable_ranks=_ranks(path),
        special_tokens={},
    )


def batch(
    tokenizer: tiktoken.Encoding, output: str, n_threads: int
) -> Callable[[list[str]], Any]:
    """Encode to lists, or to an array for each text, on one thread."""
    if output == "list":
        call = tokenizer.encode_ordinary_batch
        return functools.partial(call, num_threads=n_threads)
    work = one(tokenizer, output, n_threads)
    return lambda texts: [work(text) for text in texts]


def one(
    tokenizer: tiktoken.Encoding, output: str, n_threads: int
) -> Callable[[str], Any]:
    """Encode a text."""
    if output == "list":
        return tokenizer.encode_ordinary
    return functools.partial(tokenizer.encode_to_numpy, disallowed_special=())


def _ranks(path: Path) -> dict[bytes, int]:
    fields = (line.split() for line in path.read_bytes().splitlines())
    return {base64.b64decode(token): int(rank) for token, rank in fields}
