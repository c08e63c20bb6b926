"""The layout of the tokens of a text on a screen: aligned rows of several tokenizers.

Each character of the text has one column for all rows, as wide as the widest row needs. Rows that
need less are filled, inside a token with ``╌``. Lines are broken where all rows begin a token, if
there is such a place near the end. Takes time and memory linear in the text.

Many terminals reorder lines with right-to-left text, so that nothing below such a line would be in
its column. The notes of its tokens are therefore a list, with the text at the end of each line,
where it moves nothing else; and beside a character stands the number of its tokens instead of their
bytes, whose letters would separate the words.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bytepair.analyze._cuts import Cut, CutToken, Group, stretches

from ._glyphs import MISSING_BRACKETS, Glyph, bytes_of, fitted, glyphs, label, width

__all__ = [
    "LEFT_OUT",
    "MISSING",
    "N_COLOURS",
    "Line",
    "Options",
    "Run",
    "colours_of",
    "id_of",
    "lines_of",
]

FILLER = "╌"
OPENING, PART, CLOSING = "\u2039", "|", "\u203a"
"""The marks around the tokens of a group, and between two tokens."""
PIECE = "│"
N_COLOURS = 6
"""Colours for tokens that only some rows have, in turn; tokens of all rows take the next two."""
LEFT_OUT, MISSING = -1, -2
"""The colours of text without a token, and of tokens without an id."""
BRACKETS = ("[", "]")
NO_ID = "-"
"""Stands for the id of a token that has none."""
MIN_COLUMNS = 8
MAX_NOTE = 48
"""The width of the bytes of a token in a list."""
NEVER = 1 << 40


class Run(NamedTuple):
    """A run of text in one style.

    ``colour`` is the colour of a token, ``None`` outside tokens, :data:`LEFT_OUT` for text
    without a token, and :data:`MISSING` for tokens without an id; ``is_note`` is whether it is
    written small, like bytes and ids.
    """

    text: str
    colour: int | None = None
    is_note: bool = False


Line = list[Run]
"""One line of one row."""


@dataclass(frozen=True)
class Options:
    """Drawing options, and the largest width of a line."""

    spaces: bool = False
    pieces: bool = False
    ids: bool = False
    bytes: bool = False
    brackets: bool = True
    columns: int | None = None


@dataclass(slots=True)
class Cell:
    """The content of a row in a column; empty without a text."""

    text: str | None = None
    before: str = ""
    after: str = ""
    colour: int | None = None
    is_inside: bool = False  # a token that began before continues here
    is_open: bool = False  # and continues after it
    is_note: bool = False


@dataclass(slots=True)
class Column:
    """A character, or a part of the notes after one, in all rows."""

    cells: list[Cell]
    is_line_end: bool = False
    is_listed: bool = False  # its line has right-to-left text
    before: int = 0
    n_columns: int = 0


class Unit(NamedTuple):
    """The columns of a token in a row, and the notes below it.

    ``part`` is its number in a group of several tokens, as in ``1/2``.
    """

    row: int
    first: int
    last: int
    notes: list[str]
    part: str = ""


def lines_of(cuts: Sequence[Cut], options: Options) -> Iterator[list[list[Line]]]:
    """Lay out cuts of one text.

    Gives the rows of each line of the screen in order; a row is one line for the tokens, and
    one for each kind of note, or a list of the notes.
    """
    columns, units = Grid(cuts, options).filled()
    ends = _widened(columns, [u for u in units if not columns[u.last].is_listed])
    room = max(options.columns or NEVER, MIN_COLUMNS)
    bounds = list(_broken(columns, ends, room))
    notes = _placed(units, bounds, ends)
    n_notes = options.bytes + options.ids
    for line, (first, last) in enumerate(bounds):
        rows = []
        for row in range(len(cuts)):
            drawn = [_drawn(columns[first:last], row)]
            here = notes.get((line, row), [])
            if n_notes and columns[first].is_listed:
                drawn += _listed(here, columns, room)
            else:
                drawn += [_below(here, kind) for kind in range(n_notes)]
            rows.append(drawn)
        yield rows


class Grid:
    """The columns of a text, filled from left to right."""

    def __init__(self, cuts: Sequence[Cut], options: Options) -> None:
        self.options = options
        self.n_rows, self.text = len(cuts), cuts[0].text
        self.is_compact = len(cuts) > 1 and not (options.ids or options.bytes)
        self.glyphs = list(glyphs(cuts[0].text, spaces=options.spaces))
        self.listed = _with_right_to_left(self.glyphs)
        self.is_listed = False  # the line of the current character
        self.columns: list[Column] = []
        self.units: list[Unit] = []
        colours = colours_of(cuts)
        self.groups = [
            list(zip(found.groups, own, strict=True))
            for found, own in zip(cuts, colours, strict=True)
        ]
        self.next = [0] * self.n_rows  # by row: the group that comes next
        self.open: list[tuple[Group, int] | None] = [None] * self.n_rows
        self.first = [0] * self.n_rows  # by row: where the open group began

    def filled(self) -> tuple[list[Column], list[Unit]]:
        """Fill in all characters."""
        for glyph, is_listed in zip(self.glyphs, self.listed, strict=True):
            self.is_listed = is_listed
            self._put_in(glyph.start)
            self._add_character(glyph)
            self._add_labels(glyph.end)
            self.columns[-1].is_line_end = glyph.text == "⏎"
        self._put_in(len(self.glyphs) and self.glyphs[-1].end)
        return self.columns, self.units

    def _coming(self, row: int) -> Group | None:
        number = self.next[row]
        return self.groups[row][number][0] if number < len(self.groups[row]) else None

    def _column(self) -> Column:
        """Begin an empty column."""
        is_open = [group is not None for group in self.open]
        colours = [group and group[1] for group in self.open]
        cells = [
            Cell(colour=colour, is_inside=inside, is_open=inside)
            for colour, inside in zip(colours, is_open, strict=True)
        ]
        self.columns.append(Column(cells, is_listed=self.is_listed))
        return self.columns[-1]

    def _begin(self, row: int, cell: Cell) -> None:
        """Begin the next group of a row in a cell."""
        group, colour = self.groups[row][self.next[row]]
        is_later = self.next[row] > 0
        self.next[row] += 1
        self.open[row] = (group, colour)
        self.first[row] = len(self.columns) - 1
        cell.colour, cell.is_open = colour, True
        mark = PIECE if self.options.pieces and group.begins_piece and is_later else ""
        cell.before = mark + self._opening(row)

    def _end(self, row: int, cell: Cell) -> None:
        """End the open group of a row in a cell."""
        cell.is_open = False
        cell.after += self._closing(row)
        self.open[row] = None

    def _opening(self, row: int) -> str:
        """Give the bracket before the group of a row that begins."""
        place = self.next[row] - 1
        if self._is_joined(row, place - 1):
            return ""
        return self._brackets(self.groups[row][place][0])[0]

    def _closing(self, row: int) -> str:
        """Give the bracket behind the group of a row that ends."""
        place = self.next[row] - 1
        if self._is_joined(row, place):
            return ""
        return self._brackets(self.groups[row][place][0])[1]

    def _brackets(self, group: Group) -> tuple[str, str]:
        if not (self.options.brackets and group.tokens):
            return ("", "")
        if group.is_missing:  # without text, its label has them
            return MISSING_BRACKETS if group.start < group.end else ("", "")
        return BRACKETS

    def _is_joined(self, row: int, place: int) -> bool:
        """Tell whether a group and the next are missing characters that share their brackets."""
        if self.options.ids or self.options.bytes:
            return False  # each has notes
        if place < 0:
            return False
        pair = [group for group, _colour in self.groups[row][place : place + 2]]
        is_missing = all(g.is_missing and g.start < g.end for g in pair)
        return len(pair) == 2 and is_missing and not pair[1].begins_piece

    def _put_in(self, place: int) -> None:
        """Add the tokens without text before a place."""

        def waits(row: int) -> bool:
            group = self._coming(row)
            return group is not None and group.start == group.end == place

        while waiting := [row for row in range(self.n_rows) if waits(row)]:
            column = self._column()
            for row in waiting:
                cell = column.cells[row]
                self._begin(row, cell)
                tokens = self.groups[row][self.next[row] - 1][0].tokens
                cell.text, cell.is_note = label(tokens[0]), True
                self._write_below(row, tokens[:1])
                self._end(row, cell)

    def _add_character(self, glyph: Glyph) -> None:
        column = self._column()
        for row, cell in enumerate(column.cells):
            coming = self._coming(row)
            if self.open[row] is None and coming and coming.start == glyph.start:
                self._begin(row, cell)
            cell.text = glyph.text
            group, _colour = self.open[row] or (None, 0)
            if group is None or group.end > glyph.end or _has_labels(group):
                continue
            if group.tokens:
                self._write_below(row, group.tokens)
            self._end(row, cell)

    def _add_labels(self, place: int) -> None:
        """Add the tokens of groups of several that end at a place."""
        ending = {
            row: found[0]
            for row, found in enumerate(self.open)
            if found is not None and found[0].end == place
        }
        if self.is_compact or self.is_listed:
            self._add_numbers(ending)
            return
        most = max((len(group.tokens) for group in ending.values()), default=0)
        for number in range(most):
            column = self._column()
            for row, group in ending.items():
                if number >= len(group.tokens):
                    continue
                cell, token = column.cells[row], group.tokens[number]
                is_last = number + 1 == len(group.tokens)
                before = PART if number else OPENING
                cell.text = before + label(token) + CLOSING * is_last
                cell.is_note = True
                self.first[row] = len(self.columns) - 1
                self._write_below(row, (token,))
                if is_last:
                    self._end(row, cell)

    def _add_numbers(self, ending: dict[int, Group]) -> None:
        """Write the number of tokens of each group."""
        column = self._column() if ending else None
        for row, group in ending.items():
            if column is not None:
                cell = column.cells[row]
                most = len(group.tokens)
                cell.text = f"{OPENING}{most}{CLOSING}"
                cell.is_note = True
                for number, token in enumerate(group.tokens, 1):
                    self._write_below(row, (token,), f"{number}/{most}")
                self._end(row, cell)

    def _write_below(
        self, row: int, tokens: Sequence[CutToken], part: str = ""
    ) -> None:
        """Write the notes below a token, or missing characters, that end in the last column."""
        notes = []
        if self.options.bytes:
            notes.append(" ".join(bytes_of(token, self.text) for token in tokens))
        if self.options.ids:
            notes.append(id_of(tokens[0]))
        first, last = self.first[row], len(self.columns) - 1
        while notes and first < last and not self.columns[first].is_line_end:
            first += 1  # text after a line end goes to the next line
        if notes:
            self.units.append(Unit(row, self.first[row], first, notes, part))


def _with_right_to_left(found: Sequence[Glyph]) -> list[bool]:
    """Tell for each character whether its line has right-to-left text."""
    flags: list[bool] = []
    first, has_any = 0, False
    for number, glyph in enumerate(found, 1):
        has_any = has_any or is_right_to_left(glyph.text)
        if glyph.text == "⏎" or number == len(found):
            flags += [has_any] * (number - first)
            first, has_any = number, False
    return flags


def is_right_to_left(text: str) -> bool:
    """Tell whether a text has letters that are written from right to left.

    >>> is_right_to_left("abc 123"), is_right_to_left("سلام"), is_right_to_left("שלום")
    (False, True, True)
    """
    return not text.isascii() and any(
        unicodedata.bidirectional(character) in ("R", "AL") for character in text
    )


def _has_labels(group: Group) -> bool:
    """Tell whether the tokens of a group are named after its text."""
    return len(group.tokens) > 1 and not group.is_missing


def id_of(token: CutToken) -> str:
    """Write the id of a token."""
    return NO_ID if token.kind == "missing" else str(token.id)


def colours_of(cuts: Sequence[Cut]) -> list[list[int]]:
    """Choose the colours of groups: with several rows, groups that all rows have are pale."""
    if len(cuts) == 1:
        return [_in_turn(cuts[0].groups)]
    found = stretches(cuts)
    shared = {start for start, _end, is_shared in found if is_shared}
    number_of = {start: number for number, (start, _end, _) in enumerate(found)}
    rows = []
    for one in cuts:
        row: list[int] = []
        for group in one.groups:
            number = number_of.get(group.start, 0)
            is_shared = group.start in shared and bool(group.tokens)
            colour = N_COLOURS + number % 2 if is_shared else number % N_COLOURS
            if row and row[-1] == colour:
                is_pale = colour >= N_COLOURS
                colour = (
                    2 * N_COLOURS + 1 - colour if is_pale else (colour + 1) % N_COLOURS
                )
            row.append(_own_colour(group, colour))
        rows.append(row)
    return rows


def _in_turn(groups: Sequence[Group]) -> list[int]:
    return [
        _own_colour(group, number % N_COLOURS) for number, group in enumerate(groups)
    ]


def _own_colour(group: Group, colour: int) -> int:
    """Give the colour of a group whose tokens would have this one."""
    if not group.tokens:
        return LEFT_OUT
    return MISSING if group.is_missing else colour


def _widened(columns: list[Column], units: list[Unit]) -> list[int]:
    """Make columns as wide as their cells and notes need; give the end of each."""
    units_at: dict[int, list[Unit]] = {}
    for unit in units:
        units_at.setdefault(unit.last, []).append(unit)
    ends: list[int] = []
    for number, column in enumerate(columns):
        cells = column.cells
        column.before = max(len(cell.before) for cell in cells)
        behind = max(width(cell.text or "") + len(cell.after) for cell in cells)
        column.n_columns = column.before + behind
        start = ends[-1] if ends else 0
        for unit in units_at.get(number, ()):
            first = ends[unit.first - 1] if unit.first else 0
            needed = max(map(len, unit.notes)) + 1
            column.n_columns = max(column.n_columns, first + needed - start)
        ends.append(start + column.n_columns)
    return ends


def _broken(
    columns: list[Column], ends: list[int], room: int
) -> Iterator[tuple[int, int]]:
    """Give the columns of each line of the screen, as a range."""
    first, good = 0, 0
    for number, column in enumerate(columns):
        start = ends[first - 1] if first else 0
        begins = not any(cell.is_inside for cell in column.cells)
        if begins and number:
            good = number
        if ends[number] - start > room and number > first:
            reaches = ends[good - 1] - start if good > first else 0
            end = good if 2 * reaches > room else number
            yield first, end
            first = end
        if column.is_line_end:
            yield first, number + 1
            first = number + 1
    if first < len(columns):
        yield first, len(columns)


class Note(NamedTuple):
    """The notes of a token, and the range of their columns in the line."""

    begin: int
    end: int
    unit: Unit


def _placed(
    units: list[Unit], bounds: list[tuple[int, int]], ends: list[int]
) -> dict[tuple[int, int], list[Note]]:
    """Put each note into the line with most of its token, by line and row."""
    line_of = [
        line for line, (first, last) in enumerate(bounds) for _ in range(first, last)
    ]
    starts = [0, *ends]
    found: dict[tuple[int, int], list[Note]] = {}
    for unit in units:
        row, first, last = unit[:3]
        options = []
        for line in range(line_of[first], line_of[last] + 1):
            line_first, line_last = bounds[line]
            here = starts[line_first]
            begin = starts[max(first, line_first)] - here
            end = starts[min(last + 1, line_last)] - here
            options.append((begin - end, line, begin, end))
        _size, line, begin, end = min(options)
        found.setdefault((line, row), []).append(Note(begin, end, unit))
    return found


def _drawn(columns: Sequence[Column], row: int) -> Line:
    """Draw the tokens of a row in a line."""
    line: Line = []
    for column in columns:
        cell = column.cells[row]
        inside = (FILLER, cell.colour) if cell.is_inside else (" ", None)
        if cell.text is None:
            _add(line, inside[0] * column.n_columns, inside[1])
            continue
        _add(line, inside[0] * (column.before - len(cell.before)), inside[1])
        mark = PIECE if cell.before.startswith(PIECE) else ""
        _add(line, mark, None)
        _add(line, cell.before[len(mark) :], cell.colour)
        _add(line, cell.text, cell.colour, is_note=cell.is_note)
        _add(line, cell.after, cell.colour)
        n_used = column.before + width(cell.text) + len(cell.after)
        behind = (FILLER, cell.colour) if cell.is_open else (" ", None)
        _add(line, behind[0] * (column.n_columns - n_used), behind[1])
    if line and line[-1].colour is None:
        line[-1] = line[-1]._replace(text=line[-1].text.rstrip())
    return line


def _add(line: Line, text: str, colour: int | None, *, is_note: bool = False) -> None:
    """Append a text to a line, joined to the last run if the style is the same."""
    if line and line[-1].colour == colour and line[-1].is_note == is_note:
        line[-1] = Run(line[-1].text + text, colour, is_note)
    elif text:
        line.append(Run(text, colour, is_note))


def _below(notes: list[Note], kind: int) -> Line:
    """Draw the notes of one kind below a row."""
    text = ""
    for begin, end, unit in notes:
        text += " " * (begin - len(text))
        text += fitted(unit.notes[kind], max(end - begin - 1, 1))
    return [Run(text.rstrip(), None, is_note=True)]


def _listed(notes: list[Note], columns: Sequence[Column], room: int) -> Iterator[Line]:
    """Write the notes of a row as a list, each with its token."""
    rows = [[*reversed(note.unit.notes), note.unit.part] for note in notes]
    widths = [max(map(len, texts)) for texts in zip(*rows, strict=True)]
    widths = [min(n_columns, MAX_NOTE, max(room // 2, 1)) for n_columns in widths]
    for note, texts in zip(notes, rows, strict=True):
        shown = [
            fitted(text, n_columns)
            for text, n_columns in zip(texts, widths, strict=True)
            if n_columns
        ]
        yield [
            Run(f"  {'  '.join(shown)}  ", None, is_note=True),
            *_token(note, columns),
        ]


def _token(note: Note, columns: Sequence[Column]) -> Line:
    """Draw a token alone, or the characters of its group."""
    row, first, last, _notes, part = note.unit
    line: Line = []
    for column in columns[first : last + 1]:
        cell = column.cells[row]
        text = "" if cell.is_note and part else cell.text or ""
        _add(line, cell.before.lstrip(PIECE) + text + cell.after, cell.colour)
    return line
