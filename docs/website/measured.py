"""The page of benchmarks: what the results in ``benchmarks/results`` say together, and the results as files.

Every cell counts, also those in which another library is ahead, which are listed one by one.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.table import OUTPUTS, TEXTS

__all__ = ["Cell", "cells_of", "page", "pages"]

PAGE = """\
# Benchmarks

In {n_cells:,} comparisons, another library did the same work as bytepair: it gave the same ids, or the same merges. In
{n_behind} of them, the other library is faster. A comparison is a cell of a table: one vocabulary, one text, one kind of output,
and one state of the tokenizer. Its ratio is the time of the other library divided by ours; *best peer* is the fastest of all
libraries that were measured.

![Speed of training and encoding compared with other libraries](../pictures/speed.svg)

## Comparisons

| benchmark | comparisons | peer ahead | lowest | median | highest |
|---|---:|---:|---:|---:|---:|
{benchmarks}

## Cells in which bytepair is slower

| benchmark | cell | ahead | ratio |
|---|---|---|---:|
{behind}

These are ratios of CPU time, so libraries that start additional threads gain nothing. The notes below each table of
[Performance](../explanation/performance.md) list cells that are slower by wall time, and other caveats.

## How it is measured

[Performance](../explanation/performance.md) describes what is measured and how, and has all tables and the commands to
reproduce them. The [log of optimizations](../../benchmarks/tried/README.md) lists what was tried, and what it gained.

## Raw data

| results | measured on | machine |
|---|---|---|
{results}

Complete runs, with times, memory and versions of every engine: {records}.
"""


class Cell(NamedTuple):
    """How our time compares with that of a peer, in one case; below 1 the peer is ahead."""

    benchmark: str
    case: str
    peer: str
    ratio: float


def pages() -> dict[str, str | bytes]:
    """Give the page, and the files of results."""
    results = sorted(Path("benchmarks/results").glob("*.json"))
    records = sorted(Path("benchmarks/record").glob("*.csv"))
    files = {
        f"{path.parent.name}/{path.name}": path.read_bytes()
        for path in (*results, *records)
    }
    return {"index.md": page(results, records), **files}


def cells_of(result: dict[str, Any]) -> list[Cell]:
    """List the cells of a file of results.

    >>> cell = {"case": "gpt2, code.txt", "output": "list", "threads": 1}
    >>> cell |= {"phase": "warm", "ratios": {"x": 0.9}}
    >>> cells_of({"title": "T", "cells": [cell]})
    [Cell(benchmark='T', case='gpt2, code, lists, warm', peer='x', ratio=0.9)]
    """
    found = []
    for cell in result.get("cells", []):
        words = [
            TEXTS.get(word, word).removesuffix(".txt")
            for word in cell["case"].split(", ")
        ]
        words += [OUTPUTS.get(cell["output"], cell["output"])] if cell["output"] else []
        words += [f"{cell['threads']} threads"] if cell["threads"] > 1 else []
        words += [cell["phase"]] if cell["phase"] != "train" else []
        name, title = ", ".join(words), result["title"]
        found += [
            Cell(title, name, peer, ratio) for peer, ratio in cell["ratios"].items()
        ]
    return found


def page(results: list[Path], records: list[Path]) -> str:
    """Draw the page."""
    contents = [json.loads(path.read_text(encoding="utf-8")) for path in results]
    cells = [cell for content in contents for cell in cells_of(content)]
    behind = sorted(
        (cell for cell in cells if cell.ratio < 1), key=lambda cell: cell.ratio
    )
    benchmarks = []
    for title in dict.fromkeys(cell.benchmark for cell in cells):
        ratios = sorted(cell.ratio for cell in cells if cell.benchmark == title)
        n_ahead = sum(ratio < 1 for ratio in ratios)
        shown = (
            f"{ratio:g}x" for ratio in (ratios[0], ratios[len(ratios) // 2], ratios[-1])
        )
        benchmarks.append(
            f"| {title} | {len(ratios)} | {n_ahead} | {' | '.join(shown)} |"
        )
    measured = [
        f"| [{content['title']}](results/{path.name}) | {content.get('date') or 'not recorded'} | {content.get('machine') or 'not recorded'} |"
        for path, content in zip(results, contents, strict=True)
    ]
    return PAGE.format(
        n_cells=len(cells),
        n_behind=len(behind),
        benchmarks="\n".join(benchmarks),
        behind="\n".join(
            f"| {c.benchmark} | {c.case} | {c.peer} | {c.ratio:g}x |" for c in behind
        ),
        results="\n".join(measured),
        records=", ".join(f"[{path.stem}](record/{path.name})" for path in records),
    )
