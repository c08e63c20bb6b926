"""``bytepair prune``: removes the tokens that a corpus needs least."""

import json
from typing import Annotated

import typer

from . import corpus_options
from .options import Json, NewTokenizerOrNone, Quiet, TokenizerPath
from .problems import remark
from .sizes import number
from .spreading import spread
from .vocabulary_options import (
    DryRun,
    NumberingChoice,
    NumberingName,
    Saving,
    check_output,
    compiled,
)

__all__ = ["prune"]


@spread
def prune(
    tokenizer_path: TokenizerPath,
    corpus: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILES]",
            help="Files to count tokens in, as for bytepair train.",
            show_default=False,
        ),
    ] = None,
    *,
    to: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            parser=number(1),
            help="How many tokens to keep, such as 32000 or 32k; the rarest are removed.",
            show_default=False,
        ),
    ] = None,
    min_count: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            parser=number(1),
            help="Remove tokens that occur fewer than N times in the files; with --to, no more "
            "than needed.",
            show_default=False,
        ),
    ] = None,
    matching: Annotated[
        str | None,
        typer.Option(
            metavar="REGEX",
            help="Remove only tokens whose text contains a match of this regular expression (Python "
            "syntax).",
            show_default=False,
        ),
    ] = None,
    output: NewTokenizerOrNone = None,
    numbering: NumberingChoice = None,
    dry_run: DryRun = False,
    saving: Saving,
    reading: corpus_options.LearningOptions,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Remove the tokens that a corpus needs least.

    The rarest token that no other is built on is removed, then the counts are updated, and so on.
    Units, bytes, the unknown token and added tokens stay. Every token that stays can still be made.
    """
    from bytepair import surgery
    from bytepair.surgery._surgery import Base

    from .train import Watch, weighted

    check_output(output, dry_run=dry_run)
    _check(to, min_count, has_corpus=bool(corpus))
    drop = None if matching is None else compiled(matching)
    base = Base.of(tokenizer_path)
    way = numbering or NumberingName.RESERVED
    saving.check(base.tokenizer, output, way)
    watch = Watch(is_shown=not quiet)
    found = surgery.prune(
        base,
        weighted(corpus or []),
        to=to,
        min_count=min_count,
        drop=drop,
        numbering=way.value,
        progress=watch,
        **{name: v for name, v in reading.given().items() if v is not None},
    )
    if not quiet:
        remark(*watch.deferred, *found.report.lines)
    lines, written = saving.save(found, None if dry_run else output)
    if not quiet:
        remark(*lines)
    if as_json:
        print(json.dumps({**found.report.to_json(), **written}))


def _check(to: int | None, min_count: int | None, *, has_corpus: bool) -> None:
    """Refuse a command that does not say how many tokens to remove, or has no files."""
    if to is None and min_count is None:
        message = (
            "say how many tokens to remove: --to or --min-count; bytepair remove --matching removes all "
            "tokens that match a regular expression"
        )
        raise typer.BadParameter(message)
    if not has_corpus:
        message = "needs files to count tokens in, since the rarest are removed"
        raise typer.BadParameter(message, param_hint="--to" if to else "--min-count")
