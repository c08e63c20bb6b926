"""Lines of styled text with the colours of a terminal.

Backgrounds come with a text colour, so that tokens are readable on dark and light screens.
"""

from __future__ import annotations

import os
import re
from itertools import accumulate
from typing import TYPE_CHECKING

from ._runs import Line, Run, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import Console
    from rich.text import Text

__all__ = ["columns_of", "has_colours", "print_folded", "print_lines"]

ENOUGH_COLOURS = ("256", "truecolor")
"""The colour systems, as rich names them, in which all backgrounds differ."""
BACKGROUNDS = {"c0": 153, "c1": 157, "c2": 223, "c3": 219, "c4": 229, "c5": 159}
SHARED_BACKGROUNDS = {"s0": 254, "s1": 250}
"""Colours of the palette of 256: for tokens, and for tokens that all rows share."""
STYLES = {
    "note": "dim",
    "part": "color(240)",
    "none": "color(240)",
    "out": "dim strike",
    "first": "red",
    "second": "green",
    "missing": "bold color(231) on color(124)",
    "heading": "bold green",
    "best": "bold",
    "name": "cyan",
    **{
        name: f"color(16) on color({colour})"
        for name, colour in {**BACKGROUNDS, **SHARED_BACKGROUNDS}.items()
    },
}
"""The styles of runs, as rich names them."""
LABEL = re.compile(r" *\S.*?  +(?=\S)")
"""The beginning of a line: a name, and the gap after it."""
CODE = re.compile(r"[\\\[]")
"""Characters of patterns, and of tokens in brackets."""


def has_colours(console: Console) -> bool:
    """Return whether a console has enough colours to tell tokens apart.

    It has none in a pipe or with ``NO_COLOR``, and 16 are not enough.
    """
    return console.color_system in ENOUGH_COLOURS and not console.no_color


def folded(line: Text, console: Console, n_columns: int | None) -> Iterator[Text]:
    """Break a line between words, and align the rest with the beginning of its text.

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
    for line in lines:
        console.print(_text(line, console), soft_wrap=True)


def print_folded(lines: Iterable[Line]) -> None:
    """Print lines, on a terminal broken between words."""
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    n_columns = columns_of(console)
    for line in lines:
        for part in folded(_text(line, console), console, n_columns):
            console.print(part)


def columns_of(console: Console) -> int | None:
    """Return the width of a terminal, or of ``COLUMNS``; ``None`` for a pipe without it."""
    is_set = os.environ.get("COLUMNS", "").isdigit()
    return console.width if console.is_terminal or is_set else None


def _text(line: Line, console: Console) -> Text:
    from rich.text import Text

    if has_colours(console):
        return Text.assemble(*((run.text, _style(run)) for run in line))
    return Text(plain([line]))


def _style(run: Run) -> str:
    return " ".join(STYLES[name] for name in run.style.split())
