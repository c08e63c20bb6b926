"""``bytepair stats``: metrics of tokenizers on a corpus, side by side."""

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bytepair import Tokenizer, TokenizerError
from bytepair._io.files import check_writable, write_together

from . import corpus_options
from .colours import HEADING, VALUE, has_colours, paint
from .help_pages import DISPLAY
from .options import Added, AddedTokens, Json
from .problems import remark
from .progress_line import ProgressLine
from .spreading import spread
from .tokenizers_first import TokenizerOption, short_names, told_apart

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bytepair.analyze import Stats
    from bytepair.views._stats import Line

__all__ = ["stats"]

GROUPS = "Groups"
WRITTEN = (".json", ".csv", ".parquet", ".svg", ".png")

Arguments = Annotated[
    list[str],
    typer.Argument(
        metavar="TOKENIZER... CORPUS",
        help="One or more tokenizers, then the corpus: files, folders, globs, or URLs that "
        "fsspec opens; - is standard input. The corpus begins with the first argument that is "
        "not a tokenizer. File names set the formats, as for count-pieces.",
        show_default=False,
    ),
]
Group = Annotated[
    str | None,
    typer.Option(
        "--group",
        metavar="PATH",
        help="The field or column with the group of a document, such as its language.",
        show_default=False,
        rich_help_panel=GROUPS,
    ),
]
ByFile = Annotated[
    bool,
    typer.Option("--by-file", help="Each file is a group.", rich_help_panel=GROUPS),
]
Parallel = Annotated[
    bool,
    typer.Option(
        "--parallel",
        help="Compare the tokens of groups: their documents say the same, in the same order "
        "(or their lines, if each group is one document).",
        rich_help_panel=GROUPS,
    ),
]
Baseline = Annotated[
    str | None,
    typer.Option(
        metavar="GROUP",
        help="With --parallel: compare the other groups with this one.",
        show_default=False,
        rich_help_panel=GROUPS,
    ),
]
MetricKeys = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        metavar="KEY",
        help="A metric to show by group, with its name in --json. May be repeated.",
        show_default=False,
        rich_help_panel=GROUPS,
    ),
]
SegmenterName = Annotated[
    str | None,
    typer.Option(
        "--segmenter",
        metavar="NAME|REGEX",
        help="The definition of a word: whitespace (runs of characters other than white space), "
        "letters (runs of letters and marks), or a regular expression. Without it, words are "
        "not counted.",
        show_default=False,
    ),
]
Outputs = Annotated[
    list[Path] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write a file: .json, .csv or .parquet with the numbers, .svg or .png with plots. "
        "May be repeated.",
        show_default=False,
        rich_help_panel=DISPLAY,
    ),
]


@spread
def stats(
    arguments: Arguments,
    *,
    tokenizer: TokenizerOption = None,
    segmenter: SegmenterName = None,
    group: Group = None,
    by_file: ByFile = False,
    parallel: Parallel = False,
    baseline: Baseline = None,
    metric: MetricKeys = None,
    reading: corpus_options.ReadingOptions,
    added_tokens: AddedTokens = Added.FIND,
    output: Outputs = None,
    as_json: Json = False,
) -> None:
    """Measure tokenizers on a corpus, side by side.

    All ratios are ratios of sums over the whole corpus.
    """
    from bytepair.analyze import stats as measured

    outputs = output or []
    _check(outputs, metric or [])
    if as_json and metric is not None:
        message = "--metric affects only the table, which is not printed here"
        raise TokenizerError(message)
    if metric and not (group or by_file):
        message = (
            "--metric selects metrics to show by group; give --group or --by-file too"
        )
        raise TokenizerError(message)
    paths, corpus = told_apart(arguments, tokenizer, default=None)
    names = short_names(paths)
    tokenizers = dict(zip(names, map(Tokenizer.from_file, paths), strict=True))
    line = ProgressLine(is_shown=True)
    found = measured(
        tokenizers,
        corpus,
        group=group,
        by_file=by_file,
        parallel=parallel,
        baseline=baseline,
        segmenter=segmenter,
        **reading.reading(),
        added_tokens=added_tokens.value,
        progress=lambda done, total: line.show_bytes("measuring", done, total),
    )
    line.clear()
    write_together({path: _content(found, path) for path in outputs})
    if as_json:
        print(found.to_json())
    else:
        _print(found, metric)
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
            message = f'metric="{key}" is unknown; the metrics are {", ".join(METRICS)}'
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

    width = shutil.get_terminal_size().columns
    _print_lines(as_lines(found, width, metrics))


def _print_lines(lines: "Iterable[Line]") -> None:
    is_painted = has_colours(sys.stdout)
    colours = {"heading": HEADING, "names": VALUE}
    for line in lines:
        colour = colours.get(line.kind)
        print(paint(line.text, colour, is_painted=is_painted) if colour else line.text)
