"""Whether two libraries learned the same: lists of merges in files, one a line.

A line has the bytes of both sides, or of the token they make where a library tells no
more. Left out: libraries with another algorithm, which have nothing to compare.
"""

from collections.abc import Iterable
from itertools import zip_longest
from pathlib import Path


def lines(merges: Iterable[tuple[bytes, ...]], by: str) -> list[bytes]:
    """Give a line for each merge: by ``pairs``, or by ``tokens``, whatever their parts."""
    if by == "tokens":
        merges = ((b"".join(parts),) for parts in merges)
    return [b" ".join(part.hex().encode() for part in parts) for parts in merges]


def difference(first: Path, other: Path, n_asked: int) -> str:
    """Say where two lists part, ``""`` where they are the same.

    Where the first is shorter than was asked for, no pair was left: what the other has
    beyond it are pairs that occur zero times, and not compared.
    """
    ours, theirs = (path.read_bytes().splitlines() for path in (first, other))
    if len(ours) < n_asked:
        theirs = theirs[: len(ours)]
    for place, (own, their) in enumerate(zip_longest(ours, theirs), start=1):
        if own != their:
            return f"merge {place:,} is {_shown(their)}, not {_shown(own)}"
    return ""


def _shown(line: bytes | None) -> str:
    if line is None:
        return "missing"
    parts = (bytes.fromhex(part.decode()) for part in line.split(b" "))
    return " + ".join(repr(part.decode(errors="backslashreplace")) for part in parts)
