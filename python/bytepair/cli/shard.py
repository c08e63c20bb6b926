"""``bytepair shard``: a corpus to a folder of shards of tokens, resumed where it stopped."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bytepair import FileError, Tokenizer, TokenizerError
from bytepair._io.files import is_address
from bytepair._plurals import amount
from bytepair._terminal import clock

from .command import Argument, Option, command
from .corpus_options import CORPUS, CORPUS_OPTIONS, listed, with_engine
from .options import ADDED_TOKENS, JSON, QUIET, TOKENIZER
from .problems import remark
from .progress_line import ProgressLine
from .sizes import number
from .tokenizers_first import TokenizerPath

if TYPE_CHECKING:
    from bytepair.scale import TokenizeProgress

__all__ = ["shard"]


@command(
    TOKENIZER,
    Argument("corpus", "[CORPUS]...", CORPUS.help or "", reads=True),
    Option(
        "--from-ids DIR",
        "Read finished shards instead of CORPUS, to write them in the ids of TOKENIZER.",
        reads=True,
    ),
    Option(
        "--with TOKENIZER",
        "The tokenizer that wrote the shards of --from-ids.",
        name="old_tokenizer",
        type=TokenizerPath(),
        reads=True,
    ),
    Option(
        "-o, --output DIR",
        "A new folder, or the folder of a run to continue.",
        type=Path,
        required=True,
        writes=True,
    ),
    Option(
        "--format [npy|bin|megatron|datatrove|parquet]",
        "The format of the shards, by default npy.",
    ),
    Option(
        "--begin-of-document TOKEN",
        "A token to put before each document, such as '<s>'.",
    ),
    Option(
        "--end-of-document TOKEN",
        "A token to put after each document, such as '</s>'.",
    ),
    ADDED_TOKENS,
    Option(
        "--shard-tokens N",
        "Start a new shard before a document that would exceed this number of tokens.",
        type=number(1),
    ),
    *CORPUS_OPTIONS,
    Option(
        "--check",
        "Read the corpus and the shards again and compare each document; not for --format parquet.",
    ),
    QUIET,
    JSON,
)
def shard(
    tokenizer_path: Path,
    corpus: list[str] | None = None,
    *,
    output: Path,
    from_ids: str | None = None,
    check: bool = False,
    quiet: bool = False,
    as_json: bool = False,
    **options: Any,
) -> None:
    """Tokenize a corpus into shards; running it again continues an interrupted run.

    $ bytepair shard tokenizer.json corpus.jsonl --field text -o fields
    $ bytepair shard tokenizer.json corpus.txt --end-of-document '<|end|>' -o shards
    $ bytepair shard other.json --from-ids shards --with tokenizer.json -o others
    """
    from bytepair import scale
    from bytepair.data import check_dataset
    from bytepair.data._dataset import MAPPED

    of_ids = {from_ids is not None, "old_tokenizer" in options}
    if of_ids != {corpus is None}:
        message = "give either CORPUS, or both --from-ids and --with"
        raise click.UsageError(message)
    shard_format = options.get("format", "npy")
    if check and shard_format not in MAPPED:
        message = (
            f"--check cannot read shards of --format {shard_format} again, only those "
            f"of {', '.join(MAPPED)}"
        )
        raise TokenizerError(message)
    if check and from_ids is not None:
        refuse_without_corpus(from_ids)
    line = ProgressLine(is_shown=not quiet)
    tokenizer = Tokenizer.from_file(tokenizer_path)
    sources: Any = from_ids
    if corpus:
        sources, described, options = listed(corpus, options)
        line.note(described)
    else:
        options = with_engine(options)
    try:
        manifest = scale.tokenize(
            tokenizer,
            sources,
            output,
            **options,
            progress=lambda progress: line.show(
                describe(progress), progress.done_bytes / max(progress.total_bytes, 1)
            ),
        )
    except KeyboardInterrupt:
        message = "interrupted; to continue, run the same command again"
        raise KeyboardInterrupt(message) from None
    line.clear()
    totals = manifest["totals"]
    if check:
        totals = {**totals, "checked": check_dataset(output, tokenizer)["documents"]}
    if not quiet:
        lines = summary_lines(totals, options.get("added_tokens", "find"))
        loses = manifest["plan"].get("from_ids", {}).get("loses", "nothing")
        if loses != "nothing":
            lines.append(f"lost in the old ids, and so in the new ones: {loses}")
        remark(*line.deferred, *lines, f"saved: {output}")
    if as_json:
        print(json.dumps({"output": str(output), **totals}))


def refuse_without_corpus(folder: str) -> None:
    """Refuse ``--check`` for a dataset whose corpus is gone."""
    from bytepair.data import TokenDataset

    for path in [s["path"] for s in TokenDataset(folder).manifest["plan"]["sources"]]:
        if not (is_address(path) or Path(path).exists()):
            message = f"--check reads the corpus again, and there is no {path}; leave out --check"
            raise FileError(message)


def describe(progress: "TokenizeProgress") -> str:
    """Return the progress as a line."""
    done, total = progress.done_bytes / 1e6, progress.total_bytes / 1e6
    rate = (progress.done_bytes - progress.resumed_bytes) / 1e6
    rate /= max(progress.seconds, 1e-9)
    left = progress.seconds_left
    remaining = "" if left is None else f", {clock(left)} remaining"
    return (
        f"{done:,.0f} of {total:,.0f} MB{remaining}, {rate:,.1f} MB/s, "
        f"{progress.tokens:,} tokens"
    )


def summary_lines(totals: dict[str, Any], added_tokens: str = "find") -> list[str]:
    """Return the lines of a summary.

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
    became = "plain text" if added_tokens == "text" else "that token"
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
