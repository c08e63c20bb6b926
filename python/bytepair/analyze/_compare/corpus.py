"""The tokens of two tokenizers for the same texts: counts, and the texts that differ most.

Ids are replaced by numbers that identify the content of tokens, so that two vocabularies can be
compared. A few blocks of texts and their ids are in memory, and the longest text.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from operator import sub
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from bytepair import _core
from bytepair._names import refuse_set
from bytepair._numpy import np
from bytepair._results import Result
from bytepair.analyze._missing import Encoder
from bytepair.analyze._stats.measure import FileOptions, batches
from bytepair.analyze._stats.meter import naming
from bytepair.data._opening import naming as naming_file
from bytepair.data._readers import (
    Part,
    ReadOptions,
    Rows,
    Tally,
    read_rows,
    refuse_idle,
)
from bytepair.data._sources import list_sources

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from bytepair._tokenizer import Tokenizer
    from bytepair.data._sources import Corpus

    from .pairing import Key, Pairing

__all__ = [
    "CorpusComparison",
    "FileComparison",
    "FirstDifference",
    "TextComparison",
    "compare_corpus",
    "compare_texts",
]

N_BEFORE = 3
"""The number of tokens that are kept before a difference."""
MAX_AFTER = 12
"""The largest number of tokens of each that are kept from a difference on."""
SPACES = (b"", b" ", "▁".encode())
"""What some tokenizers put before a text."""
MISSING = "\ufffd"
"""How a character that no token stands for is shown."""

Token: TypeAlias = "str | bytes"


class FirstDifference(NamedTuple):
    """The first difference of two rows of tokens, up to the next common cut.

    Attributes
    ----------
    n_alike
        The number of equal tokens before it.
    before
        The last of these tokens.
    first, second
        The tokens of each from there on; ``�`` is a character that no token stands for.
    is_whole
        Whether these tokens have the same text; otherwise they are cut short.
    """

    n_alike: int
    before: tuple[Token, ...]
    first: tuple[Token, ...]
    second: tuple[Token, ...]
    is_whole: bool


class TextComparison(NamedTuple):
    """A text with different tokens in two tokenizers.

    Attributes
    ----------
    path
        Its file; empty for given texts.
    number
        Its number in that file, from 1 on.
    first_tokens, second_tokens
        The number of tokens in each.
    difference
        The first difference of the tokens.
    """

    path: str
    number: int
    first_tokens: int
    second_tokens: int
    difference: FirstDifference


class FileComparison(NamedTuple):
    """The tokens of two tokenizers for a file."""

    path: str
    n_texts: int
    n_changed: int
    first_tokens: int
    second_tokens: int


@dataclass(frozen=True, repr=False)
class CorpusComparison(Result):
    """The tokens of two tokenizers for a corpus.

    Attributes
    ----------
    n_texts, n_bytes, n_bad
        Texts, their bytes, and lines without a text that were skipped.
    first_tokens, second_tokens
        The number of tokens in each, for all texts.
    n_changed
        The number of texts with different tokens, compared by content, not by id.
    most
        The texts with the largest difference in the number of tokens, the largest first.
    first_changed
        The first text with different tokens.
    files
        The same numbers for each file, in the order of the corpus.
    first_missing, second_missing
        The number of characters that no token stands for in each. They count as tokens, unless
        the tokenizer leaves them out.
    first_unknown, second_unknown
        The number of unknown tokens of each.
    """

    n_texts: int
    n_bytes: int
    n_bad: int
    first_tokens: int
    second_tokens: int
    n_changed: int
    most: tuple[TextComparison, ...]
    first_changed: TextComparison | None
    files: tuple[FileComparison, ...]
    first_missing: int = 0
    second_missing: int = 0
    first_unknown: int = 0
    second_unknown: int = 0


def compare_texts(
    pairing: Pairing, texts: Iterable[str | bytes], n_most: int, options: FileOptions
) -> CorpusComparison:
    """Encode texts with both tokenizers, and compare the tokens."""
    refuse_set("texts", texts, "the result")
    comparer = _Comparer(pairing, n_most, options)
    comparer.add_all("", map(_laid_out, batches(texts)))
    return comparer.finish((), 0)


def compare_corpus(
    pairing: Pairing,
    corpus: Corpus,
    n_most: int,
    options: FileOptions,
) -> CorpusComparison:
    """Encode the texts of files with both tokenizers, and compare the tokens."""
    reading = ReadOptions(
        options.get("field"),
        options.get("lines", False),
        options.get("separator"),
        options.get("skip_bad", False),
    )
    sources = list_sources(corpus, options.get("input_format"))
    refuse_idle(sources, reading)
    comparer, progress = _Comparer(pairing, n_most, options), options.get("progress")
    n_total = sum(source.size for source in sources)
    n_before = n_bad = 0
    files = []
    for source in sources:
        tally, part, before = Tally(), Part(source), comparer.numbers()

        def tell(
            tally: Tally = tally, part: Part = part, start: int = n_before
        ) -> None:
            if progress is not None:
                progress(min(start + tally.place(part), n_total), n_total)

        with naming_file(source.path):
            comparer.add_all(source.path, read_rows(part, reading, tally), tell)
        numbers = map(sub, comparer.numbers(), before)
        files.append(FileComparison(source.path, *numbers))
        n_before += source.size
        n_bad += tally.bad
    if progress is not None:
        progress(n_total, n_total)
    return comparer.finish(tuple(files), n_bad)


def _laid_out(batch: list[bytes]) -> Rows:
    offsets = np.cumsum([0, *map(len, batch)], dtype=np.int64)
    return Rows(np.frombuffer(b"".join(batch), np.uint8), offsets)


class _Row(NamedTuple):
    """The ids of some texts, and the end of each text's ids."""

    ids: NDArray[Any]
    ends: NDArray[np.int64]

    def of(self, place: int) -> NDArray[Any]:
        start = int(self.ends[place - 1]) if place else 0
        return self.ids[start : int(self.ends[place])]

    def counts(self) -> NDArray[np.int64]:
        return np.diff(self.ends, prepend=0)


