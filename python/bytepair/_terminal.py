"""What fits a terminal: its width, colours, and a bar for what is done.

Nothing is drawn in colours where ``NO_COLOR`` is set.
"""

import os
from typing import TextIO

__all__ = ["bar", "has_colours", "paint", "width_of", "with_bar"]

DONE, TO_DO = "36", "2"
"""Cyan and dim, as a terminal takes them."""
MIN_BAR_LEN, MAX_BAR_LEN = 8, 30


def has_colours(stream: TextIO) -> bool:
    """Tell whether a stream is a terminal that shows colours."""
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return stream.isatty() and not is_plain


def paint(text: str, colour: str, *, is_painted: bool) -> str:
    r"""Give a text a colour, if it gets one and is not empty.

    >>> paint("a", "1;31", is_painted=True), paint("a", "1;31", is_painted=False)
    ('\x1b[1;31ma\x1b[0m', 'a')
    """
    return f"\x1b[{colour}m{text}\x1b[0m" if is_painted and text else text


def width_of(stream: TextIO) -> int | None:
    """Give the number of columns of a terminal, if it says it."""
    try:
        n_columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        return None
    return n_columns if n_columns > 1 else None


def with_bar(text: str, share: float | None, stream: TextIO) -> str:
    """Put a bar and a percentage before a text, as far as they fit in one line.

    Of two lines only the last can be written over, so that a longer text loses what stands
    behind its last commas.
    """
    n_columns = width_of(stream)
    most = len(text) if n_columns is None else n_columns - 1
    while len(text) > most and ", " in text:
        text = text.rpartition(", ")[0]
    if share is None or len(text) + len("100% ") > most:
        return text[:most]
    share = min(max(share, 0.0), 1.0)
    text = f"{int(100 * share):>3}% {text}"
    bar_len = min(most - len(text) - 1, MAX_BAR_LEN)
    if bar_len < MIN_BAR_LEN:
        return text
    is_plain = (stream.encoding or "").lower().replace("-", "") != "utf8"
    drawn = bar(share, bar_len, is_painted=has_colours(stream), is_plain=is_plain)
    return f"{drawn} {text}"


def bar(share: float, length: int, *, is_painted: bool, is_plain: bool = False) -> str:
    r"""Draw how much is done, in halves of a character.

    >>> bar(0.55, 10, is_painted=False)
    '━━━━━╸    '
    >>> bar(0.55, 10, is_painted=False, is_plain=True)
    '#####     '
    >>> bar(0.5, 2, is_painted=True)
    '\x1b[36m━\x1b[0m\x1b[2m━\x1b[0m'
    """
    n_halves = int(2 * length * share)
    whole, half = ("#", "") if is_plain else ("━", "╸")
    done = whole * (n_halves // 2) + half * (n_halves % 2)
    rest = length - len(done)
    if not is_painted:
        return done + " " * rest
    return paint(done, DONE, is_painted=True) + paint(
        whole * rest, TO_DO, is_painted=True
    )
