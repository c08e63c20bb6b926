"""The format of a file of a corpus, by its name and by its first bytes.

Both are asked, and where they disagree the file is refused: text learned from compressed bytes,
or from the syntax of JSON, is a mistake that nobody sees. Bytes are recognised where a
signature tells them from text; which text it is, the name alone says. What is text is not refused
for the letters that it begins with. Nothing is opened here.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal, TypeAlias, get_args

from bytepair._io.files import is_address
from bytepair._io.signatures import signature

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
KINDS: dict[CorpusFormat, str] = {
    "text": "text",
    "jsonl": "JSON lines",
    "parquet": "Parquet",
    "csv": "CSV",
    "tsv": "TSV",
}
OWN: dict[str, bytes] = {
    "a manifest of shards": rb"\{\s*\"plan\": \{\s*\"version\": [0-9]+,\s*\"tokenizer\"",
    "a plan of shards": rb"\{\s*\"version\": [0-9]+,\s*\"tokenizer\": \"[0-9a-f]{64}\"",
    "a log of merges": rb"\{\"format\": \"bytepair-merges\"",
}
"""How files begin that bytepair writes beside or from a corpus, and no other program does."""

UNREAD_ENDINGS: dict[str, str] = {
    ".br": "Brotli",
    ".lz": "lzip",
    ".lz4": "lz4",
    ".lzma": "lzma",
    ".lzo": "lzo",
    ".snappy": "snappy",
    ".sz": "snappy",
    ".z": "compress",
    ".7z": "a 7z archive",
    ".rar": "a RAR archive",
    ".tar": "a tar archive",
    ".tgz": "a tar archive",
    ".zip": "a zip archive",
}
"""Endings of compressed files that are not read; Brotli has no signature."""
JSON_OBJECT = re.compile(rb'\{\s*"(?:[^"\\\n]|\\.)*"\s*:')
"""How a JSON object begins, up to the value of its first key."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


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

    @property
    def is_stored_text(self) -> bool:
        """Whether its bytes are those of a text, in a file of this machine."""
        is_text = self.format == "text" and self.compression is None
        return is_text and self.is_local


@dataclass(frozen=True)
class Stream(Source):
    """What can be read only once: standard input (``-``), a pipe, a device.

    Its size is not known. Its first bytes are looked at when it is opened; where its format
    was named (``is_told``), they say how it is compressed.
    """

    is_told: bool = False

    @property
    def is_stored_text(self) -> bool:
        """Whether its bytes are those of a text in a file: of a stream that shows later."""
        return False


def named(path: str) -> tuple[CorpusFormat, Compression | None]:
    """Return what the endings of a name say; without one that is known it is text.

    >>> named("docs.JSONL.zst"), named("notes"), named("a.parquet")
    (('jsonl', 'zstd'), ('text', None), ('parquet', None))
    """
    name = PurePosixPath(path.lower())
    compression = COMPRESSIONS.get(name.suffix)
    if compression:
        name = name.with_suffix("")
    return FORMATS.get(name.suffix, "text"), compression


def compression_of(head: bytes) -> Compression | None:
    r"""Return the compression that the first bytes of a file say.

    >>> compression_of(b"\x1f\x8b\x08\x00"), compression_of(b"PK\x03\x04")
    ('gzip', None)
    """
    found = signature(head)
    return next((kind for kind in get_args(Compression) if kind == found), None)


def made_here(head: bytes) -> str | None:
    """Return what the first bytes of a file say, where bytepair wrote it about a corpus.

    >>> made_here(b'{"format": "bytepair-merges", "version": 1}')
    'a log of merges'
    """
    found = (name for name, sign in OWN.items() if re.match(sign, head))
    return next(found, None)


def read_by_nothing(path: str) -> str | None:
    """Return the compression that the ending of a name says, if nothing here reads it.

    >>> (
    ...     read_by_nothing("a.jsonl.br"),
    ...     read_by_nothing("a.tar.gz"),
    ...     read_by_nothing("a.gz"),
    ... )
    ('Brotli', 'a tar archive', None)
    """
    endings = PurePosixPath(path.lower()).suffixes[-2:]
    found = UNREAD_ENDINGS.get(endings[-1]) if endings else None
    if found is None and endings[:1] == [".tar"] and endings[-1] in COMPRESSIONS:
        return UNREAD_ENDINGS[".tar"]
    return found


def kind_of(format_name: CorpusFormat, compression: Compression | None) -> str:
    """Name a format for a reader.

    >>> kind_of("jsonl", "zstd"), kind_of("text", None)
    ('JSON lines in zstd', 'text')
    """
    kind = KINDS[format_name]
    return kind if compression is None else f"{kind} in {compression}"


def disagreement(path: str, format_name: CorpusFormat, content: bytes) -> str | None:
    """Return the format of a file by its first bytes, if its name has another.

    ``content`` is without compression. No bytes say nothing.

    >>> disagreement("a.jsonl", "jsonl", b'[{"text": "low"}]')
    'a JSON array'
    >>> disagreement("a.jsonl", "jsonl", b' {"text": "low"}') is None
    True
    """
    found = signature(content) or made_here(content)
    if format_name == "parquet":
        return (
            None if not content or found == "Parquet" else found or plain_word(content)
        )
    if found is not None:
        return found
    if format_name == "text" and path.lower().endswith(".bin") and b"\0" in content:
        return "raw numbers"
    text = content.removeprefix(BYTE_ORDER_MARK).lstrip()
    if format_name == "jsonl" and text:
        return _no_json_lines(path, text)
    if format_name in ("csv", "tsv") and JSON_OBJECT.match(text):
        return "JSON"
    return None


def _no_json_lines(path: str, text: bytes) -> str | None:
    if not text.startswith(b"{"):
        return "a JSON array" if text.startswith(b"[") else plain_word(text)
    line, newline, _rest = text.partition(b"\n")
    # `.json` is the ending of one value over many lines too.
    is_doubtful = newline and ".json" in PurePosixPath(path.lower()).suffixes[-2:]
    if is_doubtful and not _is_json(line):
        return "one JSON value over several lines"
    return None


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def plain_word(content: bytes) -> str:
    """Name bytes without a signature."""
    return "something else" if b"\0" in content else "text"
