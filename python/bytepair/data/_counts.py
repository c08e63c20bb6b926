"""Counts of pieces as a file: the only thing that training needs of a corpus.

A Parquet file of the columns ``piece: large_binary`` and ``count: int64``, in the order of counts
and then of pieces, and, where ties are decided by the first occurrence, ``first: int64``; or
``group: large_string`` where documents have groups, a row for each piece of each group. What it
was made of and how lies in the metadata, as JSON. The same corpus gives the same rows.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair import _core
from bytepair._io.files import StrPath, refuse_no_name, writing
from bytepair._io.json import Place, Shapes, parse, written
from bytepair._labels import argument
from bytepair._weights import Weight, whole_multipliers
from bytepair.errors import FileError, FormatError, TrainingError

from ._columns import by_group
from ._optional import load
from ._sums import BATCH_ROWS, arrays_of_rows, columns

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    import pyarrow as pa


KEY = b"bytepair.counts"
TOTALS_KEY = b"bytepair.totals"
VERSION = 3
LARGEST = (1 << 63) - 1
PARQUET_MAGIC = b"PAR1"


@dataclass
class CountsInfo:
    """What pieces were counted in, and how.

    ``preparation`` is the fingerprint of all that is done to text before it is counted;
    ``dialect``, ``options`` and ``special_tokens``, in the order in which they were named, are
    what it was made of. ``found_special``
    says how often each special token stood in the documents. ``groups`` are the documents and
    bytes of each group.
    """

    preparation: str
    dialect: str
    options: dict[str, Any] = field(default_factory=dict)
    special_tokens: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    documents: int = 0
    null: int = 0
    empty: int = 0
    bad: int = 0
    bytes: int = 0
    found_special: dict[str, int] = field(default_factory=dict)
    groups: dict[str, dict[str, int]] = field(default_factory=dict)
    min_piece_count: int | None = None
    dropped_pieces: int = 0
    dropped_occurrences: int = 0

    def add(self, other: CountsInfo) -> None:
        """Add what was counted elsewhere in the same way.

        Raises
        ------
        TrainingError
            It was counted in another way.
        """
        for name in ("preparation", "special_tokens", "min_piece_count"):
            if _unordered(getattr(self, name)) != _unordered(getattr(other, name)):
                message = (
                    f"the counts differ in {name.replace('_', ' ')}: {getattr(self, name)!r} "
                    f"and {getattr(other, name)!r}; count again with the same options"
                )
                raise TrainingError(message)
        self.sources = sorted([*self.sources, *other.sources])
        for name in SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for token, n_found in other.found_special.items():
            self.found_special[token] = self.found_special.get(token, 0) + n_found
        for group, found in other.groups.items():
            sums = self.groups.setdefault(group, dict.fromkeys(found, 0))
            self.groups[group] = {name: sums[name] + n for name, n in found.items()}


def _unordered(value: Any) -> Any:  # noqa: ANN401 -- of any attribute
    """Return lists in one order: that of special tokens changes no count."""
    return sorted(value) if isinstance(value, list) else value


SUMS = (
    "documents",
    "null",
    "empty",
    "bad",
    "bytes",
    "dropped_pieces",
    "dropped_occurrences",
)


class _Stored(NamedTuple):
    """A file of counts, and what its rows must be."""

    path: StrPath
    schema: pa.Schema
    totals: Mapping[str, Any]


class Counts:
    """Pieces with their counts, in memory or in a file, and what they were counted in.

    Attributes
    ----------
    info
        What the pieces were counted in, and how.
    """

    def __init__(
        self, table: pa.Table | None, info: CountsInfo, stored: _Stored | None = None
    ) -> None:
        self.info, self._stored = info, stored
        if table is not None:
            self.table = table

    def __repr__(self) -> str:
        return (
            f"<bytepair.data.Counts: of {self.info.bytes:,} bytes of text, "
            f"dialect {self.info.dialect}>"
        )

    @cached_property
    def table(self) -> pa.Table:
        """The rows as an Arrow table; those of a file are read when this is first asked."""
        return load("pyarrow").Table.from_batches(list(self.batches()), self.schema)

    @property
    def schema(self) -> pa.Schema:
        """The columns."""
        return self.table.schema if self._stored is None else self._stored.schema

    @property
    def n_rows(self) -> int:
        """The number of distinct pieces; those of several groups count in each."""
        stored = self._stored
        return int(stored.totals["rows"] if stored else self.table.num_rows)

    @property
    def knows_first(self) -> bool:
        """Whether it is known where pieces first occur."""
        return "first" in self.schema.names

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Return the rows a part at a time."""
        if self._stored is None or "table" in vars(self):
            yield from self.table.to_batches(BATCH_ROWS)
            return
        sums, name = _Sums(), os.fspath(self._stored.path)
        with _opened(name) as file:
            for number in range(file.num_row_groups):
                rows = file.read_row_group(number).replace_schema_metadata(None)
                for batch in rows.to_batches():
                    _check_rows(batch, self.info.groups, name)
                    sums.add(batch)
                    yield batch
        if sums.totals() != self._stored.totals:
            message = f"{name}: its rows have changed since it was written"
            raise FormatError(message)

    def parts(
        self, dialect: str | None, options: Mapping[str, Any]
    ) -> tuple[str, dict[str, Any]]:
        """Return the dialect to learn in, and its parts set one by one: those of the counting.

        Where a dialect is named, its parts are those that are given with it.
        """
        if dialect is not None:
            return dialect, dict(options)
        return self.info.dialect, {**self.info.options, **options}

    def check(self, dialect: _core.Dialect, special_tokens: Sequence[str]) -> None:
        """Refuse to learn in a dialect whose pieces would be others.

        Raises
        ------
        TrainingError
            Text was prepared in another way, or it is not known where pieces first occur.
        """
        counted = self.info.special_tokens
        if set(special_tokens) != set(counted):
            message = (
                f"the special tokens of the counts are {', '.join(counted) or 'none'}, and "
                "pieces end at them: count again with other special tokens, or add them to the tokenizer "
                "(Tokenizer.with_special_tokens)"
            )
            raise TrainingError(message)
        if preparation_of(dialect, special_tokens) != self.info.preparation:
            message = (
                f"the pieces were counted in the dialect {self.info.dialect!r} with the "
                f"options {self.info.options}, and the dialect named here prepares text differently; "
                "count again in it, or leave the dialect out"
            )
            raise TrainingError(message)
        if dialect.ties == "first_seen" and not self.knows_first:
            message = (
                "ties are decided by the first occurrence, which these counts do not record; "
                "count again with this rule, or choose another rule"
            )
            raise TrainingError(message)

    def weights_of(
        self, groups: Iterable[str] | Mapping[str, Weight] | None
    ) -> tuple[dict[str, int] | None, int]:
        """Return how often each group counts, as whole numbers, and their scale.

        Raises
        ------
        TrainingError
            There is no such group.
        """
        if groups is None:
            return None, 1
        if isinstance(groups, str):
            groups = [groups]
        if not isinstance(groups, Mapping):
            groups = dict.fromkeys(groups, 1)
        unknown = [group for group in groups if group not in self.info.groups]
        if unknown or not groups:
            known = ", ".join(map(repr, sorted(self.info.groups))) or "none"
            wanted = ", ".join(map(repr, unknown)) or "none"
            message = (
                f"{argument('groups')}: {wanted} asked for, the counts have {known}"
            )
            raise TrainingError(message)
        multipliers, scale = whole_multipliers(list(groups.values()))
        return dict(zip(groups, multipliers, strict=True)), scale

    def core_table(
        self, multipliers: Mapping[str, int] | None, min_sources: int | None
    ) -> tuple[_core.PieceTable, tuple[int, int]]:
        """Return a table of the core with the sum of all groups, each as often as said.

        Pieces that occur in fewer than ``min_sources`` groups are left out. The second result is the
        number of these pieces, and how often they occur.

        Raises
        ------
        TrainingError
            A sum exceeds 63 bits.
        """
        table, sources = _core.PieceTable(), _core.PieceTable()
        for batch in self.batches():
            for group, rows in by_group(batch):
                times = 1 if multipliers is None else multipliers.get(group or "", 0)
                pieces, counts, firsts = arrays_of_rows(rows)
                largest = int(counts.max()) if len(counts) else 0
                if largest * times > LARGEST:
                    message = f"a count of {largest:,} times {times:,} exceeds 63 bits"
                    raise TrainingError(message)
                if times:
                    table.add((pieces, counts * times, firsts))
                if times and min_sources:
                    sources.add((pieces, counts.clip(max=1), firsts))
        if not min_sources:
            return table, (0, 0)
        return table, table.drop_rare_in(sources, min_sources)

    def size_of(self, multipliers: Mapping[str, int] | None = None) -> tuple[int, int]:
        """Return the documents and bytes of the groups that are learned from."""
        if multipliers is None:
            return self.info.documents, self.info.bytes
        found = [self.info.groups[group] for group in multipliers]
        return sum(f["documents"] for f in found), sum(f["bytes"] for f in found)

    def save(self, path: StrPath) -> None:
        """Write a file of counts, whole or not at all."""
        write_counts(path, self.schema, self.batches(), self.info)


