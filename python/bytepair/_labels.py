"""Names and messages as a reader sees them: nothing in them acts on a terminal."""

import contextlib
import unicodedata
from collections.abc import Iterator, Mapping

__all__ = ["argument", "harmless", "typed_as"]

JOINERS = "\u200c\u200d"
"""Characters without a shape that words of many scripts need."""


def harmless(text: str, *, kept: str = "") -> str:
    r"""Write control characters, and those that turn the direction of a text, as escapes.

    >>> harmless("a\x1b[31m\u202e\u200c\n"), harmless("a\nb", kept="\n")
    ('a\\x1b[31m\\u202e\u200c\\n', 'a\nb')
    """
    if text.isprintable():
        return text
    return "".join(c if c in kept or _is_seen(c) else repr(c)[1:-1] for c in text)


def _is_seen(character: str) -> bool:
    kind = unicodedata.category(character)
    return character in JOINERS or kind not in ("Cc", "Cf", "Cs", "Zl", "Zp")


_TYPED: dict[str, str] = {}
"""How arguments are typed, while a command of the command line runs."""


def argument(name: str, value: object = None) -> str:
    """Name an argument in a message, as it is written in Python or typed on the command line.

    An empty ``value`` stands for any.

    >>> argument("lines"), argument("lines", ""), argument("field", "body")
    ('lines', 'lines=', 'field="body"')
    >>> with typed_as({"lines": "--lines", "field": "--field"}):
    ...     argument("lines"), argument("lines", value=True), argument("field", "body")
    ('--lines', '--lines', '--field body')
    """
    typed = _TYPED.get(name)
    if value is None:
        return typed or name
    if typed is not None:
        return typed if value in (True, "") else f"{typed} {value}"
    quoted = f'"{value}"' if value and isinstance(value, str) else value
    return f"{name}={quoted}"


@contextlib.contextmanager
def typed_as(names: Mapping[str, str]) -> Iterator[None]:
    """Name arguments in messages as a command types them."""
    before = dict(_TYPED)
    _TYPED.update(names)
    try:
        yield
    finally:
        _TYPED.clear()
        _TYPED.update(before)
