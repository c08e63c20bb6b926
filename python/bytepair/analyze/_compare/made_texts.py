"""Texts for comparing two tokenizers, made from the tokens of both.

Tokens are put next to each other in a random but reproducible order, with nothing, a space, or other white space between
them. A new added token is put where tokens of the first tokenizer would reach across its ends. Left out: tokens with part
of a character, since a text consists of whole characters.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, TypeVar

from bytepair import _core

from . import torture
from .pairing import SPACE_MARK, Pairing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bytepair._tokenizer import Tokenizer

__all__ = ["made_texts"]

MAX_TOKENS = 10_000
"""This many tokens of the first tokenizer are put into texts, unless all are."""
MAX_ADDED = 40
"""Texts are made for this many added tokens."""
MAX_AROUND = 8
"""This many texts are made for each end of an added token."""
MIN_IN_TEXT = 24
MAX_TEXTS = 256
"""A text has at least ``MIN_IN_TEXT`` tokens, and more where there would be more texts than this."""
SPACES = ["  ", "\t", "\n", "\r\n", "\x0b", "\x1c", "\x85", "\xa0", "\u2028", "\u3000"]

Entry = TypeVar("Entry")


def made_texts(pairing: Pairing, *, has_all: bool = False) -> Iterator[str]:
    """Yield texts of the tokens of both tokenizers: all new ones, and all others or some thousands."""
    first, second = pairing.tokenizers
    ids = [id_ for id_, key in enumerate(pairing.keys[0]) if key is not None]
    added, other_added = _contents(first), _contents(second)
    new_added = [content for content in other_added if content not in added]
    yield from torture.around(
        [*_evenly(added, MAX_ADDED), *_evenly(new_added, MAX_ADDED)]
    )
    old = _texts_of(first, _evenly(ids, len(ids) if has_all else MAX_TOKENS))
    new = _texts_of(second, pairing.new_ids)
    yield from new
    yield from _joined([*old, *new])
    of_all = _texts_of(first, ids) if new_added else []
    for content in new_added[:MAX_ADDED]:
        yield from _crossed(content, of_all)


def _contents(tokenizer: Tokenizer) -> list[str]:
    return [content for _id, content, _flags in _core.added_tokens(tokenizer)]


def _texts_of(tokenizer: Tokenizer, ids: Sequence[int]) -> list[str]:
    """List the texts of tokens of whole characters."""
    found = []
    for token in tokenizer.inspect().tokens(ids):
        if token.kind != "text":
            continue
        try:
            found.append(token.bytes.replace(SPACE_MARK, b" ").decode())
        except UnicodeDecodeError:
            continue
    return found


def _evenly(entries: Sequence[Entry], most: int) -> list[Entry]:
    """Choose this many entries, spread from the first to the last."""
    step = max(len(entries) / max(most, 1), 1)
    return [entries[int(place * step)] for place in range(min(len(entries), most))]


def _joined(tokens: list[str]) -> Iterator[str]:
    """Put tokens next to each other."""
    order = random.Random(0)
    n_each = max(MIN_IN_TEXT, len(tokens) // MAX_TEXTS)
    for between in ("", " "):
        order.shuffle(tokens)
        for start in range(0, len(tokens), n_each):
            yield between.join(tokens[start : start + n_each])
    for space in SPACES:
        yield space.join(tokens[:MIN_IN_TEXT])


def _crossed(content: str, tokens: list[str]) -> Iterator[str]:
    """Put an added token where tokens of the base reach across its ends, or around it."""
    around = [t for t in tokens if content in t and t != content]
    after = [t[1:] for t in tokens if t[:1] == content[-1] and len(t) > 1]
    before = [t[:-1] for t in tokens if t[-1:] == content[0] and len(t) > 1]
    yield from around[:MAX_AROUND]
    yield from (content + text for text in after[:MAX_AROUND])
    yield from (text + content for text in before[:MAX_AROUND])
