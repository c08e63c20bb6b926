"""rustbpe, a trainer. It leaves out what the pattern does not match.

The environment says how many threads it uses. A generator of documents was its fastest
feed: faster than a list of them, than one long text, and than chunks of other sizes.
"""

from collections.abc import Callable
from pathlib import Path

import rustbpe

from benchmarks import texts

from . import Case


def trainer(case: Case, path: Path, n_threads: int) -> Callable[[], rustbpe.Tokenizer]:
    """Train with the case's pattern."""
    tokenizer = rustbpe.Tokenizer()
    vocab_size = 256 + case["merges"]

    def work() -> rustbpe.Tokenizer:
        found = texts.read_documents(path, case["separator"])
        tokenizer.train_from_iterator(found, vocab_size, pattern=case["pattern"])
        return tokenizer

    return work


def learned(tokenizer: rustbpe.Tokenizer) -> list[tuple[bytes]]:
    """List the tokens that the merges made."""
    ranks = sorted(tokenizer.get_mergeable_ranks(), key=lambda entry: entry[1])
    return [(bytes(token),) for token, _rank in ranks[256:]]
