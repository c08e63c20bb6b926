"""Characters that no token of a tokenizer stands for.

Encoding refuses them, or leaves them out as the library of a file does. Views and metrics treat those that it refuses as
subword-nmt does: each is a separate token, which has a text but no id, and which no merge uses. Those that are left out
are not tokens, but are counted, too. Nothing here has a cost if the vocabulary has every character.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bytepair import _core
from bytepair.errors import UnknownTokenError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Literal

    from numpy.typing import NDArray

    from bytepair._core import Tokenizer as CoreTokenizer

__all__ = ["NO_ID", "Encoder", "course_of", "end_mark", "named"]

NOT_IN_UTF8 = {0xC0, 0xC1, *range(0xF5, 0x100)}
"""Bytes that never occur in UTF-8."""
NO_ID = -1
"""The id of a token without an id."""


@dataclass(frozen=True)
class Encoder:
    """The tokenizer that encodes texts for views and metrics.

    Attributes
    ----------
    tokenizer
        The original tokenizer, or a copy with one more token, which stands for missing characters.
    missing
        The id of that token, after all others; ``None`` if there is none.
    finder
        A tokenizer with such a token, and the id of the token, if ``tokenizer`` leaves missing characters out.
    rare
        Matches the only bytes that may be missing, if they never occur in UTF-8. Without a match, nothing is missing.
    """

    tokenizer: CoreTokenizer
    missing: int | None = None
    finder: tuple[CoreTokenizer, int] | None = None
    rare: re.Pattern[bytes] | None = None

    @classmethod
    def of(cls, tokenizer: CoreTokenizer) -> Encoder:
        """Return the encoder of a tokenizer.

        >>> import bytepair
        >>> counts = {"low": 2, "lower": 1}
        >>> codes = bytepair.train_from_counts(counts, merges=2, dialect="sennrich")
        >>> Encoder.of(codes).missing == codes.n_vocab
        True
        """
        extended = _core.with_missing(tokenizer)
        if extended is None:
            return cls(tokenizer)
        if tokenizer.inspect().settings["drops_missing"]:
            return cls(tokenizer, finder=extended, rare=_rare(tokenizer))
        return cls(*extended)

    def may_miss(self, text: bytes | NDArray[Any]) -> bool:
        """Return whether the finder may find missing characters in a text."""
        return self.rare is None or self.rare.search(text) is not None  # type: ignore[arg-type]


def _rare(tokenizer: CoreTokenizer) -> re.Pattern[bytes] | None:
    """Return a pattern of the bytes that a tokenizer lacks, if none of them occurs in UTF-8."""
    rules = tokenizer.inspect().settings
    has_marks = rules["end_mark_is_suffix"] or rules["continuing_prefix"]
    if not rules["is_bytes"] or has_marks or end_mark(tokenizer):
        return None
    spans = tokenizer.inspect().symbols(bytes(range(256)))
    known = {byte for _id, start, end in spans for byte in range(start, end)}
    lacking = set(range(256)) - known
    return re.compile(b"[\xc0\xc1\xf5-\xff]") if lacking <= NOT_IN_UTF8 else None


def end_mark(tokenizer: CoreTokenizer) -> str:
    """Return the end mark if it is a separate unit, which may be missing, too; otherwise an empty text."""
    rules = tokenizer.inspect().settings
    return "" if rules["end_mark_is_suffix"] else rules["end_mark"] or ""


def named(
    tokenizer: CoreTokenizer, counts: Iterable[tuple[bytes, int]]
) -> Counter[bytes]:
    """Add up the occurrences of each missing character; an end mark, which has no text, is listed by its name."""
    total: Counter[bytes] = Counter()
    for text, count in counts:
        total[text or end_mark(tokenizer).encode()] += count
    return total


def course_of(
    tokenizer: CoreTokenizer,
    text: str | bytes,
    *,
    allowed_special: Literal["all"] | Collection[str],
    added_tokens: Literal["find", "text"],
) -> tuple[list[Any], int | None]:
    """Return all steps of encoding a text, and the id that stands for its missing characters, if it has any."""
    options: dict[str, Any] = {
        "allowed_special": allowed_special,
        "added_tokens": added_tokens,
    }
    try:
        return tokenizer.inspect().course(text, **options), None
    except UnknownTokenError:
        extended = _core.with_missing(tokenizer)
        if extended is None:
            raise
        other, missing = extended
        return other.inspect().course(text, **options), missing
