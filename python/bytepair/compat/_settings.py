"""What settings may hold: a value that means nothing is refused, with the file that holds it.

Settings that mean nothing here are kept as they are, whatever they hold.
"""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bytepair._added import wrong_in
from bytepair.errors import FormatError, TokenizerError

__all__ = [
    "EXTRA",
    "ROLES",
    "check_added_tokens",
    "check_settings",
    "content",
    "templates_of",
]

ROLES = (
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
)
"""The settings that name the special tokens which all models may have."""
EXTRA = ("extra_special_tokens", "additional_special_tokens")
"""The settings that list special tokens without a role, or by roles of the model's own."""


def content(token: object) -> str | None:
    """Give the text of a token, which settings write as text or as an object.

    >>> (
    ...     content({"__type": "AddedToken", "content": "<s>"}),
    ...     content("<s>"),
    ...     content(None),
    ... )
    ('<s>', '<s>', None)
    """
    if isinstance(token, Mapping):
        token = token.get("content")
    token = getattr(token, "content", token)
    return token if isinstance(token, str) else None


def check_settings(settings: Mapping[str, Any], file: Path | None = None) -> None:
    """Refuse settings whose values mean nothing; ``file`` is what holds them.

    Raises
    ------
    TokenizerError
        A side is neither left nor right, ``added_tokens`` neither find nor text, a token is no
        token, a length is no number, or names are no texts. ``FormatError`` for a file.
    """
    for name, value in settings.items():
        wrong = _wrong(name, value)
        if wrong is None:
            continue
        if file is None:
            raise TokenizerError(wrong)
        message = f"{file}: {wrong}"
        raise FormatError(message)


def check_added_tokens(word: object) -> None:
    """Refuse what is neither of the two words, nor left out."""
    check_settings({"added_tokens": word})


def templates_of(found: Any, file: Path | None = None) -> Any:  # noqa: ANN401 -- of settings
    """Read one chat template, or several by name; ``file`` is what holds them.

    Raises
    ------
    FormatError
        It is something else.
    """
    if found is None or isinstance(found, str):
        return found
    pairs = found.items() if isinstance(found, Mapping) else _pairs(found)
    if pairs is None or not all(
        isinstance(part, str) for pair in pairs for part in pair
    ):
        begin = f"{file}: " if file else ""
        message = (
            f"{begin}chat_template must be a text, or texts by their names, not this "
            f"{type(found).__name__}"
        )
        raise FormatError(message)
    return dict(pairs)


def _pairs(found: Any) -> list[tuple[Any, Any]] | None:  # noqa: ANN401 -- of settings
    """Take templates from a list of names and texts."""
    if not isinstance(found, (list, tuple)):
        return None
    is_named = all(
        isinstance(one, Mapping) and {"name", "template"} <= one.keys() for one in found
    )
    return [(one["name"], one["template"]) for one in found] if is_named else None


def _wrong(name: str, value: Any) -> str | None:  # noqa: ANN401 -- of a file
    """Say what is wrong with the value of a setting."""
    if name in EXTRA:
        return None if value is None else _wrong_list(name, value)
    if name in ROLES:
        return None if value is None else _wrong_token(name, value)
    if name.endswith("_token") and _is_unwritable(value):
        return _wrong_token(name, value)
    if name not in EXPECTED:
        return None
    expected, fits = EXPECTED[name]
    return None if fits(value) else f"{name} must be {expected}, not {value!r:.80}"


def _wrong_token(name: str, token: object) -> str | None:
    if content(token) is None:
        return f"{name} must be a token, not {token!r:.80}"
    if isinstance(token, Mapping) and (wrong := wrong_in(token)) is not None:
        return f"{name}: {wrong}"
    if _is_unwritable(token):
        return f"{name} must be a token, and {token!r:.80} has a lone surrogate"
    return None


def _wrong_list(name: str, tokens: Any) -> str | None:  # noqa: ANN401 -- of a file
    """Say what is wrong with tokens in a list, or by their roles."""
    tokens = list(tokens.values()) if isinstance(tokens, Mapping) else tokens
    if not isinstance(tokens, (list, tuple)):
        return f"{name} must be a list of tokens, not {tokens!r:.80}"
    for token in tokens:
        if content(token) is None:
            return f"{name}: expected tokens, not {token!r:.80}"
    found = (_wrong_token(name, token) for token in tokens)
    return next((wrong for wrong in found if wrong is not None), None)


def _is_unwritable(token: object) -> bool:
    """Tell a token with a lone surrogate, which is no Unicode."""
    text = content(token) or ""
    return any("\ud800" <= character <= "\udfff" for character in text)


def _is_number(value: object) -> bool:
    if isinstance(value, float):
        return not math.isnan(value)
    return value is None or (isinstance(value, int) and not isinstance(value, bool))


def _are_names(value: object) -> bool:
    return value is None or (
        isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value)
    )


def _is_name(value: object) -> bool:
    return value is None or isinstance(value, str)


def _are_tokens_by_role(value: object) -> bool:
    return not value or isinstance(value, Mapping)


def _is_side(value: object) -> bool:
    return isinstance(value, str) and value in ("left", "right")


def _is_word(value: object) -> bool:
    return value is None or (isinstance(value, str) and value in ("find", "text"))


EXPECTED: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "added_tokens": ("'find' or 'text'", _is_word),
    "fast_tokenizer_files": ("a list of names", _are_names),
    "max_len": ("a number", _is_number),
    "model_input_names": ("a list of names", _are_names),
    "model_max_length": ("a number", _is_number),
    "model_specific_special_tokens": ("tokens by their roles", _are_tokens_by_role),
    "padding_side": ("'left' or 'right'", _is_side),
    "tokenizer_class": ("a name", _is_name),
    "truncation_side": ("'left' or 'right'", _is_side),
}
"""What a setting must be, in words, and what tells it."""
