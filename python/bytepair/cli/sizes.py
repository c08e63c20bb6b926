"""Numbers and sizes as users write them: ``100k`` tokens, ``2GB``.

``k``, ``M``, ``G`` and ``T`` are powers of 1000, followed by ``i``, of 1024.
"""

import re
from collections.abc import Callable
from decimal import Decimal

import click

__all__ = ["MOST_WORKERS", "number", "size"]

HIGHEST = 2**63 - 1
MOST_WORKERS = 4096
"""The largest number of threads or processes."""


def number(least: int = 0, most: int = HIGHEST) -> Callable[[str], int]:
    """Return a parser of whole numbers within bounds, such as numbers of tokens.

    >>> read = number(1)
    >>> read("32000"), read("100k"), read("1.5M"), read("32Ki")
    (32000, 100000, 1500000, 32768)
    """

    def read(text: str) -> int:
        value = _scaled(str(text), r"(-?[0-9]+(?:\.[0-9]+)?)([kKMG]?)(i?)")
        if value is None or value != int(value):
            message = (
                f"{text!r} is not a whole number; give one such as 32000, 100k (100,000) "
                "or 32Ki (32,768)"
            )
            raise click.BadParameter(message)
        if not least <= value <= most:
            bound = f"at least {least}" if value < least else f"at most {most:,}"
            message = f"must be {bound}, not {text}"
            raise click.BadParameter(message)
        return int(value)

    return read


def size(text: str) -> int:
    """Return a size in bytes; its units are powers of 1000 or 1024.

    >>> size("2GB"), size("1.5 MiB"), size("4096")
    (2000000000, 1572864, 4096)
    """
    value = _scaled(text, r"([0-9]+(?:\.[0-9]+)?) *([kKMGT]?)(i?)B?")
    if value is None:
        message = f"{text!r} is not a size in bytes; give one such as 500MB or 2GB"
        raise click.BadParameter(message)
    return int(value)


def _scaled(text: str, pattern: str) -> Decimal | None:
    """Return a number with a prefix, or ``None``; ``i`` alone is not a prefix."""
    found = re.fullmatch(pattern, text)
    if not found or (found[3] and not found[2]):
        return None
    power = " KMGT".index(found[2].upper() or " ")
    scale = 1024 if found[3] else 1000
    return Decimal(found[1]) * Decimal(scale) ** power
