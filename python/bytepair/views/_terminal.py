"""Lines of styled text, as plain text and with the colours of a terminal.

Each colour has its own letter colour, so that tokens are readable on dark and light screens.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING

from ._layout import LEFT_OUT, MISSING, Line, Run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import Console
    from rich.text import Text

__all__ = ["folded", "has_colours", "plain", "print_lines", "styled"]

BACKGROUNDS = (153, 157, 223, 219, 229, 159, 254, 250)
"""Indices in the palette of 256 colours: for tokens, and for tokens that all rows share."""
ENOUGH_COLOURS = ("256", "truecolor")
"""Systems of colours, as rich names them, that tell the backgrounds apart."""
LETTERS, SMALL_LETTERS = 16, 240
LABEL = re.compile(r" *\S.*?  +(?=\S)")
"""What a line begins with: a name, and the gap behind it."""
CODE = re.compile(r"[\\\[]")
"""Signs of patterns, and of tokens in brackets."""
MISSING_LETTERS, MISSING_BACKGROUND = 231, 124
"""White on dark red, for tokens without an id."""


def plain(lines: Iterable[Line]) -> str:
    """Write lines without styles.

    >>> plain([[Run("[low]", 0), Run(" 257", None, True)]])
    '[low] 257'
    """
    return "\n".join("".join(run.text for run in line).rstrip() for line in lines)


def styled(line: Line) -> Text:
    """Give a line in colours."""
    from rich.text import Text

    return Text.assemble(*((run.text, _style(run)) for run in line))


def _style(run: Run) -> str:
    if run.colour is None:
        return "dim" if run.is_note else ""
    if run.colour == LEFT_OUT:
        return "dim strike"
    if run.colour == MISSING:
        return f"bold color({MISSING_LETTERS}) on color({MISSING_BACKGROUND})"
    letters = SMALL_LETTERS if run.is_note else LETTERS
    return f"color({letters}) on color({BACKGROUNDS[run.colour]})"


def has_colours(console: Console) -> bool:
    """Tell whether colours are wanted and tell tokens apart.

    Not in a pipe, nor with ``NO_COLOR``, nor where there are only 16.
    """
    return console.color_system in ENOUGH_COLOURS and not console.no_color


def folded(line: Text, console: Console, n_columns: int | None) -> Iterator[Text]:
    """Break a line between words, and go on below where its text begins.

    Patterns and tokens are broken anywhere, since spaces are part of them.
    """
    from rich.cells import chop_cells

    text = line.plain
    if n_columns is None or line.cell_len <= n_columns:
        yield line
        return
    found = LABEL.match(text)
    indent = found.end() if found else 0
    if not 0 < indent <= n_columns // 2:
        indent = min(len(text) - len(text.lstrip()), n_columns // 2)
    room = n_columns - indent
    if CODE.search(text):
        ends = accumulate(map(len, chop_cells(text[indent:], room)))
        parts = line[indent:].divide(list(ends)[:-1])
    else:
        parts = line[indent:].wrap(console, room)
    for number, part in enumerate(parts):
        head = line[:indent] if number == 0 else line[:0].append(" " * indent)
        yield head.append_text(part)


def print_lines(console: Console, lines: Iterable[Line]) -> None:
    """Print lines as they are, without wrapping."""
    coloured = has_colours(console)
    for line in lines:
        text = styled(line) if coloured else plain([line])
        console.print(text, soft_wrap=True, markup=False, highlight=False)
