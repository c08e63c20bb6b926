"""Parity between languages: equal to the public trainer, and refused where it cannot be had."""

import random

import pytest

import bytepair
from bytepair import Parity, TrainingError

OPTIONS = {
    "dialect": "unknown-token",
    "pattern": r"\S+",
    "unmatched": "drop",
    "ties": "largest_text",
}
SEEDS = [
    *range(30),
    *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(30, 1000)),
]


def published(groups, parallel, merges, variant="base", **options):
    """Return the merges of the trainer in tokenizers."""
    tokenizers = pytest.importorskip("tokenizers", "0.23")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    ratio = options.pop("ratio", None)
    trainer = tokenizers.trainers.ParityBpeTrainer(
        num_merges=merges, variant=variant, show_progress=False, **options
    )
    trainer.train_from_iterator(tokenizer, groups, parallel, ratio=ratio)
    return bytepair.Tokenizer.from_str(tokenizer.to_str(), format="huggingface").merges