def write_counts(
    path: StrPath,
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    info: CountsInfo,
) -> None:
    """Write a file of counts, whole or not at all, while its rows come."""
    refuse_no_name(path)
    parquet = load("pyarrow.parquet")
    described = {"version": VERSION, **asdict(info)}
    metadata = {KEY: written(described, is_sorted=True)}
    sums = _Sums()
    with (
        writing(path) as file,
        parquet.ParquetWriter(
            file,
            schema.with_metadata(metadata),
            compression="zstd",
            use_dictionary=["count", "group"],  # pieces differ, and their places
            write_page_checksum=True,
        ) as writer,
    ):
        for batch in batches:
            sums.add(batch)
            writer.write_batch(batch.replace_schema_metadata(metadata))
        totals = {**sums.totals(), "described": sha256(metadata[KEY]).hexdigest()}
        writer.add_key_value_metadata({TOTALS_KEY: written(totals)})


class _Sums:
    """Adds up what rows hold, so that rows that are missing are missed."""

    def __init__(self) -> None:
        self.rows = self.occurrences = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Add the rows of a batch."""
        self.rows += batch.num_rows
        if batch.num_rows:
            counts = batch.column("count").to_numpy()
            # A sum may need more than 64 bits.
            high, low = counts >> 32, counts & 0xFFFFFFFF
            self.occurrences += (int(high.sum()) << 32) + int(low.sum())

    def totals(self) -> dict[str, Any]:
        """Return the sums as they are written."""
        return {"rows": self.rows, "occurrences": str(self.occurrences)}


def is_counts(path: StrPath) -> bool:
    """Whether a file is one of counts, by what it holds.

    Raises
    ------
    FormatError
        It begins as a Parquet file, and is none.
    """
    try:
        with Path(path).open("rb") as file:
            if file.read(len(PARQUET_MAGIC)) != PARQUET_MAGIC:
                return False
    except OSError:
        return False
    with _opened(path) as counts:
        return KEY in (counts.metadata.metadata or {})


def read_counts(path: StrPath) -> Counts:
    """Open a file of counts; its rows are read when they are asked for.

    Raises
    ------
    FormatError
        It is none, or one of a version that is not known here, or damaged.
    FileError
        It cannot be read.
    """
    refuse_no_name(path)
    name = os.fspath(path)
    with _opened(path) as file:
        schema, n_rows = file.schema_arrow, file.metadata.num_rows
        metadata = file.metadata.metadata or {}
    described = parse(metadata.get(KEY, b"{}"), f"{name}: {KEY.decode()}")
    if described.object().get("version") != VERSION:
        message = f"{name}: not counts of pieces, or of an unknown version"
        raise FormatError(message)
    info = _info_of(described)
    kinds = columns(), columns(has_firsts=True), columns(is_grouped=True)
    if schema.remove_metadata() not in kinds:
        message = f"{name}: not the columns of counts: {', '.join(map(str, schema))}"
        raise FormatError(message)
    totals = _totals_of(metadata, n_rows, name)
    return Counts(None, info, _Stored(path, schema.remove_metadata(), totals))


def _totals_of(
    metadata: Mapping[bytes, bytes], n_rows: int, name: str
) -> dict[str, Any]:
    """Return what the rows must add up to, if the metadata and the number of rows fit it."""
    key = TOTALS_KEY.decode()
    if TOTALS_KEY not in metadata:
        message = f"{name}: no {key}; the file is damaged"
        raise FormatError(message)
    place = parse(metadata[TOTALS_KEY], f"{name}: {key}").check_only(
        {"rows": Place.number, "occurrences": Place.text, "described": Place.sha256}
    )
    totals = place.object()
    if totals.pop("described") != sha256(metadata[KEY]).hexdigest():
        message = f"{name}: its metadata has changed since it was written"
        raise FormatError(message)
    if totals["rows"] != n_rows:
        message = f"{name}: {n_rows:,} rows, but {totals['rows']:,} were written"
        raise FormatError(message)
    return totals


def _info_of(described: Place) -> CountsInfo:
    """Check what a file says of its counts, field by field."""
    described.check_only({"version": Place.number, **INFO})
    for _token, found in described["found_special"].values():
        found.number()
    for _group, sizes in described["groups"].values():
        sizes.check_only({"documents": Place.number, "bytes": Place.number})
    return CountsInfo(**{name: described.object()[name] for name in INFO})


INFO: Shapes = {
    "preparation": Place.text,
    "dialect": Place.text,
    "options": {},
    "special_tokens": [Place.text],
    "sources": [Place.text],
    **dict.fromkeys(SUMS, Place.number),
    "min_piece_count": Place.number_or_none,
    "found_special": {},
    "groups": {},
}


def _check_rows(batch: pa.RecordBatch, groups: Collection[str], name: str) -> None:
    """Refuse rows that no counting gives."""
    for column, field_ in zip(batch.columns, batch.schema, strict=True):
        if column.null_count:
            message = f"{name}: the column {field_.name} has a null"
            raise FormatError(message)
    if batch.num_rows and int(batch.column("count").to_numpy().min()) < 1:
        message = f"{name}: the column count has a number below 1"
        raise FormatError(message)
    named = batch.column("group").unique() if "group" in batch.schema.names else []
    for group in map(str, named):
        if group not in groups:
            message = f"{name}: the group {group!r:.80} is not listed in its metadata"
            raise FormatError(message)


@contextlib.contextmanager
def _opened(path: StrPath) -> Iterator[Any]:
    """Open a Parquet file; what is wrong with it is told with its name."""
    pa, parquet = load("pyarrow"), load("pyarrow.parquet")
    name = os.fspath(path)
    try:
        with (
            pa.OSFile(os.fsencode(path)) as source,
            parquet.ParquetFile(source, page_checksum_verification=True) as file,
        ):
            yield file
    except FormatError:
        raise
    except OSError as error:
        if error.errno is not None:
            message = f"{name}: {os.strerror(error.errno)}"
            raise FileError(message) from error
        message = f"{name}: {error}"
        raise FormatError(message) from error
    except (pa.ArrowException, ValueError, OverflowError) as error:
        message = f"{name}: {error}"
        raise FormatError(message) from error


def preparation_of(dialect: _core.Dialect, special_tokens: Sequence[str]) -> str:
    """Name all that is done to text before its pieces are counted: a hash.

    >>> from bytepair import _core
    >>> gpt2, llama3 = _core.Dialect("gpt2"), _core.Dialect("llama3")
    >>> by_value = _core.Dialect("gpt2", byte_ids="value")
    >>> preparation_of(gpt2, []) == preparation_of(by_value, [])
    True
    >>> preparation_of(gpt2, []) == preparation_of(llama3, [])
    False
    """
    corpus = _core.Corpus(dialect.as_in_training(), [], threads=1)
    corpus.add_counts([("a", 1)])
    corpus.finish(0)
    tokenizer, _report, _course = corpus.train(
        vocab_size=None,
        merges=0,
        scale=1,
        limits=(None, None, False),
        with_course=False,
        progress=None,
    )
    parts: Mapping[str, Any] = json.loads(_core.write("bytepair", tokenizer)[0])
    described = {name: parts[name] for name in ("unicode", "normalizer", "rounds")}
    described["characters"] = parts["units"]["unit"] == "character"
    described["special_tokens"] = sorted(special_tokens)
    text = json.dumps(described, sort_keys=True)
    return sha256(text.encode()).hexdigest()
