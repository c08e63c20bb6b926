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

from . import mixture, surgery, texts, vocabularies
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
    made = _encode if "vocabulary" in wanted else MADE.get(wanted["task"], _listed)
    for case in made(wanted, files, scratch):
        if only not in case["name"]:
            continue
        missing = [name for name in _sources(case) if not texts.corpus(name).is_file()]
        if missing:
            print(f"skipped {case['name']!r}: no {missing[0]}", file=sys.stderr)
            continue
        if wanted["task"] == "train":
            case["file"] = str(_prepared(wanted, case, scratch))
        elif "vocabulary" in case:
            _prepare_encoding(case, scratch)
        elif "base" in case:
            surgery.prepare(case, scratch)
        elif wanted["task"] == "serving":
            case["file"] = str(_mixed(case, scratch))
        whole = _with_jobs(wanted, case)
        engines = {job["engine"].split()[0] for job in whole.jobs}
        if not wanted.get("peers") or len(engines) > 1:
            yield whole


def _with_jobs(wanted: dict[str, Any], case: dict[str, Any]) -> Case:
    n_processors = len(os.sched_getaffinity(0))
    asked = wanted["threads"] if "threads" in wanted else case["threads"]
    threads = {count or n_processors for count in asked}
    engines = case["engines"] if "engines" in case else wanted["engines"]
    jobs = [
        {**case, "task": wanted["task"], "engine": engine, "n_threads": n_threads}
        for n_threads, engine in itertools.product(sorted(threads), engines)
        if _is_chosen(engine, wanted.get("peers", []))
    ]
    return Case(
        case["name"],
        case.get("rounds", wanted["rounds"]),
        jobs,
        wanted.get("timeout_seconds"),
        wanted.get("budget_seconds", float("inf")),
        case.get("published_seconds"),
    )


def _is_chosen(engine: str, peers: list[str]) -> bool:
    """Ask whether an engine is our own or among those named, if any are."""
    return not peers or engine.split()[0] in {"bytepair", *peers}


def _sources(case: dict[str, Any]) -> list[str]:
    """Name the files that a case reads."""
    vocabularies_ = case.get("vocabularies", {}).values()
    own = case.get("sources", [case["file"]] if "file" in case else [])
    return [*own, *(options["path"] for options in vocabularies_)]


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
    text = texts.corpus(case["sources"][0])
    if case.get("parity"):
        sources = case["sources"]
        parts = [
            {"sources": [it], "n_bytes": case["n_bytes"] // len(sources)}
            for it in sources
        ]
        case["groups"] = [str(_mixed(part, scratch)) for part in parts]
    if case["n_bytes"]:
        text = _mixed(case, scratch)
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


def _hostile(
    wanted: dict[str, Any], files: list[str], scratch: Path
) -> Iterator[dict[str, Any]]:
    for kind, n_megabytes in itertools.product(wanted["kinds"], wanted["megabytes"]):
        n_bytes = int(n_megabytes * 1_000_000)
        yield {"name": f"{kind}, {n_megabytes} MB", "kind": kind, "n_bytes": n_bytes}


def _encode(
    wanted: dict[str, Any], files: list[str], scratch: Path
) -> Iterator[dict[str, Any]]:
    """Combine vocabularies, texts, and grids of engines with what they give."""
    for vocabulary in vocabularies.at_hand(wanted["vocabulary"], files):
        folder = scratch / vocabulary["name"]
        for text, grid in itertools.product(_to_encode(wanted, files), wanted["grid"]):
            yield {
                **text,
                "name": f"{vocabulary['name']}, {text['name']}",
                "vocabulary": vocabulary,
                "files": files,
                "folder": str(folder),
                "pattern": vocabularies.pattern_of(vocabulary),
                "max_bytes": grid.get("max_bytes"),
                "document_bytes": wanted.get("document_bytes"),
                "json_lines": wanted.get("json_lines", False),
                "sizes": wanted.get("sizes"),
                "added": [f"new_{n}" for n in range(vocabulary.get("n_added", 0))],
                "threads": grid["threads"],
                "engines": [
                    f"{engine} {output}"
                    for engine, output in itertools.product(
                        text.get("engines", grid["engines"]), grid["outputs"]
                    )
                    if _is_at_hand(engine)
                ],
            }


def _to_encode(wanted: dict[str, Any], files: list[str]) -> Iterator[dict[str, Any]]:
    """List files, mixtures of all, and made-up texts."""
    for file in (files or wanted["files"]) if "files" in wanted else []:
        yield {"name": Path(file).name, "file": file}
    for made in wanted.get("made", []):
        yield {**made, "name": repr(made["made"])}
    for n_megabytes in wanted.get("mixed_megabytes", []):
        yield {
            "name": f"mixed, {n_megabytes:,} MB",
            "n_bytes": n_megabytes * 1_000_000,
            "sources": files or wanted["mixture"]["files"],
        }


def _prepare_encoding(case: dict[str, Any], scratch: Path) -> None:
    """Write the vocabulary of a case once, and its mixture."""
    vocabulary, files = case.pop("vocabulary"), case.pop("files")
    if not Path(case["folder"]).exists():
        vocabularies.prepare(vocabulary, files, scratch)
    if "sources" in case:
        case["file"] = str(_mixed(case, scratch))
    if case["json_lines"]:
        lines = scratch / f"{Path(case['file']).stem}.jsonl"
        if not lines.exists():
            texts.write_json_lines(Path(case["file"]), case["document_bytes"], lines)
        case["file"] = str(lines)


def _mixed(case: dict[str, Any], scratch: Path) -> Path:
    """Write the mixture of a case once."""
    name = zlib.crc32(" ".join(case["sources"]).encode())
    path = scratch / f"{name:08x}-{case['n_bytes']}.txt"
    if not path.exists():
        paths = [texts.corpus(name) for name in case["sources"]]
        mixture.write(paths, case["n_bytes"], path)
    return path


def _surgery(
    wanted: dict[str, Any], files: list[str], scratch: Path
) -> Iterator[dict[str, Any]]:
    """Change vocabularies, by the engines that are installed."""
    for case in surgery.cases(wanted, scratch):
        able = filter(_is_at_hand, case["engines"])
        yield {**case, "engines": list(able)}


def _serving(
    wanted: dict[str, Any], files: list[str], scratch: Path
) -> Iterator[dict[str, Any]]:
    """Combine texts and sizes; a job goes through all vocabularies of its grid."""
    folder = texts.SHARED / "vocabularies"
    for grid in wanted["grid"]:
        found = {name: wanted["vocabularies"][name] for name in grid["vocabularies"]}
        for text, size in itertools.product(grid["texts"], grid["sizes"]):
            yield {
                **grid,
                **wanted["texts"][text],
                "name": grid["name"].format(text=text, size=size),
                "size": size,
                "vocabularies": {
                    name: {**options, "path": str(folder / options["path"])}
                    for name, options in found.items()
                },
                "engines": list(filter(_is_at_hand, grid["engines"])),
            }


MADE = {
    "extend": _surgery,
    "hostile": _hostile,
    "linear": _linear,
    "prune": _surgery,
    "serving": _serving,
    "train": _train,
}
