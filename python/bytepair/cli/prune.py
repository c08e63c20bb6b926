"""``bytepair prune``: removes the tokens that a corpus needs least."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .command import Argument, Option, command
from .corpus_options import READING_OPTIONS
from .options import JSON, QUIET, TOKENIZER, new_tokenizer
from .sizes import number
from .vocabulary_options import (
    EMBEDDING_MAP,
    NUMBERING,
    check_saving,
    finish,
    regular_expression,
)

if TYPE_CHECKING:
    from bytepair.surgery._reports import Numbering

__all__ = ["prune"]


@command(
    TOKENIZER,
    Argument(
        "corpus",
        "FILES...",
        "Files to count tokens in, as for bytepair train.",
        reads=True,
    ),
    Option(
        "--to N",
        "How many tokens to keep, such as 32000 or 32k; the rarest are removed.",
        type=number(1),
    ),
    Option(
        "--min-count N",
        "Remove tokens that occur fewer than N times in the files; with --to, no more than needed.",
        type=number(1),
    ),
    Option(
        "--matching REGEX",
        "Remove only tokens whose text contains a match of this regular expression (Python "
        "syntax).",
        name="drop",
        type=regular_expression,
    ),
    new_tokenizer(required=False),
    NUMBERING,
    EMBEDDING_MAP,
    *READING_OPTIONS,
    QUIET,
    JSON,
)
def prune(
    tokenizer_path: Path,
    corpus: list[str],
    *,
    output: Path | None = None,
    numbering: "Numbering" = "reserved",
    embedding_map: Path | None = None,
    quiet: bool = False,
    as_json: bool = False,
    **options: Any,
) -> None:
    """Remove the tokens that a corpus needs least.

    The rarest token that no other is built on is removed, then the counts are updated, and so on.
    Units, bytes, the unknown token and added tokens stay. Every token that stays can still be made.
    Without --output, the command shows what it would do.

    $ bytepair prune tokenizer.json corpus.txt --to 270
    $ bytepair prune tokenizer.json corpus.txt --to 270 -o small.json
    $ bytepair prune tokenizer.json corpus.txt --min-count 2 -o pruned.json
    """
    from bytepair import surgery
    from bytepair.surgery._surgery import Base

    from .train import Watch, weighted

    base = Base.of(tokenizer_path)
    check_saving(
        base.tokenizer, output, embedding_map, is_reserving=numbering == "reserved"
    )
    watch = Watch(is_shown=not quiet)
    found = surgery.prune(
        base, weighted(corpus), numbering=numbering, progress=watch, **options
    )
    finish(
        found,
        [*watch.deferred, *found.report.lines],
        output=output,
        embedding_map=embedding_map,
        quiet=quiet,
        as_json=as_json,
    )
