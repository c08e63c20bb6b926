"""What a corpus is made of: files, folders, globs and addresses to a list of sources.

A source is named by its path alone; its ending and its first bytes say how it is read, and must
agree. Sources are in the order in which they were named, those of a folder or a glob in the
order of their names. Costs a look into each file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair._expected import expect
from bytepair._io.files import StrPath, expand, is_address, refuse_no_name
from bytepair._io.overwriting import files_below
from bytepair._io.signatures import CONTENT_LEN, signature
from bytepair._labels import argument
from bytepair._names import refuse_set
from bytepair.errors import FileError, FormatError, TokenizerError

from ._opening import first_bytes, first_content, naming_damage
from ._optional import load
from ._recognise import (
    FORMATS,
    OWN,
    Source,
    Stream,
    compression_of,
    disagreement,
    kind_of,
    made_here,
    named,
    plain_word,
    read_by_nothing,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


N_LOOKING = 16
"""How many files at addresses are looked into at once."""
NAMES_AT_SHARDS = ("manifest.json", "plan.json")
"""What lies beside shards of tokens, finished or not."""

Corpus = StrPath | Source | Iterable[StrPath | Source]


def list_sources(
    corpus: Corpus, input_format: str | None = None, *, with_streams: bool = False
) -> list[Source]:
    """List the files that paths, folders, globs and addresses stand for.

    ``input_format`` is that of all files: then names are not asked, and the first bytes say
    how a file is compressed; ``"text"`` takes the bytes of a file as they are. Sources that
    were listed before stay as they are. ``with_streams`` takes standard input and pipes too.

    Raises
    ------
    FileError
        There is no such file, a folder is empty, or what is named a compressed file is none.
    FormatError
        The name and the first bytes of a file do not agree.
    """
    known = ("text", *dict.fromkeys(FORMATS.values()))
    if input_format is not None and input_format not in known:
        message = (
            f"input_format must be one of {', '.join(known)}, not {input_format!r}"
        )
        raise TokenizerError(message)
    names = listed(corpus)
    found: list[Source | tuple[str, int]] = []
    for name in names:
        if isinstance(name, Source):
            found.append(name)
        else:
            found += _expand(os.fspath(name), with_streams=with_streams)
    if sum(item == ("-", -1) for item in found) > 1:
        message = "standard input (-) is named twice, and can be read only once"
        raise FileError(message)
    if not found:
        message = "the corpus has no files; name files, folders or globs"
        raise FileError(message)

    def source_of(item: Source | tuple[str, int]) -> Source:
        return item if isinstance(item, Source) else look(*item, input_format)

    if not any(isinstance(item, tuple) and is_address(item[0]) for item in found):
        return [source_of(item) for item in found]
    with ThreadPoolExecutor(N_LOOKING) as threads:
        return list(threads.map(source_of, found))


def listed(corpus: Corpus) -> list[StrPath | Source]:
    """List what a corpus names."""
    if isinstance(corpus, (str, os.PathLike, Source)):
        return [corpus]
    if isinstance(corpus, list):
        return corpus
    refuse_set("the corpus", corpus, "the result")
    expect("the corpus", corpus, Iterable, "a path or a list of paths")
    return list(corpus)


def paths_of(corpus: Iterable[StrPath | Source]) -> list[StrPath]:
    """Return the paths of what a corpus names."""
    return [name.path if isinstance(name, Source) else name for name in corpus]


def look(path: str, size: int, input_format: Any) -> Source:  # noqa: ANN401
    """Return the source of a path; its size is -1 where it can be read only once."""
    if size < 0:
        is_told = input_format is not None
        return Stream(path, 0, input_format or "text", None, is_told)
    if input_format == "text":
        return Source(path, size, "text", None)
    format_name, compression = named(path)
    source = Source(path, size, format_name, compression)
    unread = read_by_nothing(path)
    head = first_bytes(path, is_packed=compression is not None) if size else b""
    found = signature(head)
    if input_format is not None:
        return Source(path, size, input_format, compression_of(head))
    if unread is not None:
        message = (
            f"{path}: the name says {unread}, which is not supported; unpack it first, or compress it "
            f'with gzip, zstd, xz or bzip2; if the name is wrong, pass {argument("input_format", "")} ("text" reads its bytes as '
            "they are)"
        )
        raise FormatError(message)
    if not head:
        return source
    if compression is not None and found != compression:
        message = _both(path, compression, found or plain_word(head))
        raise FileError(message)
    if compression is not None and format_name == "parquet":
        message = f"{path}: Parquet is already compressed inside; undo the outer {compression}"
        raise FormatError(message)
    content = first_content(source, head)
    other = disagreement(path, format_name, content)
    if other in OWN:
        raise FormatError(_own(path, str(other)))
    if other is not None:
        inside = "" if compression is None else f" in {compression}"
        named_kind = kind_of(format_name, compression)
        raise FormatError(_both(path, named_kind, f"{other}{inside}"))
    return source


def _both(path: str, name_says: str, bytes_say: str) -> str:
    return (
        f"{path}: the name says {name_says}, but the first bytes look like {bytes_say}; rename it, or "
        f'pass {argument("input_format", "")} to set the format ("text" reads its bytes as they are)'
    )


def _expand(name: str, *, with_streams: bool) -> list[tuple[str, int]]:
    refuse_no_name(name)
    if is_address(name):
        return list(_expand_address(name))
    if name == "-" and not with_streams:
        message = "a corpus is made of files; write standard input to a file first"
        raise FileError(message)
    is_folder = name != "-" and os.path.isdir(name)  # noqa: PTH112 -- of any length
    paths = _texts_below(Path(name)) if is_folder else expand(name)
    if not paths:
        message = f"{name}: a folder without files"
        raise FileError(message)
    found = []
    for path in paths:
        is_file = path != "-" and Path(path).is_file()
        if not is_file and not with_streams:
            message = f"{path} is not a regular file; write its content to a file first"
            raise FileError(message)
        found.append((path, Path(path).stat().st_size if is_file else -1))
    return found


def _texts_below(folder: Path) -> list[str]:
    """List the files of a folder; one that holds shards, which may look like text, is refused."""
    paths = files_below(folder)
    for path in paths:
        if Path(path).name in NAMES_AT_SHARDS:
            with naming_damage(path), Path(path).open("rb") as file:
                found = made_here(file.read(CONTENT_LEN))
            if found is not None:
                raise FormatError(_own(path, found))
    return paths


def _own(path: str, kind: str) -> str:
    return f"{path}: this is {kind} that bytepair wrote, not documents; leave it out of the corpus"


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
