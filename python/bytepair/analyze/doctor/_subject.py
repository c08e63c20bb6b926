"""The tokenizer to diagnose: its tokens, rules and merges, each computed once."""

import json
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from bytepair import Tokenizer, _core
from bytepair._added import found_in_any_text
from bytepair._numpy import np
from bytepair.errors import TokenizerError

from ._finding import FoundToken, TokenUsage

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bytepair._added import AddedToken

__all__ = [
    "ADDED",
    "BYTE",
    "CONTINUES",
    "ENDS",
    "HOLE",
    "NOT_IN_UTF8",
    "ROWS_AT_ONCE",
    "Added",
    "Subject",
    "bytes_of_name",
    "column",
    "is_utf8",
    "plain",
]

Added: TypeAlias = Literal["find", "text"]

CONTINUES, ENDS = 1, 2
BYTE, UNKNOWN, ADDED, HOLE = 4, 5, 6, 7
"""Kinds of tokens that are not text; kinds of tokens of text are sums of the two marks above."""
KINDS = {"byte": BYTE, "unknown": UNKNOWN, "added": ADDED, "none": HOLE}

NOT_IN_UTF8 = {0xC0, 0xC1, *range(0xF5, 0x100)}
"""Bytes that never occur in UTF-8."""

ROWS_AT_ONCE = 100_000
"""The number of texts that are encoded in one call."""


