"""``bytepair segment``: lines to lines with their words cut apart, ``lo@@ w``.

Memory holds a few megabytes of lines for each thread. Words and lines are those of
``subword-nmt apply-bpe``.
"""

import contextlib
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from bytepair._io.files import check_writable, expand, writing, writing_together
from bytepair.errors import EncodingError
from bytepair.segmentation import Segmenter, count_words, vocabulary_bytes

from .options import Output
from .progress_line import ProgressLine
from .sizes import number
from .streams import name_of, reading, refuse_no_text, writing_to
from .training_options import Threads

__all__ = ["segment"]

BLOCK_LEN = 1 << 20
"""How much of a file is read at once, in bytes; a longer line is read whole."""


def segment(
    codes: Annotated[
        Path,
        typer.Argument(
            metavar="CODES",
            help="Codes of subword-nmt or fastBPE, or a tokenizer that could be written "
            "as such codes.",
            show_default=False,
        ),
    ],
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILES]",
            help="Text files or globs; - is standard input, which is read by default.",
            show_default=False,
        ),
    ] = None,
    *,
    output: Output = "-",
    vocabulary: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A file with a token and its count on each line: parts that are not in "
            "it are split again.",
            show_default=False,
        ),
    ] = None,
    vocabulary_threshold: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            parser=number(),
            help="Leave out tokens of the vocabulary with a lower count.",
            show_default=False,
        ),
    ] = None,
    glossaries: Annotated[
        list[str] | None,
        typer.Option(
            metavar="REGEX",
            help="Never split text that matches this Python regular expression. May be repeated.",
            show_default=False,
        ),
    ] = None,
    separator: Annotated[
        str,
        typer.Option(
            metavar="TEXT",
            help="The text to put after each part of a word except the last.",
        ),
    ] = "@@",
    merges: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            parser=number(),
            help="Use the first N merges; by default all.",
            show_default=False,
        ),
    ] = None,
    dropout: Annotated[
        float,
        typer.Option(
            metavar="P",
            min=0,
            max=1,
            help="Skip each merge with this probability, for training data.",
        ),
    ] = 0.0,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Make --dropout repeatable; by default each run differs.",
            show_default=False,
        ),
    ] = None,
    counted: Annotated[
        Path | None,
        typer.Option(
            "--write-vocabulary",
            metavar="FILE",
            help="Write each token of the output and its count, as subword-nmt get-vocab "
            "does.",
            show_default=False,
        ),
    ] = None,
    threads: Threads = None,
) -> None:
    """Split words with subword-nmt or fastBPE codes: low@@ er."""
    if vocabulary_threshold is not None and vocabulary is None:
        message = "needs --vocabulary"
        raise typer.BadParameter(message, param_hint="--vocabulary-threshold")
    if seed is not None and not dropout:
        message = "needs --dropout above 0"
        raise typer.BadParameter(message, param_hint="--seed")
    segmenter = Segmenter(
        codes,
        vocabulary=vocabulary,
        threshold=vocabulary_threshold,
        glossaries=glossaries or (),
        separator=separator,
        merges=merges,
    )
    if counted is not None:
        check_writable(counted.parent)
    counts: Counter[str] = Counter()
    paths = expand(files or ["-"])
    progress = Progress(paths, output)
    with writing_both(output, counted) as (target, vocabulary_file):
        for text in segmenter.segment_lines(
            progress.counted(blocks_of(paths)),
            dropout=dropout,
            seed=seed,
            threads=threads,
        ):
            target.write(text.encode())
            if counted is not None:
                counts.update(count_words([text]))
        if vocabulary_file is not None:
            vocabulary_file.write(vocabulary_bytes(counts))
    progress.line.clear()


@contextlib.contextmanager
def writing_both(
    output: str, counted: Path | None
) -> Iterator[tuple[BinaryIO, BinaryIO | None]]:
    """Open the text and, if it is asked for, the vocabulary: both appear, or neither does."""
    if counted is None:
        with writing_to(output) as target:
            yield target, None
    elif output == "-":
        with writing_to(output) as target, writing(counted) as vocabulary:
            yield target, vocabulary
    else:
        with writing_together(Path(output), counted) as (target, vocabulary):
            yield target, vocabulary


class Progress:
    """Shows how much of some files is read."""

    def __init__(self, paths: list[str], output: str) -> None:
        is_beside = output == "-" and sys.stdout.isatty()
        self.line = ProgressLine(is_shown=not is_beside)
        sizes = [
            Path(path).stat().st_size if Path(path).is_file() else None
            for path in paths
        ]
        known = [size for size in sizes if size is not None]
        self.total = sum(known) if len(known) == len(sizes) else None

    def counted(self, blocks: Iterator[str]) -> Iterator[str]:
        """Give blocks, and show how far reading has come."""
        n_bytes = 0
        for block in blocks:
            yield block
            n_bytes += len(block.encode()) if self.line.is_shown else 0
            self.line.show_bytes("segmenting", n_bytes, self.total)


def blocks_of(files: list[str]) -> Iterator[str]:
    """Read files as blocks of whole lines; the last line of each file but the last ends."""
    for file in files:
        refuse_no_text(file)
    for place, file in enumerate(files, 1):
        n_lines = 0
        block = b""
        with reading(file) as source:
            for block in whole_lines(source):
                yield decoded(block, name_of(file), n_lines)
                n_lines += block.count(b"\n")
        if block and place < len(files) and not block.endswith((b"\n", b"\r")):
            yield "\n"


def whole_lines(source: BinaryIO, block_len: int = BLOCK_LEN) -> Iterator[bytes]:
    r"""Cut a file into blocks that end with a line.

    >>> import io
    >>> list(whole_lines(io.BytesIO(b"one\ntwo\nthree"), block_len=6))
    [b'one\n', b'two\n', b'three']
    """
    kept: list[bytes] = []
    while data := source.read(block_len):
        end = data.rfind(b"\n") + 1
        if not end:
            kept.append(data)
            continue
        yield b"".join([*kept, data[:end]])
        kept = [data[end:]] if data[end:] else []
    if kept:
        yield b"".join(kept)


def decoded(block: bytes, name: str, n_lines_before: int) -> str:
    """Read UTF-8, or say in which line it is not."""
    try:
        return block.decode()
    except UnicodeDecodeError as error:
        line = n_lines_before + block.count(b"\n", 0, error.start) + 1
        message = f"{name}: line {line} is not UTF-8"
        raise EncodingError(message) from error
