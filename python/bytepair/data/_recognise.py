"""What a file is: what its name says, and what its first bytes say.

Both are asked, and where they disagree the file is refused: text learned from compressed bytes,
or from the syntax of JSON, is a mistake that nobody sees. Bytes are recognised where a
signature tells them from text; which text it is, the name alone says. What is text is not refused
for the letters that it begins with. Nothing is opened here.
"""

from __future__ import annotations

import codecs
import json
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal, TypeAlias, get_args

from bytepair._io.files import is_address

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
CONTENT_LEN = 4096
"""How much of what a file holds is looked at, in bytes."""

SIGNATURES: dict[str, bytes] = {
    "gzip": rb"\x1f\x8b\x08",
    "zstd": rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18",
    "xz": rb"\xfd7zXZ\x00",
    "bz2": rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)",
    "Parquet": rb"PAR[1E](?:[\x00-\x08\x0e-\x1f\x80-\xff]|\Z)",
    "lzma": rb"\x5d\x00\x00[\x00-\xff]{2}",
    "compress": rb"\x1f\x9d[\x80-\x9f]",
    "a RAR archive": rb"Rar!\x1a\x07",
    "a zip archive": rb"PK(?:\x03\x04|\x05\x06)",
    "a 7z archive": rb"7z\xbc\xaf\x27\x1c",
    "a tar archive": rb"(?s:.{257})ustar[\x00 ]",
    "lz4": rb"\x04\x22\x4d\x18",
    "snappy": rb"\xff\x06\x00\x00sNaPpY",
    "Arrow": rb"ARROW1\x00\x00",
    "Avro": rb"Obj\x01",
    "SQLite": rb"SQLite format 3\x00",
    "a numpy array": rb"\x93NUMPY",
    "HDF5": rb"\x89HDF\r\n\x1a\n",
    "ORC": rb"ORC[\x00-\x08\x0e-\x1f\x80-\xff]",
    "GGUF": rb"GGUF[\x01-\x03]\x00",
    "safetensors": rb"[\x00-\xff]{3}[\x00-\xff]\x00{4}\{\"",
    "a pickle": rb"\x80[\x02-\x05](?:\x95|[\]}cX(K])",
    "a program": rb"\x7fELF|\xca\xfe\xba\xbe|[\xce\xcf]\xfa\xed\xfe|MZ[\x00\x90]\x00",
    "a picture": rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|GIF8[79]a|(?s:RIFF.{4}WEBP)|II\*\x00|MM\x00\*",
    "sound": rb"(?s:RIFF.{4}WAVE)|OggS\x00|fLaC\x00|ID3[\x02-\x04]\x00",
    "a video": rb"(?s:\x00{3}.ftyp|RIFF.{4}AVI )|\x1a\x45\xdf\xa3",
    "an old Office document": rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    "a compiled tokenizer": rb"\x8fbpc\r\n\x1a\n",
    "a SentencePiece model": rb"\n[\x07-\x7f]\n[\x01-\x7f](?s:.{1,120}?)\x15",
    "UTF-16 or UTF-32": (
        rb"\xff\xfe|\xfe\xff|\x00\x00\xfe\xff"
        rb"|(?:[\t\n\r\x20-\x7e]\x00){8}|(?:\x00[\t\n\r\x20-\x7e]){8}"
        rb"|(?:[\t\n\r\x20-\x7e]\x00{3}){4}|(?:\x00{3}[\t\n\r\x20-\x7e]){4}"
    ),
}
"""What begins with which bytes, and is no text in UTF-8: so its first bytes as a whole show."""

TEXT_SIGNATURES: dict[str, bytes] = {
    "PDF": rb"%PDF-[12]\.[0-9][ \t]*[\r\n](?s:.*?)[0-9] obj\b",
    "a .bytepair tokenizer": rb"\s*\{\s*\"format\"\s*:\s*\"bytepair\"",
    "a tokenizer.json": rb"\s*\{\s*\"version\"\s*:\s*\"1\.0\"\s*,\s*\"(?:truncation|padding|added_tokens)\"",
    "ranks of a tokenizer": rb"[A-Za-z0-9+/]{2}== 0\r?\n[A-Za-z0-9+/]{2}== 1\r?\n[A-Za-z0-9+/]{2}== 2\r?\n",
    "merges of a tokenizer": rb"#version: 0\.[0-9]+[^\n]*\n(?:[^ \r\n]+ [^ \r\n]+\r?\n){2}",
}
"""What is text in UTF-8, and none to learn from. Nobody's text begins so by chance."""

NO_TEXT = re.compile(rb"[\x00-\x07\x0e-\x1a\x1c-\x1f]")
"""Bytes that no text has, as a rule."""

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


def signature(head: bytes) -> str | None:
    r"""Return what the first bytes of a file say, where that is no text.

    >>> signature(b"\x1f\x8b\x08\x00"), signature(b"low lower")
    ('gzip', None)
    """
    signatures = TEXT_SIGNATURES if _is_text(head) else SIGNATURES | TEXT_SIGNATURES
    found = (name for name, sign in signatures.items() if re.match(sign, head))
    return next(found, None)


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


def _is_text(head: bytes) -> bool:
    r"""Whether bytes are text in UTF-8, of which the last character may be cut.

    >>> _is_text(b"GIF89a is a format"), _is_text(b"GIF89a\x01\x00\x01\x00")
    (True, False)
    """
    if NO_TEXT.search(head):
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


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
    """Say what a file holds, by its first bytes, if that is not what its name says.

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
