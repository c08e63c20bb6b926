"""``bytepair report``: tokenizers side by side, as one file of HTML."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bytepair import FormatError, TokenizerError
from bytepair._files import check_writable, refuse_no_name, write

from . import corpus_options
from .options import LoadingOptions
from .progress_line import ProgressLine
from .spreading import spread
from .stats import Baseline, ByFile, Group, Parallel, SegmenterName
from .tokenizers_first import TokenizerOption, short_names, told_apart

__all__ = ["report"]

Arguments = Annotated[
    list[str],
    typer.Argument(
        metavar="TOKENIZER... [CORPUS]",
        help="One tokenizer or several, which stand side by side, then texts to measure them on: "
        "files, folders, globs, or URLs that fsspec opens. What is no tokenizer, and all after "
        "it, is the corpus.",
        show_default=False,
    ),
]
Output = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Where to save the report: an .html file.",
        show_default=False,
    ),
]
Logs = Annotated[
    list[Path] | None,
    typer.Option(
        "--log",
        metavar="FILE",
        help="A merge log that bytepair train --log wrote, whose compression is drawn. May be "
        "repeated.",
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
    """Write what is known of tokenizers as one HTML file."""
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
        message = "-: a report reads its texts several times; save them as a file"
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


def check_output(path: Path) -> None:
    """Refuse a path that is no page, or cannot be written."""
    refuse_no_name(path)
    if path.suffix.lower() not in (".html", ".htm"):
        message = f"{path}: a report is an .html file; name one"
        raise FormatError(message)
    check_writable(path.parent)


def refuse_idle(options: dict[str, object]) -> None:
    """Refuse options that say how to read a corpus, where there is none."""
    for name, value in options.items():
        if value not in (None, False):
            message = f"{name}= needs a corpus: name files behind the tokenizers"
            raise TokenizerError(message)
