"""The named dialects that a tokenizer resembles, judged by how it cuts difficult texts.

Patterns that are written differently can cut in the same way, so the comparison uses the pieces
of a built-in text of many scripts and signs, not the patterns. This is not a proof. It takes a
few hundredths of a second for all dialects.
"""

from typing import NamedTuple

import bytepair
from bytepair import Tokenizer, TokenizerError

from ._compare import torture

__all__ = ["Likeness", "likeness"]


MIN_TEXTS = 20
"""The smallest number of texts for a comparison if normalizers differ.

Only texts that neither normalizer changes are compared then.
"""


class Likeness(NamedTuple):
    """The dialects that cut texts as a tokenizer does, and whether they also normalize alike."""

    names: tuple[str, ...]
    is_normalized_alike: bool

    def __str__(self) -> str:
        if not self.names:
            return "none of the named ones"
        names = " or ".join(self.names)
        return names if self.is_normalized_alike else f"{names}, but for normalizing"


def likeness(tokenizer: Tokenizer) -> Likeness:
    """Name the dialects that have the same units and cut texts in the same way.

    >>> import bytepair
    >>> own = bytepair.train_from_iterator(["low"], merges=1, dialect="gpt2")
    >>> likeness(own).names
    ('gpt2',)
    >>> lower = bytepair.train_from_iterator(["low"], merges=1, normalize=["lowercase"])
    >>> str(likeness(lower))
    'gpt4o, but for normalizing'
    """
    parts = tokenizer.inspect().description
    words = " ".join(torture.TEXTS).split(" ")
    all_texts = [*torture.TEXTS, *(f"a {word} 1" for word in words)]
    alike: dict[bool, list[str]] = {True: [], False: []}
    for name in bytepair.dialects():
        other = bytepair.train_from_counts({"ab": 2}, merges=0, dialect=name)
        other_parts = other.inspect().description
        is_normalized_alike = parts["normalize"] == other_parts["normalize"]
        texts = all_texts
        if not is_normalized_alike:
            texts = [t for t in texts if _keeps(tokenizer, t) and _keeps(other, t)]
        has_enough = len(texts) >= MIN_TEXTS and _units(parts) == _units(other_parts)
        if has_enough and all(
            _pieces(tokenizer, t) == _pieces(other, t) for t in texts
        ):
            alike[is_normalized_alike].append(name)
    names = alike[True] or alike[False]
    return Likeness(tuple(names), is_normalized_alike=bool(alike[True]))


def _units(parts: dict[str, str]) -> tuple[str, str]:
    """Return the kind of units, and the mark of word ends."""
    kind, *others = parts["units"].split(", ")
    return kind, next((text for text in others if "mark" in text), "")


def _keeps(tokenizer: Tokenizer, text: str) -> bool:
    return tokenizer.inspect().normalized(text) == text


def _pieces(tokenizer: Tokenizer, text: str) -> list[bytes] | None:
    try:
        pieces = tokenizer.split(text)
    except TokenizerError:
        return None
    return [p.encode() if isinstance(p, str) else p for p in pieces]
