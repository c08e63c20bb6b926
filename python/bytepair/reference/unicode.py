r"""What ``\p{L}``, ``\w``, ``\d``, ``\s`` and lower case mean.

Every new version of Unicode puts characters into classes, so two libraries can
split the same text differently. Here the classes are read from a table in
this folder, with its version in its name; :func:`expand` writes them
into a pattern as plain ranges of characters.

Not supported, and refused by name: ``\b``, ``\h`` and other escapes whose meaning
differs between engines, ``(?m)``, and set operations inside ``[...]``. Patterns
are read as Rust's ``regex`` reads them: ``$`` is the end of the text alone. One
difference remains: under ``(?i)``, ``i`` also matches U+0130.
"""

import re
from functools import cache
from pathlib import Path

VERSION = "16.0.0"
LAST_CODE_POINT = 0x10FFFF

Range = tuple[int, int]  # first and last code point, both included

# A pattern is read in these pieces; every other character stands for itself.
_PIECE = re.compile(
    r"\\[pP](?:\{[^}]*\}|.)"  # a property: \p{Lu}, \P{Lu}, \pL
    r"|\\."  # any other escape
    r"|\[\^?\]?"  # the start of a class; "]" right after it is a member
    r"|\(\?[a-z]*m"  # the flag m
    r"|&&|--|~~"  # set operations
    r"|.",
    re.DOTALL,
)
_SAME_EVERYWHERE = "rntfvaxuUAz"  # escapes of letters that need no table


@cache
def table(version: str = VERSION) -> dict[str, list[str]]:
    """Return the rows of the data file: name -> words after the name.

    >>> table()["Nd"][:2]
    ['30-39', '660-669']
    """
    path = Path(__file__).parent / f"unicode-{version}.txt"
    lines = path.read_text(encoding="ascii").splitlines()
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    return {name: words for name, *words in rows}


@cache
def property_ranges(name: str) -> tuple[Range, ...]:
    r"""Return the ranges of ``\p{name}``: a category, a script or a binary property.

    A one-letter category includes all categories that begin with that letter.

    >>> property_ranges("Nd")[0]
    (48, 57)
    >>> property_ranges("Han") == property_ranges("Script=Han")
    True
    """
    if len(name) == 1:
        names = [key for key in table() if len(key) == 2 and key[0] == name]
    else:
        names = [key for key in (name, f"Script={name}") if key in table()][:1]
    if not names or name in ("version", "lowercase"):
        message = rf"\p{{{name}}} is not in the table of Unicode {VERSION}"
        raise ValueError(message)
    return union(*(parse_ranges(table()[key]) for key in names))


def parse_ranges(words: list[str]) -> list[Range]:
    """Read hexadecimal ranges.

    >>> parse_ranges(["41-5A", "AA"])
    [(65, 90), (170, 170)]
    """
    ends = [word.split("-") for word in words]
    return [(int(end[0], 16), int(end[-1], 16)) for end in ends]


def union(*groups: list[Range] | tuple[Range, ...]) -> tuple[Range, ...]:
    """Join groups of ranges; the result is sorted and its ranges do not touch.

    >>> union([(5, 9)], [(1, 4), (20, 30)])
    ((1, 9), (20, 30))
    """
    joined: list[Range] = []
    for first, last in sorted(range_ for group in groups for range_ in group):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return tuple(joined)


def complement(ranges: tuple[Range, ...]) -> tuple[Range, ...]:
    """Return the ranges of all other code points, including lone surrogates.

    >>> complement(((0, 9), (20, 0x10FFFF)))
    ((10, 19),)
    """
    firsts = [0, *(last + 1 for _, last in ranges)]
    lasts = [*(first - 1 for first, _ in ranges), LAST_CODE_POINT]
    pairs = zip(firsts, lasts, strict=True)
    return tuple((first, last) for first, last in pairs if first <= last)


@cache
def class_ranges(escape: str) -> tuple[Range, ...]:
    r"""Return the ranges of one escape: ``\p{..}``, ``\w``, ``\d``, ``\s`` or its negation.

    >>> class_ranges(r"\d") == class_ranges(r"\p{Nd}")
    True
    >>> class_ranges(r"\S") == complement(class_ranges(r"\s"))
    True
    """
    letter = escape[1]
    if letter in "PWDS":
        return complement(class_ranges("\\" + letter.lower() + escape[2:]))
    if letter == "p":
        return property_ranges(escape[2:].strip("{}"))
    parts = {
        "w": ["Alphabetic", "M", "Nd", "Pc", "Join_Control"],
        "d": ["Nd"],
        "s": ["White_Space"],
    }
    return union(*(property_ranges(name) for name in parts[letter]))


def write_ranges(ranges: tuple[Range, ...]) -> str:
    r"""Return ranges as text for the inside of ``[...]``.

    >>> print(write_ranges(((48, 57),)))
    \U00000030-\U00000039
    """
    return "".join(f"\\U{first:08X}-\\U{last:08X}" for first, last in ranges)


def expand(pattern: str) -> str:
    r"""Replace every Unicode class in a pattern by the ranges of the table.

    >>> print(expand(r"a\d[\r\d]|$"))  # doctest: +ELLIPSIS
    a[\U00000030-\U00000039...][\r\U00000030-\U00000039...]|\Z
    >>> expand(r"\bword")
    Traceback (most recent call last):
    ValueError: '\\b' at 0 of '\\bword' has no fixed meaning here
    """
    expanded = []
    in_class = False
    for match in _PIECE.finditer(pattern):
        piece = match[0]
        if _is_refused(piece, in_class=in_class):
            place = f"{piece!r} at {match.start()} of {pattern!r}"
            message = f"{place} has no fixed meaning here"
            raise ValueError(message)
        expanded.append(_expand_piece(piece, in_class=in_class))
        if piece[0] == "[":
            in_class = True
        elif piece == "]":
            in_class = False
    return "".join(expanded)


def _expand_piece(piece: str, *, in_class: bool) -> str:
    """Return one piece of a pattern, with its class expanded."""
    if piece[0] == "\\" and piece[1] in "pPwWdDsS":
        ranges = write_ranges(class_ranges(piece))
        return ranges if in_class else f"[{ranges}]"
    if piece in ("$", r"\z") and not in_class:
        return r"\Z"
    return piece


def _is_refused(piece: str, *, in_class: bool) -> bool:
    """Whether engines read this piece of a pattern in different ways."""
    if piece[0] == "\\":
        return piece[1].isalnum() and piece[1] not in _SAME_EVERYWHERE + "pPwWdDsS"
    if piece.startswith("(?"):
        return not in_class
    return in_class and (piece[0] == "[" or piece in ("&&", "--", "~~"))


@cache
def lowercase_table() -> dict[int, str]:
    """Code point -> its lower case, for characters that change.

    >>> lowercase_table()[ord("A")]
    'a'
    """
    rows = [word.split(":") for word in table()["lowercase"]]
    return {
        int(upper, 16): "".join(chr(int(code, 16)) for code in lower.split("+"))
        for upper, lower in rows
    }
