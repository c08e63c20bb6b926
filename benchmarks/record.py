"""Keeps what was measured as CSV, with all that is needed to judge it later.

Columns that are the same in all rows (date, machine, versions, commit) are repeated in
each, so that files can be joined. Neither host nor paths are written.
"""

import csv
import datetime as dt
import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path

from bytepair import _core

from . import engines
from .runner import Row, Times

FOLDER = Path(__file__).parent / "record"
LIBRARIES = (
    *("bytepair", "tokenizers", "tiktoken", "rustbpe", "bpeasy", "gigatoken"),
    *("sentencepiece", "fastokens", "splintr-rs", "bpe-continue"),
    *("bpe-tokenizer-editor", "tokenizer-extension"),
    *("toktier", "transformers", "numpy"),
)


def write(name: str, rows: list[Row], folder: Path = FOLDER) -> Path:
    """Write the rows of a benchmark; a second run on one day replaces the first."""
    circumstances = conditions()
    path = folder / f"{circumstances['date']}-{name}.csv"
    folder.mkdir(exist_ok=True)
    with path.open("w", newline="") as file:
        table = [{**circumstances, "benchmark": name, **_flat(row)} for row in rows]
        writer = csv.DictWriter(file, list(table[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
    return path


def conditions() -> dict[str, str]:
    """Say when, on what machine and with which versions."""
    return {
        "date": dt.datetime.now(tz=dt.timezone.utc).date().isoformat(),
        "commit": _commit(),
        "machine": _processor(),
        "instructions": _core.instructions(),
        "processors": str(len(os.sched_getaffinity(0))),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "libraries": " ".join(_versions()),
    }


def _flat(row: Row) -> dict[str, str | int | float]:
    fields: dict[str, str | int | float] = {}
    for name, value in row._asdict().items():
        if isinstance(value, Times):
            for statistic, seconds in value._asdict().items():
                fields[f"{name}_{statistic}_s"] = round(seconds, 6)
        else:
            fields[name] = round(value, 3) if isinstance(value, float) else value
    return fields


def _versions() -> list[str]:
    installed = {of.metadata["Name"]: of.version for of in metadata.distributions()}
    found = [f"{name}-{installed[name]}" for name in LIBRARIES if name in installed]
    for name, elsewhere in engines.ELSEWHERE.items():
        paths = list(map(str, engines.packages(name)))
        others = metadata.distributions(name=elsewhere.library, path=paths)
        found += [f"{of.metadata['Name']}-{of.version}" for of in others]
    return found


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    models = [line.split(":", 1)[1].strip() for line in lines if "model name" in line]
    return models[0] if models else platform.processor()


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    try:
        found = subprocess.run(command, capture_output=True, check=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return found.stdout.strip()
