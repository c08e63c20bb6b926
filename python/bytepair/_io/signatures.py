"""The formats of files by their first bytes, of which most are not text.

Nothing is opened here.
"""

import codecs
import re

__all__ = ["CONTENT_LEN", "signature"]

CONTENT_LEN = 4096
"""The number of bytes of a file that are looked at."""

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
"""The beginnings of files whose first bytes, as a whole, are not text in UTF-8."""

TEXT_SIGNATURES: dict[str, bytes] = {
    "PDF": rb"%PDF-[12]\.[0-9][ \t]*[\r\n](?s:.*?)[0-9] obj\b",
    "a .bytepair tokenizer": rb"\s*\{\s*\"format\"\s*:\s*\"bytepair\"",
    "a tokenizer.json": rb"\s*\{\s*\"version\"\s*:\s*\"1\.0\"\s*,\s*\"(?:truncation|padding|added_tokens)\"",
    "ranks of a tokenizer": rb"[A-Za-z0-9+/]{2}== 0\r?\n[A-Za-z0-9+/]{2}== 1\r?\n[A-Za-z0-9+/]{2}== 2\r?\n",
    "merges of a tokenizer": rb"#version: 0\.[0-9]+[^\n]*\n(?:[^ \r\n]+ [^ \r\n]+\r?\n){2}",
}
"""The beginnings of files that are text in UTF-8, but not for training. No ordinary text begins like this."""

NO_TEXT = re.compile(rb"[\x00-\x07\x0e-\x1a\x1c-\x1f]")
"""Bytes that text usually does not have."""


def signature(head: bytes) -> str | None:
    r"""Return the format of a file by its first bytes; ``None`` for text.

    >>> signature(b"\x1f\x8b\x08\x00"), signature(b"low lower")
    ('gzip', None)
    """
    signatures = TEXT_SIGNATURES if _is_text(head) else SIGNATURES | TEXT_SIGNATURES
    found = (name for name, sign in signatures.items() if re.match(sign, head))
    return next(found, None)


def _is_text(head: bytes) -> bool:
    r"""Whether bytes are text in UTF-8, whose last character may be cut.

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
