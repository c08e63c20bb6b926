"""Commands and functions in processes of their own, where a limit or an abort harms nobody."""

import multiprocessing
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

__all__ = ["Worker", "command", "limited_command", "went_wrong"]

PACKAGE = Path(__file__).parent.parent / "python"


def environment() -> dict[str, str]:
    """Give the environment of a child: that of this process, with the package and plain output."""
    return {**os.environ, "PYTHONPATH": str(PACKAGE), "NO_COLOR": "1", "COLUMNS": "100"}


def command(*words: object) -> list[str]:
    """Give the command line ``bytepair …``."""
    return [sys.executable, "-m", "bytepair", *map(str, words)]


def limited_command(
    words: list[str], address_space: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command, in so many bytes of address space if that is said."""

    def limit() -> None:
        if address_space is not None:
            resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))

    return subprocess.run(
        words,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        env=environment(),
        preexec_fn=limit,
        timeout=600,
    )


def went_wrong(done: subprocess.CompletedProcess[str]) -> str | None:
    """Say what is wrong with how a command ended: a signal, a panic or a traceback."""
    if done.returncode < 0:
        return f"signal {-done.returncode}: {done.args}"
    for word in ("Traceback", "panicked", "PanicException"):
        if word in done.stderr:
            return f"{word}: {done.args}: {done.stderr[-300:]}"
    if done.returncode and not done.stderr.strip():
        return f"exit code {done.returncode} without a message: {done.args}"
    return None


class Worker:
    """One process that runs functions; one that dies is replaced."""

    def __init__(self, address_space: int | None = None) -> None:
        self.address_space = address_space
        self.pool = self.fresh()

    def fresh(self) -> ProcessPoolExecutor:
        """Start it."""
        return ProcessPoolExecutor(
            1,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=limit_to,
            initargs=(self.address_space,),
        )

    def run(
        self, function: Callable[..., str | None], *arguments: object
    ) -> str | None:
        """Give what the function gives, or say that the process died."""
        try:
            return self.pool.submit(function, *arguments).result(timeout=120)
        except BrokenProcessPool:
            self.pool = self.fresh()
            return "the process died"
        except TimeoutError:
            for process in multiprocessing.active_children():
                process.kill()
            self.pool = self.fresh()
            return "it took more than two minutes"

    def close(self) -> None:
        """End it."""
        self.pool.shutdown(cancel_futures=True)


def limit_to(address_space: int | None) -> None:
    """Limit the memory of this process."""
    if address_space is not None:
        resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
