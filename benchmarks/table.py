"""``python -m benchmarks table``: results as tables of pages, between the two marker comments of each.

A file of results is drawn as a section: a title, when and where it was measured, a table, and its notes. Cells
that benchmarks wrote (``results``) become a line for each case, with the phases side by side where there are
several, else with a column for each peer. What was measured by hand has columns and rows of its own.
"""

import argparse
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from . import cases

FOLDER = Path(__file__).parent / "results"
EXPLANATION = Path(__file__).parent.parent / "docs" / "explanation"
BEGIN = (
    "<!-- Tables: written by `python -m benchmarks table` from benchmarks/results -->"
)
END = "<!-- End of the tables -->"
PAGES = {
    "performance-training.md": ("train", "train-methods", "extend", "prune"),
    "performance-encoding.md": (
        *("encode", "encode-neox", "encode-llama", "sentencepiece"),
        *("encode-latency", "encode-document"),
    ),
    "performance-other.md": ("stats", "loading", "linear", "serving", "browser"),
}
"""The results of each page, in order."""
TEXTS = {
    "english-novels.txt": "English novels",
    "english-docs.txt": "English docs",
    "code.txt": "code",
    "multilingual.txt": "many languages",
    "chinese.txt": "Chinese",
    "persian.txt": "Persian",
    "spanish-novels.txt": "Spanish",
}
OUTPUTS = {"numpy": "arrays", "list": "lists"}
NOTHING = "-"
Cell = dict[str, Any]
Bar = Callable[[Cell], float]


def main(words: list[str]) -> int:
    """Write the tables, or with ``--check`` only say whether the pages have them: 1 if not."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks table")
    parser.add_argument(
        "--results", type=Path, default=FOLDER, help="the folder of results"
    )
    parser.add_argument(
        "--pages", type=Path, default=EXPLANATION, help="the folder of the pages"
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; 1 if a page is another"
    )
    arguments = parser.parse_args(words)
    for name, results in PAGES.items():
        page = arguments.pages / name
        text = page.read_text(encoding="utf-8")
        wanted = filled(text, sections(arguments.results, results))
        if text == wanted:
            continue
        if arguments.check:
            return 1
        page.write_text(wanted, encoding="utf-8")
    return 0


def filled(page: str, tables: str) -> str:
    """Put tables between the markers of a page, which must each be there once."""
    for marker in (BEGIN, END):
        if page.count(marker) != 1:
            why = f"the page must have this line once: {marker}"
            raise SystemExit(why)
    before, _, rest = page.partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        why = f"the page must have this line behind the first: {END}"
        raise SystemExit(why)
    return f"{before}{BEGIN}\n\n{tables}\n{END}{after}"


def sections(folder: Path, names: Iterable[str]) -> str:
    """Draw files of results."""
    texts = ((folder / f"{name}.json").read_text(encoding="utf-8") for name in names)
    return "\n".join(section(json.loads(text)) for text in texts)


def section(results: dict[str, Any]) -> str:
    """Draw one file of results."""
    known = (results.get(key) for key in ("date", "machine", "conditions"))
    facts = ", ".join(filter(None, known))
    lines = [f"## {results['title']}", "", f"{facts[:1].upper()}{facts[1:]}."]
    if "cells" in results:
        several = len({cell["phase"] for cell in results["cells"]}) > 1
        draw = _phases if several else _peers
        lines += ["", *draw(results)]
    else:
        lines += ["", *drawn(results["columns"], results["rows"])]
    for note in results.get("notes", []):
        lines += ["", note]
    return "\n".join([*lines, ""])


def _phases(results: dict[str, Any]) -> Iterator[str]:
    """Draw a line for each case: our speed and the best peer's time over ours, by phase."""
    cells: list[Cell] = results["cells"]
    wanted = _wanted(results.get("benchmark", ""))
    bar = _bars(wanted)
    phases = list(dict.fromkeys(cell["phase"] for cell in cells))
    groups = list(dict.fromkeys((cell["output"], cell["threads"]) for cell in cells))
    more = len({threads for _, threads in groups}) > 1
    columns, draws = [""], []
    for output, threads in groups:
        name = OUTPUTS.get(output, output)
        name += f", {threads} threads" * (more and threads > 1)
        unit = next((cell["unit"] for cell in cells if "unit" in cell), "")
        if unit:
            columns.append(f"{name}, {unit}")
            draws.append((output, threads, lambda cell: f"{cell['ours']:g}"))
        columns.append(f"{name}, ratio")
        draws.append((output, threads, lambda cell: _ratio(cell, bar)))
    found = {
        (cell["case"], cell["output"], cell["threads"], cell["phase"]): cell
        for cell in cells
    }
    lines = []
    for case in dict.fromkeys(cell["case"] for cell in cells):
        line = [_named(case)]
        for output, threads, draw in draws:
            keys = [(case, output, threads, phase) for phase in phases]
            line.append(
                " / ".join(draw(found[k]) if k in found else NOTHING for k in keys)
            )
        lines.append(line)
    yield f"Cells are {' / '.join(phases)}. {_legend(wanted)}"
    yield ""
    yield from drawn(columns, lines)
    yield ""
    yield _missed(cells, phases, bar)


