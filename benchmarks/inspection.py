"""``python -m benchmarks.inspection``: time and memory of ``doctor`` and ``report``.

Each command runs in a process of its own, on o200k and on a vocabulary of 262,144 tokens in
SentencePiece's dialect, which is learned first and kept in ``target``. With ``--corpus`` the
report measures that corpus too. Nothing else is compared: no other tool makes such a page.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from . import texts

LARGE_SIZE = 262_144
LARGE = Path("target") / f"inspection-{LARGE_SIZE}.bytepair"
SOURCES = ("multilingual.txt", "chinese.txt", "code.txt", "english-docs.txt")


class Cost(NamedTuple):
    """What a command took: seconds, those of processors, and megabytes at the peak."""

    seconds: float
    cpu_seconds: float
    megabytes: float


def main() -> None:
    """Measure each command on each tokenizer, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", action="append", default=[])
    arguments = parser.parse_args()
    o200k = texts.SHARED / "vocabularies" / "tiktoken" / "o200k_base.tiktoken"
    paths = {"o200k": o200k, f"{LARGE_SIZE:,} tokens": large()}
    print(
        f"{'command':<10}{'tokenizer':<18}{'seconds':>9}{'CPU':>8}{'MB':>8}{'page, kB':>10}"
    )
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        for name, path in paths.items():
            if not path.is_file():
                print(f"skipped {name}: no {path}", file=sys.stderr)
                continue
            cost = measured("doctor", str(path))
            print(row("doctor", name, cost))
            inputs = [str(path), *arguments.corpus]
            cost = measured("report", *inputs, "-o", str(page))
            print(row("report", name, cost) + f"{page.stat().st_size / 1e3:>10,.0f}")


def row(command: str, name: str, cost: Cost) -> str:
    """Write a row of the table."""
    return f"{command:<10}{name:<18}{cost.seconds:>9.2f}{cost.cpu_seconds:>8.2f}{cost.megabytes:>8,.0f}"


def measured(*arguments: str) -> Cost:
    """Run a command, and give what it took."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "bytepair", *arguments]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode > 1:  # 1 is also what the doctor says of a fault
        sys.exit(f"{' '.join(arguments)}: exit code {process.returncode}")
    cpu_seconds = usage.ru_utime + usage.ru_stime
    return Cost(time.perf_counter() - start, cpu_seconds, kilobytes(usage) / 1e3)


def kilobytes(usage: resource.struct_rusage) -> float:
    """Give the peak of memory, which macOS counts in bytes."""
    return usage.ru_maxrss / 1024 if sys.platform == "darwin" else usage.ru_maxrss


def large() -> Path:
    """Learn a vocabulary as large as the largest published ones, once."""
    import bytepair

    found = [path for path in map(texts.corpus, SOURCES) if path.is_file()]
    if found and not LARGE.is_file():
        LARGE.parent.mkdir(exist_ok=True)
        tokenizer = bytepair.train(
            found, vocab_size=LARGE_SIZE, dialect="sentencepiece", lines=True
        )
        tokenizer.save(LARGE)
    return LARGE


if __name__ == "__main__":
    main()
