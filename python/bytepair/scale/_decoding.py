"""Documents of finished shards as texts: what a task reads instead of files.

A task has the documents that one task of the old dataset wrote, in their order, so the new shards are
divided as the old ones are. Files are compared with their checksums. Each batch of texts is encoded
again by the old tokenizer and must give its ids, the tokens around documents included, so a text that
the old tokenizer does not turn into these ids is never passed on. What it does not distinguish, such as
upper and lower case if it makes all text lower case, cannot come back; `OldShards.loses` names that.

Left out: writing, which `_writing` does. Costs decoding and one more encoding. Holds one batch.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair import DecodeStream
from bytepair._labels import argument
from bytepair._numpy import np
from bytepair.data._columns import text_batch
from bytepair.data._dataset import read_parquet_shard, read_shard
from bytepair.data._manifest import MANIFEST, read_manifest
from bytepair.data._optional import load
from bytepair.data._readers import Tally, rows_of
from bytepair.data._shards import sha256_of
from bytepair.errors import EncodingError, TokenizerError, UnknownTokenError

from ._writing import ShardSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from bytepair import Tokenizer
    from bytepair._io.files import StrPath

BATCH_IDS = 1 << 20
"""How many ids are decoded at once, unless a document has more."""
DROPPED = "what the split pattern does not match"
"""How a description names text that is left out."""
IN_BATCH = re.compile(r"text (\d+) of the batch: ")
"""How the core names the text that it cannot encode."""


@dataclass(frozen=True)
class OldTask:
    """What one task of a finished dataset wrote, and the number of its first document."""

    written: dict[str, Any]
    first: int

    @property
    def size(self) -> int:
        """The bytes of its files."""
        files = (shard["files"].values() for shard in self.written["shards"])
        return sum(file["bytes"] for of_shard in files for file in of_shard)


@dataclass(frozen=True)
class OldShards:
    """A finished dataset, and how its documents became ids.

    Attributes
    ----------
    plan
        The plan in the manifest of the dataset.
    """

    folder: Path
    plan: dict[str, Any]
    spec: ShardSpec

    @cached_property
    def loses(self) -> str:
        """What the old tokenizer does not give back, in words; ``"nothing"`` if it gives back all."""
        return self.spec.tokenizer.inspect().description["loses"]

    @cached_property
    def unclear(self) -> dict[int, str]:
        """The tokens that do not say which text stood in their place, or beside them, by id."""
        tokenizer = self.spec.tokenizer
        tokens = tokenizer.inspect().tokens()
        found = {token.id: str(token) for token in tokens if token.kind == "unknown"}
        if DROPPED in self.loses and self.spec.added_tokens == "find":
            added = tokenizer.added_tokens.items()
            found |= {id_: str(token) for id_, token in added if not token.special}
        return found

    @property
    def origin(self) -> dict[str, Any]:
        """What the plan of the new shards says about the corpus and the old shards."""
        named = ("task_bytes", "reading", "sources")
        from_ids = {
            "folder": str(self.folder),
            "manifest": sha256_of(self.folder / MANIFEST),
            "tokenizer": self.plan["tokenizer"],
            "loses": self.loses,
            "from_ids": self.plan.get("from_ids"),
        }
        corpus = {name: self.plan[name] for name in named if name in self.plan}
        return {**corpus, "from_ids": from_ids}

    def batches(
        self, shard: dict[str, Any]
    ) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Read the ids of a shard, some documents at a time, with the end of each."""
        if self.plan["format"] == "parquet":
            yield from read_parquet_shard(self.folder, shard)
            return
        ids, ends = read_shard(self.folder, shard, self.plan, check_sums=True)
        start = first = 0
        while first < len(ends):
            n_fitting = int(np.searchsorted(ends, start + BATCH_IDS, "right"))
            last = max(n_fitting, first + 1)
            stop = int(ends[last - 1])
            yield ids[start:stop], ends[first:last] - start
            start, first = stop, last

    def decode(
        self, ids: NDArray[Any], ends: NDArray[Any], first: int
    ) -> pa.RecordBatch:
        """Return documents as texts, given the number of the first one.

        Raises
        ------
        TokenizerError
            The text of a document is not certain; the message names the document.
        """
        rows = np.split(ids, ends[:-1])
        texts = [self._text(row, first + number) for number, row in enumerate(rows)]
        batch = _batch_of(texts)
        try:
            again, again_ends = self.spec.encode(batch)
        except TokenizerError as error:
            raise type(error)(self.named(error, first)) from error
        if np.array_equal(ends, again_ends) and np.array_equal(ids, again):
            return batch
        for number, other in enumerate(np.split(again, again_ends[:-1])):
            if not np.array_equal(rows[number], other):
                texts[number] = self._spaced(
                    texts[number], rows[number], first + number
                )
        return _batch_of(texts)

    def named(self, error: TokenizerError, first: int) -> str:
        """Return a message that names the document of a batch, given the number of its first one."""
        found = IN_BATCH.match(str(error))
        if found is None:
            return str(error)
        document = self._document(first + int(found[1]))
        return f"{document}: {str(error)[found.end() :]}"

    @property
    def _kept(self) -> slice:
        """Which ids of a document are those of its text."""
        ends_marked = self.plan["end_of_document"] is not None
        begin = int(self.plan["begin_of_document"] is not None)
        return slice(begin, -1 if ends_marked else None)

    def _text(self, row: NDArray[Any], number: int) -> bytes:
        """Return the text of a document, given its number."""
        ids, tokenizer = row[self._kept], self.spec.tokenizer
        unclear = [id_ for id_ in self.unclear if id_ in ids]
        if unclear:
            message = (
                f"{self._document(number)}: it has the token {self.unclear[unclear[0]]!r}, and which "
                "text stood there is not known; tokenize the corpus itself"
            )
            raise UnknownTokenError(message)
        try:
            return tokenizer.decode(ids, errors="strict").encode()
        except EncodingError:
            stream = DecodeStream(tokenizer, errors="bytes")
            return stream.push(ids) + stream.finish()
        except UnknownTokenError as error:
            message = f"{self._document(number)}: {error}"
            raise UnknownTokenError(message) from error

    def _document(self, number: int) -> str:
        return f"{self.folder}: document {number:,}"

    def _spaced(self, text: bytes, row: NDArray[Any], number: int) -> bytes:
        """Return a text with a space before it, which some decoders remove although none was added.

        Raises
        ------
        TokenizerError
            The ids of the document are not those of this text either.
        """
        if np.array_equal(row, self.spec.encode(_batch_of([b" " + text]))[0]):
            return b" " + text
        names = self.spec.tokenizer.special_tokens
        special = {id_: name for name, id_ in names.items()}
        inside = [special[id_] for id_ in row[self._kept].tolist() if id_ in special]
        problem = "its ids are not those of the text that they are decoded to"
        if inside:
            problem = (
                f"the special token {inside[0]!r} is inside it, and bytepair puts special tokens only "
                "around documents"
            )
        message = f"{self._document(number)}: {problem}; tokenize the corpus itself"
        raise TokenizerError(message)


