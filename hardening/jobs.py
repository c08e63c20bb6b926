"""A small corpus, and the commands that are disturbed on it."""

import json
import random
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .children import command, environment

__all__ = ["Job", "jobs", "state"]

N_BYTES = 6 << 20


@dataclass(frozen=True)
class Job:
    """A command, and the file or folder that it writes, given as ``{out}``."""

    name: str
    words: tuple[str, ...]
    out: str

    def command(self, folder: Path, into: Path) -> list[str]:
        """Give the command line that writes into a folder."""
        places = {"folder": folder, "out": into / self.out}
        return command(*(word.format(**places) for word in self.words))


def jobs(folder: Path, chance: random.Random) -> list[Job]:
    """Write the corpus and a tokenizer, and give the commands."""
    words = ["".join(chance.choices("abcdefghiklmnop", k=6)) for _ in range(20_000)]
    with (folder / "docs.jsonl").open("w") as file:
        while file.tell() < N_BYTES:
            text = " ".join(chance.choices(words, k=200))
            file.write(json.dumps({"text": text}) + "\n")
    corpus = "{folder}/docs.jsonl"
    train = ("train", corpus, "-q", "-o", "{out}", "--vocab-size")
    first = Job("train", (*train, "600"), "own.bytepair")
    subprocess.run(first.command(folder, folder), check=True, env=environment())
    tokenize = ("shard", "{folder}/own.bytepair", corpus, "-q", "-o", "{out}")
    small = ("--task-size", "1MB")
    return [
        first,
        Job("train json", (*train, "700"), "own.json"),
        Job(
            "count", ("count-pieces", corpus, "-q", "-o", "{out}", *small), "c.parquet"
        ),
        Job("tokenize", (*tokenize, *small), "shards"),
        Job("tokenize parquet", (*tokenize, *small, "--format", "parquet"), "parquet"),
        Job("one process", (*tokenize, *small, "--processes", "1"), "one"),
    ]


def state(folder: Path) -> dict[str, bytes]:
    """Everything below a folder, by its path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
