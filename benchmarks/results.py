"""A run in few numbers: how fast we are in each case, and how many times slower each peer is.

``--json FILE`` writes them, and ``table`` draws files of them, those in ``results/`` into the
documentation. A file also says when, on what machine and how it was measured. Rows as they were
measured, with the least and the most of each, are kept by ``record``.
"""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from . import record, serving, surgery
from .runner import Row

OURS = "bytepair"
TABLES = {**dict.fromkeys(surgery.TASKS, surgery.table), "serving": serving.table}
"""Tasks whose results are tables of their own."""
MICROSECONDS = {"latency", "calls"}
SPEEDS = {"encode", "worst", "file", "added", "stats", "corpus"}


def write(path: Path, name: str, wanted: dict[str, Any], rows: list[Row]) -> None:
    """Write what a run of a benchmark gave; a file that is there keeps its title alone."""
    found = record.conditions()
    before = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    whole = {
        "benchmark": name,
        "title": before.get("title", name),
        "date": found["date"],
        "machine": f"{found['machine']}, {found['processors']} processors",
        "conditions": f"{found['libraries']}; commit {found['commit']}",
    }
    if wanted["task"] in TABLES:
        columns, lines = TABLES[wanted["task"]](wanted, rows)
        whole |= {"columns": columns, "rows": lines}
    else:
        whole["cells"] = cells(wanted["task"], rows)
    text = json.dumps(whole, indent=1, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8")


def cells(task: str, rows: list[Row]) -> list[dict[str, Any]]:
    """Compare our row of each case with those of the peers that did as much.

    Training is compared by wall time, all else by CPU time.
    """
    groups: dict[tuple[str, str, int, str], list[Row]] = defaultdict(list)
    for row in rows:
        output = row.engine.partition(" ")[2]
        groups[row.case, output, row.n_threads, row.phase].append(row)
    clock = "cpu" if task in SPEEDS | MICROSECONDS else "wall"
    found = []
    for (case, output, n_threads, phase), group in groups.items():
        ours = max(filter(_is_ours, group), key=lambda row: row.n_bytes, default=None)
        if ours is None:
            continue
        seconds = getattr(ours, clock).median
        peers = (row for row in group if not _is_ours(row))
        found.append(
            {
                "case": case,
                "output": output,
                "threads": n_threads,
                "phase": phase,
                **_size(task, ours, seconds),
                "ratios": {
                    _peer(row): _rounded(getattr(row, clock).median / seconds)
                    for row in peers
                    if row.n_bytes == ours.n_bytes
                },
            }
        )
    return found


def _size(task: str, row: Row, seconds: float) -> dict[str, Any]:
    if task in MICROSECONDS:
        return {"ours": _rounded(seconds * 1e6), "unit": "µs"}
    if task in SPEEDS:
        return {"ours": _rounded(row.n_bytes / 1e6 / seconds), "unit": "MB/s"}
    return {"ours": _rounded(seconds), "unit": "s"}


def _rounded(value: float) -> float:
    """Keep three digits, as more of them are noise."""
    return float(f"{value:.3g}")


def _is_ours(row: Row) -> bool:
    return _peer(row) == OURS


def _peer(row: Row) -> str:
    return row.engine.partition(" ")[0]