class _Comparer:
    """Encodes texts with two tokenizers, and adds up the differences."""

    def __init__(self, pairing: Pairing, n_most: int, options: FileOptions) -> None:
        self.tokenizers, self.n_most = pairing.tokenizers, n_most
        self.encoding: dict[str, Any] = {
            "added_tokens": options.get("added_tokens", "find"),
            "threads": options.get("threads"),
        }
        self.encoders = [Encoder.of(tokenizer) for tokenizer in pairing.tokenizers]
        self.keys = [
            # The token that stands for missing characters comes behind all others.
            keys if encoder.missing is None else [*keys, None]
            for keys, encoder in zip(pairing.keys, self.encoders, strict=True)
        ]
        self.contents = _numbered(self.keys)
        self.n_texts = self.n_bytes = self.n_changed = 0
        self.unknown_ids = list(map(_unknown_id, pairing.tokenizers))
        self.tokens, self.missing, self.unknown = [0, 0], [0, 0], [0, 0]
        self.most: list[TextComparison] = []
        self.first_changed: TextComparison | None = None

    def numbers(self) -> tuple[int, int, int, int]:
        """Return the numbers of a :class:`FileComparison`, for all texts so far."""
        return self.n_texts, self.n_changed, self.tokens[0], self.tokens[1]

    def add_all(
        self,
        path: str,
        rows: Iterable[Rows],
        tell: Callable[[], None] = lambda: None,
    ) -> None:
        """Compare the texts of a file."""
        n_before = 0
        for some in rows:
            self._add(path, n_before, some.data, some.offsets)
            n_before += len(some.offsets) - 1
            tell()

    def _add(
        self,
        path: str,
        n_before: int,
        data: NDArray[np.uint8],
        offsets: NDArray[np.int64],
    ) -> None:
        """Compare some texts of a file; ``n_before`` come before them."""
        first, second = (self._encoded(side, data, offsets) for side in (0, 1))
        self.n_texts += len(offsets) - 1
        self.n_bytes += int(offsets[-1] - offsets[0])
        for side, row in enumerate((first, second)):
            self.tokens[side] += len(row.ids)
            self.missing[side] += self._n_missing(side, row, data, offsets)
            unknown = self.unknown_ids[side]
            if unknown is not None:
                self.unknown[side] += int(np.count_nonzero(row.ids == unknown))
        changed = self._changed(first, second)
        self.n_changed += len(changed)
        growth = np.abs(first.counts() - second.counts())[changed]
        largest = changed[np.argsort(-growth, kind="stable")][: self.n_most].tolist()

        def compared(place: int) -> TextComparison:
            here, there = first.of(place), second.of(place)
            return TextComparison(
                path=path,
                number=n_before + place + 1,
                first_tokens=len(here),
                second_tokens=len(there),
                difference=self._difference(here, there),
            )

        if self.first_changed is None and len(changed):
            self.first_changed = compared(int(changed[0]))
        most = [*self.most, *map(compared, largest)]
        most.sort(key=lambda text: -abs(text.second_tokens - text.first_tokens))
        self.most = most[: self.n_most]

    def _encoded(
        self, side: int, data: NDArray[np.uint8], offsets: NDArray[np.int64]
    ) -> _Row:
        with naming(f"the {('first', 'second')[side]} tokenizer"):
            tokenizer = self.encoders[side].tokenizer
            rows = _core.encode_rows(tokenizer, (data, offsets), **self.encoding)
        return _Row(*rows)

    def _n_missing(
        self,
        side: int,
        row: _Row,
        data: NDArray[np.uint8],
        offsets: NDArray[np.int64],
    ) -> int:
        """Count the characters that no token of one tokenizer stands for."""
        encoder, ids = self.encoders[side], row.ids
        missing = encoder.missing
        if encoder.finder is not None and encoder.may_miss(data):
            finder, missing = encoder.finder
            ids, _ends = _core.encode_rows(finder, (data, offsets), **self.encoding)
        return 0 if missing is None else int(np.count_nonzero(ids == missing))

    def _changed(self, first: _Row, second: _Row) -> NDArray[np.int64]:
        """List the texts whose tokens differ."""
        counts, other_counts = first.counts(), second.counts()
        is_as_long = counts == other_counts
        here = self.contents[0][first.ids[np.repeat(is_as_long, counts)]]
        there = self.contents[1][second.ids[np.repeat(is_as_long, other_counts)]]
        texts = np.repeat(np.flatnonzero(is_as_long), counts[is_as_long])
        is_changed = ~is_as_long
        is_changed[texts[here != there]] = True
        return np.flatnonzero(is_changed)

    def _difference(self, first: NDArray[Any], second: NDArray[Any]) -> FirstDifference:
        """Find the first difference of the tokens of a text."""
        n_shorter = min(len(first), len(second))
        here = self.contents[0][first[:n_shorter]]
        there = self.contents[1][second[:n_shorter]]
        places = np.flatnonzero(here != there)
        place = int(places[0]) if len(places) else n_shorter
        rows = [ids[place : place + MAX_AFTER].tolist() for ids in (first, second)]
        texts = [
            [MISSING.encode() if (key := keys[id_]) is None else key[-1] for id_ in row]
            for keys, row in zip(self.keys, rows, strict=True)
        ]
        n_alike = _until_alike(texts[0], texts[1], is_begin=place == 0)
        is_whole = n_alike is not None or all(
            len(ids) <= place + MAX_AFTER for ids in (first, second)
        )
        if n_alike is not None:
            rows = [row[:n] for row, n in zip(rows, n_alike, strict=True)]
        before = first[max(0, place - N_BEFORE) : place].tolist()
        return FirstDifference(
            place,
            self._tokens(0, before),
            self._tokens(0, rows[0]),
            self._tokens(1, rows[1]),
            is_whole,
        )

    def _tokens(self, side: int, ids: list[int]) -> tuple[Token, ...]:
        missing = self.encoders[side].missing
        inspected = self.tokenizers[side].inspect()
        known = inspected.tokens([id_ for id_ in ids if id_ != missing])
        entries = {token.id: token.entry for token in known}
        return tuple(entries.get(id_, MISSING) for id_ in ids)

    def finish(self, files: tuple[FileComparison, ...], n_bad: int) -> CorpusComparison:
        """Return the result for all texts."""
        return CorpusComparison(
            n_texts=self.n_texts,
            n_bytes=self.n_bytes,
            n_bad=n_bad,
            first_tokens=self.tokens[0],
            second_tokens=self.tokens[1],
            n_changed=self.n_changed,
            most=tuple(self.most),
            first_changed=self.first_changed,
            files=files,
            first_missing=self.missing[0],
            second_missing=self.missing[1],
            first_unknown=self.unknown[0],
            second_unknown=self.unknown[1],
        )


