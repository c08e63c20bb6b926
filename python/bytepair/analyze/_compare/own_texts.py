"""Texts that are encoded to a single given token.

Left out: contexts. A token that occurs only within longer texts has no such text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytepair.errors import TokenizerError

from .pairing import SPACE_MARK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bytepair._tokenizer import Tokenizer

__all__ = ["encoded", "own_texts", "whole_characters"]


def own_texts(
    tokenizer: Tokenizer, ids: Sequence[int]
) -> Iterator[tuple[int, bytes | None]]:
    """Yield each id with its text, or ``None`` if no text is encoded to it alone."""
    for token in tokenizer.inspect().tokens(ids):
        candidates = _candidates(token.bytes)
        found = (c for c in candidates if encoded(tokenizer, c) == [token.id])
        yield token.id, next(found, None)


def _candidates(text: bytes) -> list[bytes]:
    """List the texts that may stand for a token."""
    spaced = text.replace(SPACE_MARK, b" ")
    return list(dict.fromkeys([text, spaced, spaced.removeprefix(b" ")]))


def encoded(tokenizer: Tokenizer, text: bytes) -> list[int] | None:
    """Encode a text; ``None`` if the tokenizer does not take it, such as part of a character."""
    try:
        return tokenizer.encode(text)
    except TokenizerError:
        return None


def whole_characters(text: bytes) -> bytes:
    r"""Leave out parts of characters at both ends of a token; nothing is left if others are within.

    >>> whole_characters(b"\x96a b\xe4\xb8"), whole_characters(b"a\x96b")
    (b'a b', b'')
    """
    continued = (i for i, byte in enumerate(text) if byte & 0xC0 != 0x80)
    rest = text[next(continued, len(text)) :]
    try:
        rest.decode()
    except UnicodeDecodeError as error:
        ends_early = error.reason == "unexpected end of data"
        return rest[: error.start] if ends_early else b""
    return rest
