"""Raw sums and counts of a tokenizer on a corpus, for all texts and by group.

`_metric_table.py` computes ratios from them. A corpus is read once for any number of tokenizers,
in blocks of some megabytes, on all processors; results do not depend on blocks or threads. Memory is eight bytes for each token of a vocabulary in each group, a few blocks of
the corpus, and its longest document; a text file that is one document is no longer held whole.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from typing_extensions import Self

from bytepair import Tokenizer, _core
from bytepair._numpy import np
from bytepair._temporary import TemporaryFolder
from bytepair.data._readers import (
    Part,
    ReadOptions,
    Tally,
    is_whole_text,
    naming_texts,
    open_text,
    read_grouped_rows,
)
from bytepair.data._recognise import Source, Stream
from bytepair.data._sources import list_sources, refuse_idle
from bytepair.errors import PatternError, TokenizerError, UnknownTokenError

from ._tokens import TokenTable, token_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from bytepair.data._sources import Corpus

__all__ = [
    "SEGMENTERS",
    "GroupSums",
    "Measurement",
    "Segmenter",
    "WordTypes",
    "file_tokens",
    "measure",
    "measure_all",
    "measure_texts",
]

SEGMENTERS = {
    "whitespace": r"\S+",
    "letters": r"[\p{L}\p{M}]+",
}
"""Named word segmenters, and their patterns."""
WORD_MEMORY = 256 << 20
"""The memory for distinct words, in bytes; the rest goes to temporary files."""
MAX_WORD_THREADS = 8
"""The largest number of threads for counting words: more need memory, and are rarely faster."""
N_WORDS_AT_ONCE, N_WORD_BYTES_AT_ONCE = 1 << 16, 4 << 20
TEXTS_AT_ONCE, BYTES_AT_ONCE = 4096, 4 << 20
"""The numbers of texts and of bytes that are measured at once."""

Progress: TypeAlias = Callable[[int, "int | None"], object]


@dataclass(frozen=True)
class Segmenter:
    r"""The definition of a word: a pattern, and its name.

    >>> Segmenter.named("letters")
    Segmenter(name='letters', pattern='[\\p{L}\\p{M}]+')
    >>> Segmenter.named(r"\w+").name
    '\\w+'
    """

    name: str
    pattern: str

    @classmethod
    def named(cls, name: str) -> Segmenter:
        """Give the segmenter of a name, or of a regular expression.

        Raises
        ------
        TokenizerError
            It looks like a name, but there is no such segmenter.
        """
        if name in SEGMENTERS:
            return cls(name, SEGMENTERS[name])
        if re.fullmatch(r"[\w-]*", name):
            known = ", ".join(SEGMENTERS)
            message = f'segmenter="{name}" is neither a name ({known}) nor a regular expression of words'
            raise TokenizerError(message)
        return cls(name, name)


@dataclass(frozen=True, eq=False)
class GroupSums:
    """Sums over the texts of a group, or over all texts.

    Attributes
    ----------
    documents, bytes, characters, lines
        Their numbers in the original texts. An invalid byte counts as a character, unless it
        has the form of a continuation byte. A newline or the end of a document ends a line; an
        empty document has no line.
    tokens
        Tokens, without those that a template puts around a text.
    pieces
        Pieces, whose borders no merge crosses. An added token is one piece; without a pattern,
        all text between two added tokens is one piece.
    words, word_tokens, word_pieces
        Words, and the tokens and pieces that share a byte with a word, counted for each word;
        0 without a segmenter.
    whole_words, continued_words
        Words that share bytes with one token, and with several.
    counts
        The number of occurrences of each token, by id.
    """

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
    counts: NDArray[np.int64]

    def __add__(self, other: GroupSums) -> GroupSums:
        """Add sums of other texts."""
        names = [field.name for field in fields(self)]
        return GroupSums(
            **{name: getattr(self, name) + getattr(other, name) for name in names}
        )


@dataclass(frozen=True)
class WordTypes:
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


@dataclass(frozen=True, eq=False)
class Measurement:
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
        Distinct words; ``None`` without a segmenter.
    grouped_by
        The field whose values are the groups; ``"file"`` if each file is a group.
    bad_lines
        The number of lines without a document that were skipped.
    """

    tokenizer: Tokenizer
    total: GroupSums
    groups: Mapping[str, GroupSums]
    segmenter: Segmenter | None
    word_types: WordTypes | None
    grouped_by: str | None
    bad_lines: int = 0

    @cached_property
    def tokens(self) -> TokenTable:
        """The properties of the tokens of the vocabulary."""
        return token_table(self.tokenizer)

    def of(self, group: str | None) -> GroupSums:
        """Give the sums of a group, or of all texts."""
        return self.total if group is None else self.groups[group]


