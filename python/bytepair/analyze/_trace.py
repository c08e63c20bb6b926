"""How a text becomes tokens: added tokens, normalizing, splitting, and each merge.

The core records the steps, in every dialect; this module gives them names. :func:`why` searches
the merges for the one that prevented a token. Takes time and memory linear in the text and in
the number of merges; the rows of a piece take its length for each merge.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, TypeAlias, overload

from bytepair import Tokenizer, TokenizerError

from ._missing import NO_ID, course_of, end_mark

__all__ = [
    "Added",
    "Known",
    "Node",
    "Piece",
    "Reasons",
    "Segment",
    "Step",
    "Symbol",
    "Trace",
    "Verdict",
    "Why",
    "trace",
    "why",
]

MAX_BYTES = 10_000
MAX_REASONS = 20

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

    kind: Literal["text", "byte", "unknown", "added", "missing"]
    content: bytes
    continues: bool
    ends: bool
    name: Name


@dataclass(frozen=True, slots=True)
class Symbol:
    """A unit of a piece before any merge, with its span of bytes in the piece.

    Its id is below 0 if no token stands for it: -1 for the first such character of a text, and
    another number for each other one.
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

    ``first`` and ``last`` are the symbols that it stands for. For a symbol, ``step`` is
    ``None`` and ``parts`` is empty.
    """

    id: int
    first: int
    last: int
    step: Step | None = None
    parts: tuple["Node", ...] = ()


@dataclass(frozen=True)
class Piece:
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
        """Give the tokens before the first merge, and after each.

        If a token is merged through and never emitted, the last row has its parts in its place.

        >>> import bytepair
        >>> from bytepair.analyze import trace
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> [piece] = trace(tokenizer, "low").pieces
        >>> [[node.id for node in row] for row in piece.rows()]
        [[75, 78, 86], [256, 86], [257]]
        """
        yield from followed(self.symbols, self.steps)
        if self.split:
            yield self.tree

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
        return given_out(merged(self.symbols, self.steps), self.ids)

    @property
    def split(self) -> list[Node]:
        """The tokens that are merged through and never emitted; :attr:`tree` has their parts.

        >>> import bytepair
        >>> from bytepair import surgery
        >>> from bytepair.analyze import trace
        >>> base = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> found = surgery.remove(base, ["low"], mode="scaffold")
        >>> [piece] = trace(found.tokenizer, "low").pieces
        >>> [node.id for node in piece.split], piece.ids
        ([257], (256, 86))
        """
        if self.is_whole:
            return []
        emitted = {(node.first, node.last) for node in self.tree}
        waiting = merged(self.symbols, self.steps)[::-1]
        found = []
        while waiting:
            node = waiting.pop()
            if (node.first, node.last) not in emitted:
                found.append(node)
                waiting.extend(reversed(node.parts))
        return found


@dataclass(frozen=True, slots=True)
class Added:
    """An added token that was found, with its span of the text in bytes."""

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


@dataclass(frozen=True)
class Trace:
    """All steps from a text to its tokens.

    Attributes
    ----------
    text
        The original text.
    parts
        Added tokens that were found in the text, and the text between them.
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
        """The ids of the text, as :meth:`bytepair.Tokenizer.encode` gives them.

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


def trace(
    tokenizer: Tokenizer,
    text: str | bytes,
    *,
    allowed_special: Literal["all"] | Collection[str] = (),
    added_tokens: Literal["find", "text"] = "find",
) -> Trace:
    """Record all steps from a text to its tokens.

    The options are those of :meth:`bytepair.Tokenizer.encode`; the template is not applied. A
    character that ``encode`` refuses, since no token stands for it, is a symbol that no merge has
    a part in.

    >>> import bytepair
    >>> from bytepair.analyze import trace
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> [piece] = trace(tokenizer, "low").pieces
    >>> [(step.left, step.right, step.token, step.count) for step in piece.steps]
    [(75, 78, 256, 2), (256, 86, 257, 2)]

    Raises
    ------
    TokenizerError
        The text is longer than 10,000 characters; also the other errors of
        :meth:`bytepair.Tokenizer.encode`.
    """
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
    strangers = _Strangers(missing, tokenizer._rules(), end_mark(tokenizer))
    parts = tuple(_part(part, counts, strangers) for part in found)
    ids = {id_ for id_ in _ids_in(parts) if id_ >= 0}
    return Trace(data, parts, {**known(tokenizer, ids), **strangers.known()})


class _Strangers:
    """Gives each unit that no token stands for a number below 0."""

    def __init__(self, missing: int | None, rules: dict[str, Any], mark: str) -> None:
        self.missing, self.mark = missing, mark
        self.prefix = rules["continuing_prefix"] or ""
        self.suffix = rules["end_mark"] if rules["end_mark_is_suffix"] else ""
        self.numbers: dict[Known, int] = {}

    def number(self, piece: bytes, start: int, end: int) -> int:
        """Give the number of a unit of a piece."""
        text = piece[start:end]
        continues = bool(self.prefix) and start > 0
        ends = bool(self.suffix) and end == len(piece)
        written = text.decode(errors="backslashreplace") or self.mark
        name = self.prefix * continues + written + self.suffix * ends
        unit = Known("missing", text, continues, ends, name)
        return self.numbers.setdefault(unit, NO_ID - len(self.numbers))

    def known(self) -> dict[int, Known]:
        """Give the properties of all, by number."""
        return {number: unit for unit, number in self.numbers.items()}


def known(tokenizer: Tokenizer, ids: Collection[int]) -> dict[int, Known]:
    """Give the properties of tokens, by id."""
    wanted = sorted(set(ids))
    rows = zip(wanted, tokenizer._tokens_of(wanted), strict=True)
    return {
        id_: Known(kind, content, continues, ends, tokenizer.id_to_token(id_) or "")
        for id_, (kind, content, continues, ends, _written) in rows
    }


def followed(symbols: Sequence[Symbol], steps: Sequence[Step]) -> Iterator[list[Node]]:
    """Give the tokens of symbols before the first merge, and after each."""
    row = [Node(symbol.id, place, place) for place, symbol in enumerate(symbols)]
    yield list(row)
    for step in steps:
        place = next(n for n, node in enumerate(row) if node.first == step.place)
        left, right = row[place : place + 2]
        row[place : place + 2] = [
            Node(step.token, left.first, right.last, step, (left, right))
        ]
        yield list(row)


def merged(symbols: Sequence[Symbol], steps: Sequence[Step]) -> list[Node]:
    """Give the tokens of symbols after all merges."""
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


def given_out(nodes: Sequence[Node], ids: Sequence[int]) -> list[Node]:
    """Give these tokens, with scaffold tokens replaced by their parts."""
    waiting, given = list(reversed(nodes)), list[Node]()
    while waiting:
        node = waiting.pop()
        if node.parts and ids[len(given) : len(given) + 1] != (node.id,):
            waiting.extend(reversed(node.parts))
        else:
            given.append(node)
    return given


def _counts(tokenizer: Tokenizer) -> list[int | None]:
    """Give how often the pair of each merge occurred in training; empty if unknown."""
    counts = [count for *_ids, count in tokenizer.merge_log]
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
        tuple(_step(step, counts) for step in steps),
        tuple(ids),
    )


def _step(step: Sequence[int], counts: Sequence[int | None]) -> Step:
    place, merge, rank, left, right, token = step
    count = counts[merge] if merge < len(counts) else None
    return Step(place, merge, rank, left, right, token, count)


def _ids_in(parts: Sequence[Added | Segment]) -> set[int]:
    found: set[int] = set()
    for part in Trace(b"", tuple(parts), {}).flat:
        if isinstance(part, Added):
            found.add(part.id)
            continue
        found.update(symbol.id for symbol in part.symbols)
        found.update(part.ids)
        found.update(step.token for step in part.steps)
    return found


# Why a token is not there

Verdict: TypeAlias = Literal[
    "present",
    "no_token",
    "crossed",
    "taken",
    "no_merge",
    "other_merges",
    "whole_piece",
    "split",
    "marks",
    "units",
    "not_found",
    "added",
    "normalized",
    "absent",
]


@dataclass(frozen=True)
class Why:
    """The reason why a text has a token or does not have it.

    Attributes
    ----------
    verdict
        ``"present"``: the text has the token. ``"no_token"``: the tokenizer has no such token.
        ``"crossed"``: a merge joined one of its symbols with a neighbour. ``"no_merge"``:
        no merge makes it. ``"other_merges"``: merges make it, but its symbols alone become
        other tokens. ``"whole_piece"``: the whole piece is another token.
        ``"split"``: the pattern cuts through it. ``"marks"``: its marks do not fit its place
        in the piece. ``"units"``: its border is inside a symbol, or a unit is unknown.
        ``"not_found"``: it is an added token that was not looked for. ``"added"``: an added
        token was found in its place. ``"normalized"``: the normalizer changes it.
        ``"absent"``: the text does not contain it.
    token
        Its id; ``None`` if there is no such token.
    piece
        The number of the piece that contains it, from 0 on, counting added tokens;
        ``None`` if no piece does.
    first, last
        The symbols that it would stand for.
    step
        The merge that prevented it, for ``"crossed"``.
    number
        The number of that step in its piece, from 1 on.
    awaited
        The merge that the token still needed at that point; ``None`` if it was complete.
    parts
        For ``"split"``, the pieces around the cut; for ``"normalized"``, the text before and
        after normalizing.
    instead
        The tokens that its symbols become alone, or the tokens in its place.
    """

    verdict: Verdict
    token: int | None
    piece: int | None = None
    first: int = 0
    last: int = 0
    step: Step | None = None
    number: int = 0
    awaited: Step | None = None
    parts: tuple[bytes, ...] = ()
    instead: tuple[int, ...] = ()


@dataclass(frozen=True)
class Reasons(Sequence[Why]):
    """The reasons of :func:`why`, a sequence.

    Attributes
    ----------
    given
        The reasons for the first places, at most 20.
    n_reasons
        The number of places in the text, for each of which there is a reason.
    """

    given: tuple[Why, ...]
    n_reasons: int

    @overload
    def __getitem__(self, place: int) -> Why: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Why, ...]: ...
    def __getitem__(self, place: int | slice) -> Why | tuple[Why, ...]:
        return self.given[place]

    def __len__(self) -> int:
        return len(self.given)


def why(tokenizer: Tokenizer, found: Trace, token: str | bytes | int) -> Reasons:
    """Explain, for each place where a text contains a token, why it became that token or not.

    The token is given by its text, as written in published files, or by its id. If the text
    does not contain it, there is one answer. Only the first 20 places are explained;
    ``n_reasons`` counts all.

    As long as every merge of a piece is either inside or outside the symbols of a token, the
    merges inside are the same, in the same order, as for these symbols alone. So if the symbols
    alone become the token, the first merge that crosses their border is what prevents it.

    >>> import bytepair
    >>> from bytepair.analyze import trace, why
    >>> counts = {"ow": 5, "lo": 3, "low": 1}
    >>> tokenizer = bytepair.train_from_counts(counts, merges=2)
    >>> tokenizer.tokenize("low")
    ['l', 'ow']
    >>> [answer] = why(tokenizer, trace(tokenizer, "low"), "lo")
    >>> answer.verdict, answer.number
    ('crossed', 1)
    """
    id_ = id_of(tokenizer, token)
    if id_ is None:
        return Reasons((Why("no_token", None),), 1)
    return Asked(tokenizer, found, id_).answers()


def id_of(tokenizer: Tokenizer, token: str | bytes | int) -> int | None:
    """Find a token by its text, as written in published files, or by its id."""
    if isinstance(token, int):
        is_there = 0 <= token < tokenizer.n_vocab
        return token if is_there and tokenizer.id_to_token(token) is not None else None
    found = tokenizer.token_to_id(token)
    if found is None and isinstance(token, str):
        found = tokenizer.token_to_id_hf(token)
    return found


class Asked:
    """A token that is looked for in a text."""

    def __init__(self, tokenizer: Tokenizer, found: Trace, id_: int) -> None:
        self.tokenizer, self.trace, self.id = tokenizer, found, id_
        self.token = known(tokenizer, [id_])[id_]

    def answers(self) -> Reasons:
        """Give an answer for each of the first places, or one for all."""
        places = [
            (number, part, first, last)
            for number, part in enumerate(self.trace.flat)
            for first, last in self._places(part)
        ]
        if not places:
            return Reasons((self._nowhere(),), 1)
        given = (self._answer(*place) for place in places[:MAX_REASONS])
        return Reasons(tuple(given), len(places))

    def _places(self, part: Added | Piece) -> Iterator[tuple[int, int]]:
        """Give the symbols of each place; an added token and a whole piece have none."""
        if isinstance(part, Added):
            is_there = part.id == self.id
        elif part.is_whole:
            is_text = self.token.kind == "text" and self.token.content in part.text
            is_there = self.id in part.ids or is_text
        else:
            yield from self._windows(part)
            return
        if is_there:
            yield 0, 0

    def _answer(self, number: int, part: Added | Piece, first: int, last: int) -> Why:
        if isinstance(part, Added):
            return Why("present", self.id, number)
        if part.is_whole and self.id not in part.ids:
            return Why("whole_piece", self.id, number, instead=part.ids)
        is_there = part.is_whole or any(
            (node.first, node.last, node.id) == (first, last, self.id)
            for node in part.tree
        )
        if is_there:
            return Why("present", self.id, number, first, last)
        return self._prevented(number, part, first, last)

    def _windows(self, piece: Piece) -> Iterator[tuple[int, int]]:
        """Give the symbols of a piece that together are the token."""
        tokens = [self.trace.known[symbol.id] for symbol in piece.symbols]
        wanted = self.token
        for first, symbol in enumerate(piece.symbols):
            if wanted.kind != "text":
                if symbol.id == self.id:
                    yield first, first
                continue
            content = b""
            for last in range(first, len(tokens)):
                if tokens[last].kind in ("unknown", "added", "missing"):
                    break
                content += tokens[last].content
                if content == wanted.content and (
                    tokens[first].continues == wanted.continues
                    and tokens[last].ends == wanted.ends
                ):
                    yield first, last
                if not wanted.content.startswith(content):
                    break

    def _prevented(self, number: int, piece: Piece, first: int, last: int) -> Why:
        symbols = piece.symbols[first : last + 1]
        ids = [symbol.id for symbol in symbols]
        steps = [_step(step, ()) for step in self.tokenizer._merge_steps(ids)]
        alone = tuple(node.id for node in merged(symbols, steps))
        if alone != (self.id,):
            made = any(id_ == self.id for _, _, id_, _ in self.tokenizer.merge_log)
            verdict: Verdict = "other_merges" if made else "no_merge"
            return Why(verdict, self.id, number, first, last, instead=alone)
        n_within, last_of = 0, list(range(len(piece.symbols)))
        for count, step in enumerate(piece.steps, 1):
            border = last_of[step.place]
            if border in (first - 1, last):
                there = [n for n in piece.tree if n.first <= last and n.last >= first]
                awaited = steps[n_within] if n_within < len(steps) else None
                return Why(
                    "crossed",
                    self.id,
                    number,
                    first,
                    last,
                    step,
                    count,
                    awaited,
                    instead=tuple(node.id for node in there),
                )
            n_within += first <= step.place <= last
            last_of[step.place] = last_of[border + 1]
        message = f"token {self.id} is neither there nor prevented"
        raise AssertionError(message)

    def _nowhere(self) -> Why:
        """Explain why no piece has the symbols of the token."""
        content = self.token.content
        if self.token.kind in ("added", "unknown"):
            is_held = content in self.trace.text
            return Why("not_found" if is_held else "absent", self.id)
        pieces = self.trace.pieces
        for number, part in enumerate(self.trace.flat):
            if isinstance(part, Piece) and content in part.text:
                is_marked = self._is_marked(part)
                return Why("marks" if is_marked else "units", self.id, number)
        cut = _cut_through(content, [piece.text for piece in pieces])
        if cut:
            return Why("split", self.id, parts=cut)
        return self._before_splitting(content)

    def _is_marked(self, piece: Piece) -> bool:
        """Tell whether a piece has the token's characters, but not its marks."""
        tokens = [self.trace.known[symbol.id] for symbol in piece.symbols]
        joined = b"".join(token.content for token in tokens)
        return self.token.content in joined and (
            self.token.continues
            or self.token.ends
            or any(token.continues or token.ends for token in tokens)
        )

    def _before_splitting(self, content: bytes) -> Why:
        for part in self.trace.parts:
            if isinstance(part, Segment):
                given = self.trace.text[part.start : part.end]
                if content in given and content not in part.normalized:
                    return Why("normalized", self.id, parts=(given, part.normalized))
        place = self.trace.text.find(content)
        if place < 0:
            return Why("absent", self.id)
        end = place + len(content)
        for found in self.trace.flat:
            if isinstance(found, Added) and found.start < end and found.end > place:
                return Why("added", self.id, instead=(found.id,))
        given, after = self.trace.text, b"".join(p.text for p in self.trace.pieces)
        return Why("normalized", self.id, parts=(given, after))


def _cut_through(content: bytes, pieces: Sequence[bytes]) -> tuple[bytes, ...]:
    """Give the pieces around the first cut through a content; none if it does not occur.

    >>> _cut_through(b"o l", [b"lo", b" lo"])
    (b'lo', b' lo')
    """
    place = b"".join(pieces).find(content)
    if place < 0:
        return ()
    start = 0
    for one, other in pairwise(pieces):
        start += len(one)
        if place < start < place + len(content):
            return one, other
    return ()
