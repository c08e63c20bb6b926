"""Tables of what was measured.

Libraries are compared by medians over rounds, with the least and the most in brackets,
and by ratios to the first engine of the case: 2.0x is twice the time. ``others`` is how
many processors were busy with something else, at the worst. Growth is shown
in nanoseconds per byte, over sizes; it is left out of what takes too little time to say.
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
    return speeds(rows) if task == "encode" else compared(rows)


def compared(rows: list[Row]) -> Iterator[str]:
    """Draw the seconds of each engine, and how many times those of the first."""
    yield (
        f"{'threads':>7} {'engine':22}{'wall s':>23}{'ratio':>8}"
        f"{'CPU s':>23}{'ratio':>8}{'others':>8}"
    )
    first: dict[int, Row] = {}
    for row in rows:
        base = first.setdefault(row.n_threads, row)
        yield (
            f"{row.n_threads:7} {row.engine:22}"
            f"{_spread(row.wall)}{row.wall.median / base.wall.median:7.2f}x"
            f"{_spread(row.cpu)}{row.cpu.median / base.cpu.median:7.2f}x"
            f"{row.others:8.2f}"
        )


def speeds(rows: list[Row]) -> Iterator[str]:
    """Draw the speed of each engine in each phase, and how many times slower it is."""
    lines: dict[tuple[int, str], dict[str, Row]] = defaultdict(dict)
    for row in rows:
        lines[row.n_threads, row.engine][row.phase] = row
    phases = list(dict.fromkeys(row.phase for row in rows))
    titles = "".join(
        f"{f'{phase} {clock}':>18}" for clock in CLOCKS for phase in phases
    )
    yield f"{'threads':>7} {'engine':16}{titles}{'others':>8}   (MB/s, slower)"
    first: dict[int, dict[str, Row]] = {}
    for (n_threads, engine), line in lines.items():
        base = first.setdefault(n_threads, line)
        cells = "".join(
            _speed(line[phase], base[phase], clock)
            for clock in CLOCKS
            for phase in phases
        )
        others = max(row.others for row in line.values())
        yield f"{n_threads:7} {engine:16}{cells}{others:8.2f}"


def growth(rows: list[Row]) -> Iterator[str]:
    """Draw one line for each text, dialect and phase: CPU time by size."""
    lines: dict[tuple[str, str], dict[int, Row]] = defaultdict(dict)
    for row in rows:
        size = SIZE.search(row.case)
        if size:
            lines[SIZE.sub("", row.case), row.phase][int(size[1])] = row
    sizes = sorted({size for line in lines.values() for size in line})
    columns = "".join(f"{size:>6} MB" for size in sizes)
    yield f"{'ns of CPU time per byte':30}{'':17}{columns}{'growth':>9}{'s at most':>11}"
    for (name, phase), line in lines.items():
        costs = [
            line[size].cpu.median / line[size].n_bytes * 1e9 for size in sorted(line)
        ]
        cells = "".join(f"{cost:9.1f}" for cost in costs)
        seconds = line[max(line)].cpu.median
        rise = f"{costs[-1] / costs[0]:.2f}x" if seconds > LEAST_SECONDS else "-"
        yield f"{name:30}{phase:17}{cells}{rise:>9}{seconds:11.3f}"


def _spread(times: Times) -> str:
    return f"{times.median:9.3f} [{times.least:.3f}-{times.most:.3f}]".rjust(23)


def _speed(row: Row, base: Row, clock: str) -> str:
    seconds: Times = getattr(row, clock)
    base_seconds: Times = getattr(base, clock)
    ratio = seconds.median / base_seconds.median
    return f"{row.n_bytes / 1e6 / seconds.median:.1f} {ratio:6.2f}x".rjust(18)
