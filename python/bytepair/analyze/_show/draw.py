"""A text in tokens, as ``bytepair show`` and ``Tokenizer.show`` draw it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import escape

from bytepair._plurals import amount
from bytepair._results import abridged
from bytepair.views._glyphs import fitted, glyphs, visible, width
from bytepair.views._runs import CSS, Line, Run, folded, plain, words

from .cuts import Cut
from .layout import CLOSING, OPENING, Options, cuts_html, lines_of

__all__ = ["Shown", "counts", "drawn"]

NAME_COLUMNS = 24
SHARED = re.compile(rf"{OPENING}\d+{CLOSING}")
"""The mark of a character that several tokens share."""


@dataclass(frozen=True, repr=False)
class Shown:
    """A text in tokens: brackets when printed, colours in a notebook.

    Attributes
    ----------
    cuts
        One :class:`bytepair.analyze.Cut` of the text for each tokenizer.
    names
        The names of the tokenizers, if there are several.
    options
        Drawing options.
    """

    cuts: Sequence[Cut]
    names: Sequence[str] = ("",)
    options: Options = field(default_factory=Options)

    def __str__(self) -> str:
        return plain(drawn(self.cuts, self.names, replace(self.options, brackets=True)))

    def __repr__(self) -> str:
        return abridged(str(self))

    def _repr_html_(self) -> str:
        rows = cuts_html(self.cuts, self.options)
        drawn = []
        for name, cut, row in zip(self.names, self.cuts, rows, strict=True):
            title = escape(f"{visible(name)}: {counts(cut)}" if name else counts(cut))
            drawn.append(f'<div class="bp-note">{title}</div>{row}')
        return f"<style>{CSS}</style><div>{''.join(drawn)}</div>"


def counts(cut: Cut, *, pieces: bool = False) -> str:
    """Describe the length of a text in tokens, characters and bytes.

    >>> counts(Cut(b"", (), 0))
    '0 tokens, 0 characters, 0 bytes'
    """
    without_id = f" ({cut.n_missing:,} without an id)" if cut.n_missing else ""
    sizes = [amount(cut.n_tokens, "token") + without_id]
    if pieces:
        sizes.append(amount(cut.n_pieces, "piece"))
    sizes += [amount(cut.n_characters, "character"), amount(cut.n_bytes, "byte")]
    if cut.bytes_per_token is not None:
        sizes.append(f"{cut.bytes_per_token:.2f} bytes per token")
    return ", ".join(sizes)


def drawn(
    cuts: Sequence[Cut], names: Sequence[str], options: Options
) -> Iterator[Line]:
    """Yield the lines of a drawing: the counts of each tokenizer, the tokens, and what a mark means."""
    lines = list(_drawn(cuts, names, options))
    yield from lines
    parts = (run.text for line in lines for run in line if run.style.endswith(" part"))
    if mark := next(filter(SHARED.fullmatch, parts), None):
        yield []
        yield [Run(f"{mark} {mark[1:-1]} tokens that share a character", "note")]


def _drawn(
    cuts: Sequence[Cut], names: Sequence[str], options: Options
) -> Iterator[Line]:
    n_columns = min(max(map(width, map(visible, names))), NAME_COLUMNS)
    for number, (cut, name) in enumerate(zip(cuts, names, strict=True), 1):
        title = f"{number} {shortened(visible(name), n_columns)}  " * (len(cuts) > 1)
        line = [Run(title), *words(counts(cut, pieces=options.pieces), "note")]
        yield from folded(line, options.columns, width(title))
    if len(cuts) == 1:
        for [lines] in lines_of(cuts, options):
            yield from lines
        return
    n_prefix = len(str(len(cuts))) + 1
    if options.columns is not None:
        options = replace(options, columns=max(options.columns - n_prefix, 1))
    for rows in lines_of(cuts, options):
        yield []
        for number, lines in enumerate(rows, 1):
            for place, line in enumerate(lines):
                prefix = f"{'' if place else number:<{n_prefix}}"
                yield [Run(prefix, "note"), *line]


def shortened(name: str, n_columns: int) -> str:
    """Cut or fill a name to a width, in its middle, since names differ at their beginning or end.

    >>> shortened("models/small/tokenizer.json", 16), shortened("a.json", 8)
    ('models/…zer.json', 'a.json  ')
    """
    n_over = width(name) - n_columns
    if n_over <= 0:
        return fitted(name, n_columns)
    head = fitted(name, n_columns // 2).rstrip()
    parts = [glyph.text for glyph in glyphs(name.encode())]
    while width("".join(parts)) > n_columns - width(head):
        parts.pop(0)
    return fitted(head + "".join(parts), n_columns)
