"""Pieces -> counts: training needs only how often each piece occurs.

The position of a piece's first occurrence is stored with its count, for the tie
rule ``first_seen``. Counts of parts of a corpus can be added up.
"""

from collections.abc import Iterable

Counts = dict[bytes, tuple[int, int]]  # piece -> (count, first position)


def count(pieces: Iterable[bytes]) -> Counts:
    """Count pieces; a position is the number of pieces before it.

    >>> count([b"low", b"er", b"low"])
    {b'low': (2, 0), b'er': (1, 1)}
    """
    counts: Counts = {}
    for position, piece in enumerate(pieces):
        n_pieces, first = counts.get(piece, (0, position))
        counts[piece] = n_pieces + 1, first
    return counts
