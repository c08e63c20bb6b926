"""Tokens -> bytes: the way back.

Every token knows the bytes it stands for, so decoding joins them. Left out:
streaming, where a character may be cut in the middle.
"""

from collections.abc import Sequence

from .units import Token


def decode_bytes(tokens: Sequence[Token]) -> bytes:
    """Join the bytes of tokens.

    An end mark becomes a space, except after the last token: it separates words.

    >>> low, er = Token(b"low ", "uuue"), Token(b"er ", "uue")
    >>> decode_bytes([low, low]), decode_bytes([Token(b"low", "uuu"), er])
    (b'low low', b'lower')
    """
    joined = b"".join(token.text for token in tokens)
    ends_with_mark = bool(tokens) and tokens[-1].form.endswith("e")
    return joined[:-1] if ends_with_mark else joined
