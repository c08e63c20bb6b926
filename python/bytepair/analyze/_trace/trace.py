"""How a text becomes tokens: added tokens, normalizing, splitting, and each merge.

The core records the steps, in every dialect; this module gives them names. Takes time and memory
linear in the text and in the number of merges; the rows of a piece take its length for each merge.
``why`` explains why a text has no other token.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from bytepair import Tokenizer, TokenizerError
from bytepair._expected import loaded
from bytepair._io.files import StrPath
from bytepair._results import Result, abridged
from bytepair.analyze._missing import NO_ID, course_of, end_mark

if TYPE_CHECKING:
    from bytepair.views._runs import Line

__all__ = [
    "Added",
    "Known",
    "Name",
    "Node",
    "Piece",
    "Segment",
    "Step",
    "Symbol",
    "Trace",
    "known",
    "merged",
    "step_of",
    "trace",
]

MAX_BYTES = 10_000

Name: TypeAlias = str | bytes


@dataclass(frozen=True, slots=True)
class Known:
    """The properties of a token.

    Attributes
    ----------
    kind
        ``"text"``, ``"byte"`` (of a character outside the alphabet), ``"unknown"``,
        ``"added"``, or ``"missing"`` for a character that no token stands for.
    content
        Its bytes, without marks; the name of an unknown or added token; the text of a missing
        character.
    continues, ends
        Whether it continues a piece, and whether it ends one, if the dialect marks that.
    name
        The token as in :attr:`bytepair.Tokenizer.vocabulary`.
    """

    kind: Literal["text", "byte", "unknown", "added", "none", "missing"]
    content: bytes
    continues: bool
    ends: bool
    name: Name


@dataclass(frozen=True, slots=True)
class Symbol:
    """A unit of a piece before any merge, with its span of bytes in the piece.

    Its id is below 0 if no token stands for it: -1 for the first such character of a text, -2
    for the next different one, and so on.
    """

    id: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Step:
    """One merge of a piece.

    Attributes
    ----------
    place
        The index of the first symbol of the left part, from 0 on.
    merge
        The index of the merge in the tokenizer, from 0 on.
    rank
        The rank of the merge; the lowest rank goes first. It equals ``merge``, unless the
        tokenizer has ranks of its own.
    left, right, token
        The ids of both parts, and of the token that replaces them.
    count
        How often the pair occurred in training when it was merged; ``None`` if unknown.
    """

    place: int
    merge: int
    rank: int
    left: int
    right: int
    token: int
    count: int | None


@dataclass(frozen=True, slots=True)
class Node:
    """A token of a piece, with the tokens that it was merged from.

    ``first`` and ``last`` are the indices of the symbols that it stands for. For a symbol, ``step`` is
    ``None`` and ``parts`` is empty.
    """

    id: int
    first: int
    last: int
    step: Step | None = None
    parts: tuple["Node", ...] = ()


@dataclass(frozen=True, repr=False)
class Piece(Result):
    """A piece, whose borders no merge crosses.

    Attributes
    ----------
    start, end
        Its span of the text, in bytes.
    text
        The normalized text of the piece.
    is_whole
        Whether the whole piece is used as a token without merging; then it has no symbols.
    symbols
        The units before any merge.
    steps
        The merges, in order.
    ids
        The tokens at the end.
    """

    start: int
    end: int
    text: bytes
    is_whole: bool
    symbols: tuple[Symbol, ...]
    steps: tuple[Step, ...]
    ids: tuple[int, ...]

    def rows(self) -> Iterator[list[Node]]:
        """Yield the tokens before the first merge, and after each.

        >>> import bytepair
        >>> from bytepair.analyze import trace
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> [piece] = trace(tokenizer, "low").pieces
        >>> [[node.id for node in row] for row in piece.rows()]
        [[75, 78, 86], [256, 86], [257]]
        """
        row = [Node(symbol.id, n, n) for n, symbol in enumerate(self.symbols)]
        yield list(row)
        for step in self.steps:
            place = next(n for n, node in enumerate(row) if node.first == step.place)
            left, right = row[place : place + 2]
            row[place : place + 2] = [
                Node(step.token, left.first, right.last, step, (left, right))
            ]
            yield list(row)

    @cached_property
    def tree(self) -> list[Node]:
        """The tokens at the end, each with the parts that it was merged from.

        >>> import bytepair
        >>> from bytepair.analyze import trace
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> [piece] = trace(tokenizer, "low").pieces
        >>> [[part.id for part in node.parts] for node in piece.tree]
        [[256, 86]]
        """
        if self.is_whole:
            return [Node(self.ids[0], 0, 0)]
        return merged(self.symbols, self.steps)


@dataclass(frozen=True, slots=True)
class Added:
    """An added token in a text, with its span in bytes."""

    id: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Segment:
    """Text between added tokens: its span, its normalized text, and its parts."""

    start: int
    end: int
    normalized: bytes
    parts: tuple[Added | Piece, ...]


@dataclass(frozen=True, repr=False)
class Trace(Result):
    """All steps from a text to its tokens.

    Attributes
    ----------
    text
        The original text.
    parts
        The added tokens in the text, and the text between them.
    known
        The properties of each token that occurs, by id. Ids below 0 are those of characters
        that no token stands for.

    >>> import bytepair
    >>> from bytepair.analyze import trace
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> found = trace(tokenizer, "low lower")
    >>> [piece.text for piece in found.pieces], found.ids
    ([b'low', b' lower'], [257, 220, 257, 68, 81])
    """

    text: bytes
    parts: tuple[Added | Segment, ...]
    known: dict[int, Known]

    @property
    def flat(self) -> list[Added | Piece]:
        """Added tokens and pieces in order.

        >>> import bytepair
        >>> from bytepair.analyze import trace
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> len(trace(tokenizer, "low lower").flat)
        2
        """
        found: list[Added | Piece] = []
        for part in self.parts:
            found += part.parts if isinstance(part, Segment) else [part]
        return found

    @property
    def pieces(self) -> list[Piece]:
        """The pieces in order.

        >>> import bytepair
        >>> from bytepair.analyze import trace
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> [len(piece.steps) for piece in trace(tokenizer, "low lower").pieces]
        [2, 2]
        """
        return [part for part in self.flat if isinstance(part, Piece)]

    @property
    def ids(self) -> list[int]:
        """The ids of the text, as :meth:`bytepair.Tokenizer.encode` returns them.

        A character that ``encode`` refuses, since no token stands for it, has a number below 0.

        >>> import bytepair
        >>> from bytepair.analyze import trace
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> trace(tokenizer, "low lower").ids == tokenizer.encode("low lower")
        True
        """
        found: list[int] = []
        for part in self.flat:
            found += part.ids if isinstance(part, Piece) else (part.id,)
        return found

    def to_svg(self) -> str:
        """Draw the steps as an SVG picture.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> tokenizer.trace("low").to_svg().startswith("<svg")
        True
        """
        from bytepair.views._runs import svg

        from .draw import trace_lines

        return svg(trace_lines(self), repr(self.text.decode(errors="replace")))

    def __repr__(self) -> str:
        return abridged(str(self))

    def _lines(self) -> "Iterator[Line]":
        from .draw import trace_lines

        return trace_lines(self)


def trace(
    tokenizer: Tokenizer | StrPath,
    text: str | bytes,
    *,
    allowed_special: Literal["all"] | Collection[str] = (),
    added_tokens: Literal["find", "text"] = "find",
) -> Trace:
    """Record all steps from a text to its tokens.

    The options are those of :meth:`bytepair.Tokenizer.encode`; the template is not applied. A
    character that ``encode`` refuses, since no token stands for it, is a symbol that no merge
    uses.

    >>> import bytepair
    >>> from bytepair.analyze import trace
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> [piece] = trace(tokenizer, "low").pieces
    >>> [(step.left, step.right, step.token, step.count) for step in piece.steps]
    [(75, 78, 256, 2), (256, 86, 257, 2)]

    Raises
    ------
    TokenizerError
        The text is longer than 10,000 characters or bytes; also the errors of
        :meth:`bytepair.Tokenizer.encode`.
    """
    tokenizer = loaded(tokenizer)
    if len(text) > MAX_BYTES:
        kind = "characters" if isinstance(text, str) else "bytes"
        message = (
            f"a text of {len(text):,} {kind} is too long to follow each merge; give at "
            f"most {MAX_BYTES:,}"
        )
        raise TokenizerError(message)
    found, missing = course_of(
        tokenizer, text, allowed_special=allowed_special, added_tokens=added_tokens
    )
    data = text.encode() if isinstance(text, str) else bytes(text)
    counts = _counts(tokenizer)
    strangers = _Strangers(missing, tokenizer.inspect().settings, end_mark(tokenizer))
    parts = tuple(_part(part, counts, strangers) for part in found)
    unnamed = Trace(data, parts, {})
    ids = {id_ for part in unnamed.flat for id_ in _ids_of(part) if id_ >= 0}
    return replace(unnamed, known={**known(tokenizer, ids), **strangers.known()})


class _Strangers:
    """Numbers for the units that no token stands for: -1, -2, and so on."""

    def __init__(self, missing: int | None, rules: dict[str, Any], mark: str) -> None:
        self.missing, self.mark = missing, mark
        self.prefix = rules["continuing_prefix"] or ""
        self.suffix = rules["end_mark"] if rules["end_mark_is_suffix"] else ""
        self.numbers: dict[Known, int] = {}

    def number(self, piece: bytes, start: int, end: int) -> int:
        """Return the number of a unit of a piece."""
        text = piece[start:end]
        continues = bool(self.prefix) and start > 0
        ends = bool(self.suffix) and end == len(piece)
        written = text.decode(errors="backslashreplace") or self.mark
        name = self.prefix * continues + written + self.suffix * ends
        unit = Known("missing", text, continues, ends, name)
        return self.numbers.setdefault(unit, NO_ID - len(self.numbers))

    def known(self) -> dict[int, Known]:
        """Return the properties of these units, by number."""
        return {number: unit for unit, number in self.numbers.items()}


def known(tokenizer: Tokenizer, ids: Collection[int]) -> dict[int, Known]:
    """Return the properties of tokens, by id."""
    return {
        one.id: Known(one.kind, one.bytes, one.continues, one.ends, one.entry)
        for one in tokenizer.inspect().tokens(sorted(set(ids)))
    }


def merged(symbols: Sequence[Symbol], steps: Sequence[Step]) -> list[Node]:
    """Return the tokens of symbols after all merges."""
    nodes = {
        place: Node(symbol.id, place, place) for place, symbol in enumerate(symbols)
    }
    for step in steps:
        left = nodes[step.place]
        right = nodes.pop(left.last + 1)
        nodes[step.place] = Node(
            step.token, left.first, right.last, step, (left, right)
        )
    return list(nodes.values())


def _counts(tokenizer: Tokenizer) -> list[int | None]:
    """Return how often the pair of each merge occurred in training; empty if unknown."""
    counts = [count for *_ids, count in tokenizer.inspect().merge_log]
    return [] if all(count is None for count in counts) else counts


def _part(
    part: Any,  # noqa: ANN401
    counts: Sequence[int | None],
    strangers: _Strangers,
) -> Added | Segment:
    if part[0] == "added":
        return Added(*part[1:])
    _, start, end, normalized, parts = part
    inner = (
        Added(*p[1:]) if p[0] == "added" else _piece(p, counts, strangers)
        for p in parts
    )
    return Segment(start, end, normalized, tuple(inner))


def _piece(
    part: Any,  # noqa: ANN401
    counts: Sequence[int | None],
    strangers: _Strangers,
) -> Piece:
    _, start, end, text, is_whole, units, steps, tokens = part
    symbols = tuple(
        Symbol(strangers.number(text, first, last), first, last)
        if id_ == strangers.missing
        else Symbol(id_, first, last)
        for id_, first, last in units
    )
    # No merge changes such a symbol, so they are in the same order as at the end.
    missing = (symbol.id for symbol in symbols if symbol.id < 0)
    ids = (
        next(missing, None) or strangers.number(text, 0, len(text))
        if id_ == strangers.missing
        else id_
        for id_, _start, _end in tokens
    )
    return Piece(
        start,
        end,
        text,
        is_whole,
        symbols,
        tuple(step_of(step, counts) for step in steps),
        tuple(ids),
    )


def step_of(step: Sequence[int], counts: Sequence[int | None]) -> Step:
    place, merge, rank, left, right, token = step
    count = counts[merge] if merge < len(counts) else None
    return Step(place, merge, rank, left, right, token, count)


def _ids_of(part: Added | Piece) -> Iterator[int]:
    if isinstance(part, Added):
        yield part.id
        return
    yield from (symbol.id for symbol in part.symbols)
    yield from (step.token for step in part.steps)
    yield from part.ids
