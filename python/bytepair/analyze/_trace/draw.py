"""A trace of a text to its tokens, as ``bytepair trace`` draws it.

Each merge is a line: the tokens of the piece after it, the merged pair, its rank and, if known,
how often the pair occurred in training. The tree of merges follows.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from bytepair._plurals import amount
from bytepair.views._glyphs import (
    fitted,
    hexadecimal,
    missing,
    token_text,
    visible,
    width,
)
from bytepair.views._runs import Line, Run, folded, words

from .trace import Added, Known, Node, Piece, Segment, Step, Trace
from .why import Verdict, Why

__all__ = ["folded_lines", "sentence", "trace_lines"]

INDENT = 12
"""The width of labels."""
MAX_ROW = 40
"""The width of the tokens of a piece beside a merge."""
MAX_STEPS = 500
"""The largest number of merges of a piece that are drawn."""
NEW = "c0"
"""The style of the token that a merge made."""

Names = dict[int, str]


def named(token: Known) -> str:
    """Write a token for a row of tokens."""
    if token.kind == "missing":
        return missing(token.name)
    return token_text(token.name)


def trace_lines(trace: Trace) -> Iterator[Line]:
    """Draw all steps from the text to its tokens."""
    yield from _head(trace)
    names = {id_: named(token) for id_, token in trace.known.items()}
    for number, part in enumerate(trace.flat, 1):
        if isinstance(part, Piece):
            yield []
            yield from _piece(trace, part, names, f"piece {number}")
    yield []
    yield [_label("tokens"), *(Run(f"{names[id_]} ") for id_ in trace.ids)]
    ids = ("-" if id_ < 0 else id_ for id_ in trace.ids)
    yield [_label("ids"), *(Run(f"{id_} ") for id_ in ids)]


def _label(text: str) -> Run:
    return Run(fitted(text, INDENT), "note")


def _labelled(label: str, text: str) -> Line:
    return [_label(label), *words(text)]


def _head(trace: Trace) -> Iterator[Line]:
    """Draw the steps before the merges."""
    yield _labelled("text", visible(trace.text, spaces=True))
    for part in trace.parts:
        if isinstance(part, Added):
            yield _added(trace, part, "text")
        elif part.normalized != trace.text[part.start : part.end]:
            shown = visible(part.normalized, spaces=True)
            yield _labelled("normalized", shown or '""')
    for part in trace.parts:
        for inner in part.parts if isinstance(part, Segment) else ():
            if isinstance(inner, Added):
                yield _added(trace, inner, "normalized text")
    pieces = [f"[{visible(piece.text, spaces=True)}]" for piece in trace.pieces]
    yield [_label("pieces"), *map(Run, pieces or ["none"])]


def _added(trace: Trace, part: Added, where: str) -> Line:
    name = named(trace.known[part.id])
    return _labelled("added token", f"{name} (id {part.id}), found in the {where}")


def _piece(trace: Trace, piece: Piece, names: Names, label: str) -> Iterator[Line]:
    if piece.is_whole:
        yield _labelled(label, visible(piece.text, spaces=True))
        [id_] = piece.ids
        text = f"the whole piece is the token {names[id_]} (id {id_}): no merge"
        yield _labelled("", text)
        return
    yield from _rows(names, piece, label)
    for note in _notes(trace, piece):
        yield _labelled("", note)
    if piece.steps:
        yield []
        yield from _tree(names, piece.tree)


def _rows(names: Names, piece: Piece, label: str) -> Iterator[Line]:
    """Draw the tokens of a piece before any merge, and after each merge beside the merge."""
    merges = [
        f"{names[step.left]} + {names[step.right]} → {names[step.token]}"
        for step in piece.steps
    ]
    n_merge = max(map(width, merges), default=0)
    first, *others = islice(piece.rows(), MAX_STEPS + 1)
    n_row = min(sum(width(names[node.id]) + 1 for node in first) - 1, MAX_ROW)
    yield [_label(label), *_row(names, first, None)]
    steps = zip(others, piece.steps, merges, strict=False)
    for number, (row, step, merge) in enumerate(steps, 1):
        tokens = _row(names, row, step)
        gap = n_row - sum(width(run.text) for run in tokens) + 3
        count = "" if step.count is None else f", count {step.count:,}"
        note = f"{fitted(merge, n_merge)}  rank {step.rank:,}{count}"
        head = Run(f"{number:>{INDENT - 1}} ", "note")
        yield [head, *tokens, Run(" " * gap), Run(note, "note")]
    if len(merges) > MAX_STEPS:
        yield _labelled("", f"… {amount(len(merges) - MAX_STEPS, 'more merge')}")


def _notes(trace: Trace, piece: Piece) -> Iterator[str]:
    """Describe symbols that are not in the alphabet, and text that is left out."""
    place = 0
    for symbol in piece.symbols:
        if symbol.start > place:
            yield f"{visible(piece.text[place : symbol.start])}: left out, no token"
        place = max(place, symbol.end)
        token = trace.known[symbol.id]
        text = visible(piece.text[symbol.start : symbol.end])
        if token.kind == "missing":
            yield f"{visible(token.name)}: not in the alphabet, so encode refuses the text"
        elif token.kind == "unknown":
            yield f"{text or '?'}: unknown, so {named(token)}"
        elif token.kind == "byte":
            byte = hexadecimal(token.content)
            yield f"{named(token)}: the byte {byte} of a character outside the alphabet"
    if place < len(piece.text):
        yield f"{visible(piece.text[place:])}: left out, no token"


def _row(names: Names, row: Sequence[Node], step: Step | None) -> Line:
    """Draw the tokens of a piece, or only those around the new token if they do not all fit."""
    new = next((n for n, node in enumerate(row) if step and node.step is step), 0)
    first, last = _shown([width(names[node.id]) for node in row], new, MAX_ROW)
    runs = [Run("… ")] if first > 0 else []
    for number in range(first, last):
        is_new = step is not None and number == new
        runs += [Run(names[row[number].id], NEW if is_new else ""), Run(" ")]
    return [*runs, Run("…")] if last < len(row) else runs


def _shown(widths: Sequence[int], new: int, room: int) -> tuple[int, int]:
    """Choose the tokens of a row that fit, equally many before and after a token.

    >>> _shown([1, 1, 1], 0, 5), _shown([1] * 9, 4, 11)
    ((0, 3), (2, 6))
    """
    if sum(widths) + len(widths) - 1 <= room:
        return 0, len(widths)
    first, last, n_used = new, new + 1, widths[new] + 4  # with … on both sides
    while True:
        grows_after = last < len(widths) and (first == 0 or last - new <= new - first)
        added = widths[last] if grows_after else widths[first - 1]
        n_used += added + 1
        if n_used > room:
            return first, last
        first, last = (first, last + 1) if grows_after else (first - 1, last)


def _tree(names: Names, roots: Sequence[Node]) -> Iterator[Line]:
    """Draw trees of merges, each token above its parts."""
    indent = " " * INDENT
    waiting = [(node, indent, "") for node in reversed(roots)]
    while waiting:
        node, before, branch = waiting.pop()
        rank = f"  rank {node.step.rank:,}" if node.step else ""
        yield [Run(before + branch, "note"), Run(names[node.id]), Run(rank, "note")]
        inner = before + {"": "", "├─ ": "│  ", "└─ ": "   "}[branch]
        branches = ["├─ "] * (len(node.parts) - 1) + ["└─ "]
        parts = zip(node.parts, branches, strict=False)
        waiting += [(part, inner, mark) for part, mark in reversed(list(parts))]


# Why a text has a token or not

_REASONS: dict[Verdict, str] = {
    "present": "it is there",
    "no_token": "not a token of this tokenizer",
    "no_merge": "no merge makes it; its symbols alone become {instead}",
    "other_merges": (
        "merges that make it never come first: its symbols alone become {instead}"
    ),
    "whole_piece": "the whole piece is the token {instead}, without merging",
    "split": "the pattern cuts through it, between [{one}] and [{other}]",
    "marks": (
        "the text has these characters, but its marks do not fit: they say whether a token "
        "begins, continues or ends a piece"
    ),
    "units": (
        "its border is inside a symbol of the piece, or one of its characters is unknown or not in "
        "the alphabet"
    ),
    "not_found": (
        "an added token that was not looked for; special tokens are found only if allowed"
    ),
    "added": "an added token takes its place: {instead}",
    "normalized": "the text contains it, but is normalized from {one} to {other}",
    "absent": "the text does not contain it",
}
"""The reason for each verdict, in words."""


def sentence(trace: Trace, answer: Why, asked: str, known: dict[int, Known]) -> str:
    """Explain why a text has a token or not; ``known`` has tokens that the trace does not name."""
    names = {id_: named(token) for id_, token in {**trace.known, **known}.items()}
    token = visible(asked)
    if answer.token is not None:
        token = f"{names[answer.token]} (id {answer.token})"
    where = "" if answer.piece is None else f" in piece {answer.piece + 1}"
    return f"{token}{where}: {_reason(answer, names)}"


def _reason(answer: Why, names: Names) -> str:
    instead = " ".join(names[id_] for id_ in answer.instead) or "nothing"
    if answer.step is not None:
        text = f"merge {answer.number} joined {_merge(answer.step, names)} across its border"
        if answer.awaited is not None:
            text += f", before {_merge(answer.awaited, names)}, which it still needed"
        return f"{text}. In its place: {instead}"
    one, other = [visible(part, spaces=True) for part in answer.parts] or ["", ""]
    reason = _REASONS[answer.verdict]
    return reason.format(instead=instead, one=one, other=other or "nothing")


def _merge(step: Step, names: Names) -> str:
    return f"{names[step.left]} + {names[step.right]} (rank {step.rank:,})"


def folded_lines(
    lines: Iterable[Line], n_columns: int | None, indent: int = INDENT
) -> Iterator[Line]:
    """Break lines that are too long; the rest of a line is indented to its text."""
    for line in lines:
        yield from folded(line, n_columns, indent)