class Subject:
    """A tokenizer, with cached facts about it."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.counts: dict[str, int] = {}
        self.unchecked: list[str] = []
        """What cannot be looked for, as sentences."""

    @cached_property
    def tokens(self) -> list[tuple[int, bytes]]:
        """The kind and the bytes of each token, without marks."""
        return [(_kind(one), one.bytes) for one in self.tokenizer.inspect().tokens()]

    @cached_property
    def written(self) -> list[Any]:
        """The tokens as written in the vocabulary, with marks."""
        return self.tokenizer.vocabulary

    @cached_property
    def rules(self) -> dict[str, Any]:
        """The rules by which text becomes units."""
        return self.tokenizer.inspect().settings

    def is_unknown(self, id_: int) -> bool:
        """Tell whether a token stands for units outside the alphabet."""
        is_named = plain(self.written[id_]) == self.rules["unknown"]
        return self.tokens[id_][0] == UNKNOWN or is_named

    @cached_property
    def added(self) -> "dict[int, AddedToken]":
        """The added tokens by id."""
        return self.tokenizer.added_tokens

    @cached_property
    def always_found(self) -> list[str]:
        """Added tokens that are found in the text of pieces, unless another overlaps them.

        None if one is found only as a single word, since it may prevent others; none if the
        text in which they are found is changed afterwards.
        """
        found = list(found_in_any_text(self.added).values())
        is_single = any(token.single_word for token in found)
        if not found or is_single or self.may_drop_units:
            return []
        if self.changes_segments:
            return []
        return [
            token.content
            for token in found
            if not self.normalizes
            or (
                token.normalized
                and self.tokenizer.inspect().normalized(token.content.encode())
                == token.content
            )
        ]

    @cached_property
    def _parts(self) -> dict[str, Any]:
        return json.loads(self.tokenizer.to_bytes(format="bytepair"))  # type: ignore[no-any-return]

    @property
    def normalizes(self) -> bool:
        """Whether text is normalized before added tokens are looked for in it again."""
        return bool(self._parts["normalizer"])

    @property
    def changes_segments(self) -> bool:
        """Whether the text between added tokens is changed afterwards."""
        return any(round_["change"] for round_ in self._parts["rounds"])

    @cached_property
    def text_ids(self) -> list[int]:
        """The ids of the tokens of text that are not also added tokens."""
        tokens = enumerate(self.tokens)
        return [
            id_ for id_, (kind, _) in tokens if kind < BYTE and id_ not in self.added
        ]

    @cached_property
    def single_bytes(self) -> set[int]:
        """The ids of single-byte tokens, if units are bytes."""
        if not self.rules["is_bytes"]:
            return set()
        return {id_ for id_ in self.text_ids if len(self.tokens[id_][1]) == 1}

    @cached_property
    def may_drop_units(self) -> bool:
        """Whether units of some UTF-8 text are left out, so that others become neighbours."""
        if not self.rules["drops_missing"]:
            return False
        there = {own[0] for kind, own in self.tokens if kind < BYTE and len(own) == 1}
        return not self.rules["is_bytes"] or len(there | NOT_IN_UTF8) < 256

    @cached_property
    def partial(self) -> list[int]:
        """The ids of tokens of text with part of a character, single bytes included."""
        return [id_ for id_ in self.text_ids if not is_utf8(self.tokens[id_][1])]

    @cached_property
    def unreached(self) -> tuple[set[int], set[int]]:
        """The tokens of text that merges do not make, and those that occur in no piece."""
        unmade, unplaced = _core.unreached(self.tokenizer)
        return set(unmade) - self.added.keys(), set(unplaced) - self.added.keys()

    @cached_property
    def merges(self) -> list[tuple[int, int, int]]:
        """The merges in order: left id, right id, id."""
        log = self.tokenizer.inspect().merge_log
        return [(left, right, id_) for left, right, id_, _ in log]

    @cached_property
    def ranks(self) -> Sequence[int]:
        """The rank of each merge: the lowest goes first."""
        return self.rules["priorities"] or range(len(self.merges))

    def found(
        self, id_: int, detail: str = "", usage: TokenUsage | None = None
    ) -> FoundToken:
        """Describe a token of the vocabulary."""
        return FoundToken(id_, plain(self.written[id_]), detail, usage)

    def all_found(self, ids: Iterable[int], detail: str = "") -> tuple[FoundToken, ...]:
        """Describe tokens, in the order of their ids."""
        return tuple(self.found(id_, detail) for id_ in sorted(ids))

    def encode_rows(
        self, rows: Sequence[bytes], added_tokens: Added = "find"
    ) -> "tuple[NDArray[np.uint32], NDArray[np.int64]]":
        """Encode texts, with special tokens as text; texts that cannot be encoded have no ids."""
        texts = column(rows)
        try:
            ids, ends = _core.encode_rows(
                self.tokenizer, texts, added_tokens=added_tokens
            )
        except TokenizerError:
            return self._encode_each(rows, added_tokens)
        return ids.astype(np.uint32, copy=False), ends

    def _encode_each(
        self, rows: Sequence[bytes], added_tokens: Added
    ) -> "tuple[NDArray[np.uint32], NDArray[np.int64]]":
        found = [self.ids_of(row, added_tokens) for row in rows]
        ends = np.cumsum([len(ids) for ids in found], dtype=np.int64)
        return np.array([id_ for ids in found for id_ in ids], np.uint32), ends

    def ids_of(self, text: bytes, added_tokens: Added = "find") -> list[int]:
        """Encode a text, with special tokens as text; no ids if that is refused."""
        try:
            return self.tokenizer.encode(text, added_tokens=added_tokens)
        except TokenizerError:
            return []


def _kind(token: _core.Token) -> int:
    return KINDS.get(token.kind, token.continues * CONTINUES + token.ends * ENDS)


_PRINTABLE = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
_OTHERS = [byte for byte in range(256) if byte not in _PRINTABLE]
_BYTES = {chr(byte): byte for byte in _PRINTABLE} | {
    chr(0x100 + number): byte for number, byte in enumerate(_OTHERS)
}


def bytes_of_name(name: bytes) -> bytes | None:
    """Give the bytes that characters spell; ``None`` if one of them stands for no byte.

    >>> bytes_of_name("Ġa".encode()), bytes_of_name("‼".encode())
    (b' a', None)
    """
    found = [_BYTES.get(character) for character in name.decode(errors="replace")]
    return None if None in found else bytes(byte for byte in found if byte is not None)


def is_utf8(text: bytes) -> bool:
    """Tell whether bytes are whole characters."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def plain(token: str | bytes | None) -> str:
    r"""Write a token as text, with escapes for bytes that are not part of a character.

    >>> plain(b"caf\xc3\xa9"), plain(b"\xc3"), plain(None)
    ('café', '\\xc3', '')
    """
    if token is None or isinstance(token, str):
        return token or ""
    return token.decode(errors="backslashreplace")


def column(rows: Sequence[bytes]) -> "tuple[NDArray[np.uint8], NDArray[np.int64]]":
    """Concatenate texts, and give the offset of each."""
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    return np.frombuffer(b"".join(rows), np.uint8), offsets
