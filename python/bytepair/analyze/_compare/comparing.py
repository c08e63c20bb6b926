"""What differs between two tokenizers: vocabularies, merges, added tokens, parts, and tokens of a corpus.

Two vocabularies may number their tokens differently, so tokens are compared by their content, never by their ids.

Takes time linear in tokens and merges, and a search for each merge if the order differs.
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from operator import eq
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeAlias, TypeVar, cast

from bytepair._expected import loaded, refuse_unknown
from bytepair._ranges import check_index
from bytepair._results import Result
from bytepair.analyze._stats.measure import FileOptions
from bytepair.errors import TokenizerError

from .corpus import CorpusComparison, compare_corpus, compare_texts
from .pairing import Key, Pairing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from typing_extensions import Unpack

    from bytepair._added import AddedToken
    from bytepair._io.files import StrPath
    from bytepair._tokenizer import Tokenizer
    from bytepair.data._sources import Corpus
    from bytepair.views._runs import Line

__all__ = [
    "AddedComparison",
    "Comparison",
    "ListComparison",
    "MergeAt",
    "MergePairing",
    "MovedMerge",
    "MovedToken",
    "PartComparison",
    "TokenAt",
    "compare",
    "compare_added",
]

Token: TypeAlias = "str | bytes"
Pair: TypeAlias = tuple[Key, Key, int]
"""The parts of a merge, and which of the tokens with the same text it makes."""
N_VIEWED = 10
"""How many entries of each kind a view lists."""


class TokenAt(NamedTuple):
    """A token and its id."""

    token: Token
    id: int


class MovedToken(NamedTuple):
    """A token that both have, with its ids in each: usually one, in some files several."""

    token: Token
    first_ids: tuple[int, ...]
    second_ids: tuple[int, ...]


class MergeAt(NamedTuple):
    """A merge and its rank: the lowest goes first.

    Ranks count from 0, unless the tokenizer has ranks of its own, which merges may share.
    """

    rank: int
    left: Token
    right: Token


class MovedMerge(NamedTuple):
    """A merge that both have, with its rank in each."""

    first_rank: int
    second_rank: int
    left: Token
    right: Token


class AddedComparison(NamedTuple):
    """An added token that differs between two tokenizers; ``None`` if one does not have it."""

    content: str
    first: AddedToken | None
    second: AddedToken | None
    first_id: int | None
    second_id: int | None

    def changed_properties(self) -> list[str]:
        """Name the properties that differ, if both have the token."""
        if self.first is None or self.second is None:
            return []
        here, there = self.first.properties(), self.second.properties()
        return [name for name in here if here[name] != there[name]]

    def sides(self) -> tuple[str, str]:
        """Return the id in each tokenizer, with the properties that differ, for a reader."""
        first, second = (
            "none" if token is None else self._side(token, id_)
            for token, id_ in (
                (self.first, self.first_id),
                (self.second, self.second_id),
            )
        )
        return first, second

    def _side(self, token: AddedToken, id_: int | None) -> str:
        has = token.properties()
        changed = self.changed_properties()
        properties = [name if has[name] else f"not {name}" for name in changed]
        return ", ".join([f"{id_:,}", *properties])


class PartComparison(NamedTuple):
    """A part of the pipeline that differs; ``None`` if one tokenizer does not have it."""

    name: str
    first: str | None
    second: str | None


Entry = TypeVar("Entry", covariant=True)
MovedEntry = TypeVar("MovedEntry", covariant=True)


@dataclass(frozen=True, repr=False)
class ListComparison(Result, Generic[Entry, MovedEntry]):
    """The tokens or the merges of two tokenizers.

    Attributes
    ----------
    n_first, n_second, n_common
        Numbers of different tokens; of two merges of a pair, only the one that has an effect counts.
    only_in_first, only_in_second
        Those that only one of them has, ordered by id or rank.
    n_moved, moved
        Common tokens with different ids; the fewest common merges without which the others have the
        same order in both.
    """

    n_first: int
    n_second: int
    n_common: int
    only_in_first: tuple[Entry, ...]
    only_in_second: tuple[Entry, ...]
    n_moved: int
    moved: tuple[MovedEntry, ...]

    @property
    def is_same(self) -> bool:
        """Whether both have the same, with the same ids or in the same order."""
        return not (self.only_in_first or self.only_in_second or self.moved)


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """The differences of two tokenizers; see :func:`compare`.

    Attributes
    ----------
    n_vocab
        The size of each vocabulary, in ids.
    fingerprints
        The fingerprint of each.
    basis
        The basis for comparing tokens, in words.
    vocabulary, merges
        The comparison of tokens, with added tokens, and of merges.
    added, parts
        Added tokens and parts of the pipeline that differ.
    corpus
        The comparison of texts; ``None`` without texts.
    """

    n_vocab: tuple[int, int]
    fingerprints: tuple[str, str]
    basis: str
    vocabulary: ListComparison[TokenAt, MovedToken]
    merges: ListComparison[MergeAt, MovedMerge]
    added: tuple[AddedComparison, ...]
    parts: tuple[PartComparison, ...]
    corpus: CorpusComparison | None

    @property
    def is_same(self) -> bool:
        """Whether vocabularies, merges, added tokens and parts are all the same.

        :func:`bytepair.verify` also compares the results for difficult texts.
        """
        return (
            self.vocabulary.is_same
            and self.merges.is_same
            and not (self.added or self.parts)
        )

    def _lines(self) -> Iterator[Line]:
        from .draw import as_lines

        return as_lines(self, ("A", "B"), N_VIEWED)


def compare(
    first: Tokenizer | StrPath,
    second: Tokenizer | StrPath,
    corpus: Corpus | None = None,
    *,
    texts: Iterable[str | bytes] | None = None,
    n_most: int = 10,
    **options: Unpack[FileOptions],
) -> Comparison:
    """Compare two tokenizers: vocabularies, merges, parts and, if given, texts.

    Parameters
    ----------
    first, second
        Tokenizers, or their paths.
    corpus
        Files, folders, globs, and URLs that fsspec opens, read as by
        :func:`bytepair.scale.count` and with its options. Only a few blocks are in memory, and
        the longest text.
    texts
        Texts instead of a corpus.
    n_most
        The number of texts to keep, of those that differ most.
    options
        Those of :func:`measure`: how files are read, ``added_tokens``, ``threads`` and
        ``progress``.

    Raises
    ------
    FileError, FormatError
        A tokenizer or a file of the corpus cannot be read.
    TokenizerError
        A tokenizer refuses a text; the message names the file.

    Examples
    --------
    >>> import bytepair
    >>> from bytepair.analyze import compare
    >>> small = bytepair.train_from_iterator(["low lower lowest"], vocab_size=258)
    >>> large = bytepair.train_from_iterator(["low lower lowest"], vocab_size=260)
    >>> found = compare(small, large, texts=["low", "lower"])
    >>> found.merges.n_common, found.vocabulary.only_in_second
    (2, (TokenAt(token=b' low', id=258), TokenAt(token=b' lowe', id=259)))
    >>> found.corpus.first_tokens, found.corpus.second_tokens, found.corpus.n_changed
    (4, 4, 0)
    """
    check_index(n_most=n_most)
    if n_most < 0:
        message = f"n_most must be at least 0, not {n_most}"
        raise TokenizerError(message)
    first, second = loaded(first), loaded(second)
    if corpus is not None and texts is not None:
        message = "give either a corpus or texts, not both"
        raise TokenizerError(message)
    refuse_unknown("compare", options, FileOptions.__annotations__)
    _refuse_idle(options, has_corpus=corpus is not None, has_texts=texts is not None)
    pairing = Pairing(first, second)
    found = None
    if corpus is not None:
        found = compare_corpus(pairing, corpus, n_most, options)
    elif texts is not None:
        found = compare_texts(pairing, texts, n_most, options)
    return Comparison(
        n_vocab=(first.n_vocab, second.n_vocab),
        fingerprints=(first.fingerprint, second.fingerprint),
        basis=pairing.basis,
        vocabulary=_compare_vocabularies(pairing),
        merges=_compare_merges(MergePairing(pairing)),
        added=compare_added(first, second),
        parts=_compare_parts(first, second),
        corpus=found,
    )


def _refuse_idle(options: FileOptions, *, has_corpus: bool, has_texts: bool) -> None:
    """Refuse options that need what is not given."""
    for name, value in options.items():
        is_of_texts = name in ("added_tokens", "threads")
        is_used = has_corpus or (has_texts and is_of_texts)
        if value not in (None, False) and not is_used and name != "progress":
            needed = "a corpus or texts=" if is_of_texts else "the files of a corpus"
            message = f"{name}= needs {needed}, and none is given"
            raise TokenizerError(message)


def _compare_vocabularies(pairing: Pairing) -> ListComparison[TokenAt, MovedToken]:
    first, second = pairing.ids
    here, there = (tokenizer.vocabulary for tokenizer in pairing.tokenizers)
    common = [key for key in first if key in second]
    moved = tuple(
        MovedToken(here[first[key][0]], tuple(first[key]), tuple(second[key]))
        for key in common
        if first[key] != second[key]
    )
    ids = (_ids_only_in(first, second), _ids_only_in(second, first))
    return ListComparison(
        n_first=len(first),
        n_second=len(second),
        n_common=len(common),
        only_in_first=tuple(TokenAt(here[id_], id_) for id_ in ids[0]),
        only_in_second=tuple(TokenAt(there[id_], id_) for id_ in ids[1]),
        n_moved=len(moved),
        moved=moved,
    )


def _ids_only_in(here: dict[Key, list[int]], there: dict[Key, list[int]]) -> list[int]:
    return sorted(id_ for key, ids in here.items() if key not in there for id_ in ids)


class MergePairing:
    """The merges of two tokenizers, side by side, by the content of their parts."""

    def __init__(self, pairing: Pairing) -> None:
        self.first, self.second = (_merges(pairing, side) for side in (0, 1))

    @cached_property
    def common(self) -> list[Pair]:
        """The merges that both have, in the order of the first."""
        return [pair for pair in self.first if pair in self.second]

    @cached_property
    def misplaced(self) -> list[Pair]:
        """The fewest common merges without which the others have the same order in both."""
        ranks = [
            (self.first[pair].rank, self.second[pair].rank) for pair in self.common
        ]
        in_order = longest_rise([second for _, second in ranks])
        is_wrong = [True] * len(ranks)
        for place in in_order:
            is_wrong[place] = False
        for before, place in pairwise(in_order):
            shares = map(eq, ranks[before], ranks[place])
            is_wrong[place] = len(set(shares)) > 1
        return [
            pair for pair, wrong in zip(self.common, is_wrong, strict=True) if wrong
        ]


def _merges(pairing: Pairing, side: int) -> dict[Pair, MergeAt]:
    """Return the merges of one tokenizer, ordered by rank.

    Of two merges of a pair, the later one counts, as in encoding.
    """
    tokenizer, ids = pairing.tokenizers[side], pairing.ids[side]
    keys = cast("list[Key]", pairing.keys[side])  # no merge has an id without a token
    vocabulary, log = tokenizer.vocabulary, tokenizer.inspect().merge_log
    ranks = tokenizer.inspect().settings["priorities"] or range(len(log))
    found = {}
    for rank, (left, right, made, _count) in zip(ranks, log, strict=True):
        pair = keys[left], keys[right], ids[keys[made]].index(made)
        found[pair] = MergeAt(rank, vocabulary[left], vocabulary[right])
    return dict(sorted(found.items(), key=lambda entry: entry[1].rank))


def longest_rise(numbers: Sequence[int]) -> list[int]:
    """Return the places of the most numbers that do not fall.

    >>> longest_rise([0, 9, 1, 2, 2, 8])
    [0, 2, 3, 4, 5]
    """
    ends: list[int] = []  # by length: the least last number, and its place
    places: list[int] = []
    before: list[int] = []
    for place, number in enumerate(numbers):
        n = bisect.bisect_right(ends, number)
        before.append(places[n - 1] if n else -1)
        ends[n : n + 1] = [number]
        places[n : n + 1] = [place]
    found = []
    place = places[-1] if places else -1
    while place >= 0:
        found.append(place)
        place = before[place]
    return found[::-1]


def _compare_merges(merges: MergePairing) -> ListComparison[MergeAt, MovedMerge]:
    first, second = merges.first, merges.second
    moved = tuple(
        MovedMerge(first[pair].rank, second[pair].rank, *first[pair][1:])
        for pair in merges.misplaced
    )
    return ListComparison(
        n_first=len(first),
        n_second=len(second),
        n_common=len(merges.common),
        only_in_first=tuple(m for pair, m in first.items() if pair not in second),
        only_in_second=tuple(m for pair, m in second.items() if pair not in first),
        n_moved=len(moved),
        moved=moved,
    )


def compare_added(first: Tokenizer, second: Tokenizer) -> tuple[AddedComparison, ...]:
    """List the added tokens that differ."""
    here = {token.content: (id_, token) for id_, token in first.added_tokens.items()}
    there = {token.content: (id_, token) for id_, token in second.added_tokens.items()}
    found = []
    for content in dict.fromkeys([*here, *there]):
        id_, token = here.get(content, (None, None))
        other_id, other = there.get(content, (None, None))
        if (id_, token) != (other_id, other):
            found.append(AddedComparison(content, token, other, id_, other_id))
    return tuple(found)


DERIVED = ("vocabulary", "added tokens")
"""Lines of a description that summarize what is compared in full elsewhere."""


def _compare_parts(first: Tokenizer, second: Tokenizer) -> tuple[PartComparison, ...]:
    here, there = first.inspect().description, second.inspect().description
    return tuple(
        PartComparison(name, here.get(name), there.get(name))
        for name in dict.fromkeys([*here, *there])
        if name not in DERIVED and here.get(name) != there.get(name)
    )
