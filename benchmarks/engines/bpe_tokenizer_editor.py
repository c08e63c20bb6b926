"""bpe-tokenizer-editor, which adds words that it is given, with chains of merges.

It is given the most frequent words after a space that are no tokens yet, until there are as many tokens as
wanted. Other letters than those of ASCII end the process.
"""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from bpe_tokenizer_editor import BPETokenizerEditor

from . import Case


def extender(case: Case, target: Path) -> Callable[[], None]:
    """Add words one by one."""

    def work() -> None:
        editor = BPETokenizerEditor(case["base_file"])
        text = Path(case["file"]).read_text(encoding="utf-8")
        counts = Counter(re.findall(r" ([a-zA-Z]+)\b", text))
        wanted = editor.vocab_size + case["add"]
        for word, _ in counts.most_common():
            if editor.vocab_size >= wanted:
                break
            if not editor.has_token(f"Ġ{word}"):
                editor.add_token(f"Ġ{word}")
        editor.save(str(target))

    return work
