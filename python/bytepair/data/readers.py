"""Parts of sources to record batches of documents.

One row is one document; what a document is, `docs/explanation/corpora.md` says. A reader holds
one block and the longest document. A part that is a range of a file of lines has the lines
that begin in it.
"""

from __future__ import annotations

import contextlib
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from bytepair import _core
from bytepair.errors import FormatError, TokenizerError

from .columns import as_bytes, column_of, text_batch
from .opening import open_source, open_stored
from .optional import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from .sources import Source

__all__ = ["Part", "ReadOptions", "Tally", "read", "read_part"]

BLOCK_LEN = 4 << 20
"""How much is read at once, in bytes."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
NEWLINE, RETURN = ord("\n"), ord("\r")
MAX_CSV_BLOCK_LEN = 1 << 30
"""Longer rows of CSV are an error, in bytes."""
LONGER_THAN_A_BLOCK = ("block size", "Empty CSV file")
"""What Arrow says of a row, and of a header, that is longer than a block."""
MAX_BAD_SHOWN = 10
"""How many bad lines of a part are kept in words."""


@dataclass(frozen=True)
class ReadOptions:
    r"""What the documents of a file are.

    Attributes
    ----------
    field
        The keys that lead to the text in a line of JSON (``text``, ``data.body``, or a JSON
        pointer, ``/a~1b/c``), and the column of Parquet and CSV.
    lines
        Whether each line of a text file is a document: what stands between ``\\n`` or
        ``\\r\\n``, without a byte order mark at the beginning of the file.
    separator
        What stands between the documents of a text file.
    skip_bad
        Whether lines without a document are counted instead of refused.
    group
        Where a line of JSON says which group the document is of, and the column of Parquet and
        CSV; batches then have a second column, ``group``.
    """

    field: str = "text"
    lines: bool = False
    separator: str | None = None
    skip_bad: bool = False
    group: str | None = None

    def __post_init__(self) -> None:
        if self.lines and self.separator is not None:
            message = "give either lines or separator, not both"
            raise TokenizerError(message)
        if self.separator == "":
            message = "separator: an empty text stands everywhere"
            raise TokenizerError(message)
        if not self.field or self.group == "":
            message = "field: a name is missing"
            raise TokenizerError(message)


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
    """What was read: documents, of them ``null`` and empty ones, bytes of text, bad lines."""

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
        """Say how much of a part is read, in bytes of the stored file, as far as is known."""
        if self._stored is None or self._stored.closed:
            return 0
        start = 0 if part.source.format == "parquet" else part.start
        return min(max(self._stored.tell() - start, 0), part.size)

    def add(self, other: Tally) -> None:
        """Add what was read elsewhere."""
        for name, value in asdict(other).items():
            setattr(self, name, getattr(self, name) + value)
        del self.bad_lines[MAX_BAD_SHOWN:]

    def add_batch(self, batch: pa.RecordBatch, n_null: int = 0) -> None:
        """Count the documents of a batch; ``n_null`` empty ones of it were ``null``."""
        column = batch.column(0)
        lengths = load("pyarrow.compute").binary_length(column)
        n_null += column.null_count
        n_without = int(np.count_nonzero(lengths.fill_null(0).to_numpy() == 0))
        self.documents += len(column)
        self.null += n_null
        self.empty += n_without - n_null
        self.bytes += lengths.sum().as_py() or 0


def read(
    source: Source, options: ReadOptions | None = None, tally: Tally | None = None
) -> Iterator[pa.RecordBatch]:
    """Read the documents of a source; see :func:`read_part`."""
    return read_part(Part(source), options, tally)


def read_part(
    part: Part, options: ReadOptions | None = None, tally: Tally | None = None
) -> Iterator[pa.RecordBatch]:
    """Read the documents of a part: record batches of one column, ``text: large_binary``.

    With ``options.group`` there is a second one, ``group: large_string``.
    ``tally`` is told what was read.

    Raises
    ------
    FileError
        The file cannot be read.
    FormatError
        A line holds no document, and ``options.skip_bad`` is not set; the message names
        file and line.
    """
    options = options or ReadOptions()
    tally = Tally() if tally is None else tally
    read_it: Callable[[Part, ReadOptions, Tally], Iterator[pa.RecordBatch]] = {
        "text": _read_text,
        "jsonl": _read_jsonl,
        "parquet": _read_parquet,
        "csv": _read_csv,
        "tsv": _read_csv,
    }[part.source.format]
    return read_it(part, options, tally)


def json_keys(path: str) -> list[str]:
    """Give the keys of a path.

    >>> json_keys("data.body"), json_keys("/a~1b/c.d")
    (['data', 'body'], ['a/b', 'c.d'])
    """
    if not path.startswith("/"):
        return path.split(".")
    return [key.replace("~1", "/").replace("~0", "~") for key in path[1:].split("/")]


# Text


def _read_text(
    part: Part, options: ReadOptions, tally: Tally
) -> Iterator[pa.RecordBatch]:
    if options.group is not None:
        message = (
            f"{part.source.path}: documents of plain text have no field for a group"
        )
        raise FormatError(message)
    for column in _text_columns(part, options, tally):
        batch = text_batch(column)
        tally.add_batch(batch)
        yield batch


def _text_columns(part: Part, options: ReadOptions, tally: Tally) -> Iterator[pa.Array]:
    with open_source(part.source, tally.watch) as file:
        if options.lines:
            for _offset, block in _line_blocks(file, part):
                yield _lines_of(block)
        elif options.separator is not None:
            separator = options.separator.encode()
            for documents in _separated(file, separator):
                yield load("pyarrow").array(documents, "large_binary")
        else:
            text = np.frombuffer(file.read(), np.uint8)
            yield column_of(text, np.array([0, len(text)], np.int64))


def _lines_of(data: NDArray[np.uint8]) -> pa.Array:
    """Make a column of lines, without their ends: a newline, or it behind a return."""
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
    return column_of(data[is_kept], offsets)


def _separated(file: BinaryIO, separator: bytes) -> Iterator[list[bytes]]:
    """Cut a stream at each separator; nothing behind the last one is no document."""
    rest = b""
    while chunk := file.read(max(BLOCK_LEN, len(rest))):
        *documents, rest = (rest + chunk).split(separator)
        if documents:
            yield documents
    if rest:
        yield [rest]


# Lines


def _line_blocks(file: BinaryIO, part: Part) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """Give blocks of whole lines, those that begin in the part, each with its offset.

    A block is good until the next one: all lie in the same memory.
    """
    offset, stop = part.start, part.stop
    if offset:
        file.seek(offset - 1)  # the line of the byte before belongs to the part before
        offset += len(file.readline()) - 1
    memory = bytearray(BLOCK_LEN)
    n_kept = 0
    while stop is None or offset < stop:
        if 2 * n_kept > len(memory):
            memory = memory + bytes(len(memory))
        n_read = _fill(file, memoryview(memory)[n_kept:])
        length = n_kept + n_read
        end = memory.rfind(b"\n", 0, length) + 1 if n_read else length
        if stop is not None and offset + length >= stop:
            last = memory.find(b"\n", max(stop - 1 - offset, 0), length) + 1
            end = last or end
        if end:
            block = np.frombuffer(memory, np.uint8, end)
            mark = len(BYTE_ORDER_MARK) if offset == 0 and _is_marked(memory) else 0
            yield offset, block[mark:]
        n_kept = length - end
        memory[:n_kept] = memory[end:length]
        offset += end
        if not n_read:
            return


def _fill(file: BinaryIO, memory: memoryview) -> int:
    """Read into memory until it is full or the file ends; give how much was read."""
    n_read = 0
    while n_read < len(memory) and (n_new := file.readinto(memory[n_read:])):  # type: ignore[attr-defined]
        n_read += n_new
    return n_read


def _is_marked(memory: bytearray) -> bool:
    return memory.startswith(BYTE_ORDER_MARK)


def _read_jsonl(
    part: Part, options: ReadOptions, tally: Tally
) -> Iterator[pa.RecordBatch]:
    keys = json_keys(options.field)
    group_keys = None if options.group is None else json_keys(options.group)
    n_before: int | None = None
    n_lines = 0
    with open_source(part.source, tally.watch) as file:
        for _offset, block in _line_blocks(file, part):
            batch, n_block_lines, n_null, bad = _documents(block, keys, group_keys)
            if bad and n_before is None:
                n_before = _lines_before(part)
            for line, _start, problem in bad:
                number = (n_before or 0) + n_lines + line + 1
                _note_bad(part, number, problem, options, tally)
            n_lines += n_block_lines
            tally.add_batch(batch, n_null)
            yield batch


def _documents(
    lines: NDArray[np.uint8], keys: list[str], group_keys: list[str] | None
) -> tuple[pa.RecordBatch, int, int, list[tuple[int, int, str]]]:
    """Give the documents of lines, the number of lines, of nulls, and the bad lines.

    Where documents have groups, lines are parsed twice: once for each field.
    """
    texts, n_lines, n_null, bad = _core.read_jsonl(lines, keys)
    if group_keys is None:
        return text_batch(column_of(*texts)), n_lines, n_null, bad
    groups, _, _, bad_groups = _core.read_jsonl(lines, group_keys)
    problems = {line[0]: line for line in [*bad_groups, *bad]}
    if problems:  # rows of the two belong together where both have all lines
        split = enumerate(lines.tobytes().split(b"\n"))
        kept = b"\n".join(line for place, line in split if place not in problems)
        lines = np.frombuffer(kept, np.uint8)
        texts, _, n_null, _ = _core.read_jsonl(lines, keys)
        groups, _, _, _ = _core.read_jsonl(lines, group_keys)
    batch = text_batch(column_of(*texts), column_of(*groups))
    return batch, n_lines, n_null, [problems[line] for line in sorted(problems)]


def _lines_before(part: Part) -> int:
    """Count the lines that begin before a part: for messages alone, since it takes a pass."""
    if part.start == 0:
        return 0
    with open_source(part.source) as file:
        blocks = _line_blocks(file, replace(part, start=0, stop=part.start))
        return sum(int(np.count_nonzero(block == NEWLINE)) for _offset, block in blocks)


def _note_bad(
    part: Part, line: int | None, problem: str, options: ReadOptions, tally: Tally
) -> None:
    place = part.source.path if line is None else f"{part.source.path}, line {line:,}"
    if not options.skip_bad:
        message = f"{place}: {problem}; repair it, or skip such lines (skip_bad)"
        raise FormatError(message)
    tally.bad += 1
    if len(tally.bad_lines) < MAX_BAD_SHOWN:
        tally.bad_lines.append(f"{place}: {problem}")


# Tables


def _read_csv(
    part: Part, options: ReadOptions, tally: Tally
) -> Iterator[pa.RecordBatch]:
    """Read blocks; a row that is longer than one needs larger blocks, from the beginning."""
    n_rows, n_bad, block_len = 0, 0, BLOCK_LEN
    with _refusing(part):
        while True:
            bad: list[tuple[int | None, str]] = []
            n_behind = n_rows
            try:
                for batch in _csv_batches(part, options, tally, block_len, bad):
                    for line, problem in bad[n_bad:]:
                        _note_bad(part, line, problem, options, tally)
                    n_bad = max(n_bad, len(bad))
                    new = batch.slice(min(n_behind, len(batch)))
                    n_behind -= len(batch) - len(new)
                    n_rows += len(new)
                    if len(new):
                        documents = text_batch(
                            *(as_bytes(new.column(name)) for name in _columns(options))
                        )
                        tally.add_batch(documents)
                        yield documents
            except load("pyarrow").ArrowInvalid as error:
                if _is_empty(part):
                    return
                is_longer = any(sign in str(error) for sign in LONGER_THAN_A_BLOCK)
                if not is_longer or 2 * block_len > MAX_CSV_BLOCK_LEN:
                    raise
                block_len *= 2
                continue
            for line, problem in bad[n_bad:]:
                _note_bad(part, line, problem, options, tally)
            return


def _is_empty(part: Part) -> bool:
    with open_source(part.source) as file:
        return not file.read(1)


def _csv_batches(
    part: Part,
    options: ReadOptions,
    tally: Tally,
    block_len: int,
    bad: list[tuple[int | None, str]],
) -> Iterator[pa.RecordBatch]:
    """Read the column block by block; rows of another length go to ``bad``."""
    pa, csv = load("pyarrow"), load("pyarrow.csv")

    def on_bad(row: Any) -> str:  # noqa: ANN401 -- a row that Arrow could not read
        problem = f"{row.actual_columns} columns, not {row.expected_columns}"
        bad.append((row.number, problem))
        return "skip"

    delimiter = {"tsv": "\t"}.get(part.source.format, ",")
    columns = _columns(options)
    with open_source(part.source, tally.watch) as file:
        yield from csv.open_csv(
            file,
            read_options=csv.ReadOptions(use_threads=False, block_size=block_len),
            parse_options=csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, invalid_row_handler=on_bad
            ),
            convert_options=csv.ConvertOptions(
                include_columns=list(dict.fromkeys(columns)),
                column_types=dict.fromkeys(columns, pa.large_binary()),
            ),
        )


def _columns(options: ReadOptions) -> list[str]:
    """Name the columns of texts and, if there are any, of groups."""
    return [name for name in (options.field, options.group) if name is not None]


def _read_parquet(
    part: Part, options: ReadOptions, tally: Tally
) -> Iterator[pa.RecordBatch]:
    parquet = load("pyarrow.parquet")
    if part.source.compression is not None:
        message = f"{part.source.path}: Parquet is compressed within; unpack the file"
        raise FormatError(message)
    with open_stored(part.source) as stored, _refusing(part):
        file = parquet.ParquetFile(stored)
        schema = file.schema_arrow
        paths = [_parquet_keys(schema, name) for name in _columns(options)]
        columns = [".".join(path) for path in paths]
        stop = file.num_row_groups if part.stop is None else part.stop
        for group in range(part.start, stop):
            n_rows = _rows_at_once(file.metadata.row_group(group))
            for batch in file.iter_batches(n_rows, [group], columns=columns):
                found = (as_bytes(_member(batch, path)) for path in paths)
                documents = text_batch(*found)
                tally.add_batch(documents)
                yield documents


def _parquet_keys(schema: Any, path: str) -> list[str]:  # noqa: ANN401
    if path in schema.names:
        return [path]
    keys = json_keys(path)
    if keys[0] not in schema.names:
        message = f"no column {path}; there are {', '.join(schema.names)}"
        raise FormatError(message)
    return keys


def _member(batch: pa.RecordBatch, path: Sequence[str]) -> Any:  # noqa: ANN401
    """Give the column, or the member of structs that a path of keys leads to."""
    name, *keys = path
    try:
        column = batch.column(name)
        return load("pyarrow.compute").struct_field(column, keys) if keys else column
    except (KeyError, load("pyarrow").ArrowInvalid) as error:
        message = f"no member {'.'.join(keys)} in the column {name}"
        raise FormatError(message) from error


def _rows_at_once(group: Any) -> int:  # noqa: ANN401 -- what Parquet says of a row group
    """Say how many rows are about one block."""
    n_bytes = max(int(group.total_byte_size), 1)
    n_rows = int(group.num_rows)
    return max(1, min(n_rows, n_rows * BLOCK_LEN // int(n_bytes)))


@contextlib.contextmanager
def _refusing(part: Part) -> Iterator[None]:
    """Turn what Arrow refuses into an error that names the file."""
    pa = load("pyarrow")
    try:
        yield
    except FormatError as error:
        path = part.source.path
        message = str(error) if path in str(error) else f"{path}: {error}"
        raise FormatError(message) from error
    except (pa.ArrowInvalid, pa.ArrowKeyError, pa.ArrowTypeError) as error:
        message = f"{part.source.path}: {error}"
        raise FormatError(message) from error
