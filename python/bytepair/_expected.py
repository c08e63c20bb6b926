"""Refuses values of the wrong type and unknown keywords, by name."""

import difflib
from collections.abc import Collection, Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

from ._core import Tokenizer as CoreTokenizer
from ._elsewhere import INSTEAD_OF_OPTIONS
from ._names import refuse_set

if TYPE_CHECKING:
    from ._tokenizer import Tokenizer

__all__ = [
    "all_loaded",
    "expect",
    "expect_each",
    "loaded",
    "refuse_unknown",
]


def loaded(value: object) -> "Tokenizer":
    """Return a tokenizer, which is loaded if it is a path.

    Raises
    ------
    TypeError
        The value is something else.
    """
    if isinstance(value, (str, PathLike)):
        from ._tokenizer import Tokenizer

        return Tokenizer.from_file(value)
    if not isinstance(value, CoreTokenizer):
        message = f"expected a Tokenizer or a path, found {type(value).__name__}"
        raise TypeError(message)
    return cast("Tokenizer", value)


def all_loaded(value: Any) -> Any:  # noqa: ANN401 -- the same, with tokenizers for paths
    """Return one tokenizer, or several in a list or by name; paths are loaded.

    Raises
    ------
    TypeError
        The value, or a member of it, is something else; or it is a set, which has no order.
    """
    refuse_set("tokenizers", value, "the result")
    if isinstance(value, Mapping):
        return {name: loaded(one) for name, one in value.items()}
    is_many = isinstance(value, Iterable) and not isinstance(value, (str, bytes))
    return [loaded(one) for one in value] if is_many else loaded(value)


def expect(
    name: str, value: object, kind: type | tuple[type, ...], described: str
) -> None:
    """Refuse a value that is not of a type; the message has ``name`` and ``described``.

    Raises
    ------
    TypeError
        The value is of another type.
    """
    if not isinstance(value, kind):
        message = f"{name} must be {described}, not {type(value).__name__}"
        raise TypeError(message)


def expect_each(
    name: str, values: object, kind: type | tuple[type, ...], described: str
) -> None:
    """Refuse a value that is not a collection whose members are all of a type.

    Raises
    ------
    TypeError
        The value, or a member of it, is something else.
    """
    expect(name, values, Collection, f"a list in which each is {described}")
    for place, value in enumerate(values):  # type: ignore[arg-type,var-annotated]
        expect(f"{name}[{place}]", value, kind, described)


def refuse_unknown(function: str, given: Iterable[str], known: Collection[str]) -> None:
    """Refuse unknown keywords of a function, and suggest the closest known one.

    Raises
    ------
    TypeError
        A keyword is unknown. The message names the first.
    """
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]}=?" if near else ""
            hint = (
                f"; use {INSTEAD_OF_OPTIONS[name]}"
                if name in INSTEAD_OF_OPTIONS
                else hint
            )
            message = f"{function}() got an unexpected keyword argument {name!r}{hint}"
            raise TypeError(message)
