"""A folder of shards as a sequence: documents, or windows of one length.

Files are mapped into memory when they are first needed, so opening costs the manifest and one
look at the ends of documents. Works as a map-style dataset of PyTorch, without importing it:
it has a length and an index, and goes through ``pickle`` as its path. A mapping is read alone,
so processes that fork share it.
"""

from __future__ import annotations

import itertools
import operator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bytepair.errors import FormatError, TokenizerError

from ._manifest import read_manifest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bytepair._files import StrPath

    from ._shards import ShardFormat

__all__ = ["MAPPED", "TokenDataset"]

MEGATRON_HEADER_LEN = 34
MAPPED: tuple[ShardFormat, ...] = ("npy", "bin", "megatron", "datatrove")
"""The formats of shards that are mapped into memory."""


class TokenDataset:
    r"""The documents of a finished dataset, or its windows of ``window`` ids.

    Document ``i`` is an array of ids, marks included. Windows go over documents and shards,
    one behind the other; ids at the end that fill none are left out.

    >>> import bytepair, pathlib, tempfile
    >>> from bytepair.data import TokenDataset
    >>> from bytepair.scale import tokenize
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "docs.txt").write_text("low\nlower\n")
    >>> tokenizer = bytepair.train_from_iterator(["low low"], vocab_size=258)
    >>> _ = tokenize(tokenizer, folder / "docs.txt", folder / "tokens", lines=True)
    >>> [ids.tolist() for ids in TokenDataset(folder / "tokens")]
    [[257], [257, 68, 81]]
    >>> [ids.tolist() for ids in TokenDataset(folder / "tokens", window=2)]
    [[257, 257], [68, 81]]
    """

    def __init__(self, folder: StrPath, *, window: int | None = None) -> None:
        if window is not None and window < 1:
            message = "window must be at least 1"
            raise TokenizerError(message)
        self.folder, self.window = Path(folder), window
        self.manifest = read_manifest(folder)
        plan = self.manifest["plan"]
        self.format: str = plan["format"]
        if self.format not in MAPPED:
            message = (
                f"{folder}: shards of the format {self.format} are read by the libraries "
                f"of that format, not here; those of {', '.join(MAPPED)} are read here"
            )
            raise FormatError(message)
        self.dtype = np.dtype(f"<u{plan['width']}")
        self._shards = [
            shard for task in self.manifest["tasks"] for shard in task["shards"]
        ]
        documents = (shard["documents"] for shard in self._shards)
        tokens = (shard["tokens"] for shard in self._shards)
        self._documents_before = list(itertools.accumulate(documents, initial=0))
        self._tokens_before = list(itertools.accumulate(tokens, initial=0))
        self._mapped: dict[int, tuple[NDArray[Any], NDArray[Any]]] = {}

    @property
    def n_tokens(self) -> int:
        """The number of ids."""
        return int(self._tokens_before[-1])

    @property
    def n_documents(self) -> int:
        """The number of documents that have ids."""
        return int(self._documents_before[-1])

    def __len__(self) -> int:
        return self.n_tokens // self.window if self.window else self.n_documents

    def __getitem__(self, index: int) -> NDArray[Any]:
        place = operator.index(index)
        place += len(self) if place < 0 else 0
        if not 0 <= place < len(self):
            message = f"index {index} of {len(self):,}"
            raise IndexError(message)
        return self._window(place) if self.window else self._document(place)

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return (self[place] for place in range(len(self)))

    def __repr__(self) -> str:
        what = f"windows of {self.window:,} ids" if self.window else "documents"
        return (
            f"<bytepair.data.TokenDataset: {len(self):,} {what}, {self.n_tokens:,} ids>"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _open, (self.folder, self.window)

    def _document(self, place: int) -> NDArray[Any]:
        shard = int(np.searchsorted(self._documents_before, place, "right")) - 1
        ids, ends = self._arrays(shard)
        place -= self._documents_before[shard]
        start = int(ends[place - 1]) if place else 0
        return ids[start : int(ends[place])]

    def _window(self, place: int) -> NDArray[Any]:
        length = self.window or 0
        start = place * length
        shard = int(np.searchsorted(self._tokens_before, start, "right")) - 1
        parts = []
        while length:
            ids, _ends = self._arrays(shard)
            first = start - self._tokens_before[shard]
            parts.append(ids[first : first + length])
            length -= len(parts[-1])
            start += len(parts[-1])
            shard += 1
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _arrays(self, shard: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Map the ids of a shard, and where its documents end."""
        if shard not in self._mapped:
            stem = self.folder / self._shards[shard]["name"]
            ids_ending, read_ends = {
                "npy": (".npy", _npy_ends),
                "bin": (".bin", _npy_ends),
                "megatron": (".bin", _megatron_ends),
                "datatrove": (".ds", _datatrove_ends),
            }[self.format]
            path = Path(f"{stem}{ids_ending}")
            is_npy = self.format == "npy"
            ids = np.load(path, "r") if is_npy else np.memmap(path, self.dtype, "r")
            self._mapped[shard] = np.asarray(ids), read_ends(str(stem))
        return self._mapped[shard]


def _open(folder: Path, window: int | None) -> TokenDataset:
    return TokenDataset(folder, window=window)


def _npy_ends(stem: str) -> NDArray[Any]:
    return np.asarray(np.load(f"{stem}.ends.npy", "r"))


def _datatrove_ends(stem: str) -> NDArray[Any]:
    return np.memmap(f"{stem}.ds.index", "<u8", "r")


def _megatron_ends(stem: str) -> NDArray[Any]:
    path = f"{stem}.idx"
    (n_sequences,) = np.fromfile(path, "<u8", 1, offset=18)
    lengths = np.memmap(path, "<i4", "r", MEGATRON_HEADER_LEN, (int(n_sequences),))
    return np.cumsum(lengths, dtype=np.int64)
