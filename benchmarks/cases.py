"""Definitions to cases: groups of jobs whose results must be equal.

A job has all that its task asks for. A definition whose corpus is missing loses the
cases that need it. ``threads = 0`` means as many as there are processors.
"""

import functools
import itertools
import os
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from . import mixture, texts, vocabularies
from .engines import is_installed

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
    timeout_seconds: float | None = None
    budget_seconds: float = float("inf")
    """An engine that took longer in all rounds so far is not run in the next ones."""
    published_seconds: float | None = None
    """What the author of a program says that it takes."""


def names() -> list[str]:
    """List the benchmarks."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def definition(name: str) -> dict[str, Any]:
    """Read the definition of a benchmark."""
    return tomllib.loads((FOLDER / f"{name}.toml").read_text())


def cases(
    wanted: dict[str, Any], files: list[str], scratch: Path, only: str = ""
) -> Iterator[Case]:
    """List the cases whose name holds ``only``; ``files`` stand in for its corpora."""
    made = {"linear": _linear, "encode": _encode, "train": _train}
    for case in made.get(wanted["task"], _listed)(wanted, files, scratch):
        if only not in case["name"]:
            continue
        missing = [name for name in _sources(case) if not texts.corpus(name).is_file()]
        if missing:
            print(f"skipped {case['name']!r}: no {missing[0]}", file=sys.stderr)
            continue
        if wanted["task"] == "train":
            case["file"] = str(_prepared(wanted, case, scratch))
        yield _with_jobs(wanted, case)


def _with_jobs(wanted: dict[str, Any], case: dict[str, Any]) -> Case:
    n_processors = len(os.sched_getaffinity(0))
    threads = {count or n_processors for count in wanted["threads"]}
    engines = case["engines"] if "engines" in case else wanted["engines"]
    jobs = [
        {**case, "task": wanted["task"], "engine": engine, "n_threads": n_threads}
        for n_threads, engine in itertools.product(sorted(threads), engines)
    ]
    return Case(
        case["name"],
        case.get("rounds", wanted["rounds"]),
        jobs,
        wanted.get("timeout_seconds"),
        wanted.get("budget_seconds", float("inf")),
        case.get("published_seconds"),
    )


def _sources(case: dict[str, Any]) -> list[str]:
    """Name the files that a case reads."""
    return case.get("sources", [case["file"]] if "file" in case else [])


def _listed(
    wanted: dict[str, Any], files: list[str], scratch: Path
) -> Iterator[dict[str, Any]]:
    yield from wanted["case"]


def _train(
    wanted: dict[str, Any], files: list[str], scratch: Path
) -> Iterator[dict[str, Any]]:
    """Combine patterns, sizes, files, and orders of bytes."""
    for grid in wanted["grid"]:
        sources = list(_texts(wanted, grid, files))
        axes = grid["patterns"], grid["tokens"], sources, wanted["order"]
        for pattern, n_tokens, (text, names, n_bytes), order in itertools.product(
            *axes
        ):
            case = {
                "dialect": "gpt2",
                **order,
                "name": f"{pattern}, {n_tokens:,} tokens, {order['name']}, {text}",
                "pattern_name": pattern,
                "pattern": wanted["patterns"][pattern],
                "merges": n_tokens - 256,
                "sources": names,
                "n_bytes": n_bytes,
                "engines": _able(wanted, order["engines"], pattern),
            }
            if "published_seconds" in grid:
                case["published_seconds"] = grid["published_seconds"]
            yield case


def _texts(
    wanted: dict[str, Any], grid: dict[str, Any], files: list[str]
) -> Iterator[tuple[str, list[str], int]]:
    """Name the texts of a grid: files, or mixtures of all, with their sizes."""
    for n_megabytes in grid.get("mixed_megabytes", []):
        names = files or wanted["mixture"]["files"]
        yield f"mixed, {n_megabytes} MB", names, n_megabytes * 1_000_000
    for file in (files or grid["files"]) if "files" in grid else []:
        yield Path(file).name, [file], 0


def _able(wanted: dict[str, Any], engines: list[str], pattern: str) -> list[str]:
    """Choose the engines that are installed and know a pattern."""
    only = wanted.get("only", {})
    able = (engine for engine in engines if only.get(engine, pattern) == pattern)
    return [engine for engine in able if _is_at_hand(engine)]


@functools.cache
def _is_at_hand(engine: str) -> bool:
    """Ask whether it is installed, and say it once where it is not."""
    if not is_installed(engine):
        print(f"skipped {engine}: it is not installed", file=sys.stderr)
    return is_installed(engine)


def _prepared(wanted: dict[str, Any], case: dict[str, Any], scratch: Path) -> Path:
    """Write the text of a case once, and the same cut into documents."""
    paths = [texts.corpus(name) for name in case["sources"]]
    text = paths[0]
    if case["n_bytes"]:
        text = scratch / f"{case['n_bytes']}.txt"
        if not text.exists():
            mixture.write(paths, case["n_bytes"], text)
    if not wanted["document_bytes"]:
        return text
    case["separator"] = texts.SEPARATOR
    prepared = scratch / f"{zlib.crc32(bytes(text.resolve())):08x}.documents"
    if not prepared.exists():
        texts.write_documents(text, wanted["document_bytes"], prepared)
    return prepared


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
