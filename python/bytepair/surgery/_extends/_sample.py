"""Texts for comparing a tokenizer with its base, made from the tokens of both.

Tokens are put next to each other in a random but reproducible order, with and without spaces. A new added
token is put where tokens of the base would reach across its ends. Left out: tokens with part of a
character, since a text consists of whole characters.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, TypeVar

from bytepair import _core
from bytepair._verify import torture
from bytepair.surgery._own_texts import SPACE_MARK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bytepair._tokenizer import Tokenizer

__all__ = ["sample"]

MOST_TOKENS = 2048
"""This many tokens of each side are put into texts, unless all are."""

MOST_ADDED = 40
"""Texts are made for this many added tokens."""

MOST_AROUND = 8
"""This many texts are made for each end of an added token."""

IN_A_TEXT = 24
MOST_TEXTS = 256
"""A text has at least ``IN_A_TEXT`` tokens, and more where there would be more texts than this."""

Entry = TypeVar("Entry")


def sample(
    base: Tokenizer, new: Tokenizer, new_ids: Sequence[int], *, has_all: bool = False
) -> list[str]:
    """Give the built-in texts of a comparison, with all tokens or some of them."""
    ids = [id_ for id_, token in enumerate(base.vocabulary) if token is not None]
    most = len(ids) if has_all else MOST_TOKENS
    old = _texts_of(base, _evenly(ids, most))
    added = _evenly(_contents(base), MOST_ADDED)
    known = {content for _id, content, _flags in _core.added_tokens(base)}
    more = [content for content in _contents(new) if content not in known]
    return [
        *torture.TEXTS,
        *torture.around(added),
        *(text for content in added for text in _beside_letters(content)),
        *_joined(old, _texts_of(new, _evenly(new_ids, MOST_TOKENS))),
        *_around_added(more[:MOST_ADDED], base, ids),
    ]


def _contents(tokenizer: Tokenizer) -> list[str]:
    return [content for _id, content, _flags in _core.added_tokens(tokenizer)]


def _beside_letters(content: str) -> list[str]:
    return [f"a{content}b", f"a {content} b", f" {content}"]


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
    step = max(len(entries) / most, 1)
    return [entries[int(place * step)] for place in range(min(len(entries), most))]


def _joined(old: list[str], new: list[str]) -> Iterator[str]:
    """Put tokens next to each other; new ones also stand alone."""
    yield from new
    order = random.Random(0)
    tokens = [*old, *new]
    n_each = max(IN_A_TEXT, len(tokens) // MOST_TEXTS)
    for between in ("", " "):
        order.shuffle(tokens)
        for start in range(0, len(tokens), n_each):
            yield between.join(tokens[start : start + n_each])


def _around_added(
    contents: list[str], base: Tokenizer, ids: Sequence[int]
) -> Iterator[str]:
    texts = _texts_of(base, ids) if contents else []
    return (text for content in contents for text in _crossed(content, texts))


def _crossed(content: str, tokens: list[str]) -> Iterator[str]:
    """Put an added token where tokens of the base reach across its ends, or around it."""
    around = [t for t in tokens if content in t and t != content]
    after = [t[1:] for t in tokens if t[:1] == content[-1] and len(t) > 1]
    before = [t[:-1] for t in tokens if t[-1:] == content[0] and len(t) > 1]
    yield from around[:MOST_AROUND]
    yield from (content + text for text in after[:MOST_AROUND])
    yield from (text + content for text in before[:MOST_AROUND])
