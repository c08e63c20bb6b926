"""Counts of pieces as a file: the only thing that training needs of a corpus.

A Parquet file of the columns ``piece: large_binary`` and ``count: int64``, in the order of counts
and then of pieces, and, where ties are decided by the first occurrence, ``first: int64``; or
``group: large_string`` where documents have groups, a row for each piece of each group. What it
was made of and how lies in the metadata, as JSON. The same corpus gives the same rows.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair import _core
from bytepair._files import StrPath, refuse_no_name, writing
from bytepair._weights import Weight, whole_multipliers
from bytepair.errors import FormatError, TrainingError

from ._grouped import weighted_sum
from ._optional import load
from ._sums import BATCH_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

__all__ = [
    "Counts",
    "CountsInfo",
    "is_counts",
    "preparation_of",
    "read_counts",
    "write_counts",
]

KEY = b"bytepair.counts"
VERSION = 2
PARQUET_MAGIC = b"PAR1"


@dataclass
class CountsInfo:
    """What pieces were counted in, and how.

    ``preparation`` is the fingerprint of all that is done to text before it is counted;
    ``dialect``, ``options`` and ``special_tokens``, in the order in which they were named, are
    what it was made of. ``found_special``
    says how often each special token stood in the documents. ``groups`` are the documents and
    bytes of each group. ``dropped_bound`` is at least how often any pair of tokens occurs in
    the pieces that were left out.
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
    dropped_bound: int = 0

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
    """Give lists in one order: that of special tokens changes no count."""
    return sorted(value) if isinstance(value, list) else value


SUMS = (
    "documents",
    "null",
    "empty",
    "bad",
    "bytes",
    "dropped_pieces",
    "dropped_occurrences",
    "dropped_bound",
)


class Counts:
    """Pieces with their counts, in memory or in a file, and what they were counted in.

    Attributes
    ----------
    info
        What the pieces were counted in, and how.
    """

    def __init__(
        self, table: pa.Table | None, info: CountsInfo, path: StrPath | None = None
    ) -> None:
        self.info = info
        self._table, self._path = table, path or ""

    def __repr__(self) -> str:
        return (
            f"<bytepair.data.Counts: of {self.info.bytes:,} bytes of text, "
            f"dialect {self.info.dialect}>"
        )

    @property
    def table(self) -> pa.Table:
        """The rows as an Arrow table; those of a file are read when this is first asked."""
        if self._table is None:
            batches = list(self.batches())
            self._table = load("pyarrow").Table.from_batches(batches, self.schema)
        return self._table

    @table.setter
    def table(self, table: pa.Table) -> None:
        self._table = table

    @property
    def schema(self) -> pa.Schema:
        """The columns."""
        if self._table is not None:
            return self._table.schema
        with _opened(self._path) as file:
            return file.schema_arrow.remove_metadata()

    @property
    def n_rows(self) -> int:
        """The number of distinct pieces; those of several groups count in each."""
        if self._table is not None:
            return int(self._table.num_rows)
        with _opened(self._path) as file:
            return int(file.metadata.num_rows)

    @property
    def knows_first(self) -> bool:
        """Whether it is known where pieces first occur."""
        return "first" in self.schema.names

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Give the rows a part at a time."""
        if self._table is not None:
            yield from self._table.to_batches(BATCH_ROWS)
            return
        with _opened(self._path) as file:
            for number in range(file.num_row_groups):
                rows = file.read_row_group(number).replace_schema_metadata(None)
                yield from rows.to_batches()

    def parts(
        self, dialect: str | None, options: Mapping[str, Any]
    ) -> tuple[str, dict[str, Any]]:
        """Give the dialect to learn in, and its parts set one by one: those of the counting.

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
        """Give how often each group counts, as whole numbers, and their scale.

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
            message = f"groups: {wanted} asked for, the counts have {known}"
            raise TrainingError(message)
        multipliers, scale = whole_multipliers(list(groups.values()))
        return dict(zip(groups, multipliers, strict=True)), scale

    def core_table(
        self, multipliers: Mapping[str, int] | None = None
    ) -> _core.PieceTable:
        """Give the rows to the core, groups added up."""
        return weighted_sum(self.batches(), multipliers)

    def size_of(self, multipliers: Mapping[str, int] | None = None) -> tuple[int, int]:
        """Give the documents and bytes of the groups that are learned from."""
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
    text = json.dumps(described, sort_keys=True, ensure_ascii=False)
    metadata = {KEY: text.encode(errors="surrogateescape")}
    with (
        writing(path) as file,
        parquet.ParquetWriter(
            file, schema.with_metadata(metadata), compression="zstd"
        ) as writer,
    ):
        for batch in batches:
            writer.write_batch(batch.replace_schema_metadata(metadata))


def is_counts(path: StrPath) -> bool:
    """Tell whether a file is one of counts, by what it holds."""
    try:
        with Path(path).open("rb") as file:
            if file.read(len(PARQUET_MAGIC)) != PARQUET_MAGIC:
                return False
    except OSError:
        return False
    return KEY in (load("pyarrow.parquet").read_schema(path).metadata or {})


def read_counts(path: StrPath) -> Counts:
    """Open a file of counts; its rows are read when they are asked for.

    Raises
    ------
    FormatError
        It is none, or one of a version that is not known here.
    OSError
        It cannot be read.
    """
    refuse_no_name(path)
    pa = load("pyarrow")
    name = os.fspath(path)
    with _opened(path) as file:
        schema = file.schema_arrow
    described = json.loads((schema.metadata or {}).get(KEY, b"{}"))
    if described.pop("version", None) != VERSION:
        message = f"{name}: not counts of pieces, or of an unknown version"
        raise FormatError(message)
    wanted = {"piece": pa.large_binary(), "count": pa.int64()}
    if "group" in schema.names:
        wanted["group"] = pa.large_string()
    for column, type_ in wanted.items():
        if column not in schema.names or schema.field(column).type != type_:
            message = f"{name}: no column {column} of {type_}"
            raise FormatError(message)
    known = {field.name for field in fields(CountsInfo)}
    unknown = sorted(set(described) - known)
    if unknown:
        message = f"{name}: metadata {', '.join(unknown)} is not known"
        raise FormatError(message)
    return Counts(None, CountsInfo(**described), path)


@contextlib.contextmanager
def _opened(path: StrPath) -> Iterator[Any]:
    """Open a Parquet file; what is wrong with it is told with its name."""
    pa, parquet = load("pyarrow"), load("pyarrow.parquet")
    try:
        with parquet.ParquetFile(path, memory_map=False) as file:
            yield file
    except (FileNotFoundError, PermissionError):
        raise
    except (pa.ArrowInvalid, OSError) as error:
        message = f"{os.fspath(path)}: {error}"
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
    parts: Mapping[str, Any] = json.loads(_core.write_native(tokenizer))
    described = {name: parts[name] for name in ("unicode", "normalizer", "rounds")}
    described["characters"] = parts["units"]["unit"] == "character"
    described["special_tokens"] = sorted(special_tokens)
    text = json.dumps(described, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
