"""The differences of two tokenizers: vocabularies, merges, parts, and tokens of a corpus.

Two vocabularies may number their tokens differently, so tokens are compared by their bytes,
never by their ids. If one tokenizer works on bytes and the other on characters, the mark for a
space (``▁``) counts as a space, and byte tokens count as their bytes. Added tokens are compared
by their text, separately from other tokens.

Takes time linear in tokens and merges, and a search for each merge if the order differs.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from operator import eq
from typing import TYPE_CHECKING, Literal, NamedTuple

from bytepair._expected import loaded
from bytepair._ranges import check_index
from bytepair._results import Result
from bytepair.errors import TokenizerError

from ._compare_texts import Added, CorpusComparison, compare_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bytepair._added import AddedToken
    from bytepair._io.files import StrPath
    from bytepair._tokenizer import Tokenizer
    from bytepair.data._sources import Corpus

__all__ = [
    "AddedComparison",
    "Comparison",
    "MergeAt",
    "MergeComparison",
    "Moved",
    "PartComparison",
    "TokenAt",
    "VocabularyComparison",
    "compare",
]

Token = str | bytes
Key = Token | Added
"""The content of a token."""
N_VIEWED = 10
"""How many entries of each kind a view lists."""
_BYTE_TOKEN = re.compile("<0x([0-9A-F]{2})>")


class TokenAt(NamedTuple):
    """A token and its id."""

    token: Token
    id: int


class Moved(NamedTuple):
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


class AddedComparison(NamedTuple):
    """An added token that differs between two tokenizers; ``None`` if one does not have it."""

    content: str
    first: AddedToken | None
    second: AddedToken | None
    first_id: int | None
    second_id: int | None


class PartComparison(NamedTuple):
    """A part of the pipeline that differs; ``None`` if one tokenizer does not have it."""

    name: str
    first: str | None
    second: str | None


@dataclass(frozen=True, repr=False)
class VocabularyComparison(Result):
    """The tokens of two tokenizers, without added tokens.

    Attributes
    ----------
    basis
        The basis of the comparison, in words.
    n_first, n_second, n_common
        Numbers of different tokens.
    only_in_first, only_in_second
        Tokens that only one of them has, ordered by id.
    moved
        Common tokens with different ids, ordered by the id in the first.
    """

    basis: str
    n_first: int
    n_second: int
    n_common: int
    only_in_first: tuple[TokenAt, ...]
    only_in_second: tuple[TokenAt, ...]
    moved: tuple[Moved, ...]

    @property
    def is_same(self) -> bool:
        """Whether both have the same tokens with the same ids."""
        return not (self.only_in_first or self.only_in_second or self.moved)


@dataclass(frozen=True, repr=False)
class MergeComparison(Result):
    """The merges of two tokenizers, ordered by rank.

    Attributes
    ----------
    n_first, n_second
        Numbers of merges; of two merges of a pair, only the one that has an effect counts.
    only_in_first, only_in_second
        Merges that only one of them has, in order.
    n_common
        Number of merges that both have.
    n_other_order
        The smallest number of common merges that must be left out so that the others have the
        same order in both.
    n_alike
        Number of equal merges at the beginning. Merges that share a rank equal only merges that
        share one, too.
    first_difference
        The next merge of each after these; ``None`` for a list that ends there.
    """

    n_first: int
    n_second: int
    only_in_first: tuple[MergeAt, ...]
    only_in_second: tuple[MergeAt, ...]
    n_common: int
    n_other_order: int
    n_alike: int
    first_difference: tuple[MergeAt | None, MergeAt | None]

    @property
    def is_same(self) -> bool:
        """Whether both have the same merges in the same order."""
        return self.first_difference == (None, None)


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """The differences of two tokenizers; see :func:`compare`.

    Attributes
    ----------
    n_vocab
        The size of each vocabulary, in ids.
    fingerprints
        The fingerprint of each.
    vocabulary, merges
        The comparison of what was learned.
    added, parts
        Added tokens and parts of the pipeline that differ.
    corpus
        The comparison of texts; ``None`` without texts.
    """

    n_vocab: tuple[int, int]
    fingerprints: tuple[str, str]
    vocabulary: VocabularyComparison
    merges: MergeComparison
    added: tuple[AddedComparison, ...]
    parts: tuple[PartComparison, ...]
    corpus: CorpusComparison | None

    @property
    def has_same_vocabulary(self) -> bool:
        """Whether all tokens, added tokens included, are the same and have the same ids."""
        return self.vocabulary.is_same and not self.added

    @property
    def is_same(self) -> bool:
        """Whether vocabularies, merges and parts are all the same.

        :func:`bytepair.verify` also compares the results for difficult texts.
        """
        return self.has_same_vocabulary and self.merges.is_same and not self.parts

    def _view(self) -> str:
        from bytepair.views._compare import as_lines

        return "\n".join(line.plain for line in as_lines(self, ("A", "B"), N_VIEWED))


def compare(
    first: Tokenizer | StrPath,
    second: Tokenizer | StrPath,
    corpus: Corpus | None = None,
    *,
    texts: Iterable[str | bytes] | None = None,
    n_most: int = 10,
    added_tokens: Literal["find", "text"] = "find",
    input_format: str | None = None,
    field: str | None = None,
    lines: bool = False,
    separator: str | None = None,
    skip_bad: bool = False,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Comparison:
    """Compare two tokenizers: vocabularies, merges, parts and, if given, texts.

    Parameters
    ----------
    first, second
        Tokenizers, or their paths.
    corpus
        Files, folders, globs, and URLs that fsspec opens, read as by
        :func:`bytepair.scale.count` and with its options. Only a few blocks are in memory.
    texts
        Texts instead of a corpus.
    n_most
        The number of texts to keep, of those that differ most.
    added_tokens
        Whether added tokens that are not special are found in texts, or are plain text.
    threads
        The number of threads; by default one for each processor.
    progress
        Called with the number of bytes done, and the size of the corpus.

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
    >>> found.merges.n_alike, found.vocabulary.only_in_second
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
    reading = (input_format, field, lines, separator, skip_bad)
    if corpus is None:
        named = ("input_format", "field", "lines", "separator", "skip_bad")
        _refuse_idle(zip(named, reading, strict=True), "the files of a corpus")
    if corpus is None and texts is None:
        own = {"added_tokens": added_tokens != "find", "threads": threads}
        _refuse_idle(own.items(), "a corpus or texts=")
    basis = _Basis(first, second)
    found = None
    if corpus is not None or texts is not None:
        found = compare_texts(
            (first, second),
            basis.keys,
            corpus if texts is None else texts,
            is_texts=texts is not None,
            reading=reading,
            n_most=n_most,
            added_tokens=added_tokens,
            threads=threads,
            progress=progress,
        )
    return Comparison(
        n_vocab=(first.n_vocab, second.n_vocab),
        fingerprints=(first.fingerprint, second.fingerprint),
        vocabulary=_compare_vocabularies(basis),
        merges=_compare_merges(basis),
        added=_compare_added(first, second),
        parts=_compare_parts(first, second),
        corpus=found,
    )


