r"""Visible forms of characters, such as tabs, line ends and control characters.

No control character of a text reaches a terminal, and no character that changes the direction of
its surroundings. Invisible characters are written as escapes, unless they shape the characters
around them, as joiners do in Persian, Devanagari and emoji. Takes time linear in the text.
"""

import functools
import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from bytepair import _core

__all__ = [
    "MISSING_BRACKETS",
    "Glyph",
    "bar",
    "fitted",
    "glyphs",
    "hexadecimal",
    "missing",
    "token_text",
    "visible",
    "width",
]

NAMED = {"\t": "→", "\n": "⏎", "\r": "␍", "\x7f": "␡"}
SPACE = "·"
JOINERS = {"\u200c": "¦", "\u200d": "⁀"}
"""The non-joiner and the joiner, drawn as characters without a direction."""
_IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Default_Ignorable_Code_Point: characters that fonts do not draw."""
_SHAPED = f"[^\\x00-\u058f{_IGNORABLE}]"
"""The characters that joiners and variation selectors affect: not Latin, Greek or Cyrillic letters."""
INVISIBLE = re.compile(
    rf"(?P<kept>(?<={_SHAPED})[\u200c\u200d\ufe00-\ufe0f\u180b-\u180d\u180f\U000e0100-\U000e01ef]"
    rf"|(?<={_SHAPED}\ufe0f)\u200d"
    r"|(?<=[#*0-9©®])\ufe0f"
    r"|(?<=\U0001f3f4)[\U000e0030-\U000e007a]{3,6}\U000e007f)"
    rf"|[{_IGNORABLE}]"
)
"""Invisible characters; ``kept`` are those that shape the character before them."""
CONTROL_PICTURES = 0x2400
MISSING_BRACKETS = ("{", "}")
"""The brackets of characters that no token stands for."""
DOTTED_CIRCLE = "◌"
"""The base for a combining mark without a letter."""


class Glyph(NamedTuple):
    """A character as a reader sees it: its visible form, and the width of that in columns."""

    text: str
    width: int


def glyphs(text: bytes, *, spaces: bool = False) -> Iterator[Glyph]:
    r"""Yield the visible form of each character of a text.

    ``spaces`` draws spaces as ``·``, joiners as ``⁀`` and non-joiners as ``¦``, and writes all
    other invisible characters as escapes.

    >>> [(glyph.text, glyph.width) for glyph in glyphs("a 中\t\xa0".encode())]
    [('a', 1), (' ', 1), ('中', 2), ('→', 1), ('\\xa0', 4)]
    >>> [glyph.text for glyph in glyphs(b" \r\n\xff", spaces=True)]
    ['·', '␍⏎', '\\xff']
    >>> [visible("a\u200dक्\u200dष", spaces=shown) for shown in (False, True)]
    ['a\\u200dक्\u200dष', 'a⁀क्⁀ष']
    """
    start = 0
    for end, n_columns in _core.graphemes(text):
        raw = text[start:end]
        character = raw.decode(errors="surrogateescape")
        shown = _shown(character, n_columns, spaces=spaces)
        same = shown.encode(errors="surrogateescape") == raw
        yield Glyph(shown, n_columns if same else width(shown))
        start = end


@functools.lru_cache(maxsize=4096)
def _shown(character: str, n_columns: int, *, spaces: bool) -> str:
    if character == "\r\n":
        return NAMED["\r"] + NAMED["\n"]
    if character == " ":
        return SPACE if spaces else character
    if character in NAMED:
        return NAMED[character]
    first = character[0]
    if first < " ":
        return chr(CONTROL_PICTURES + ord(first)) + character[1:]
    if "\udc80" <= first <= "\udcff":
        return f"\\x{ord(first) - 0xDC00:02x}"
    if not first.isprintable():
        return "".join(_escaped(part) for part in character)
    if found := INVISIBLE.search(character):
        character = INVISIBLE.sub(_joiner if spaces else _kept, character)
        n_columns = max(n_columns, found.start() == 0)
    return DOTTED_CIRCLE + character if n_columns == 0 else character


def _joiner(found: re.Match[str]) -> str:
    return JOINERS.get(found[0]) or "".join(map(_escaped, found[0])) + _base(found)


def _kept(found: re.Match[str]) -> str:
    return found["kept"] or _escaped(found[0]) + _base(found)


def _base(found: re.Match[str]) -> str:
    """Return a base for a combining mark after an escape; empty without such a mark."""
    following = found.string[found.end() : found.end() + 1]
    is_mark = unicodedata.category(following or "a").startswith("M")
    return DOTTED_CIRCLE if is_mark and not INVISIBLE.match(following) else ""


def _escaped(character: str) -> str:
    return character.encode("ascii", "backslashreplace").decode()


def visible(text: str | bytes, *, spaces: bool = False) -> str:
    r"""Write a text so that all of it is visible, and no control character has an effect.

    >>> visible("a\x1b[31m\u202e"), visible(b"\xc3\xa9\xff")
    ('a␛[31m\\u202e', 'é\\xff')
    """
    data = text.encode(errors="surrogatepass") if isinstance(text, str) else text
    return "".join(glyph.text for glyph in glyphs(data, spaces=spaces))


@functools.lru_cache(maxsize=4096)
def width(text: str) -> int:
    """Count the columns that a text occupies.

    >>> width("e\u0301"), width("中文"), width("👩‍👩‍👧")
    (1, 4, 2)
    """
    if text.isascii():
        return len(text)
    return sum(columns for _end, columns in _core.graphemes(text))


def bar(part: float, whole: float, n_columns: int) -> str:
    """Draw a share as a bar; a share above zero has at least one column.

    >>> bar(1, 2, 6), bar(1, 100, 6), bar(0, 0, 6)
    ('███', '█', '')
    """
    n_filled = int(part * n_columns // whole) if whole else 0
    return "█" * max(n_filled, part > 0)


def fitted(text: str, n_columns: int) -> str:
    """Cut or fill a text to a width.

    >>> fitted("abc", 5), fitted("abcdef", 4), fitted("中文", 3)
    ('abc  ', 'abc…', '中…')
    """
    if width(text) > n_columns:
        head, room = "", max(n_columns - 1, 0)
        for glyph in glyphs(text.encode()):
            if width(head) + glyph.width > room:
                break
            head += glyph.text
        text = f"{head}…" if n_columns > 0 else ""
    return text + " " * (n_columns - width(text))


def missing(text: str | bytes) -> str:
    """Write characters that no token stands for, in brackets.

    >>> missing("é")
    '{é}'
    """
    return visible(text, spaces=True).join(MISSING_BRACKETS)


def token_text(name: str | bytes) -> str:
    r"""Write a token for a row: spaces are visible, and bytes that are not text are escaped.

    >>> token_text(b" a"), token_text(b"\xc3"), token_text("</w>")
    ('·a', '\\xc3', '</w>')
    """
    return visible(name, spaces=True) or '""'


def hexadecimal(content: bytes) -> str:
    r"""Write bytes in hexadecimal.

    >>> hexadecimal(b"\xc3\xa9")
    'c3 a9'
    """
    return content.hex(" ")
