"""``bytepair stats``: metrics of tokenizers on a corpus, side by side."""

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair import TokenizerError
from bytepair._io.files import check_writable, write_together
from bytepair._terminal import has_colours, paint

from .command import DISPLAY, Argument, Option, command
from .corpus_options import READING_OPTIONS
from .options import ADDED_TOKENS, JSON
from .problems import remark
from .progress_line import ProgressLine
from .tokenizers_first import TOKENIZERS, load_all, told_apart

if TYPE_CHECKING:
    from bytepair.analyze import Stats

__all__ = ["GROUP_OPTIONS", "SEGMENTER", "stats"]

GROUPS = "Groups"
COLOURS = {"heading": "1;32", "names": "36"}
"""Bold green and cyan."""
WRITTEN = (".json", ".csv", ".parquet", ".svg", ".png")

GROUP_OPTIONS = (
    Option(
        "--group PATH",
        "The field or column with the group of a document, such as its language.",
        group=GROUPS,
    ),
    Option("--by-file", "Each file is a group.", group=GROUPS),
    Option(
        "--parallel",
        "Compare the tokens of groups: their documents say the same, in the same order (or their "
        "lines, if each group is one document).",
        group=GROUPS,
    ),
    Option(
        "--baseline GROUP",
        "With --parallel: compare the other groups with this one.",
        group=GROUPS,
    ),
)
SEGMENTER = Option(
    "--segmenter NAME|REGEX",
    "The definition of a word: whitespace (runs of characters other than white space), letters "
    "(runs of letters and marks), or a regular expression. Without it, words are not counted.",
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
    Option(
        "--metric KEY...",
        "A metric to show by group, with its name in --json. May be repeated.",
        name="metrics",
        group=GROUPS,
    ),
    *READING_OPTIONS,
    ADDED_TOKENS,
    Option(
        "-o, --output FILE...",
        "Write a file: .json, .csv or .parquet with the numbers, .svg or .png with plots. May be "
        "repeated.",
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
    metrics: list[str] | None = None,
    outputs: list[Path] | None = None,
    as_json: bool = False,
    **options: Any,
) -> None:
    """Measure tokenizers on a corpus, side by side.

    All ratios are ratios of sums over the whole corpus.
    """
    from bytepair.analyze import stats as measured

    outputs = outputs or []
    _check(outputs, metrics or [])
    if as_json and metrics is not None:
        message = "--metric affects only the table, which is not printed here"
        raise TokenizerError(message)
    if metrics and not (options.get("group") or options.get("by_file")):
        message = (
            "--metric selects metrics to show by group; give --group or --by-file too"
        )
        raise TokenizerError(message)
    paths, corpus = told_apart(arguments, tokenizers, default=None)
    line = ProgressLine(is_shown=True)
    found = measured(
        load_all(paths),
        corpus,
        **options,
        progress=lambda done, total: line.show_bytes("measuring", done, total),
    )
    line.clear()
    write_together({path: _content(found, path) for path in outputs})
    if as_json:
        print(found.to_json())
    else:
        _print(found, metrics)
    for path in outputs:
        remark(f"saved: {path}")


def _check(outputs: list[Path], metrics: list[str]) -> None:
    """Check outputs and metrics before the corpus is read."""
    from bytepair.analyze import METRICS

    for path in outputs:
        if path.suffix.lower() not in WRITTEN:
            message = (
                f"{path}: the name of an output ends with one of {', '.join(WRITTEN)}"
            )
            raise TokenizerError(message)
        check_writable(path.parent)
    for key in metrics:
        if key not in METRICS:
            message = f"--metric {key} is unknown; the metrics are {', '.join(METRICS)}"
            raise TokenizerError(message)


def _content(found: "Stats", path: Path) -> bytes:
    """Give the content of a file in the format of its extension."""
    suffix = path.suffix.lower()
    if suffix == ".json":
        return found.to_json().encode() + b"\n"
    if suffix == ".csv":
        return found.to_csv().encode()
    if suffix == ".parquet":
        return found.to_parquet()
    from bytepair._training import plots
    from bytepair.views._stats_figure import figure_of

    return plots.drawn(lambda: figure_of(found), path)


def _print(found: "Stats", metrics: list[str] | None) -> None:
    from bytepair.views._stats import as_lines

    is_painted = has_colours(sys.stdout)
    for line in as_lines(found, shutil.get_terminal_size().columns, metrics):
        colour = COLOURS.get(line.kind)
        print(paint(line.text, colour, is_painted=is_painted) if colour else line.text)
