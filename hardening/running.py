"""Run a check for its share of the time, and say what it found.

A check is a generator: each step tries one case and gives ``None`` if all is well, or what
went wrong. Cases are made by chance; the same seed makes the same cases in the same order,
but for moments at which something is killed.
"""

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Check", "Outcome", "Skipped", "run"]

Check = Callable[[random.Random, Path], Iterator[str | None]]
"""From a source of chance and an empty folder to cases."""

MAX_FAILURES = 5


class Skipped(Exception):
    """What a check needs is not here; the message says what."""


@dataclass
class Outcome:
    """What became of a check."""

    name: str
    n_cases: int = 0
    failures: list[str] = field(default_factory=list)
    skipped: str = ""
    seconds: float = 0.0

    def __str__(self) -> str:
        if self.skipped:
            return f"{self.name:12} skipped: {self.skipped}"
        end = "all well" if not self.failures else f"{len(self.failures)} FAILED"
        return f"{self.name:12} {self.n_cases:>8,} cases in {self.seconds:.0f} s, {end}"


def run(name: str, check: Check, seconds: float, seed: int, folder: Path) -> Outcome:
    """Try cases until the time is over or too many have failed."""
    outcome, started = Outcome(name), time.monotonic()
    cases = check(random.Random(seed), folder)
    try:
        for failure in cases:
            outcome.n_cases += 1
            if failure:
                outcome.failures.append(f"case {outcome.n_cases}: {failure}")
            outcome.seconds = time.monotonic() - started
            if len(outcome.failures) >= MAX_FAILURES or outcome.seconds > seconds:
                break
    except Skipped as reason:
        outcome.skipped = str(reason)
    finally:
        cases.close()  # type: ignore[attr-defined]
    return outcome
