"""A long text from shorter ones, as long as you like, without repeating itself.

Pieces of a megabyte, cut at line ends, are taken in turn from all files; a file that has
ended is left out. When all have, they begin anew, with the letters exchanged: each turn
has its own one-to-one table from letters to letters of the same alphabet and case. So
words keep their lengths and frequencies and are new all the same. The first turn is the
text as it is. The same files give the same bytes.
"""

import functools
import itertools
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

PIECE_BYTES = 1_000_000
# First and last of each; capitals and small letters are exchanged alike.
ALPHABETS = [
    "az AZ",  # Latin
    "ая АЯ",  # Cyrillic
    "αω",  # Greek
    "اغ فه",  # Arabic
    "कह",  # Devanagari
    "กฮ",  # Thai
    "あを アヲ",  # Japanese
    "가힣",  # Korean
    "一龥",  # Chinese
]


def write(files: Sequence[Path], n_bytes: int, target: Path) -> None:
    """Write the mixture, cut at the last line end within ``n_bytes``."""
    n_left = n_bytes
    with target.open("wb") as out:
        for turn in itertools.count():
            for piece in _in_turn(files):
                data = exchanged(piece, turn)
                if len(data) >= n_left:
                    out.write(data[: data.rfind(b"\n", 0, n_left) + 1])
                    return
                n_left -= out.write(data)


def exchanged(data: bytes, turn: int) -> bytes:
    """Exchange the letters of a text; in turn 0 leave it as it is."""
    if turn == 0:
        return data
    return data.decode(errors="replace").translate(_table(turn)).encode()


def _in_turn(files: Sequence[Path]) -> Iterator[bytes]:
    """Take pieces of all files in turn."""
    pieces = itertools.zip_longest(*map(_pieces, files))
    return (piece for some in pieces for piece in some if piece)


def _pieces(file: Path) -> Iterator[bytes]:
    with file.open("rb") as lines:
        while piece := lines.read(PIECE_BYTES) + lines.readline():
            yield piece


@functools.cache
def _table(turn: int) -> dict[int, int]:
    """Give to each letter another one, or itself, of its alphabet."""
    table: dict[int, int] = {}
    for first, last in (ends for group in ALPHABETS for ends in group.split()):
        letters = range(ord(first), ord(last) + 1)
        changed = list(letters)
        random.Random(turn).shuffle(changed)
        table.update(zip(letters, changed, strict=True))
    return table
