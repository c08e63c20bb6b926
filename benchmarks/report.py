"""The table of what was measured, as on a terminal.

Libraries are compared by medians over rounds, with the least and the most in brackets, and by ratios to ours on as
many threads, in the same phase and with the same output: 2.0x is twice the time, or twice the memory. Nanoseconds of
CPU time per byte show growth: from size to size they have to stay the same. ``others`` is how many processors were
busy with something else, at the worst.
"""

from collections.abc import Iterator

from .runner import Row, Times

COLUMNS = "threads engine phase wall ratio CPU ratio ns/B MB/s peak ratio rounds others"
WIDTHS = (7, 28, 22, 30, 8, 30, 8, 10, 9, 9, 8, 7, 7)


def table(rows: list[Row]) -> Iterator[str]:
    """Draw a line for each row of a case."""
    yield _line(COLUMNS.split())
    for row in rows:
        base = _ours(rows, row)
        seconds = max(row.cpu.median, 1e-9), max(row.wall.median, 1e-9)
        yield _line(
            [
                str(row.n_threads),
                row.engine + " (another algorithm)" * (not row.is_compared),
                row.phase,
                _spread(row.wall),
                _ratio(row.wall.median, base.wall.median),
                _spread(row.cpu),
                _ratio(row.cpu.median, base.cpu.median),
                f"{seconds[0] / max(row.n_bytes, 1) * 1e9:.2f}",
                f"{row.n_bytes / 1e6 / seconds[1]:.1f}",
                f"{row.peak_bytes / 1e6:.1f} MB",
                _ratio(row.peak_bytes, base.peak_bytes),
                str(row.rounds),
                f"{row.others:.2f}",
            ]
        )


def published(seconds: float, rows: list[Row]) -> str:
    """Compare the first engine with what the author of a program says it takes."""
    ratios = (f"{seconds / row.wall.median:,.0f}x" for row in rows[:1])
    return f"published: {seconds:,.0f} s, {''.join(ratios)} the wall time of the first"


def _ours(rows: list[Row], other: Row) -> Row:
    """Give the row that another is compared with: the first that does the same."""
    wanted = (other.n_threads, other.phase, other.engine.partition(" ")[2])
    found = (
        r for r in rows if (r.n_threads, r.phase, r.engine.partition(" ")[2]) == wanted
    )
    return next(found)


def _spread(times: Times) -> str:
    """Write seconds, small ones in microseconds."""
    unit, factor = ("s", 1.0) if times.median >= 0.001 else ("µs", 1e6)
    median, least, most = (f"{seconds * factor:.3f}" for seconds in times)
    return f"{median} {unit} [{least}-{most}]"


def _ratio(value: float, base: float) -> str:
    return f"{value / base:.2f}x" if base else "-"


def _line(cells: list[str]) -> str:
    padded = (f"{cell:>{width}}" for cell, width in zip(cells, WIDTHS, strict=True))
    return " ".join(padded)
