"""``bytepair report``: a report about tokenizers as one HTML file.

A corpus is read several times, so standard input and pipes are copied to temporary files first.
"""

import contextlib
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bytepair import FileError, FormatError, TokenizerError
from bytepair._io.files import check_writable, refuse_no_name, write
from bytepair._io.temporary import TemporaryFolder
from bytepair.analyze._stats.command import GROUP_OPTIONS, SEGMENTER
from bytepair.cli.command import Argument, Option, command, refuse_options
from bytepair.cli.corpus_options import READING_OPTIONS
from bytepair.cli.problems import remark
from bytepair.cli.progress_line import ProgressLine
from bytepair.cli.streams import reading as opened
from bytepair.cli.tokenizers_first import TOKENIZERS, load_all, told_apart

__all__ = ["report"]

BLOCK_LEN = 1 << 20


@command(
    Argument(
        "arguments",
        "TOKENIZER... [CORPUS]...",
        "One or more tokenizers, then texts to measure them on: files, folders, globs, or URLs "
        "that fsspec opens; - is standard input. The corpus begins with the first argument that "
        "is not a tokenizer.",
        reads=True,
    ),
    Option(
        "-o, --output FILE",
        "The .html file to write.",
        type=Path,
        required=True,
        writes=True,
    ),
    TOKENIZERS,
    Option(
        "--log FILE...",
        "Draw the compression curve of this merge log, written by bytepair train --log. May be "
        "repeated.",
        name="logs",
        type=Path,
        reads=True,
    ),
    SEGMENTER,
    *GROUP_OPTIONS,
    *READING_OPTIONS,
)
def report(
    arguments: list[str],
    *,
    output: Path,
    tokenizers: list[Path] | None = None,
    logs: list[Path] | None = None,
    **options: Any,
) -> None:
    """Write a report about tokenizers as one HTML file.

    $ bytepair report tokenizer.json -o report.html
    $ bytepair report tokenizer.json other.json corpus.txt -o report.html
    $ bytepair report tokenizer.json corpus.jsonl --group language -o report.html
    """
    from bytepair import read_log
    from bytepair.analyze import describe

    from .draw import check_libraries, render

    check_output(output)
    check_libraries()
    paths, corpus = told_apart(arguments, tokenizers, may_be_nothing=True)
    if not corpus:
        refuse_options(options, "needs a corpus; give its files after the tokenizers")
    logs = logs or []
    tokenizers_by_name = load_all(paths)
    curves = dict(zip(log_names(logs), map(read_log, logs), strict=True))
    with (
        ProgressLine(is_shown=True).alive("examining") as line,
        in_files(corpus, line) as files,
    ):
        found = describe(
            tokenizers_by_name,
            files or None,
            files=dict(zip(tokenizers_by_name, paths, strict=True)),
            logs=curves,
            **options,
            progress=line.show_bytes,
        )
        line.doing = "drawing"
        page = render(found).encode()
    write(output, page)
    remark(f"saved: {output}")


def log_names(paths: list[Path]) -> list[str]:
    """Name logs by their stems, or by their paths if stems are not distinct.

    >>> log_names([Path("a/x.jsonl"), Path("b/y.jsonl")])
    ['x', 'y']
    """
    for names in ([path.stem for path in paths], list(map(str, paths))):
        if len(set(names)) == len(names):
            return names
    message = "a log is named twice"
    raise TokenizerError(message)


def check_output(path: Path, what: str = "a report") -> None:
    """Refuse a path that is not an .html file, or that cannot be written."""
    refuse_no_name(path)
    if path.suffix.lower() not in (".html", ".htm"):
        message = f"{path}: the name of {what} ends with .html"
        raise FormatError(message)
    check_writable(path.parent)


@contextlib.contextmanager
def in_files(corpus: list[str], line: ProgressLine) -> Iterator[list[str]]:
    """Yield a corpus with streams copied to files; errors name them as the user did."""
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
    """Return whether this is standard input, a pipe or a device, which can be read only once."""
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
