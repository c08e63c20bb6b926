"""The rows of an embedding matrix after surgery, as a sparse matrix: ``new = map @ old``.

The row of a kept token is copied. The merges of a new token lead back to tokens of the base, which are
the base's encoding of its text; its row is a combination of theirs. The weights of a row add up to 1.
Left out: everything that depends on the numbers of a matrix, such as norms.
"""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair._io.files import StrPath, write
from bytepair._numpy import NDArray, np
from bytepair._ranges import check_index, check_range
from bytepair.analyze._compare.own_texts import encoded, own_texts
from bytepair.errors import TokenizerError

from ._reports import check_choice
from ._surgery import Kind, Side

if TYPE_CHECKING:
    from bytepair._tokenizer import Tokenizer

    from ._surgery import Surgery

__all__ = ["EmbeddingMap", "embedding_map", "suffix_of"]

SUFFIXES = (".npz", ".jsonl")

Weigher = Callable[[Sequence[int]], list[float]]


@dataclass(frozen=True, eq=False, repr=False)
class EmbeddingMap:
    """A sparse matrix with a row for each new id and a column for each old one.

    Its arrays are those of a matrix in compressed rows (CSR), as scipy and torch take them: the
    columns of a row are distinct and ascend.

    Attributes
    ----------
    indptr
        By row: where its entries begin. There is one more than there are rows.
    old_ids, weights
        The columns and the values of all entries, row by row.
    needs_init
        New ids whose tokens have no parts in the old vocabulary, such as special tokens: their rows
        are 0 and need values of your own.
    shape
        The number of new rows and of old rows.

    >>> import bytepair
    >>> import numpy as np
    >>> from bytepair import surgery
    >>> base = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> found = surgery.extend(base, texts=["wide wider widest"] * 9, add=1)
    >>> rows = found.embedding_map()
    >>> old = np.arange(258 * 2, dtype=np.float32).reshape(258, 2)
    >>> (rows @ old)[258]
    array([135., 136.], dtype=float32)
    """

    indptr: NDArray[np.int64]
    old_ids: NDArray[np.int64]
    weights: NDArray[np.float64]
    needs_init: NDArray[np.int64]
    shape: tuple[int, int]
    tokenizer: Tokenizer = field(repr=False)
    """The new tokenizer, whose tokens :meth:`save` names."""

    def row(self, new_id: int) -> tuple[list[int], list[float]]:
        """Return the old ids and the weights of a row.

        >>> import bytepair
        >>> from bytepair import surgery
        >>> base = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> found = surgery.extend(base, texts=["wide wider"] * 9, add=1)
        >>> found.embedding_map().row(65)
        ([65], [1.0])

        Raises
        ------
        TokenizerError
            There is no such row.
        """
        check_index(new_id=new_id)
        if not 0 <= new_id < self.shape[0]:
            message = f"there is no row {new_id:,}; rows are 0 to {self.shape[0] - 1:,}"
            raise TokenizerError(message)
        start, end = self.indptr[new_id], self.indptr[new_id + 1]
        return self.old_ids[start:end].tolist(), self.weights[start:end].tolist()

    def __matmul__(self, old: Any) -> NDArray[Any]:  # noqa: ANN401 -- what numpy reads
        """Multiply with an old matrix, or with a vector such as the bias of a head.

        Copied rows are identical bit for bit, and the others are summed in 64 bits. The result has the
        dtype of ``old``.
        """
        old = np.asarray(old)
        if old.ndim == 0 or old.shape[0] != self.shape[1]:
            n_rows = f"{old.shape[0]:,} rows" if old.ndim else "no rows"
            message = (
                f"the old matrix has {n_rows}, and this map is for {self.shape[1]:,}; "
                "embedding_map(rows=...) says how many there are"
            )
            raise TokenizerError(message)
        n_entries = np.diff(self.indptr)
        if old.dtype.kind in "biu" and (n_entries > 1).any():
            message = (
                f"the old matrix is of whole numbers ({old.dtype}), and new rows are means; give "
                "it as old.astype(np.float32)"
            )
            raise TokenizerError(message)
        new = np.zeros((self.shape[0], *old.shape[1:]), old.dtype)
        copied = np.flatnonzero(n_entries == 1)
        new[copied] = old[self.old_ids[self.indptr[copied]]]
        for row in np.flatnonzero(n_entries > 1):
            entries = slice(self.indptr[row], self.indptr[row + 1])
            parts = old[self.old_ids[entries]].astype(np.float64)
            new[row] = np.tensordot(self.weights[entries], parts, 1)
        return new

    def save(self, path: StrPath) -> None:
        """Write the rows to a file, whole or not at all.

        The ending of ``path`` says how. ``.npz`` has the arrays, by the names of the attributes, for
        ``np.load``. ``.jsonl`` has a line of JSON for each row; its fields are ``id``, ``token`` as
        Hugging Face's files write it and ``bytes`` in hexadecimal (both ``null`` for an id without a
        token), ``old_ids``, ``weights`` and ``needs_init``.

        Raises
        ------
        TokenizerError
            ``path`` has another ending.
        FileError
            The file cannot be written.
        """
        write(path, self.to_bytes(suffix_of(path)))

    def to_bytes(self, suffix: str) -> bytes:
        """Return the content of a file with this ending; see :meth:`save`.

        >>> import bytepair
        >>> from bytepair import surgery
        >>> base = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> found = surgery.extend(base, texts=["wide wider"] * 9, add=1)
        >>> len(found.embedding_map().to_bytes(".jsonl").splitlines())
        259
        """
        return self._npz() if suffix == ".npz" else self._jsonl()

    def _npz(self) -> bytes:
        file = io.BytesIO()
        np.savez(
            file,
            indptr=self.indptr,
            old_ids=self.old_ids,
            weights=self.weights,
            needs_init=self.needs_init,
            shape=np.array(self.shape, np.int64),
        )
        return file.getvalue()

    def _jsonl(self) -> bytes:
        by_hand = set(self.needs_init.tolist())
        tokens = [t for t in self.tokenizer.inspect().tokens() if t.kind != "none"]
        names = {t.id: {"token": t.written, "bytes": t.bytes.hex()} for t in tokens}
        lines = []
        for id_ in range(self.shape[0]):
            old_ids, weights = self.row(id_)
            line = {
                "id": id_,
                **names.get(id_, {"token": None, "bytes": None}),
                "old_ids": old_ids,
                "weights": weights,
                "needs_init": id_ in by_hand,
            }
            written = json.dumps(line, ensure_ascii=False)
            lines.append(written.encode(errors="backslashreplace") + b"\n")
        return b"".join(lines)

    def __repr__(self) -> str:
        (new, old), n_by_hand = self.shape, len(self.needs_init)
        return (
            f"<bytepair.surgery.EmbeddingMap: {new:,} rows of {old:,}, "
            f"{n_by_hand:,} to be set by hand>"
        )


