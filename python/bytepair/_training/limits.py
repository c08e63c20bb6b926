"""What a memory limit leaves for one document; the core divides the rest (`docs/explanation/limits.md`)."""

from __future__ import annotations

__all__ = ["longest_within"]

LONGEST_SHARE = 16
"""A document, or a text without a place to cut it, may be this part of a memory limit."""
LEAST_LONGEST = 320 << 10
"""What it may be in any case, in bytes."""


def longest_within(memory_limit: int | None) -> int | None:
    """Say how long a document may be within a memory limit, in bytes.

    >>> longest_within(64 << 20)
    4194304
    """
    if memory_limit is None:
        return None
    return max(memory_limit // LONGEST_SHARE, LEAST_LONGEST)
