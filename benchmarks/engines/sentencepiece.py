"""SentencePiece's trainer: another algorithm, so its time is shown and nothing compared.

It learns from lines, cut at spaces, of characters and not of bytes, and prefers short
pieces among equals. Its limits on the length and number of lines are lifted.
"""

import io
from collections.abc import Callable
from pathlib import Path

import sentencepiece

from . import Case


def trainer(case: Case, path: Path, n_threads: int) -> Callable[[], None]:
    """Train to as many pieces as the others learn tokens."""

    def work() -> None:
        sentencepiece.SentencePieceTrainer.train(
            input=str(path),
            model_writer=io.BytesIO(),
            model_type="bpe",
            vocab_size=256 + case["merges"],
            hard_vocab_limit=False,
            num_threads=n_threads,
            input_sentence_size=0,
            max_sentence_length=1 << 24,
            normalization_rule_name="identity",
            minloglevel=2,
        )

    return work


def learned(result: None) -> list[tuple[bytes, bytes]]:
    """List nothing."""
    return []
