"""Wheels in clean environments: no Rust within reach, nothing compiled, nothing else installed.

In each environment ``short_test.py``, with the README's Python, or ``commands_test.py`` is run.
The stub of the core is checked once. The oldest libraries that the metadata promise are tried once for
each Python.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from . import project
from .interpreters import Interpreter
from .problems import ReleaseError
from .wheels import tags_of

HERE = Path(__file__).resolve().parent
SECONDS = 300
BUILDERS = ("cargo", "rustc", "maturin", "cc", "gcc", "clang", "cl")

# The oldest numpy of 1.24 or later that has wheels for a Python.
OLDEST_NUMPY = {10: "1.24.0", 11: "1.24.0", 12: "1.26.0", 13: "2.1.0", 14: "2.3.2"}


class Trial(NamedTuple):
    """An environment: what is installed beside the wheel, and what is run in it."""

    name: str
    extra: str
    others: list[str]
    programs: list[str]


def trials_for(interpreter: Interpreter) -> Iterator[Trial]:
    """Give the environments that a Python is tried with."""
    yield Trial("alone", "", [], ["short_test.py"])
    yield Trial("[cli]", "[cli]", [], ["commands_test.py"])
    numpy = OLDEST_NUMPY.get(interpreter.minor)
    if numpy and not interpreter.is_threaded:
        oldest = [f"numpy=={numpy}", *oldest_of("cli")]
        programs = ["short_test.py", "commands_test.py"]
        yield Trial(f"[cli] with the oldest, numpy {numpy}", "[cli]", oldest, programs)
    if interpreter.minor == sys.version_info[1] and not interpreter.is_threaded:
        checkers = project.read("pyproject.toml")["dependency-groups"]["check"]
        yield Trial("stubs", "", checkers, ["stubs_test.py"])


def oldest_of(extra: str) -> list[str]:
    """Pin the requirements of an extra to the oldest versions that it takes."""
    wanted = project.settings()["optional-dependencies"][extra]
    return [one.replace(">=", "==") for one in wanted]


def run(wheel: Path, interpreters: list[Interpreter], where: Path) -> Iterator[str]:
    """Try a wheel with each Python that takes it; gives what went wrong."""
    _version, tags = tags_of(wheel)
    fitting = [one for one in interpreters if one.takes(tags)]
    if not fitting:
        yield f"no Python here takes it; there are {', '.join(map(str, interpreters)) or 'none'}"
    for interpreter in fitting:
        for trial in trials_for(interpreter):
            start = time.monotonic()
            problem = tried(wheel, interpreter, trial, where)
            took = time.monotonic() - start
            outcome = "failed" if problem else "passed"
            print(f"  {interpreter}, {trial.name}: {outcome}, {took:.0f} s", flush=True)
            if problem:
                yield f"{interpreter}, {trial.name}: {problem}"


def tried(
    wheel: Path, interpreter: Interpreter, trial: Trial, where: Path
) -> str | None:
    """Install and run; gives the last lines of what went wrong."""
    with tempfile.TemporaryDirectory(dir=where, prefix="trial-") as folder:
        try:
            python = environment(Path(folder) / "env", interpreter)
            install(
                python,
                [f"bytepair{trial.extra} @ {wheel.resolve().as_uri()}", *trial.others],
            )
            work = Path(folder) / "work"
            work.mkdir()
            for program in trial.programs:
                command = [str(python), str(HERE / program), str(project.ROOT)]
                started(command, work, python)
        except ReleaseError as error:
            return str(error)
    return None


def environment(folder: Path, interpreter: Interpreter) -> Path:
    """Make an empty environment; gives its Python."""
    started(
        [interpreter.path, "-m", "venv", "--without-pip", str(folder)], folder.parent
    )
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def install(python: Path, wanted: list[str]) -> None:
    """Install with the pip that runs this, wheels alone: whatever would be compiled is an error."""
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    options = [
        "--only-binary",
        ":all:",
        "--disable-pip-version-check",
        "--no-warn-script-location",
    ]
    started([*pip, *options, *wanted], python.parent)


def started(command: list[str], where: Path, python: Path | None = None) -> None:
    """Run a command to its end. Beside a Python of a trial it finds no compiler."""
    variables = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PYTHON")
    }
    variables.pop("VIRTUAL_ENV", None)
    if python:
        variables["PATH"] = os.pathsep.join([str(python.parent), *without_builders()])
    try:
        done = subprocess.run(
            command,
            cwd=where,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        message = f"{command[1]} took longer than {SECONDS} s"
        raise ReleaseError(message) from error
    if done.returncode:
        lines = done.stdout.decode(errors="replace").strip().splitlines()
        raise ReleaseError("\n    ".join(["", *lines[-12:]]).strip())


def without_builders() -> list[str]:
    """Give the folders of PATH that hold nothing that compiles."""
    folders = os.environ.get("PATH", "").split(os.pathsep)
    return [
        one
        for one in folders
        if one and not any(shutil.which(tool, path=one) for tool in BUILDERS)
    ]
