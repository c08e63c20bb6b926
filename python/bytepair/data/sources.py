"""What a corpus is made of: files, folders, globs and addresses to a list of sources.

A source is named by its path alone; its ending says how it is read. Sources are in the order
in which they were named, those of a folder or a glob in the order of their names. Costs a
look at each name, and at each size.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from bytepair.errors import FileError, TokenizerError
from bytepair.files import StrPath, expand, refuse_no_name

from .optional import load

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Compression", "CorpusFormat", "Source", "is_address", "list_sources"]

CorpusFormat: TypeAlias = Literal["text", "jsonl", "parquet", "csv", "tsv"]
Compression: TypeAlias = Literal["gzip", "zstd", "xz", "bz2"]

FORMATS: dict[str, CorpusFormat] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
}
COMPRESSIONS: dict[str, Compression] = {
    ".gz": "gzip",
    ".zst": "zstd",
    ".xz": "xz",
    ".bz2": "bz2",
}


@dataclass(frozen=True)
class Source:
    """A file of a corpus.

    ``size`` is in bytes, as the file is stored.
    """

    path: str
    size: int
    format: CorpusFormat
    compression: Compression | None

    @property
    def is_local(self) -> bool:
        """Whether it is a file of this machine."""
        return not is_address(self.path)


def list_sources(
    corpus: StrPath | Iterable[StrPath], format: str | None = None
) -> list[Source]:
    """List the files that paths, folders, globs and addresses stand for.

    ``format`` is that of all files; without it the ending of each says it.

    Raises
    ------
    FileError
        There is no such file, or a folder is empty.
    """
    if format is not None and format not in (known := {"text", *FORMATS.values()}):
        message = f"format must be one of {', '.join(sorted(known))}, not {format!r}"
        raise TokenizerError(message)
    names = [corpus] if isinstance(corpus, (str, os.PathLike)) else list(corpus)
    found = [
        _source(path, size, format)
        for name in names
        for path, size in _expand(os.fspath(name))
    ]
    if not found:
        message = "a corpus of no files; name files, folders or globs"
        raise FileError(message)
    return found


def is_address(path: str) -> bool:
    """Tell an address, which fsspec opens, from a path.

    >>> is_address("s3://bucket/text.jsonl"), is_address("text.jsonl")
    (True, False)
    """
    return "://" in path


def _source(path: str, size: int, format_name: Any) -> Source:  # noqa: ANN401
    name = PurePosixPath(path.lower())
    compression = COMPRESSIONS.get(name.suffix)
    if compression:
        name = name.with_suffix("")
    format_ = format_name or FORMATS.get(name.suffix, "text")
    return Source(path, size, format_, compression)


def _expand(name: str) -> Iterator[tuple[str, int]]:
    refuse_no_name(name)
    if name == "-":
        message = "a corpus is made of files; write standard input to a file first"
        raise FileError(message)
    if is_address(name):
        yield from _expand_address(name)
        return
    paths = _files_below(Path(name)) if Path(name).is_dir() else expand(name)
    if not paths:
        message = f"{name}: a folder without files"
        raise FileError(message)
    for path in paths:
        if not Path(path).is_file():
            message = f"{path} is no regular file; write what it gives to a file first"
            raise FileError(message)
        yield path, Path(path).stat().st_size


def _files_below(folder: Path) -> list[str]:
    """List the files of a folder and of those in it, hidden ones left out."""
    found = []
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        names = [name for name in names if not name.startswith(".")]
        found += [Path(parent, name) for name in names]
    return [str(path) for path in sorted(found, key=lambda path: path.parts)]


def _expand_address(address: str) -> Iterator[tuple[str, int]]:
    fsspec = load("fsspec")
    try:
        system, path = fsspec.core.url_to_fs(address)
        if system.isdir(path):
            paths = sorted(system.find(path))
        elif any(sign in path for sign in "*?["):
            paths = sorted(found for found in system.glob(path) if system.isfile(found))
        else:
            paths = [path]
        for found in paths:
            yield system.unstrip_protocol(found), int(system.size(found))
    except FileNotFoundError as error:
        message = f"{address}: no such file"
        raise FileError(message) from error
    except (OSError, ValueError, ImportError) as error:
        message = f"{address}: {error}"
        raise FileError(message) from error
    if not paths:
        message = f"{address}: no file matches"
        raise FileError(message)
