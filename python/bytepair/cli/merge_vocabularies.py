"""``bytepair merge-vocabularies``: adds the tokens of one tokenizer to another."""

import json
from pathlib import Path
from typing import Annotated

import typer

from bytepair import TokenizerError

from .corpus_options import Json, Quiet
from .options import NewTokenizer
from .problems import remark
from .spreading import spread
from .vocabulary_options import SavingWithNew

__all__ = ["merge_vocabularies"]


@spread
def merge_vocabularies(
    base: Annotated[
        Path,
        typer.Argument(
            metavar="BASE",
            help="The tokenizer to extend: a file or a folder, as for other commands.",
            show_default=False,
        ),
    ],
    other: Annotated[
        Path,
        typer.Argument(
            metavar="OTHER",
            help="The tokenizer whose tokens are added, in the order of its merges.",
            show_default=False,
        ),
    ],
    *,
    output: NewTokenizer,
    allow_helpers: Annotated[
        bool,
        typer.Option(
            "--allow-helpers",
            help="Also add tokens that BASE encodes to more than two tokens, with helper tokens for their "
            "beginnings.",
        ),
    ] = False,
    saving: SavingWithNew,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Add the tokens of another tokenizer; all ids stay, and no text gets longer.

    A token that BASE encodes to two tokens gets a merge of these. The added tokens, byte-fallback tokens
    and unknown token of OTHER are left out.
    """
    from bytepair import surgery
    from bytepair.surgery._extend import base_of

    first, source = base_of(base)
    saving.check(first, output)
    second, _ = base_of(other)
    found = surgery.merge_vocabularies(first, second, allow_helpers=allow_helpers)
    report = found.report
    if not report.added and report.outcomes.keys() - {"known"}:
        lines = [report.lines[0], *report.lines[2:], "nothing is written"]
        message = f"{other}: no token could be added; {'; '.join(lines)}"
        raise TokenizerError(message)
    lines, written = saving.save(found.read_from(source), output)
    if not quiet:
        remark(*report.lines, *lines)
    if as_json:
        print(json.dumps({**report.to_json(), **written}))
