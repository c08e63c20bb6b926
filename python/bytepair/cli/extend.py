"""``bytepair extend``: adds tokens to a tokenizer; all old ids stay in place.

Tokens come from a corpus, from a list of strings, or from another tokenizer. Foreseeable failures are refused before any text is
read: a path that cannot be written, a format that cannot hold the base.
"""

import json
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bytepair import TrainingError

from . import corpus_options
from .help_pages import LIMITS
from .options import Json, NewTokenizer, Quiet, TokenizerPath
from .problems import remark
from .sizes import number
from .spreading import spread
from .streams import name_of
from .training_options import (
    FILES,
    MaxTokenBytes,
    MinCount,
)
from .vocabulary_options import Saving

if TYPE_CHECKING:
    from bytepair.surgery import AdditionReport, ExtensionReport, Surgery

    Report = ExtensionReport | AdditionReport

__all__ = ["extend"]

MOST_ADDED = 1 << 31
WIDEST = 78

Scope = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SCRIPT",
        help="Learn only tokens that occur in no text without these characters, so that all "
        "other text keeps its ids: a script (Devanagari) or characters (U+0900-U+097F). May be "
        "repeated.",
        show_default=False,
        rich_help_panel=LIMITS,
    ),
]


@dataclass(frozen=True)
class Limits:
    """Which tokens are learned from a corpus, by the names of :func:`bytepair.surgery.extend`."""

    scope: Scope = None
    min_count: MinCount = None
    max_token_bytes: MaxTokenBytes = None

    def given(self) -> dict[str, Any]:
        """Give the options that were typed, and ``None`` for the rest."""
        scope = self.scope and [part for item in self.scope for part in item.split(",")]
        return {**vars(self), "scope": scope}


@spread
def extend(
    tokenizer_path: TokenizerPath,
    corpus: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILES]", help=FILES, show_default=False),
    ] = None,
    *,
    add: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            parser=number(0, MOST_ADDED),
            help="How many tokens to learn from the files, such as 2000 or 2k. Fewer are added if the "
            "files have no more pairs.",
            show_default=False,
        ),
    ] = None,
    strings: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Add a token for each line of this file instead of learning from a corpus: a line that "
            "is encoded to two tokens becomes one. Spaces are significant. - is standard input.",
            show_default=False,
        ),
    ] = None,
    other: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="TOKENIZER",
            help="Add the tokens of this tokenizer instead, in the order of its merges. Its added "
            "tokens, byte-fallback tokens and unknown token are left out.",
            show_default=False,
        ),
    ] = None,
    allow_helpers: Annotated[
        bool,
        typer.Option(
            "--allow-helpers",
            help="With --strings and --from: also add strings of more than two tokens, with tokens "
            "for their beginnings.",
        ),
    ] = False,
    output: NewTokenizer,
    saving: Saving,
    reading: corpus_options.LearningOptions,
    limits: Limits,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Add tokens that a corpus needs, given strings, or another tokenizer's; all ids stay, and no text gets longer.

    From a corpus, the tokens that shorten it most are learned; the curve shows what fewer would save.
    Old tokens, merges and added tokens keep their ids, and new ids follow the largest one.
    """
    from bytepair import surgery
    from bytepair.surgery._surgery import Base

    from .train import Watch, weighted

    _check_source(corpus, strings, add, other)
    base = Base.of(tokenizer_path)
    saving.check(base.tokenizer, output)
    start, watch = time.perf_counter(), Watch(is_shown=not quiet)
    options: dict[str, Any] = {"add": add, **limits.given(), **reading.given()}
    given = {name: value for name, value in options.items() if value is not None}
    found: Surgery[Any]
    if corpus:
        _refuse_helpers(allow_helpers=allow_helpers)
        found = surgery.extend(base, weighted(corpus), progress=watch, **given)
    else:
        _refuse_learning(given, "--from" if strings is None else "--strings")
        found = (
            surgery.merge_vocabularies(base, other, allow_helpers=allow_helpers)
            if other is not None
            else surgery.add_strings(
                base, _lines_of(strings or ""), allow_helpers=allow_helpers
            )
        )
    drawn = _drawn(found.report)
    said = [
        line.replace("allow_helpers=True", "--allow-helpers")
        for line in found.report.lines
    ]
    if not found.report.added and not _is_met(found.report):
        if drawn and not quiet:
            remark(*drawn)
        begin = "no token could be added"
        if other is not None:
            begin, said = f"{other}: {begin}; {said[0]}", said[1:]
        message = "; ".join([begin, *said[1:], "nothing is written"])
        raise TrainingError(message)
    saved, written = saving.save(found, output)
    seconds = round(time.perf_counter() - start, 3)
    if not quiet:
        remark(*drawn, *watch.deferred, *said, *saved)
    if as_json:
        print(json.dumps({**found.report.to_json(), **written, "seconds": seconds}))


def _check_source(
    corpus: list[str] | None,
    strings: str | None,
    add: int | None,
    other: Path | None,
) -> None:
    """Refuse two sources of tokens, none, and files without a number of tokens."""
    n_sources = sum([bool(corpus), strings is not None, other is not None])
    if n_sources != 1:
        found = "several are" if n_sources else "none is"
        message = f"files to learn from, --strings, or --from: {found} given"
        raise TrainingError(message)
    if corpus and add is None:
        message = "--add is missing: how many tokens to learn from the files"
        raise TrainingError(message)


def _refuse_helpers(*, allow_helpers: bool) -> None:
    """Refuse helpers for a corpus, whose tokens need none."""
    if allow_helpers:
        message = "--allow-helpers is for --strings and --from, which are not given"
        raise TrainingError(message)


def _refuse_learning(options: dict[str, Any], option: str) -> None:
    """Refuse options of learning, where tokens are given."""
    for name in options:
        message = (
            f"{name}= is for learning from a corpus, and has no effect on {option}"
        )
        raise TrainingError(message)


def _lines_of(path: str) -> list[str]:
    """Read the lines of a file; bytes that are not UTF-8 become no valid text, which is reported."""
    from bytepair.data._lists import read_list

    lines = read_list(path).removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if not lines[-1]:
        del lines[-1]
    if not lines:
        message = f"{name_of(path)} is empty; write each string on its own line"
        raise TrainingError(message)
    return [line.removesuffix(b"\r").decode(errors="surrogateescape") for line in lines]


def _is_met(report: "Report") -> bool:
    """Tell whether what was asked for is there although nothing was added."""
    from bytepair.surgery import AdditionReport

    if isinstance(report, AdditionReport):
        return report.outcomes.keys() <= {"known", "repeated"}
    return report.asked == 0


def _drawn(report: "Report") -> list[str]:
    """Draw the curve, or list what did not become a token."""
    from bytepair.surgery import AdditionReport
    from bytepair.views._surgery import curve_lines, row_lines

    width = min(shutil.get_terminal_size().columns, WIDEST)
    if isinstance(report, AdditionReport):
        return row_lines(report, width=width)
    return curve_lines(report, width=width)
