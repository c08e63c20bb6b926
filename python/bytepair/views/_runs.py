"""Lines of styled text, and how they look as plain text, as HTML and as SVG.

All views make lines of runs; ``_terminal`` prints them in colours. All text is escaped. Letters have
the colour of the page, on translucent backgrounds, so that they are readable on dark and light pages.
Takes time linear in the text.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from html import escape
from typing import NamedTuple

from ._glyphs import width

__all__ = [
    "CSS",
    "PART_TITLES",
    "Line",
    "Run",
    "columns",
    "folded",
    "html",
    "labelled",
    "plain",
    "svg",
    "words",
]

PART_TITLES = {
    "units": "units (merges join them)",
    "loses": "loses (decoding does not restore it)",
}
"""Explained names of parts of a tokenizer."""
HUES = (210, 130, 30, 300, 55, 180)
"""The hues of tokens, ``c0`` and so on, taken in turn."""
ESCAPED = re.compile(r"\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})")
"""The escape of an invisible character."""
WORD = re.compile(r"[^ ·⏎]*[ ·⏎]+|[^ ·⏎]+")
"""A word with the spaces after it."""
CHARACTER, LINE, MARGIN = 9, 22, 16
"""The size of a column and of a line of a picture, and its margin, in pixels."""

_BACKGROUNDS = {
    "s0": "rgba(128, 128, 128, .14)",
    "s1": "rgba(128, 128, 128, .30)",
    "missing": "hsla(0, 90%, 50%, .55)",
    "first": "hsla(0, 85%, 50%, .22)",
    "second": "hsla(130, 85%, 40%, .22)",
    **{f"c{n}": f"hsla({hue}, 85%, 50%, .28)" for n, hue in enumerate(HUES)},
}
CSS = """\
.bp-text { white-space: break-spaces; overflow-wrap: anywhere; line-height: 1.7; }
.bp-text, .bp-picture { font-family: ui-monospace, "DejaVu Sans Mono", monospace; }
.bp-picture text { white-space: pre; fill: #1c1c1c; }
@media (prefers-color-scheme: dark) {
  .bp-picture text { fill: #e4e7eb; }
  .bp-picture .bp-page { fill: #16191d; }
}
.bp-line { display: block; min-height: 1lh; }
.bp-view { line-height: 1.4; font-size: .95em; }
.bp-t { border-radius: 2px; padding-block: 1px; }
.bp-t:hover { outline: 2px solid currentColor; }
.bp-note { opacity: .7; }
.bp-heading, .bp-best { font-weight: 600; }
.bp-out { opacity: .55; text-decoration: line-through; }
.bp-missing { font-weight: 600; }
.bp-text .bp-part, .bp-text .bp-none, .bp-text .bp-end { font-size: .68em; opacity: .7; }
.bp-part, .bp-none, .bp-esc { unicode-bidi: isolate; direction: ltr; }
.bp-esc { font-size: .78em; opacity: .8; }
""" + "".join(
    f".bp-{name} {{ background: {colour}; }}\nrect.bp-{name} {{ fill: {colour}; }}\n"
    for name, colour in _BACKGROUNDS.items()
)
"""The styles of all drawings. Their names begin with ``bp-``."""


class Run(NamedTuple):
    """A text in one style, with a title that is shown when the reader points at it.

    A style is one or more names: ``c0`` to ``c5`` for tokens, ``s0`` and ``s1`` for tokens that all
    rows share, ``missing`` for tokens without an id, ``out`` for text without a token, ``part`` for
    small text in a token, ``none`` for tokens without text, ``note`` for text around tokens, ``heading`` and ``name``.
    """

    text: str
    style: str = ""
    title: str = ""


Line = list[Run]


def plain(lines: Iterable[Line]) -> str:
    """Write lines without styles.

    >>> plain([[Run("[low]", "c0"), Run(" 257 ", "note")]])
    '[low] 257'
    """
    return "\n".join("".join(run.text for run in line).rstrip() for line in lines)


def words(text: str, style: str = "") -> Line:
    """Divide a text at its spaces and line ends, drawn or not, so that it can be folded there.

    >>> [run.text for run in words("a·bc d")]
    ['a·', 'bc ', 'd']
    """
    return [Run(word, style) for word in WORD.findall(text)]


def folded(line: Line, n_columns: int | None, indent: int) -> Iterator[Line]:
    """Break a line that is too long between runs, and continue below with an indent.

    >>> print(plain(folded(words("a bc d"), 4, 1)))
    a bc
     d
    """
    part: Line = []
    n_used = 0
    for run in line:
        n_needed = width(run.text.rstrip(" "))
        if n_columns and n_used > indent and n_used + n_needed > n_columns:
            yield part
            part, n_used = [Run(" " * indent)], indent
        part.append(run)
        n_used += width(run.text)
    yield part


def labelled(rows: Iterable[tuple[str, str]]) -> list[Line]:
    """Lay out names and texts in two columns.

    >>> print(plain(labelled([("size", "258 ids"), ("end", "none")])))
    size  258 ids
    end   none
    """
    rows = list(rows)
    n_columns = max(len(name) for name, _text in rows) + 2
    return [[Run(f"{name:<{n_columns}}", "note"), Run(text)] for name, text in rows]


def html(lines: Iterable[Line]) -> str:
    """Draw lines of a text as an HTML fragment that needs :data:`CSS`.

    Each line has the direction of its first letter, or of the line before it if it has none. No
    space is put between runs, so that Arabic letters join.

    >>> html([[Run("<a>", "c0", "7")]]).count("&lt;a&gt;</span>")
    1
    """
    rows = list(lines)
    directions = list(map(_direction, rows))
    direction = first = next(filter(None, directions), "ltr")
    drawn = []
    for row, own in zip(rows, directions, strict=True):
        direction = own or direction
        spans = "".join(map(_span, row))
        drawn.append(f'<span class="bp-line" dir="{direction}">{spans}</span>')
    return f'<div class="bp-text" dir="{first}">{"".join(drawn)}</div>'


def columns(lines: Iterable[Line]) -> str:
    """Draw lines with columns as HTML with its styles, from left to right whatever their letters.

    >>> columns([[Run("<a>", "note"), Run(" 7")]]).partition("<div")[2]
    ' class="bp-text bp-view" dir="ltr"><span class="bp-line"><span class="bp-note">&lt;a&gt;</span> 7</span></div>'
    """
    rows = ("".join(map(_span, line)) for line in lines)
    drawn = "".join(f'<span class="bp-line">{row}</span>' for row in rows)
    return f'<style>{CSS}</style><div class="bp-text bp-view" dir="ltr">{drawn}</div>'


def _direction(line: Line) -> str:
    """Return the direction of the first letter of a line; empty without letters."""
    text = "".join(run.text for run in line if not run.style.endswith(("part", "none")))
    kinds = map(unicodedata.bidirectional, text)
    first = next((kind for kind in kinds if kind in ("L", "R", "AL")), None)
    return "" if first is None else "ltr" if first == "L" else "rtl"


def _span(run: Run) -> str:
    names = [*run.style.split(), *(["t"] if run.title else [])]
    text = ESCAPED.sub(r'<span class="bp-esc">\g<0></span>', escape(run.text))
    text = text.replace("⏎", '<span class="bp-end">⏎</span>')
    title = f' title="{escape(run.title)}"' if run.title else ""
    return f'<span class="{_classes(names)}"{title}>{text}</span>' if names else text


def _classes(names: Iterable[str]) -> str:
    return " ".join(f"bp-{name}" for name in names)


def svg(lines: Iterable[Line], title: str) -> str:
    """Draw lines as an SVG picture, light or dark as the reader's system.

    >>> svg([[Run("<a>", "c0"), Run(" b")]], "a").count("<text")
    2
    """
    rows = list(lines)
    n_columns = max((sum(width(run.text) for run in row) for row in rows), default=0)
    size = n_columns * CHARACTER + 2 * MARGIN, len(rows) * LINE + 2 * MARGIN
    drawn = "".join(
        part for number, row in enumerate(rows) for part in _row(row, number)
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" class="bp-picture" role="img" font-size="15" '
        f'width="{size[0]}" height="{size[1]}" viewBox="0 0 {size[0]} {size[1]}">'
        f"<title>{escape(title)}</title><style>{CSS}</style>"
        f'<rect class="bp-page" width="100%" height="100%" rx="8" fill="#fcfcfa"/>{drawn}</svg>\n'
    )


def _row(row: Line, number: int) -> Iterator[str]:
    x, y = MARGIN, MARGIN + number * LINE
    for run in row:
        length = width(run.text) * CHARACTER
        names = _classes(run.style.split())
        if names:
            yield f'<rect class="{names}" x="{x}" y="{y}" width="{length}" height="{LINE - 2}" '
            yield 'fill="none"/>'
        if run.text.strip():
            yield f'<text class="{names}" x="{x}" y="{y + LINE - 7}" textLength="{length}">'
            yield f"{escape(run.text)}</text>"
        x += length
