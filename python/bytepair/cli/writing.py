"""Tokens and merges as readable text."""

from collections.abc import Iterable

from bytepair import Tokenizer
from bytepair.analyze._compare.pairing import merge_name

__all__ = ["longest_tokens", "merge_lines", "plain", "quoted"]

Token = str | bytes


def quoted(token: Token) -> str:
    r"""Return a token in quotes, so that spaces and control characters are visible.

    >>> quoted(b" the"), quoted("\t"), quoted(b"\xe4\xb8")
    ("' the'", "'\\t'", "b'\\xe4\\xb8'")
    """
    if isinstance(token, str):
        return repr(token)
    try:
        return repr(token.decode())
    except UnicodeDecodeError:
        return repr(token)


def plain(token: Token) -> str:
    r"""Return a token as text, with escapes for bytes that are not characters.

    >>> plain(b"caf\xc3\xa9"), plain(b"\xc3")
    ('café', '\\xc3')
    """
    return token if isinstance(token, str) else token.decode(errors="backslashreplace")


def merge_lines(tokenizer: Tokenizer, ranks: Iterable[int]) -> list[str]:
    """Return a line for each merge: its rank, counted from 0, both tokens, and the count."""
    merges, log = tokenizer.merges, tokenizer.inspect().merge_log
    lines = []
    for rank in ranks:
        count = log[rank][3]
        counted = "" if count is None else f"  {count:,} times"
        lines.append(f"{rank:>7,}  {merge_name(*merges[rank])}{counted}")
    return lines


def longest_tokens(tokenizer: Tokenizer, n_tokens: int) -> list[Token]:
    """Return the tokens with the most characters, without special tokens."""
    specials = set(tokenizer.special_tokens.values())
    tokens = enumerate(tokenizer.vocabulary)
    ordinary = [
        token for id_, token in tokens if token is not None and id_ not in specials
    ]
    return sorted(ordinary, key=_n_characters, reverse=True)[:n_tokens]


def _n_characters(token: Token) -> int:
    return len(token if isinstance(token, str) else token.decode(errors="replace"))
