"""Errors and remarks on standard error; an error begins with ``bytepair:`` and says what to do.

On a terminal the beginning is red. Names in both, such as those of files, are shown and not acted
upon.
"""

import difflib
import re
import sys
from typing import Any

import typer

from bytepair._labels import harmless

from .colours import PROBLEM, has_colours, paint
from .help_pages import usage_of

__all__ = ["INSTEAD", "UsageError", "remark", "tell", "tell_usage"]

UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""The exception that typer raises for wrong usage; it has no public name."""


INSTEAD = {
    "count": "bytepair count-pieces",
    "tokenize": "bytepair shard",
    "verify": "bytepair compare A B --exit-code",
    "merge-vocabularies": "bytepair extend BASE --from OTHER",
    "plot": "bytepair report TOKENIZER --log LOG -o OUT.html",
    "--corpus-format": "--input-format",
    "--mark-at": "--begin-of-document or --end-of-document",
    "--to": "--format",
    "--separator": "--document-separator, or JSON lines",
    "--skip-bad": "a corpus without these lines, or bytepair count-pieces --skip-bad",
    "--quiet": "2>/dev/null",
    "-q": "2>/dev/null",
    "--threads": "taskset --cpu-list 0-3 bytepair …",
    "--memory-limit": "bytepair count-pieces --memory-limit first",
    "--format": "bytepair convert",
    "--ids-may-change": "bytepair convert --ids-may-change",
    "--embedding-kind": "embedding_map in Python",
    "--embedding-side": "embedding_map in Python",
    "--embedding-multiple-of": "embedding_map in Python",
    "--csv": "-o FILE.csv",
    "--exit-zero": "|| true",
}
"""What to type in place of commands that do not exist, and of options that a command does not have."""


def tell(message: str) -> None:
    """Write an error."""
    begin = paint("bytepair:", PROBLEM, is_painted=has_colours(sys.stderr))
    over = "\r\x1b[K" if sys.stderr.isatty() else ""  # a line of progress
    shown = harmless(message, kept="\n")
    print(f"{over}{begin} {shown}", file=sys.stderr)


def remark(*lines: str) -> None:
    """Write lines of a summary, such as the file that was saved."""
    print("\n".join(map(harmless, lines)), file=sys.stderr)


def tell_usage(error: Any, chosen: typer.Context | None) -> None:  # noqa: ANN401 -- see UsageError
    """Write an error of wrong usage, the usage of the command, and how to get its help.

    Errors that do not name their command belong to the command that was chosen.
    """
    tell(in_our_words(error.format_message()))
    context = error.ctx or chosen
    if context is not None:
        usage = usage_of(context.command, context)
        print(f"\nUsage: {usage}", file=sys.stderr)
        print(f"For more, see: {context.command_path} --help", file=sys.stderr)


def in_our_words(message: str) -> str:
    """Write a message of typer as ours are written.

    >>> in_our_words("No such option: --line (Possible options: --lines, --limit)")
    'no such option: --line; did you mean --lines?'
    >>> in_our_words("No such command 'verify'.")
    'no such command: verify; use bytepair compare A B --exit-code'
    >>> in_our_words("Missing option '--output' / '-o'.")
    'missing option --output / -o'
    >>> in_our_words("Invalid value for '--merges': 'x' is not a number")
    "--merges: 'x' is not a number"
    >>> in_our_words(
    ...     "Invalid value for '--dropout': Input should be less than or equal to 1"
    ... )
    '--dropout must be at most 1'
    >>> in_our_words("Invalid value for '--output' / '-o': name a file")
    '--output / -o: name a file'
    >>> in_our_words("Invalid value for --lines: needs a corpus")
    '--lines needs a corpus'
    """
    message = re.sub(r"'(-[^' ]*)'", r"\1", message).removesuffix(".")
    typed = re.match(r"No such (option|command):? '?([\w-]+)", message)
    if typed and typed[2] in INSTEAD:
        return f"no such {typed[1]}: {typed[2]}; use {INSTEAD[typed[2]]}"
    if found := re.fullmatch(
        r"(No such .*?)[. ]+(?:\(|Did you mean )(.*)[)?]", message
    ):
        (wanted,) = re.findall(r"\S+$", found[1])
        names = re.findall(r"[^\s',]+", found[2].removeprefix("Possible options: "))
        near = difflib.get_close_matches(wanted.strip("'"), names, 1, cutoff=0)
        message = f"{found[1]}; did you mean {near[0]}?"
    if found := re.fullmatch(r"Invalid value(?: for (.+?))?: (.*)", message, re.DOTALL):
        return _about_value(found[1], found[2])
    return message[:1].lower() + message[1:]


def _about_value(option: str | None, reason: str) -> str:
    """Say what is wrong with the value of an option."""
    reason = reason.removeprefix("Value error, ")
    if reason.startswith("Input should be a valid integer"):
        reason = "is not a whole number"
    if reason.startswith("Input should be a valid number"):
        reason = "is not a number"
    if found := re.fullmatch(r"Input should be greater than or equal to (\S+)", reason):
        reason = f"must be at least {found[1]}"
    if found := re.fullmatch(r"Input should be less than or equal to (\S+)", reason):
        reason = f"must be at most {found[1]}"
    if option is None:
        return reason
    is_predicate = reason.startswith(("needs ", "is ", "has ", "must "))
    return f"{option}{'' if is_predicate else ':'} {reason}"
