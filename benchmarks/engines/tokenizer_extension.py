"""tokenizer-extension, which is not in the package index: install it from its repository. One thread.

Lines were a faster feed than longer documents. It counts tokens that the base has already as new ones, so
that it is asked for some more.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tokenizer_extension.extension import extend_tokenizer
from tokenizer_extension.pruning import LeafFrequencyPruner
from tokenizer_extension.train_vocab_extension import train_vocab_extension
from transformers import PreTrainedTokenizerFast

from . import Case

MORE = 32


def _lines(path: str) -> Iterator[str]:
    with Path(path).open(encoding="utf-8") as lines:
        yield from lines


def _base(case: Case) -> Any:  # noqa: ANN401 -- of its library
    return PreTrainedTokenizerFast(tokenizer_file=case["base_file"])


def extender(case: Case, target: Path) -> Callable[[], None]:
    """Continue training, and keep the ids of added tokens."""

    def work() -> None:
        base = _base(case)
        learned = train_vocab_extension(base, _lines(case["file"]), case["add"] + MORE)
        found = extend_tokenizer(
            base,
            learned["vocab"],
            learned["merges"],
            n_tokens=case["add"],
            keep_added_token_positions=True,
        )
        found.backend_tokenizer.save(str(target))

    return work


def pruner(case: Case, target: Path) -> Callable[[], None]:
    """Remove leaves by frequency, as its authors advise."""

    def work() -> None:
        base = _base(case)
        pruner = LeafFrequencyPruner()
        pruner.train(base, list(_lines(case["file"])))
        pruner.prune(base, len(base) - case["to"])
        base.backend_tokenizer.save(str(target))

    return work
