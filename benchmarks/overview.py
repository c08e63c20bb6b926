"""One table over all cases of a benchmark of encoding: what holds, and what does not.

A cell is our speed over that of the best peer with the same output on as many threads,
by CPU time, with the beginning of the peer's name; ``*`` marks what misses its bar. Bars
hold for CPU time on one thread. Which engine is ours is said by ``OURS``.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from . import surgery
from .runner import Row

OURS = "bytepair"
PHASES = ("cold", "fresh", "warm")
Cells = dict[tuple[str, int, str], list[Row]]
"""Rows by output, threads and phase."""


class Best(NamedTuple):
    """How we compare with the best peer."""

    ratio: float
    peer: str


def ratios(wanted: dict[str, Any], rows: list[Row]) -> Iterator[str]:
    """Draw our speed over the best peer's: a line for each case, by both clocks."""
    cases = _by_case(rows)
    columns = list(dict.fromkeys(key for cells in cases.values() for key in cells))
    columns.sort(key=lambda key: (key[1], key[0] != "numpy", _phase_order(key[2])))
    n_missed: dict[str, int] = defaultdict(int)
    for clock in ("cpu", "wall"):
        yield f"\nours over the best peer, {clock} time; * misses its bar"
        yield from _titles(columns)
        for name, cells in cases.items():
            shown = []
            for key in columns:
                best = _best(cells.get(key, []), clock)
                is_barred = clock == "cpu" and key[1] == 1
                bar = bar_of(wanted, name, key[2]) if is_barred else 0.0
                n_missed[key[2]] += best is not None and best.ratio < bar
                shown.append(_cell(best, bar))
            yield f"{name:32}" + "".join(shown)
    missed = ", ".join(f"{phase} {n}" for phase, n in n_missed.items())
    yield f"cells that miss their bar: {missed}"
    yield from _own(wanted, cases)
    yield from _scaling(wanted, cases)


def latency(wanted: dict[str, Any], rows: list[Row]) -> Iterator[str]:
    """Draw microseconds of CPU and wall time of a call; the best peer is to be reached."""
    yield from _a_call(rows, lambda phase: int(phase.split()[0].replace(",", "")))


def calls(wanted: dict[str, Any], rows: list[Row]) -> Iterator[str]:
    """Draw microseconds of a call of each kind."""
    kinds = list(dict.fromkeys(row.phase for row in rows))
    yield from _a_call(rows, kinds.index)


def _a_call(rows: list[Row], place: Callable[[str], int]) -> Iterator[str]:
    """Draw a table for each case, with a column for each phase, by its place."""
    for case in dict.fromkeys(row.case for row in rows):
        for clock in ("wall", "cpu"):
            found = [row for row in rows if row.case == case]
            phases = sorted(dict.fromkeys(row.phase for row in found), key=place)
            yield f"\n{case}: microseconds of {clock} time a call"
            yield f"{'engine':24}" + "".join(f"{phase:>11}" for phase in phases)
            for engine in dict.fromkeys(row.engine for row in found):
                line = {row.phase: row for row in found if row.engine == engine}
                times = (_seconds(line[phase], clock) * 1e6 for phase in phases)
                yield f"{engine:24}" + "".join(f"{time:11.2f}" for time in times)
            for output in dict.fromkeys(_output(row) for row in found):
                cells = (_best(_of(found, output, phase), clock) for phase in phases)
                shown = "".join(_cell(best, 1.0).rjust(11) for best in cells)
                yield f"{f'best over ours, {output}':24}{shown}"


def least(wanted: dict[str, Any], rows: list[Row]) -> Iterator[str]:
    """List which of our speeds are below the least that is wanted."""
    bar = wanted["least_speed"]
    ours = [row for row in rows if _is_ours(row)]
    slow = [row for row in ours if _speed(row, "cpu") < bar]
    yield f"\nbelow {bar} MB/s: {len(slow)} of {len(ours)}"
    yield from (f"  {row.case}: {_speed(row, 'cpu'):.1f} MB/s" for row in slow)