def measure(
    tokenizer: Tokenizer,
    corpus: Corpus,
    *,
    group: str | None = None,
    by_file: bool = False,
    segmenter: str | Segmenter | None = None,
    input_format: str | None = None,
    field: str = "text",
    lines: bool = False,
    separator: str | None = None,
    skip_bad: bool = False,
    added_tokens: Literal["find", "text"] = "find",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Measurement:
    r"""Measure a corpus with a tokenizer.

    Parameters
    ----------
    tokenizer
        The tokenizer. Special tokens in the texts are plain text.
    corpus
        Files, folders, globs and URLs, read as by :func:`bytepair.scale.count`; ``-`` is
        standard input.
    group
        The field or column with the group of a document, such as its language. A document
        without one is in the group ``""``.
    by_file
        Whether each file is a group.
    segmenter
        The definition of a word: ``"whitespace"`` (runs of characters other than white space),
        ``"letters"`` (runs of letters and marks), or a regular expression. Without it, words
        are not counted.
    input_format, field, lines, separator, skip_bad
        The definition of a document, as in :func:`bytepair.train`.
    added_tokens
        ``"text"`` treats added tokens in texts as plain text.
    threads
        The number of threads; by default one for each processor.
    progress
        Called after each block with the number of bytes done, and the size of the corpus.

    Raises
    ------
    TokenizerError
        A :class:`~bytepair.FileError` or :class:`~bytepair.FormatError` for a file that cannot
        be read; a :class:`~bytepair.PatternError` for a segmenter that is not understood; other
        errors if the tokenizer cannot encode a text.

    Examples
    --------
    >>> import bytepair, pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "corpus.jsonl")
    >>> _ = file.write_text('{"text": "low lower", "lang": "en"}\n{"text": "newer"}\n')
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> measured = measure(tokenizer, file, segmenter="whitespace")
    >>> measured.total.documents, measured.total.bytes, measured.total.tokens
    (2, 14, 10)
    >>> measured.total.words, measured.total.word_tokens, measured.word_types.types
    (3, 9, 3)
    """
    [measured] = measure_all(
        [tokenizer],
        corpus,
        group=group,
        by_file=by_file,
        segmenter=segmenter,
        input_format=input_format,
        field=field,
        lines=lines,
        separator=separator,
        skip_bad=skip_bad,
        added_tokens=added_tokens,
        threads=threads,
        progress=progress,
    )
    return measured


def measure_all(
    tokenizers: Sequence[Tokenizer] | Mapping[str, Tokenizer],
    corpus: Corpus,
    *,
    group: str | None = None,
    by_file: bool = False,
    segmenter: str | Segmenter | None = None,
    input_format: str | None = None,
    field: str = "text",
    lines: bool = False,
    separator: str | None = None,
    skip_bad: bool = False,
    added_tokens: Literal["find", "text"] = "find",
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[Measurement]:
    """Measure a corpus with several tokenizers in one pass; see :func:`measure`.

    An error of a tokenizer begins with its name, if it has one.
    """
    if group is not None and by_file:
        message = "give either group= or by_file=True, not both"
        raise TokenizerError(message)
    sources = list_sources(corpus, input_format, with_streams=True)
    options = ReadOptions(field, lines, separator, skip_bad, group)
    refuse_idle(sources, options)
    names = file_names([source.path for source in sources]) if by_file else None
    grouped_by = "file" if by_file else group
    with _Measuring(tokenizers, segmenter, grouped_by, added_tokens, threads) as work:
        work.add_files(sources, names, options, progress)
        return work.finish()


def file_tokens(
    tokenizers: Sequence[Tokenizer],
    corpus: Corpus,
    *,
    input_format: str | None = None,
    field: str = "text",
    lines: bool = False,
    separator: str | None = None,
    skip_bad: bool = False,
    added_tokens: Literal["find", "text"] = "find",
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[tuple[str, tuple[int, ...]]]:
    """Count the tokens of each file of a corpus with each tokenizer; see :func:`measure`.

    >>> import bytepair, pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "corpus.txt")
    >>> _ = file.write_text("low lower")
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> [numbers for _path, numbers in file_tokens([tokenizer], file)]
    [(5,)]
    """
    sources = list_sources(corpus, input_format, with_streams=True)
    options = ReadOptions(field, lines, separator, skip_bad)
    refuse_idle(sources, options)
    is_known = not any(isinstance(source, Stream) for source in sources)
    n_total = sum(source.size for source in sources) if is_known else None
    found = []
    n_before = 0
    for source in sources:
        with _Measuring(tokenizers, None, None, added_tokens, threads) as work:
            work.add_files([source], None, options, _later(progress, n_before, n_total))
            numbers = tuple(each.total.tokens for each in work.finish())
        found.append((source.path, numbers))
        n_before += source.size
    return found


def measure_texts(
    tokenizer: Tokenizer,
    texts: Iterable[str | bytes] | Mapping[str, Iterable[str | bytes]],
    *,
    segmenter: str | Segmenter | None = None,
    added_tokens: Literal["find", "text"] = "find",
    threads: int | None = None,
) -> Measurement:
    """Measure texts with a tokenizer; a mapping gives texts by group. See :func:`measure`.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> measured = measure_texts(tokenizer, {"en": ["low", "lower"], "de": ["neu"]})
    >>> measured.total.tokens, {name: g.tokens for name, g in measured.groups.items()}
    (7, {'de': 3, 'en': 4})
    """
    grouped = texts if isinstance(texts, Mapping) else {None: texts}
    grouped_by = "group" if isinstance(texts, Mapping) else None
    with _Measuring([tokenizer], segmenter, grouped_by, added_tokens, threads) as work:
        for name, some in grouped.items():
            work.add_texts(some, name)
        return work.finish()[0]


def file_names(paths: Sequence[str]) -> list[str]:
    """Give files short names: the part in which their paths differ.

    >>> file_names(["a/en.txt", "a/de.txt"]), file_names(["a/text", "b/text"])
    (['en.txt', 'de.txt'], ['a/text', 'b/text'])
    """
    names = [Path(path).name for path in paths]
    return names if len(set(names)) == len(names) else list(paths)


class _Measuring:
    """Measures texts with several tokenizers; uses temporary files."""

    def __init__(
        self,
        tokenizers: Sequence[Tokenizer] | Mapping[str, Tokenizer],
        segmenter: str | Segmenter | None,
        grouped_by: str | None,
        added_tokens: Literal["find", "text"],
        threads: int | None,
    ) -> None:
        if isinstance(segmenter, str):
            segmenter = Segmenter.named(segmenter)
        named = tokenizers if isinstance(tokenizers, Mapping) else None
        self.names = [""] * len(tokenizers) if named is None else list(named)
        self.tokenizers: list[Tokenizer] = list(named.values() if named else tokenizers)  # type: ignore[arg-type]
        self.segmenter = segmenter
        self.grouped_by = grouped_by
        self.threads, self.added_tokens = threads, added_tokens
        words = None if segmenter is None else segmenter.pattern
        with _naming_segmenter(segmenter):
            self.measures = [
                _core.Measure(
                    tokenizer, words=words, added_tokens=added_tokens, threads=threads
                )
                for tokenizer in self.tokenizers
            ]
        self.words = None if segmenter is None else _Words(segmenter, threads)
        self.tally = Tally()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        if self.words is not None:
            self.words.close()

    def add_files(
        self,
        sources: Sequence[Source],
        names: Sequence[str] | None,
        options: ReadOptions,
        progress: Progress | None,
    ) -> None:
        """Add the documents of files; ``names`` are their groups, if each is one."""
        is_known = not any(isinstance(source, Stream) for source in sources)
        n_total = sum(source.size for source in sources) if is_known else None
        n_before = 0

        def tell(n_bytes: float) -> None:
            if progress is not None:
                progress(n_before + int(n_bytes), n_total)

        for place, source in enumerate(sources):
            part = Part(source)
            name = None if names is None else names[place].encode()
            with naming_texts(source.path):
                if is_whole_text(source, options):
                    self._add_text(part, name, tell)
                else:
                    self._add_rows(part, name, options, tell)
            n_before += part.size
        tell(0)

    def add_texts(self, texts: Iterable[str | bytes], group: str | None) -> None:
        """Add texts of a group."""
        if isinstance(texts, (str, bytes)):
            message = "expected an iterable of texts, not one text; put it in a list"
            raise TypeError(message)
        name = None if group is None else group.encode()
        for batch in _batches(texts):
            data = np.frombuffer(b"".join(batch), np.uint8)
            offsets = np.zeros(len(batch) + 1, np.int64)
            np.cumsum([len(text) for text in batch], out=offsets[1:])
            self._add(data, offsets, None if name is None else _alike(name, len(batch)))

    def finish(self) -> list[Measurement]:
        """Give the measurements."""
        words = None if self.words is None else self.words.rows()
        types = self._word_types(words)
        return [
            self._measurement(tokenizer, measure, found)
            for tokenizer, measure, found in zip(
                self.tokenizers, self.measures, types, strict=True
            )
        ]

    def _measurement(
        self, tokenizer: Tokenizer, measure: _core.Measure, types: WordTypes | None
    ) -> Measurement:
        groups = {
            name.decode(errors="backslashreplace"): _sums(measure, number)
            for number, name in enumerate(measure.groups)
        }
        nothing = _no_sums(tokenizer.n_vocab)
        return Measurement(
            tokenizer=tokenizer,
            total=sum(groups.values(), nothing),
            groups={} if self.grouped_by is None else dict(sorted(groups.items())),
            segmenter=self.segmenter,
            word_types=types,
            grouped_by=self.grouped_by,
            bad_lines=self.tally.bad,
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
            for number, tokenizer in enumerate(self.tokenizers):
                whole[0, number] += self._n_single(tokenizer, data, offsets)
                whole[1, number] += self._n_single(tokenizer, spaced, spaced_offsets)
        return [WordTypes(n_types, int(alone), int(after)) for alone, after in whole.T]

    def _n_single(
        self,
        tokenizer: Tokenizer,
        data: NDArray[np.uint8],
        offsets: NDArray[np.int64],
    ) -> int:
        """Count the texts that are one token; texts that cannot be encoded alone do not count."""
        try:
            _ids, ends = _core.encode_rows(
                tokenizer,
                data,
                offsets,
                added_tokens=self.added_tokens,
                threads=self.threads,
            )
        except UnknownTokenError:
            content = data.tobytes()
            texts = (content[start:end] for start, end in pairwise(offsets.tolist()))
            return sum(self._is_single(tokenizer, text) for text in texts)
        return int(np.count_nonzero(np.diff(ends, prepend=0) == 1))

    def _is_single(self, tokenizer: Tokenizer, text: bytes) -> bool:
        try:
            return tokenizer.count(text, added_tokens=self.added_tokens) == 1
        except UnknownTokenError:
            return False

    def _add(
        self,
        data: NDArray[np.uint8],
        offsets: NDArray[np.int64],
        groups: tuple[NDArray[np.uint8], NDArray[np.int64]] | None,
    ) -> None:
        for name, measure in zip(self.names, self.measures, strict=True):
            with _naming(name):
                measure.add_rows(data, offsets, groups)
        if self.words is not None:
            self.words.corpus.add_rows(data, offsets)

    def _add_rows(
        self,
        part: Part,
        name: bytes | None,
        options: ReadOptions,
        tell: Callable[[float], None],
    ) -> None:
        for rows in read_grouped_rows(part, options, self.tally):
            n_rows = len(rows.offsets) - 1
            groups = rows.groups if name is None else _alike(name, n_rows)
            self._add(rows.data, rows.offsets, groups)
            tell(self.tally.place(part))

    def _add_text(
        self, part: Part, name: bytes | None, tell: Callable[[float], None]
    ) -> None:
        """Add a file that is one document, which each tokenizer reads separately."""
        streams: list[Callable[[Callable[[int], bytes]], object]] = [
            partial(measure.add_stream, group=name) for measure in self.measures
        ]
        if self.words is not None:
            streams.append(self.words.corpus.add_stream)
        with contextlib.ExitStack() as stack:
            if isinstance(part.source, Stream) and len(streams) > 1:
                part = Part(stack.enter_context(_copied(part)))
            for number, stream in enumerate(streams):
                tally = self.tally if number == 0 else Tally()
                read = stack.enter_context(open_text(part, tally))
                share = number / len(streams) * part.size

                def read_and_tell(
                    most: int,
                    read: Callable[[int], bytes] = read,
                    tally: Tally = tally,
                    share: float = share,
                ) -> bytes:
                    tell(share + tally.place(part) / len(streams))
                    return read(most)

                with _naming(self.names[number] if number < len(self.names) else ""):
                    stream(read_and_tell)


class _Words:
    """Counts distinct words in bounded memory: the rest goes to temporary files."""

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
        """Give the distinct words in batches of bytes and offsets."""
        sums = _core.CountSums(self.folder.name, WORD_MEMORY)
        runs, _found = self.corpus.finish_runs(self.folder.name)
        for run in runs:
            sums.add_run(run)
        sums.finish(1, [0], with_first=False)
        while True:
            (data, offsets), *_ = sums.next_rows(N_WORDS_AT_ONCE, N_WORD_BYTES_AT_ONCE)
            if len(offsets) < 2:
                return
            yield data, offsets


def _later(
    progress: Progress | None, n_before: int, n_total: int | None
) -> Progress | None:
    """Turn the progress in a file into progress in the corpus."""
    if progress is None:
        return None
    return lambda done, _total: progress(n_before + done, n_total)


def _sums(measure: _core.Measure, number: int) -> GroupSums:
    sums = measure.sums(number)
    documents = sums.pop("texts")
    return GroupSums(documents=documents, counts=measure.counts(number), **sums)


def _no_sums(n_ids: int) -> GroupSums:
    names = [field.name for field in fields(GroupSums) if field.name != "counts"]
    return GroupSums(**dict.fromkeys(names, 0), counts=np.zeros(n_ids, np.int64))


def _alike(name: bytes, n_rows: int) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Give a column with the same name in each row."""
    data = np.frombuffer(name * n_rows, np.uint8)
    return data, np.arange(n_rows + 1, dtype=np.int64) * len(name)


def _batches(texts: Iterable[str | bytes]) -> Iterator[list[bytes]]:
    """Group texts so that threads have enough to do and memory stays bounded."""
    batch: list[bytes] = []
    n_bytes = 0
    for text in texts:
        if not isinstance(text, (str, bytes)):
            message = f"a text is str or bytes, not {type(text).__name__}"
            raise TypeError(message)
        batch.append(text.encode() if isinstance(text, str) else text)
        n_bytes += len(batch[-1])
        if len(batch) == TEXTS_AT_ONCE or n_bytes >= BYTES_AT_ONCE:
            yield batch
            batch, n_bytes = [], 0
    if batch:
        yield batch


@contextlib.contextmanager
def _copied(part: Part) -> Iterator[Source]:
    """Copy input that can be read only once to a temporary file."""
    with TemporaryFolder() as folder:
        path = Path(folder, "text")
        with path.open("wb") as copy, open_text(part, Tally()) as read:
            while block := read(BYTES_AT_ONCE):
                copy.write(block)
        yield Source(str(path), path.stat().st_size, "text", None)


@contextlib.contextmanager
def _naming(tokenizer: str) -> Iterator[None]:
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
        message = f'segmenter="{segmenter.name}": {error}'
        raise PatternError(message) from error