def _refuse_idle(options: Iterable[tuple[str, object]], needed: str) -> None:
    """Refuse options of what is not given."""
    for name, value in options:
        if value not in (None, False):
            message = f"{name}= needs {needed}, and none is given"
            raise TokenizerError(message)


class _Basis:
    """The basis for comparing the tokens of two tokenizers."""

    def __init__(self, first: Tokenizer, second: Tokenizer) -> None:
        self.tokenizers = first, second
        are_bytes = [_is_of_bytes(tokenizer) for tokenizer in self.tokenizers]
        self.is_mixed = are_bytes[0] != are_bytes[1]
        self.is_of_bytes = all(are_bytes)
        of_characters = second if are_bytes[0] else first
        self.has_marks = self.is_mixed and _marks_spaces(of_characters)
        self.has_byte_tokens = (
            "byte fallback" in of_characters.inspect().description["units"]
        )
        self.keys = self._keys(first), self._keys(second)

    def __str__(self) -> str:
        if not self.is_mixed:
            return "their bytes" if self.is_of_bytes else "their characters"
        marks = ", ▁ as a space" if self.has_marks else ""
        return f"the bytes that they stand for{marks}"

    def key(self, token: Token) -> Token:
        """Give the key that equal tokens share."""
        if not self.is_mixed or isinstance(token, bytes):
            return token
        if self.has_byte_tokens and (found := _BYTE_TOKEN.fullmatch(token)):
            return bytes([int(found[1], 16)])
        return (token.replace("▁", " ") if self.has_marks else token).encode()

    def _keys(self, tokenizer: Tokenizer) -> list[Key | None]:
        """Give the content of each id; ``None`` for a hole."""
        keys: list[Key | None] = [
            None if token is None else self.key(token) for token in tokenizer.vocabulary
        ]
        for id_, token in tokenizer.added_tokens.items():
            keys[id_] = Added(token.content)
        return keys

    def tokens(self, side: int) -> dict[Key, list[TokenAt]]:
        """List the tokens of one side that are not added tokens, with their ids."""
        found: dict[Key, list[TokenAt]] = {}
        vocabulary = self.tokenizers[side].vocabulary
        for id_, key in enumerate(self.keys[side]):
            if key is not None and not isinstance(key, Added):
                found.setdefault(key, []).append(TokenAt(vocabulary[id_], id_))
        return found

    def merges(self, side: int) -> dict[tuple[Token, Token], MergeAt]:
        """List the merges of one side by the content of their parts, ordered by rank.

        Of two merges of a pair, the later one counts, as in encoding.
        """
        tokenizer = self.tokenizers[side]
        merges = tokenizer.merges
        ranks = tokenizer.inspect().settings["priorities"] or range(len(merges))
        found = {
            (self.key(left), self.key(right)): MergeAt(rank, left, right)
            for rank, (left, right) in zip(ranks, merges, strict=True)
        }
        return dict(sorted(found.items(), key=lambda entry: entry[1].rank))


