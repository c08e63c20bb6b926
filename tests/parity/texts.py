"""Documents of all sizes, cut from real text.

Of each file at least ``n_bytes`` are taken, from its beginning, its middle and its end
(all of a smaller file), and cut into documents whose sizes run from one character to some
tens of thousands, each size as often as its tenfold. Cuts fall anywhere between
characters. The same arguments give the same documents.
"""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

__all__ = ["documents", "text_files"]

MAX_LEN = 60_000
"""The longest document, in characters."""


def text_files(paths: Sequence[Path]) -> list[Path]:
    """List the text files that paths stand for; a folder stands for all ``*.txt`` in it."""
    found = []
    for path in paths:
        found += sorted(path.rglob("*.txt")) if path.is_dir() else [path]
    return found


def documents(path: Path, n_bytes: int, seed: int = 0) -> Iterator[str]:
    """Cut about ``n_bytes`` of a file into documents."""
    chance = random.Random(f"{seed} {path.name}")
    for part in _parts(path, n_bytes):
        place = 0
        while place < len(part):
            n_characters = int(10 ** chance.uniform(0, 4.78))
            yield part[place : place + min(n_characters, MAX_LEN)]
            place += min(n_characters, MAX_LEN)


def _parts(path: Path, n_bytes: int) -> list[str]:
    """Give the whole file, or three parts of it; cut characters are left out."""
    data = path.read_bytes()
    if len(data) <= n_bytes or "unicode" in path.parent.name:
        n_taken = n_bytes if n_bytes < len(data) // 2 else len(data)
        return [data[:n_taken].decode(errors="ignore")]
    third = n_bytes // 3 + 1
    starts = (0, len(data) // 2, len(data) - third)
    return [data[start : start + third].decode(errors="ignore") for start in starts]
