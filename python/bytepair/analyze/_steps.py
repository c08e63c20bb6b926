"""Training on a small text, one merge at a time: pairs and counts, the choice, and the result.

The core trains; this module repeats its merges on the counted pieces, and counts all pairs
again before each merge. Each step takes a pass over the distinct pieces, so their size is
limited.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias, get_args

from bytepair import Tokenizer, TokenizerError, TrainingError
from bytepair._expected import expect_each, loaded
from bytepair._io.files import StrPath
from bytepair._results import Result

from ._trace import Known, known

__all__ = ["MAX_PIECE_BYTES", "PairCount", "Piece", "TrainingStep", "training_steps"]

MAX_PIECE_BYTES = 20_000
"""The largest number of bytes of all distinct pieces together."""

Ties: TypeAlias = Literal["smallest_ids", "first_seen", "largest_text"]
NO_ID = -1
"""Stands for a unit outside the alphabet, which is in no pair."""


@dataclass(frozen=True, slots=True)
class PairCount:
    """The ids of two neighbours, and how often they occur."""

    left: int
    right: int
    count: int


@dataclass(frozen=True, slots=True)
class Piece:
    """A distinct piece in its current segmentation, and how often it occurs.

    ``ids`` has -1 for a unit outside the alphabet.
    """

    ids: tuple[int, ...]
    count: int


@dataclass(frozen=True, repr=False)
class TrainingStep(Result):
    """One merge of training.

    Attributes
    ----------
    number
        The number of the step, from 1 on.
    pairs
        All pairs before the merge, the most frequent first; of equally frequent pairs, the
        chosen pair comes first, then the pairs with smaller ids.
    chosen
        The pair that was merged.
    token
        The id of the new token.
    tied
        The other pairs that occur equally often, so that the rule for ties decided.
    passed_over
        Pairs that would have been chosen first, but that limits of tokens rule out.
    ties
        The rule for ties.
    pieces
        The distinct pieces after the merge, in the order of their first occurrence.
    n_tokens
        The length of the corpus after the merge, in tokens.
    """

    number: int
    pairs: tuple[PairCount, ...]
    chosen: PairCount
    token: int
    tied: tuple[PairCount, ...]
    passed_over: tuple[PairCount, ...]
    ties: Ties
    pieces: tuple[Piece, ...]
    n_tokens: int


def training_steps(
    tokenizer: Tokenizer | StrPath,
    pieces: Sequence[tuple[bytes, int]],
    *,
    ties: Ties,
    first: int = 1,
) -> Iterator[TrainingStep]:
    """Walk through the training that gave a tokenizer.

    ``pieces`` has the pieces that it learned from, with their counts, in the order of their
    first occurrence; ``ties`` is the rule for ties of the training. Steps before ``first`` are
    done but not returned: they belong to the tokenizer that training continued from.

    >>> import bytepair
    >>> counts = {b"low": 5, b"lower": 2}
    >>> tokenizer = bytepair.train_from_counts(counts, merges=2, dialect="byte-stream")
    >>> steps = list(training_steps(tokenizer, list(counts.items()), ties="first_seen"))
    >>> [(chr(pair.left), chr(pair.right), pair.count) for pair in steps[0].pairs[:2]]
    [('l', 'o', 7), ('o', 'w', 7)]
    >>> [step.token for step in steps], steps[1].n_tokens
    ([256, 257], 11)

    Raises
    ------
    TrainingError
        The distinct pieces have more than 20,000 bytes.
    """
    tokenizer = loaded(tokenizer)
    if ties not in get_args(Ties):
        message = f"ties must be one of {', '.join(get_args(Ties))}, not {ties!r}"
        raise TokenizerError(message)
    expect_each("pieces", pieces, tuple, "a piece with its count")
    n_bytes = sum(len(piece) for piece, _count in pieces)
    if n_bytes > MAX_PIECE_BYTES:
        raise TrainingError(too_large(n_bytes))
    return _steps(tokenizer, pieces, ties, first)


def before_merging(
    tokenizer: Tokenizer, pieces: Sequence[tuple[bytes, int]], *, n_merges: int = 0
) -> tuple[Piece, ...]:
    """Give the segmentation of pieces before the first step, or after some merges."""
    words = _words(tokenizer, pieces, n_merges)
    return tuple(Piece(tuple(word), count) for word, count in words)


def too_large(n_bytes: int | None) -> str:
    """Say that there are too many pieces to walk through."""
    found = "more" if n_bytes is None else f"{n_bytes:,}"
    return (
        f"training can be walked through where distinct pieces have at most "
        f"{MAX_PIECE_BYTES:,} bytes; here they have {found}"
    )


def _steps(
    tokenizer: Tokenizer, pieces: Sequence[tuple[bytes, int]], ties: Ties, first: int
) -> Iterator[TrainingStep]:
    words = _words(tokenizer, pieces, first - 1)
    rule = Rule(tokenizer, ties)
    merges = tokenizer.inspect().merge_log[first - 1 :]
    for number, (left, right, token, _count) in enumerate(merges, first):
        pairs = _count_pairs(words)
        for word, _n in words:
            _merge(word, left, right, token)
        yield _step(number, pairs, (left, right, token), words, rule)


def _words(
    tokenizer: Tokenizer, pieces: Sequence[tuple[bytes, int]], n_merges: int
) -> list[tuple[list[int], int]]:
    """Segment pieces into their units, and do the first merges."""
    words = [(_symbols(tokenizer, piece), count) for piece, count in pieces]
    for left, right, token, _count in tokenizer.inspect().merge_log[:n_merges]:
        for word, _n in words:
            _merge(word, left, right, token)
    return words


def _symbols(tokenizer: Tokenizer, piece: bytes) -> list[int]:
    """Give the units of a piece; units outside the alphabet, or left out, separate the others."""
    found: list[int] = []
    place = 0
    symbols = tokenizer.inspect().symbols(piece)
    kinds = _kinds(tokenizer, [id_ for id_, _start, _end in symbols])
    for id_, start, end in symbols:
        if start > place:
            found.append(NO_ID)
        is_letter = id_ is not None and kinds[id_].kind == "text"
        found.append(id_ if is_letter and id_ is not None else NO_ID)
        place = max(place, end)
    return found


def _kinds(tokenizer: Tokenizer, ids: Sequence[int | None]) -> dict[int, Known]:
    return known(tokenizer, [id_ for id_ in ids if id_ is not None])


def _count_pairs(words: Sequence[tuple[list[int], int]]) -> Counter[tuple[int, int]]:
    pairs: Counter[tuple[int, int]] = Counter()
    for word, count in words:
        for pair in pairwise(word):
            if NO_ID not in pair:
                pairs[pair] += count
    return pairs


def _merge(word: list[int], left: int, right: int, token: int) -> None:
    """Join every occurrence of a pair, from left to right, in place."""
    place = 0
    while place + 1 < len(word):
        if word[place] == left and word[place + 1] == right:
            word[place : place + 2] = [token]
        place += 1


def _step(
    number: int,
    counts: Counter[tuple[int, int]],
    merge: tuple[int, int, int],
    words: Sequence[tuple[list[int], int]],
    rule: "Rule",
) -> TrainingStep:
    left, right, token = merge
    chosen = PairCount(left, right, counts[left, right])
    place_of = {pair: place for place, pair in enumerate(counts)}

    def order(pair: PairCount) -> tuple[int, bool, int, int]:
        return -pair.count, pair != chosen, pair.left, pair.right

    def goes_before(pair: PairCount) -> bool:
        if pair.count != chosen.count:
            return pair.count > chosen.count
        return rule.prefers(pair, chosen, place_of)

    pairs = sorted((PairCount(*pair, n) for pair, n in counts.items()), key=order)
    passed_over = tuple(filter(goes_before, pairs))
    equal = [pair for pair in pairs if pair.count == chosen.count and pair != chosen]
    return TrainingStep(
        number=number,
        pairs=tuple(pairs),
        chosen=chosen,
        token=token,
        tied=tuple(pair for pair in equal if pair not in passed_over),
        passed_over=passed_over,
        ties=rule.ties,
        pieces=tuple(Piece(tuple(word), count) for word, count in words),
        n_tokens=sum(len(word) * count for word, count in words),
    )


class Rule:
    """The rule that decides between equally frequent pairs."""

    def __init__(self, tokenizer: Tokenizer, ties: Ties) -> None:
        self.ties = ties
        names = tokenizer.vocabulary if ties == "largest_text" else []
        self.names = [
            name.encode() if isinstance(name, str) else name for name in names
        ]

    def prefers(
        self, one: PairCount, other: PairCount, place_of: dict[tuple[int, int], int]
    ) -> bool:
        """Tell whether it chooses one pair before another."""
        pairs = (one.left, one.right), (other.left, other.right)
        if self.ties == "first_seen":
            return place_of[pairs[0]] < place_of[pairs[1]]
        if self.ties == "smallest_ids":
            return pairs[0] < pairs[1]
        first, second = ([self.names[id_] for id_ in pair] for pair in pairs)
        return (first, pairs[0]) > (second, pairs[1])
