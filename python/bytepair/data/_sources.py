"""What a corpus is made of: files, folders, globs and addresses to a list of sources.

A source is named by its path alone; its ending and its first bytes say how it is read, and must
agree. Sources are in the order in which they were named, those of a folder or a glob in the
order of their names. Costs a look into each file.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair._expected import expect
from bytepair._io.files import StrPath, expand, refuse_no_name
from bytepair._io.overwriting import files_below
from bytepair._labels import argument
from bytepair._names import refuse_set
from bytepair.errors import FileError, FormatError, TokenizerError

from ._opening import first_bytes, first_content, naming_damage
from ._optional import load
from ._recognise import (
    CONTENT_LEN,
    FORMATS,
    OWN,
    CorpusFormat,
    Source,
    Stream,
    compression_of,
    disagreement,
    is_address,
    kind_of,
    made_here,
    named,
    plain_word,
    read_by_nothing,
    signature,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._readers import ReadOptions


N_LOOKING = 16
"""How many files at addresses are looked into at once."""
NAMES_AT_SHARDS = ("manifest.json", "plan.json")
"""What lies beside shards of tokens, finished or not."""

NO_TEXT = "is for text, and the corpus has no text files"
READERS: dict[str, tuple[set[CorpusFormat], str]] = {
    "lines": ({"text"}, NO_TEXT),
    "separator": ({"text"}, NO_TEXT),
    "field": (
        {"jsonl", "parquet", "csv", "tsv"},
        "is for JSON lines and tables, but the corpus is text",
    ),
    "skip_bad": (
        {"jsonl", "csv", "tsv"},
        "is for JSON lines, CSV and TSV, and the corpus has none: only their lines can be bad",
    ),
}
"""Which formats each option of reading acts on, and why others refuse it."""

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


def describe(sources: Iterable[Source], options: ReadOptions) -> str:
    """Say in one line what files were recognised as, and what is read of them.

    >>> from bytepair.data import ReadOptions
    >>> docs = [Source(f"{n}.jsonl.zst", 9, "jsonl", "zstd") for n in "abc"]
    >>> describe(docs, ReadOptions())
    '3 files, JSON lines in zstd, field "text"'
    >>> describe([*docs, Source("d", 9, "text", None)], ReadOptions(lines=True))
    '4 files: 3 JSON lines in zstd, field "text"; 1 text, each line a document'
    """
    numbers: Counter[str] = Counter()
    for source in sources:
        kind = kind_of(source.format, source.compression)
        numbers[kind + _what_is_read(source, options)] += 1
    n_files = numbers.total()
    files = "1 file" if n_files == 1 else f"{n_files:,} files"
    if len(numbers) == 1:
        return f"{files}, {next(iter(numbers))}"
    return f"{files}: " + "; ".join(f"{n:,} {kind}" for kind, n in numbers.items())


def _what_is_read(source: Source, options: ReadOptions) -> str:
    if source.format != "text":
        word = "field" if source.format == "jsonl" else "column"
        group = "" if options.group is None else f', groups by "{options.group}"'
        return f', {word} "{options.text_field}"{group}'
    if options.lines:
        return ", each line a document"
    if options.separator is not None:
        return f", separator {options.separator!r}"
    return ""


def refuse_idle(sources: Iterable[Source], options: ReadOptions) -> None:
    """Refuse options that no file of a corpus has a use for.

    Raises
    ------
    TokenizerError
        An option is for another kind of file.
    """
    formats = {source.format for source in sources}
    given = {
        "lines": options.lines,
        "separator": options.separator and "",
        "field": options.field,
        "skip_bad": options.skip_bad,
    }
    for name, value in given.items():
        readers, reason = READERS[name]
        if value not in (None, False) and not formats & readers:
            message = f"{argument(name, value)} {reason}"
            raise TokenizerError(message)
    if options.group is not None and "text" in formats:
        path = next(source.path for source in sources if source.format == "text")
        message = f"{path}: plain text has no field for a group"
        raise FormatError(message)


def look(path: str, size: int, input_format: Any) -> Source:  # noqa: ANN401
    """Return the source of a path; its size is -1 where it can be read only once."""
    if size < 0:
        is_told = input_format is not None
        return Stream(path, 0, input_format or "text", None, is_told)
    if input_format == "text":
        return Source(path, size, "text", None)
    format_name, compression = named(path)
    format_name = input_format or format_name
    head = first_bytes(path, is_packed=compression is not None) if size else b""
    found = signature(head)
    if input_format is not None:
        return Source(path, size, format_name, compression_of(head))
    unread = read_by_nothing(path)
    if unread is not None:
        message = (
            f"{path}: the name says {unread}, which is not supported; unpack it first, or compress it "
            f'with gzip, zstd, xz or bzip2; if the name is wrong, pass {argument("input_format", "")} ("text" reads its bytes as '
            "they are)"
        )
        raise FormatError(message)
    source = Source(path, size, format_name, compression)
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


def _expand(name: str, *, with_streams: bool) -> Iterator[tuple[str, int]]:
    refuse_no_name(name)
    if is_address(name):
        yield from _expand_address(name)
        return
    if name == "-" and not with_streams:
        message = "a corpus is made of files; write standard input to a file first"
        raise FileError(message)
    is_folder = name != "-" and os.path.isdir(name)  # noqa: PTH112 -- of any length
    paths = _texts_below(Path(name)) if is_folder else expand(name)
    if not paths:
        message = f"{name}: a folder without files"
        raise FileError(message)
    for path in paths:
        if path != "-" and Path(path).is_file():
            yield path, Path(path).stat().st_size
        elif with_streams:
            yield path, -1
        else:
            message = f"{path} is not a regular file; write its content to a file first"
            raise FileError(message)


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
