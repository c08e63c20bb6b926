"""Templates as users write them: special tokens and texts, in order.

The core applies templates. This module looks up each part.
"""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from ._names import refuse_set
from ._ranges import whole
from .errors import SpecialTokenError, TokenizerError

__all__ = ["Piece", "Template", "read_template"]

Part: TypeAlias = str | int | tuple[str | int, int]
Template: TypeAlias = str | Iterable[Part]
Piece: TypeAlias = tuple[int | None, list[int], int]
"""The number of a text or ``None``, the ids of special tokens, and the type."""

TEXTS = {"$A": 0, "$B": 1}
OF_OPTION = {"single": [0], "pair": [0, 1]}
"""The texts that a template contains, each once."""
MAX_TYPE = (1 << 32) - 1


def read_template(
    option: str, template: Template, special_tokens: Mapping[str, int]
) -> list[Piece]:
    """Read the template of an option, ``single`` or ``pair``.

    >>> read_template("single", "<s> $A:1", {"<s>": 7})
    [(None, [7], 0), (0, [], 1)]
    >>> read_template("single", [("lang:1", 0), "$A", 7], {"<s>": 7, "lang:1": 8})
    [(None, [8], 0), (0, [], 0), (None, [7], 0)]

    Raises
    ------
    TypeError
        The template is neither a text nor a list of parts.
    TokenizerError
        A text is missing, occurs twice or does not belong there, or a type is out of range.
    SpecialTokenError
        A part is not a special token, or is ambiguous.
    """
    if isinstance(template, (bytes, Mapping)) or not isinstance(template, Iterable):
        message = f"{option} must be a template such as '$A', not {template!r}"
        raise TypeError(message)
    refuse_set(option, template)
    parts = template.split() if isinstance(template, str) else list(template)
    pieces = [_piece(option, part, special_tokens) for part in parts]
    texts = sorted(which for which, _, _ in pieces if which is not None)
    if texts != OF_OPTION[option]:
        wanted = " and ".join(list(TEXTS)[: len(OF_OPTION[option])])
        shown = template if isinstance(template, str) else parts
        message = f"template {shown!r}: expected {wanted}, each once"
        raise TokenizerError(message)
    return pieces


def _piece(option: str, part: object, special_tokens: Mapping[str, int]) -> Piece:
    """Read one part: a name, which may end with a type, or an id, or a pair of either and a type."""
    if isinstance(part, tuple) and len(part) == 2:
        return _typed(option, part[0], part[1], special_tokens)
    if not isinstance(part, str):
        return _typed(option, part, 0, special_tokens)
    name, colon, number = part.rpartition(":")
    is_number = number.isascii() and number.isdecimal() and len(number) < 99
    has_type = bool(colon and name) and is_number
    is_name = part in special_tokens
    if has_type and is_name and (name in TEXTS or name in special_tokens):
        message = (
            f"{option}: {part!r} is a special token, and {name!r} with the type {number}; "
            f"write ({part!r}, 0) or ({name!r}, {number}) in a list"
        )
        raise SpecialTokenError(message)
    if has_type and not is_name:
        return _typed(option, name, int(number), special_tokens)
    return _typed(option, part, 0, special_tokens)


def _typed(
    option: str, what: object, type_id: object, special_tokens: Mapping[str, int]
) -> Piece:
    """Return the piece of a text or a special token, with a type."""
    number = whole(type_id)
    id_ = what if isinstance(what, str) else whole(what)
    if number is None or id_ is None:
        message = (
            f"{option}: each part must be a name, an id, or a pair of either and a type, not "
            f"{(what, type_id)!r:.80}"
        )
        raise TypeError(message)
    if not 0 <= number <= MAX_TYPE:
        message = (
            f"{option}: the type of {what!r} must be between 0 and {MAX_TYPE:,}, not "
            f"{number:,}"
        )
        raise TokenizerError(message)
    if isinstance(id_, str):
        if id_ in TEXTS:
            return TEXTS[id_], [], number
        if id_ in special_tokens:
            return None, [special_tokens[id_]], number
        message = f"{option}: {id_!r} is not a special token of this tokenizer"
        raise SpecialTokenError(message)
    if id_ not in special_tokens.values():
        message = f"{option}: no special token of this tokenizer has the id {id_}"
        raise SpecialTokenError(message)
    return None, [id_], number
