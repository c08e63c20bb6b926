"""``bytepair report``: a report about tokenizers as one HTML file.

A corpus is read several times, so standard input and pipes are copied to temporary files first.
"""

import contextlib
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from bytepair import FileError, FormatError, Tokenizer, TokenizerError
from bytepair._io.files import check_writable, refuse_no_name, write
from bytepair._io.temporary import TemporaryFolder

from . import corpus_options
from .problems import remark
from .progress_line import ProgressLine
from .spreading import spread
from .stats import Baseline, ByFile, Group, Parallel, SegmenterName
from .streams import reading as opened
from .tokenizers_first import TokenizerOption, short_names, told_apart

__all__ = ["report"]

BLOCK_LEN = 1 << 20

Arguments = Annotated[
    list[str],
    typer.Argument(
        metavar="TOKENIZER... [CORPUS]",
        help="One or more tokenizers, then texts to measure them on: files, folders, globs, or "
        "URLs that fsspec opens; - is standard input. The corpus begins with the first argument that is not a "
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
) -> None:
    """Write a report about tokenizers as one HTML file."""
    from bytepair import read_log
    from bytepair._training import plots
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
    names = short_names(paths)
    logs = log or []
    line = ProgressLine(is_shown=True)
    tokenizers = dict(zip(names, map(Tokenizer.from_file, paths), strict=True))
    curves = dict(zip(plots.distinct_names(logs), map(read_log, logs), strict=True))
    with in_files(corpus, line) as files:
        found = describe(
            tokenizers,
            files or None,
            files=dict(zip(names, paths, strict=True)),
            logs=curves,
            **options,
            **reading.reading(),
            progress=line.show_bytes,
        )
    line.clear()
    write(output, render(found).encode())
    remark(f"saved: {output}")


def check_output(path: Path, what: str = "a report") -> None:
    """Refuse a path that is not an .html file, or that cannot be written."""
    refuse_no_name(path)
    if path.suffix.lower() not in (".html", ".htm"):
        message = f"{path}: the name of {what} ends with .html"
        raise FormatError(message)
    check_writable(path.parent)


@contextlib.contextmanager
def in_files(corpus: list[str], line: ProgressLine) -> Iterator[list[str]]:
    """Copy what can be read only once to files, and name them as the user did in errors."""
    streams = [name for name in dict.fromkeys(corpus) if is_stream(name)]
    if not streams:
        yield corpus
        return
    if corpus.count("-") > 1:
        message = "standard input (-) is named twice, and can be read only once"
        raise FileError(message)
    with TemporaryFolder() as folder:
        copies: dict[str, str] = {}
        for name in streams:
            title = "standard input" if name == "-" else Path(name).name
            place = Path(folder, str(len(copies)))
            place.mkdir()
            copies[name] = str(place / title)
            copy(name, copies[name], line)
        try:
            yield [copies.get(name, name) for name in corpus]
        except TokenizerError as error:
            message = str(error)
            for name, path in copies.items():
                message = message.replace(path, name)
            raise type(error)(message) from error


def is_stream(name: str) -> bool:
    """Tell standard input, a pipe and a device from what can be read again."""
    if name == "-":
        return True
    try:
        mode = Path(name).stat().st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def copy(name: str, path: str, line: ProgressLine) -> None:
    """Copy a stream to a file."""
    n_bytes = 0
    try:
        with opened(name) as source, Path(path).open("wb") as target:
            while block := source.read(BLOCK_LEN):
                target.write(block)
                n_bytes += len(block)
                line.show_bytes("copying", n_bytes, None)
    except OSError as error:
        message = f"{path}: {error.strerror or error}"
        raise FileError(message) from error


def refuse_idle(options: dict[str, object]) -> None:
    """Refuse options for reading a corpus if there is none."""
    for name, value in options.items():
        if value not in (None, False):
            message = f"{name}= needs a corpus; give its files after the tokenizers"
            raise TokenizerError(message)
