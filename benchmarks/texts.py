"""What is worked on: corpora from disk, and texts made up to be hard.

Corpora lie in ``$BYTEPAIR_SHARED/corpora``, by default ``../shared/corpora``; what is
not there is skipped with a word. Made-up texts are the same in every run.
"""

import os
import random
from collections.abc import Iterator
from pathlib import Path
from pydoc_data import topics

SHARED = Path(os.environ.get("BYTEPAIR_SHARED", "../shared"))
LETTERS = bytes(ord("a") + byte % 26 for byte in range(256))


def corpus(name: str) -> Path:
    """Find a corpus by its name, or a file by its path."""
    in_shared = SHARED / "corpora" / name
    return in_shared if in_shared.is_file() else Path(name)


def made(kind: str, n_bytes: int) -> bytes:
    """Make a text of about ``n_bytes`` bytes: ``random bytes``, or a unit repeated."""
    if kind == "random bytes":
        return random.Random(n_bytes).randbytes(n_bytes)
    if kind == "random letters":
        return random.Random(n_bytes).randbytes(n_bytes).translate(LETTERS)
    unit = kind.encode()
    return unit * (n_bytes // len(unit))


def prose() -> str:
    """Give half a megabyte of English that every Python carries: its own manual."""
    return "\n".join(topics.topics.values())


def chunks(text: str, n_characters: int) -> Iterator[str]:
    r"""Cut a text where no benchmarked pattern has a piece: between a letter and ``\n``.

    >>> list(chunks("one.\ntwo\nthree\nfour", 4))
    ['one.\ntwo', '\nthree', '\nfour']
    """
    start = 0
    while start < len(text):
        end = _cut(text, start + n_characters)
        yield text[start:end]
        start = end


def documents(path: Path, n_bytes: int, *, max_bytes: int) -> list[str]:
    """Cut a file at line ends into documents of about ``n_bytes`` bytes.

    Of a file that is longer than ``max_bytes``, documents are taken at even distances,
    so that a corpus of many languages keeps them all.
    """
    data = path.read_bytes()
    found = []
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + n_bytes) + 1 or len(data)
        found.append(data[start:end].decode())
        start = end
    step = -(-len(data) // max_bytes)
    return found[::step]


def _cut(text: str, near: int) -> int:
    end = text.find("\n", near)
    while end != -1 and not (text[end - 1].isascii() and text[end - 1].isalpha()):
        end = text.find("\n", end + 1)
    return len(text) if end == -1 else end
