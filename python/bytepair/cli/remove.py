"""``bytepair remove``: removes tokens from a tokenizer, and the tokens built on them."""

import enum
import json
import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bytepair import TokenizerError

from .finding_codes import choosing, codes_of
from .options import Json, NewTokenizerOrNone, Quiet, TokenizerPath
from .problems import remark
from .spreading import spread
from .vocabulary_options import (
    DryRun,
    NumberingChoice,
    NumberingName,
    Saving,
    check_output,
    compiled,
)

if TYPE_CHECKING:
    from bytepair.surgery._remove import Mode

__all__ = ["remove"]


class ModeName(str, enum.Enum):
    """What happens to tokens that are built on removed ones."""

    CASCADE = "cascade"
    REROUTE = "reroute"


@spread
def remove(
    tokenizer_path: TokenizerPath,
    tokens: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TOKENS]",
            help="Tokens to remove, by their text or as files write them (' the' or Ġthe).",
            show_default=False,
        ),
    ] = None,
    *,
    output: NewTokenizerOrNone = None,
    id_: Annotated[
        list[str] | None,
        typer.Option(
            "--id",
            metavar="ID",
            help="The id of a token to remove, or several, separated by commas. May be repeated.",
            show_default=False,
        ),
    ] = None,
    findings: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Remove tokens that the doctor found: a file with the output of bytepair doctor --json, "
            "or - for standard input. Tokens that must stay are left out and listed.",
            show_default=False,
        ),
    ] = None,
    matching: Annotated[
        str | None,
        typer.Option(
            metavar="REGEX",
            help="Remove all tokens whose text contains a match of this regular expression (Python syntax).",
            show_default=False,
        ),
    ] = None,
    select: Annotated[
        list[str] | None,
        choosing(
            "Which findings: codes or their beginnings, such as BP1, separated by commas. May "
            "be repeated; by default BP101 and BP603 (glitch candidates)."
        ),
    ] = None,
    mode: Annotated[
        ModeName,
        typer.Option(
            help="What happens to tokens that are built on these: they are removed too (cascade), or stay if "
            "other tokens make them (reroute).",
        ),
    ] = ModeName.CASCADE,
    numbering: NumberingChoice = None,
    dry_run: DryRun = False,
    saving: Saving,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Remove tokens, such as glitch tokens, and the tokens built on them.

    The tokens removed with them are listed before anything is written; --dry-run writes nothing. Units,
    bytes, the unknown token and special tokens cannot be removed. Every remaining token can still be made.
    """
    from bytepair import surgery
    from bytepair.surgery._surgery import Base

    check_output(output, dry_run=dry_run)
    base = Base.of(tokenizer_path)
    way = numbering or NumberingName.RESERVED
    saving.check(base.tokenizer, output, way)
    named = _named(tokens, id_, findings, matching)
    value: Mode = mode.value
    found = surgery.remove(
        base, named, mode=value, numbering=way.value, select=codes_of(select)
    )
    cascade = found.report.cascade
    if not cascade.named:
        message = f"{findings}: {'; '.join(cascade.lines)}; --select chooses others"
        raise TokenizerError(message)
    if not quiet:
        remark(*cascade.lines, *found.report.lines)
    lines, written = saving.save(found, None if dry_run else output)
    if not quiet:
        remark(*lines)
    if as_json:
        print(json.dumps({**found.report.to_json(), **written}))


def _named(
    tokens: list[str] | None,
    ids: list[str] | None,
    findings: str | None,
    matching: str | None,
) -> list[Any]:
    """Gather the named tokens."""
    named: list[Any] = [_as_typed(token) for token in tokens or []]
    for given in ids or []:
        for number in given.split(","):
            if not (number.strip().isascii() and number.strip().isdigit()):
                message = f"{number.strip()!r} is not an id, such as 262"
                raise typer.BadParameter(message, param_hint="--id")
            named.append(int(number))
    if findings is not None:
        named.append(_read(findings))
    if matching is not None:
        named.append(compiled(matching))
    if not named:
        message = "name tokens to remove, or give --id, --matching or --findings"
        raise typer.BadParameter(message, param_hint="TOKENS")
    return named


def _as_typed(token: str) -> str | bytes:
    """Give the bytes of an argument that is not text, such as half a character."""
    try:
        token.encode()
    except UnicodeEncodeError:
        return os.fsencode(token)
    return token


def _read(path: str) -> dict[str, Any]:
    """Read a report of findings."""
    from bytepair.data._lists import read_list

    data = read_list(path)
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        message = f"{path} is not JSON: {error}"
        raise TokenizerError(message) from error
    if not isinstance(found, dict):
        message = f"{path} is not what bytepair doctor --json writes"
        raise TokenizerError(message)
    return found
