"""The Pythons on this machine that a wheel can be tried with.

Those that are named, else each ``python3.X`` on PATH that starts, and those that pyenv has.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from packaging.tags import Tag

from .problems import ReleaseError

ASK = "import sys, sysconfig; print(*sys.version_info[:2], sysconfig.get_config_var('Py_GIL_DISABLED') or 0)"
MINORS = range(10, 20)


class Interpreter(NamedTuple):
    """A Python that starts."""

    path: str
    minor: int
    is_threaded: bool

    def __str__(self) -> str:
        """Name it as people do."""
        return f"Python 3.{self.minor}{'t' * self.is_threaded}"

    def takes(self, tags: Iterable[Tag]) -> bool:
        """Tell whether its ABI is one of a wheel's."""
        return any(self._takes(tag) for tag in tags)

    def _takes(self, tag: Tag) -> bool:
        least = int(tag.interpreter.removeprefix("cp3"))
        if tag.abi == "abi3":
            return not self.is_threaded and self.minor >= least
        return tag.abi == f"cp3{self.minor}{'t' * self.is_threaded}"


def found(named: Iterable[str]) -> list[Interpreter]:
    """Give the interpreters that are named, or all there are, one of each version."""
    named = list(named)
    if named:
        return [asked(path) or not_there(path) for path in named]
    by_version: dict[str, Interpreter] = {}
    for path in candidates():
        interpreter = asked(path)
        if interpreter and interpreter.minor >= MINORS[0]:
            by_version.setdefault(str(interpreter), interpreter)
    return sorted(by_version.values(), key=lambda one: (one.minor, one.is_threaded))


def candidates() -> Iterator[str]:
    """Give what may be an interpreter."""
    names = [f"python3.{minor}{kind}" for minor in MINORS for kind in ("", "t")]
    yield from filter(None, map(shutil.which, [*names, "python3", "python"]))
    pyenv = os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv"
    folders = Path(pyenv).glob("versions/3.*/bin/python")
    yield from map(str, sorted(folders, key=version_in, reverse=True))


def version_in(path: Path) -> list[int]:
    """Give the numbers in the name of a folder of pyenv."""
    return [int(number) for number in re.findall(r"\d+", path.parent.parent.name)]


def asked(path: str) -> Interpreter | None:
    """Ask an interpreter what it is; none if it does not start."""
    try:
        done = subprocess.run(
            [path, "-c", ASK], capture_output=True, text=True, check=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError):
        return None
    major, minor, is_threaded = map(int, done.stdout.split())
    return Interpreter(path, minor, bool(is_threaded)) if major == 3 else None


def not_there(path: str) -> Interpreter:
    """Refuse a name that is no interpreter."""
    message = f"{path} is no Python that starts"
    raise ReleaseError(message)
