"""The commands: ``python -m tools.release contents|try|build|sums DIST``; the exit code is 1 if something is wrong."""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from . import interpreters, papers, sdist, trials, wheels
from .problems import ReleaseError


def main() -> int:
    """Run the command that is named."""
    parser = argparse.ArgumentParser(prog="tools.release", description=__doc__)
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument(
        "dist", type=Path, help="folder of the wheels and the source distribution"
    )
    parser.add_argument(
        "--python",
        action="append",
        default=[],
        help="try with this Python alone; may be repeated",
    )
    given = parser.parse_args()
    start = time.monotonic()
    try:
        n_problems = told(COMMANDS[given.command](given))
    except ReleaseError as error:
        n_problems = told([str(error)])
    print(f"{given.command}: {n_problems} problems, {time.monotonic() - start:.0f} s")
    return int(n_problems > 0)


def told(problems: Iterator[str] | list[str]) -> int:
    """Print problems as they come; gives how many there were."""
    n_problems = 0
    for problem in problems:
        n_problems += 1
        print(f"error: {problem}", flush=True)
    return n_problems


def files_in(folder: Path, pattern: str) -> list[Path]:
    """List the files that a command is about; none are an error."""
    found = sorted(folder.glob(pattern))
    if not found:
        message = f"{folder} holds no {pattern}: make wheel and make sdist write them"
        raise ReleaseError(message)
    return found


def contents(given: argparse.Namespace) -> Iterator[str]:
    """Open all files."""
    for path in [*files_in(given.dist, "*.whl"), *files_in(given.dist, "*.tar.gz")]:
        look = wheels.problems if path.suffix == ".whl" else sdist.problems
        print(f"{path.name}, {path.stat().st_size:,} bytes", flush=True)
        yield from (f"{path.name} {problem}" for problem in look(path))


def try_wheels(given: argparse.Namespace) -> Iterator[str]:
    """Install each wheel in clean environments."""
    found = interpreters.found(given.python)
    with tempfile.TemporaryDirectory(prefix="release-") as where:
        for path in files_in(given.dist, "*.whl"):
            print(path.name, flush=True)
            yield from (
                f"{path.name}: {one}" for one in trials.run(path, found, Path(where))
            )


def build(given: argparse.Namespace) -> Iterator[str]:
    """Build from the source distribution, and try what comes out with the Python that runs this."""
    (source,) = files_in(given.dist, "*.tar.gz")
    with tempfile.TemporaryDirectory(prefix="release-") as where:
        wheel = sdist.built(source, Path(where))
        print(wheel.name, flush=True)
        found = interpreters.found([sys.executable])
        trial = trials.Trial("from source", "", [], ["short_test.py"])
        problem = trials.tried(wheel, found[0], trial, Path(where))
        if problem:
            yield f"{wheel.name}: {problem}"


def sums(given: argparse.Namespace) -> Iterator[str]:
    """Write the papers."""
    print(papers.write_bill(given.dist))
    print(papers.write_sums(given.dist))
    yield from ()


COMMANDS = {"contents": contents, "try": try_wheels, "build": build, "sums": sums}

if __name__ == "__main__":
    sys.exit(main())
