"""Tables of what was measured.

Libraries are compared by medians over rounds, with the least and the most in brackets,
and by ratios to the first engine of the case: 2.0x is twice the time, or twice the
memory. ``others`` is how many processors were busy with something else, at the worst.
Growth is shown per byte, over sizes: nanoseconds, left out of what takes too little time
to say, and bytes of memory.
"""

import re
from collections import defaultdict
from collections.abc import Iterator

from .runner import Row, Times

SIZE = re.compile(r", (\d+) MB$")
LEAST_SECONDS = 0.02
CLOCKS = ("cpu", "wall")


def table(task: str, rows: list[Row]) -> Iterator[str]:
    """Draw the table of one case."""
    return (
        speeds(rows) if task in {"encode", "worst", "file", "added"} else compared(rows)
    )


def compared(rows: list[Row]) -> Iterator[str]:
    """Draw what each engine took, and how many times that of the first."""
    yield (
        f"{'threads':>7} {'engine':22}{'wall s':>23}{'ratio':>8}"
        f"{'CPU s':>23}{'ratio':>8}{'peak MB':>9}{'ratio':>8}{'rounds':>7}{'others':>8}"
    )
    first: dict[int, Row] = {}
    for row in rows:
        base = first.setdefault(row.n_threads, row)
        note = "" if row.is_compared else "   another algorithm"
        yield (
            f"{row.n_threads:7} {row.engine:22}"
            f"{_spread(row.wall)}{row.wall.median / base.wall.median:7.2f}x"
            f"{_spread(row.cpu)}{row.cpu.median / base.cpu.median:7.2f}x"
            f"{_memory(row, base)}"
            f"{row.rounds:7}{row.others:8.2f}{note}"
        )


def published(seconds: float, rows: list[Row]) -> str:
    """Compare the first engine with what the author of a program says it takes."""
    ratios = (f"{seconds / row.wall.median:,.0f}x" for row in rows[:1])
    return f"published: {seconds:,.0f} s, {''.join(ratios)} the wall time of the first"


def speeds(rows: list[Row]) -> Iterator[str]:
    """Draw the speed of each engine in each phase, and how many times slower it is."""
    lines: dict[tuple[int, str], dict[str, Row]] = defaultdict(dict)
    for row in rows:
        lines[row.n_threads, row.engine][row.phase] = row
    phases = list(dict.fromkeys(row.phase for row in rows))
    titles = "".join(
        f"{f'{phase} {clock}':>18}" for clock in CLOCKS for phase in phases
    )
    yield f"{'threads':>7} {'engine':22}{titles}{'others':>8}   (MB/s, slower)"
    first: dict[tuple[int, str], dict[str, Row]] = {}
    for (n_threads, engine), line in lines.items():
        base = first.setdefault((n_threads, engine.partition(" ")[2]), line)
        cells = "".join(
            _speed(line[phase], base[phase], clock)
            for clock in CLOCKS
            for phase in phases
        )
        others = max(row.others for row in line.values())
        yield f"{n_threads:7} {engine:22}{cells}{others:8.2f}"


def growth(rows: list[Row]) -> Iterator[str]:
    """Draw one line for each text, dialect and phase: CPU time by size."""
    lines = _by_size(rows)
    yield _sizes("ns of CPU time per byte", lines) + f"{'growth':>9}{'s at most':>11}"
    for name, line in lines.items():
        costs = [row.cpu.median / row.n_bytes * 1e9 for row in line.values()]
        cells = "".join(f"{cost:9.1f}" for cost in costs)
        seconds = list(line.values())[-1].cpu.median
        rise = f"{costs[-1] / costs[0]:.2f}x" if seconds > LEAST_SECONDS else "-"
        yield f"{name}{cells}{rise:>9}{seconds:11.3f}"


def memory(rows: list[Row]) -> Iterator[str]:
    """Draw the memory of the whole process over the length of the text."""
    lines = _by_size(rows)
    yield _sizes("bytes of memory per byte", lines) + f"{'MB at most':>20}"
    for name, line in lines.items():
        costs = [row.peak_bytes / row.n_bytes for row in line.values()]
        cells = "".join(f"{cost:9.1f}" for cost in costs)
        yield f"{name}{cells}{list(line.values())[-1].peak_bytes / 1e6:20.1f}"


def _by_size(rows: list[Row]) -> dict[str, dict[int, Row]]:
    """Sort rows into lines, each from small to large."""
    lines: dict[str, dict[int, Row]] = defaultdict(dict)
    for row in rows:
        size = SIZE.search(row.case)
        if size:
            label = f"{row.phase}, {row.n_threads} threads"
            lines[f"{SIZE.sub('', row.case):46} {label:26}"][int(size[1])] = row
    return {name: dict(sorted(line.items())) for name, line in lines.items()}


def _sizes(title: str, lines: dict[str, dict[int, Row]]) -> str:
    sizes = sorted({size for line in lines.values() for size in line})
    return f"{title:73}" + "".join(f"{size:>6} MB" for size in sizes)


def _spread(times: Times) -> str:
    return f"{times.median:9.3f} [{times.least:.3f}-{times.most:.3f}]".rjust(23)


def _memory(row: Row, base: Row) -> str:
    if not base.peak_bytes:
        return f"{'-':>9}{'-':>8}"
    return f"{row.peak_bytes / 1e6:9.1f}{row.peak_bytes / base.peak_bytes:7.2f}x"


def _speed(row: Row, base: Row, clock: str) -> str:
    seconds: Times = getattr(row, clock)
    base_seconds: Times = getattr(base, clock)
    ratio = seconds.median / base_seconds.median
    return f"{row.n_bytes / 1e6 / seconds.median:.1f} {ratio:6.2f}x".rjust(18)
