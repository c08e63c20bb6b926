"""Methods of training side by side: ``python -m benchmarks.methods`` prints the tables of ``docs/explanation/methods.md``.

Each method learns from nine tenths of a text; the last tenth is measured by `bytepair stats`.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bytepair
from bytepair import Tokenizer, analyze

from .texts import SHARED

VOCAB_SIZE = 32_000
TEXTS = {
    "English novels": "english-novels.txt",
    "English docs": "english-docs.txt",
    "code": "code.txt",
    "many languages": "multilingual.txt",
    "Chinese": "chinese.txt",
}
SUPERWORDS: dict[str, Any] = {"max_words": 4, "forbid": "colon-space"}
METHODS: dict[str, dict[str, Any]] = {
    "merges within words": {},
    "`--one-script`": {"one_script": True},
    "`--forbid letter-digit`": {"forbid": "letter-digit"},
    "`--superwords 28.6k`, nine tenths": {**SUPERWORDS, "superwords": 28_600},
    "`--superwords 25.4k`, eight tenths": {**SUPERWORDS, "superwords": 25_400},
    "`--superwords 15.9k`, half": {**SUPERWORDS, "superwords": 15_900},
    "`--superwords 25.4k --whole-words`": {"superwords": 25_400, "whole_words": True},
    "`--superwords auto`": {"superwords": "auto"},
    "no pattern": {"pattern": ""},
}
NUMBERS = {
    "bytes per token": "bytes_per_token",
    "Rényi efficiency": "renyi_efficiency",
    "used on the held-out text": "used_share",
    "tokens seen fewer than 20 times": "below_20_leaves",
}


def divided(path: Path, folder: Path) -> tuple[Path, Path]:
    """Write nine tenths of a text, cut at the end of a line, and the rest."""
    data = path.read_bytes()
    end = data.index(b"\n", len(data) * 9 // 10) + 1
    learned, held_out = (folder / f"{part}-{path.name}" for part in ("learned", "rest"))
    learned.write_bytes(data[:end])
    held_out.write_bytes(data[end:])
    return learned, held_out


def rows(folder: Path) -> Iterator[tuple[str, list[analyze.Stats]]]:
    """Train by each method on each text, and measure the rest."""
    parts = [divided(SHARED / "corpora" / name, folder) for name in TEXTS.values()]
    for method, options in METHODS.items():
        trained: list[Tokenizer] = [
            bytepair.train(learned, vocab_size=VOCAB_SIZE, **options)
            for learned, _held_out in parts
        ]
        yield (
            method,
            [
                analyze.stats(one, held_out)
                for one, (_, held_out) in zip(trained, parts, strict=True)
            ],
        )


def main() -> None:
    """Print a table of bytes per token by text, and one of other numbers for the first text."""
    with tempfile.TemporaryDirectory() as folder:
        found = list(rows(Path(folder)))
    print("|  |", " | ".join(TEXTS), "|\n|---|" + "---:|" * len(TEXTS))
    for method, stats in found:
        values = [one.row("bytes_per_token").values[0] for one in stats]
        print(f"| {method} |", " | ".join(f"{value:.2f}" for value in values), "|")
    print("\n|  |", " | ".join(NUMBERS), "|\n|---|" + "---:|" * len(NUMBERS))
    for method, (first, *_) in found:
        values = [first.row(name).values[0] for name in NUMBERS.values()]
        print(f"| {method} |", " | ".join(f"{value:,.4g}" for value in values), "|")


if __name__ == "__main__":
    main()
