"""A folder of shards as a sequence: documents, or windows of one length.

Files are mapped into memory when they are first needed, so opening costs the manifest, and the
first look into a shard its length and the ends of its documents, which are compared with their
sum. Sums of ids are compared where that is asked for, since it reads all of them. Works as a map-style dataset of PyTorch, without importing it:
it has a length and an index, and goes through ``pickle`` as its path. A mapping is read alone,
so processes that fork share it.
"""

from __future__ import annotations

import itertools
import operator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from bytepair._numpy import np
from bytepair._ranges import check_whole
from bytepair.errors import FileError, FormatError, TokenizerError

from ._manifest import read_manifest
from ._shards import ENDINGS, npy_header, problem_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bytepair._io.files import StrPath

    from ._shards import ShardFormat


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

    def __init__(
        self, folder: StrPath, *, window: int | None = None, check_sums: bool = False
    ) -> None:
        check_whole(window=window)
        if window is not None and window < 1:
            message = "window must be at least 1"
            raise TokenizerError(message)
        self.folder, self.window = Path(folder), window
        self.check_sums = check_sums
        self.manifest = read_manifest(folder)
        plan = self.manifest["plan"]
        self.format: str = plan["format"]
        if self.format not in MAPPED:
            message = (
                f"{folder}: TokenDataset reads shards of the formats {', '.join(MAPPED)}, not "
                f"{self.format}; use a library for that format"
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
        make = partial(TokenDataset, window=self.window, check_sums=self.check_sums)
        return make, (self.folder,)

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
            self._mapped[shard] = self._map(self._shards[shard])
        return self._mapped[shard]

    def _map(self, shard: dict[str, Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        ids_ending, ends_ending = ENDINGS[self.format]
        names = [shard["name"] + ending for ending in (ids_ending, ends_ending)]
        ids_path, ends_path = (self.folder / name for name in names)
        n_tokens, n_documents = shard["tokens"], shard["documents"]
        for name in names:
            is_read = self.check_sums or name.endswith(ends_ending)
            check_file(self.folder / name, shard["files"][name], is_read=is_read)
        width = self.dtype.itemsize
        header = npy_header(n_tokens, width) if ids_ending == ".npy" else b""
        if ids_path.stat().st_size != len(header) + n_tokens * width:
            _refuse(ids_path, f"does not hold {n_tokens:,} ids")
        with ids_path.open("rb") as file:
            if file.read(len(header)) != header:
                _refuse(ids_path, f"does not have the header of {n_tokens:,} ids")
        ids = np.memmap(ids_path, self.dtype, "r", len(header), (n_tokens,))
        ends = _read_ends(ends_path, n_documents, self.format)
        is_rising = bool((np.diff(ends, prepend=0) > 0).all())
        if not is_rising or int(ends[-1]) != n_tokens:
            _refuse(ends_path, f"does not say where {n_documents:,} documents end")
        return np.asarray(ids), ends


def check_file(path: Path, file: dict[str, Any], *, is_read: bool) -> None:
    """Compare a file of a shard with its size and, if it is to be read, with its sum."""
    problem = problem_of(path, file, is_read=is_read)
    if problem is not None:
        message = f"{path} {problem}"
        raise FileError(message)


def _refuse(path: Path, problem: str) -> NoReturn:
    message = f"{path} {problem}"
    raise FormatError(message)


def _read_ends(path: Path, n_documents: int, format_name: str) -> NDArray[Any]:
    """Read where documents end: the last numbers of a file or, for Megatron, lengths."""
    n_bytes = path.stat().st_size
    if format_name == "megatron":
        if n_bytes != MEGATRON_HEADER_LEN + n_documents * 20 + 8:
            _refuse(path, f"does not hold {n_documents:,} documents")
        lengths = np.memmap(path, "<i4", "r", MEGATRON_HEADER_LEN, (n_documents,))
        return np.cumsum(lengths, dtype=np.int64)
    start = n_bytes - 8 * n_documents
    if start < 0:
        _refuse(path, f"is too short for {n_documents:,} documents")
    return np.asarray(np.memmap(path, "<i8", "r", start, (n_documents,)))
