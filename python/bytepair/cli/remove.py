"""``bytepair remove``: removes tokens from a tokenizer, and the tokens built on them."""

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bytepair import TokenizerError

from .command import Argument, Option, command
from .options import JSON, QUIET, TOKENIZER, codes_of, new_tokenizer
from .vocabulary_options import (
    EMBEDDING_MAP,
    NUMBERING,
    check_saving,
    finish,
    regular_expression,
)

if TYPE_CHECKING:
    from bytepair.surgery._reports import Numbering

__all__ = ["remove"]


@command(
    TOKENIZER,
    Argument(
        "tokens",
        "[TOKENS]...",
        "Tokens to remove, by their text or as files write them (' the' or Ġthe).",
    ),
    new_tokenizer(required=False),
    Option(
        "--id ID...",
        "The id of a token to remove, or several, separated by commas. May be repeated.",
        name="ids",
    ),
    Option(
        "--findings FILE",
        "Remove tokens that the doctor found: a file with the output of bytepair doctor --json, or "
        "- for standard input. Tokens that must stay are left out and listed.",
        reads=True,
    ),
    Option(
        "--matching REGEX",
        "Remove all tokens whose text contains a match of this regular expression (Python syntax).",
        type=regular_expression,
    ),
    Option(
        "--select CODE...",
        "Which findings: codes or their beginnings, such as BP1, separated by commas. May be "
        "repeated; by default BP101 and BP603 (glitch candidates).",
        parse=codes_of,
    ),
    Option(
        "--mode [cascade|reroute]",
        "What happens to tokens that are built on these: they are removed too (cascade, the "
        "default), or stay if they can be made from other tokens (reroute).",
    ),
    NUMBERING,
    EMBEDDING_MAP,
    QUIET,
    JSON,
)
def remove(
    tokenizer_path: Path,
    tokens: list[str] | None = None,
    *,
    output: Path | None = None,
    ids: list[str] | None = None,
    findings: str | None = None,
    matching: re.Pattern[str] | None = None,
    numbering: "Numbering" = "reserved",
    embedding_map: Path | None = None,
    quiet: bool = False,
    as_json: bool = False,
    **options: Any,
) -> None:
    """Remove tokens, such as glitch tokens, and the tokens built on them.

    The tokens removed with them are listed before anything is written. Without --output, the command
    shows what it would do. Units, bytes, the unknown token and special tokens cannot be removed. Every
    remaining token can still be made.

    $ bytepair remove tokenizer.json ' low'
    $ bytepair remove tokenizer.json ' lower' -o without.json
    $ bytepair remove tokenizer.json --matching '[A-Z]' -o lower.json
    """
    from bytepair import surgery
    from bytepair.surgery._surgery import Base

    base = Base.of(tokenizer_path)
    check_saving(
        base.tokenizer, output, embedding_map, is_reserving=numbering == "reserved"
    )
    named: list[Any] = [*map(_as_typed, tokens or []), *_ids_of(ids or [])]
    named += [_read(findings)] if findings else []
    named += [matching] if matching else []
    if not named:
        message = "name tokens to remove, or give --id, --matching or --findings"
        raise click.UsageError(message)
    found = surgery.remove(base, named, numbering=numbering, **options)
    cascade = found.report.cascade
    if not cascade.named:
        message = f"{findings}: {'; '.join(cascade.lines)}; --select chooses others"
        raise TokenizerError(message)
    lines = [*cascade.lines, *found.report.lines]
    finish(
        found,
        lines,
        output=output,
        embedding_map=embedding_map,
        quiet=quiet,
        as_json=as_json,
    )


def _ids_of(typed: list[str]) -> list[int]:
    """Return ids, which may be separated by commas."""
    numbers = [number.strip() for ids in typed for number in ids.split(",")]
    for number in numbers:
        if not (number.isascii() and number.isdigit()):
            message = f"--id: {number!r} is not an id, such as 262"
            raise click.UsageError(message)
    return list(map(int, numbers))


def _as_typed(token: str) -> str | bytes:
    """Return an argument, as bytes if it is not UTF-8, such as half a character."""
    try:
        token.encode()
    except UnicodeEncodeError:
        return os.fsencode(token)
    return token


def _read(path: str) -> dict[str, Any]:
    """Return a report of findings."""
    from bytepair.data._lists import read_list

    data = read_list(path)
    try:
        report = json.loads(data)
    except (ValueError, RecursionError) as error:
        message = f"{path} is not JSON: {error}"
        raise TokenizerError(message) from error
    if not isinstance(report, dict):
        message = f"{path} is not what bytepair doctor --json writes"
        raise TokenizerError(message)
    return report
