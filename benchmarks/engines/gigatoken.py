"""gigatoken, an encoder, and a trainer with GPT-2's pattern and no other.

Its trainer reads documents from the file by itself, its fastest feed, and goes on when no
pair is left, with pairs that occur zero times. Its encoder works on one thread in a call
for one text, which is its cheapest in CPU time for many texts too; ``encode_batch`` uses
as many as the environment says, and cuts a long text for them.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

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


def load(folder: Path, case: Case) -> gigatoken.Tokenizer:
    """Load a ``tokenizer.json``."""
    return gigatoken.Tokenizer(str(folder / "vocabulary.json"))


def batch(
    tokenizer: gigatoken.Tokenizer, output: str, n_threads: int
) -> Callable[[list[str]], Any]:
    """Encode to lists, to an array for each text, or on threads to an awkward array."""
    backend = tokenizer.backend
    is_parallel = n_threads > 1
    if output == "list":
        return lambda texts: backend.encode_batch_list(texts, parallel=is_parallel)
    if is_parallel:
        return lambda texts: backend.encode_batch(texts, parallel=True)
    return lambda texts: [backend.encode(text) for text in texts]


def one(
    tokenizer: gigatoken.Tokenizer, output: str, n_threads: int
) -> Callable[[str], Any]:
    """Encode a text, on threads as a batch of one."""
    backend = tokenizer.backend
    if output == "list" and n_threads > 1:
        return lambda text: backend.encode_batch_list([text], parallel=True)[0]
    if output == "list":
        return lambda text: backend.encode(text).tolist()
    if n_threads > 1:
        return lambda text: backend.encode_batch([text], parallel=True)[0].to_numpy()
    return backend.encode


def flat(result: Any) -> Any:  # noqa: ANN401
    """Give the ids of an awkward array in a row."""
    import awkward

    return awkward.to_numpy(awkward.flatten(result))