def _missed(cells: list[Cell], phases: list[str], bar: Bar) -> str:
    """Count what misses its bar, and where a peer is ahead."""
    compared = [cell for cell in cells if cell["ratios"]]
    missed = [cell["phase"] for cell in compared if _best(cell) < bar(cell)]
    ahead = sum(_best(cell) < 1 for cell in compared)
    counted = f"A peer is ahead in {ahead or 'none'} of {len(compared)} cells"
    if len(missed) == ahead:
        return f"{counted}."
    by_phase = ", ".join(f"{missed.count(phase)} {phase}" for phase in phases)
    return f"{counted}; {len(missed)} miss their bar: {by_phase}."


def _wanted(benchmark: str) -> dict[str, Any]:
    """Read the definition of a benchmark, nothing if it has none."""
    return cases.definition(benchmark) if benchmark in cases.names() else {}


def _bars(wanted: dict[str, Any]) -> Bar:
    """Give the bar of a cell: what the definition wants, else to be ahead."""
    if "bars" not in wanted:
        return lambda cell: 1.0
    return lambda cell: (
        bar_of(wanted, cell["case"], cell["phase"]) if cell["threads"] == 1 else 0.0
    )


def bar_of(wanted: dict[str, Any], case: str, phase: str) -> float:
    """Give the ratio that a definition wants for a text and a phase, 0 for none."""
    bars: dict[str, Any] = wanted.get("bars", {})
    special = bars.get(case.partition(", ")[2], {})
    bar: float = special.get(phase, bars.get(phase, 0.0))
    return bar


def _legend(wanted: dict[str, Any]) -> str:
    """Say what is bold."""
    if "bars" not in wanted:
        return "Bold cells are those in which a peer is faster."
    shown = []
    for name, bar in wanted["bars"].items():
        is_text = isinstance(bar, dict)
        bars = bar.items() if is_text else [("", bar)]
        shown += [
            f"{TEXTS.get(name, name)} {p} {x:g}".replace("  ", " ") for p, x in bars
        ]
    return f"Bold cells miss their bar: {', '.join(shown)}."


def _peers(results: dict[str, Any]) -> Iterator[str]:
    """Draw a line for each case: what we take, and how many times that each peer takes."""
    cells: list[Cell] = results["cells"]
    peers = list(dict.fromkeys(peer for cell in cells for peer in cell["ratios"]))
    more = len({cell["threads"] for cell in cells}) > 1
    lines = []
    for cell in cells:
        name = _named(cell["case"]) + f", {cell['threads']} threads" * more
        ratios = (cell["ratios"].get(peer) for peer in peers)
        shown = [f"{ratio:g}x" if ratio else NOTHING for ratio in ratios]
        lines.append([name, f"{cell['ours']:g} {cell['unit']}", *shown])
    yield from drawn(["", "ours", *peers], lines)


def drawn(columns: list[str], lines: list[list[str]]) -> Iterator[str]:
    """Draw a table, numbers to the right."""
    yield f"| {' | '.join(columns)} |"
    yield f"|{'---|' + '---:|' * (len(columns) - 1)}"
    yield from (f"| {' | '.join(line)} |" for line in lines)


def _ratio(cell: Cell, bar: Bar) -> str:
    if not cell["ratios"]:
        return NOTHING
    shown = f"{_best(cell):.2f}"
    return f"**{shown}**" if _best(cell) < bar(cell) else shown


def _best(cell: Cell) -> float:
    least: float = min(cell["ratios"].values())
    return least


def _named(case: str) -> str:
    """Name a case as readers know its text."""
    *names, text = case.split(", ")
    return ", ".join([*names, TEXTS.get(text, text)])
