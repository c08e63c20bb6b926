"""Options of commands that change a vocabulary: ids of removed tokens, and rows of embedding matrices.

Foreseeable failures are refused before any work: a path that cannot be written, a format that cannot hold
the base.
"""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bytepair import FormatError, TokenizerError

from .command import Option
from .problems import remark

if TYPE_CHECKING:
    from bytepair import Tokenizer
    from bytepair.surgery import Surgery

RESERVED = "<|reserved_0|>"
NUMBERING = Option(
    "--numbering [reserved|holes|compact]",
    "What happens to the ids of removed tokens: special tokens take them (reserved, the default), "
    "they stay unused (holes), or ids are renumbered without gaps (compact). Only compact moves "
    "other ids.",
)
EMBEDDING_MAP = Option(
    "--embedding-map FILE",
    "Write how new embedding rows are computed from old ones: .npz for numpy, or .jsonl.",
    type=Path,
    writes=True,
)


def regular_expression(text: str) -> re.Pattern[str]:
    """Return a compiled regular expression of Python."""
    try:
        return re.compile(text)
    except re.error as error:
        message = f"{text!r} is not a valid regular expression: {error}"
        raise click.BadParameter(message) from error


def check_saving(
    base: "Tokenizer",
    output: Path | None,
    embedding_map: Path | None,
    *,
    is_reserving: bool = False,
) -> None:
    """Refuse outputs that cannot be written, before any work."""
    from bytepair._io import saving

    if embedding_map is not None:
        _check_embedding_map(embedding_map, output)
    if output is None:
        return
    if str(output) == "-":
        message = "a tokenizer cannot be written to standard output; name a file"
        raise TokenizerError(message)
    saving.format_of(output, None, option=None)
    _rehearse(base, output, is_reserving=is_reserving)


def _check_embedding_map(path: Path, output: Path | None) -> None:
    """Refuse a map that cannot be written."""
    from bytepair._io.files import check_writable
    from bytepair.surgery._embeddings import suffix_of

    suffix_of(path)
    if output is None or path.is_dir():
        problem = (
            "needs --output" if output is None else f"{path} is a folder; name a file"
        )
        message = f"--embedding-map {problem}"
        raise click.UsageError(message)
    check_writable(path.parent)


def _rehearse(base: "Tokenizer", output: Path, *, is_reserving: bool) -> None:
    """Refuse a format that cannot hold the base, or the tokens that reserve ids."""
    from bytepair.surgery._proof import rehearse

    first = base.with_special_tokens([RESERVED]) if is_reserving else base
    try:
        rehearse(first, output)
    except FormatError as error:
        if not is_reserving:
            raise
        rehearse(base, output)
        message = (
            f"{output}: this format does not hold the special tokens that reserve ids; "
            "--numbering holes and --numbering compact need none"
        )
        raise FormatError(message) from error


def finish(
    found: "Surgery[Any]",
    lines: Iterable[str],
    *,
    output: Path | None = None,
    embedding_map: Path | None = None,
    quiet: bool = False,
    as_json: bool = False,
    **more: object,
) -> None:
    """Report what was done, save the result, and report what was saved."""
    if not quiet:
        remark(*lines)
    saved, written = _save(found, output, embedding_map)
    if not quiet:
        remark(*saved)
    if as_json:
        print(json.dumps({**found.report.to_json(), **written, **more}))


def _save(
    found: "Surgery[Any]", output: Path | None, embedding_map: Path | None
) -> tuple[list[str], dict[str, Any]]:
    """Save the result; return what was saved as lines and as JSON values."""
    from bytepair.surgery._proof import save as save_proven

    if output is None:
        return ["nothing is written"], {"output": None}
    others, lines, written = {}, [], {}
    if embedding_map is not None:
        rows = found.embedding_map()
        others[embedding_map] = rows.to_bytes(embedding_map.suffix)
        n_new, n_old = rows.shape
        by_hand = f", {len(rows.needs_init):,} by hand" if len(rows.needs_init) else ""
        lines.append(
            f"rows of the embedding matrix: {n_old:,} → {n_new:,}{by_hand}; "
            f"saved: {embedding_map}"
        )
        written = {"embedding_map": str(embedding_map), "embedding_rows": n_new}
    proof = save_proven(found, output, others=others)
    result = {
        "output": str(output),
        "read_by": list(proof.read_by),
        "is_copy": proof.is_copy,
    }
    return [*proof.lines, f"saved: {output}", *lines], result | written
