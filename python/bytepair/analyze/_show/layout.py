"""The tokens of a text as lines of runs: rows of several tokenizers, aligned where all of them cut.

In a terminal, lines are broken where all rows begin a token, and ids and bytes are below their token.
Many terminals reorder lines with right-to-left text, so that nothing below such a line would be in its
column. For a text with such letters, ids and bytes are therefore a list, and each character that several
tokens share has their number beside it instead of their bytes, whose letters would separate the words. Takes
time and memory linear in the text.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TypeVar

from bytepair.views._glyphs import (
    MISSING_BRACKETS,
    hexadecimal,
    missing,
    visible,
    width,
)
from bytepair.views._runs import HUES, Line, Run, html

from .cuts import Cut, CutToken, Group

__all__ = ["Options", "cuts_html", "lines_of"]

BRACKETS = ("[", "]")
NO_BRACKETS = ("", "")
OPENING, PART, CLOSING = "\u2039", "|", "\u203a"
"""The marks around the tokens of a group, and between two tokens."""
PIECE = "│"
NO_ID = "-"
"""Drawn for a token without an id."""
NEVER = 1 << 40


@dataclass(frozen=True)
class Options:
    """Drawing options, and the largest width of a line."""

    spaces: bool = False
    pieces: bool = False
    ids: bool = False
    bytes: bool = False
    brackets: bool = True
    columns: int | None = None

    @property
    def has_notes(self) -> bool:
        """Whether ids or bytes are drawn."""
        return self.ids or self.bytes


@dataclass(frozen=True)
class Box:
    """A group of tokens, or its part up to a line end, with its bytes and ids, and its total width."""

    runs: Line
    notes: Sequence[str]
    n_columns: int

    @property
    def ends_line(self) -> bool:
        """Whether it has a line end."""
        return any("⏎" in run.text for run in self.runs)


@dataclass(frozen=True)
class Cell:
    """The boxes of all rows between two places where all rows cut."""

    rows: Sequence[Sequence[Box]]

    @property
    def n_columns(self) -> int:
        """The width of the widest row."""
        return max(sum(box.n_columns for box in row) for row in self.rows)

    @property
    def ends_line(self) -> bool:
        """Whether it has a line end."""
        return any(box.ends_line for row in self.rows for box in row)


Packable = TypeVar("Packable", Box, Cell)


def lines_of(cuts: Sequence[Cut], options: Options) -> Iterator[list[list[Line]]]:
    """Lay out cuts of one text for a terminal.

    Yield the rows of each line of the screen, in order. A row is a line with the tokens, and a line for
    each kind of note or a list of the notes.
    """
    room = options.columns or NEVER
    is_listed = options.has_notes and _has_right_to_left(cuts[0].text)
    for cells in _packed(_cells(cuts, options, room), room):
        rows = [[cell.rows[row] for cell in cells] for row in range(len(cuts))]
        if is_listed:
            yield [_listed([box for boxes in row for box in boxes]) for row in rows]
        else:
            yield [_aligned(row, cells) for row in rows]


def cuts_html(cuts: Sequence[Cut], options: Options) -> list[str]:
    """Draw cuts of one text as HTML; pointing at a token shows its id and bytes.

    >>> import bytepair
    >>> from bytepair.analyze import cut
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> [fragment] = cuts_html([cut(tokenizer, "<low>")], Options())
    >>> fragment.count("title="), "&lt;" in fragment, "<low>" in fragment
    (3, True, False)
    """
    rows = _rows(cuts, replace(options, brackets=False))
    return [html(_inline(box for boxes in row for box in boxes)) for row in rows]


def _inline(boxes: Iterable[Box]) -> Iterator[Line]:
    """Write the notes of each box after its tokens."""
    line: Line = []
    for box in boxes:
        style = f"{box.runs[-1].style} part"
        line += [*box.runs, *(Run(f" {note} ", style) for note in box.notes if note)]
        if box.ends_line:
            yield line
            line = []
    if line:
        yield line


# Boxes


def _rows(cuts: Sequence[Cut], options: Options) -> list[list[list[Box]]]:
    """Return the boxes of each group of each cut; groups that all of several cuts share are pale."""
    shared: set[tuple[int, ...]] = set()
    if len(cuts) > 1:
        shared = set.intersection(*(set(map(_borders, cut.groups)) for cut in cuts))
    rows = []
    for cut in cuts:
        is_right_to_left = _has_right_to_left(cut.text)
        is_compact = is_right_to_left or (len(cuts) > 1 and not options.has_notes)
        drawer = Drawer(cut, options, is_compact, not is_right_to_left)
        rows.append(
            [
                drawer.boxes(number, is_shared=_borders(group) in shared)
                for number, group in enumerate(cut.groups)
            ]
        )
    return rows


def _borders(group: Group) -> tuple[int, ...]:
    """Return the span of a group, and its tokens without their ids."""
    inner = [
        place
        for token in group.tokens
        for place in (token.start, token.end, token.kind == "missing")
    ]
    return (group.start, group.end, *inner)


@dataclass(frozen=True)
class Drawer:
    """Draws the groups of a cut.

    ``is_compact`` writes the number of tokens of a group instead of their bytes, and
    ``is_above`` makes a box as wide as its notes.
    """

    cut: Cut
    options: Options
    is_compact: bool
    is_above: bool

    def boxes(self, number: int, *, is_shared: bool) -> list[Box]:
        """Draw a group, with a box for each of its lines."""
        group = self.cut.groups[number]
        text = visible(
            self.cut.text[group.start : group.end], spaces=self.options.spaces
        )
        lines = re.findall(r"[^⏎]*⏎|[^⏎]+", text or self._labels(group))
        style = _style(group, number, is_shared=is_shared)
        title = "\n".join(_title(token, self.cut.text) for token in group.tokens)
        opening, closing = self._brackets(number)
        small = self._small(group)
        boxes = []
        for place, line in enumerate(lines):
            runs = [Run(opening + line, style, title)]
            if place == 0 and number and self.options.pieces and group.begins_piece:
                runs.insert(0, Run(PIECE))
            if place == len(lines) - 1:
                runs += [Run(small, f"{style} part"), Run(closing, style)]
            boxes.append(
                self._box([run for run in runs if run.text], group, is_first=place == 0)
            )
            opening = ""
        return boxes

    def _box(self, runs: Line, group: Group, *, is_first: bool) -> Box:
        notes = []
        if self.options.bytes:
            notes.append(
                PART.join(bytes_of(token, self.cut.text) for token in group.tokens)
            )
        if self.options.ids:
            notes.append(PART.join(map(_id, group.tokens)))
        notes = notes if is_first else [""] * len(notes)
        n_columns = sum(width(run.text) for run in runs)
        if self.is_above:
            n_columns = max([n_columns, *(len(note) + 1 for note in notes if note)])
        return Box(runs, notes, n_columns)

    def _labels(self, group: Group) -> str:
        return PART.join(map(label, group.tokens))

    def _small(self, group: Group) -> str:
        """Name the tokens of a character that has several."""
        if group.start == group.end or len(group.tokens) < 2 or group.is_missing:
            return ""
        shown = len(group.tokens) if self.is_compact else self._labels(group)
        return f"{OPENING}{shown}{CLOSING}"

    def _brackets(self, number: int) -> tuple[str, str]:
        """Return the brackets of a group; neighbours without a token share theirs."""
        group = self.cut.groups[number]
        if not (self.options.brackets and group.tokens):
            return NO_BRACKETS
        if not group.is_missing:
            return BRACKETS
        if group.start == group.end:  # its label has brackets
            return NO_BRACKETS
        opening, closing = MISSING_BRACKETS
        is_joined = self._joins(number - 1), self._joins(number)
        return opening * (not is_joined[0]), closing * (not is_joined[1])

    def _joins(self, number: int) -> bool:
        """Whether a group and the next are missing characters of one piece, without notes."""
        pair = self.cut.groups[max(number, 0) : number + 2]
        is_missing = all(group.is_missing and group.start < group.end for group in pair)
        is_pair = len(pair) == 2 and not pair[1].begins_piece
        return is_pair and is_missing and not self.options.has_notes


def _style(group: Group, number: int, *, is_shared: bool) -> str:
    if not group.tokens:
        return "out"
    has_text = group.start < group.end
    if group.is_missing:
        return "missing" if has_text else "none missing"
    style = f"s{number % 2}" if is_shared else f"c{number % len(HUES)}"
    return style if has_text else f"{style} none"


def _id(token: CutToken) -> str:
    return NO_ID if token.kind == "missing" else str(token.id)


def _title(token: CutToken, text: bytes) -> str:
    """Describe a token in one line."""
    content = bytes_of(token, text)
    content = f" ({content})" if content else ""
    if token.kind == "missing":
        return f"{visible(token.written)}: not in the alphabet, no id{content}"
    kind = "" if token.kind == "text" else f", {token.kind}"
    is_readable = token.content.decode(errors="replace") in token.written
    name = visible(token.written) if is_readable else label(token)
    return f"{token.id}: {name}{kind}" + (content if content != f" ({name})" else "")


def _has_right_to_left(text: bytes) -> bool:
    """Whether a text has letters that are written from right to left.

    >>> [_has_right_to_left(text.encode()) for text in ("abc 1", "سلام", "שלום")]
    [False, True, True]
    """
    return not text.isascii() and any(
        unicodedata.bidirectional(character) in ("R", "AL")
        for character in text.decode(errors="ignore")
    )


# Lines of a terminal


def _cells(cuts: Sequence[Cut], options: Options, room: int) -> Iterator[Cell]:
    """Divide rows at the places where all of them cut, at line ends, and where there is no room."""
    borders = ({p for g in cut.groups for p in (g.start, g.end)} for cut in cuts)
    shared = sorted(set.intersection(*borders))
    cells: dict[tuple[int, bool], list[list[Box]]] = {}
    for row, (cut, drawn) in enumerate(zip(cuts, _rows(cuts, options), strict=True)):
        for group, boxes in zip(cut.groups, drawn, strict=True):
            place = shared[bisect_right(shared, group.start) - 1]
            has_text = group.end > place
            cell = cells.setdefault((place, has_text), [[] for _cut in cuts])
            cell[row] += boxes
    for _place, rows in sorted(cells.items()):
        for lines in _side_by_side(rows, NEVER):
            yield from map(Cell, _side_by_side(lines, room))


def _side_by_side(
    rows: Iterable[Sequence[Box]], room: int
) -> Iterator[tuple[list[Box], ...]]:
    """Divide each row into lines."""
    return zip_longest(*(_packed(row, room) for row in rows), fillvalue=[])


def _packed(parts: Iterable[Packable], room: int) -> Iterator[list[Packable]]:
    """Group parts into lines, which end where there is no room or where a part ends its line."""
    line: list[Packable] = []
    n_used = 0
    for part in parts:
        n_columns = part.n_columns
        if line and n_used + n_columns > room:
            yield line
            line, n_used = [], 0
        line.append(part)
        n_used += n_columns
        if part.ends_line:
            yield line
            line, n_used = [], 0
    if line:
        yield line


def _aligned(row: Sequence[Sequence[Box]], cells: Sequence[Cell]) -> list[Line]:
    """Draw the boxes of a row, with their notes below them."""
    n_notes = max((len(box.notes) for boxes in row for box in boxes), default=0)
    line: Line = []
    below = [""] * n_notes
    for boxes, cell in zip(row, cells, strict=True):
        n_left = cell.n_columns
        for box in boxes:
            n_drawn = sum(width(run.text) for run in box.runs)
            line += [*box.runs, Run(" " * (box.n_columns - n_drawn))]
            notes = zip(below, box.notes, strict=True)
            below = [text + f"{note:<{box.n_columns}}" for text, note in notes]
            n_left -= box.n_columns
        line.append(Run(" " * n_left))
        below = [text + " " * n_left for text in below]
    return [line, *([Run(text, "note")] for text in below)]


def _listed(boxes: Sequence[Box]) -> list[Line]:
    """Draw the boxes of a row, and a list of their notes, each with its tokens."""
    rows = [(box.notes[::-1], box.runs) for box in boxes if any(box.notes)]
    widths = [
        max(map(len, notes))
        for notes in zip(*(notes for notes, _ in rows), strict=True)
    ]
    lines: list[Line] = [[run for box in boxes for run in box.runs]]
    for notes, runs in rows:
        both = zip(notes, widths, strict=True)
        shown = "  ".join(f"{note:<{n_columns}}" for note, n_columns in both)
        lines.append([Run(f"  {shown}  ", "note"), *runs])
    return lines


def label(token: CutToken) -> str:
    r"""Name a token that is part of a character: by its text or, without text, by its bytes.

    >>> parts = [
    ...     CutToken(7, 0, 1, 0, "text", content, "") for content in (b"\xc3", b"f")
    ... ]
    >>> [label(part) for part in parts]
    ['c3', 'f']
    >>> label(CutToken(-1, 0, 2, 0, "missing", b"\xc3\xa9", ""))
    '{é}'
    """
    if token.kind == "missing":
        return missing(token.content or token.written)
    if token.kind in ("unknown", "added"):
        return visible(token.content)
    try:
        text = token.content.decode()
    except UnicodeDecodeError:
        text = ""
    if token.kind == "byte" or not text:
        return hexadecimal(token.content) if token.content else visible(token.written)
    return visible(text, spaces=True)


def bytes_of(token: CutToken, text: bytes) -> str:
    r"""Write the bytes of a token; for an unknown token, those of the text that it stands for.

    >>> bytes_of(CutToken(0, 1, 3, 0, "unknown", b"<unk>", "<unk>"), b"a\xc3\xa9")
    'c3 a9'
    """
    is_unknown = token.kind == "unknown"
    return hexadecimal(text[token.start : token.end] if is_unknown else token.content)
