"""Piece -> tokens: apply learned merges to new text.

The definition, for every vocabulary: of all neighbours that have a merge, join
those whose merge has the lowest rank, the leftmost first among equals; repeat
until none is left. Several merges may share a rank. The cost is quadratic in the
length of a piece.
"""

from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise

from .train import Pair
from .units import Token, Units, byte_order, join, special, symbols, written


def encode_piece(
    piece: bytes,
    known: Collection[Token],
    ranks: Mapping[Pair, int],
    units: Units,
    *,
    whole: Mapping[bytes, Token] | None = None,
) -> list[Token]:
    """Cut a piece into tokens; ``known`` has those of the vocabulary.

    A piece that is in ``whole`` is that token, even if no merges lead to it. A unit
    without a replacement stays as it is, or is left out.

    >>> b, u, g = symbols(b"bug", Units())
    >>> ug = join(u, g)
    >>> tokens = encode_piece(b"bug", {b, u, g, ug}, {(u, g): 0}, Units())
    >>> [token.text for token in tokens]
    [b'b', b'ug']
    """
    if whole and piece in whole:
        return [whole[piece]]
    return apply_merges(resolve(symbols(piece, units), known, units), ranks)


def resolve(
    word: Iterable[Token], known: Collection[Token], units: Units
) -> list[Token]:
    """Replace the units that are not known.

    They become their bytes (with ``byte_fallback``), or else the unknown token; or else
    they stay or are left out. An unknown token is held back until a known unit follows,
    so bytes of later units may precede it.

    >>> units = Units(kind="character", unknown_token="[UNK]", byte_fallback=True)
    >>> byte, a = Token(b"y", "x"), Token(b"a", "u")
    >>> word = symbols(b"xya", units)
    >>> resolve(word, {byte, a}, units) == [byte, special("[UNK]"), a]
    True
    """
    resolved: list[Token] = []
    waiting: list[Token] = []
    for unit in word:
        fallback = bytes_for(unit, known, units)
        if unit in known:
            resolved += [*waiting, unit]
            waiting = []
        elif fallback:
            resolved += fallback
        elif units.unknown_token is not None:
            waiting.append(special(units.unknown_token))
            if units.fuse_unknown:
                waiting = waiting[:1]
        elif units.missing == "error":
            resolved.append(unit)
    return resolved + waiting


def bytes_for(unit: Token, known: Collection[Token], units: Units) -> list[Token]:
    """Return the byte tokens that replace a unit; none unless all are known.

    They are the bytes that it is written with in a file, marks included, where a
    byte is one printable character. An end mark of its own has none.

    >>> units = Units(kind="character", byte_fallback=True, prefix="#")
    >>> known = {Token(b"#", "x"), Token(b"a", "x")}
    >>> [token.text for token in bytes_for(Token(b"a", "#"), known, units)]
    [b'#', b'a']
    """
    if not units.byte_fallback or unit.form == "e":
        return []
    if units.kind == "byte":
        unit = Token(printable(unit.text[0]).encode() + unit.text[1:], unit.form)
    tokens = [Token(bytes([byte]), "x") for byte in written(unit, units)]
    return tokens if all(token in known for token in tokens) else []


def printable(byte: int) -> str:
    """Return the character that stands for a byte in published byte-level vocabularies.

    >>> printable(ord("a")), printable(ord(" "))
    ('a', 'Ġ')
    """
    place = byte_order("printable").index(byte)
    n_visible = 188
    return chr(byte) if place < n_visible else chr(256 + place - n_visible)


def whole_pieces(known: Iterable[Token], units: Units) -> dict[bytes, Token]:
    """Return the tokens that can be a whole piece, by the bytes of that piece.

    A suffix or prefix is spelled out, as are the names of byte tokens and of the
    unknown token; an end mark of its own is not. A token without marks takes precedence.

    >>> units = Units(kind="character", end_mark="</w>", end_mark_kind="suffix")
    >>> known = [Token(b"low ", "uuue"), Token(b"low", "uuu")]
    >>> sorted(whole_pieces(known, units))
    [b'low', b'low</w>']
    """
    mark = (units.end_mark or "").encode() if units.end_mark_kind == "unit" else b""
    pieces: dict[bytes, Token] = {}
    for token in sorted(known, key=lambda token: place_of_form(token.form)):
        if mark and (token.form[-1] != "e" or token.form[0] == "#"):
            continue
        if token.form == "s" and token.text.decode() != units.unknown_token:
            continue
        spelled = written(token, units)
        if token.form == "s" and units.kind == "byte":
            letters = {printable(byte): byte for byte in range(256)}
            name = spelled.decode()
            if not all(letter in letters for letter in name):
                continue
            spelled = bytes(letters[letter] for letter in name)
        pieces.setdefault(spelled.removesuffix(mark), token)
    return pieces


def place_of_form(form: str) -> int:
    """Return the order of tokens that are written alike: plain, both marks, prefix, suffix, names.

    >>> [place_of_form(form) for form in ("uu", "#e", "##", "ue", "x")]
    [0, 1, 2, 3, 4]
    """
    if form[0] in "xs":
        return 4
    return {(False, False): 0, (True, True): 1, (True, False): 2, (False, True): 3}[
        form[0] == "#", form[-1] == "e"
    ]


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
