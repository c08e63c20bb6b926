"""Parts of sources to documents, as rows of bytes or as record batches.

One row is one document; what a document is, `docs/explanation/corpora.md` says. A reader holds
one block and the longest document, which may have a limit. A part that is a range of a file of lines has the lines
that begin in it. Rows of anything but Parquet need no library; record batches are Arrow's.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeAlias, cast

from bytepair import _core
from bytepair._expected import expect
from bytepair._labels import argument
from bytepair._numpy import np
from bytepair.errors import EncodingError, FormatError, TokenizerError

from ._columns import arrays_of, as_bytes, column_of, text_batch, texts_of
from ._counts import KEY as COUNTS_KEY
from ._opening import naming, open_source, open_stored
from ._optional import load
from ._recognise import BYTE_ORDER_MARK, CorpusFormat, Source, Stream, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray


NO_TEXT = "is for text, and the corpus has no text files"
ACTING: dict[str, tuple[set[CorpusFormat], str]] = {
    "lines": ({"text"}, NO_TEXT),
    "separator": ({"text"}, NO_TEXT),
    "field": (
        {"jsonl", "parquet", "csv", "tsv"},
        "is for JSON lines and tables, and the corpus has none",
    ),
    "skip_bad": (
        {"jsonl", "csv", "tsv"},
        "is for JSON lines, CSV and TSV, and the corpus has none: only their lines can be bad",
    ),
}
"""Which formats each option of reading acts on, and why others refuse it."""

BLOCK_LEN = 4 << 20
"""How much is read at once, in bytes."""
NEWLINE, RETURN = ord("\n"), ord("\r")
PARQUET_BUFFER_LEN = 1 << 20
"""How much of a column is read at once where memory is limited, in bytes."""
ROWS_WITHIN_LIMIT = 1024
"""How many rows of Parquet are read at once there."""
MAX_BAD_SHOWN = 10
"""How many bad lines of a part are kept in words."""


def _is_unicode(text: str) -> bool:
    """Whether a text has no lone surrogate, as a byte has that is not UTF-8."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


@dataclass(frozen=True)
class ReadOptions:
    r"""What the documents of a file are.

    Attributes
    ----------
    field
        The keys that lead to the text in a line of JSON (``text``, ``data.body``, or a JSON
        pointer, ``/a~1b/c``), and the column of Parquet and CSV; by default ``text``.
    lines
        Whether each line of a text file is a document: what stands between ``\n`` or
        ``\r\n``, without a byte order mark at the beginning of the file.
    separator
        The text between two documents of a text file.
    skip_bad
        Whether lines without a document are counted instead of refused.
    group
        Where a line of JSON says which group the document is of, and the column of Parquet and
        CSV; batches then have a second column, ``group``.
    special_tokens
        What no separator begins in, or cuts off: of those that stand at a place the longest
        counts, as in training.
    longest
        How many bytes a document may have, or the line that it is read from; a memory limit
        sets it.
    """

    field: str | None = None
    lines: bool = False
    separator: str | None = None
    skip_bad: bool = False
    group: str | None = None
    special_tokens: tuple[str, ...] = ()
    longest: int | None = None

    def __post_init__(self) -> None:
        for name in ("field", "separator", "group"):
            value = getattr(self, name)
            if not isinstance(value, (str, type(None))):
                message = f"{name} must be a text, not {value!r}"
                raise TypeError(message)
            if value is not None and not _is_unicode(value):
                message = f"{argument(name, '')} is {value!r:.80}, which is not UTF-8"
                raise EncodingError(message)
        for name in ("lines", "skip_bad"):
            expect(
                name, getattr(self, name), (bool, np.bool_, type(None)), "True or False"
            )
        if self.lines and self.separator is not None:
            message = (
                f"give either {argument('lines')} or {argument('separator')}, not both"
            )
            raise TokenizerError(message)
        if self.separator == "":
            message = f"{argument('separator')}: an empty text would match everywhere"
            raise TokenizerError(message)
        if "" in (self.field, self.group):
            message = f"{argument('field')}: a name is missing"
            raise TokenizerError(message)

    @property
    def text_field(self) -> str:
        """Where the text is: the field that was named, or ``text``."""
        return "text" if self.field is None else self.field


