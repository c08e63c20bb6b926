"""A stopwatch for the whole process: wall time, CPU time, memory, and what others took.

CPU time is user and system time of all threads. ``others`` is the mean number of
processors that other processes kept busy meanwhile: times taken while it is well above
zero are not to be trusted. It is read from ``/proc/stat`` and 0 where there is none.
Memory is the largest resident set since the process began: the interpreter and what it
imported, pages of mapped files that were touched, and what earlier phases held.
"""

import contextlib
import gc
import os
import re
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

Result = TypeVar("Result")

EVERYBODY = 2
"""This process and its children that have ended, for :func:`timed`."""


class Cost(NamedTuple):
    """What some work took."""

    wall_seconds: float
    cpu_seconds: float
    others: float
    peak_bytes: int


class Sample(NamedTuple):
    """One measured phase of one job."""

    phase: str
    wall_seconds: float
    cpu_seconds: float
    others: float
    peak_bytes: int
    n_bytes: int
    """Length of what was worked on."""
    n_results: int
    """Number of merges or ids."""
    digest: str
    """Equal for equal results."""


def timed(
    work: Callable[..., Result], *arguments: object, who: int = resource.RUSAGE_SELF
) -> tuple[Result, Cost]:
    """Do ``work``; give its result and what it took.

    ``who`` says whose CPU time: that of this process, of its children, or of both. The
    memory of children is not known, and given as 0 where it is asked for them alone.
    """
    gc.collect()
    busy, cpu, start = _busy_seconds(), _cpu_seconds(who), time.perf_counter()
    result = work(*arguments)
    wall = time.perf_counter() - start
    peak_bytes = 0 if who == resource.RUSAGE_CHILDREN else _peak_bytes()
    cpu = _cpu_seconds(who) - cpu
    busy = _busy_seconds() - busy
    # The clock of /proc/stat ticks in hundredths of a second.
    others = max(0.0, busy - cpu - 0.01) / wall
    return result, Cost(wall, cpu, others, peak_bytes)


def forget_peak() -> None:
    """Let the largest resident set begin anew, where the kernel allows it."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def wait_for_calm(most_seconds: float) -> None:
    """Wait until other processes keep less than a fifth of a processor busy."""
    end = time.monotonic() + most_seconds
    while time.monotonic() < end:
        busy = _busy_seconds()
        time.sleep(0.5)
        if _busy_seconds() - busy < 0.1:
            return


def _cpu_seconds(who: int) -> float:
    if who == EVERYBODY:
        both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        return sum(map(_cpu_seconds, both))
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def _peak_bytes() -> int:
    """Give the largest resident set of this process so far.

    Where the kernel says it, that of this program alone: the number of ``getrusage``
    begins with what the parent held when it started the process.
    """
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        status = ""
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    if found:
        return int(found[1]) << 10
    unit = 1 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _busy_seconds() -> float:
    """Sum what all processors have worked so far, for whomever."""
    try:
        fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    except OSError:
        return 0.0
    user, nice, system, _idle, _wait, interrupts, soft_interrupts = map(int, fields[:7])
    n_ticks = user + nice + system + interrupts + soft_interrupts
    return n_ticks / os.sysconf("SC_CLK_TCK")
