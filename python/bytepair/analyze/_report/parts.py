"""The parts of the report page: sections of cards, tables, charts and samples.

The template writes these; the other modules of this package fill them in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from bytepair.analyze._stats.draw import shown
from bytepair.views._glyphs import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from bytepair.analyze._stats.stats import StatsRow

__all__ = [
    "Card",
    "Cell",
    "Chart",
    "Page",
    "Section",
    "Table",
    "capital",
    "metric_card",
    "number",
    "short",
]

MAX_TEXT = 36
"""The number of characters of a token that are written."""


class Cell(NamedTuple):
    """A cell of a table.

    A number has a ``value``, by which its column is sorted, and may have a bar that fills a
    ``share`` of its width. ``aside`` is small text beside a number; without a number, a click on
    the text shows it. ``kind`` is ``token``, ``best``, or ``heading`` for the only cell of a row.
    """

    text: str
    value: float | None = None
    share: float | None = None
    aside: str = ""
    kind: str = ""


class Table(NamedTuple):
    """Rows of cells below the titles of columns.

    In a table of tokenizers, all columns after the first are tokenizers. ``series`` is the
    number of the only tokenizer that a table is about. A folded table has a ``level``, and may have the
    ``code`` of the page that explains it.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    is_of_tokenizers: bool = True
    is_sortable: bool = True
    series: int | None = None
    level: str = ""
    code: str = ""


class Chart(NamedTuple):
    """A drawing with its title, its description and the names of its lines."""

    title: str
    note: str
    drawing: Markup
    names: Sequence[str]


class Page(NamedTuple):
    """The page of a code, with its blocks: names of HTML elements, and their content."""

    code: str
    title: str
    blocks: Sequence[tuple[str, Markup]]


class Card(NamedTuple):
    """A number or a text for each tokenizer."""

    title: str
    values: Sequence[str]
    note: str


@dataclass
class Section:
    """A section of the page; each sample is a title with counts and HTML by tokenizer.

    ``lead`` has sentences that come first.
    """

    id: str
    title: str
    notes: Sequence[str] = ()
    cards: Sequence[Card] = ()
    charts: Sequence[Chart] = ()
    tables: Sequence[Table] = ()
    samples: Sequence[tuple[str, Sequence[tuple[str, Markup]]]] = ()
    lead: Sequence[str] = ()
    pages: Sequence[Page] = ()


def metric_card(row: StatsRow) -> Card:
    """Return a card with a metric of all texts."""
    metric = row.metric
    values = [shown(value, metric.unit) for value in row.values]
    return Card(capital(metric.title), values, metric.formula)


def capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def number(value: int) -> Cell:
    """Return a cell with a number, written with commas.

    >>> number(1234).text
    '1,234'
    """
    return Cell(f"{value:,}", value)


def short(text: str) -> str:
    """Write a text so that all of it is visible, or its beginning if it is long."""
    written = visible(text[: MAX_TEXT + 1], spaces=True)
    return written if len(text) <= MAX_TEXT else f"{written[:MAX_TEXT]}…"
