"""The tokens of two tokenizers for the same texts: counts, and the texts that differ most.

Ids are replaced by numbers that identify the content of tokens, so that two vocabularies can be
compared. Only a few blocks of texts and ids are in memory. A text file that is one long text is
encoded by each tokenizer to a temporary file of about the size of the text.
"""

from __future__ import annotations

import contextlib
import heapq
import shutil
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from bytepair import _core
from bytepair._io import token_files
from bytepair._io.temporary import TemporaryFolder
from bytepair._names import refuse_set
from bytepair._numpy import np
from bytepair._results import Result
from bytepair.data._opening import naming, open_source
from bytepair.data._readers import (
    Part,
    ReadOptions,
    Tally,
    is_whole_text,
    read_rows,
    refuse_idle,
)
from bytepair.data._sources import list_sources
from bytepair.errors import TokenizerError

from ._missing import Encoder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from bytepair._tokenizer import Tokenizer
    from bytepair.data._recognise import Source

__all__ = [
    "CorpusComparison",
    "FileComparison",
    "FirstDifference",
    "TextComparison",
    "compare_texts",
]

LARGE_TEXT_LEN = 64 << 20
"""Files of a single text that are larger than this, in bytes, are encoded to files."""
BLOCK_LEN = 1 << 20
"""The number of ids of such a file that are compared at once."""
BATCH_LEN = 4 << 20
"""The number of bytes of given texts that are encoded at once."""
N_BEFORE = 3
"""The number of tokens that are kept before a difference."""
SPACES = (b" ", "▁".encode())
"""A space or the mark for one, which some tokenizers put before a text."""
N_AFTER = 12
"""The largest number of tokens of each that are kept from a difference on."""

Token = str | bytes


class Added(NamedTuple):
    """The content of an added token, which never equals a token of a model."""

    content: str


class Missing(NamedTuple):
    """The content of a character that no token stands for."""

    content: str = "\ufffd"


Key = Token | Added | Missing


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

    @property
    def ratio(self) -> float | None:
        """Tokens of the second for each token of the first; ``None`` if the first has none.

        >>> CorpusComparison(1, 9, 0, 4, 5, 1, (), None, ()).ratio
        1.25
        """
        return self.second_tokens / self.first_tokens if self.first_tokens else None


