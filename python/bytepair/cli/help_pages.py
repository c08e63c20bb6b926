"""Help pages: what a command does, its usage, and its options in groups.

A page is as wide as the terminal, up to a readable width. On a narrow terminal, an explanation is
below its option instead of beside it. No text is cut.
"""

import re
import shutil
import sys
import textwrap
from typing import Any

import typer
from typer.core import TyperCommand

from .clashes import refuse_same_files
from .colours import HEADING, LITERAL, VALUE, has_colours, paint

__all__ = [
    "DIALECT",
    "DISPLAY",
    "LIMITS",
    "LOADING",
    "READING",
    "WORK",
    "Command",
    "page",
    "sections_of",
]

MAX_WIDTH = 100
MIN_WIDTH_BESIDE = 70
MAX_TERM_LEN = 28
"""Longer terms, such as options with many choices, have their explanation below."""
DIALECT = "Dialect options"
LIMITS = "Learning limits"
READING = "Corpus options"
LOADING = "Tokenizer options"
WORK = "Performance options"
"""Groups of options that several commands have."""
DISPLAY = "Display options"
"""The group at the end of each page: what is shown, and ``--help``."""
SHOWING = {"--help", "--json", "--quiet", "--verbose"}
"""Options that are in this group, whatever group they name."""
SHARED = (LOADING, READING, WORK, DISPLAY)
"""Groups that several commands have, in the order in which they end a page."""

Row = tuple[str, str]
Sections = dict[str, list[Row]]


class Command(TyperCommand):
    """A command whose help has its options in groups, and which writes over nothing that it reads."""

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]  # noqa: ANN401
        """Run the command, if its files are different ones."""
        refuse_same_files(self.params, ctx.params)
        return super().invoke(ctx)

    def format_help(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]  # noqa: ANN401
        """Write the help page."""
        formatter.write(page(self, ctx, sections_of(self, ctx)))


def sections_of(command: Any, ctx: typer.Context) -> Sections:  # noqa: ANN401 -- a command or a group
    """List arguments and options with their help, by the group that each names."""
    found: Sections = {"Arguments": [], "Options": []}
    last: list[Row] = []
    for param in command.get_params(ctx):
        record = param.get_help_record(ctx)
        if record is None:
            continue
        named = getattr(param, "rich_help_panel", None)
        term, text = record[0], _without_bounds(record[1])
        record = term, text
        if param.param_type_name == "argument":
            row = (_name_of(param), text.removesuffix("[required]").rstrip())
            found["Arguments"].append(row)
        elif named == DISPLAY or not SHOWING.isdisjoint(param.opts):
            last.append(record)
        else:
            found.setdefault(named or "Options", []).append(record)
    is_alone = len(last) == 1 and not (found.keys() - {"Arguments", "Options"})
    group = "Options" if is_alone else DISPLAY
    found[group] = [*found.get(group, []), *last]
    names = [name for name in found if name not in SHARED]
    names += [name for name in SHARED if name in found]
    return {name: found[name] for name in names if found[name]}


def page(command: Any, ctx: typer.Context, sections: Sections) -> str:  # noqa: ANN401
    """Lay out a help page."""
    width = min(shutil.get_terminal_size().columns, MAX_WIDTH)
    is_painted = has_colours(sys.stdout)
    paragraphs = [wrapped(text, width) for text in (command.help or "").split("\n\n")]
    parts = ["\n".join(lines) for lines in paragraphs if lines]
    heading = paint("Usage:", HEADING, is_painted=is_painted)
    indent = len("Usage: ")
    lines = wrapped(usage_of(command, ctx), width - indent)
    parts.append(f"{heading} " + ("\n" + " " * indent).join(lines))
    all_rows = [row for rows in sections.values() for row in rows]
    column = column_of(all_rows) if width >= MIN_WIDTH_BESIDE else 0
    for name, rows in sections.items():
        title = paint(f"{name}:", HEADING, is_painted=is_painted)
        lines = laid_out(rows, width, column, is_painted=is_painted)
        parts.append("\n".join([title, *lines]))
    return "\n\n".join(parts) + "\n"


def usage_of(command: Any, ctx: typer.Context) -> str:  # noqa: ANN401
    """Write how a command is called: its name, and its arguments in their order."""
    arguments = [p for p in command.get_params(ctx) if p.param_type_name == "argument"]
    pieces = [_name_of(param) for param in arguments]
    if not pieces:
        pieces = command.collect_usage_pieces(ctx)[1:]
    return " ".join([ctx.command_path, "[OPTIONS]", *pieces])


def column_of(rows: list[Row]) -> int:
    """Choose where explanations begin, beside all terms but the longest.

    >>> column_of(
    ...     [("-o FILE", ""), ("--quiet", ""), ("--such-a-long-option <a|b|c|d>", "")]
    ... )
    11
    """
    lens = [len(term) for term, _text in rows]
    return max((n for n in lens if n <= MAX_TERM_LEN), default=0) + 4


def laid_out(
    rows: list[Row], width: int, column: int, *, is_painted: bool = False
) -> list[str]:
    """Write terms with their explanations from a column on, or below for column 0.

    >>> for line in laid_out([("-o FILE", "Where to write."), ("--quiet", "")], 80, 11):
    ...     print(line)
      -o FILE  Where to write.
      --quiet
    >>> for line in laid_out([("-o FILE", "Where to write the ids.")], 20, 0):
    ...     print(line)
      -o FILE
          Where to write
          the ids.
    """
    lines: list[str] = []
    for term, text in rows:
        shown = "  " + (_painted_term(term) if is_painted else term)
        room = column - 2 - len(term)
        indent = " " * (column or 6)
        found = wrapped(text, width - len(indent))
        if room >= 2 and found:
            shown += " " * room + found.pop(0)
        lines += [shown, *(indent + line for line in found)]
    return lines


def wrapped(text: str, width: int) -> list[str]:
    """Break a text into lines at its spaces, but not inside of ``[default: …]``."""
    kept = text.replace("[default: ", "[default:\N{NO-BREAK SPACE}")
    lines = textwrap.wrap(
        kept, max(width, 12), break_long_words=False, break_on_hyphens=False
    )
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


def _without_bounds(text: str) -> str:
    """Leave out bounds that go without saying.

    >>> _without_bounds("How many.  [default: 1; x>=1]"), _without_bounds("N.  [x>=0]")
    ('How many.  [default: 1]', 'N.')
    """
    return re.sub(
        r"(?:; |  \[)x>=[01]\]$", lambda m: "]" if m[0][0] == ";" else "", text
    )


def _name_of(argument: Any) -> str:  # noqa: ANN401
    """Write an argument as in a usage line: in brackets where it may be left out."""
    name = str(argument.metavar or argument.name.upper())
    if " " in name:  # says all by itself
        return name
    name = name.strip("[]")
    more = "..." if argument.nargs == -1 else ""
    return f"{name}{more}" if argument.required else f"[{name}]{more}"


def _painted_term(term: str) -> str:
    """Give options one colour and what they take another."""
    return " ".join(
        paint(word, VALUE if _is_value(word) else LITERAL, is_painted=True)
        for word in term.split(" ")
    )


def _is_value(word: str) -> bool:
    return word[0] in "<[" or word.strip(".").isupper()