def _batch_of(texts: list[bytes]) -> pa.RecordBatch:
    pa = load("pyarrow")
    return text_batch(pa.array(texts, pa.large_binary()))


def open_shards(
    folder: StrPath, tokenizer: Tokenizer, threads: int | None = None
) -> tuple[OldShards, list[OldTask]]:
    """Open a finished dataset; return it and its tasks.

    Raises
    ------
    FileError
        The folder holds no finished dataset.
    TokenizerError
        Another tokenizer wrote the shards, or it does not keep words apart.
    """
    manifest = read_manifest(folder)
    plan = manifest["plan"]
    if plan["tokenizer"] != tokenizer.fingerprint:
        message = (
            f"{os.fspath(folder)}: the tokenizer {plan['tokenizer']} wrote these shards, and "
            f"{argument('old_tokenizer')} is {tokenizer.fingerprint}; give the one that wrote them"
        )
        raise TokenizerError(message)
    spec = ShardSpec(
        tokenizer,
        plan["format"],
        plan["begin_of_document"],
        plan["end_of_document"],
        threads=threads,
        added_tokens=plan["added_tokens"],
    )
    old = OldShards(Path(folder), plan, spec)
    has_end_marks = tokenizer.inspect().settings["end_mark"] is not None
    if DROPPED in old.loses and not has_end_marks:
        message = (
            f"{os.fspath(folder)}: its tokenizer leaves out the text between words and does not mark "
            "where they end, so their text is not known; tokenize the corpus itself"
        )
        raise TokenizerError(message)
    tasks, first = [], 0
    for written in manifest["tasks"]:
        tasks.append(OldTask(written, first))
        first += sum(shard["documents"] for shard in written["shards"])
    return old, tasks


class OldReading:
    """The batches of a task, and how much of it is read."""

    def __init__(self, task: OldTask, old: OldShards) -> None:
        self.task, self.old, self.tally = task, old, Tally()
        self.n_ids_read, self.first = 0, task.first

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for shard in self.task.written["shards"]:
            for ids, ends in self.old.batches(shard):
                batch = self.old.decode(ids, ends, self.first)
                self.tally.add_rows(rows_of(batch))
                yield batch
                self.n_ids_read += len(ids)
                self.first += len(ends)

    def done_bytes(self) -> int:
        """Return how much of the task is read, in bytes of its files."""
        n_ids: int = sum(shard["tokens"] for shard in self.task.written["shards"])
        return self.task.size * self.n_ids_read // max(n_ids, 1)

    def tallied(self) -> dict[str, Any]:
        """Return the numbers of the documents, those without ids included, and the bytes of all texts."""
        return {**self.task.written["tally"], "bytes": self.tally.bytes}

    def named(self, error: TokenizerError) -> str:
        """Return the message of an error in encoding, which names the document."""
        return self.old.named(error, self.first)
