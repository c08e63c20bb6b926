"""``bytepair stats``: metrics of tokenizers on a corpus, side by side."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from bytepair import TokenizerError
from bytepair._io.files import check_writable, write_together
from bytepair.cli.command import DISPLAY, Argument, Option, command
from bytepair.cli.corpus_options import READING_OPTIONS
from bytepair.cli.options import ADDED_TOKENS, JSON
from bytepair.cli.problems import remark
from bytepair.cli.progress_line import ProgressLine
from bytepair.cli.tokenizers_first import TOKENIZERS, load_all, told_apart
from bytepair.views._terminal import print_lines

if TYPE_CHECKING:
    from bytepair.analyze import Stats

__all__ = ["GROUP_OPTIONS", "SEGMENTER", "stats"]

GROUPS = "Groups"
WRITTEN = (".json", ".csv", ".parquet")

GROUP_OPTIONS = (
    Option(
        "--group PATH",
        "The field or column with the group of a document, such as its language.",
        group=GROUPS,
    ),
    Option("--by-file", "Each file is a group.", group=GROUPS),
    Option(
        "--baseline GROUP",
        "Compare the tokens of the other groups with this one: the documents of all groups say "
        "the same, in the same order (or their lines, if each group is one document).",
        group=GROUPS,
    ),
)
SEGMENTER = Option(
    "--segmenter NAME|REGEX",
    "The definition of a word: whitespace (runs of characters other than white space, the default), "
    "letters (runs of letters and marks), or a regular expression. Given, it also counts distinct words.",
)


@command(
    Argument(
        "arguments",
        "TOKENIZER... CORPUS...",
        "One or more tokenizers, then the corpus: files, folders, globs, or URLs that fsspec "
        "opens; - is standard input. The corpus begins with the first argument that is not a "
        "tokenizer. File names set the formats, as for count-pieces.",
        reads=True,
    ),
    TOKENIZERS,
    SEGMENTER,
    *GROUP_OPTIONS,
    *READING_OPTIONS,
    ADDED_TOKENS,
    Option(
        "-o, --output FILE...",
        "Write the numbers to a file: .json, .csv or .parquet. May be repeated.",
        name="outputs",
        type=Path,
        group=DISPLAY,
        writes=True,
    ),
    JSON,
)
def stats(
    arguments: list[str],
    *,
    tokenizers: list[Path] | None = None,
    outputs: list[Path] | None = None,
    as_json: bool = False,
    **options: Any,
) -> None:
    """Measure tokenizers on a corpus, side by side.

    All ratios are ratios of sums over the whole corpus.

    $ bytepair stats tokenizer.json corpus.txt
    $ bytepair stats tokenizer.json other.json corpus.txt
    $ bytepair stats tokenizer.json corpus.jsonl --group language -o stats.csv
    """
    from bytepair.analyze import stats as measured

    from .draw import as_lines

    outputs = outputs or []
    _check(outputs)
    paths, corpus = told_apart(arguments, tokenizers)
    with ProgressLine(is_shown=True).alive("loading") as line:
        found = measured(
            load_all(paths),
            corpus,
            **options,
            progress=lambda done, total: line.show_bytes("measuring", done, total),
        )
    write_together({path: _content(found, path) for path in outputs})
    if as_json:
        print(found.to_json())
    else:
        lines = as_lines(found, shutil.get_terminal_size().columns)
        print_lines(Console(highlight=False), lines)
    for path in outputs:
        remark(f"saved: {path}")


def _check(outputs: list[Path]) -> None:
    """Check outputs before the corpus is read."""
    for path in outputs:
        if path.suffix.lower() not in WRITTEN:
            message = (
                f"{path}: the name of an output ends with one of {', '.join(WRITTEN)}"
            )
            raise TokenizerError(message)
        check_writable(path.parent)


def _content(found: "Stats", path: Path) -> bytes:
    """Return the content of a file in the format of its extension."""
    suffix = path.suffix.lower()
    if suffix == ".json":
        return found.to_json().encode() + b"\n"
    if suffix == ".csv":
        return found.to_csv().encode()
    return found.to_parquet()