def suffix_of(path: StrPath) -> str:
    """Return the ending of a file for a map; refuse any other."""
    suffix = Path(path).suffix
    if suffix not in SUFFIXES:
        message = f"{os.fspath(path)}: the extension must be {' or '.join(SUFFIXES)}"
        raise TokenizerError(message)
    return suffix


def embedding_map(
    surgery: Surgery[Any],
    kind: Kind,
    side: Side,
    *,
    rows: int | None = None,
    multiple_of: int = 1,
) -> EmbeddingMap:
    """See :meth:`bytepair.surgery.Surgery.embedding_map`."""
    n_old, n_new = _sizes(surgery, rows, multiple_of)
    weigh = _weigher(surgery.base, kind, side)
    kept = {new: old for old, new in enumerate(surgery.id_map) if new >= 0}
    parts, unmade = _parts_of_new(surgery.tokenizer, kept)
    parts |= _parts_of_whole(surgery, unmade)
    entries = {row: {old: 1.0} for row, old in _unused_rows(surgery, n_old).items()}
    by_hand = [id_ for id_ in unmade if id_ not in parts and id_ not in entries]
    entries |= {id_: _entries(some, weigh(some)) for id_, some in parts.items()}
    entries |= {new: {old: 1.0} for new, old in kept.items()}
    table = [sorted(entries.get(id_, {}).items()) for id_ in range(n_new)]
    return EmbeddingMap(
        np.cumsum([0, *map(len, table)], dtype=np.int64),
        np.array([old for row in table for old, _ in row], np.int64),
        np.array([weight for row in table for _, weight in row], np.float64),
        np.array(by_hand, np.int64),
        (n_new, n_old),
        surgery.tokenizer,
    )


