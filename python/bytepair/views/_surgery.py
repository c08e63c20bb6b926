"""The curve of an extension as lines of text: tokens of a corpus against added tokens."""

from collections.abc import Sequence

from bytepair.surgery import ExtensionReport

__all__ = ["curve_lines"]

POINT = "•"
KNEE = "◆"
LEAST = 3
"""A curve of fewer points is said in words."""


def curve_lines(
    report: ExtensionReport, *, width: int = 64, height: int = 9
) -> list[str]:
    """Draw the tokens of the corpus against the number of added tokens.

    >>> report = ExtensionReport(4, 4, 258, (90, 50, 30, 20, 10), 2, 90, None, ())
    >>> for line in curve_lines(report, width=24, height=5):
    ...     print(line)
    90 │•
       │
       │    •
       │         ◆
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