@dataclass(frozen=True)
class _Pair:
    """Two tokenizers, what encodes for them, and the content of their ids."""

    tokenizers: tuple[Tokenizer, Tokenizer]
    encoders: tuple[Encoder, Encoder]
    numbers: tuple[NDArray[np.int32], NDArray[np.int32]]
    keys: tuple[Sequence[Key | None], Sequence[Key | None]]
    added_tokens: Literal["find", "text"]
    threads: int | None

    def encode(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> list[_Row]:
        """Encode rows of texts with both."""
        rows = []
        for name, encoder in zip(("first", "second"), self.encoders, strict=True):
            with _naming_tokenizer(name):
                rows.append(_Row(*self._encoded(encoder.tokenizer, data, offsets)))
        return rows

    def n_missing(
        self,
        side: int,
        row: _Row,
        data: NDArray[np.uint8],
        offsets: NDArray[np.int64],
    ) -> int:
        """Count the characters of rows of texts that no token of one side stands for."""
        encoder, ids = self.encoders[side], row.ids
        missing = encoder.missing
        if encoder.finder is not None:
            if not encoder.may_miss(data):
                return 0
            finder, missing = encoder.finder
            ids = self._encoded(finder, data, offsets)[0]
        return int(np.count_nonzero(ids == missing)) if missing is not None else 0

    def _encoded(
        self,
        tokenizer: _core.CoreTokenizer,
        data: NDArray[np.uint8],
        offsets: NDArray[np.int64],
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        return _core.encode_rows(
            tokenizer,
            (data, offsets),
            added_tokens=self.added_tokens,
            threads=self.threads,
        )

    def difference(self, first: Any, second: Any) -> FirstDifference | None:  # noqa: ANN401 -- arrays of ids
        """Find the first difference of the tokens of a text; blocks bound the memory."""
        for start in range(0, max(len(first), len(second), 1), BLOCK_LEN):
            here = self.numbers[0][first[start : start + BLOCK_LEN]]
            there = self.numbers[1][second[start : start + BLOCK_LEN]]
            n_shorter = min(len(here), len(there))
            (places,) = np.nonzero(here[:n_shorter] != there[:n_shorter])
            if len(places) or len(here) != len(there):
                place = start + int(places[0] if len(places) else n_shorter)
                return self._difference_at(place, first, second)
        return None

    def _difference_at(
        self,
        place: int,
        first: Any,  # noqa: ANN401
        second: Any,  # noqa: ANN401
    ) -> FirstDifference:
        before = first[max(0, place - N_BEFORE) : place]
        shown = [ids[place : place + N_AFTER].tolist() for ids in (first, second)]
        n_alike = _until_alike(
            [
                [_bytes(keys[id_]) for id_ in ids]
                for keys, ids in zip(self.keys, shown, strict=True)
            ],
            is_begin=place == 0,
        )
        is_whole = n_alike is not None or all(
            len(ids) <= place + N_AFTER for ids in (first, second)
        )
        if n_alike is not None:
            shown = [ids[:n] for ids, n in zip(shown, n_alike, strict=True)]
        here, there = (self._tokens(side, ids) for side, ids in enumerate(shown))
        return FirstDifference(place, self._tokens(0, before), here, there, is_whole)

    def _tokens(self, side: int, ids: Sequence[int]) -> tuple[Token, ...]:
        tokenizer, missing = self.tokenizers[side], self.encoders[side].missing
        wanted = [int(id_) for id_ in ids if id_ != missing]
        known = {token.id: token for token in tokenizer.inspect().tokens(wanted)}
        return tuple(
            Missing().content if id_ == missing else known[id_].entry for id_ in ids
        )


@contextlib.contextmanager
def _naming_tokenizer(name: str) -> Iterator[None]:
    """Name the tokenizer that refuses a text."""
    try:
        yield
    except TokenizerError as error:
        message = f"the {name} tokenizer: {error}"
        raise type(error)(message) from error


def _until_alike(rows: list[list[bytes]], *, is_begin: bool) -> tuple[int, int] | None:
    """Give the numbers of tokens after which both have the same text, if there are any.

    At the beginning of a text, one tokenizer may have added a space.

    >>> _until_alike([[b"l", b"ow", b"er"], [b"low", b"er"]], is_begin=False)
    (2, 1)
    >>> _until_alike([[b"low", b"er"], [b" lo", b"w"]], is_begin=True)
    (1, 2)
    >>> _until_alike([[b"  ", b"a"], [b" ", b"a"]], is_begin=True)
    (1, 1)
    """
    found = [_meeting(variant) for variant in _variants(rows, is_begin=is_begin)]
    return min((place for place in found if place), key=sum, default=None)


def _variants(
    rows: list[list[bytes]], *, is_begin: bool
) -> Iterator[tuple[list[bytes], list[bytes]]]:
    """Give the rows, and also each row without the space that was added before it."""
    first, second = rows
    yield first, second
    for mark in SPACES if is_begin else ():
        if first and first[0].startswith(mark):
            yield [first[0].removeprefix(mark), *first[1:]], second
        if second and second[0].startswith(mark):
            yield first, [second[0].removeprefix(mark), *second[1:]]


def _meeting(rows: tuple[list[bytes], list[bytes]]) -> tuple[int, int] | None:
    """Give the numbers of tokens after which both rows have the same text, if there are any."""
    numbers, texts = [0, 0], [b"", b""]
    while True:
        side = 0 if len(texts[0]) <= len(texts[1]) else 1
        if all(numbers) and texts[0] == texts[1]:
            return numbers[0], numbers[1]
        if numbers[side] == len(rows[side]):
            return None
        texts[side] += rows[side][numbers[side]]
        numbers[side] += 1


def _bytes(key: Key | None) -> bytes:
    if isinstance(key, bytes):
        return key
    if isinstance(key, (Added, Missing)):
        return key.content.encode()
    return (key or "").encode()


class _Row(NamedTuple):
    """The ids of some texts, and the end of each text's ids."""

    ids: NDArray[Any]
    ends: NDArray[np.int64]

    def of(self, place: int) -> NDArray[Any]:
        start = int(self.ends[place - 1]) if place else 0
        return self.ids[start : int(self.ends[place])]

    def counts(self) -> NDArray[np.int64]:
        return np.diff(self.ends, prepend=0)


@dataclass
class _Totals:
    """The results so far."""

    n_most: int
    n_texts: int = 0
    n_bytes: int = 0
    tokens: list[int] = field(default_factory=lambda: [0, 0])
    missing: list[int] = field(default_factory=lambda: [0, 0])
    n_changed: int = 0
    heap: list[tuple[tuple[int, int], TextComparison]] = field(default_factory=list)
    first_changed: TextComparison | None = None
    files: list[FileComparison] = field(default_factory=list)

    def add_text(
        self,
        pair: _Pair,
        path: str,
        number: int,
        ids: tuple[Any, Any],
    ) -> None:
        """Record a text whose tokens differ."""
        order = (abs(len(ids[0]) - len(ids[1])), -self.n_changed)
        self.n_changed += 1
        is_kept = len(self.heap) < self.n_most or bool(
            self.heap and order > self.heap[0][0]
        )
        if self.first_changed is not None and not (is_kept and self.n_most):
            return
        difference = pair.difference(*ids)
        if difference is None:  # pragma: no cover -- told apart before
            return
        found = TextComparison(path, number, len(ids[0]), len(ids[1]), difference)
        self.first_changed = self.first_changed or found
        if not (is_kept and self.n_most):
            return
        change = heapq.heappush if len(self.heap) < self.n_most else heapq.heapreplace
        change(self.heap, (order, found))

    def finished(self, n_bad: int) -> CorpusComparison:
        """Give the result for all texts."""
        return CorpusComparison(
            n_texts=self.n_texts,
            n_bytes=self.n_bytes,
            n_bad=n_bad,
            first_tokens=self.tokens[0],
            second_tokens=self.tokens[1],
            n_changed=self.n_changed,
            most=tuple(text for _order, text in sorted(self.heap, reverse=True)),
            first_changed=self.first_changed,
            files=tuple(self.files),
            first_missing=self.missing[0],
            second_missing=self.missing[1],
        )


def compare_texts(
    tokenizers: tuple[Tokenizer, Tokenizer],
    keys: tuple[Sequence[Key | None], Sequence[Key | None]],
    corpus: Any,  # noqa: ANN401 -- a corpus, or texts
    *,
    is_texts: bool,
    reading: tuple[str | None, str | None, bool, str | None, bool],
    n_most: int,
    added_tokens: Literal["find", "text"],
    threads: int | None,
    progress: Callable[[int, int], object] | None,
) -> CorpusComparison:
    """Encode texts with both tokenizers and compare the tokens; ``keys`` has the content of ids."""
    first, second = map(Encoder.of, tokenizers)
    keys = (_with_missing(keys[0], first), _with_missing(keys[1], second))
    pair = _Pair(
        tokenizers, (first, second), _numbered(keys), keys, added_tokens, threads
    )
    totals = _Totals(n_most)
    if is_texts:
        refuse_set("texts", corpus, "the result")
        n_texts = 0
        for data, offsets in _batches(corpus):
            _add_rows(pair, totals, "", n_texts, data, offsets)
            n_texts += len(offsets) - 1
        return totals.finished(0)
    input_format, field_name, lines, separator, skip_bad = reading
    options = ReadOptions(field_name, lines, separator, skip_bad)
    sources = list_sources(corpus, input_format)
    refuse_idle(sources, options)
    n_total = sum(source.size for source in sources)
    n_before = n_bad = 0
    for source in sources:
        before = (totals.n_texts, totals.n_changed, *totals.tokens)
        tally = Tally()
        tell = partial(_tell, progress, n_before, n_total)
        with naming(source.path):
            _add_source(pair, totals, source, options, tally, tell)
        n_before += source.size
        n_bad += tally.bad
        after = (totals.n_texts, totals.n_changed, *totals.tokens)
        numbers_of = (b - a for a, b in zip(before, after, strict=True))
        totals.files.append(FileComparison(source.path, *numbers_of))
    if progress is not None:
        progress(n_total, n_total)
    return totals.finished(n_bad)


def _tell(
    progress: Callable[[int, int], object] | None,
    n_before: int,
    n_total: int,
    n_bytes: int,
) -> None:
    """Turn the progress in a file into progress in the corpus."""
    if progress is not None:
        progress(min(n_before + n_bytes, n_total), n_total)


def _with_missing(keys: Sequence[Key | None], encoder: Encoder) -> Sequence[Key | None]:
    """Add the token that stands for missing characters, if there is one."""
    return keys if encoder.missing is None else [*keys, Missing()]


def _numbered(
    keys: tuple[Sequence[Key | None], Sequence[Key | None]],
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Give numbers to the contents of ids, in the same way for both."""
    known: dict[Key | None, int] = {}
    first, second = (
        np.array([known.setdefault(key, len(known)) for key in side], np.int32)
        for side in keys
    )
    return first, second


def _batches(
    texts: Iterable[str | bytes],
) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.int64]]]:
    """Lay out texts as rows, some megabytes at a time."""
    batch: list[bytes] = []
    n_bytes = 0
    for text in texts:
        data = text.encode() if isinstance(text, str) else bytes(text)
        batch.append(data)
        n_bytes += len(data)
        if n_bytes >= BATCH_LEN:
            yield _laid_out(batch)
            batch, n_bytes = [], 0
    if batch:
        yield _laid_out(batch)


def _laid_out(batch: list[bytes]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    offsets = np.cumsum([0, *map(len, batch)], dtype=np.int64)
    return np.frombuffer(b"".join(batch), np.uint8), offsets


def _add_source(
    pair: _Pair,
    totals: _Totals,
    source: Source,
    options: ReadOptions,
    tally: Tally,
    tell: Callable[[int], None],
) -> None:
    """Compare the texts of a file, and report progress in bytes."""
    part = Part(source)
    most = LARGE_TEXT_LEN // 4 if source.compression else LARGE_TEXT_LEN
    if is_whole_text(source, options) and source.size > most:
        _add_large_text(pair, totals, source, tell)
        return
    n_texts = 0
    for rows in read_rows(part, options, tally):
        _add_rows(pair, totals, source.path, n_texts, rows.data, rows.offsets)
        n_texts += len(rows.offsets) - 1
        tell(tally.place(part))


def _add_rows(
    pair: _Pair,
    totals: _Totals,
    path: str,
    n_before: int,
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
) -> None:
    """Compare some texts of a file; ``n_before`` come before them."""
    first, second = pair.encode(data, offsets)
    totals.n_texts += len(offsets) - 1
    totals.n_bytes += int(offsets[-1] - offsets[0])
    totals.tokens[0] += len(first.ids)
    totals.tokens[1] += len(second.ids)
    for side, row in enumerate((first, second)):
        totals.missing[side] += pair.n_missing(side, row, data, offsets)
    for place in _changed(pair, first, second):
        ids = first.of(place), second.of(place)
        totals.add_text(pair, path, n_before + place + 1, ids)


def _changed(pair: _Pair, first: _Row, second: _Row) -> list[int]:
    """List the texts whose tokens differ."""
    counts, other_counts = first.counts(), second.counts()
    is_as_long = counts == other_counts
    here = pair.numbers[0][first.ids[np.repeat(is_as_long, counts)]]
    there = pair.numbers[1][second.ids[np.repeat(is_as_long, other_counts)]]
    rows = np.repeat(np.arange(len(counts)), np.where(is_as_long, counts, 0))
    is_changed = ~is_as_long
    is_changed[rows[here != there]] = True
    found: list[int] = np.flatnonzero(is_changed).tolist()
    return found


def _add_large_text(
    pair: _Pair, totals: _Totals, source: Source, tell: Callable[[int], None]
) -> None:
    """Compare a long text through files of its ids."""
    with TemporaryFolder() as folder:
        path = Path(source.path)
        if source.compression or not source.is_stored_text:
            path = Path(folder, "text")
            with open_source(source) as stored, path.open("wb") as file:
                shutil.copyfileobj(stored, file)
        n_bytes = path.stat().st_size
        all_ids = []
        for side in (0, 1):

            def tell_half(n_encoded: int, side: int = side) -> None:
                share = side * n_bytes + n_encoded, 2 * max(n_bytes, 1)
                tell(source.size * share[0] // share[1])

            encoder, ids_path = pair.encoders[side], Path(folder, f"{side}.bin")
            ids = _ids_in_file(pair, side, encoder.tokenizer, path, ids_path, tell_half)
            totals.tokens[side] += len(ids)
            all_ids.append(ids)
            missing = encoder.missing
            if encoder.finder is not None:
                finder, missing = encoder.finder
                ids_path = Path(folder, f"{side}-missing.bin")
                ids = _ids_in_file(pair, side, finder, path, ids_path, tell_half)
            totals.missing[side] += _n_equal(ids, missing)
        totals.n_texts += 1
        totals.n_bytes += n_bytes
        if pair.difference(*all_ids) is not None:
            totals.add_text(pair, source.path, 1, (all_ids[0], all_ids[1]))
        del ids, all_ids  # so that the files can go


def _n_equal(ids: Any, wanted: int | None) -> int:  # noqa: ANN401 -- an array
    """Count an id in a row; blocks bound the memory."""
    if wanted is None:
        return 0
    starts = range(0, len(ids), BLOCK_LEN)
    blocks = (ids[start : start + BLOCK_LEN] for start in starts)
    return sum(int(np.count_nonzero(block == wanted)) for block in blocks)


def _ids_in_file(
    pair: _Pair,
    side: int,
    tokenizer: _core.CoreTokenizer,
    path: Path,
    ids_path: Path,
    tell: Callable[[int], None],
) -> Any:  # noqa: ANN401 -- an array
    """Encode a file, to a memory-mapped file of ids."""
    with _naming_tokenizer(("first", "second")[side]):
        token_files.encode_file(
            tokenizer,
            path,
            ids_path,
            allowed_special=(),
            disallowed_special=(),
            dtype="uint32",
            added_tokens=pair.added_tokens,
            threads=pair.threads,
            progress=tell,
        )
    if not ids_path.stat().st_size:
        return np.zeros(0, "<u4")
    return np.memmap(ids_path, "<u4", "r")
