"""Runs jobs, each in a fresh process, those of a case in turn, and checks their results.

Rounds go over all jobs of a case before the next one begins, each round starting with
another job, so a busy minute of the machine falls on all of them. Where jobs of one
case disagree in a result, none of its times is kept.
"""

import json
import os
import statistics
import subprocess
import sys
from collections import defaultdict
from typing import Any, NamedTuple

from .cases import Case
from .measure import Sample


class Times(NamedTuple):
    """Seconds over all rounds."""

    median: float
    least: float
    most: float


class Row(NamedTuple):
    """What was measured of one phase of one job."""

    case: str
    engine: str
    n_threads: int
    phase: str
    rounds: int
    wall: Times
    cpu: Times
    others: float
    """The mean number of processors that were busy with other work, at the worst."""
    n_bytes: int
    n_results: int
    digest: str


class Disagreement(NamedTuple):
    """A case whose jobs did not do the same."""

    case: str
    reason: str


def run(case: Case) -> list[Row] | Disagreement:
    """Measure a case."""
    samples: dict[tuple[int, str], list[Sample]] = defaultdict(list)
    for turn in range(case.rounds):
        _tell(f"{case.name}: round {turn + 1} of {case.rounds}")
        places = range(len(case.jobs))
        for place in [*places[turn % len(places) :], *places[: turn % len(places)]]:
            try:
                found = run_job(case.jobs[place])
            except subprocess.CalledProcessError as error:
                reason = error.stderr.strip().splitlines() or ["it was killed"]
                engine = case.jobs[place]["engine"]
                return Disagreement(case.name, f"{engine} failed: {reason[-1]}")
            for sample in found:
                samples[place, sample.phase].append(sample)
    _tell("")
    rows = [_row(case, place, taken) for (place, _phase), taken in samples.items()]
    return _disagreement(case.name, samples) or sorted(rows, key=_place_in_table)


def run_job(job: dict[str, Any]) -> list[Sample]:
    """Do one job in a fresh process."""
    process = subprocess.run(
        [sys.executable, "-m", "benchmarks.job"],
        input=json.dumps(job),
        env=os.environ | {"RAYON_NUM_THREADS": str(job["n_threads"])},
        capture_output=True,
        check=True,
        text=True,
    )
    return [Sample(*json.loads(line)) for line in process.stdout.splitlines()]


def _row(case: Case, place: int, samples: list[Sample]) -> Row:
    job, last = case.jobs[place], samples[-1]
    return Row(
        case.name,
        job["engine"],
        job["n_threads"],
        last.phase,
        len(samples),
        _times([sample.wall_seconds for sample in samples]),
        _times([sample.cpu_seconds for sample in samples]),
        max(sample.others for sample in samples),
        last.n_bytes,
        last.n_results,
        last.digest,
    )


def _times(seconds: list[float]) -> Times:
    return Times(statistics.median(seconds), min(seconds), max(seconds))


def _place_in_table(row: Row) -> tuple[str, int]:
    return row.phase, row.n_threads


def _disagreement(
    name: str, samples: dict[tuple[int, str], list[Sample]]
) -> Disagreement | None:
    results: dict[str, set[tuple[int, str]]] = defaultdict(set)
    for (_place, phase), taken in samples.items():
        results[phase] |= {(sample.n_results, sample.digest) for sample in taken}
    different = [phase for phase, found in results.items() if len(found) > 1]
    if not different:
        return None
    return Disagreement(name, f"results differ in {', '.join(different)}")


def _tell(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
