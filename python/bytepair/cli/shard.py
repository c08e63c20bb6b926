"""``bytepair shard``: a corpus to a folder of shards of tokens, resumed where it ended."""

import enum
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bytepair import Tokenizer, TokenizerError
from bytepair._plurals import amount
from bytepair._terminal import clock

from . import corpus_options
from .options import Added, AddedTokens, Json, Quiet, TokenizerPath
from .problems import remark
from .progress_line import ProgressLine
from .sizes import number
from .spreading import spread

if TYPE_CHECKING:
    from bytepair.scale import TokenizeProgress

__all__ = ["shard"]


class FormatName(str, enum.Enum):
    """How shards are laid out."""

    NPY = "npy"
    BIN = "bin"
    MEGATRON = "megatron"
    DATATROVE = "datatrove"
    PARQUET = "parquet"


Output = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        metavar="DIR",
        help="A new folder, or the folder of a run to continue.",
        show_default=False,
    ),
]
Format = Annotated[
    FormatName, typer.Option("--format", help="The format of the shards.")
]
BeginOfDocument = Annotated[
    str | None,
    typer.Option(
        metavar="TOKEN",
        help="A token to put before each document, such as '<s>'.",
        show_default=False,
    ),
]
EndOfDocument = Annotated[
    str | None,
    typer.Option(
        metavar="TOKEN",
        help="A token to put after each document, such as '</s>'.",
        show_default=False,
    ),
]
ShardTokens = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        parser=number(1),
        help="Start a new shard before a document that would exceed this number of tokens.",
        show_default=False,
    ),
]
Check = Annotated[
    bool,
    typer.Option(
        "--check",
        help="Read the corpus and the shards again and compare each document; not "
        "for --format parquet.",
    ),
]


@spread
def shard(
    tokenizer: TokenizerPath,
    corpus: corpus_options.Corpus,
    *,
    output: Output,
    format_name: Format = FormatName.NPY,
    begin_of_document: BeginOfDocument = None,
    end_of_document: EndOfDocument = None,
    added_tokens: AddedTokens = Added.FIND,
    shard_tokens: ShardTokens = None,
    reading: corpus_options.CorpusOptions,
    check: Check = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Tokenize a corpus into shards; running it again continues an interrupted run."""
    from bytepair import scale
    from bytepair.data import check_dataset
    from bytepair.data._dataset import MAPPED

    if check and format_name.value not in MAPPED:
        message = (
            f"--check cannot read shards of --format {format_name.value} again, only those "
            f"of {', '.join(MAPPED)}"
        )
        raise TokenizerError(message)
    line = ProgressLine(is_shown=not quiet)
    loaded = Tokenizer.from_file(tokenizer)
    sources, recognised = reading.sources(corpus)
    line.note(recognised)
    manifest = scale.tokenize(
        loaded,
        sources,
        output,
        format=format_name.value,
        begin_of_document=begin_of_document,
        end_of_document=end_of_document,
        added_tokens=added_tokens.value,
        shard_tokens=shard_tokens,
        **reading.arguments(),
        progress=lambda progress: line.show(
            describe(progress), progress.done_bytes / max(progress.total_bytes, 1)
        ),
    )
    line.clear()
    totals = manifest["totals"]
    if check:
        totals = {**totals, "checked": check_dataset(output, loaded)["documents"]}
    if not quiet:
        lines = [
            *line.deferred,
            *summary_lines(totals, added_tokens),
            f"saved: {output}",
        ]
        remark(*lines)
    if as_json:
        print(json.dumps({"output": str(output), **totals}))


def describe(progress: "TokenizeProgress") -> str:
    """Say in one line how far the work is."""
    done, total = progress.done_bytes / 1e6, progress.total_bytes / 1e6
    rate = (progress.done_bytes - progress.resumed_bytes) / 1e6
    rate /= max(progress.seconds, 1e-9)
    left = progress.seconds_left
    remaining = "" if left is None else f", {clock(left)} remaining"
    return (
        f"{done:,.0f} of {total:,.0f} MB{remaining}, {rate:,.1f} MB/s, "
        f"{progress.tokens:,} tokens"
    )


def summary_lines(
    totals: dict[str, Any], added_tokens: Added = Added.FIND
) -> list[str]:
    """Write totals for a reader.

    >>> totals = {"documents": 3, "null": 0, "empty": 1, "bad": 0, "bytes": 9}
    >>> totals |= {"tokens": 4, "shards": 1, "with_special_text": 1}
    >>> for line in summary_lines(totals):
    ...     print(line)
    3 documents, 9 bytes, 4 tokens in 1 shard
    1 empty; 1 with the text of a special token, encoded as plain text
    """
    lines = [
        f"{amount(totals['documents'], 'document')}, {amount(totals['bytes'], 'byte')}, "
        f"{amount(totals['tokens'], 'token')} in {amount(totals['shards'], 'shard')}"
    ]
    became = "plain text" if added_tokens is Added.TEXT else "that token"
    notes = {
        "null": "null",
        "empty": "empty",
        "bad": "bad line skipped" if totals.get("bad") == 1 else "bad lines skipped",
        "with_special_text": "with the text of a special token, encoded as plain text",
        "with_added_text": f"with the text of another added token, encoded as {became}",
        "checked": "compared with the corpus, no difference",
    }
    found = [
        f"{totals[name]:,} {text}" for name, text in notes.items() if totals.get(name)
    ]
    return [*lines, "; ".join(found)] if found else lines
