"""Added tokens with their properties.

A token is a text, an object such as ``tokenizers.AddedToken``, whose attributes are read, or
an entry of a settings file. It has no id: the tokenizer assigns one.
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

from bytepair import _core

__all__ = [
    "AddedToken",
    "added_token",
    "added_tokens",
    "as_id",
    "found_in_any_text",
    "names_of",
]

PROPERTIES = ("special", "normalized", "lstrip", "rstrip", "single_word")


@dataclass(frozen=True)
class AddedToken:
    """A token that is found as a whole, and the properties that decide where.

    By default, a special token is found in the original text, and any other token in the
    ``normalized`` text. ``lstrip`` and ``rstrip`` include the white space before and after the
    token. A ``single_word`` is not found inside a word.

    >>> import bytepair
    >>> bytepair.AddedToken("<s>", special=True).normalized
    False
    """

    content: str
    _: KW_ONLY
    special: bool = False
    normalized: bool = None  # type: ignore[assignment]  # the opposite of ``special``
    lstrip: bool = False
    rstrip: bool = False
    single_word: bool = False

    def __post_init__(self) -> None:
        if self.normalized is None:
            object.__setattr__(self, "normalized", not self.special)

    def __str__(self) -> str:
        return self.content

    def properties(self) -> dict[str, bool]:
        """Return the properties by name.

        >>> import bytepair
        >>> bytepair.AddedToken("x", lstrip=True).properties()["lstrip"]
        True
        """
        return {name: getattr(self, name) for name in PROPERTIES}

    def flags(self) -> list[bool]:
        """Return the values of :meth:`properties`, in order.

        >>> import bytepair
        >>> bytepair.AddedToken("x", special=True).flags()
        [True, False, False, False, False]
        """
        return list(self.properties().values())


def added_token(token: Any, *, special: bool = False) -> AddedToken:  # noqa: ANN401
    """Return the added token of a text or an object; ``special`` makes it special.

    >>> added_token("x").normalized, added_token("x", special=True).normalized
    (True, False)
    """
    if isinstance(token, str):
        return AddedToken(token, special=special)
    if not (isinstance(token, Mapping) or hasattr(token, "content")):
        message = f"expected a text or an AddedToken, not {token!r}"
        raise TypeError(message)
    if isinstance(token, Mapping):
        wrong = wrong_in(token)
        if wrong is not None:
            raise TypeError(wrong)
        found = {name: token[name] for name in PROPERTIES if name in token}
        text = token["content"]
    else:
        found = {name: getattr(token, name) for name in PROPERTIES}
        text = token.content
    found["special"] = bool(found.get("special")) or special
    return AddedToken(text, **found)


def wrong_in(token: Mapping[str, Any]) -> str | None:
    """Return what is wrong with a token of a settings file, or ``None``.

    >>> wrong_in({"content": "x", "lstrip": 1})
    'lstrip must be true or false, not 1'
    """
    if "content" not in token:
        return "content is missing"
    if not isinstance(token["content"], str):
        return f"content must be a text, not {token['content']!r:.80}"
    for name in PROPERTIES:
        value = token.get(name, False)
        is_left_out = value is None and name == "normalized"
        if not (isinstance(value, bool) or is_left_out):
            return f"{name} must be true or false, not {value!r:.80}"
    return None


def as_id(written: Any) -> int:  # noqa: ANN401 -- of a file
    """Return an id that a file writes as a text.

    Raises
    ------
    ValueError
        The text is not an id.
    """
    text = str(written)
    is_number = text.isascii() and text.isdigit() and len(text) <= len(str(1 << 32))
    if not is_number or int(text) >= 1 << 32:
        message = f"{written!r:.80} is not an id"
        raise ValueError(message)
    return int(text)


def described_tokens(listed: Any) -> dict[int, AddedToken]:  # noqa: ANN401 -- of a file
    """Return the added tokens of an ``added_tokens_decoder``, by id.

    >>> described_tokens({"7": {"content": "<s>", "special": True}})[7].content
    '<s>'

    Raises
    ------
    ValueError
        The value is something else; the message says what was found.
    """
    if not isinstance(listed, Mapping):
        message = f"expected an object of ids and tokens, found {listed!r:.80}"
        raise ValueError(message)  # noqa: TRY004 -- the content of a file
    found = {}
    for number, token in listed.items():
        id_ = as_id(number)
        try:
            found[id_] = added_token(token)
        except TypeError as error:
            message = f"the token of id {id_}: {error}"
            raise ValueError(message) from error
    return found


def added_tokens(tokenizer: _core.Tokenizer) -> dict[int, AddedToken]:
    """Return the added tokens of a tokenizer by id, in order."""
    found = sorted(_core.added_tokens(tokenizer))
    return {
        id_: AddedToken(text, **dict(zip(PROPERTIES, flags, strict=True)))
        for id_, text, flags in found
    }


def found_in_any_text(tokens: Mapping[int, AddedToken]) -> dict[int, AddedToken]:
    """Return the added tokens that are not special: they are found in any text.

    >>> tokens = {7: AddedToken("<s>", special=True), 8: AddedToken("<think>")}
    >>> found_in_any_text(tokens)[8].content
    '<think>'
    """
    return {id_: token for id_, token in tokens.items() if not token.special}


def names_of(tokens: Mapping[int, AddedToken]) -> tuple[list[str], list[str]]:
    """Return the contents of special tokens, and those of other tokens except white space.

    Some vocabularies have runs of spaces as added tokens; nearly every document contains some.

    >>> tokens = [
    ...     AddedToken("<s>", special=True),
    ...     AddedToken("<think>"),
    ...     AddedToken("  "),
    ... ]
    >>> names_of(dict(enumerate(tokens)))
    (['<s>'], ['<think>'])
    """
    special = [token.content for token in tokens.values() if token.special]
    others = (token.content for token in found_in_any_text(tokens).values())
    return special, [name for name in others if name.replace("▁", " ").strip()]