@dataclass(frozen=True)
class Part:
    """A source, or the lines that begin in a range of its bytes, or some row groups.

    ``share`` is about how many bytes of the stored file it is, where that is not all of it.
    """

    source: Source
    start: int = 0
    stop: int | None = None
    share: int | None = None

    @property
    def size(self) -> int:
        """About how many bytes of the stored file it is."""
        return self.source.size if self.share is None else self.share


@dataclass
class Tally:
    """Numbers of documents, of ``null`` and empty ones, bytes of text, and bad lines."""

    documents: int = 0
    null: int = 0
    empty: int = 0
    bytes: int = 0
    bad: int = 0
    bad_lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._stored: BinaryIO | None = None

    def watch(self, stored: BinaryIO) -> None:
        """Look at a file from now on; see :meth:`place`."""
        self._stored = stored

    def place(self, part: Part) -> int:
        """Return how much of a part is read, in bytes of the stored file, as far as is known."""
        if self._stored is None or self._stored.closed:
            return 0
        if isinstance(part.source, Stream):
            return self.bytes
        start = 0 if part.source.format == "parquet" else part.start
        return min(max(self._stored.tell() - start, 0), part.size)

    def add(self, other: Tally) -> None:
        """Add what was read elsewhere."""
        for name, value in asdict(other).items():
            setattr(self, name, getattr(self, name) + value)
        del self.bad_lines[MAX_BAD_SHOWN:]

    def add_rows(self, rows: Rows) -> None:
        """Count the documents of rows."""
        lengths = np.diff(rows.offsets)
        self.documents += len(lengths)
        self.null += rows.n_null
        self.empty += int(np.count_nonzero(lengths == 0)) - rows.n_null
        self.bytes += int(lengths.sum())


