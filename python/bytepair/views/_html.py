"""Tokens as HTML: fragments for notebooks and reports, and the styles that they need.

All text is escaped. Letters keep the colour of the page, on translucent backgrounds, so that they
are readable on dark and light pages. No space is put between tokens, so that Arabic letters join.
Each line has the direction of its first letter, or of the lines around it if it has none. Escapes
of invisible characters are isolated, so that they do not move the words beside them.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from html import escape

from bytepair.analyze._cuts import Cut, CutToken, Group

from ._glyphs import bytes_of, glyphs, label, visible
from ._layout import LEFT_OUT, MISSING, N_COLOURS, Options, colours_of, id_of

__all__ = ["CSS", "cut_html", "page_of_rows", "rows_html"]

ESCAPED = re.compile(r"\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})")
"""An escape for an invisible character; a backslash of a text is a character of its own."""
HUES = (210, 130, 30, 300, 55, 180)

CSS = (
    """\
.bp-text { white-space: break-spaces; overflow-wrap: anywhere; unicode-bidi: plaintext;
  font-family: ui-monospace, "DejaVu Sans Mono", monospace; line-height: 1.7; }
.bp-text .bp-t { border-radius: 2px; padding-block: 1px; }
.bp-text .bp-t:hover { outline: 2px solid currentColor; }
.bp-text .bp-s0 { background: rgba(128, 128, 128, .14); }
.bp-text .bp-s1 { background: rgba(128, 128, 128, .30); }
.bp-text .bp-out { opacity: .55; text-decoration: line-through; }
.bp-text .bp-missing { background: rgba(190, 20, 20, .85); color: #fff; font-weight: 600; }
.bp-text .bp-part, .bp-text .bp-end, .bp-text .bp-none { font-size: .68em; opacity: .7; }
.bp-text .bp-part, .bp-text .bp-none, .bp-text .bp-esc { unicode-bidi: isolate; direction: ltr; }
.bp-text .bp-esc { font-size: .78em; opacity: .8; }
.bp-text .bp-ltr::before { content: "\\200e"; }
.bp-text .bp-rtl::before { content: "\\200f"; }
.bp-text .bp-piece { border-inline-start: 1px solid currentColor; }
.bp-note { font-size: .85em; opacity: .75; margin-block: .4em .1em; }
"""
    + "\n".join(
        f".bp-text .bp-c{number} {{ background: hsla({hue}, 85%, 50%, .28); }}"
        for number, hue in enumerate(HUES)
    )
    + "\n"
)
"""The styles of all fragments. Their names begin with ``bp-``."""


def cut_html(cut: Cut, options: Options = Options()) -> str:  # noqa: B008 -- never changes
    """Draw a text with each token in a colour; pointing at a token shows its id and bytes.

    Gives a fragment that needs :data:`CSS`. ``title`` and ``data-ids`` of each ``<span
    class="bp-t …">`` have the ids. Tokens with part of a character are drawn small, after the
    character.

    >>> import bytepair
    >>> from bytepair.analyze import cut
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> fragment = cut_html(cut(tokenizer, "<low>"))
    >>> fragment.count("bp-t "), "&lt;" in fragment, "<low>" in fragment
    (3, True, False)
    """
    return _fragment(cut, colours_of([cut])[0], options, is_compact=False)


def rows_html(cuts: Sequence[Cut], options: Options = Options()) -> list[str]:  # noqa: B008
    """Draw one text with several tokenizers: text that all cut in the same way is grey."""
    rows = colours_of(cuts)
    is_compact = len(cuts) > 1 and not (options.ids or options.bytes)
    return [
        _fragment(cut, row, options, is_compact=is_compact)
        for cut, row in zip(cuts, rows, strict=True)
    ]


def page_of_rows(cuts: Sequence[Cut], titles: Sequence[str], options: Options) -> str:
    """Draw cuts of one text below each other, each with a title, and include the styles."""
    rows = zip(titles, rows_html(cuts, options), strict=True)
    drawn = "".join(f'<div class="bp-note">{escape(t)}</div>{row}' for t, row in rows)
    return f"<style>{CSS}</style><div>{drawn}</div>"


def _fragment(
    cut: Cut, colours: Sequence[int], options: Options, *, is_compact: bool
) -> str:
    directions = _directions(cut.text)
    spans = (
        _span(cut, group, colour, options, directions, is_compact=is_compact)
        for group, colour in zip(cut.groups, colours, strict=True)
    )
    return f'<div class="bp-text" dir="auto">{"".join(spans)}</div>'


def _span(
    cut: Cut,
    group: Group,
    colour: int,
    options: Options,
    directions: dict[int, str],
    *,
    is_compact: bool,
) -> str:
    text = "".join(
        directions.get(group.start + glyph.start, "") + _drawn(glyph.text)
        for glyph in glyphs(cut.text[group.start : group.end], spaces=options.spaces)
    )
    if colour == LEFT_OUT:
        return f'<span class="bp-out" title="no token">{text}</span>'
    small = "".join(_small(group, cut.text, options, is_compact=is_compact))
    if text.endswith("\n"):
        text, small = text[:-1], f"{small}\n"
    style = f"bp-c{colour}" if colour < N_COLOURS else f"bp-s{colour - N_COLOURS}"
    if colour == MISSING:
        style = "bp-missing"
    piece = " bp-piece" if options.pieces and group.begins_piece else ""
    titles = [_title(token, cut.text) for token in group.tokens]
    if colour == MISSING:
        titles = list(dict.fromkeys(titles))  # one for each character
    title = escape("\n".join(titles), quote=True)
    ids = ",".join(map(id_of, group.tokens))
    return (
        f'<span class="bp-t {style}{piece}" data-ids="{ids}" title="{title}">'
        f"{text}{small}</span>"
    )


def _drawn(text: str) -> str:
    """Draw a character, or the escape of one."""
    if text == "⏎":
        return '<span class="bp-end">⏎</span>\n'
    return ESCAPED.sub(r'<span class="bp-esc">\g<0></span>', escape(text))


def _directions(text: bytes) -> dict[int, str]:
    """Give the marks of lines without letters, by the place of the line.

    A browser would draw such a line from left to right in the midst of Persian text.
    """
    lines = text.decode(errors="surrogateescape").split("\n")
    found = [_direction(line) for line in lines]
    if "rtl" not in found:
        return {}
    usual = next(filter(None, found))
    marks, place = {}, 0
    for line, own in zip(lines, found, strict=True):
        usual = own or usual
        if not own:
            marks[place] = f'<span class="bp-{usual}"></span>'
        place += len(line.encode(errors="surrogateescape")) + 1
    return marks


def _direction(line: str) -> str:
    """Give the direction of the first letter of a line."""
    kinds = map(unicodedata.bidirectional, line)
    first = next((kind for kind in kinds if kind in ("L", "R", "AL")), None)
    return "" if first is None else "ltr" if first == "L" else "rtl"


def _small(
    group: Group, text: bytes, options: Options, *, is_compact: bool
) -> Iterator[str]:
    """Give the small notes after a group: its tokens, and the requested ids or bytes."""
    has_text = group.start < group.end
    parts = "|".join(escape(label(token)) for token in group.tokens)
    contents = "|".join(bytes_of(token, text) for token in group.tokens)
    is_below = options.bytes and parts == contents
    is_told = has_text and (group.is_missing or is_below)
    if (len(group.tokens) > 1 or not has_text) and not is_told:
        name = "bp-part" if has_text else "bp-none"
        shown = str(len(group.tokens)) if is_compact and has_text else parts
        yield f'<span class="{name}">{shown}</span>'
    if options.bytes:
        yield f'<span class="bp-part"> {contents} </span>'
    if options.ids:
        ids = " ".join(map(id_of, group.tokens))
        yield f'<span class="bp-part"> {ids} </span>'


def _title(token: CutToken, text: bytes) -> str:
    """Describe a token in one line."""
    if token.kind == "missing":
        content = f" ({bytes_of(token, text)})" if token.content else ""
        return f"{visible(token.written)}: not in the alphabet, no id{content}"
    kind = "" if token.kind == "text" else f", {token.kind}"
    found = visible(token.written)
    content = bytes_of(token, text)
    return (
        f"{token.id}: {found}{kind} ({content})" if content else f"{token.id}: {found}"
    )
