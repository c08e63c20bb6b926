"""Limits of memory hold, measured by the resident set; where memory ends there is a message."""

import json
import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

from .children import command, environment, limited_command, went_wrong

__all__ = ["cases", "peak_bytes"]

LIMITS = {"256MB": 256_000_000, "400MB": 400_000_000}
ALLOWED = 1.2
TEXT_BYTES = 600 << 20
ADDRESS_SPACE = 3 << 30


def peak_bytes(words: list[str]) -> tuple[int, int, str]:
    """Give the peak of the resident set of a command, its exit code and its messages."""
    with subprocess.Popen(
        words,
        env=environment(),
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stderr
        messages = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_maxrss * 1024, process.returncode, messages


def write_corpora(folder: Path, chance: random.Random) -> list[Path]:
    """Write texts that are hard on memory."""
    block = b"a" * (1 << 20)
    letter = folder / "letter.txt"
    with letter.open("wb") as file:
        for _ in range(TEXT_BYTES >> 20):
            file.write(block)
    words = folder / "words.txt"
    with words.open("w") as file:
        while file.tell() < TEXT_BYTES >> 2:
            numbers = (chance.getrandbits(60) for _ in range(20_000))
            file.write(" ".join(f"{number:x}" for number in numbers) + "\n")
    line = folder / "line.jsonl"
    with line.open("wb") as file:
        file.write(b'{"text": "')
        for _ in range(TEXT_BYTES >> 21):
            file.write(b"ab cd ef" * (1 << 17))
        file.write(b'"}\n')
    return [letter, words, line]


def within_limit(words: list[str], limit: int, start: int) -> str | None:
    """Say if a command took more than its limit above what any command takes."""
    taken, code, messages = peak_bytes(words)
    if code:
        done = subprocess.CompletedProcess(words, code, "", messages)
        return went_wrong(done)
    if taken - start > limit * ALLOWED:
        over = (taken - start) / 1e6
        return f"{over:.0f} MB for a limit of {limit / 1e6:.0f}: {words[3:]}"
    return None


def cases(chance: random.Random, folder: Path) -> Iterator[str | None]:
    """Count and train within limits; then encode in little address space."""
    corpora = write_corpora(folder, chance)
    small = folder / "small.jsonl"
    small.write_text(json.dumps({"text": "ab"}))
    trained = folder / "t.bytepair"
    train = command("train", small, "-q", "-o", trained, "--vocab-size", 257)
    start, code, messages = peak_bytes(train)
    assert code == 0, messages
    for corpus in corpora:
        for name, limit in LIMITS.items():
            out = folder / "out.parquet"
            options = ("-q", "--memory-limit", name, "-o")
            yield within_limit(
                command("count-pieces", corpus, *options, out), limit, start
            )
            words = command("train", corpus, *options, trained, "--vocab-size", 300)
            yield within_limit(words, limit, start)
    for corpus in corpora:
        words = command("encode", trained, corpus, "-o", folder / "ids.npy")
        yield went_wrong(limited_command(words, ADDRESS_SPACE))