class Rows(NamedTuple):
    """Documents: the bytes of all, and where each begins; behind the last one, where it ends.

    ``n_null`` of them are ``null``; ``groups`` are names of groups in the same layout.
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    n_null: int = 0
    groups: tuple[NDArray[np.uint8], NDArray[np.int64]] | None = None


def rows_of(batch: pa.RecordBatch) -> Rows:
    """Return the documents of a record batch of columns ``text`` and perhaps ``group``."""
    groups = arrays_of(batch.column("group")) if batch.num_columns > 1 else None
    return Rows(*texts_of(batch), batch.column("text").null_count, groups)


def read(
    source: Source, options: ReadOptions | None = None, tally: Tally | None = None
) -> Iterator[pa.RecordBatch]:
    """Read the documents of a source; see :func:`read_part`."""
    expect("source", source, Source, "one of those that list_sources() gives")
    return read_part(Part(source), options, tally)


def read_part(
    part: Part, options: ReadOptions | None = None, tally: Tally | None = None
) -> Iterator[pa.RecordBatch]:
    """Read the documents of a part: record batches of one column, ``text: large_binary``.

    With ``options.group`` there is a second one, ``group: large_string``. A ``null`` is an empty text.
    ``tally`` is told what was read.

    Raises
    ------
    FileError
        The file cannot be read.
    FormatError
        A line holds no document, and ``options.skip_bad`` is not set; the message names
        file and line.
    """
    for rows in read_rows(part, options, tally):
        groups = None if rows.groups is None else column_of(*rows.groups)
        yield text_batch(column_of(rows.data, rows.offsets), groups)


def read_rows(
    part: Part, options: ReadOptions | None = None, tally: Tally | None = None
) -> Iterator[Rows]:
    """Read the documents of a part as :func:`read_part` does, without Arrow but for Parquet."""
    options = options or ReadOptions()
    tally = Tally() if tally is None else tally
    for rows in READERS[part.source.format](part, options, tally):
        tally.add_rows(rows)
        yield rows


def describe(sources: Iterable[Source], options: ReadOptions) -> str:
    """Describe in one line the formats of files, and which text of them is read.

    >>> docs = [Source(f"{n}.jsonl.zst", 9, "jsonl", "zstd") for n in "abc"]
    >>> describe(docs, ReadOptions())
    '3 files, JSON lines in zstd, field "text"'
    >>> describe([*docs, Source("d", 9, "text", None)], ReadOptions(lines=True))
    '4 files: 3 JSON lines in zstd, field "text"; 1 text, each line a document'
    """
    numbers: Counter[str] = Counter()
    for source in sources:
        kind = kind_of(source.format, source.compression)
        numbers[kind + _what_is_read(source, options)] += 1
    n_files = numbers.total()
    files = "1 file" if n_files == 1 else f"{n_files:,} files"
    if len(numbers) == 1:
        return f"{files}, {next(iter(numbers))}"
    return f"{files}: " + "; ".join(f"{n:,} {kind}" for kind, n in numbers.items())


def _what_is_read(source: Source, options: ReadOptions) -> str:
    if source.format != "text":
        word = "field" if source.format == "jsonl" else "column"
        group = "" if options.group is None else f', groups by "{options.group}"'
        return f', {word} "{options.text_field}"{group}'
    if options.lines:
        return ", each line a document"
    if options.separator is not None:
        return f", separator {options.separator!r}"
    return ""


def refuse_idle(sources: Iterable[Source], options: ReadOptions) -> None:
    """Refuse options that no file of a corpus has a use for.

    Raises
    ------
    TokenizerError
        An option is for another kind of file.
    """
    formats = {source.format for source in sources}
    given = {
        "lines": options.lines,
        "separator": options.separator and "",
        "field": options.field,
        "skip_bad": options.skip_bad,
    }
    for name, value in given.items():
        formats_read, reason = ACTING[name]
        if value not in (None, False) and not formats & formats_read:
            message = f"{argument(name, value)} {reason}"
            raise TokenizerError(message)
    if options.group is not None and "text" in formats:
        path = next(source.path for source in sources if source.format == "text")
        message = f"{path}: plain text has no field for a group"
        raise FormatError(message)


def is_whole_text(source: Source, options: ReadOptions) -> bool:
    """Whether a file is one document, which may be longer than memory."""
    is_cut = options.lines or options.separator is not None
    return source.format == "text" and not is_cut and options.group is None


@contextlib.contextmanager
def open_text(
    part: Part, tally: Tally, tell: Callable[[], object] | None = None
) -> Iterator[Callable[[int], bytes]]:
    """Open a text that is one document; return a function that reads its next bytes.

    ``tell`` is called before each reading.
    """
    n_bytes = 0

    def read_some(most: int) -> bytes:
        nonlocal n_bytes
        if tell is not None:
            tell()
        block: bytes = next_bytes(most)
        n_bytes += len(block)
        tally.bytes += len(block)
        return block

    with open_source(part.source, tally.watch) as file:
        is_waited_for = isinstance(part.source, Stream)
        next_bytes = file.read1 if is_waited_for else file.read  # type: ignore[attr-defined]
        yield read_some
    tally.documents += 1
    tally.empty += not n_bytes


def json_keys(path: str) -> list[str]:
    """Return the keys of a path.

    >>> json_keys("data.body"), json_keys("/a~1b/c.d")
    (['data', 'body'], ['a/b', 'c.d'])
    """
    if not path.startswith("/"):
        return path.split(".")
    return [key.replace("~1", "/").replace("~0", "~") for key in path[1:].split("/")]


# Text


def _read_text(part: Part, options: ReadOptions, tally: Tally) -> Iterator[Rows]:
    if options.group is not None:
        message = f"{part.source.path}: plain text has no field for a group"
        raise FormatError(message)
    with open_source(part.source, tally.watch) as file:
        if options.lines:
            for block in _line_blocks(file, part, options.longest):
                yield _lines_of(block)
        elif options.separator is not None:
            for documents in _separated(file, part, options):
                yield _rows_of(documents)
        else:
            text = np.frombuffer(file.read(), np.uint8)
            _check_len(len(text), part, 0, options.longest)
            yield Rows(text, np.array([0, len(text)], np.int64))


def _check_len(n_bytes: int, part: Part, offset: int, longest: int | None) -> None:
    """Refuse a document, or a part of one, that takes more than memory has room for."""
    if longest is not None and n_bytes > longest:
        message = (
            f"{part.source.path}: what begins at byte {offset:,} has more than {longest:,} bytes "
            "without an end, the most that the memory limit leaves room for (a "
            "sixteenth of it); raise the limit, or cut the text into shorter documents"
        )
        raise FormatError(message)


def _rows_of(documents: list[bytes]) -> Rows:
    offsets = np.zeros(len(documents) + 1, np.int64)
    np.cumsum([len(document) for document in documents], out=offsets[1:])
    return Rows(np.frombuffer(b"".join(documents), np.uint8), offsets)


def _lines_of(data: NDArray[np.uint8]) -> Rows:
    """Make rows of lines, without their ends: a newline, or it behind a return."""
    is_kept = data != NEWLINE
    ends = np.flatnonzero(~is_kept)
    has_return = (ends > 0) & (data[ends - 1] == RETURN)
    is_kept[ends[has_return] - 1] = False
    n_dropped = np.arange(len(ends)) + np.cumsum(has_return)
    if len(data) and is_kept[-1]:
        ends = np.append(ends, len(data))
        n_dropped = np.append(n_dropped, len(is_kept) - np.count_nonzero(is_kept))
    offsets = np.zeros(len(ends) + 1, np.int64)
    offsets[1:] = ends - n_dropped
    return Rows(data[is_kept], offsets)


def _separated(
    file: BinaryIO, part: Part, options: ReadOptions
) -> Iterator[list[bytes]]:
    """Cut a stream at each separator; nothing behind the last one is no document."""
    cut, n_held = _cutter(options)
    rest = b""
    n_read = 0
    while chunk := file.read(max(BLOCK_LEN, len(rest))):
        n_read += len(chunk)
        *documents, rest = cut(rest + chunk, n_held)
        _check_len(len(rest), part, n_read - len(rest), options.longest)
        if documents:
            yield documents
    *documents, rest = cut(rest, 0)
    if rest:
        documents.append(rest)
    if documents:
        yield documents


def _cutter(options: ReadOptions) -> tuple[Callable[[bytes, int], list[bytes]], int]:
    """Return a function that cuts at separators, and how much of the end is not certain.

    What begins so close to the end may be part of something longer.
    """
    separator = (options.separator or "").encode()
    names = [name.encode() for name in options.special_tokens]
    if not {*names} - {separator}:
        return lambda data, _n_held: data.split(separator), 0
    longest_first = sorted({separator, *names}, key=len, reverse=True)
    any_name = re.compile(b"|".join(map(re.escape, longest_first)))

    def cut(data: bytes, n_held: int) -> list[bytes]:
        documents, start = [], 0
        for found in any_name.finditer(data):
            if found[0] == separator and found.start() + n_held <= len(data):
                documents.append(data[start : found.start()])
                start = found.end()
        return [*documents, data[start:]]

    return cut, len(longest_first[0])


# Lines


def _line_blocks(
    file: BinaryIO, part: Part, longest: int | None = None
) -> Iterator[NDArray[np.uint8]]:
    """Return blocks of whole lines, those that begin in the part.

    A block is good until the next one: all lie in the same memory.
    """
    offset, stop = part.start, part.stop
    if offset:
        file.seek(offset - 1)  # the line of the byte before belongs to the part before
        offset += _rest_of_line(file) - 1
    memory = bytearray(BLOCK_LEN)
    n_kept = 0
    while stop is None or offset < stop:
        _check_len(n_kept, part, offset, longest)
        if 2 * n_kept > len(memory):
            larger = bytearray(2 * len(memory))
            larger[:n_kept] = memoryview(memory)[:n_kept]
            memory = larger
        n_read = _fill(file, memoryview(memory)[n_kept:])
        length = n_kept + n_read
        end = memory.rfind(b"\n", 0, length) + 1 if n_read else length
        if stop is not None and offset + length >= stop:
            last = memory.find(b"\n", max(stop - 1 - offset, 0), length) + 1
            end = last or end
        if end:
            block = np.frombuffer(memory, np.uint8, end)
            is_marked = offset == 0 and memory.startswith(BYTE_ORDER_MARK)
            yield block[len(BYTE_ORDER_MARK) if is_marked else 0 :]
        n_kept = length - end
        memory[:n_kept] = memory[end:length]
        offset += end
        if not n_read:
            return


def _rest_of_line(file: BinaryIO) -> int:
    """Pass over the rest of a line, however long it is; give its length."""
    length = 0
    while some := file.readline(BLOCK_LEN):
        length += len(some)
        if some.endswith(b"\n"):
            break
    return length


def _fill(file: BinaryIO, memory: memoryview) -> int:
    """Read into memory until it is full or the file ends; give how much was read."""
    n_read = 0
    while n_read < len(memory) and (n_new := file.readinto(memory[n_read:])):  # type: ignore[attr-defined]
        n_read += n_new
    return n_read


def _read_jsonl(part: Part, options: ReadOptions, tally: Tally) -> Iterator[Rows]:
    keys = json_keys(options.text_field)
    group_keys = None if options.group is None else json_keys(options.group)
    n_before: int | None = None
    n_lines = 0
    with open_source(part.source, tally.watch) as file:
        for block in _line_blocks(file, part, options.longest):
            rows, n_block_lines, bad = _documents(block, keys, group_keys)
            if bad and n_before is None:
                n_before = _lines_before(part)
            for line, _start, problem in bad:
                number = (n_before or 0) + n_lines + line + 1
                _note_bad(part, number, problem, options, tally)
            n_lines += n_block_lines
            yield rows


def _documents(
    lines: NDArray[np.uint8], keys: list[str], group_keys: list[str] | None
) -> tuple[Rows, int, list[tuple[int, int, str]]]:
    """Return the documents of lines, the number of lines, and the bad lines.

    Where documents have groups, lines are parsed twice: once for each field.
    """
    texts, n_lines, n_null, bad = _core.read_jsonl(lines, keys)
    if group_keys is None:
        return Rows(*texts, n_null), n_lines, bad
    groups, _, _, bad_groups = _core.read_jsonl(lines, group_keys)
    problems = {line[0]: line for line in [*bad_groups, *bad]}
    if problems:  # rows of the two belong together where both have all lines
        split = enumerate(lines.tobytes().split(b"\n"))
        kept = b"\n".join(line for place, line in split if place not in problems)
        lines = np.frombuffer(kept, np.uint8)
        texts, _, n_null, _ = _core.read_jsonl(lines, keys)
        groups, _, _, _ = _core.read_jsonl(lines, group_keys)
    rows = Rows(*texts, n_null, groups)
    return rows, n_lines, [problems[line] for line in sorted(problems)]


def _lines_before(part: Part) -> int:
    """Count the lines that begin before a part: for messages alone, since it takes a pass."""
    if part.start == 0 or isinstance(part.source, Stream):
        return 0
    with open_source(part.source) as file:
        blocks = _line_blocks(file, replace(part, start=0, stop=part.start))
        return sum(int(np.count_nonzero(block == NEWLINE)) for block in blocks)


def _note_bad(
    part: Part, line: int, problem: str, options: ReadOptions, tally: Tally
) -> None:
    place = f"{part.source.path}, line {line:,}"
    if not options.skip_bad:
        is_default = options.field is None and problem == "no field text"
        other = (
            f", or name another field with {argument('field')}" if is_default else ""
        )
        message = f"{place}: {problem}; repair it or leave it out{other}"
        raise FormatError(message)
    tally.bad += 1
    if len(tally.bad_lines) < MAX_BAD_SHOWN:
        tally.bad_lines.append(f"{place}: {problem}")


# Tables


def _read_csv(part: Part, options: ReadOptions, tally: Tally) -> Iterator[Rows]:
    names = _columns(options)
    columns = list(dict.fromkeys(names))
    delimiter = "\t" if part.source.format == "tsv" else ","
    table = _core.CsvTable(delimiter, columns, longest=options.longest)
    memory = np.empty(BLOCK_LEN, np.uint8)
    with open_source(part.source, tally.watch) as file, naming(part.source.path):
        is_last = False
        while not is_last:
            n_read = _fill(file, memory.data)
            is_last = n_read < len(memory)
            found, bad = table.read(memory[:n_read], is_last)
            for line, problem in bad:
                _note_bad(part, line, problem, options, tally)
            by_name = dict(zip(columns, found, strict=True))
            groups = None if options.group is None else by_name[options.group]
            rows = Rows(*by_name[options.text_field], groups=groups)
            if len(rows.offsets) > 1:
                yield rows


def _columns(options: ReadOptions) -> list[str]:
    """Name the columns of texts and, if there are any, of groups."""
    group = [] if options.group is None else [options.group]
    return [options.text_field, *group]


def _read_parquet(part: Part, options: ReadOptions, tally: Tally) -> Iterator[Rows]:
    parquet = load("pyarrow.parquet")
    if part.source.compression is not None:
        message = f"{part.source.path}: Parquet is already compressed inside; undo the outer {part.source.compression}"
        raise FormatError(message)
    pa = load("pyarrow")
    invalid = (pa.ArrowInvalid, pa.ArrowKeyError, pa.ArrowTypeError)
    with open_stored(part.source) as stored, naming(part.source.path, *invalid):
        # With a buffer, pages come one after the other instead of all that a row group has.
        buffer_len = 0 if options.longest is None else PARQUET_BUFFER_LEN
        file = parquet.ParquetFile(
            _seekable(part.source, stored), buffer_size=buffer_len
        )
        schema = file.schema_arrow
        _refuse_counts(schema)
        paths = [_parquet_keys(schema, name) for name in _columns(options)]
        columns = [".".join(path) for path in paths]
        stop = file.num_row_groups if part.stop is None else part.stop
        for group in range(part.start, stop):
            n_rows = _rows_at_once(file.metadata.row_group(group), options.longest)
            for batch in file.iter_batches(n_rows, [group], columns=columns):
                found = (as_bytes(_member(batch, path)) for path in paths)
                rows = rows_of(text_batch(*found))
                _check_rows(rows, part, tally, options.longest)
                yield rows


def _seekable(source: Source, stored: BinaryIO) -> BinaryIO:
    """Copy what can be read only once to a temporary file: Parquet is read from its end."""
    if not isinstance(source, Stream):
        return stored
    copy = tempfile.TemporaryFile()  # noqa: SIM115 -- gone with the last reference
    shutil.copyfileobj(stored, copy)
    copy.seek(0)
    return cast("BinaryIO", copy)


def _refuse_counts(schema: Any) -> None:  # noqa: ANN401
    """Refuse counts of pieces, which are no documents."""
    if COUNTS_KEY in (schema.metadata or {}):
        message = "these are counts of pieces, not documents; train on this file alone"
        raise FormatError(message)


def _parquet_keys(schema: Any, path: str) -> list[str]:  # noqa: ANN401
    if path in schema.names:
        return [path]
    keys = json_keys(path)
    if keys[0] not in schema.names:
        message = f"no column {path}; there are {', '.join(schema.names)}"
        raise FormatError(message)
    return keys


def _member(batch: pa.RecordBatch, path: Sequence[str]) -> Any:  # noqa: ANN401
    """Return the column, or the member of structs that a path of keys leads to."""
    name, *keys = path
    try:
        column = batch.column(name)
        return load("pyarrow.compute").struct_field(column, keys) if keys else column
    except (KeyError, load("pyarrow").ArrowInvalid) as error:
        message = f"no member {'.'.join(keys)} in the column {name}"
        raise FormatError(message) from error


def _check_rows(rows: Rows, part: Part, tally: Tally, longest: int | None) -> None:
    """Refuse a document that takes more than memory has room for."""
    lengths = np.diff(rows.offsets)
    if longest is None or lengths.max(initial=0) <= longest:
        return
    row = tally.documents + int(np.argmax(lengths)) + 1
    message = (
        f"{part.source.path}: row {row:,} has more than {longest:,} bytes, the most that "
        "the memory limit leaves room for (a sixteenth of it); raise the limit"
    )
    raise FormatError(message)


def _rows_at_once(group: Any, longest: int | None) -> int:  # noqa: ANN401 -- what Parquet says of a row group
    """Return the number of rows in about one block; with a memory limit, few enough for some large ones."""
    n_bytes = max(int(group.total_byte_size), 1)
    n_rows = int(group.num_rows)
    most = n_rows if longest is None else ROWS_WITHIN_LIMIT
    return max(1, min(n_rows, n_rows * BLOCK_LEN // int(n_bytes), most))


Reader: TypeAlias = "Callable[[Part, ReadOptions, Tally], Iterator[Rows]]"
READERS: dict[CorpusFormat, Reader] = {
    "text": _read_text,
    "jsonl": _read_jsonl,
    "csv": _read_csv,
    "tsv": _read_csv,
    "parquet": _read_parquet,
}
"""What reads each format."""
