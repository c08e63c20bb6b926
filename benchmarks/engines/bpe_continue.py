"""bpe-continue, which trains on from a ``tokenizer.json``. The environment says how many threads it uses."""

from collections.abc import Callable
from pathlib import Path

import bpe_continue
import tokenizers

from . import Case


def extender(case: Case, target: Path) -> Callable[[], None]:
    """Extend by what it reads of the file, line by line."""

    def work() -> None:
        base = tokenizers.Tokenizer.from_file(case["base_file"])
        size = base.get_vocab_size() + case["add"]
        found = bpe_continue.continue_training(
            case["base_file"],
            files=[case["file"]],
            vocab_size=size,
            show_progress=False,
        )
        found.save(str(target))

    return work
