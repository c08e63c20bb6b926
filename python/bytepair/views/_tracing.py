"""A trace of a text to its tokens, as ``bytepair trace`` draws it.

Each merge is a line: the tokens of the piece after it, the merged pair, its rank and, if known,
how often the pair occurred in training. Then comes the tree of merges.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from textwrap import wrap

from bytepair._plurals import amount
from bytepair._results import abridged, as_html
from bytepair.analyze._trace import (
    Added,
    Known,
    Node,
    Piece,
    Segment,
    Step,
    Symbol,
    Trace,
)
from bytepair.analyze._why import Verdict, Why

from ._glyphs import fitted, hexadecimal, missing, token_text, visible, width
from ._layout import NO_ID, Line, Run
from ._svg import MAX_SYMBOLS, tree_svg
from ._terminal import plain

__all__ = ["Traced", "sentence", "trace_lines"]

LABEL_COLUMNS = 12
NEVER = 1 << 30
MIN_ROW, MAX_ROW = 20, 400
MAX_STEPS = 500
"""The largest number of merges of a piece that are drawn."""
NEW = 0
"""The colour of the token that a merge made."""


@dataclass(frozen=True, repr=False)
class Traced:
    """A trace of a text to its tokens: lines when printed, trees in a notebook.

    Attributes
    ----------
    trace
        The data: a :class:`bytepair.analyze.Trace`.
    """

    trace: Trace

    def __str__(self) -> str:
        return plain(trace_lines(self.trace))

    def __repr__(self) -> str:
        return abridged(str(self))

    def _repr_html_(self) -> str:
        if sum(len(piece.symbols) for piece in self.trace.pieces) > MAX_SYMBOLS:
            return as_html(str(self))
        return tree_svg(self.trace)

    def to_svg(self) -> str:
        """Draw the trees of merges as an SVG file.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> tokenizer.trace("low").to_svg().startswith("<svg")
        True
        """
        return tree_svg(self.trace)


def named(token: Known) -> str:
    """Write a token for a row of them."""
    if token.kind == "missing":
        return missing(token.name)
    return token_text(token.name)


def trace_lines(trace: Trace, columns: int | None = None) -> Iterator[Line]:
    """Draw all steps; lines have at most ``columns`` columns."""
    room = columns or NEVER
    yield from _head(trace, room)
    names = {id_: named(token) for id_, token in trace.known.items()}
    for number, part in enumerate(trace.flat, 1):
        if isinstance(part, Piece):
            yield []
            yield from _piece(trace, part, names, number, room)
    yield []
    tokens = [names[id_] for id_ in trace.ids]
    yield from _labelled("tokens", tokens, room, between=" ")
    ids = [NO_ID if id_ < 0 else str(id_) for id_ in trace.ids]
    yield from _labelled("ids", ids, room, between=" ")


def _labelled(
    label: str, words: Iterable[str], room: int, *, between: str = ""
) -> Iterator[Line]:
    """Draw words beside a label, in as many lines as they need."""
    lines: list[list[str]] = [[]]
    n_columns = LABEL_COLUMNS
    for word in words:
        n_more = width(word) + (len(between) if lines[-1] else 0)
        if lines[-1] and n_columns + n_more > room:
            lines.append([])
            n_columns, n_more = LABEL_COLUMNS, width(word)
        lines[-1].append(word)
        n_columns += n_more
    for number, line in enumerate(map(between.join, lines)):
        shown = fitted("" if number else label, LABEL_COLUMNS)
        yield [Run(shown, None, is_note=True), Run(line)]


def _words(text: str) -> list[str]:
    """Part a visible text behind its spaces and line ends.

    >>> _words("a·bc⏎d")
    ['a·', 'bc⏎', 'd']
    """
    return re.findall(r"[^·⏎]*[·⏎]|[^·⏎]+", text)


def _head(trace: Trace, room: int) -> Iterator[Line]:
    """Draw the steps before the merges."""
    yield from _labelled("text", _words(visible(trace.text, spaces=True)), room)
    for part in trace.parts:
        if isinstance(part, Added):
            yield _added(trace, part, "text")
        elif part.normalized != trace.text[part.start : part.end]:
            shown = _words(visible(part.normalized, spaces=True))
            yield from _labelled("normalized", shown or ['""'], room)
    for part in trace.parts:
        for inner in part.parts if isinstance(part, Segment) else ():
            if isinstance(inner, Added):
                yield _added(trace, inner, "normalized text")
    pieces = [f"[{visible(piece.text, spaces=True)}]" for piece in trace.pieces]
    yield from _labelled("pieces", pieces or ["none"], room)


def _added(trace: Trace, part: Added, where: str) -> Line:
    name = named(trace.known[part.id])
    return _beside("added token", f"{name} (id {part.id}), found in the {where}")


def _beside(label: str, text: str) -> Line:
    return [Run(fitted(label, LABEL_COLUMNS), None, is_note=True), Run(text)]


def _piece(
    trace: Trace, piece: Piece, names: dict[int, str], number: int, room: int
) -> Iterator[Line]:
    of = f"piece {number}"
    if piece.is_whole:
        yield _beside(of, visible(piece.text, spaces=True))
        [id_] = piece.ids
        text = f"the whole piece is the token {names[id_]} (id {id_}): no merge"
        yield _beside("", text)
        return
    yield from _rows(names, piece, of, room)
    for note in _strange(trace, piece):
        yield _beside("", note)
    if piece.steps:
        yield []
        yield from _tree(names, piece.tree)


def _rows(names: dict[int, str], piece: Piece, label: str, room: int) -> Iterator[Line]:
    """Draw the tokens of a piece before any merge, and after each merge beside the merge."""
    notes = _notes(names, piece.steps, is_aligned=True)
    n_note = max(map(width, notes), default=0)
    first, *others = islice(piece.rows(), MAX_STEPS + 1)
    n_row = min(sum(width(names[node.id]) + 1 for node in first), MAX_ROW)
    beside = room - LABEL_COLUMNS - n_note - 2
    is_beside = beside >= min(n_row, MIN_ROW)
    if not is_beside:
        notes = _notes(names, piece.steps, is_aligned=False)
    n_below = max(room - LABEL_COLUMNS, MIN_ROW)
    n_row = min(n_row, beside if is_beside else n_below)

    def place(number: int, drawn: list[Run], note: str) -> Iterator[Line]:
        head = Run(f"{number:>{LABEL_COLUMNS - 1}} ", None, is_note=True)
        gap = n_row - sum(width(run.text) for run in drawn) + 2
        if is_beside and LABEL_COLUMNS + n_row + 2 + width(note) <= room:
            yield [head, *drawn, Run(" " * gap), Run(note, None, is_note=True)]
            return
        yield [head, *drawn]
        for line in wrap(note, n_below):
            yield [Run(" " * LABEL_COLUMNS + line, None, is_note=True)]

    yield [
        Run(fitted(label, LABEL_COLUMNS), None, is_note=True),
        *_row(names, first, None, n_row),
    ]
    steps = zip(others, piece.steps, notes, strict=False)
    for number, (row, step, note) in enumerate(steps, 1):
        yield from place(number, _row(names, row, step, n_row), note)
    if len(notes) > MAX_STEPS:
        yield _beside("", f"… {amount(len(notes) - MAX_STEPS, 'more merge')}")


def _notes(
    names: dict[int, str], steps: Sequence[Step], *, is_aligned: bool
) -> list[str]:
    """Write the merged pair of each step, its rank and, if known, its count."""
    merges = [
        f"{names[step.left]} + {names[step.right]} → {names[step.token]}"
        for step in steps
    ]
    n_columns = max(map(width, merges), default=0)
    notes = []
    for step, merge in zip(steps, merges, strict=True):
        shown = fitted(merge, n_columns) if is_aligned else merge
        count = "" if step.count is None else f", count {step.count:,}"
        notes.append(f"{shown}  rank {step.rank:,}{count}")
    return notes


def _strange(trace: Trace, piece: Piece) -> Iterator[str]:
    """Name symbols that are not in the alphabet, and text that is left out."""
    place = 0
    for is_missing, symbols in groupby(piece.symbols, lambda symbol: symbol.id < 0):
        if is_missing:
            some = list(symbols)
            text = "".join(visible(trace.known[symbol.id].name) for symbol in some)
            yield f"{text}: not in the alphabet, so encode refuses the text"
            place = max(place, some[-1].end)
            continue
        for symbol in symbols:
            yield from _strange_symbol(trace, piece, symbol, place)
            place = max(place, symbol.end)
    if place < len(piece.text):
        yield f"{visible(piece.text[place:])}: left out, no token"


def _strange_symbol(
    trace: Trace, piece: Piece, symbol: Symbol, place: int
) -> Iterator[str]:
    """Name text that is left out before a symbol, and what the symbol stands for."""
    if symbol.start > place:
        yield f"{visible(piece.text[place : symbol.start])}: left out, no token"
    token = trace.known[symbol.id]
    text = visible(piece.text[symbol.start : symbol.end])
    if token.kind == "unknown":
        yield f"{text or '?'}: unknown, so {named(token)}"
    elif token.kind == "byte":
        yield f"{named(token)}: the byte {hexadecimal(token.content)} of a character outside the alphabet"


def _row(
    names: dict[int, str], row: Sequence[Node], step: Step | None, room: int
) -> list[Run]:
    """Draw the tokens of a piece, or only those around the new one if there is no room for all."""
    new = next((n for n, node in enumerate(row) if step and node.step is step), 0)
    first, last = _shown([width(names[node.id]) for node in row], new, room)
    runs = [Run("… ")] if first > 0 else []
    for number in range(first, last):
        colour = NEW if step is not None and number == new else None
        runs += [Run(names[row[number].id], colour), Run(" ")]
    if last < len(row):
        runs.append(Run("…"))
    elif runs:
        runs.pop()
    return runs


def _shown(widths: Sequence[int], new: int, room: int) -> tuple[int, int]:
    """Choose the tokens of a row that have room, equally many before and after a token.

    >>> _shown([1, 1, 1], 0, 5), _shown([1] * 9, 4, 11)
    ((0, 3), (2, 6))
    """
    if sum(widths) + len(widths) - 1 <= room:
        return 0, len(widths)
    first, last, n_used = new, new + 1, widths[new] + 4  # with … on both sides
    while True:
        grows_behind = last < len(widths) and (first == 0 or last - new <= new - first)
        added = widths[last] if grows_behind else widths[first - 1]
        n_used += added + 1
        if n_used > room:
            return first, last
        first, last = (first, last + 1) if grows_behind else (first - 1, last)


def _tree(names: dict[int, str], roots: Sequence[Node]) -> Iterator[Line]:
    """Draw trees of merges, each token above its parts."""
    indent = " " * LABEL_COLUMNS
    waiting = [(node, indent, "") for node in reversed(roots)]
    while waiting:
        node, before, branch = waiting.pop()
        rank = f"  rank {node.step.rank:,}" if node.step else ""
        yield [
            Run(before + branch, None, is_note=True),
            Run(names[node.id]),
            Run(rank, None, is_note=True),
        ]
        inner = before + {"": "", "├─ ": "│  ", "└─ ": "   "}[branch]
        branches = ["├─ "] * (len(node.parts) - 1) + ["└─ "]
        parts = zip(node.parts, branches, strict=False)
        waiting += [(part, inner, mark) for part, mark in reversed(list(parts))]


# Why a token is not there


def sentence(trace: Trace, answer: Why, asked: str, known: dict[int, Known]) -> str:
    """Explain why a token is there or not; ``known`` has tokens that the trace does not name."""
    names = {id_: named(token) for id_, token in {**trace.known, **known}.items()}
    token = (
        visible(asked)
        if answer.token is None
        else f"{names[answer.token]} (id {answer.token})"
    )
    where = "" if answer.piece is None else f" in piece {answer.piece + 1}"
    return f"{token}{where}: {_REASONS[answer.verdict](answer, names)}"


def _list(names: dict[int, str], ids: Sequence[int]) -> str:
    return " ".join(names[id_] for id_ in ids) or "nothing"


def _crossed(answer: Why, names: dict[int, str]) -> str:
    step, awaited = answer.step, answer.awaited
    if step is None:
        return ""
    merge = f"{names[step.left]} + {names[step.right]}"
    text = (
        f"merge {answer.number} joined {merge} (rank {step.rank:,}) across its border"
    )
    if awaited is not None:
        needed = f"{names[awaited.left]} + {names[awaited.right]}"
        text += f", before {needed} (rank {awaited.rank:,}), which it still needed"
    return f"{text}. In its place: {_list(names, answer.instead)}"


def _split(answer: Why, _names: dict[int, str]) -> str:
    one, other = (visible(part, spaces=True) for part in answer.parts)
    return f"the pattern cuts through it, between [{one}] and [{other}]"


def _normalized(answer: Why, _names: dict[int, str]) -> str:
    one, other = (visible(part, spaces=True) for part in answer.parts)
    return f"the text contains it, but is normalized from {one} to {other or 'nothing'}"


_REASONS: dict[Verdict, Callable[[Why, dict[int, str]], str]] = {
    "present": lambda _answer, _names: "it is there",
    "no_token": lambda _answer, _names: "not a token of this tokenizer",
    "crossed": _crossed,
    "no_merge": lambda answer, names: (
        f"no merge makes it; its symbols alone become {_list(names, answer.instead)}"
    ),
    "other_merges": lambda answer, names: (
        "merges that make it never come first: its symbols alone become "
        f"{_list(names, answer.instead)}"
    ),
    "whole_piece": lambda answer, names: (
        f"the whole piece is the token {_list(names, answer.instead)}, without merging"
    ),
    "split": _split,
    "marks": lambda _answer, _names: (
        "the text has these characters, but its marks do not fit: they say whether a token "
        "begins, continues or ends a piece"
    ),
    "units": lambda _answer, _names: (
        "its border is inside a symbol of the piece, or one of its characters is unknown or not in "
        "the alphabet"
    ),
    "not_found": lambda _answer, _names: (
        "an added token that was not looked for; special tokens are found only if allowed"
    ),
    "added": lambda answer, names: (
        f"an added token takes its place: {_list(names, answer.instead)}"
    ),
    "normalized": _normalized,
    "absent": lambda _answer, _names: "the text does not contain it",
}
