"""Limits of tokens, characters and memory, checked before a corpus is read.

The core divides the memory that is left beside one document (`docs/explanation/limits.md`).
"""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

from bytepair._expected import expect
from bytepair._labels import argument
from bytepair._ranges import check_count, check_range
from bytepair._weights import exact
from bytepair.errors import TrainingError

__all__ = ["character_limits", "check_memory", "longest_within", "token_limits"]

LONGEST_SHARE = 16
"""A document, or a text without a place to cut it, may be this part of a memory limit."""
LEAST_LONGEST = 320 << 10
"""The length that it may have in any case, in bytes."""
LARGEST_DENOMINATOR = 10**18


def longest_within(memory_limit: int | None) -> int | None:
    """Return the length of the longest document within a memory limit, in bytes.

    >>> longest_within(64 << 20)
    4194304
    """
    if memory_limit is None:
        return None
    return max(memory_limit // LONGEST_SHARE, LEAST_LONGEST)


def check_memory(memory_limit: int | None) -> None:
    """Refuse a memory limit that is not a number of bytes."""
    if memory_limit is None:
        return
    check_count(memory_limit=memory_limit)
    if memory_limit < 0:
        message = f"{argument('memory_limit')} must not be negative, but it is {memory_limit:,}"
        raise TrainingError(message)


def token_limits(
    max_token_bytes: int | None,
    max_token_chars: int | None,
    whole_characters: bool | None,  # noqa: FBT001 -- named like the option
) -> tuple[int | None, int | None, bool]:
    """Return the limits of tokens as the core takes them."""
    check_range(1, max_token_bytes=max_token_bytes, max_token_chars=max_token_chars)
    expect("whole_characters", whole_characters, (bool, type(None)), "True or False")
    return max_token_bytes, max_token_chars, bool(whole_characters)


def character_limits(
    character_coverage: Any,  # noqa: ANN401 -- what a user gives
    max_alphabet: int | None,
) -> tuple[tuple[int, int] | None, int | None]:
    """Return the limits of characters as the core takes them: a share as a fraction, and a number.

    >>> character_limits(0.9995, None)
    ((1999, 2000), None)
    """
    check_range(1, max_alphabet=max_alphabet)
    if character_coverage is None:
        return None, max_alphabet
    is_number = isinstance(character_coverage, (Real, Decimal))
    if not is_number or isinstance(character_coverage, bool):
        message = f"character_coverage must be a number, not {character_coverage!r}"
        raise TypeError(message)
    if not 0 < character_coverage <= 1:
        message = f"{argument('character_coverage')} must be above 0 and at most 1, not {character_coverage!r}"
        raise TrainingError(message)
    share = exact(character_coverage).limit_denominator(LARGEST_DENOMINATOR)
    return (share.numerator, share.denominator), max_alphabet
