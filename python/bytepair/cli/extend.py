"""``bytepair extend``: adds tokens to a tokenizer; all old ids stay.

Tokens come from a corpus, from a list of strings, or from another tokenizer. Foreseeable failures
are refused before any text is read: a path that cannot be written, a format that cannot hold the
base.
"""

import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair import TrainingError

from .command import LIMITS, Argument, Option, command, refuse_options
from .corpus_options import READING_OPTIONS
from .options import JSON, QUIET, TOKENIZER, new_tokenizer
from .problems import remark
from .sizes import number
from .streams import name_of
from .tokenizers_first import TokenizerPath
from .training_options import FILES, MAX_TOKEN_BYTES, MIN_COUNT
from .vocabulary_options import EMBEDDING_MAP, check_saving, finish

if TYPE_CHECKING:
    from bytepair.surgery import AdditionReport, ExtensionReport, Surgery

    Report = ExtensionReport | AdditionReport

__all__ = ["extend"]

MOST_ADDED = 1 << 31
WIDEST = 78


@command(
    TOKENIZER,
    Argument("corpus", "[FILES]...", FILES, reads=True),
    Option(
        "--add N",
        "How many tokens to learn from the files, such as 2000 or 2k. Fewer are added if the "
        "files have no more pairs.",
        type=number(0, MOST_ADDED),
    ),
    Option(
        "--strings FILE",
        "Add a token for each line of this file instead of learning from a corpus: a line that is "
        "encoded to two tokens becomes one. Spaces are significant. - is standard input.",
        reads=True,
    ),
    Option(
        "--from TOKENIZER",
        "Add the tokens of this tokenizer instead, in the order of its merges. Its added tokens, "
        "byte-fallback tokens and unknown token are left out.",
        name="other",
        type=TokenizerPath(),
        reads=True,
    ),
    Option(
        "--allow-helpers",
        "With --strings and --from: also add strings of more than two tokens, with tokens for "
        "their beginnings.",
    ),
    new_tokenizer(),
    EMBEDDING_MAP,
    *READING_OPTIONS,
    Option(
        "--scope SCRIPT...",
        "Learn only tokens that occur in no text without these characters, so that all other text "
        "keeps its ids: a script (Devanagari) or characters (U+0900-U+097F). May be repeated.",
        group=LIMITS,
    ),
    MIN_COUNT,
    MAX_TOKEN_BYTES,
    QUIET,
    JSON,
)
def extend(
    tokenizer_path: Path,
    corpus: list[str] | None = None,
    *,
    output: Path,
    strings: str | None = None,
    other: Path | None = None,
    embedding_map: Path | None = None,
    quiet: bool = False,
    as_json: bool = False,
    **options: Any,
) -> None:
    """Add tokens from a corpus, a list of strings or another tokenizer; all old ids stay.

    From a corpus, the tokens that shorten it most are learned; the curve shows what fewer would save.
    Old tokens, merges and added tokens keep their ids, new ids follow the largest one, and no text is
    encoded to more tokens than before.

    $ bytepair extend tokenizer.json new.txt --add 10 -o extended.json
    $ bytepair extend tokenizer.json --from other.json -o extended.json
    $ bytepair extend tokenizer.json --strings terms.txt -o extended.json
    """
    from bytepair import surgery
    from bytepair.surgery._surgery import Base

    from .train import Watch, weighted

    _check_source(corpus, strings, options.get("add"), other)
    base = Base.of(tokenizer_path)
    check_saving(base.tokenizer, output, embedding_map)
    start, watch = time.perf_counter(), Watch(is_shown=not quiet)
    found: Surgery[Any]
    if corpus:
        if "scope" in options:
            options["scope"] = ",".join(options["scope"]).split(",")
        needs_given = "is for --strings and --from, which are not given"
        refuse_options(options.keys() & {"allow_helpers"}, needs_given)
        found = surgery.extend(base, weighted(corpus), progress=watch, **options)
    else:
        source = "--from" if strings is None else "--strings"
        reason = f"is for learning from a corpus, and has no effect on {source}"
        refuse_options(options.keys() - {"allow_helpers"}, reason)
        if other is not None:
            found = surgery.merge_vocabularies(base, other, **options)
        else:
            found = surgery.add_strings(base, _lines_of(strings or ""), **options)
    drawn, said = _drawn(found.report), found.report.lines
    if not found.report.added and not _is_met(found.report):
        if drawn and not quiet:
            remark(*drawn)
        begin = "no token could be added"
        if other is not None:
            begin, said = f"{other}: {begin}; {said[0]}", said[1:]
        message = "; ".join([begin, *said[1:], "nothing is written"])
        raise TrainingError(message)
    finish(
        found,
        [*drawn, *watch.deferred, *said],
        output=output,
        embedding_map=embedding_map,
        quiet=quiet,
        as_json=as_json,
        seconds=round(time.perf_counter() - start, 3),
    )


def _check_source(
    corpus: list[str] | None,
    strings: str | None,
    add: int | None,
    other: Path | None,
) -> None:
    """Refuse several sources of tokens, no source, and files without a number of tokens."""
    n_sources = sum([bool(corpus), strings is not None, other is not None])
    if n_sources != 1:
        found = "several are" if n_sources else "none is"
        message = f"give either files to learn from, --strings or --from; {found} given"
        raise TrainingError(message)
    if corpus and add is None:
        message = "--add is missing: how many tokens to learn from the files"
        raise TrainingError(message)


def _lines_of(path: str) -> list[str]:
    """Return the lines of a file; bytes that are not UTF-8 become surrogates, which are refused later."""
    from bytepair.data._lists import read_list

    lines = read_list(path).removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if not lines[-1]:
        del lines[-1]
    if not lines:
        message = f"{name_of(path)} is empty; write each string on its own line"
        raise TrainingError(message)
    return [line.removesuffix(b"\r").decode(errors="surrogateescape") for line in lines]


def _is_met(report: "Report") -> bool:
    """Whether the request is met although nothing was added."""
    from bytepair.surgery import AdditionReport

    if isinstance(report, AdditionReport):
        return report.outcomes.keys() <= {"known", "repeated"}
    return report.asked == 0


def _drawn(report: "Report") -> list[str]:
    """Return the curve, or the strings that did not become tokens, as lines."""
    from bytepair.surgery import AdditionReport
    from bytepair.surgery._draw import curve_lines, row_lines

    width = min(shutil.get_terminal_size().columns, WIDEST)
    if isinstance(report, AdditionReport):
        return row_lines(report, width=width)
    return curve_lines(report, width=width)
