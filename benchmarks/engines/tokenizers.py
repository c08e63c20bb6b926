"""Hugging Face tokenizers. The environment says how many threads it uses."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import models, pre_tokenizers, trainers

from . import Case, feed_texts

VISIBLE = [*range(33, 127), *range(161, 173), *range(174, 256)]
HIDDEN = [byte for byte in range(256) if byte not in VISIBLE]
BYTE_OF = {chr(byte): byte for byte in VISIBLE}
BYTE_OF |= {chr(256 + place): byte for place, byte in enumerate(HIDDEN)}


def trainer(
    case: Case, path: Path, feed: str, n_threads: int
) -> Callable[[], tokenizers.Tokenizer]:
    """Train with the case's pattern; what it does not match is kept."""
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    split = pre_tokenizers.Split(tokenizers.Regex(case["pattern"]), "isolated")
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, byte_level])
    options = trainers.BpeTrainer(
        vocab_size=256 + case["merges"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        min_frequency=case.get("min_count", 2),
        show_progress=False,
    )

    def work() -> tokenizers.Tokenizer:
        if feed == "files":
            tokenizer.train([str(path)], options)
        else:
            tokenizer.train_from_iterator(feed_texts(path, feed), options)
        return tokenizer

    return work


def learned(tokenizer: tokenizers.Tokenizer) -> list[bytes]:
    """List the tokens that the merges made."""
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return [bytes(BYTE_OF[letter] for letter in "".join(pair)) for pair in merges]


def encoder(
    folder: Path, case: Case, variant: str, n_threads: int
) -> Callable[[list[str]], Any]:
    """Encode by the call that leaves out offsets."""
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "vocabulary.json"))

    def work(batch: list[str]) -> list[list[int]]:
        found = tokenizer.encode_batch_fast(batch, add_special_tokens=False)
        return [encoding.ids for encoding in found]

    return work