def _is_of_bytes(tokenizer: Tokenizer) -> bool:
    """Tell whether a tokenizer is byte-level; a character-level one has few byte tokens."""
    added = tokenizer.added_tokens
    tokens = enumerate(tokenizer.vocabulary)
    return not any(isinstance(t, str) for id_, t in tokens if id_ not in added)


def _marks_spaces(tokenizer: Tokenizer) -> bool:
    """Tell whether a tokenizer writes ``▁`` for a space."""
    try:
        return any("▁" in token for token in tokenizer.tokenize(" "))
    except TokenizerError:
        return False


def _compare_vocabularies(basis: _Basis) -> VocabularyComparison:
    first, second = basis.tokens(0), basis.tokens(1)
    common = [key for key in first if key in second]
    moved = [
        Moved(first[key][0].token, _ids(first[key]), _ids(second[key]))
        for key in common
        if _ids(first[key]) != _ids(second[key])
    ]
    return VocabularyComparison(
        basis=str(basis),
        n_first=len(first),
        n_second=len(second),
        n_common=len(common),
        only_in_first=_only(first, second),
        only_in_second=_only(second, first),
        moved=tuple(sorted(moved, key=lambda token: token.first_ids)),
    )


def _ids(tokens: list[TokenAt]) -> tuple[int, ...]:
    return tuple(token.id for token in tokens)


def _only(
    here: dict[Key, list[TokenAt]], there: dict[Key, list[TokenAt]]
) -> tuple[TokenAt, ...]:
    found = [token for key, some in here.items() if key not in there for token in some]
    return tuple(sorted(found, key=lambda token: token.id))


def _compare_merges(basis: _Basis) -> MergeComparison:
    first, second = basis.merges(0), basis.merges(1)
    place_of = {pair: place for place, pair in enumerate(second)}
    places = [place_of[pair] for pair in first if pair in second]
    here, there = list(first), list(second)
    steps = _in_order(first), _in_order(second)
    n_alike = next(
        (n for n, (one, other) in enumerate(zip(*steps, strict=False)) if one != other),
        min(len(here), len(there)),
    )
    return MergeComparison(
        n_first=len(here),
        n_second=len(there),
        only_in_first=tuple(m for pair, m in first.items() if pair not in second),
        only_in_second=tuple(m for pair, m in second.items() if pair not in first),
        n_common=len(places),
        n_other_order=len(places) - _longest_rise(places),
        n_alike=n_alike,
        first_difference=(
            first[here[n_alike]] if n_alike < len(here) else None,
            second[there[n_alike]] if n_alike < len(there) else None,
        ),
    )


def _in_order(
    merges: dict[tuple[Token, Token], MergeAt],
) -> list[tuple[tuple[Token, Token], bool]]:
    """Give each pair, and whether it shares its rank with the merge before it."""
    ranks = [merge.rank for merge in merges.values()]
    shares = [False, *map(eq, ranks, ranks[1:])]
    return list(zip(merges, shares, strict=False))


def _longest_rise(numbers: list[int]) -> int:
    """Give the length of the longest increasing subsequence of distinct numbers.

    >>> _longest_rise([0, 1, 2]), _longest_rise([2, 0, 1]), _longest_rise([2, 1, 0])
    (3, 2, 1)
    """
    ends: list[int] = []
    """The smallest end of an increasing subsequence of each length."""
    for number in numbers:
        if not ends or number > ends[-1]:
            ends.append(number)
        else:
            ends[bisect_left(ends, number)] = number
    return len(ends)


def _compare_added(first: Tokenizer, second: Tokenizer) -> tuple[AddedComparison, ...]:
    here = {token.content: (id_, token) for id_, token in first.added_tokens.items()}
    there = {token.content: (id_, token) for id_, token in second.added_tokens.items()}
    found = []
    for content in dict.fromkeys([*here, *there]):
        one, other = here.get(content), there.get(content)
        if one != other:
            (id_, token), (other_id, other_token) = one or _NONE, other or _NONE
            found.append(AddedComparison(content, token, other_token, id_, other_id))
    return tuple(found)


_NONE: tuple[None, None] = None, None

COUNTED = ("vocabulary", "added tokens")
"""Parts of a description that summarize what is compared in full elsewhere."""


def _compare_parts(first: Tokenizer, second: Tokenizer) -> tuple[PartComparison, ...]:
    here, there = first.inspect().description, second.inspect().description
    return tuple(
        PartComparison(name, here.get(name), there.get(name))
        for name in dict.fromkeys([*here, *there])
        if name not in COUNTED and here.get(name) != there.get(name)
    )
