"""``bytepair report``: a report about tokenizers as one HTML file."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bytepair import FormatError, TokenizerError
from bytepair._files import check_writable, refuse_no_name, write

from . import corpus_options
from .options import LoadingOptions
from .problems import remark
from .progress_line import ProgressLine
from .spreading import spread
from .stats import Baseline, ByFile, Group, Parallel, SegmenterName
from .tokenizers_first import TokenizerOption, short_names, told_apart

__all__ = ["report"]

Arguments = Annotated[
    list[str],
    typer.Argument(
        metavar="TOKENIZER... [CORPUS]",
        help="One or more tokenizers, then texts to measure them on: files, folders, globs, or "
        "URLs that fsspec opens. The corpus begins with the first argument that is not a "
        "tokenizer.",
        show_default=False,
    ),
]
Output = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="The .html file to write.",
        show_default=False,
    ),
]
Logs = Annotated[
    list[Path] | None,
    typer.Option(
        "--log",
        metavar="FILE",
        help="Draw the compression curve of this merge log, written by bytepair train --log. May "
        "be repeated.",
        show_default=False,
    ),
]


@spread
def report(
    arguments: Arguments,
    *,
    output: Output,
    tokenizer: TokenizerOption = None,
    log: Logs = None,
    segmenter: SegmenterName = None,
    group: Group = None,
    by_file: ByFile = False,
    parallel: Parallel = False,
    baseline: Baseline = None,
    reading: corpus_options.ReadingOptions,
    loading: LoadingOptions,
    quiet: corpus_options.Quiet = False,
) -> None:
    """Write a report about tokenizers as one HTML file."""
    from bytepair import _plots, read_log
    from bytepair.analyze import describe
    from bytepair.views.report import check_libraries, render

    check_output(output)
    check_libraries()
    paths, corpus = told_apart(arguments, tokenizer, default=None, may_be_nothing=True)
    options: dict[str, Any] = {
        "segmenter": segmenter,
        "group": group,
        "by_file": by_file,
        "parallel": parallel,
        "baseline": baseline,
    }
    if not corpus:
        refuse_idle({**options, **reading.given()})
    if "-" in corpus:
        message = "-: a report reads its texts several times; save them to a file first"
        raise TokenizerError(message)
    names = short_names(paths)
    logs = log or []
    line = ProgressLine(is_shown=not quiet)
    found = describe(
        dict(zip(names, loading.load_all(paths), strict=True)),
        corpus or None,
        files=dict(zip(names, paths, strict=True)),
        logs=dict(zip(_plots.distinct_names(logs), map(read_log, logs), strict=True)),
        **options,
        **reading.reading(),
        progress=line.show_bytes,
    )
    line.clear()
    write(output, render(found).encode())
    if not quiet:
        remark(f"saved: {output}")


def check_output(path: Path) -> None:
    """Refuse a path that is not an .html file, or that cannot be written."""
    refuse_no_name(path)
    if path.suffix.lower() not in (".html", ".htm"):
        message = f"{path}: the name of a report ends with .html"
        raise FormatError(message)
    check_writable(path.parent)


def refuse_idle(options: dict[str, object]) -> None:
    """Refuse options for reading a corpus if there is none."""
    for name, value in options.items():
        if value not in (None, False):
            message = f"{name}= needs a corpus; give its files after the tokenizers"
            raise TokenizerError(message)
