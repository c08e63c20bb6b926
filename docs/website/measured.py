"""The page of benchmarks: what the results in ``benchmarks/results`` say together, and the results as files.

Every cell counts, also those in which another library is ahead, which are listed one by one.
"""

import io
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Cell", "cells_of", "lost", "pages"]

RECORD = Path("benchmarks/record")
PHASES = {"cold": "new tokenizer", "fresh": "new text", "warm": "text seen before"}


class Cell(NamedTuple):
    """How our time compares with that of a peer, in one case; below 1 the peer is ahead."""

    benchmark: str
    case: str
    peer: str
    ratio: float


def pages(folder: Path) -> dict[str, str | bytes]:
    """Give the page, its picture, and the files of results."""
    files = {path.name: path.read_bytes() for path in sorted(folder.glob("*.json"))}
    results = [json.loads(data) for data in files.values()]
    cells = [cell for result in results for cell in cells_of(result)]
    found: dict[str, str | bytes] = {
        f"results/{name}": data for name, data in files.items()
    }
    found |= {
        f"record/{path.name}": path.read_bytes()
        for path in sorted(RECORD.glob("*.csv"))
    }
    found["figure-ratios.svg"] = drawn(cells)
    found["index.md"] = page(results, cells, list(found))
    return found


def cells_of(result: dict[str, Any]) -> list[Cell]:
    """List the cells of a file of results.

    >>> cell = {
    ...     "case": "gpt2, code.txt",
    ...     "output": "list",
    ...     "threads": 1,
    ...     "phase": "warm",
    ...     "ratios": {"x": 0.9},
    ... }
    >>> cells_of({"title": "T", "cells": [cell]})
    [Cell(benchmark='T', case='gpt2, code, lists, warm', peer='x', ratio=0.9)]
    """
    from benchmarks.table import OUTPUTS, TEXTS

    found = []
    for cell in result.get("cells", []):
        words = [
            TEXTS.get(word, word).removesuffix(".txt")
            for word in cell["case"].split(", ")
        ]
        words += [OUTPUTS.get(cell["output"], cell["output"])] if cell["output"] else []
        words += [f"{cell['threads']} threads"] if cell["threads"] > 1 else []
        words += [cell["phase"]] if cell["phase"] != "train" else []
        name = ", ".join(words)
        found += [
            Cell(result["title"], name, peer, ratio)
            for peer, ratio in cell["ratios"].items()
        ]
    return found


def lost(cells: Iterable[Cell]) -> list[Cell]:
    """List the cells in which a peer is ahead, the worst first."""
    return sorted(
        (cell for cell in cells if cell.ratio < 1), key=lambda cell: cell.ratio
    )


def page(results: list[dict[str, Any]], cells: list[Cell], files: list[str]) -> str:
    """Draw the page."""
    behind = lost(cells)
    n_all, n_behind = len(cells), len(behind)
    lines = [
        "# Benchmarks",
        "",
        f"In {n_all:,} cells, another library was compared with bytepair for the same work: the same ids, or the same "
        f"merges. In {n_behind} of them, the other library is faster.",
        "",
        "![Ratio of the time of other libraries to ours, a dot for each cell](figure-ratios.svg)",
        "",
        "Each dot is a cell: one vocabulary, one text, one kind of output, and one state of the tokenizer. Its position is the "
        "time of the other library divided by ours; *best peer* is the fastest of all libraries that were measured. In cells "
        "left of 1, bytepair is slower.",
        "",
        "## Cells",
        "",
        "| benchmark | cells | peer ahead | lowest | median | highest |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for title in dict.fromkeys(cell.benchmark for cell in cells):
        ratios = sorted(cell.ratio for cell in cells if cell.benchmark == title)
        middle = ratios[len(ratios) // 2]
        lines.append(
            f"| {title} | {len(ratios)} | {sum(ratio < 1 for ratio in ratios)} | {ratios[0]:g}x | {middle:g}x | {ratios[-1]:g}x |"
        )
    lines += [
        "",
        "## Cells in which bytepair is slower",
        "",
        "| benchmark | cell | ahead | ratio |",
        "|---|---|---|---:|",
    ]
    lines += [
        f"| {cell.benchmark} | {cell.case} | {cell.peer} | {cell.ratio:g}x |"
        for cell in behind
    ]
    lines += [
        "",
        "These are ratios of CPU time, so libraries that start additional threads gain nothing. The notes below each table of "
        "[Performance](../explanation/performance.md) list cells that are slower by wall time, and other caveats.",
        "",
        "## How it is measured",
        "",
        "[Performance](../explanation/performance.md) describes what is measured and how, and has all tables and the commands to "
        "reproduce them. The [log of optimizations](../../benchmarks/tried/README.md) lists what was tried, and what it gained.",
        "",
        "## Raw data",
        "",
        "| results | measured on | machine |",
        "|---|---|---|",
    ]
    names = [name for name in files if name.startswith("results/")]
    for name, result in zip(names, results, strict=True):
        date, machine = (
            result.get(key) or "not recorded" for key in ("date", "machine")
        )
        lines.append(f"| [{result['title']}]({name}) | {date} | {machine} |")
    records = ", ".join(
        f"[{Path(name).stem}]({name})" for name in files if name.startswith("record/")
    )
    lines += [
        "",
        f"Complete runs, with times, memory and versions of every engine: {records}.",
    ]
    return "\n".join(lines) + "\n"


def drawn(cells: list[Cell]) -> bytes:
    """Draw a row of dots for each benchmark and peer; the same cells give the same picture."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    rows: dict[str, list[float]] = {}
    for cell in cells:
        name = re.split("[:,]", cell.benchmark)[0].replace("`", "")
        rows.setdefault(f"{name}\n{cell.peer}", []).append(cell.ratio)
    with mpl.rc_context(
        {
            "svg.hashsalt": "bytepair",
            "svg.fonttype": "none",
            "font.size": 10,
            "font.family": "sans-serif",
        }
    ):
        figure = Figure(figsize=(8, 0.62 * len(rows) + 0.9), layout="constrained")
        axes = figure.add_subplot()
        for place, ratios in enumerate(rows.values()):
            spread = [
                place + 0.26 * (((n * 0.618) % 1) * 2 - 1) for n in range(len(ratios))
            ]
            colours = ["#c2410c" if ratio < 1 else "#0f766e" for ratio in ratios]
            axes.scatter(ratios, spread, s=14, c=colours, alpha=0.55, linewidths=0)
        axes.axvline(1, color="#111111", linewidth=1)
        axes.set_xscale("log")
        ticks = [0.5, 1, 2, 5, 10, 20, 50, 100, 200]
        axes.set_xticks(ticks, [f"{tick:g}x" for tick in ticks])
        axes.minorticks_off()
        axes.set_yticks(range(len(rows)), list(rows))
        axes.invert_yaxis()
        axes.set_xlabel("time of the other library / time of bytepair")
        axes.grid(axis="x", alpha=0.3)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        axes.tick_params(axis="y", length=0)
        file = io.BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None}, transparent=True)
    return file.getvalue()
