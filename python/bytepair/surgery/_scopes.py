"""The characters that tokens are learned for: scripts by name, ranges, single characters.

Scripts are those of Unicode's Script property, so a character belongs to at most one script. Script
extensions are left out: the danda of Devanagari is also used in other scripts, and belongs to Common.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import NoReturn, TypeAlias

from bytepair import _core
from bytepair._labels import argument
from bytepair._plurals import amount
from bytepair.errors import TrainingError

__all__ = ["GivenScope", "Scope", "scope_of"]

GivenScope: TypeAlias = "str | range | Iterable[str | int | range]"
Range: TypeAlias = tuple[int, int]

CODE_POINTS = re.compile(r"U\+([0-9A-F]{1,6})(?:(?:-|\.\.)U\+([0-9A-F]{1,6}))?", re.I)
LAST = 0x10FFFF
SURROGATES = range(0xD800, 0xE000)
N_NEAR = 3


@dataclass(frozen=True)
class Scope:
    """A set of characters.

    Attributes
    ----------
    name
        Its name in messages: its scripts, and the number of other characters.
    ranges
        The first and last code points of its ranges, ascending and apart.
    """

    name: str
    ranges: tuple[Range, ...]

    def holds_of(self, text: str) -> bool:
        """Whether a text contains a character of the scope.

        >>> scope_of("Devanagari").holds_of("x नम"), scope_of("Thai").holds_of("x")
        (True, False)
        """
        codes = set(map(ord, text))
        return any(
            first <= code <= last for code in codes for first, last in self.ranges
        )


def scope_of(given: GivenScope) -> Scope:
    """Read a scope as it is given.

    >>> scope_of("Thai,U+0964").name
    'Thai and 1 character'
    >>> scope_of(["ä-ü", "ß", range(0x1E9E, 0x1E9F)]).ranges
    ((223, 223), (228, 252), (7838, 7838))

    Raises
    ------
    TrainingError
        A name is not that of a script, a range contains no character, or nothing is given.
    TypeError
        An item is neither a name nor a character nor a range.
    """
    scripts: dict[str, tuple[Range, ...]] = {}
    others: list[Range] = []
    for item in _items(given):
        if not isinstance(item, str):
            others.append(_checked(item))
        elif found := _range_of(item):
            others.append(found)
        else:
            name = _script_named(item)
            scripts[name] = _scripts()[name]
    ranges = _joined(
        [*others, *(range_ for each in scripts.values() for range_ in each)]
    )
    if not ranges:
        message = f"{argument('scope')}: no script and no character is given"
        raise TrainingError(message)
    n_others = sum(last - first + 1 for first, last in _joined(others))
    names = [*scripts, *([amount(n_others, "character")] if others else [])]
    return Scope(" and ".join(names), ranges)


def _items(given: GivenScope) -> list[str | int | range]:
    """List the given items one by one."""
    if isinstance(given, str):
        parts = [given] if len(given) == 1 else given.split(",")
        return [part if len(part) == 1 else part.strip() for part in parts]
    if isinstance(given, range):
        return [given]
    if isinstance(given, (bytes, int)) or not isinstance(given, Iterable):
        message = (
            "scope must be the name of a script, or a list of names and characters, not "
            f"{given!r}"
        )
        raise TypeError(message)
    return list(given)


def _range_of(item: str) -> Range | None:
    """Read a character, or a range of characters; ``None`` for a name."""
    if len(item) == 1:
        return _checked(ord(item))
    if len(item) == 3 and item[1] == "-":
        return _checked(range(ord(item[0]), ord(item[2]) + 1), item)
    found = CODE_POINTS.fullmatch(item)
    if not found:
        return None
    first, last = (int(code, 16) for code in (found[1], found[2] or found[1]))
    return _checked(range(first, last + 1), item)


def _checked(codes: object, shown: object = None) -> Range:
    """Return the ends of a range of characters, surrogates left out."""
    shown = codes if shown is None else shown
    if isinstance(codes, int) and not isinstance(codes, bool):
        codes = range(codes, codes + 1)
    if not isinstance(codes, range):
        message = f"scope: {shown!r} is neither a name nor a character"
        raise TypeError(message)
    if not codes or codes.step != 1 or codes[0] < 0 or codes[-1] > LAST:
        message = f"{argument('scope')}: {shown!r} is not a range of characters from U+0000 to U+10FFFF"
        raise TrainingError(message)
    first, last = codes[0], codes[-1]
    first = SURROGATES.stop if first in SURROGATES else first
    last = SURROGATES.start - 1 if last in SURROGATES else last
    if first > last:
        message = f"{argument('scope')}: {shown!r} contains only surrogates, which are not characters"
        raise TrainingError(message)
    return first, last


def _joined(ranges: list[Range]) -> tuple[Range, ...]:
    """Sort ranges, and join those that touch."""
    joined: list[Range] = []
    for first, last in sorted(ranges):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(last, joined[-1][1])
        else:
            joined.append((first, last))
    return tuple(joined)


@cache
def _scripts() -> dict[str, tuple[Range, ...]]:
    """Return the characters of each script."""
    return {name: tuple(ranges) for name, ranges in _core.unicode_scripts() if ranges}


@cache
def _names() -> dict[str, str]:
    """Return each script by its name, written in the way that names are compared."""
    return {_loose(name): name for name in _scripts()}


def _loose(name: str) -> str:
    """Leave out case, spaces, hyphens and underscores, as Unicode compares names."""
    return re.sub(r"[ _-]", "", name).casefold()


def _script_named(item: str) -> str:
    return _names().get(_loose(item)) or _refuse(item)


def _refuse(item: str) -> NoReturn:
    loose = _loose(item)
    near = [name for name in _names() if loose and name.startswith(loose)]
    near = near or difflib.get_close_matches(loose, _names(), N_NEAR)
    names = " or ".join(_names()[name] for name in near[:N_NEAR])
    message = (
        f"{argument('scope')}: no script is called {item!r}{f', but {names} is' if names else ''}; a scope "
        "is a script, not a language, or characters: single ones and ranges such as "
        "U+0900-U+097F"
    )
    raise TrainingError(message)