def _unknown_id(tokenizer: Tokenizer) -> int | None:
    name = tokenizer.inspect().settings["unknown"]
    return None if name is None else tokenizer.token_to_id(name)


def _numbered(
    keys: Sequence[Sequence[Key | None]],
) -> list[NDArray[np.int32]]:
    """Return a number for the content of each id, the same for equal contents."""
    known: dict[Key | None, int] = {}
    return [
        np.array([known.setdefault(key, len(known)) for key in side], np.int32)
        for side in keys
    ]


def _until_alike(
    first: list[bytes], second: list[bytes], *, is_begin: bool
) -> tuple[int, int] | None:
    """Return the numbers of tokens after which both have the same text, if there are any.

    At the beginning of a text, one tokenizer may have added a space.

    >>> _until_alike([b"l", b"ow", b"er"], [b"low", b"er"], is_begin=False)
    (2, 1)
    >>> _until_alike([b"low", b"er"], [b" lo", b"w"], is_begin=True)
    (1, 2)
    >>> _until_alike([b"  ", b"a"], [b" ", b"a"], is_begin=True)
    (1, 1)
    """
    spaces = SPACES if is_begin else SPACES[:1]

    def is_alike(numbers: tuple[int, int]) -> bool:
        here, there = b"".join(first[: numbers[0]]), b"".join(second[: numbers[1]])
        return any(space + here == there or here == space + there for space in spaces)

    numbers = product(range(1, len(first) + 1), range(1, len(second) + 1))
    return min(filter(is_alike, numbers), key=sum, default=None)
