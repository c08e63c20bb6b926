"""Commands that are killed at a random moment leave no half file and go on to the same bytes."""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from .children import environment
from .jobs import Job, jobs, state

__all__ = ["cases"]

MAX_KILLS = 3
SETTLES = 0.3
"""Seconds after which the processes of a killed command have seen that it is gone."""


def undisturbed(job: Job, folder: Path) -> tuple[dict[str, bytes], float]:
    """Give what a command writes if nobody disturbs it, and how long it takes."""
    into, started = folder / "undisturbed" / job.name, time.monotonic()
    into.mkdir(parents=True)
    subprocess.run(job.command(folder, into), check=True, env=environment())
    return state(into), time.monotonic() - started


def kill_once(
    words: list[str], seconds: float, temporary: Path, *, whole_group: bool
) -> None:
    """Start a command and kill it, alone or with all its processes."""
    with subprocess.Popen(
        words,
        env={**environment(), "TMPDIR": str(temporary)},
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        time.sleep(seconds)
        with contextlib.suppress(ProcessLookupError):
            if whole_group:
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
    time.sleep(SETTLES)


def half_done(job: Job, into: Path, whole: dict[str, bytes]) -> str | None:
    """Say if a file that counts as done differs from what it should be."""
    path = into / job.out
    if path.is_file() and path.read_bytes() != whole[job.out]:
        return f"{job.name}: a killed command left another {job.out}"
    return None


def cases(chance: random.Random, folder: Path) -> Iterator[str | None]:
    """Kill commands a few times each, then let them end."""
    all_jobs = jobs(folder, chance)
    expected = {job.name: undisturbed(job, folder) for job in all_jobs}
    while True:
        job = chance.choice(all_jobs)
        whole, seconds = expected[job.name]
        into, temporary = folder / "killed", folder / "temporary"
        into.mkdir()
        temporary.mkdir()
        words, problem = job.command(folder, into), None
        for _ in range(chance.randint(1, MAX_KILLS)):
            moment = chance.uniform(0.1, max(seconds, 0.2))
            whole_group = chance.random() < 0.5
            kill_once(words, moment, temporary, whole_group=whole_group)
            problem = problem or half_done(job, into, whole)
        problem = end(job, words, temporary) or problem
        problem = problem or difference(job, state(into), whole)
        if not problem and any(temporary.iterdir()):
            problem = f"{job.name}: temporary files are left over"
        shutil.rmtree(into)
        shutil.rmtree(temporary)
        yield problem


def end(job: Job, words: list[str], temporary: Path) -> str | None:
    """Let a command end; gives what it says if it fails."""
    last = subprocess.run(
        words,
        env={**environment(), "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        check=False,
    )
    return f"{job.name}: {last.stderr[-300:]}" if last.returncode else None


def difference(
    job: Job, found: dict[str, bytes], whole: dict[str, bytes]
) -> str | None:
    """Say which files are other than those of a command that nobody disturbed."""
    names = sorted(found.keys() | whole.keys())
    other = [name for name in names if found.get(name) != whole.get(name)]
    if not other:
        return None
    return f"{job.name}: other files than undisturbed: {other[:5]}"
