"""Which format holds a tokenizer of which dialect, found by writing and reading."""

from pathlib import Path
from typing import Literal

import bytepair
from bytepair._io.recognising import has_ids

__all__ = ["held", "trained"]

FILES = {"tiktoken": "t.tiktoken", "gpt2": "t", "sentencepiece": "t.model"}
TEXT = "hug the pug"
Held = Literal["ids", "tokens", "nothing"]


def trained(dialect: str) -> bytepair.Tokenizer:
    """Train a small tokenizer of a dialect."""
    texts = ["hug the pug, hug the bug. " * 5]
    return bytepair.train_from_iterator(texts, merges=9, dialect=dialect)


def held(tokenizer: bytepair.Tokenizer, format_name: str, folder: Path) -> Held:
    """Tell what comes back from a format.

    The same ids; the same tokens, from a format without ids; or nothing, as writing is refused.
    """
    folder.mkdir(parents=True)
    path = folder / FILES.get(format_name, "t.json")
    try:
        tokenizer.save(path, format=format_name)
    except bytepair.FormatError:
        return "nothing"
    whole: Held = "ids" if has_ids(path) else "tokens"
    loaded = bytepair.Tokenizer.from_file(path)
    is_equal = loaded.tokenize(TEXT) == tokenizer.tokenize(TEXT)
    if whole != "tokens":
        is_equal = is_equal and loaded.encode(TEXT) == tokenizer.encode(TEXT)
    assert is_equal, (path, TEXT)
    return whole
