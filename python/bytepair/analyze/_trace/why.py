"""Why a text is not encoded with a token: the merge that prevents it, for each occurrence.

This searches the steps of a trace, in time linear in the text and the number of merges.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

from bytepair import Tokenizer, _core
from bytepair._expected import expect, loaded
from bytepair._io.files import StrPath

from .trace import Added, Piece, Segment, Step, Trace, known, merged, step_of

__all__ = [
    "Reasons",
    "Verdict",
    "Why",
    "why",
]

MAX_REASONS = 20

Verdict: TypeAlias = Literal[
    "present",
    "no_token",
    "crossed",
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
        ``"split"``: the pattern cuts through it. ``"marks"``: its marks do not fit its position
        in the piece. ``"units"``: its border is inside a symbol, or a unit is unknown.
        ``"not_found"``: it is an added token that the call does not look for. ``"added"``: an added
        token takes its place. ``"normalized"``: the normalizer changes it.
        ``"absent"``: the text does not contain it.
    token
        Its id; ``None`` if there is no such token.
    piece
        The number of the piece that contains it, from 0 on, counting added tokens;
        ``None`` if no piece does.
    first, last
        The indices of the first and the last symbol that it would stand for.
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
        The tokens that its symbols alone become, or the tokens in its place.
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
class Reasons:
    """The reasons of :func:`why`, one for each occurrence of a token.

    Attributes
    ----------
    given
        The reasons for the first occurrences, at most 20.
    n_reasons
        The number of occurrences in the text; 1 if there are none, which also has a reason.
    """

    given: tuple[Why, ...]
    n_reasons: int

    def __getitem__(self, place: int) -> Why:
        return self.given[place]

    def __iter__(self) -> Iterator[Why]:
        return iter(self.given)

    def __len__(self) -> int:
        return len(self.given)


def why(
    tokenizer: Tokenizer | StrPath, found: Trace, token: str | bytes | int
) -> Reasons:
    """Explain, for each occurrence of a token's text, why it is encoded as the token or not.

    ``found`` is a result of :func:`trace`. ``token`` is the text of the token, as written in
    published files, or its id. If the traced text does not contain it, there is one answer. Only
    the first 20 occurrences are explained; ``n_reasons`` counts all.

    As long as every merge of a piece is either inside or outside the symbols of a token, the
    merges inside are the same, in the same order, as for these symbols alone. So if the symbols
    alone become the token, the first merge across their border prevents it.

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
    tokenizer = loaded(tokenizer)
    expect("found", found, Trace, "a result of trace()")
    id_ = id_of(tokenizer, token)
    if id_ is None:
        return Reasons((Why("no_token", None),), 1)
    return Asked(tokenizer, found, id_).answers()


def id_of(tokenizer: Tokenizer, token: str | bytes | int) -> int | None:
    """Return the id of a token by its text, as written in published files, or by its id."""
    if isinstance(token, int):
        is_there = 0 <= token < tokenizer.n_vocab
        return token if is_there and tokenizer.token_bytes(token) is not None else None
    id_ = tokenizer.token_to_id(token)
    if id_ is None and isinstance(token, str):
        id_ = _core.id_of_written(tokenizer, token)
    return id_


class Asked:
    """A token, and the trace that is searched for it."""

    def __init__(self, tokenizer: Tokenizer, found: Trace, id_: int) -> None:
        self.tokenizer, self.trace, self.id = tokenizer, found, id_
        self.token = known(tokenizer, [id_])[id_]

    def answers(self) -> Reasons:
        """Return an answer for each of the first occurrences, or one if there are none."""
        places = [
            (number, part, first, last)
            for number, part in enumerate(self.trace.flat)
            for first, last in self._places(part)
        ]
        if not places:
            return Reasons((self._nowhere(),), 1)
        answers = (self._answer(*place) for place in places[:MAX_REASONS])
        return Reasons(tuple(answers), len(places))

    def _places(self, part: Added | Piece) -> Iterator[tuple[int, int]]:
        """Yield the first and the last symbol of each occurrence; 0 and 0 in a part without symbols."""
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
        """Yield the first and the last of the symbols that together are the token."""
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
        steps = [
            step_of(step, ()) for step in self.tokenizer.inspect().merge_steps(ids)
        ]
        alone = tuple(node.id for node in merged(symbols, steps))
        if alone != (self.id,):
            made = any(
                id_ == self.id for _, _, id_, _ in self.tokenizer.inspect().merge_log
            )
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
        """Return whether a piece has the token's characters, but not its marks."""
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
                before = self.trace.text[part.start : part.end]
                if content in before and content not in part.normalized:
                    return Why("normalized", self.id, parts=(before, part.normalized))
        place = self.trace.text.find(content)
        if place < 0:
            return Why("absent", self.id)
        end = place + len(content)
        for other in self.trace.flat:
            if isinstance(other, Added) and other.start < end and other.end > place:
                return Why("added", self.id, instead=(other.id,))
        before, after = self.trace.text, b"".join(p.text for p in self.trace.pieces)
        return Why("normalized", self.id, parts=(before, after))


def _cut_through(content: bytes, pieces: Sequence[bytes]) -> tuple[bytes, ...]:
    """Return the two pieces around the first cut through a token; none if nothing cuts it.

    >>> _cut_through(b"o l", [b"lo", b" lo"])
    (b'lo', b' lo')
    """
    place = b"".join(pieces).find(content)
    if place < 0:
        return ()
    start = 0
    for left, right in pairwise(pieces):
        start += len(left)
        if place < start < place + len(content):
            return left, right
    return ()
