"""``bytepair count-pieces``: a corpus to a file of counts, which ``bytepair train`` learns from."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from bytepair import FileError, TokenizerError
from bytepair._io.files import check_writable
from bytepair._plurals import amount

from . import corpus_options, training_options
from .options import Json, Quiet
from .problems import remark
from .progress_line import ProgressLine
from .sizes import size
from .spreading import spread

__all__ = ["count_pieces"]

Output = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Where to write the counts, a .parquet file.",
        show_default=False,
    ),
]
Merge = Annotated[
    bool,
    typer.Option(
        "--merge", help="Add up files of counts, given as CORPUS in this order."
    ),
]


@spread
def count_pieces(
    corpus: corpus_options.Corpus,
    *,
    output: Output,
    merge: Merge = False,
    dialect: training_options.CountedDialect = None,
    special: training_options.Special = None,
    pattern: training_options.Pattern = None,
    normalize: training_options.Normalize = None,
    unmatched: training_options.UnmatchedChoice = None,
    ties: training_options.TiesChoice = None,
    lowercase: training_options.LowercaseChoice = None,
    min_piece_count: training_options.MinPieceCount = None,
    group: corpus_options.GroupField = None,
    reading: corpus_options.CorpusOptions,
    memory_limit: training_options.MemoryLimit = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Count the pieces of a corpus, for training without the corpus."""
    from bytepair import scale

    if output.suffix != ".parquet":
        message = f"{output}: counts are a .parquet file"
        raise FileError(message)
    check_writable(output.parent)
    line = ProgressLine(is_shown=not quiet)
    options: dict[str, Any] = {
        "dialect": dialect,
        "special_tokens": special,
        "pattern": "" if pattern == [""] else pattern,
        "normalize": [] if normalize == [""] else normalize,
        "unmatched": unmatched and unmatched.value,
        "ties": ties and ties.value,
        "lowercase": lowercase and lowercase.value,
        "min_piece_count": min_piece_count,
        "group": group,
    }
    n_bytes = None if memory_limit is None else size(memory_limit, "--memory-limit")
    if merge:
        _refuse_to_count({**options, **reading.given()})
        counts = scale.merge_files(corpus, memory_limit=n_bytes, output=output)
    else:
        sources, recognised = reading.sources(corpus, group)
        line.note(recognised)
        counts = scale.count(
            sources,
            **reading.arguments(),
            progress=lambda done, total: line.show_bytes("counting", done, total),
            memory_limit=n_bytes,
            output=output,
            **{name: value for name, value in options.items() if value is not None},
        )
    line.clear()
    info = counts.info
    if not quiet:
        text = (
            f"{amount(info.documents, 'document')}, {amount(info.bytes, 'byte')}, "
            f"{amount(counts.n_rows, 'distinct piece')}"
        )
        bad = f"; {amount(info.bad, 'bad line')} skipped" if info.bad else ""
        lines = [*line.deferred, f"{text}{bad}", f"saved: {output}"]
        remark(*lines)
    if as_json:
        summary = {"output": str(output), "distinct_pieces": counts.n_rows}
        print(json.dumps({**summary, **asdict(info)}))


def _refuse_to_count(options: dict[str, Any]) -> None:
    """Refuse options that say how to count, where counts are added up."""
    for name, value in options.items():
        if value is not None:
            message = f"{name}= has no effect on --merge, which adds up finished counts"
            raise TokenizerError(message)
