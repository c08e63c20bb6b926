"""Tokens and merges in a readable form."""

from collections.abc import Iterable

from bytepair import Tokenizer

__all__ = ["longest_tokens", "merge_lines", "plain", "quoted"]

Token = str | bytes


def quoted(token: Token) -> str:
    r"""Write a token so that blanks and control characters are seen.

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
    r"""Write a token as text; bytes that are no characters as escapes.

    >>> plain(b"caf\xc3\xa9"), plain(b"\xc3")
    ('café', '\\xc3')
    """
    return token if isinstance(token, str) else token.decode(errors="backslashreplace")


def merge_lines(tokenizer: Tokenizer, places: Iterable[int]) -> list[str]:
    """Write merges, one a line: their place from 1 on, the two tokens, and the count."""
    merges, log = tokenizer.merges, tokenizer.inspect().merge_log
    lines = []
    for place in places:
        left, right = merges[place]
        count = log[place][3]
        counted = "" if count is None else f"  {count:,} times"
        lines.append(f"{place + 1:>7,}  {quoted(left)} + {quoted(right)}{counted}")
    return lines


def longest_tokens(tokenizer: Tokenizer, n_tokens: int) -> list[Token]:
    """List the tokens with the most characters, special ones left out."""
    specials = set(tokenizer.special_tokens.values())
    tokens = enumerate(tokenizer.vocabulary)
    ordinary = [
        token for id_, token in tokens if token is not None and id_ not in specials
    ]
    return sorted(ordinary, key=_n_characters, reverse=True)[:n_tokens]


def _n_characters(token: Token) -> int:
    return len(token if isinstance(token, str) else token.decode(errors="replace"))
