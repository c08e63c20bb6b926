"""Finished shards as a corpus: the documents of a task are decoded by the tokenizer that wrote them.

Tasks are those of the old dataset, and files are compared with their checksums. The old tokenizer encodes
each text again, and the ids must be those that were read, the tokens around documents included. So a
text differs from that of the corpus only in what the old tokenizer does not distinguish, which `loses` names.

Left out: shards in Parquet. The cost is that of decoding and encoding each text; memory holds one batch.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from bytepair import DecodeStream
from bytepair._io.files import refuse_no_name
from bytepair._numpy import np
from bytepair.data import TokenDataset
from bytepair.data._checking import marks_of, refuse_other, tasks_of
from bytepair.data._columns import text_batch
from bytepair.data._manifest import MANIFEST
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
    from bytepair.data._plan import Task


BATCH_IDS = 1 << 20
"""A batch ends when it has this many ids."""
DROPPED = "what the split pattern does not match"
"""How a description names text that is left out."""
IN_BATCH = re.compile(r"text (\d+) of the batch: ")
"""How a message names a text that cannot be encoded or decoded."""


class OldShards:
    """A finished dataset, and how its documents became ids.

    Attributes
    ----------
    loses
        What the old tokenizer does not give back, in words, or ``"nothing"``.
    tasks
        The tasks of the dataset, as parts of its corpus.
    inside
        The slice of a document without the tokens around it.
    unclear
        By id, the tokens whose own text, or the text beside them, is not known.

    Raises
    ------
    FileError
        The folder holds no finished dataset.
    TokenizerError
        Another tokenizer wrote the shards, or this one does not mark where words end.
    """

    def __init__(
        self, folders: list[StrPath], tokenizer: Tokenizer, threads: int | None
    ) -> None:
        if len(folders) != 1:
            message = f"name one folder of finished shards, not {len(folders)}"
            raise TokenizerError(message)
        refuse_no_name(folders[0])
        self.dataset = TokenDataset(folders[0], check_sums=True)
        plan = self.dataset.manifest["plan"]
        refuse_other(self.dataset, tokenizer)
        self.tasks = tasks_of(self.dataset.manifest)
        self.inside, _marks = marks_of(tokenizer, plan)
        names = ("begin_of_document", "end_of_document", "added_tokens")
        settings = {name: plan[name] for name in names}
        self.spec = ShardSpec(tokenizer, plan["format"], threads=threads, **settings)
        inspected = tokenizer.inspect()
        self.loses = inspected.description["loses"]
        unknown = [t for t in inspected.tokens() if t.kind == "unknown"]
        self.unclear = {token.id: str(token) for token in unknown}
        if DROPPED in self.loses and self.spec.added_tokens == "find":
            added = tokenizer.added_tokens.items()
            self.unclear |= {
                n: token.content for n, token in added if not token.special
            }
        if DROPPED in self.loses and not inspected.settings["end_mark"]:
            message = (
                f"{folders[0]}: its tokenizer leaves out the text between words and does not mark "
                "where they end, so their text is not known; tokenize the corpus itself"
            )
            raise TokenizerError(message)

    @property
    def origin(self) -> dict[str, Any]:
        """What the plan of the new shards says about the corpus and the old shards."""
        plan, folder = self.dataset.manifest["plan"], self.dataset.folder
        names = ("task_bytes", "reading", "sources")
        corpus = {name: plan[name] for name in names if name in plan}
        from_ids = {
            "folder": str(folder),
            "manifest": sha256_of(folder / MANIFEST),
            "tokenizer": plan["tokenizer"],
            "loses": self.loses,
            "from_ids": plan.get("from_ids"),
        }
        return {**corpus, "from_ids": from_ids}


class OldReading:
    """The batches of a task, and how much of it is read."""

    def __init__(self, number: int, task: Task, old: OldShards) -> None:
        self.old, self.tally = old, Tally()
        self.size = sum(part.size for part in task)
        written = old.dataset.manifest["tasks"]
        lengths = [sum(s["documents"] for s in each["shards"]) for each in written]
        self.old_tally, self.n_documents = written[number]["tally"], lengths[number]
        self.first = sum(lengths[:number])

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        rows: list[NDArray[Any]] = []
        n_ids, last = 0, self.first + self.n_documents - 1
        for number in range(self.first, last + 1):
            rows.append(self.old.dataset[number])
            n_ids += len(rows[-1])
            if n_ids >= BATCH_IDS or number == last:
                batch = self._decoded(rows)
                self.tally.add_rows(rows_of(batch))
                yield batch
                self.first, rows, n_ids = number + 1, [], 0
        # Documents without ids were read once, too.
        vars(self.tally).update(self.old_tally, bytes=self.tally.bytes)

    def done_bytes(self) -> int:
        """Return how much of the task is read, in bytes of its corpus."""
        return int(self.size * self.tally.documents // max(self.n_documents, 1))

    def named(self, error: TokenizerError) -> str:
        """Return the message of an error; a text of the batch gets the number of its document."""
        text, found = str(error), IN_BATCH.match(str(error))
        if found is None:
            return text
        number = self.first + int(found[1])
        folder = self.old.dataset.folder
        return f"{folder}: document {number:,}: {text[found.end() :]}"

    def _decoded(self, rows: list[NDArray[Any]]) -> pa.RecordBatch:
        """Return documents as texts, which the old tokenizer turns into their ids."""
        inside = [row[self.old.inside] for row in rows]
        texts = [self._text(ids, place) for place, ids in enumerate(inside)]
        # Some decoders remove a space before a text although none was added.
        for _is_spaced in (False, True):
            batch = text_batch(load("pyarrow").array(texts, "large_binary"))
            ids, ends = self.old.spec.encode(batch)
            pairs = zip(rows, np.split(ids, ends[:-1]), strict=True)
            wrong = [n for n, pair in enumerate(pairs) if not np.array_equal(*pair)]
            if not wrong:
                return batch
            for place in wrong:
                texts[place] = b" " + texts[place]
        special = self.old.spec.tokenizer.special_tokens.items()
        names = [name for name, id_ in special if id_ in inside[wrong[0]]]
        problem = "its ids are not those of the text that they decode to"
        if names:
            problem = f"the special token {names[0]!r} is inside it, not only around it"
        raise _error(wrong[0], problem)

    def _text(self, ids: NDArray[Any], place: int) -> bytes:
        """Return the text that the ids of a document of the batch are decoded to."""
        for id_, name in self.old.unclear.items():
            if id_ in ids:
                raise _error(place, f"the text at the token {name!r} is not known")
        tokenizer = self.old.spec.tokenizer
        try:
            return tokenizer.decode(ids, errors="strict").encode()
        except EncodingError:
            stream = DecodeStream(tokenizer, errors="bytes")
            return stream.push(ids) + stream.finish()
        except UnknownTokenError as error:
            raise _error(place, str(error)) from error


def _error(place: int, problem: str) -> TokenizerError:
    return TokenizerError(
        f"text {place} of the batch: {problem}; tokenize the corpus itself"
    )
