"""Measuring corpora with tokenizers: files, streams and texts are read once and passed to a meter.

A corpus is read once for any number of tokenizers, in blocks of some megabytes; `meter.py` measures
them, on all processors. Memory is that of the meter, a few blocks of the corpus, and its longest
document; a text file that is one document is read in parts.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

from bytepair._expected import all_loaded, loaded, refuse_unknown
from bytepair._io.temporary import TemporaryFolder
from bytepair._labels import argument
from bytepair._names import refuse_set
from bytepair._numpy import np
from bytepair.data._opening import naming
from bytepair.data._readers import (
    Part,
    ReadOptions,
    Tally,
    is_whole_text,
    open_text,
    read_rows,
    refuse_idle,
)
from bytepair.data._recognise import Source, Stream
from bytepair.data._sources import list_sources
from bytepair.errors import TokenizerError

from .meter import GroupSums, Measurement, Meter, Segmenter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from bytepair import Tokenizer
    from bytepair._io.files import StrPath
    from bytepair.data._sources import Corpus

__all__ = [
    "FileOptions",
    "MeasureOptions",
    "batches",
    "file_names",
    "file_sums",
    "measure",
    "measure_all",
    "measure_texts",
]

TEXTS_AT_ONCE, BYTES_AT_ONCE = 4096, 4 << 20
"""The numbers of texts and of bytes that are measured at once."""

Progress: TypeAlias = Callable[[int, "int | None"], object]


class FileOptions(TypedDict, total=False):
    """How files are read and encoded; see :func:`measure`."""

    input_format: str | None
    field: str | None
    lines: bool
    separator: str | None
    skip_bad: bool
    added_tokens: Literal["find", "text"]
    threads: int | None
    progress: Progress | None


class MeasureOptions(FileOptions, total=False):
    """What is measured in a corpus; see :func:`measure`."""

    group: str | None
    by_file: bool
    segmenter: str | Segmenter | None


def measure(
    tokenizer: Tokenizer | StrPath, corpus: Corpus, **options: Unpack[MeasureOptions]
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
        Called after each block with the number of bytes done, and the size of the corpus or
        ``None``.

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
    tokenizer = loaded(tokenizer)
    refuse_unknown("measure", options, MeasureOptions.__annotations__)
    [measured] = measure_all([tokenizer], corpus, **options)
    return measured


def measure_all(
    tokenizers: Sequence[Tokenizer] | Mapping[str, Tokenizer],
    corpus: Corpus,
    **options: Unpack[MeasureOptions],
) -> list[Measurement]:
    """Measure a corpus with several tokenizers in one pass; see :func:`measure`.

    Returns a measurement for each tokenizer, in their order. An error of a tokenizer begins with
    its name, if it has one.

    >>> import bytepair, pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "corpus.txt")
    >>> _ = file.write_text("low lower")
    >>> small = bytepair.train_from_iterator(["low lower"], vocab_size=256)
    >>> large = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> [measured.total.tokens for measured in measure_all([small, large], file)]
    [9, 5]
    """
    tokenizers = all_loaded(tokenizers)
    refuse_unknown("measure_all", options, MeasureOptions.__annotations__)
    context = _Context(**options)
    sources = context.sources(corpus)
    names = file_names([source.path for source in sources]) if context.by_file else None
    with context.meter(tokenizers) as meter:
        files = _Files(meter, context.reading)
        files.add(sources, names, context.progress)
        return meter.finish(context.grouped_by, files.tally.bad)


def file_sums(
    tokenizers: Sequence[Tokenizer], corpus: Corpus, **options: Unpack[FileOptions]
) -> list[tuple[str, tuple[GroupSums, ...]]]:
    """Measure each file of a corpus with each tokenizer; see :func:`measure`.

    Returns the path of each file, with the sums of each tokenizer.

    >>> import bytepair, pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "corpus.txt")
    >>> _ = file.write_text("low lower")
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> [[each.tokens for each in sums] for _path, sums in file_sums([tokenizer], file)]
    [[5]]
    """
    tokenizers = all_loaded(tokenizers)
    refuse_unknown("file_sums", options, FileOptions.__annotations__)
    context = _Context(**options)
    sources = context.sources(corpus)
    n_total = _n_bytes(sources)
    files = []
    n_before = 0
    for source in sources:
        progress = _later(context.progress, n_before, n_total)
        with context.meter(tokenizers) as meter:
            _Files(meter, context.reading).add([source], None, progress)
            sums = tuple(each.total for each in meter.finish(None))
        files.append((source.path, sums))
        n_before += source.size
    return files


def measure_texts(
    tokenizer: Tokenizer | StrPath,
    texts: Iterable[str | bytes] | Mapping[str, Iterable[str | bytes]],
    *,
    segmenter: str | Segmenter | None = None,
    added_tokens: Literal["find", "text"] = "find",
    threads: int | None = None,
) -> Measurement:
    """Measure texts with a tokenizer; a mapping has texts by group. See :func:`measure`.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> measured = measure_texts(tokenizer, {"en": ["low", "lower"], "de": ["neu"]})
    >>> measured.total.tokens, {name: g.tokens for name, g in measured.groups.items()}
    (7, {'de': 3, 'en': 4})
    """
    tokenizer = loaded(tokenizer)
    grouped = texts if isinstance(texts, Mapping) else {None: texts}
    grouped_by = "group" if isinstance(texts, Mapping) else None
    with Meter([tokenizer], segmenter, added_tokens, threads) as meter:
        for name, group in grouped.items():
            _add_texts(meter, group, name)
        return meter.finish(grouped_by)[0]


def file_names(paths: Sequence[str]) -> list[str]:
    """Return short names for files: their last parts if these differ, otherwise their paths.

    >>> file_names(["a/en.txt", "a/de.txt"]), file_names(["a/text", "b/text"])
    (['en.txt', 'de.txt'], ['a/text', 'b/text'])
    """
    names = [Path(path).name for path in paths]
    return names if len(set(names)) == len(names) else list(paths)


@dataclass(frozen=True)
class _Context:
    """The options of a call, with their defaults."""

    group: str | None = None
    by_file: bool = False
    segmenter: str | Segmenter | None = None
    input_format: str | None = None
    field: str | None = None
    lines: bool = False
    separator: str | None = None
    skip_bad: bool = False
    added_tokens: Literal["find", "text"] = "find"
    threads: int | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        if self.group is not None and self.by_file:
            message = f"give either {argument('group', '')} or {argument('by_file', value=True)}, not both"
            raise TokenizerError(message)

    @property
    def grouped_by(self) -> str | None:
        return "file" if self.by_file else self.group

    @property
    def reading(self) -> ReadOptions:
        return ReadOptions(
            self.field, self.lines, self.separator, self.skip_bad, self.group
        )

    def sources(self, corpus: Corpus) -> list[Source]:
        sources = list_sources(corpus, self.input_format, with_streams=True)
        refuse_idle(sources, self.reading)
        return sources

    def meter(self, tokenizers: Sequence[Tokenizer] | Mapping[str, Tokenizer]) -> Meter:
        return Meter(tokenizers, self.segmenter, self.added_tokens, self.threads)


class _Files:
    """Reads files into a meter."""

    def __init__(self, meter: Meter, options: ReadOptions) -> None:
        self.meter, self.options = meter, options
        self.tally = Tally()

    def add(
        self,
        sources: Sequence[Source],
        names: Sequence[str] | None,
        progress: Progress | None,
    ) -> None:
        """Add the documents of files; ``names`` are their groups, if each file is a group."""
        n_total = _n_bytes(sources)
        n_before = 0

        def tell(n_bytes: float) -> None:
            if progress is not None:
                progress(n_before + int(n_bytes), n_total)

        for place, source in enumerate(sources):
            part = Part(source)
            name = (
                None if names is None else names[place].encode(errors="surrogateescape")
            )
            with naming(source.path):
                if is_whole_text(source, self.options):
                    self._add_text(part, name, tell)
                else:
                    self._add_rows(part, name, tell)
            n_before += part.size
        tell(0)

    def _add_rows(
        self,
        part: Part,
        name: bytes | None,
        tell: Callable[[float], None],
    ) -> None:
        for rows in read_rows(part, self.options, self.tally):
            n_rows = len(rows.offsets) - 1
            groups = rows.groups if name is None else _alike(name, n_rows)
            self.meter.add(rows.data, rows.offsets, groups)
            tell(self.tally.place(part))

    def _add_text(
        self, part: Part, name: bytes | None, tell: Callable[[float], None]
    ) -> None:
        """Add a file that is one document, which each tokenizer reads separately."""
        streams = self.meter.streams(name)
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

                stream(read_and_tell)


def _add_texts(meter: Meter, texts: Iterable[str | bytes], group: str | None) -> None:
    """Add texts of a group."""
    if isinstance(texts, (str, bytes)):
        message = "expected an iterable of texts, not one text; put it in a list"
        raise TypeError(message)
    refuse_set("texts", texts, "the result")
    name = None if group is None else group.encode(errors="surrogateescape")
    for batch in batches(texts):
        data = np.frombuffer(b"".join(batch), np.uint8)
        offsets = np.zeros(len(batch) + 1, np.int64)
        np.cumsum([len(text) for text in batch], out=offsets[1:])
        meter.add(data, offsets, None if name is None else _alike(name, len(batch)))


def _n_bytes(sources: Sequence[Source]) -> int | None:
    """Return the size of a corpus, if it is known."""
    is_known = not any(isinstance(source, Stream) for source in sources)
    return sum(source.size for source in sources) if is_known else None


def _later(
    progress: Progress | None, n_before: int, n_total: int | None
) -> Progress | None:
    """Turn the progress in a file into progress in the corpus."""
    if progress is None:
        return None
    return lambda done, _total: progress(n_before + done, n_total)


def _alike(name: bytes, n_rows: int) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return a column with the same name in each row."""
    data = np.frombuffer(name * n_rows, np.uint8)
    return data, np.arange(n_rows + 1, dtype=np.int64) * len(name)


def batches(texts: Iterable[str | bytes]) -> Iterator[list[bytes]]:
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