def held(wanted: dict[str, Any], rows: list[Row]) -> Iterator[str]:
    """Say how much memory was held above the loaded tokenizer."""
    bar = wanted["most_megabytes"]
    loaded = {
        (row.case, row.engine, row.n_threads): row.peak_bytes
        for row in rows
        if row.phase == "loaded"
    }
    yield f"\nmost memory above the loaded tokenizer; * is more than {bar} MB"
    for row in rows:
        if row.phase != "loaded":
            base = loaded[row.case, row.engine, row.n_threads]
            above = (row.peak_bytes - base) / 1e6
            mark = "*" if above > bar else " "
            label = f"{row.case}, {row.engine}, {row.n_threads} threads"
            yield f"{label:60}{above:9.1f} MB{mark} {_speed(row, 'wall'):8.1f} MB/s"


def corpus(wanted: dict[str, Any], rows: list[Row]) -> Iterator[str]:
    """Draw what a whole job takes, how many times ours, and what it adds to the encoder."""
    ours = {
        row.n_threads: row for row in rows if row.phase == "files" and _is_ours(row)
    }
    for case in dict.fromkeys(row.case for row in rows):
        yield f"\n{case}: times of ours for the same files, and nanoseconds of CPU per byte"
        yield (
            f"{'processes':>9} {'engine':20}{'phase':8}{'wall':>9}{'CPU':>9}"
            f"{'MB/s':>9}{'CPU ns/B':>10}"
        )
        for row in (row for row in rows if row.case == case):
            base = ours[row.n_threads]
            yield (
                f"{row.n_threads:9} {row.engine:20}{row.phase:8}"
                f"{row.wall.median / base.wall.median:8.2f}x"
                f"{row.cpu.median / base.cpu.median:8.2f}x"
                f"{row.n_bytes / 1e6 / row.wall.median:9.1f}{_ns_per_byte(row):10.2f}"
            )
    for bare in (row for row in rows if row.phase == "bare"):
        added = _ns_per_byte(ours[bare.n_threads]) - _ns_per_byte(bare)
        yield f"reading, parsing and writing add {added:.2f} ns of CPU time per byte"


def stats(wanted: dict[str, Any], rows: list[Row]) -> Iterator[str]:
    """Draw the speed of measuring beside that of the bare encoder, and the memory of both."""
    bar = wanted["least_share"]
    yield f"\nspeed, and its share of the bare encoder's; * is less than {bar}"
    yield (
        f"{'':32}{'threads':>8}{'phase':>8}{'CPU MB/s':>10}{'share':>8}"
        f"{'wall MB/s':>11}{'share':>8}{'peak MB':>9}"
    )
    bare: dict[tuple[str, int], Row] = {}
    for row in rows:
        base = bare.setdefault((row.case, row.n_threads), row)
        shares = [base.cpu.median / row.cpu.median, base.wall.median / row.wall.median]
        mark = "*" if row.phase == "sums" and shares[0] < bar else " "
        yield (
            f"{row.case:32}{row.n_threads:8}{row.phase:>8}"
            f"{_speed(row, 'cpu'):10.1f}{shares[0]:7.2f}{mark}"
            f"{_speed(row, 'wall'):11.1f}{shares[1]:8.2f}{row.peak_bytes / 1e6:9.1f}"
        )


def _is_ours(row: Row) -> bool:
    return row.engine.partition(" ")[0] == OURS


def _ns_per_byte(row: Row) -> float:
    return row.cpu.median / row.n_bytes * 1e9


KINDS: dict[str, Callable[[dict[str, Any], list[Row]], Iterator[str]]] = {
    "ratios": ratios,
    "latency": latency,
    "calls": calls,
    "least": least,
    "held": held,
    "corpus": corpus,
    "stats": stats,
    "extend": surgery.overview,
}


