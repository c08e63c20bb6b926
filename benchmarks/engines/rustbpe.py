"""rustbpe, a trainer. It leaves out what the pattern does not match.

The environment says how many threads it uses.
"""

from collections.abc import Callable
from pathlib import Path

import rustbpe

from . import Case, feed_texts


def trainer(
    case: Case, path: Path, feed: str, n_threads: int
) -> Callable[[], rustbpe.Tokenizer]:
    """Train with the case's pattern."""
    tokenizer = rustbpe.Tokenizer()
    vocab_size = 256 + case["merges"]

    def work() -> rustbpe.Tokenizer:
        texts = feed_texts(path, feed)
        tokenizer.train_from_iterator(texts, vocab_size, pattern=case["pattern"])
        return tokenizer

    return work


def learned(tokenizer: rustbpe.Tokenizer) -> list[bytes]:
    """List the tokens that the merges made."""
    ranks = sorted(tokenizer.get_mergeable_ranks(), key=lambda entry: entry[1])
    return [bytes(token) for token, _rank in ranks[256:]]
