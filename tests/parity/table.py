"""Print what a comparison found: one table, then the first differences."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from .compare import COLUMNS, Difference, Tally

__all__ = ["Result", "differences", "rows"]

WIDTHS = [44, 22, 9, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8]


class Result(NamedTuple):
    """A vocabulary, the library it was compared with, and a tally for each source."""

    name: str
    library: str
    refused: str | None
    is_bpe: bool
    tallies: dict[str, Tally]
    vocabulary: str | None = None
    """How the vocabularies differ."""

    @property
    def n_differences(self) -> int:
        """How many texts differ in any column, and one if the vocabularies do."""
        wrong = 0 if self.is_bpe or self.refused is not None else 1
        counts = sum(tally.counts.total() for tally in self.tallies.values())
        return wrong + counts + (self.vocabulary is not None)


def rows(results: Sequence[Result]) -> str:
    """Lay out the table; a column that was not compared has a dash."""
    titles = ["vocabulary", "library", "source", "texts", *COLUMNS, "known", "skipped"]
    lines = [_line(titles)]
    for result in results:
        lines += _lines_of(result)
    return "\n".join(lines)


def _lines_of(result: Result) -> list[str]:
    first = [result.name[-43:], result.library]
    if result.refused is not None:
        expected = "" if result.is_bpe else " (rightly: not BPE)"
        return [_line([*first, f"refused{expected}: {result.refused}"])]
    if not result.is_bpe:
        return [_line([*first, "NOT BPE, and not refused"])]
    lines = []
    for source, tally in result.tallies.items():
        counts = [_count(tally, column) for column in COLUMNS]
        rest = [str(tally.known.total()), str(tally.n_skipped)]
        lines.append(_line([*first, source, str(tally.n_texts), *counts, *rest]))
    return lines


def _count(tally: Tally, column: str) -> str:
    if column in tally.compared or column in tally.counts:
        return str(tally.counts[column])
    return "0" if column == "errors" else "-"


def _line(cells: list[str]) -> str:
    padded = [cell.ljust(width) for cell, width in zip(cells, WIDTHS, strict=False)]
    return " ".join(padded).rstrip()


def differences(results: Sequence[Result]) -> str:
    """Write the first difference of each kind."""
    lines = []
    for result in results:
        if result.vocabulary is not None:
            lines.append(f"\n{result.name}: vocabularies differ: {result.vocabulary}")
        for source, tally in result.tallies.items():
            for found in tally.first.values():
                lines.append(f"\n{result.name}, {source}: {found.view}")
                lines += [
                    f"  {name:8}{shortened(getattr(found, name), found)}"
                    for name in ("text", "theirs", "ours")
                ]
    return "\n".join(lines)


def shortened(value: Any, found: Difference) -> str:
    """Show a value, and of a long list what is near the first difference."""
    if isinstance(value, list) and len(value) > 30:
        pairs = enumerate(zip(found.theirs, found.ours, strict=False))
        same = next((place for place, (a, b) in pairs if a != b), 0)
        return f"… from item {same}: {value[max(0, same - 2) : same + 12]!a}"
    return f"{value!a}"[:600]
