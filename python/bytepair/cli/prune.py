"""``bytepair prune``: removes the tokens that a corpus needs least."""

import json
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bytepair import TokenizerError

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
)

if TYPE_CHECKING:
    from bytepair.surgery import PruningReport

__all__ = ["prune"]


@spread
def prune(
    tokenizer_path: TokenizerPath,
    corpus: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILES]",
            help="Files to count tokens in, as for bytepair train; needed by --to and --min-count.",
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
            "syntax); without --to and --min-count, all of them.",
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
    """Remove the tokens that a corpus needs least, or tokens that match a pattern.

    The rarest token that no other is built on is removed, then the counts are updated, and so on.
    Units, bytes, the unknown token and added tokens stay. Every token that stays can still be made.
    """
    from bytepair import surgery
    from bytepair.surgery._extend import base_of

    from .train import Watch, weighted

    check_output(output, dry_run=dry_run)
    _check(to, min_count, matching, has_corpus=bool(corpus))
    drop = None if matching is None else _matches(matching)
    base, source = base_of(tokenizer_path)
    way = numbering or NumberingName.RESERVED
    saving.check(base, output, way)
    watch = Watch(is_shown=not quiet)
    found = surgery.prune(
        base,
        weighted(corpus) if corpus else None,
        to=to,
        min_count=min_count,
        drop=drop,
        numbering=way.value,
        progress=watch,
        **{name: v for name, v in reading.given().items() if v is not None},
    ).read_from(source)
    if not found.report.removed:
        _refuse_nothing(found.report, matching, to or min_count)
    if not quiet:
        remark(*watch.deferred, *found.report.lines)
    lines, written = saving.save(found, None if dry_run else output)
    if not quiet:
        remark(*lines)
    if as_json:
        print(json.dumps({**found.report.to_json(), **written}))


def _check(
    to: int | None, min_count: int | None, matching: str | None, *, has_corpus: bool
) -> None:
    """Refuse a command that does not say which tokens to remove."""
    if to is None and min_count is None and matching is None:
        message = "say which tokens to remove: --to, --min-count or --matching"
        raise typer.BadParameter(message)
    counting = {"--to": to, "--min-count": min_count}
    for option, value in counting.items():
        if value is not None and not has_corpus:
            message = "needs files to count tokens in, since the rarest are removed"
            raise typer.BadParameter(message, param_hint=option)


def _refuse_nothing(
    report: "PruningReport", matching: str | None, limit: int | None
) -> None:
    """Refuse a regular expression that removed nothing, where only it says what to remove."""
    if matching is None or limit is not None:
        return
    held = report.lines[2:] or ["it matches no token that may be removed"]
    message = f"--matching {matching!r} removes nothing: {held[0]}"
    raise TokenizerError(message)


def _matches(pattern: str) -> Any:  # noqa: ANN401 -- a function of tokens
    """Give the function that chooses tokens by their text."""
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        message = f"{pattern!r} is not a valid regular expression: {error}"
        raise typer.BadParameter(message, param_hint="--matching") from error
    return lambda token: compiled.search(token.text)
