"""Runs jobs, each in a fresh process, those of a case in turn, and checks their results.

Rounds go over all jobs of a case before the next one begins, each round starting with
another job, so a busy minute of the machine falls on all of them. The time of a job whose
result is another than that of the first job of its case is not kept. A job that takes too
long is stopped and left out; one that took long is not run in each round.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from . import compare, engines
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
    peak_bytes: int
    """The median of the most memory that the process held."""
    is_compared: bool
    """Whether it does the same work as the first of its case, by another algorithm not."""
    n_bytes: int
    n_results: int
    digest: str


class Measured(NamedTuple):
    """A case that was measured."""

    rows: list[Row]
    complaints: list[str]
    """Which engines did not do the same as the first, or our own failed: no rows."""
    too_slow: list[str]
    """Which engines were stopped; they have no rows either."""
    refused: list[str]
    """Which peers cannot do it; they have no rows either."""


def run(case: Case, *, calm_seconds: float = 0) -> Measured:
    """Measure a case; before each job wait, but not for ever, for a calm machine."""
    samples: dict[int, list[Sample]] = defaultdict(list)
    complaints: dict[int, str] = {}
    too_slow: dict[int, str] = {}
    refused: dict[int, str] = {}
    spent: dict[int, float] = defaultdict(float)
    with tempfile.TemporaryDirectory() as folder:
        for turn, place in _turns(case):
            if place in complaints or place in too_slow or place in refused:
                continue
            if spent[place] > case.budget_seconds:
                continue
            _tell(f"{case.name}: round {turn + 1}, {case.jobs[place]['engine']}")
            wait_for_calm(calm_seconds)
            job = {**case.jobs[place], "learned": str(Path(folder, f"{turn}-{place}"))}
            start = time.monotonic()
            try:
                found = run_job(job, case.timeout_seconds)
            except subprocess.CalledProcessError as error:
                is_ours = job["engine"].split()[0] == case.jobs[0]["engine"].split()[0]
                why = complaints if is_ours else refused
                why[place] = _last_line(error.stderr)
                continue
            except subprocess.TimeoutExpired as error:
                too_slow[place] = f"more than {error.timeout:.0f} s"
                continue
            spent[place] += time.monotonic() - start
            samples[place] += found
            wrong = _difference(case.jobs[0], samples[0], job, found, Path(folder))
            if wrong:
                complaints[place] = wrong
    _tell("")
    left_out = complaints.keys() | too_slow.keys() | refused.keys()
    rows = (
        row
        for place in range(len(case.jobs))
        if place not in left_out
        for row in _rows(case, place, samples[place])
    )
    return Measured(
        sorted(rows, key=_place_in_table),
        _named(case, complaints),
        _named(case, too_slow),
        _named(case, refused),
    )


def _turns(case: Case) -> Iterator[tuple[int, int]]:
    """Give the order of the jobs: in each round another one is the first."""
    places = range(len(case.jobs))
    for turn in range(case.rounds):
        first = turn % len(places)
        for place in (*places[first:], *places[:first]):
            yield turn, place


def _difference(
    first: dict[str, Any],
    reference: list[Sample],
    job: dict[str, Any],
    found: list[Sample],
    folder: Path,
) -> str:
    """Say how the result of a job is not that of the first, ``""`` where it is."""
    if not reference or not _is_compared(job):
        return ""
    if _results(found) == _results(reference[: len(found)]):
        return ""
    theirs = Path(job["learned"])
    if not theirs.exists():
        return "its result is another than that of the first"
    return compare.difference(folder / "0-0", theirs, first["merges"])


def _is_compared(job: dict[str, Any]) -> bool:
    return job["engine"] not in job.get("time_only", [])


def _named(case: Case, why: dict[int, str]) -> list[str]:
    """Say what happened to which jobs, once where several say the same."""
    said: dict[str, list[str]] = defaultdict(list)
    for place, reason in sorted(why.items()):
        job = case.jobs[place]
        said[reason].append(f"{job['engine']}, {job['n_threads']} threads")
    return [f"{'; '.join(jobs)}: {reason}" for reason, jobs in said.items()]


def run_job(job: dict[str, Any], timeout_seconds: float | None = None) -> list[Sample]:
    """Do one job in a fresh process."""
    process = subprocess.run(
        [engines.interpreter(job["engine"]), "-m", "benchmarks.job"],
        input=json.dumps(job),
        env=os.environ | _environment(job["n_threads"]),
        capture_output=True,
        check=True,
        text=True,
        timeout=timeout_seconds,
    )
    return [Sample(*json.loads(line)) for line in process.stdout.splitlines()]


def _environment(n_threads: int) -> dict[str, str]:
    """Tell libraries that ask the environment how many threads they may use.

    Nobody here multiplies matrices, but numpy starts threads for that, which wait busily
    for a while and would be taken for work.
    """
    return {
        "OPENBLAS_NUM_THREADS": "1",
        "RAYON_NUM_THREADS": str(n_threads),
        "TOKENIZERS_PARALLELISM": "false" if n_threads == 1 else "true",
        "OMP_NUM_THREADS": str(n_threads),
    }


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
            round(statistics.median(sample.peak_bytes for sample in taken)),
            _is_compared(job),
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
