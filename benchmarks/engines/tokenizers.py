"""Hugging Face tokenizers. The environment says how many threads it uses.

A generator of documents was its fastest feed: faster than a list of them, than lists of
many, and than its own reading of files by lines.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers
from tokenizers import models, pre_tokenizers, trainers

from benchmarks import texts

from . import Case

VISIBLE = [*range(33, 127), *range(161, 173), *range(174, 256)]
HIDDEN = [byte for byte in range(256) if byte not in VISIBLE]
BYTE_OF = {chr(byte): byte for byte in VISIBLE}
BYTE_OF |= {chr(256 + place): byte for place, byte in enumerate(HIDDEN)}


def trainer(
    case: Case, path: Path, n_threads: int
) -> Callable[[], tokenizers.Tokenizer]:
    """Train with the case's pattern; what it does not match is kept."""
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = _splitter(case)
    options = trainers.BpeTrainer(
        vocab_size=256 + case["merges"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        min_frequency=case["min_count"],
        show_progress=False,
    )

    def work() -> tokenizers.Tokenizer:
        found = texts.read_documents(path, case["separator"])
        tokenizer.train_from_iterator(found, options)
        return tokenizer

    return work


def _splitter(case: Case) -> pre_tokenizers.PreTokenizer:
    """Use its built-in splitter for GPT-2's pattern, which is faster."""
    if case["pattern_name"] == "gpt2":
        return pre_tokenizers.ByteLevel(add_prefix_space=False)
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    split = pre_tokenizers.Split(tokenizers.Regex(case["pattern"]), "isolated")
    return pre_tokenizers.Sequence([split, byte_level])


def learned(tokenizer: tokenizers.Tokenizer) -> list[tuple[bytes, bytes]]:
    """List the merges."""
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return [(_as_bytes(left), _as_bytes(right)) for left, right in merges]


def _as_bytes(token: str) -> bytes:
    return bytes(BYTE_OF[letter] for letter in token)


def load(folder: Path, case: Case) -> tokenizers.Tokenizer:
    """Load a ``tokenizer.json``."""
    return tokenizers.Tokenizer.from_file(str(folder / "vocabulary.json"))


def add(tokenizer: tokenizers.Tokenizer, contents: list[str]) -> tokenizers.Tokenizer:
    """Add special tokens."""
    tokenizer.add_special_tokens(contents)
    return tokenizer


def with_added(tokenizer: tokenizers.Tokenizer, text: str) -> Any:  # noqa: ANN401
    """Encode a text in which special tokens count, to an array."""
    return np.array(tokenizer.encode(text).ids)


def batch(
    tokenizer: tokenizers.Tokenizer, output: str, n_threads: int
) -> Callable[[list[str]], list[list[int]]]:
    """Encode by the call that leaves out offsets, to lists: it makes no arrays."""

    def work(batch: list[str]) -> list[list[int]]:
        found = tokenizer.encode_batch_fast(batch, add_special_tokens=False)
        return [encoding.ids for encoding in found]

    return work


def one(
    tokenizer: tokenizers.Tokenizer, output: str, n_threads: int
) -> Callable[[str], list[int]]:
    """Encode a text."""
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids
