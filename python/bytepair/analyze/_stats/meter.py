"""Meters: the sums of texts under several tokenizers, and the distinct words of the texts.

A meter takes columns of texts, and texts that are read in parts; `measure.py` reads them from a corpus.
`metric_table.py` computes ratios from the sums. Results do not depend on blocks or threads. Each token
of a vocabulary takes eight bytes of memory in each group and thread. Distinct words take a limited
amount of memory; the rest goes to temporary files.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal, TypeAlias

from bytepair import Tokenizer, _core
from bytepair._expected import expect
from bytepair._io.temporary import TemporaryFolder
from bytepair._labels import argument
from bytepair._names import refuse_set
from bytepair._numpy import np
from bytepair._results import Result
from bytepair.analyze._missing import Encoder, named
from bytepair.errors import PatternError, TokenizerError

from .tokens import TokenTable, token_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray
    from typing_extensions import Self

    from bytepair.views._runs import Line

__all__ = [
    "SEGMENTERS",
    "GroupSums",
    "Measurement",
    "Meter",
    "Segmenter",
    "WordTypes",
    "naming",
]

SEGMENTERS = {
    "whitespace": r"\S+",
    "letters": r"[\p{L}\p{M}]+",
}
"""Named word segmenters, and their patterns."""
WORD_MEMORY = 256 << 20
"""The memory for distinct words, in bytes; the rest goes to temporary files."""
MAX_WORD_THREADS = 8
"""The largest number of threads for counting words: more need memory and are rarely faster."""
N_WORDS_AT_ONCE, N_WORD_BYTES_AT_ONCE = 1 << 16, 4 << 20

N_SUMS = 11
"""The number of sums of a group, in the order of the core."""

Texts: TypeAlias = Counter[bytes]
"""How often each of some texts occurs."""


@dataclass(frozen=True)
class Segmenter:
    r"""The definition of a word: a pattern, its name, and whether distinct words are counted.

    >>> Segmenter.named("letters")
    Segmenter(name='letters', pattern='[\\p{L}\\p{M}]+', counts_types=True)
    >>> Segmenter.named(r"\w+").name
    '\\w+'
    """

    name: str
    pattern: str
    counts_types: bool = field(default=True, compare=False)

    @classmethod
    def named(cls, name: str) -> Segmenter:
        """Return the segmenter with a name, or with a regular expression as its pattern.

        Raises
        ------
        TokenizerError
            It looks like a name, but there is no such segmenter.
        """
        if name in SEGMENTERS:
            return cls(name, SEGMENTERS[name])
        if re.fullmatch(r"[\w-]*", name):
            known = ", ".join(SEGMENTERS)
            message = (
                f"{argument('segmenter', name)} is neither a name ({known}) nor a regular "
                "expression of words"
            )
            raise TokenizerError(message)
        return cls(name, name)


@dataclass(frozen=True, eq=False, repr=False)
class GroupSums(Result):
    """Sums over the texts of a group, or over all texts.

    Attributes
    ----------
    counts
        The number of occurrences of each token, by id.
    missing
        The number of occurrences of each character that no token stands for, as in the text.
    documents, bytes, characters, lines
        Their numbers in the original texts. An invalid byte counts as a character, unless it
        has the form of a continuation byte. A newline or the end of a document ends a line; an
        empty document has no line.
    tokens
        Tokens, without those that a template puts around a text. A character that encoding
        refuses, since no token stands for it, is a token without an id.
    pieces
        Pieces, whose borders no merge crosses. An added token is one piece; without a pattern,
        all text between two added tokens is one piece.
    words, word_tokens, word_pieces
        Words, and the tokens and pieces that share a byte with a word, counted for each word;
        0 without a segmenter.
    whole_words, continued_words
        Words that share bytes with one token, and with several.
    """

    counts: NDArray[np.int64]
    missing: Texts
    documents: int
    bytes: int
    characters: int
    lines: int
    tokens: int
    pieces: int
    words: int
    word_tokens: int
    word_pieces: int
    whole_words: int
    continued_words: int

    @property
    def n_missing(self) -> int:
        """The number of characters that no token stands for."""
        return self.missing.total()

    def __add__(self, other: GroupSums) -> GroupSums:
        """Add sums of other texts."""
        names = [field.name for field in fields(self)]
        return GroupSums(
            **{name: getattr(self, name) + getattr(other, name) for name in names}
        )


@dataclass(frozen=True, repr=False)
class WordTypes(Result):
    """Distinct words of a corpus, and how many of them are one token each.

    Attributes
    ----------
    types
        Distinct words.
    whole
        Distinct words that are one token when encoded alone.
    whole_after_space
        Distinct words that are one token when encoded after a space, which may be part of the
        token.
    """

    types: int
    whole: int
    whole_after_space: int


@dataclass(frozen=True, eq=False, repr=False)
class Measurement(Result):
    """The sums and counts of a tokenizer on a corpus.

    Attributes
    ----------
    tokenizer
        The tokenizer.
    total
        Sums over all texts.
    groups
        Sums over the texts of each group, ordered by name; empty without groups.
    segmenter
        The definition of a word, or ``None``.
    word_types
        Distinct words; ``None`` if they were not counted.
    grouped_by
        The field whose values are the groups; ``"file"`` if each file is a group.
    bad_lines
        The number of lines without a document that were skipped.

    >>> import bytepair
    >>> from bytepair.analyze import measure_texts
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> measured = measure_texts(tokenizer, {"en": ["low lower"], "de": ["neu"]})
    >>> measured.total.tokens, measured.of("de").bytes
    (8, 3)
    """

    tokenizer: Tokenizer
    total: GroupSums
    groups: Mapping[str, GroupSums]
    segmenter: Segmenter | None
    word_types: WordTypes | None
    grouped_by: str | None
    bad_lines: int = 0

    @property
    def leaves_out(self) -> bool:
        """Whether characters that no token stands for are left out; otherwise, encoding refuses them."""
        drops_missing: bool = self.tokenizer.inspect().settings["drops_missing"]
        return drops_missing

    @cached_property
    def tokens(self) -> TokenTable:
        """The properties of the tokens of the vocabulary."""
        return token_table(self.tokenizer)

    def of(self, group: str | None) -> GroupSums:
        """Return the sums of a group, or of all texts."""
        return self.total if group is None else self.groups[group]

    def _lines(self) -> Iterable[Line]:
        from .stats import Stats

        return Stats(("value",), (self,))._lines()


class Meter:
    """Measures texts with several tokenizers; uses temporary files.

    An error of a tokenizer begins with its name, if it has one.
    """

    def __init__(
        self,
        tokenizers: Sequence[Tokenizer] | Mapping[str, Tokenizer],
        segmenter: str | Segmenter | None,
        added_tokens: Literal["find", "text"],
        threads: int | None,
    ) -> None:
        if isinstance(segmenter, str):
            segmenter = Segmenter.named(segmenter)
        expect("segmenter", segmenter, (Segmenter, type(None)), "a name or a Segmenter")
        refuse_set("tokenizers", tokenizers, "the result")
        named = tokenizers if isinstance(tokenizers, Mapping) else None
        self.names = [""] * len(tokenizers) if named is None else list(named)
        self.tokenizers: list[Tokenizer] = list(named.values() if named else tokenizers)  # type: ignore[arg-type]
        self.encoders = list(map(Encoder.of, self.tokenizers))
        self.segmenter = segmenter
        self.threads, self.added_tokens = threads, added_tokens
        words = None if segmenter is None else segmenter.pattern
        with _naming_segmenter(segmenter):
            self.measures = [
                _core.Measure(
                    encoder.tokenizer,
                    words=words,
                    added_tokens=added_tokens,
                    threads=threads,
                    missing=encoder.missing,
                )
                for encoder in self.encoders
            ]
        self.finders = [
            _finding(encoder, added_tokens, threads) for encoder in self.encoders
        ]
        has_types = segmenter is not None and segmenter.counts_types
        self.words = _Words(segmenter, threads) if has_types else None  # type: ignore[arg-type]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        if self.words is not None:
            self.words.close()

    def add(
        self,
        data: NDArray[np.uint8],
        offsets: NDArray[np.int64],
        groups: tuple[NDArray[np.uint8], NDArray[np.int64]] | None,
    ) -> None:
        """Add the texts of a column, and the group of each if there are groups."""
        for name, measure in zip(self.names, self.measures, strict=True):
            with naming(name):
                measure.add_rows((data, offsets), groups)
        for encoder, finder in zip(self.encoders, self.finders, strict=True):
            if finder is not None and encoder.may_miss(data):
                finder.add_rows((data, offsets), groups)
        if self.words is not None:
            self.words.corpus.add_rows((data, offsets))

    def streams(
        self, group: bytes | None
    ) -> list[Callable[[Callable[[int], bytes]], None]]:
        """Return functions that add a text of a group.

        Call all of them. Each reads the whole text with a function that takes the largest number
        of bytes to return, and returns none at the end.
        """
        watches = [_Watch(encoder) for encoder in self.encoders]
        streams: list[Callable[[Callable[[int], bytes]], None]] = [
            partial(_add_stream, name, measure, group, watch)
            for name, measure, watch in zip(
                self.names, self.measures, watches, strict=True
            )
        ]
        streams += [
            partial(_find_in_stream, finder, group, watch)
            for finder, watch in zip(self.finders, watches, strict=True)
            if finder is not None
        ]
        if self.words is not None:
            streams.append(self.words.corpus.add_stream)
        return streams

    def finish(self, grouped_by: str | None, bad_lines: int = 0) -> list[Measurement]:
        """Return the measurements; the arguments are their attributes."""
        words = None if self.words is None else self.words.rows()
        types = self._word_types(words)
        return [
            self._measurement(place, of_words, grouped_by, bad_lines)
            for place, of_words in enumerate(types)
        ]

    def _measurement(
        self,
        place: int,
        types: WordTypes | None,
        grouped_by: str | None,
        bad_lines: int,
    ) -> Measurement:
        tokenizer, measure = self.tokenizers[place], self.measures[place]
        finder = self.finders[place] or measure
        missing = {
            name: named(tokenizer, finder.missing(number))
            for number, name in enumerate(finder.groups)
        }
        n_ids = tokenizer.n_vocab
        groups = {
            name.decode(errors="surrogateescape"): _sums(
                measure, number, n_ids, missing.get(name, Counter())
            )
            for number, name in enumerate(measure.groups)
        }
        nothing = _no_sums(n_ids)
        return Measurement(
            tokenizer=tokenizer,
            total=sum(groups.values(), nothing),
            groups={} if grouped_by is None else dict(sorted(groups.items())),
            segmenter=self.segmenter,
            word_types=types,
            grouped_by=grouped_by,
            bad_lines=bad_lines,
        )

    def _word_types(
        self, words: Iterator[tuple[NDArray[np.uint8], NDArray[np.int64]]] | None
    ) -> list[WordTypes | None]:
        """Encode distinct words one by one, and count those that are one token."""
        if words is None:
            return [None] * len(self.tokenizers)
        n_types = 0
        whole = np.zeros((2, len(self.tokenizers)), np.int64)
        for data, offsets in words:
            n_types += len(offsets) - 1
            spaced = np.insert(data, offsets[:-1], ord(" "))
            spaced_offsets = offsets + np.arange(len(offsets))
            for number, encoder in enumerate(self.encoders):
                whole[0, number] += self._n_single(encoder, data, offsets)
                whole[1, number] += self._n_single(encoder, spaced, spaced_offsets)
        return [WordTypes(n_types, int(alone), int(after)) for alone, after in whole.T]

    def _n_single(
        self,
        encoder: Encoder,
        data: NDArray[np.uint8],
        offsets: NDArray[np.int64],
    ) -> int:
        """Count the texts that are one token with an id."""
        ids, ends = _core.encode_rows(
            encoder.tokenizer,
            (data, offsets),
            added_tokens=self.added_tokens,
            threads=self.threads,
        )
        is_single = np.diff(ends, prepend=0) == 1
        if encoder.missing is not None:
            is_single[is_single] = ids[ends[is_single] - 1] != encoder.missing
        return int(np.count_nonzero(is_single))


class _Words:
    """Counts distinct words in limited memory; the rest goes to temporary files."""

    def __init__(self, segmenter: Segmenter, threads: int | None) -> None:
        self.folder = TemporaryFolder()
        options = {"pattern": segmenter.pattern, "unmatched": "drop"}
        dialect = _core.Dialect("gpt2", **options)
        n_threads = min(threads or os.cpu_count() or 1, MAX_WORD_THREADS)
        self.corpus = _core.Corpus(dialect, [], threads=n_threads)
        self.corpus.set_memory_limit(WORD_MEMORY, self.folder.name, reads_blocks=True)

    def close(self) -> None:
        """Remove the files."""
        self.folder.remove()

    def rows(self) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.int64]]]:
        """Yield the distinct words in batches of bytes and offsets."""
        sums = _core.CountSums(self.folder.name, WORD_MEMORY)
        runs, _specials = self.corpus.finish_runs(self.folder.name)
        for run in runs:
            sums.add_run(run)
        sums.finish(1, [0], with_first=False)
        while True:
            (data, offsets), *_ = sums.next_rows(N_WORDS_AT_ONCE, N_WORD_BYTES_AT_ONCE)
            if len(offsets) < 2:
                return
            yield data, offsets


def _add_stream(
    name: str,
    measure: _core.Measure,
    group: bytes | None,
    watch: _Watch,
    read: Callable[[int], bytes],
) -> None:
    with naming(name):
        measure.add_stream(watch.watching(read), group)


def _find_in_stream(
    finder: _core.Measure,
    group: bytes | None,
    watch: _Watch,
    read: Callable[[int], bytes],
) -> None:
    """Find the missing characters of a text that was measured before."""
    if watch.may_miss:
        finder.add_stream(read, group)


class _Watch:
    """Watches whether a text may have missing characters, while it is read."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.may_miss = encoder.rare is None

    def watching(self, read: Callable[[int], bytes]) -> Callable[[int], bytes]:
        """Return a function that reads, and watches what it reads."""
        if self.may_miss:
            return read

        def watched(most: int) -> bytes:
            block = read(most)
            self.may_miss = self.may_miss or self.encoder.may_miss(block)
            return block

        return watched


def _finding(
    encoder: Encoder, added_tokens: Literal["find", "text"], threads: int | None
) -> _core.Measure | None:
    """Return a measure of the characters that a tokenizer leaves out; ``None`` if there cannot be any."""
    if encoder.finder is None:
        return None
    tokenizer, missing = encoder.finder
    return _core.Measure(
        tokenizer, added_tokens=added_tokens, threads=threads, missing=missing
    )


def _sums(measure: _core.Measure, number: int, n_ids: int, missing: Texts) -> GroupSums:
    of_texts, of_words = measure.sums(number)
    return GroupSums(measure.counts(number)[:n_ids], missing, *of_texts, *of_words)


def _no_sums(n_ids: int) -> GroupSums:
    return GroupSums(np.zeros(n_ids, np.int64), Counter(), *[0] * N_SUMS)


@contextlib.contextmanager
def naming(tokenizer: str) -> Iterator[None]:
    """Put the name of a tokenizer, if it has one, before its errors."""
    try:
        yield
    except TokenizerError as error:
        if not tokenizer:
            raise
        message = f"{tokenizer}: {error}"
        raise type(error)(message) from error


@contextlib.contextmanager
def _naming_segmenter(segmenter: Segmenter | None) -> Iterator[None]:
    """Name ``segmenter`` in errors of its pattern."""
    try:
        yield
    except PatternError as error:
        if segmenter is None:
            raise
        message = f"{argument('segmenter', segmenter.name)}: {error}"
        raise PatternError(message) from error
