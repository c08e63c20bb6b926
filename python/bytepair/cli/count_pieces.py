"""``bytepair count-pieces``: a corpus to a file of counts, which ``bytepair train`` learns from."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bytepair import FileError
from bytepair._io.files import check_writable
from bytepair._plurals import amount

from .command import READING, Option, command, refuse_options
from .corpus_options import CORPUS, CORPUS_OPTIONS, listed
from .options import JSON, QUIET
from .problems import remark
from .progress_line import ProgressLine
from .training_options import (
    COUNTING_OPTIONS,
    DIALECT_NAME,
    MEMORY_LIMIT,
    MIN_PIECE_COUNT,
    SPECIAL,
)

__all__ = ["count_pieces"]


@command(
    CORPUS,
    Option(
        "-o, --output FILE",
        "Where to write the counts, a .parquet file.",
        type=Path,
        required=True,
        writes=True,
    ),
    Option("--merge", "Add up the files of counts that CORPUS names, in this order."),
    DIALECT_NAME,
    SPECIAL,
    *COUNTING_OPTIONS,
    MIN_PIECE_COUNT,
    Option(
        "--group PATH",
        "Count by group: the field or column with the group of a document, such as its language.",
        group=READING,
    ),
    *CORPUS_OPTIONS,
    MEMORY_LIMIT,
    QUIET,
    JSON,
)
def count_pieces(
    corpus: list[str],
    *,
    output: Path,
    merge: bool = False,
    memory_limit: int | None = None,
    quiet: bool = False,
    as_json: bool = False,
    **options: Any,
) -> None:
    """Count the pieces of a corpus, for training without the corpus.

    $ bytepair count-pieces corpus.txt -o counts.parquet
    $ bytepair count-pieces corpus.txt --dialect gpt4o -o counts.parquet
    $ bytepair train counts.parquet --vocab-size 500 -o own.json
    """
    from bytepair import scale

    if output.suffix != ".parquet":
        message = f"{output}: counts are written to a .parquet file"
        raise FileError(message)
    check_writable(output.parent)
    line = ProgressLine(is_shown=not quiet)
    if merge:
        reason = "has no effect on --merge, which adds up finished counts"
        refuse_options(options, reason)
        counts = scale.merge_files(corpus, memory_limit=memory_limit, output=output)
    else:
        sources, described, options = listed(corpus, options)
        line.note(described)
        counts = scale.count(
            sources,
            **options,
            progress=lambda done, total: line.show_bytes("counting", done, total),
            memory_limit=memory_limit,
            output=output,
        )
    line.clear()
    info = counts.info
    if not quiet:
        text = (
            f"{amount(info.documents, 'document')}, {amount(info.bytes, 'byte')}, "
            f"{amount(counts.n_rows, 'distinct piece')}"
        )
        bad = f"; {amount(info.bad, 'bad line')} skipped" if info.bad else ""
        remark(*line.deferred, f"{text}{bad}", f"saved: {output}")
    if as_json:
        summary = {"output": str(output), "distinct_pieces": counts.n_rows}
        print(json.dumps({**summary, **asdict(info)}))