def _own(wanted: dict[str, Any], cases: dict[str, Cells]) -> Iterator[str]:
    """Compare our speed with a vocabulary of our own with that with another one."""
    for case, cells in cases.items():
        vocabulary, _, text = case.partition(", ")
        own = wanted.get("own", {}).get(vocabulary)
        others = cases.get(f"{own['beside']}, {text}") if own else None
        if not others:
            continue
        shown = []
        for key in (("numpy", 1, phase) for phase in PHASES):
            pair = [_ours(found.get(key, [])) for found in (cells, others)]
            mine, other = (_speed(row, "cpu") if row else 0.0 for row in pair)
            if mine and other:
                mark = "*" if mine / other < own["bar"] else " "
                shown.append(f"{key[2]:>8} {mine / other:5.2f}{mark}")
        beside = f"{case}: our cpu speed over that with {own['beside']}"
        yield f"{beside:64}" + "".join(shown)


def _scaling(wanted: dict[str, Any], cases: dict[str, Cells]) -> Iterator[str]:
    """Compare our time on more threads with that on one."""
    bars = wanted.get("scaling")
    if not bars:
        return
    yield "\nours on more threads: times as fast by wall time, times the cpu time"
    for case, cells in cases.items():
        for output, n_threads, phase in cells:
            alone = _ours(cells.get((output, 1, phase), []))
            together = _ours(cells[output, n_threads, phase])
            if n_threads == 1 or not alone or not together:
                continue
            wall = alone.wall.median / together.wall.median
            cpu = together.cpu.median / alone.cpu.median
            marks = "*" if wall < bars["wall"] or cpu > bars["cpu"] else " "
            label = f"{case}, {output}, {n_threads} threads, {phase}"
            yield f"{label:56}{wall:6.2f} {cpu:6.2f} {marks}"


def _by_case(rows: list[Row]) -> dict[str, Cells]:
    cases: dict[str, Cells] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        cases[row.case][_output(row), row.n_threads, row.phase].append(row)
    return cases


def _best(rows: list[Row], clock: str) -> Best | None:
    """Compare our row with the best peer's of those that worked on as much."""
    found = []
    for ours in filter(_is_ours, rows):
        for row in rows:
            if not _is_ours(row) and row.n_bytes == ours.n_bytes:
                ratio = _seconds(row, clock) / max(_seconds(ours, clock), 1e-9)
                found.append(Best(ratio, row.engine.partition(" ")[0]))
    return min(found, default=None)


def _of(rows: list[Row], output: str, phase: str) -> list[Row]:
    return [row for row in rows if (_output(row), row.phase) == (output, phase)]


def _ours(rows: list[Row]) -> Row | None:
    """Give our row, of several that with the longest text."""
    return max(filter(_is_ours, rows), key=lambda row: row.n_bytes, default=None)


def _is_ours(row: Row) -> bool:
    return row.engine.partition(" ")[0] == OURS


def _output(row: Row) -> str:
    return row.engine.partition(" ")[2]


def _seconds(row: Row, clock: str) -> float:
    seconds: float = getattr(row, clock).median
    return seconds


def _speed(row: Row, clock: str) -> float:
    return row.n_bytes / 1e6 / max(_seconds(row, clock), 1e-9)


def bar_of(wanted: dict[str, Any], case: str, phase: str) -> float:
    """Give the ratio that a definition wants for a text and a phase, 0 for none."""
    bars: dict[str, Any] = wanted.get("bars", {})
    special = bars.get(case.partition(", ")[2], {})
    bar: float = special.get(phase, bars.get(phase, 0.0))
    return bar


def _cell(best: Best | None, bar: float) -> str:
    if best is None:
        return f"{'-':>11}"
    mark = "*" if best.ratio < bar else " "
    return f"{best.ratio:6.2f}{mark}{best.peer.rpartition('-')[2][:4]:4}"


def _phase_order(phase: str) -> int:
    return PHASES.index(phase) if phase in PHASES else len(PHASES)


def _titles(columns: list[tuple[str, int, str]]) -> Iterator[str]:
    groups = dict.fromkeys((output, n_threads) for output, n_threads, _ in columns)
    spans = ""
    for output, n_threads in groups:
        n_columns = sum(key[:2] == (output, n_threads) for key in columns)
        spans += f"{output}, threads: {n_threads}".center(11 * n_columns)
    yield f"{'':32}{spans}"
    yield f"{'':32}" + "".join(f"{phase:>11}" for _, _, phase in columns)
