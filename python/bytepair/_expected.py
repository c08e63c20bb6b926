"""Refuses, by name, values of another kind and keywords that a function does not have."""

import difflib
from collections.abc import Collection, Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

from ._core import CoreTokenizer
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
    """Return a tokenizer; a path is loaded.

    Raises
    ------
    TypeError
        It is something else.
    """
    if isinstance(value, (str, PathLike)):
        from ._tokenizer import Tokenizer

        return Tokenizer.from_file(value)
    if not isinstance(value, CoreTokenizer):
        message = f"expected a Tokenizer or a path, found {type(value).__name__}"
        raise TypeError(message)
    return cast("Tokenizer", value)


def all_loaded(value: Any) -> Any:  # noqa: ANN401 -- as given, with tokenizers for paths
    """Return one tokenizer, or several in a list or by name; paths are loaded. A set has no order.

    Raises
    ------
    TypeError
        It is something else, or one of them is.
    """
    refuse_set("tokenizers", value, "the result")
    if isinstance(value, Mapping):
        return {name: loaded(one) for name, one in value.items()}
    is_many = isinstance(value, Iterable) and not isinstance(value, (str, bytes))
    return [loaded(one) for one in value] if is_many else loaded(value)


def expect(
    name: str, value: object, kind: type | tuple[type, ...], described: str
) -> None:
    """Refuse a value of another kind; ``name`` and ``described`` are for the message.

    Raises
    ------
    TypeError
        It is something else.
    """
    if not isinstance(value, kind):
        message = f"{name} must be {described}, not {type(value).__name__}"
        raise TypeError(message)


def expect_each(
    name: str, values: object, kind: type | tuple[type, ...], described: str
) -> None:
    """Refuse what is not a list or another collection whose members all are of a kind.

    Raises
    ------
    TypeError
        It is something else, or one of them is.
    """
    expect(name, values, Collection, f"a list in which each is {described}")
    for place, value in enumerate(values):  # type: ignore[arg-type,var-annotated]
        expect(f"{name}[{place}]", value, kind, described)


def refuse_unknown(function: str, given: Iterable[str], known: Collection[str]) -> None:
    """Refuse keywords that a function does not have, with the nearest that it has.

    Raises
    ------
    TypeError
        The message names the first of them.
    """
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]}=?" if near else ""
            message = f"{function}() got an unexpected keyword argument {name!r}{hint}"
            raise TypeError(message)
