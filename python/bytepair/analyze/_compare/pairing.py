"""Which token of a tokenizer is which token of another.

A token is its text and its role within a piece; being an added token does not matter here. If only one of the tokenizers
works on bytes, the tokens of the other count as bytes, too: ``▁`` is a space, and a byte token is its byte.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from bytepair import _core
    from bytepair._tokenizer import Tokenizer

__all__ = ["SPACE_MARK", "Key", "Pairing", "merge_name", "token_name", "token_names"]

SPACE_MARK = "▁".encode()
"""The mark for a space in tokens of SentencePiece; it may also be put before a text."""
Key: TypeAlias = tuple[bool, bool, bool, bytes]
"""What equal tokens share: whether they are a byte, continue a piece and end one, and their text."""


class Pairing:
    """The tokens of two tokenizers, side by side."""

    def __init__(self, first: Tokenizer, second: Tokenizer) -> None:
        self.tokenizers = first, second
        are_bytes = [one.inspect().settings["is_bytes"] for one in self.tokenizers]
        is_mixed = are_bytes[0] != are_bytes[1]
        self.keys = tuple(
            _keys(tokenizer, as_bytes=is_mixed and not is_bytes)
            for tokenizer, is_bytes in zip(self.tokenizers, are_bytes, strict=True)
        )
        self.ids = tuple(map(_ids_by_key, self.keys))
        """The ids of each token; usually one, in some files several."""
        self.basis = "their bytes" if all(are_bytes) else "their characters"
        if is_mixed:
            self.basis = "the bytes that they stand for, ▁ as a space"

    @cached_property
    def moved(self) -> list[tuple[int, int | None]]:
        """The ids of tokens that have another id in the second, and that id; ``None`` if they are missing there."""
        first, second = self.keys
        return [
            (id_, self.ids[1].get(key, [None])[0])
            for id_, key in enumerate(first)
            if key is not None and second[id_ : id_ + 1] != [key]
        ]

    @cached_property
    def old_of(self) -> list[int]:
        """By id of the second: the id of its token in the first, or -1."""
        return [self._old(id_, key) for id_, key in enumerate(self.keys[1])]

    def _old(self, id_: int, key: Key | None) -> int:
        first, second = self.keys
        if key is None:
            return -1
        if first[id_ : id_ + 1] == [key]:
            return id_
        old = self.ids[0].get(key, [-1])[0]
        # A second token of the same text, while the first stays where it was, is new.
        is_kept = old >= 0 and second[old : old + 1] == [key]
        return -1 if is_kept else old

    @cached_property
    def new_ids(self) -> list[int]:
        """The ids of tokens that the first does not have."""
        pairs = zip(self.keys[1], self.old_of, strict=True)
        return [
            id_ for id_, (key, old) in enumerate(pairs) if key is not None and old < 0
        ]


def _keys(tokenizer: Tokenizer, *, as_bytes: bool) -> list[Key | None]:
    """Return the key of each id; ``None`` for an id without a token."""
    return [_key(token, as_bytes=as_bytes) for token in tokenizer.inspect().tokens()]


def _key(token: _core.Token, *, as_bytes: bool) -> Key | None:
    if token.kind == "none":
        return None
    is_byte, text = token.kind == "byte", token.bytes
    if as_bytes and token.kind == "text":
        text = text.replace(SPACE_MARK, b" ")
    return is_byte and not as_bytes, token.continues, token.ends, text


def _ids_by_key(keys: list[Key | None]) -> dict[Key, list[int]]:
    found: dict[Key, list[int]] = {}
    for id_, key in enumerate(keys):
        if key is not None:
            found.setdefault(key, []).append(id_)
    return found


def token_names(tokenizer: Tokenizer, ids: list[int]) -> list[str]:
    """Write tokens for a reader: bytes as their text, if they are whole characters."""
    return [token_name(token.entry) for token in tokenizer.inspect().tokens(ids)]


def token_name(token: str | bytes) -> str:
    r"""Write a token.

    >>> token_name(b" low"), token_name("▁low"), token_name(b"\xe4")
    ("' low'", "'▁low'", "b'\\xe4'")
    """
    try:
        return repr(token if isinstance(token, str) else token.decode())
    except UnicodeDecodeError:
        return repr(token)


def merge_name(
    left: str | bytes,
    right: str | bytes,
    write: Callable[[str | bytes], str] = token_name,
) -> str:
    r"""Write a merge by its parts, or by the token that it makes if a part is not text.

    >>> merge_name(b"l", b"ow"), merge_name(b"\xdb", b"\x8c")
    ("'l' + 'ow'", "'ی' (db + 8c)")
    """
    if isinstance(left, bytes) and isinstance(right, bytes):
        names = token_name(left), token_name(right)
        if any(name.startswith("b") for name in names):
            return f"{write(left + right)} ({left.hex()} + {right.hex()})"
    return f"{write(left)} + {write(right)}"
