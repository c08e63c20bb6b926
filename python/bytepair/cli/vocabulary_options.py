"""Options of commands that change a vocabulary: the output, and the rows of embedding matrices.

Foreseeable failures are refused before any work: a path that cannot be written, a format that cannot hold
the base.
"""

import enum
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bytepair import FormatError, TokenizerError

from .sizes import number

if TYPE_CHECKING:
    from bytepair import Tokenizer
    from bytepair.surgery import EmbeddingMap, Surgery

__all__ = [
    "EMBEDDINGS",
    "DryRun",
    "NumberingChoice",
    "NumberingName",
    "Saving",
    "check_output",
    "compiled",
]

EMBEDDINGS = "Embedding options"
RESERVED = "<|reserved_0|>"
MOST_ROWS = (1 << 32) - 1


class NumberingName(str, enum.Enum):
    """What happens to the ids of removed tokens."""

    RESERVED = "reserved"
    HOLES = "holes"
    COMPACT = "compact"


DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Show what would be done, and write nothing."),
]
NumberingChoice = Annotated[
    NumberingName | None,
    typer.Option(
        help="What happens to the ids of removed tokens: special tokens take them (reserved, the "
        "default), they stay unused (holes), or ids are renumbered without gaps (compact). Only compact "
        "moves other ids.",
        show_default=False,
    ),
]
EmbeddingMapPath = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write how new embedding rows are computed from old ones: .npz for numpy, or .jsonl.",
        show_default=False,
        rich_help_panel=EMBEDDINGS,
    ),
]
EmbeddingRows = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        parser=number(1, MOST_ROWS),
        help="How many rows the old matrix has, if it has more rows than there are ids.",
        show_default=False,
        rich_help_panel=EMBEDDINGS,
    ),
]


@dataclass(frozen=True)
class Saving:
    """How a changed tokenizer is written, and the rows of matrices with it."""

    embedding_map: EmbeddingMapPath = None
    embedding_rows: EmbeddingRows = None

    def check(
        self,
        base: "Tokenizer",
        output: Path | None,
        numbering: NumberingName | None = None,
    ) -> None:
        """Refuse what cannot be written, before any work."""
        from bytepair._io import saving

        self._check_embeddings(base, output)
        if output is None:
            return
        if str(output) == "-":
            message = "a tokenizer cannot be written to standard output; name a file"
            raise TokenizerError(message)
        saving.format_of(output, None, option=None)
        self._rehearse(base, output, is_reserving=numbering is NumberingName.RESERVED)

    def _rehearse(self, base: "Tokenizer", output: Path, *, is_reserving: bool) -> None:
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

    def save(
        self, found: "Surgery[Any]", output: Path | None
    ) -> tuple[list[str], dict[str, Any]]:
        """Write everything; say what was written in lines and as JSON holds it."""
        from bytepair.surgery._proof import save

        rows = self._rows(found)
        if output is None:
            return ["nothing is written"], {"output": None}
        others = {}
        if rows is not None and self.embedding_map is not None:
            suffix = self.embedding_map.suffix
            others[self.embedding_map] = rows.to_bytes(suffix)
        proof = save(found, output, others=others)
        lines = [*proof.lines, f"saved: {output}"]
        written = {
            "output": str(output),
            "read_by": list(proof.read_by),
            "is_copy": proof.is_copy,
        }
        if rows is None or self.embedding_map is None:
            return lines, written
        n_new, n_old = rows.shape
        by_hand = f", {len(rows.needs_init):,} by hand" if len(rows.needs_init) else ""
        lines.append(
            f"rows of the embedding matrix: {n_old:,} → {n_new:,}{by_hand}; "
            f"saved: {self.embedding_map}"
        )
        written["embedding_map"] = str(self.embedding_map)
        written["embedding_rows"] = n_new
        return lines, written

    def _check_embeddings(self, base: "Tokenizer", output: Path | None) -> None:
        """Refuse options of a map that is not written, and a map that cannot be written."""
        from bytepair.surgery._embeddings import suffix_of

        if self.embedding_map is None:
            if self.embedding_rows is not None:
                message = "needs --embedding-map"
                raise typer.BadParameter(message, param_hint="--embedding-rows")
            return
        suffix_of(self.embedding_map)
        if self.embedding_map.is_dir():
            message = f"{self.embedding_map} is a folder; name a file"
            raise typer.BadParameter(message, param_hint="--embedding-map")
        if output is not None and output.resolve() == self.embedding_map.resolve():
            message = f"{output} is where the tokenizer is saved; name another file"
            raise typer.BadParameter(message, param_hint="--embedding-map")
        if self.embedding_rows is not None and self.embedding_rows < base.n_vocab:
            message = (
                f"the old tokenizer has {base.n_vocab:,} ids, more than "
                f"{self.embedding_rows:,} rows"
            )
            raise typer.BadParameter(message, param_hint="--embedding-rows")
        from bytepair._io.files import check_writable

        check_writable(self.embedding_map.parent)

    def _rows(self, found: "Surgery[Any]") -> "EmbeddingMap | None":
        if self.embedding_map is None:
            return None
        return found.embedding_map(rows=self.embedding_rows)


def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a regular expression that chooses tokens by their text."""
    try:
        return re.compile(pattern)
    except re.error as error:
        message = f"{pattern!r} is not a valid regular expression: {error}"
        raise typer.BadParameter(message, param_hint="--matching") from error


def check_output(output: Path | None, *, dry_run: bool) -> None:
    """Refuse a command that has no output, unless it is a dry run."""
    if output is None and not dry_run:
        message = "name where to save; only --dry-run needs no output"
        raise typer.BadParameter(message, param_hint="--output / -o")
