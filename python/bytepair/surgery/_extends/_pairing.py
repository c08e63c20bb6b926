"""Which token of a tokenizer is which token of its base, and which are new.

A token is its text and the way it stands in a piece. Whether it is also an added token does
not matter here.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from bytepair import _core
    from bytepair._tokenizer import Tokenizer

__all__ = ["Moved", "Pairing"]

Form = tuple[bool, bool, bool]
Key = tuple[Form, bytes]


class Moved(NamedTuple):
    """A token of the base with another id now; ``None`` if it is gone."""

    old: int
    new: int | None


class Pairing:
    """The tokens of two tokenizers, side by side."""

    def __init__(self, base: Tokenizer, new: Tokenizer) -> None:
        self.base, self.new = base, new
        self._base_keys, self._new_keys = _keys(base), _keys(new)

    @cached_property
    def _is_kept(self) -> bool:
        """Whether the new tokenizer begins with all ids of the base."""
        return self._new_keys[: len(self._base_keys)] == self._base_keys

    @cached_property
    def moved(self) -> list[Moved]:
        """The tokens of the base that have another id now, or are gone."""
        if self._is_kept:
            return []
        new_ids = _first(self._new_keys)
        return [
            Moved(id_, new_ids.get(key))
            for id_, key in enumerate(self._base_keys)
            if key is not None and not self._is_at(id_, key)
        ]

    def _is_at(self, id_: int, key: Key) -> bool:
        return id_ < len(self._new_keys) and self._new_keys[id_] == key

    @cached_property
    def old_of(self) -> list[int]:
        """By new id: the id that its token has in the base, or -1."""
        if self._is_kept:
            n_more = len(self._new_keys) - len(self._base_keys)
            known = enumerate(self._base_keys)
            return [-1 if key is None else id_ for id_, key in known] + [-1] * n_more
        base_ids = _first(self._base_keys)
        return [self._old(id_, key, base_ids) for id_, key in enumerate(self._new_keys)]

    def _old(self, id_: int, key: Key | None, base_ids: dict[Key, int]) -> int:
        if key is None:
            return -1
        if id_ < len(self._base_keys) and self._base_keys[id_] == key:
            return id_
        old = base_ids.get(key, -1)
        # A second token of the same text, while the first stays where it was, is new.
        return -1 if old >= 0 and self._is_at(old, key) else old

    @cached_property
    def new_ids(self) -> list[int]:
        """The ids of tokens that the base does not have."""
        old_of = self.old_of
        return [
            id_
            for id_, key in enumerate(self._new_keys)
            if key is not None and old_of[id_] < 0
        ]


def _keys(tokenizer: Tokenizer) -> list[Key | None]:
    """Give each token what makes it that token; ``None`` for an id that no token has."""
    return [
        None if token.kind == "none" else (_form(token), token.bytes)
        for token in tokenizer.inspect().tokens()
    ]


def _form(token: _core.Token) -> Form:
    """Give what tells apart tokens of the same bytes."""
    return token.kind == "byte", token.continues, token.ends


def _first(keys: list[Key | None]) -> dict[Key, int]:
    """Give the first id of each token."""
    return {key: id_ for id_, key in reversed(list(enumerate(keys))) if key is not None}
