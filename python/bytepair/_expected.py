"""Refuses, by name, values of another kind and keywords that a function does not have."""

import difflib
from collections.abc import Collection, Iterable, Mapping

from ._core import CoreTokenizer
from ._names import refuse_set

__all__ = [
    "expect",
    "expect_each",
    "expect_tokenizer",
    "expect_tokenizers",
    "refuse_unknown",
]


def expect_tokenizer(value: object) -> None:
    """Refuse what is no tokenizer, and say how a file becomes one.

    Raises
    ------
    TypeError
        It is something else.
    """
    if not isinstance(value, CoreTokenizer):
        found = type(value).__name__
        message = f"expected a Tokenizer, found {found}; load a file with Tokenizer.from_file(…)"
        raise TypeError(message)


def expect_tokenizers(value: object) -> None:
    """Refuse what is neither a tokenizer nor several, in a list or by name; a set has no order.

    Raises
    ------
    TypeError
        It is something else, or one of them is.
    """
    refuse_set("tokenizers", value, "the result")
    several = value.values() if isinstance(value, Mapping) else value
    is_many = isinstance(several, Iterable) and not isinstance(several, (str, bytes))
    for one in several if is_many else [several]:  # type: ignore[attr-defined]
        expect_tokenizer(one)


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
