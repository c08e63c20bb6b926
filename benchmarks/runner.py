"""Runs jobs, each in a fresh process, those of a case in turn, and checks their results.

Rounds go over all jobs of a case before the next one begins, each round starting with
another job, so a busy minute of the machine falls on all of them. The time of a job whose
result is another than that of the first job of its case is not kept.
"""

import json
import os
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from .cases import Case
from .measure import Sample, wait_for_calm


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


class Measured(NamedTuple):
    """A case that was measured."""

    rows: list[Row]
    complaints: list[str]
    """Which engines failed, or did not do the same as the first; they have no rows."""


def run(case: Case, *, calm_seconds: float = 0) -> Measured:
    """Measure a case; before each job wait, but not for ever, for a calm machine."""
    samples: dict[int, list[Sample]] = defaultdict(list)
    complaints: dict[int, str] = {}
    places = range(len(case.jobs))
    for turn in range(case.rounds):
        _tell(f"{case.name}: round {turn + 1} of {case.rounds}")
        first = turn % len(places)
        for place in [*places[first:], *places[:first]]:
            if place in complaints:
                continue
            wait_for_calm(calm_seconds)
            try:
                samples[place] += run_job(case.jobs[place])
            except subprocess.CalledProcessError as error:
                complaints[place] = _last_line(error.stderr)
    _tell("")
    for place in places:
        if _results(samples[place]) - _results(samples[0]):
            complaints.setdefault(place, "its result is another than that of the first")
    kept = [place for place in places if place not in complaints]
    named = (f"{case.jobs[at]['engine']}: {why}" for at, why in complaints.items())
    rows = (row for place in kept for row in _rows(case, place, samples[place]))
    return Measured(sorted(rows, key=_place_in_table), list(named))


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


def _rows(case: Case, place: int, samples: list[Sample]) -> Iterator[Row]:
    """Take the samples of one job together, phase by phase."""
    job = case.jobs[place]
    for phase in dict.fromkeys(sample.phase for sample in samples):
        taken = [sample for sample in samples if sample.phase == phase]
        last = taken[-1]
        yield Row(
            case.name,
            job["engine"],
            job["n_threads"],
            phase,
            len(taken),
            _times([sample.wall_seconds for sample in taken]),
            _times([sample.cpu_seconds for sample in taken]),
            max(sample.others for sample in taken),
            last.n_bytes,
            last.n_results,
            last.digest,
        )


def _results(samples: list[Sample]) -> set[tuple[str, int, str]]:
    return {(sample.phase, sample.n_results, sample.digest) for sample in samples}


def _times(seconds: list[float]) -> Times:
    return Times(statistics.median(seconds), min(seconds), max(seconds))


def _place_in_table(row: Row) -> tuple[str, int]:
    return row.phase, row.n_threads


def _last_line(text: str) -> str:
    return next(reversed(text.strip().splitlines()), "it was killed")


def _tell(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
