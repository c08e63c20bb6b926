"""Piece -> symbols: what a token is, and which tokens a piece starts from.

A token is the bytes it stands for and its *form*, one letter for each unit that
it was made of:

====  ======================================================================
``u``  a unit: a byte, or a character
``#``  a unit that continues a piece (written with the prefix, ``##a``)
``e``  an end mark; it stands for a space
``x``  a byte that stands in for an unknown unit (written ``<0x41>``)
``s``  a special token, or the token for unknown characters
====  ======================================================================

Merging two tokens joins their bytes and their forms. The form keeps apart what
only looks alike: the end mark ``_`` and an underscore, ``<0x41>`` and ``A``.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple


class Token(NamedTuple):
    """A token: the bytes it stands for, and its form (see the module)."""

    text: bytes
    form: str


@dataclass(frozen=True)
class Units:
    """How pieces become symbols, and how tokens are written.

    ``end_mark_kind`` is ``"unit"`` (the mark is a symbol of its own after the
    last unit) or ``"suffix"`` (it is joined to the last unit). ``missing`` says
    what happens to an unknown unit without a replacement.
    """

    kind: Literal["byte", "character"] = "byte"
    byte_ids: Literal["printable", "value"] = "printable"
    end_mark: str | None = None
    end_mark_kind: Literal["unit", "suffix"] = "unit"
    prefix: str | None = None
    unknown_token: str | None = None
    fuse_unknown: bool = False
    byte_fallback: bool = False
    missing: Literal["error", "drop"] = "error"


def join(left: Token, right: Token) -> Token:
    """Merge two neighbours into one token.

    >>> join(Token(b"l", "u"), Token(b"ow", "uu"))
    Token(text=b'low', form='uuu')
    """
    return Token(left.text + right.text, left.form + right.form)


def special(name: str) -> Token:
    """Return a special token.

    >>> special("<s>")
    Token(text=b'<s>', form='s')
    """
    return Token(name.encode(), "s")


def symbols(piece: bytes, units: Units) -> list[Token]:
    r"""Cut a piece into the symbols that merging starts from.

    >>> symbols("né".encode(), Units(kind="byte"))
    [Token(text=b'n', form='u'), Token(text=b'\xc3', form='u'), Token(text=b'\xa9', form='u')]
    >>> at = lambda **options: Units(kind="character", **options)
    >>> show = lambda units: [written(token, units) for token in symbols(b"low", units)]
    >>> show(at(end_mark="_")), show(at(end_mark="</w>", end_mark_kind="suffix"))
    ([b'l', b'o', b'w', b'_'], [b'l', b'o', b'w</w>'])
    >>> show(at(prefix="##")), show(Units(end_mark="</w>", end_mark_kind="suffix"))
    ([b'l', b'##o', b'##w'], [b'l', b'o', b'w</w>'])
    """
    rest = "u" if units.prefix is None else "#"
    cut = [Token(unit, rest) for unit in cut_units(piece, units)]
    cut[:1] = [Token(token.text, "u") for token in cut[:1]]
    mark = Token(b" ", "e")
    if units.end_mark is None or not cut:
        return cut
    if units.end_mark_kind == "suffix":
        return [*cut[:-1], join(cut[-1], mark)]
    return [*cut, mark]


def cut_units(piece: bytes, units: Units) -> list[bytes]:
    r"""Cut a piece into its bytes or characters.

    >>> cut_units("né".encode(), Units(kind="character"))
    [b'n', b'\xc3\xa9']
    """
    if units.kind == "byte":
        return [bytes([byte]) for byte in piece]
    return [character.encode() for character in piece.decode()]


def written(token: Token, units: Units) -> bytes:
    """Return a token as written in a vocabulary, with its marks.

    >>> units = Units(kind="character", end_mark="</w>", prefix="##")
    >>> written(Token(b"est ", "uuue"), units), written(Token(b"ing", "###"), units)
    (b'est</w>', b'##ing')
    >>> written(Token(b"A", "x"), units)
    b'<0x41>'
    """
    text, form = token
    if form[0] == "x":
        return "".join(f"<0x{byte:02X}>" for byte in text).encode()
    if form[-1] == "e":
        text = text[:-1] + (units.end_mark or "").encode()
    if form[0] == "#":
        text = (units.prefix or "").encode() + text
    return text


def alphabet(words: Iterable[list[Token]], units: Units) -> list[Token]:
    """Return the tokens that exist before the first merge, in the order of their ids.

    Bytes: all 256, in each form that they can have. Characters: bytes for fallback, then the
    characters of the words, sorted as they are written, then an end mark of its own.

    >>> units = Units(kind="character", end_mark="_")
    >>> letters = alphabet([symbols(b"new", units)], units)
    >>> [written(token, units) for token in letters]
    [b'e', b'n', b'w', b'_']
    >>> alphabet([], Units())[0]
    Token(text=b'!', form='u')
    """
    if units.kind == "byte":
        return byte_alphabet(units)
    fallback = [Token(bytes([byte]), "x") for byte in range(256)]
    letters = {token for word in words for token in word}

    def position(token: Token) -> tuple[bool, bytes]:
        return token.form == "e", written(token, units)

    return fallback * units.byte_fallback + sorted(letters, key=position)


def byte_alphabet(units: Units) -> list[Token]:
    """Return all bytes, then those with a prefix, with a suffix, with both; then a mark.

    >>> suffix = Units(end_mark="</w>", end_mark_kind="suffix")
    >>> written(byte_alphabet(suffix)[256], suffix), len(byte_alphabet(suffix))
    (b'!</w>', 512)
    """
    order = [bytes([byte]) for byte in byte_order(units.byte_ids)]
    mark = Token(b" ", "e")
    starts = ["u"] if units.prefix is None else ["u", "#"]
    plain = [Token(byte, start) for start in starts for byte in order]
    if units.end_mark is None:
        return plain
    if units.end_mark_kind == "unit":
        return [*plain, mark]
    return [*plain, *(join(token, mark) for token in plain)]


def byte_order(byte_ids: str) -> list[int]:
    r"""Return the 256 bytes in the order of their ids.

    ``"printable"`` is GPT-2's order: the bytes that are visible characters of
    Latin-1 first.

    >>> bytes(byte_order("printable")[:5]), bytes(byte_order("printable")[-1:])
    (b'!"#$%', b'\xad')
    >>> byte_order("value") == list(range(256))
    True
    """
    if byte_ids == "value":
        return list(range(256))
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    return visible + [byte for byte in range(256) if byte not in visible]
