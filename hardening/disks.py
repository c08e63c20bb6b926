"""Full and read-only disks give an error that names a file, and nothing half counts as done."""

import contextlib
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from .children import environment, limited_command, went_wrong
from .jobs import Job, jobs, state
from .running import Skipped

__all__ = ["cases", "small_disk"]

LARGE = "size=200m"


def mount(folder: Path, options: str) -> None:
    """Mount a file system in memory, or change one that is mounted."""
    words = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    if shutil.which("mount") is None:
        reason = "there is no mount"
        raise Skipped(reason)
    if subprocess.run(words, capture_output=True, check=False).returncode:
        reason = "mounting a small file system is not permitted here"
        raise Skipped(reason)


@contextlib.contextmanager
def small_disk(folder: Path, n_bytes: int) -> Iterator[Path]:
    """Give a folder that is a disk of its own, with so many bytes."""
    folder.mkdir()
    mount(folder, f"size={n_bytes}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)
        folder.rmdir()


def on_full_disk(
    job: Job, folder: Path, n_bytes: int, expected: dict[str, bytes]
) -> str | None:
    """Run a command on a disk without room, then with room."""
    with small_disk(folder / "disk", n_bytes) as disk:
        first = limited_command(job.command(folder, disk))
        if first.returncode == 0:
            return None if state(disk) == expected else f"{job.name}: other files"
        problem = went_wrong(first)
        if problem:
            return problem
        if str(disk) not in first.stderr.replace("\n", ""):
            return f"{job.name}: the error names no file there: {first.stderr[-300:]}"
        mount(disk, f"remount,{LARGE}")
        second = limited_command(job.command(folder, disk))
        if second.returncode:
            return f"{job.name}: with more room: {second.stderr[-300:]}"
        return None if state(disk) == expected else f"{job.name}: other files at last"


def on_read_only_disk(job: Job, folder: Path) -> str | None:
    """Run a command on a disk that takes nothing."""
    with small_disk(folder / "disk", 1 << 20) as disk:
        mount(disk, "remount,ro")
        done = limited_command(job.command(folder, disk))
        if done.returncode == 0:
            return f"{job.name}: wrote to a disk that is read-only"
        return went_wrong(done)


def cases(chance: random.Random, folder: Path) -> Iterator[str | None]:
    """Try disks of every size, and read-only ones."""
    all_jobs = jobs(folder, chance)
    expected = {}
    for job in all_jobs:
        into = folder / "undisturbed" / job.name
        into.mkdir(parents=True)
        subprocess.run(job.command(folder, into), check=True, env=environment())
        expected[job.name] = state(into)
    while True:
        job = chance.choice(all_jobs)
        if chance.random() < 0.2:
            yield on_read_only_disk(job, folder)
        else:
            size = sum(map(len, expected[job.name].values()))
            n_bytes = 4096 + chance.randrange(int(size * 1.2))
            yield on_full_disk(job, folder, n_bytes, expected[job.name])
