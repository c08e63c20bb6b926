"""Which dialects a tokenizer is like: told by what it does to texts, not by how it is written."""

from collections.abc import Callable
from pathlib import Path

import pytest

import bytepair
from bytepair.analyze._likeness import likeness


@pytest.mark.parametrize("name", bytepair.dialects())
def test_each_dialect_is_like_itself(name: str) -> None:
    """And like no other, but for two that have the same pattern."""
    own = bytepair.train_from_iterator(["low lower"], merges=2, dialect=name)
    same = {"gpt4", "llama3"}
    assert set(likeness(own).names) == (same if name in same else {name})
    assert likeness(own).is_normalized_alike


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "names", "is_normalized_alike"),
    [
        ("gpt2/tokenizer.json", ["gpt2"], True),
        ("qwen3/tokenizer.json", ["qwen"], False),
        ("deepseek-v3/tokenizer.json", ["deepseek-v3"], True),
        ("clip/tokenizer.json", [], False),
    ],
)
def test_published_tokenizers_are_like_their_dialects(
    path: str,
    names: list[str],
    is_normalized_alike: bool,
    shared: Callable[[str], Path],
) -> None:
    """Their patterns are written otherwise than ours; Qwen's file normalizes beside it."""
    found = likeness(bytepair.Tokenizer.from_file(shared(f"vocabularies/{path}")))
    assert found == (tuple(names), is_normalized_alike)


def test_an_own_pattern_is_like_no_dialect() -> None:
    """One class of characters that is cut otherwise is enough."""
    own = bytepair.train_from_iterator(["low"], merges=1, pattern=r"\p{L}+|[^\p{L}]+")
    assert likeness(own).names == ()