def _parts_of_whole(
    surgery: Surgery[Any], ids: Sequence[int]
) -> dict[int, tuple[int, ...]]:
    """Return the encoding by the base for text tokens that no merge makes."""
    tokens = surgery.tokenizer.inspect().tokens(ids)
    of_text = [token.id for token in tokens if token.kind == "text"]
    found: dict[int, tuple[int, ...]] = {}
    for id_, text in own_texts(surgery.tokenizer, of_text):
        if text is not None and (parts := encoded(surgery.base, text)):
            found[id_] = tuple(parts)
    return found


def _sizes(
    surgery: Surgery[Any], rows: int | None, multiple_of: int
) -> tuple[int, int]:
    """Return the numbers of old and of new rows."""
    check_range(rows=rows, multiple_of=multiple_of)
    n_ids = surgery.base.n_vocab
    n_old = n_ids if rows is None else rows
    if n_old < n_ids:
        message = f"rows: the old tokenizer has {n_ids:,} ids, more than {n_old:,} rows"
        raise TokenizerError(message)
    if not multiple_of:
        message = "multiple_of must be at least 1"
        raise TokenizerError(message)
    n_least = surgery.tokenizer.n_vocab
    if not surgery.is_compact:
        n_least = max(n_least, n_old)
    return n_old, -(-n_least // multiple_of) * multiple_of


def _unused_rows(surgery: Surgery[Any], n_old: int) -> dict[int, int]:
    """Return the old row for each new row without a token, or whose token replaced another.

    These are the rows behind all ids. If ids stay, they include the rows of removed tokens.
    """
    n_ids, n_taken = surgery.base.n_vocab, surgery.tokenizer.n_vocab
    if surgery.is_compact:
        return {n_taken + row - n_ids: row for row in range(n_ids, n_old)}
    kept = {new for new in surgery.id_map if new >= 0}
    free = {row: row for row in range(n_ids) if row not in kept}
    return free | {row: row for row in range(n_taken, n_old)}


def _weigher(base: Tokenizer, kind: Kind, side: Side) -> Weigher:
    """Return the function from parts to their weights, which add up to 1."""
    check_choice("kind", kind, Kind)
    check_choice("side", side, Side)
    tokens = base.inspect().tokens() if kind == "bytes" else []

    def weight(part: int, step: int) -> float:
        """Weigh a part; ``step`` is how far it is from the part that counts most."""
        if kind == "mean":
            return 1.0
        if kind == "bytes":  # a mark has none, and counts as one
            return float(max(len(tokens[part].bytes), 1))
        return float(step == 0) if kind == "copy" else math.exp(-2.0 * step)

    def weights(parts: Sequence[int]) -> list[float]:
        steps = range(len(parts))[:: -1 if side == "input" else 1]
        found = [weight(part, step) for part, step in zip(parts, steps, strict=True)]
        total = math.fsum(found)
        return [one / total for one in found]

    return weights


def _entries(parts: Sequence[int], weights: Sequence[float]) -> dict[int, float]:
    """Add up the weights of equal parts; weights of 0 are left out."""
    entries: dict[int, float] = {}
    for part, weight in zip(parts, weights, strict=True):
        if weight:
            entries[part] = entries.get(part, 0.0) + weight
    return entries


def _parts_of_new(
    tokenizer: Tokenizer, kept: Mapping[int, int]
) -> tuple[dict[int, tuple[int, ...]], list[int]]:
    """Return the old ids that each new token is made of, and the new tokens that no old ids make.

    ``kept`` maps each kept new id to its old id. The parts of a token are those of the first merge
    that makes it from known tokens.
    """
    parts: dict[int, tuple[int, ...]] = {new: (old,) for new, old in kept.items()}
    for left, right, made, _count in tokenizer.inspect().merge_log:
        if made not in parts and left in parts and right in parts:
            parts[made] = parts[left] + parts[right]
    tokens = tokenizer.inspect().tokens()
    unmade = [t.id for t in tokens if t.kind != "none" and t.id not in parts]
    return {id_: some for id_, some in parts.items() if id_ not in kept}, unmade
