"""``python -m benchmarks [NAME ...] [--file FILE ...]``: measure, show, keep.

``python -m benchmarks table`` draws the kept results into the documentation (``table``).
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from . import cases, record, report, results, runner, table


def main() -> int:
    """Run the benchmarks that are named, or all; 1 where results disagree."""
    if sys.argv[1:2] == ["table"]:
        return table.main(sys.argv[2:])
    arguments = _parser().parse_args()
    unknown = set(arguments.names) - set(cases.names())
    if unknown:
        known = ", ".join(cases.names())
        print(f"no benchmark {', '.join(unknown)}; there are {known}", file=sys.stderr)
        return 2
    if arguments.json and len(arguments.names) != 1:
        print("--json writes the results of one benchmark: name one", file=sys.stderr)
        return 2
    n_wrong = 0
    for name in arguments.names or cases.names():
        rows, wrong = _measure(name, arguments)
        n_wrong += wrong
        if rows and arguments.record:
            print(f"kept in {record.write(name, rows).name}\n")
    return 1 if n_wrong else 0


def _measure(name: str, arguments: argparse.Namespace) -> tuple[list[runner.Row], int]:
    """Run one benchmark and print its tables."""
    wanted = cases.definition(name)
    if wanted.get("large") and not arguments.large:
        print(f"skipped {name}: it is large; --large runs it\n", flush=True)
        return [], 0
    changes = {
        "rounds": arguments.rounds,
        "threads": arguments.threads,
        "timeout_seconds": arguments.timeout,
        "peers": arguments.peer,
    }
    wanted |= {key: value for key, value in changes.items() if value}
    print(f"# {name}", ", ".join(record.conditions().values()), sep="\n# ", flush=True)
    all_rows: list[runner.Row] = []
    n_wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        for case in cases.cases(wanted, arguments.file, Path(scratch), arguments.only):
            measured = runner.run(case, calm_seconds=arguments.wait)
            all_rows += measured.rows
            n_wrong += len(measured.complaints)
            print(*_shown(case, measured), sep="\n", flush=True)
    if wanted["task"] in results.TABLES and all_rows:
        drawn = results.TABLES[wanted["task"]](wanted, all_rows)
        print(*table.drawn(*drawn), sep="\n", flush=True)
    if arguments.json:
        results.write(arguments.json, name, wanted, all_rows)
    return all_rows, n_wrong


def _shown(case: cases.Case, measured: runner.Measured) -> Iterator[str]:
    """Draw what was measured of a case."""
    yield f"\n{case.name}"
    yield from report.table(measured.rows)
    if case.published_seconds and measured.rows:
        yield report.published(case.published_seconds, measured.rows)
    yield from (f"not kept: {case.name}: {why}" for why in measured.complaints)
    yield from (f"refused: {case.name}: {why}" for why in measured.refused)
    yield from (f"too slow: {case.name}: {why}" for why in measured.too_slow)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    known = ", ".join(cases.names())
    parser.add_argument("names", nargs="*", help=f"which of {known}; by default all")
    parser.add_argument(
        "--file", action="append", default=[], help="a corpus instead of the usual ones"
    )
    parser.add_argument("--only", default="", help="cases whose name holds this")
    parser.add_argument(
        "--large", action="store_true", help="run the large benchmarks too"
    )
    parser.add_argument(
        "--peer",
        action="append",
        default=[],
        help="a library to measure beside; by default all",
    )
    parser.add_argument(
        "--rounds", type=int, help="how often, where a case says nothing"
    )
    parser.add_argument(
        "--threads", type=int, action="append", help="instead of the usual numbers"
    )
    parser.add_argument(
        "--timeout", type=float, help="seconds after which an engine is left out"
    )
    parser.add_argument(
        "--wait",
        type=float,
        default=0,
        help="seconds to wait at most for a calm machine",
    )
    parser.add_argument(
        "--record",
        action=argparse.BooleanOptionalAction,
        help="keep the results as CSV",
    )
    parser.add_argument(
        "--json",
        type=Path,
        help="a file for our speed in each case and the ratio of each peer",
    )
    parser.set_defaults(record=True)
    return parser


if __name__ == "__main__":
    sys.exit(main())
