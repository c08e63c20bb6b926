"""Documents to shards of ids, as one task does it.

Nothing here depends on an engine, and there is no state between calls. All settings are in a spec,
which can be pickled. `docs/explanation/corpora.md` says why it does not matter who calls this, how
often, and with which part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from bytepair import Tokenizer, _core
from bytepair._added import names_of
from bytepair.data._columns import texts_of
from bytepair.data._shards import ShardFormat, Shards
from bytepair.errors import SpecialTokenError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    import pyarrow as pa


@dataclass(frozen=True)
class ShardSpec:
    """How documents become ids, and how these are written.

    Attributes
    ----------
    begin_of_document, end_of_document
        The tokens before and after each document that has tokens, or ``None``.
    shard_tokens
        A shard ends before the document that would make it longer.
    added_tokens
        Whether added tokens that are not special are found in documents, or are text.
    """

    tokenizer: Tokenizer
    format: ShardFormat = "npy"
    begin_of_document: str | None = None
    end_of_document: str | None = None
    shard_tokens: int | None = None
    threads: int | None = 1
    added_tokens: Literal["find", "text"] = "find"

    def __post_init__(self) -> None:
        self.tokenizer.count("", added_tokens=self.added_tokens)  # refuses other values
        for name in ("begin_of_document", "end_of_document"):
            self._id_of(name)

    @property
    def plan(self) -> dict[str, Any]:
        """What a manifest says about the ids."""
        return {
            "tokenizer": self.tokenizer.fingerprint,
            "format": self.format,
            "width": self.width,
            "begin_of_document": self.begin_of_document,
            "end_of_document": self.end_of_document,
            "shard_tokens": self.shard_tokens,
            "added_tokens": self.added_tokens,
        }

    @property
    def width(self) -> Literal[2, 4]:
        """Bytes of an id in a file: 2 if the vocabulary fits, as readers expect."""
        n_narrow = 65_500 if self.format == "megatron" else 65_536
        is_narrow = self.format != "parquet" and self.tokenizer.n_vocab <= n_narrow
        return 2 if is_narrow else 4

    def encode(self, batch: pa.RecordBatch) -> tuple[Any, Any]:
        """Return the ids of documents, and the end of each document in them."""
        return _core.encode_rows(
            self.tokenizer,
            texts_of(batch),
            before=self._id_of("begin_of_document"),
            behind=self._id_of("end_of_document"),
            width=self.width,
            added_tokens=self.added_tokens,
            threads=self.threads,
        )

    def _id_of(self, name: str) -> int | None:
        """Return the id of the token before or after documents."""
        token = getattr(self, name)
        if token is None:
            return None
        if not isinstance(token, str):
            message = f"{name} must be a token as it is written, not {token!r}"
            raise TypeError(message)
        special = self.tokenizer.special_tokens
        found = special.get(token, self.tokenizer.token_to_id(token))
        if found is None:
            known = ", ".join(special) or "none"
            message = (
                f"the tokenizer has no token {token!r}; its special tokens: {known}"
            )
            raise SpecialTokenError(message)
        return found


def write_shards(
    batches: Iterable[pa.RecordBatch],
    spec: ShardSpec,
    folder: Path,
    name: str,
    watch: Callable[[int], object] | None = None,
    note: Callable[[dict[str, Any]], object] | None = None,
) -> dict[str, Any]:
    """Write the ids of documents as shards ``NAME-000``, ``NAME-001``, … of a folder.

    Files get their names when all are complete and on the disk. Return what was written:
    the shards, and how many documents contain the text of a special token, or of another added
    token that is more than white space. The same documents give the same bytes. ``watch`` is
    called with the number of ids after each batch, and ``note`` with the result, before files
    have their names.
    """
    shards = Shards(folder, name, spec.format, spec.width, spec.shard_tokens)
    names = names_of(spec.tokenizer.added_tokens)
    n_with_special = n_with_added = n_tokens = 0
    with shards:
        for batch in batches:
            special, added = _core.count_rows_holding(texts_of(batch), names)
            n_with_special += special
            n_with_added += added
            ids, ends = spec.encode(batch)
            shards.write(ids, ends)
            n_tokens += len(ids)
            if watch is not None:
                watch(n_tokens)
        written = {
            "with_special_text": n_with_special,
            "with_added_text": n_with_added,
            "shards": shards.finish(),
        }
        if note is not None:
            note(written)
        shards.give_names()
    return written
