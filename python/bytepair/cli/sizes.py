"""Sizes in bytes, as users write them."""

import re
from decimal import Decimal

import typer

__all__ = ["size"]


def size(text: str) -> int:
    """Read a number of bytes, with a unit of powers of 1000 or 1024.

    >>> size("2GB"), size("1.5 MiB"), size("4096")
    (2000000000, 1572864, 4096)
    """
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) *([kKMGT]?)(i?)B?", text)
    if not found:
        message = f"{text!r} is not a size in bytes; give one such as 500MB or 2GB"
        raise typer.BadParameter(message)
    number, prefix, is_binary = found.groups()
    power = " KMGT".index(prefix.upper() or " ")
    return int(Decimal(number) * (1024 if is_binary else 1000) ** power)
