"""Definitions to cases: groups of jobs whose results must be equal.

A job has all that its task asks for. A definition whose corpus is missing loses the
cases that need it. ``threads = 0`` means as many as there are processors.
"""

import itertools
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from . import texts, vocabularies

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = Path(__file__).parent / "definitions"


class Case(NamedTuple):
    """Jobs that do the same work, so that their results are equal."""

    name: str
    rounds: int
    jobs: list[dict[str, Any]]


def names() -> list[str]:
    """List the benchmarks."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def definition(name: str) -> dict[str, Any]:
    """Read the definition of a benchmark."""
    return tomllib.loads((FOLDER / f"{name}.toml").read_text())


def cases(wanted: dict[str, Any], files: list[str], scratch: Path) -> Iterator[Case]:
    """List the cases of a definition; ``files`` stand in for its corpora."""
    made = {"linear": _linear, "encode": _encode}.get(wanted["task"], _listed)
    for case in made(wanted, files, scratch):
        corpus = case.get("file")
        if corpus is not None and not texts.corpus(corpus).is_file():
            print(f"skipped {case['name']!r}: no {corpus}", file=sys.stderr)
            continue
        yield _with_jobs(wanted, case)


def _with_jobs(wanted: dict[str, Any], case: dict[str, Any]) -> Case:
    n_processors = len(os.sched_getaffinity(0))
    threads = {count or n_processors for count in wanted["threads"]}
    engines = case["engines"] if "engines" in case else wanted["engines"]
    jobs = [
        {**case, "task": wanted["task"], "engine": engine, "n_threads": n_threads}
        for n_threads, engine in itertools.product(sorted(threads), engines)
    ]
    return Case(case["name"], case.get("rounds", wanted["rounds"]), jobs)


def _listed(
    wanted: dict[str, Any], files: list[str], scratch: Path
) -> Iterator[dict[str, Any]]:
    for case in wanted["case"]:
        if not files or "file" not in case:
            yield case
            continue
        for file in files:
            yield {**case, "file": file, "name": f"{case['name']}, {Path(file).name}"}


def _linear(
    wanted: dict[str, Any], files: list[str], scratch: Path
) -> Iterator[dict[str, Any]]:
    axes = wanted["texts"], wanted["dialects"], wanted["megabytes"]
    for text, dialect, n_megabytes in itertools.product(*axes):
        yield {
            "name": f"{text!r}, {dialect}, {n_megabytes} MB",
            "text": text,
            "dialect": dialect,
            "n_bytes": n_megabytes * 1_000_000,
            "merges": wanted["merges"],
        }


def _encode(
    wanted: dict[str, Any], files: list[str], scratch: Path
) -> Iterator[dict[str, Any]]:
    for vocabulary in vocabularies.at_hand(wanted["vocabulary"], files):
        folder = vocabularies.prepare(vocabulary, files, scratch)
        for file in files or wanted["files"]:
            yield {
                "name": f"{vocabulary['name']}, {Path(file).name}",
                "file": file,
                "folder": str(folder),
                "pattern": vocabulary["pattern"],
                "max_bytes": wanted["max_bytes"],
                "document_bytes": wanted["document_bytes"],
            }
