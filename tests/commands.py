"""Commands for tests: in this process, which is fast, or in one of their own.

A process is for tests about exit codes of signals, terminals, closed pipes and imports. Both
give an object with ``exit_code``, ``stdout``, ``stderr`` and ``output`` as text, and
``stdout_bytes`` and ``stderr_bytes``.
"""

import contextlib
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from bytepair.cli.app import app

COMMAND = [sys.executable, "-m", "bytepair"]
ENVIRONMENT = {**os.environ, "PYTHONUTF8": "1", "TERM": "xterm"}
ENVIRONMENT.pop("NO_COLOR", None)


@dataclass(frozen=True)
class Ended:
    """How a process ended."""

    exit_code: int
    stdout_bytes: bytes
    stderr_bytes: bytes

    @property
    def stdout(self):
        """What it wrote."""
        return self.stdout_bytes.decode()

    @property
    def stderr(self):
        """What it told."""
        return self.stderr_bytes.decode()

    @property
    def output(self):
        """Both."""
        return self.stdout + self.stderr


@contextlib.contextmanager
def working_in(folder):
    """Make a folder the current one."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def run(*arguments, stdin=b"", code=0, cwd=None, env=None):
    """Run ``bytepair`` with these arguments in this process, and check its exit code.

    With ``code=None``, any is right.
    """
    typed = list(map(str, arguments))
    with working_in(cwd) if cwd else contextlib.nullcontext():
        found = CliRunner().invoke(app, typed, input=stdin, env=env)
    if found.exception and not isinstance(found.exception, SystemExit):
        raise found.exception
    assert code in (None, found.exit_code), found.output
    return found


def refused(*arguments, stdin=b"", code=1, cwd=None):
    """Run a command that must be refused, and give its one message.

    With ``code=2``, of wrong usage, the message goes on with the usage.
    """
    found = run(*arguments, stdin=stdin, code=code, cwd=cwd)
    assert found.stderr.startswith("bytepair: ")
    assert "\nbytepair: " not in found.stderr
    return found.stderr.removeprefix("bytepair: ").rstrip("\n")


def run_process(*arguments, stdin=b"", code=0, cwd=None, **options):
    """Run ``bytepair`` as a process of its own, and check its exit code.

    ``options`` are those of `subprocess.run`.
    """
    found = subprocess.run(
        [*COMMAND, *(a if isinstance(a, bytes) else str(a) for a in arguments)],
        input=stdin,
        cwd=cwd,
        check=False,
        **{"capture_output": True, "env": ENVIRONMENT, "timeout": 120, **options},
    )
    ended = Ended(found.returncode, found.stdout or b"", found.stderr or b"")
    assert "Traceback" not in ended.stderr, ended.stderr
    assert ended.exit_code == code, ended.output
    return ended
