"""``bytepair extend``: a tokenizer with more tokens, all old ids in their places.

What can be known to fail is refused before any text is read: a path that cannot be written, a format
that does not hold the base.
"""

import json
import shutil
import time
from typing import Annotated

import typer

from . import corpus_options
from .options import LoadingOptions, NewTokenizer, TokenizerPath
from .problems import remark
from .sizes import number, size
from .spreading import spread
from .training_options import (
    Files,
    MaxTokenBytes,
    MaxTokenChars,
    MemoryLimit,
    MinCount,
    MinPieceCount,
    Quiet,
    Threads,
    WholeCharacters,
)
from .vocabulary_options import SavingWithNew

__all__ = ["extend"]

MOST_ADDED = 1 << 31
WIDEST = 78


@spread
def extend(
    tokenizer_path: TokenizerPath,
    corpus: Files,
    *,
    add: Annotated[
        int,
        typer.Option(
            metavar="N",
            parser=number(0, MOST_ADDED),
            help="How many tokens to add, such as 2000 or 2k. There are fewer if the corpus has no "
            "more pairs.",
            show_default=False,
        ),
    ],
    output: NewTokenizer,
    saving: SavingWithNew,
    reading: corpus_options.ReadingOptions,
    loading: LoadingOptions,
    min_count: MinCount = None,
    min_piece_count: MinPieceCount = None,
    max_token_bytes: MaxTokenBytes = None,
    max_token_chars: MaxTokenChars = None,
    whole_characters: WholeCharacters = False,
    threads: Threads = None,
    memory_limit: MemoryLimit = None,
    quiet: Quiet = False,
    as_json: corpus_options.Json = False,
) -> None:
    """Add tokens that a corpus needs; all ids stay, and no text gets longer.

    The added tokens are those that save most tokens of the corpus. Old tokens, merges and added tokens
    keep their ids, and new ids follow the largest one. The curve shows what fewer tokens would save.
    """
    from bytepair import surgery
    from bytepair.surgery._extend import base_of
    from bytepair.views._surgery import curve_lines

    from .train import Watch, weighted

    n_bytes = None if memory_limit is None else size(memory_limit, "--memory-limit")
    base, source = base_of(tokenizer_path, loading.options()._asdict())
    saving.check(base, output)
    start, watch = time.perf_counter(), Watch(is_shown=not quiet)
    found = surgery.extend(
        base,
        weighted(corpus),
        add=add,
        min_count=min_count,
        min_piece_count=min_piece_count,
        max_token_bytes=max_token_bytes,
        max_token_chars=max_token_chars,
        whole_characters=whole_characters,
        memory_limit=n_bytes,
        threads=threads,
        progress=watch,
        **{name: v for name, v in reading.given().items() if v is not None},
    ).read_from(source)
    saved, written = saving.save(found, output)
    seconds = round(time.perf_counter() - start, 3)
    if not quiet:
        width = min(shutil.get_terminal_size().columns, WIDEST)
        lines = [*watch.deferred, *found.report.lines, *saved]
        remark(*curve_lines(found.report, width=width), *lines)
    if as_json:
        print(json.dumps({**found.report.to_json(), **written, "seconds": seconds}))
