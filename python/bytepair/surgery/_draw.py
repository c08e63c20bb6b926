"""An extension as lines of text: the tokens of the corpus, and the outcome for each text."""

from bytepair._plurals import amount
from bytepair.views._glyphs import bar

from . import Addition, AdditionReport, ExtensionReport

__all__ = ["curve_lines", "row_lines"]

KNEE = "◆"
N_ROWS = 8
"""The number of steps of a curve that are drawn."""
LEAST = 3
"""A curve with fewer points is not drawn."""
N_SHOWN = 20
"""The number of texts that are listed."""
FINE = ("added", "added_whole", "known", "repeated")
"""The outcomes that are not listed, since the texts have a token."""


def curve_lines(report: ExtensionReport, *, width: int = 64) -> list[str]:
    """Draw the tokens of the corpus for some numbers of added tokens, and where the curve bends.

    >>> report = ExtensionReport(4, 4, 258, (90, 50, 30, 20, 10), 90, None, ())
    >>> for line in curve_lines(report, width=26):
    ...     print(line)
    tokens of the corpus by number of added ones; ◆ marks the bend
      0 added  90 ████████████
    ◆ 1 added  50 ██████
      2 added  30 ████
      3 added  20 ██
      4 added  10 █
    """
    curve, knee = report.curve, report.knee
    if len(curve) < LEAST:
        return []
    last = len(curve) - 1
    shown = {row * last // N_ROWS for row in range(N_ROWS + 1)}
    if knee is not None:
        shown.add(knee)
    heads = {
        n: f"{KNEE if n == knee else ' '} {n:>{len(f'{last:,}')},} added  "
        f"{curve[n]:>{len(f'{curve[0]:,}')},} "
        for n in sorted(shown)
    }
    room = width - max(map(len, heads.values()))
    bend = "" if knee is None else f"; {KNEE} marks the bend"
    title = f"tokens of the corpus by number of added ones{bend}"
    return [title, *(head + bar(curve[n], curve[0], room) for n, head in heads.items())]


def row_lines(report: AdditionReport, *, width: int = 78) -> list[str]:
    """List the texts that did not become a token, with the reasons.

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
