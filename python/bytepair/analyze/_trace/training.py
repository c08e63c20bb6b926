"""Training on a small text, one merge at a time: pairs and counts, the choice, and the result.

The core trains; this module repeats its merges on the counted pieces, and counts all pairs
again before each merge. Each step takes a pass over the distinct pieces, so their size is
limited.
"""

from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, pairwise, repeat, takewhile
from typing import Literal, TypeAlias, get_args

from bytepair import Tokenizer, TokenizerError, TrainingError, _core
from bytepair._expected import expect_each, loaded
from bytepair._io.files import StrPath
from bytepair._results import Result
from bytepair._training.vetoes import GivenCuts, cutting

from .trace import known

__all__ = ["MAX_PIECE_BYTES", "PairCount", "Piece", "TrainingStep", "training_steps"]

MAX_PIECE_BYTES = 20_000
"""The largest number of bytes of all distinct pieces together."""

TOO_LARGE = (
    f"the steps of training are shown for at most {MAX_PIECE_BYTES:,} bytes of distinct pieces; "
    "give a smaller text"
)
Ties: TypeAlias = Literal["smallest_ids", "first_seen", "largest_text"]
Word: TypeAlias = tuple[list[int], int]
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
        The pairs that training prefers to the chosen one, but that limits of tokens rule out.
    ties
        The rule for ties.
    pieces
        The distinct pieces after the merge, in the order of their first occurrence.
    n_tokens
        The length of the corpus after the merge, in tokens.
    group
        The group that chose, whose counts the pairs have; ``None`` if the whole corpus did.
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
    group: str | None = None


@dataclass(frozen=True)
class Choices:
    """The choices of groups: the group of each piece, and for each step the group that chose."""

    group_of_piece: Sequence[str] = ()
    choosers: Sequence[str | None] = ()

    def of_step(self, number: int) -> str | None:
        """Return the group that chose, or ``None`` for the whole corpus."""
        return self.choosers[number] if number < len(self.choosers) else None


