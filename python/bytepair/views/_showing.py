"""A text in tokens, as ``bytepair show`` and ``Tokenizer.show`` draw it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from textwrap import wrap

from bytepair._plurals import amount
from bytepair._results import abridged
from bytepair.analyze._cuts import Cut

from ._glyphs import fitted, glyphs, visible, width
from ._html import page_of_rows
from ._layout import Line, Options, Run, lines_of
from ._terminal import plain

__all__ = ["Shown", "counts", "drawn"]

NAME_COLUMNS, MIN_COLUMNS = 24, 20
NEVER = 1 << 30


@dataclass(frozen=True, repr=False)
class Shown:
    """A text in tokens: brackets when printed, colours in a notebook.

    Attributes
    ----------
    cuts
        The data: one :class:`bytepair.analyze.Cut` for each tokenizer.
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
        names = [visible(name) for name in self.names]
        titles = [
            f"{name}: {counts(cut)}" if name else counts(cut)
            for name, cut in zip(names, self.cuts, strict=True)
        ]
        return page_of_rows(self.cuts, titles, self.options)


def counts(cut: Cut, *, pieces: bool = False) -> str:
    """Write the length of a text.

    >>> counts(Cut(b"", (), 0))
    '0 tokens, 0 characters, 0 bytes'
    """
    found = [amount(cut.n_tokens, "token") + without_id(cut.n_missing)]
    if pieces:
        found.append(amount(cut.n_pieces, "piece"))
    found += [amount(cut.n_characters, "character"), amount(cut.n_bytes, "byte")]
    if cut.bytes_per_token is not None:
        found.append(f"{cut.bytes_per_token:.2f} bytes per token")
    return ", ".join(found)


def without_id(n_missing: int) -> str:
    """Say how many of some tokens have no id, if any.

    >>> without_id(0), without_id(1200)
    ('', ' (1,200 without an id)')
    """
    return f" ({n_missing:,} without an id)" if n_missing else ""


def drawn(
    cuts: Sequence[Cut], names: Sequence[str], options: Options
) -> Iterator[Line]:
    """Give the lines of a drawing: the counts of each tokenizer, and the tokens."""
    if len(cuts) == 1:
        yield from _headline("", counts(cuts[0], pieces=options.pieces), options)
        for rows in lines_of(cuts, options):
            yield from rows[0]
        return
    n_columns = min(max(map(width, map(visible, names))), NAME_COLUMNS)
    for number, (cut, name) in enumerate(zip(cuts, names, strict=True), 1):
        named = f"{number} {shortened(visible(name), n_columns)}  "
        yield from _headline(named, counts(cut, pieces=options.pieces), options)
    n_prefix = len(str(len(cuts))) + 1
    if options.columns is not None:
        options = replace(options, columns=max(options.columns - n_prefix, 1))
    for rows in lines_of(cuts, options):
        yield []
        for number, lines in enumerate(rows, 1):
            prefixes = [f"{number:<{n_prefix}}", *[" " * n_prefix] * (len(lines) - 1)]
            for prefix, line in zip(prefixes, lines, strict=True):
                yield [Run(prefix, None, is_note=True), *line]


def shortened(name: str, n_columns: int) -> str:
    """Cut a name in its middle, since names differ at their beginning or end, or fill it.

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


def _headline(name: str, text: str, options: Options) -> Iterator[Line]:
    """Draw a name with counts beside it, in several lines if one is too narrow."""
    room = max((options.columns or NEVER) - width(name), MIN_COLUMNS)
    indent = " " * width(name)
    for number, line in enumerate(wrap(text, room, break_long_words=False)):
        yield [Run(indent if number else name), Run(line, None, is_note=True)]
