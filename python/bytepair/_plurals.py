"""Numbers with their nouns, for messages and summaries."""

__all__ = ["amount"]


def amount(number: int, noun: str) -> str:
    """Write a number with a noun, in the plural unless it is one.

    >>> amount(1, "shard"), amount(1200, "shard")
    ('1 shard', '1,200 shards')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
