"""Added tokens with their properties, as transformers gives and takes them.

Taken are texts, objects of ``tokenizers.AddedToken`` and those that settings hold; only
their attributes are read. Left out: ids, which the tokenizer gives.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from bytepair import _core

__all__ = ["AddedToken", "added_token", "added_tokens"]

PROPERTIES = ("special", "normalized", "lstrip", "rstrip", "single_word")


class AddedToken(NamedTuple):
    """A token that is found as a whole, and how.

    >>> str(AddedToken("<s>", special=True))
    '<s>'
    """

    content: str
    special: bool = False
    normalized: bool = True
    lstrip: bool = False
    rstrip: bool = False
    single_word: bool = False

    def __str__(self) -> str:
        return self.content

    def flags(self) -> list[bool]:
        """List the properties as the core takes them."""
        return list(self[1:])


def added_token(token: Any, *, special: bool = False) -> AddedToken:  # noqa: ANN401
    """Read a token of any kind; a text is looked for in the normalized text if not special.

    >>> added_token("x").normalized, added_token("x", special=True).normalized
    (True, False)
    """
    if isinstance(token, str):
        return AddedToken(token, special=special, normalized=not special)
    if isinstance(token, Mapping):
        found = {name: token[name] for name in PROPERTIES if name in token}
        text = token["content"]
    else:
        found = {name: getattr(token, name) for name in PROPERTIES}
        text = token.content
    found["special"] = bool(found.get("special")) or special
    found.setdefault("normalized", not found["special"])
    return AddedToken(text, **found)


def added_tokens(tokenizer: _core.CoreTokenizer) -> dict[int, AddedToken]:
    """List the added tokens of a tokenizer by their ids, in order."""
    found = sorted(tokenizer._added_tokens)
    return {id_: AddedToken(text, *flags) for id_, text, flags in found}
