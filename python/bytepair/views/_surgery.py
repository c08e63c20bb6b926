"""An extension as lines of text: the curve of a corpus, and what became of given texts."""

from collections.abc import Sequence

from bytepair._plurals import amount
from bytepair.surgery import Addition, AdditionReport, ExtensionReport

__all__ = ["curve_lines", "row_lines"]

POINT = "•"
KNEE = "◆"
LEAST = 3
"""A curve of fewer points is said in words."""
N_SHOWN = 20
"""So many texts are listed."""
FINE = ("added", "added_whole", "known", "repeated")
"""What need not be listed, since these texts have a token."""


def curve_lines(
    report: ExtensionReport, *, width: int = 64, height: int = 9
) -> list[str]:
    """Draw the tokens of the corpus against the number of added tokens.

    >>> report = ExtensionReport(4, 4, 258, (90, 50, 30, 20, 10), 90, None, ())
    >>> for line in curve_lines(report, width=24, height=5):
    ...     print(line)
    90 │•
       │
       │    ◆
       │         •
    10 │              •    •
       └────────────────────
        0                  4
    """
    curve = report.curve
    if len(curve) < LEAST:
        return []
    names = [f"{n:,}" for n in (curve[0], curve[-1])]
    margin = max(map(len, names))
    n_columns = max(width - margin - 2, 8)
    rows = [[" "] * n_columns for _ in range(height)]
    last = len(curve) - 1
    for k in range(last + 1):
        if last < n_columns or k == _shown(k, last, n_columns):
            _put(rows, curve, k, POINT)
    if report.knee is not None:
        _put(rows, curve, report.knee, KNEE)
    labels = [names[0], *[""] * (height - 2), names[1]]
    lines = [
        f"{label:>{margin}} │{''.join(row)}".rstrip()
        for label, row in zip(labels, rows, strict=True)
    ]
    end = f"{last:,}"
    axis = f"{' ' * margin} └{'─' * n_columns}"
    return [*lines, axis, f"{' ' * margin}  0{end:>{n_columns - 1}}"]


def _shown(k: int, last: int, n_columns: int) -> int:
    """Give the point that stands for a column of several points."""
    column = k * (n_columns - 1) // last
    return -(-column * last // (n_columns - 1))


def _put(
    rows: list[list[str]], curve: Sequence[int | float], k: int, mark: str
) -> None:
    """Put a mark where a point of the curve belongs."""
    n_rows, n_columns = len(rows), len(rows[0])
    fall = curve[0] - curve[-1]
    row = round((curve[0] - curve[k]) * (n_rows - 1) / fall)
    column = k * (n_columns - 1) // (len(curve) - 1)
    rows[row][column] = mark


def row_lines(report: AdditionReport, *, width: int = 78) -> list[str]:
    """List texts that did not become a token, each with why.

    >>> rows = (
    ...     Addition("abcd", "needs_helpers", None, (97, 98, 99, 100), ("ab", "abc")),
    ... )
    >>> row_lines(AdditionReport("string", rows, 256, 0, 0, 2))
    ["'abcd': needs helpers, 'ab' 'abc'"]
    """
    rows = [row for row in report.rows if row.outcome not in FINE]
    lines = [_shortened(_row_line(row), width) for row in rows[:N_SHOWN]]
    n_more = len(rows) - len(lines)
    if n_more:
        lines.append(f"and {amount(n_more, report.noun)} more")
    return lines


def _row_line(row: Addition) -> str:
    outcome = row.outcome.replace("_", " ")
    if row.outcome != "needs_helpers":
        return f"{row.text!r}: {outcome}"
    if not row.helpers:
        return f"{row.text!r}: {outcome} that others need, too"
    return f"{row.text!r}: {outcome}, {' '.join(map(repr, row.helpers))}"


def _shortened(line: str, width: int) -> str:
    return line if len(line) <= width else f"{line[: width - 1]}…"
