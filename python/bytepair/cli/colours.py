"""Colours on a terminal; none in a pipe, none where ``NO_COLOR`` is set."""

import os
from typing import TextIO

__all__ = ["HEADING", "LITERAL", "PROBLEM", "VALUE", "has_colours", "paint"]

HEADING = "1;32"
LITERAL = "1;36"
VALUE = "36"
PROBLEM = "1;31"
"""What a terminal takes for bold green, bold cyan, cyan and bold red."""


def has_colours(stream: TextIO) -> bool:
    """Tell whether a stream is a terminal that shows colours."""
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return stream.isatty() and not is_plain


def paint(text: str, colour: str, *, is_painted: bool) -> str:
    r"""Give a text a colour, if it gets one and is not empty.

    >>> paint("a", PROBLEM, is_painted=True), paint("a", PROBLEM, is_painted=False)
    ('\x1b[1;31ma\x1b[0m', 'a')
    """
    return f"\x1b[{colour}m{text}\x1b[0m" if is_painted and text else text
