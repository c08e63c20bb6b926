"""The parts of the report page: sections with cards, facts, charts, tables and samples.

The template writes these; the other modules of this package fill them in. Numbers are formatted
here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from bytepair import __version__
from bytepair.views._glyphs import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from markupsafe import Markup

__all__ = [
    "LENGTHS",
    "N_SCRIPTS",
    "SCRIPT_NAMES",
    "Card",
    "Cell",
    "Chart",
    "Column",
    "Fact",
    "Page",
    "Part",
    "Section",
    "Shown",
    "ShownRow",
    "Table",
    "Value",
    "capital",
    "columns_of",
    "length_shares",
    "number_cell",
    "printable",
    "short",
    "value_cell",
    "written",
]

MAX_LENGTH = 24
"""Tokens of more bytes than this share a column."""
LENGTHS = (*map(str, range(1, MAX_LENGTH + 1)), f">{MAX_LENGTH}")
N_SCRIPTS = 12
SCRIPT_NAMES = {"none": "no letters", "several": "several scripts"}
MAX_TEXT = 36
"""The number of characters of a token that are written."""


class Cell(NamedTuple):
    """A cell of a table; ``value`` is the sort key, ``share`` the length of its bar."""

    text: str
    kind: str = "text"
    value: float | None = None
    share: float | None = None
    series: int = 0
    aside: str = ""
    table: Table | None = None
    n_more: str = ""


class Column(NamedTuple):
    """The head of a column; ``series`` is the number of a tokenizer."""

    title: str
    is_number: bool = False
    series: int | None = None


class Table(NamedTuple):
    """Rows of cells below the heads of columns."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    is_sortable: bool = True
    title: str = ""


class Chart(NamedTuple):
    """A drawing or a table, with a title and a description.

    ``series`` is the number of its tokenizer, ``names`` are those of other lines than tokenizers.
    """

    title: str
    note: str = ""
    drawing: Markup | None = None
    table: Table | None = None
    series: int | None = None
    names: Sequence[str] | None = None

    @property
    def is_wide(self) -> bool:
        """Whether it is a table of more columns than fit beside another drawing."""
        return self.table is not None and len(self.table.columns) > 4


class Card(NamedTuple):
    """One metric of all tokenizers."""

    title: str
    values: Sequence[str]
    note: str = ""
    is_words: bool = False


class Value(NamedTuple):
    """A fact of one tokenizer: a text, or names with ids."""

    text: str = ""
    is_code: bool = False
    items: Sequence[tuple[str, str]] = ()
    n_more: int = 0


class Fact(NamedTuple):
    """A fact of all tokenizers."""

    title: str
    values: Sequence[Value]

    @property
    def differs(self) -> bool:
        """Whether it differs between tokenizers."""
        return len(set(self.values)) > 1


class Part(NamedTuple):
    """A table with its heading and text; ``series`` is the number of its tokenizer."""

    title: str = ""
    note: str = ""
    table: Table | None = None
    series: int | None = None
    charts: Sequence[Chart] = ()


class ShownRow(NamedTuple):
    """A text as one tokenizer cuts it: its counts, and its tokens as HTML."""

    counts: str
    html: Markup


class Shown(NamedTuple):
    """A text as each tokenizer cuts it."""

    title: str
    rows: Sequence[ShownRow]


@dataclass
class Section:
    """A section of the page."""

    id: str
    title: str
    note: str = ""
    cards: Sequence[Card] = ()
    facts: Sequence[Fact] = ()
    charts: Sequence[Chart] = ()
    parts: Sequence[Part] = ()
    samples: Sequence[Shown] = ()
    missing: Sequence[str] = ()


@dataclass
class Page:
    """The whole input of the template."""

    title: str
    subtitle: str
    names: Sequence[str]
    sections: Sequence[Section]
    footer: str
    version: str = __version__


def columns_of(names: Sequence[str]) -> list[Column]:
    """Give each tokenizer a column of numbers."""
    return [Column(name, is_number=True, series=n) for n, name in enumerate(names)]


def length_shares(lengths: Iterable[tuple[int, int]]) -> list[float]:
    """Give the share of each of :data:`LENGTHS`."""
    found = [0] * len(LENGTHS)
    for length, n_tokens in lengths:
        found[min(max(length, 1), len(found)) - 1] += n_tokens
    total = sum(found) or 1
    return [n_tokens / total for n_tokens in found]


def written(value: float | None, unit: str) -> str:
    """Write a value.

    >>> (
    ...     written(0.12345, "share"),
    ...     written(4.56789, "bytes/token"),
    ...     written(1234567, "bytes"),
    ... )
    ('12.3%', '4.57', '1,234,567')
    """
    if value is None:
        return "—"
    if unit == "share":
        return f"{value:.1%}"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.2f}" if abs(value) < 1000 else f"{value:,.0f}"


def value_cell(value: float | None, unit: str) -> Cell:
    return Cell(written(value, unit), "number", value)


def capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def number_cell(number: int) -> Cell:
    """Write a number with commas.

    >>> number_cell(1234).text
    '1,234'
    """
    return Cell(f"{number:,}", "number", number)


def printable(text: str) -> str:
    r"""Write a text on one line, with escapes for invisible and direction-changing characters.

    >>> printable("[\n\u202e]")
    '[\\n\\u202e]'
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def short(text: str) -> str:
    """Write a text so that all of it is visible, or its beginning if it is long."""
    shown = visible(text[: MAX_TEXT + 1], spaces=True)
    return shown if len(text) <= MAX_TEXT else f"{shown[:MAX_TEXT]}…"
