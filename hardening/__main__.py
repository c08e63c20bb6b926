"""The command: ``python -m hardening [CHECK …]``; the exit code is 1 if a case went wrong."""

import argparse
import sys
import tempfile
from pathlib import Path

from . import adversary, disks, folders, kills, memory, mutations, tampering, threads
from .running import Check, run

CHECKS: dict[str, Check] = {
    "mutations": mutations.cases,
    "kills": kills.cases,
    "disks": disks.cases,
    "tampering": tampering.cases,
    "folders": folders.cases,
    "adversary": adversary.cases,
    "memory": memory.cases,
    "threads": threads.cases,
}


def main() -> int:
    """Run the checks that are named, or all."""
    parser = argparse.ArgumentParser(prog="hardening", description=__doc__)
    names = ", ".join(CHECKS)
    parser.add_argument("names", nargs="*", metavar="CHECK", help=f"of {names}")
    parser.add_argument("--seconds", type=float, default=60, help="for each check")
    parser.add_argument("--seed", type=int, default=0)
    found = parser.parse_args()
    unknown = [name for name in found.names if name not in CHECKS]
    if unknown:
        parser.error(f"there is no check {unknown[0]!r}; there are {names}")
    failed = False
    for name in found.names or CHECKS:
        with tempfile.TemporaryDirectory(prefix="hardening-") as folder:
            outcome = run(name, CHECKS[name], found.seconds, found.seed, Path(folder))
        print(outcome, flush=True)
        for failure in outcome.failures:
            print(f"  {failure}", flush=True)
        failed = failed or bool(outcome.failures)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
