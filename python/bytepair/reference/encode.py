"""Piece -> tokens: apply learned merges to new text.

The definition, for every vocabulary: of all neighbours that have a merge, join
those whose merge has the lowest rank, the leftmost first among equals; repeat
until none is left. Quadratic in the length of a piece.
"""

from collections.abc import Container, Mapping
from functools import reduce
from itertools import pairwise

from .train import Pair
from .units import Token, Units, join, special, symbols


def encode_piece(
    piece: bytes,
    known: Container[Token],
    ranks: Mapping[Pair, int],
    units: Units,
    *,
    ignore_merges: bool = False,
) -> list[Token]:
    """Cut a piece into tokens; ``known`` holds those of the vocabulary.

    With ``ignore_merges``, a piece that is a token as a whole is that token, even
    if no merges lead to it. A unit that nothing stands in for stays as it is.

    >>> b, u, g = symbols(b"bug", Units())
    >>> ug = join(u, g)
    >>> tokens = encode_piece(b"bug", {b, u, g, ug}, {(u, g): 0}, Units())
    >>> [token.text for token in tokens]
    [b'b', b'ug']
    """
    word = symbols(piece, units)
    if ignore_merges and (whole := reduce(join, word)) in known:
        return [whole]
    word = [token for unit in word for token in stand_in(unit, known, units)]
    if units.fuse_unknown and units.unknown_token is not None:
        word = fuse(word, special(units.unknown_token))
    return apply_merges(word, ranks)


def stand_in(unit: Token, known: Container[Token], units: Units) -> list[Token]:
    """Return the unit itself if it is known, else what stands in for it.

    That is its bytes (with ``byte_fallback``), else the unknown token.

    >>> units = Units(kind="character", unknown_token="[UNK]")
    >>> stand_in(Token(b"m", "u"), set(), units)
    [Token(text=b'[UNK]', form='s')]
    """
    if unit in known:
        return [unit]
    fallback = [Token(bytes([byte]), "x") for byte in unit.text]
    if units.byte_fallback and all(token in known for token in fallback):
        return fallback
    return [unit if units.unknown_token is None else special(units.unknown_token)]


def fuse(word: list[Token], unknown: Token) -> list[Token]:
    """Keep one of several unknown tokens in a row.

    >>> unknown, a = special("[UNK]"), Token(b"a", "u")
    >>> fuse([unknown, unknown, a, unknown], unknown) == [unknown, a, unknown]
    True
    """
    pairs = zip([None, *word], word, strict=False)
    return [token for last, token in pairs if not token == last == unknown]


def apply_merges(word: list[Token], ranks: Mapping[Pair, int]) -> list[Token]:
    """Join neighbours, lowest rank first, until no merge applies.

    >>> a, b = Token(b"a", "u"), Token(b"b", "u")
    >>> ranks = {(a, b): 0, (a, a): 1}
    >>> [token.text for token in apply_merges([a, a, a, b], ranks)]
    [b'aa', b'ab']
    """
    while True:
        pairs = enumerate(pairwise(word))
        found = [(ranks[pair], position) for position, pair in pairs if pair in ranks]
        if not found:
            return word
        _, position = min(found)
        joined = join(word[position], word[position + 1])
        word = [*word[:position], joined, *word[position + 2 :]]