def training_steps(
    tokenizer: Tokenizer | StrPath,
    pieces: Sequence[tuple[bytes, int]],
    *,
    ties: Ties,
    first: int = 1,
    cuts: GivenCuts | StrPath | None = None,
    choices: Choices = Choices(),
    words: Tokenizer | None = None,
) -> Iterator[TrainingStep]:
    """Yield the steps of the training that made a tokenizer.

    ``pieces`` has the pieces that it learned from, with their counts, in the order of their
    first occurrence; ``ties`` is the rule for ties of the training. Steps before ``first`` are
    repeated but not returned: they belong to the tokenizer that training continued from.
    ``cuts`` are those of the training, and ``choices`` those of its groups, from ``first`` on.
    If only whole words were joined, ``words`` is the tokenizer with these words.

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
        raise TrainingError(TOO_LARGE)
    begun = _begun(tokenizer, pieces, first - 1, cuts, words)
    return _steps(tokenizer, begun, ties, first, choices)


def before_merging(
    tokenizer: Tokenizer,
    pieces: Sequence[tuple[bytes, int]],
    *,
    n_merges: int = 0,
    cuts: GivenCuts | StrPath | None = None,
    words: Tokenizer | None = None,
) -> tuple[Piece, ...]:
    """Return the segmentation of pieces before the first merge, or after some merges."""
    begun = _begun(tokenizer, pieces, n_merges, cuts, words)
    return tuple(Piece(tuple(word), count) for part in begun for word, count in part)


def _steps(
    tokenizer: Tokenizer,
    begun: Sequence[Sequence[Word]],
    ties: Ties,
    first: int,
    choices: Choices,
) -> Iterator[TrainingStep]:
    owned = zip(begun, choices.group_of_piece or repeat(""), strict=False)
    words_of = {
        group: list(chain.from_iterable(parts for parts, _ in rows))
        for group, rows in groupby(owned, lambda row: row[1])
    }
    words = list(chain.from_iterable(words_of.values()))
    names = [
        name.encode() if isinstance(name, str) else name or b""
        for name in tokenizer.vocabulary
    ]
    merges = tokenizer.inspect().merge_log[first - 1 :]
    for number, (left, right, token, _count) in enumerate(merges, first):
        group = choices.of_step(number - first)
        counts = _count_pairs(words if group is None else words_of[group])
        merged = (left, right)
        preferred = _preferred(counts, ties, names)
        before = set(takewhile(merged.__ne__, preferred))
        order = sorted(counts, key=lambda pair: (-counts[pair], pair != merged, pair))
        equal = [pair for pair in order if counts[pair] == counts[merged]]
        for word, _n in words:
            _merge(word, left, right, token)
        yield TrainingStep(
            number=number,
            pairs=_counted(order, counts),
            chosen=PairCount(left, right, counts[merged]),
            token=token,
            tied=_counted(
                [p for p in equal if p not in before and p != merged], counts
            ),
            passed_over=_counted([p for p in order if p in before], counts),
            ties=ties,
            pieces=tuple(Piece(tuple(word), count) for word, count in words),
            n_tokens=sum(len(word) * count for word, count in words),
            group=group,
        )


def _begun(
    tokenizer: Tokenizer,
    pieces: Sequence[tuple[bytes, int]],
    n_merges: int,
    cuts: GivenCuts | StrPath | None,
    words: Tokenizer | None,
) -> list[list[Word]]:
    """Segment the parts of each piece into units and do the first merges, or into whole words."""
    if words is not None:
        found = _core.whole_words(words, [piece for piece, _count in pieces])
        rows = zip(found, pieces, strict=True)
        return [
            [([NO_ID if id_ is None else id_ for id_ in ids], count)]
            for ids, (_piece, count) in rows
        ]
    cut = cutting(cuts)
    begun = [
        [
            (part, count)
            for part in _parts(_symbols(tokenizer, piece), cut(piece) if cut else ())
        ]
        for piece, count in pieces
    ]
    for left, right, token, _count in tokenizer.inspect().merge_log[:n_merges]:
        for word, _n in chain.from_iterable(begun):
            _merge(word, left, right, token)
    return begun


def _parts(symbols: Sequence[tuple[int, int]], cuts: Sequence[int]) -> list[list[int]]:
    """Divide symbols where a piece is cut; each belongs to the part in which it begins."""
    parts = groupby(symbols, lambda symbol: bisect(cuts, symbol[1]))
    return [[id_ for id_, _start in part] for _number, part in parts]


def _symbols(tokenizer: Tokenizer, piece: bytes) -> list[tuple[int, int]]:
    """Return the ids of the units of a piece, and where each begins.

    The id is -1 for units outside the alphabet or left out.
    """
    ids: list[tuple[int, int]] = []
    place = 0
    symbols = tokenizer.inspect().symbols(piece)
    kinds = known(tokenizer, [id_ for id_, *_ in symbols if id_ is not None])
    for id_, start, end in symbols:
        if start > place:
            ids.append((NO_ID, place))
        is_letter = id_ is not None and kinds[id_].kind == "text"
        ids.append((id_ if is_letter and id_ is not None else NO_ID, start))
        place = max(place, end)
    return ids


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


def _preferred(
    counts: Counter[tuple[int, int]], ties: Ties, names: Sequence[bytes]
) -> list[tuple[int, int]]:
    """List pairs in the order in which training prefers them."""
    pairs = list(counts)  # in the order of their first occurrence
    if ties == "smallest_ids":
        pairs.sort()
    if ties == "largest_text":
        pairs.sort(key=lambda pair: ([names[id_] for id_ in pair], pair), reverse=True)
    return sorted(pairs, key=lambda pair: -counts[pair])


def _counted(
    pairs: Sequence[tuple[int, int]], counts: Counter[tuple[int, int]]
) -> tuple[PairCount, ...]:
    return tuple(PairCount(*pair, counts[pair]) for pair in pairs)
