"""``bytepair segment``: lines to lines with their words split into parts, ``lo@@ w``.

A few megabytes of lines are in memory for each thread. Words and lines are those of
``subword-nmt apply-bpe``.
"""

import contextlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import click

from bytepair._io.files import check_writable, expand, writing, writing_together
from bytepair.errors import EncodingError
from bytepair.segmentation import Segmenter, count_words, vocabulary_bytes

from .command import Argument, Option, command
from .options import OUTPUT
from .sizes import number
from .streams import name_of, reading, refuse_no_text, writing_to
from .transfer import Transfer

__all__ = ["segment"]

BLOCK_LEN = 1 << 20
"""How much of a file is read at once, in bytes; a longer line is read whole."""


@command(
    Argument(
        "codes",
        "CODES",
        "Codes of subword-nmt or fastBPE, or a tokenizer that could be written as such codes.",
        type=Path,
        reads=True,
    ),
    Argument(
        "files",
        "[FILES]...",
        "Text files or globs; - is standard input, which is read by default.",
        reads=True,
    ),
    OUTPUT,
    Option(
        "--vocabulary FILE",
        "A file with a token and its count on each line: parts that are not in it are split again.",
        type=Path,
        reads=True,
    ),
    Option(
        "--vocabulary-threshold N",
        "Leave out tokens of the vocabulary with a lower count.",
        name="threshold",
        type=number(),
    ),
    Option(
        "--glossaries REGEX...",
        "Never split text that matches this Python regular expression. May be repeated.",
    ),
    Option(
        "--separator TEXT",
        "The text to put after each part of a word except the last, by default @@.",
    ),
    Option("--merges N", "Use the first N merges; by default all.", type=number()),
    Option(
        "--dropout P",
        "Skip each merge with this probability, for training data.",
        type=click.FloatRange(0, 1),
    ),
    Option(
        "--seed N",
        "Make --dropout repeatable; by default each run differs.",
        type=int,
    ),
    Option(
        "--write-vocabulary FILE",
        "Write each token of the output and its count, as subword-nmt get-vocab does.",
        name="counted",
        type=Path,
        writes=True,
    ),
)
def segment(
    codes: Path,
    files: list[str] | None = None,
    *,
    output: str = "-",
    dropout: float | None = None,
    seed: int | None = None,
    counted: Path | None = None,
    **options: Any,
) -> None:
    """Split words with subword-nmt or fastBPE codes: low@@ er.

    $ bytepair segment codes.txt corpus.txt -o segmented.txt
    $ echo "lower" | bytepair segment codes.txt
    $ bytepair segment codes.txt corpus.txt --dropout 0.1 --seed 1
    """
    segmenter = Segmenter(codes, **options)
    if counted is not None:
        check_writable(counted.parent)
    counts: Counter[str] = Counter()
    paths = expand(files or ["-"])
    transfer = Transfer("segmenting", paths, output)
    with writing_both(output, counted) as (target, vocabulary_file):
        blocks = blocks_of(paths, transfer)
        for text in segmenter.segment_lines(blocks, dropout=dropout or None, seed=seed):
            target.write(text.encode())
            if counted is not None:
                counts.update(count_words([text]))
        if vocabulary_file is not None:
            vocabulary_file.write(vocabulary_bytes(counts))
    transfer.line.clear()


@contextlib.contextmanager
def writing_both(
    output: str, counted: Path | None
) -> Iterator[tuple[BinaryIO, BinaryIO | None]]:
    """Open the text and, if requested, the vocabulary; both files appear, or neither."""
    if counted is None:
        with writing_to(output) as target:
            yield target, None
    elif output == "-":
        with writing_to(output) as target, writing(counted) as vocabulary:
            yield target, vocabulary
    else:
        with writing_together(Path(output), counted) as (target, vocabulary):
            yield target, vocabulary


def blocks_of(files: list[str], transfer: Transfer) -> Iterator[str]:
    """Yield files as blocks of whole lines; between files, a missing line end is added."""
    for file in files:
        refuse_no_text(file)
    for place, file in enumerate(files, 1):
        n_lines = 0
        block = b""
        with reading(file) as source:
            while lines := source.readlines(BLOCK_LEN):
                block = b"".join(lines)
                yield decoded(block, name_of(file), n_lines)
                n_lines += len(lines)
                transfer.tell(transfer.n_bytes + len(block))
        if block and place < len(files) and not block.endswith((b"\n", b"\r")):
            yield "\n"


def decoded(block: bytes, name: str, n_lines_before: int) -> str:
    """Return UTF-8 as text, or raise an error that names the line that is not."""
    try:
        return block.decode()
    except UnicodeDecodeError as error:
        line = n_lines_before + block.count(b"\n", 0, error.start) + 1
        message = f"{name}: line {line} is not UTF-8"
        raise EncodingError(message) from error
