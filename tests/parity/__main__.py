"""The command: ``python -m tests.parity [VOCABULARY …]``; the exit code is 1 on a difference."""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from . import families, strings, synthetic, table, texts, vocabularies
from .compare import compare_ids, compare_texts
from .libraries import LIBRARIES
from .ours import Ours
from .table import Result
from .vocabularies import Vocabulary

__all__ = ["compare_one", "main"]

SHARED = Path(os.environ.get("BYTEPAIR_SHARED", Path(__file__).parents[3] / "shared"))


NAMES = (
    "files, folders, or beginnings of names in the shared vocabularies; default: all"
)
COUNTS = {
    "strings": (200_000, "random strings for all vocabularies together"),
    "synthetic": (0, "also this many made-up tokenizer.json files"),
    "seed": (0, "of random strings and made-up files"),
    "jobs": (1, "vocabularies at a time"),
}


def arguments() -> argparse.ArgumentParser:
    """Say what the command takes."""
    parser = argparse.ArgumentParser(prog="tests.parity", description=__doc__)
    add = parser.add_argument
    add("names", nargs="*", metavar="VOCABULARY", help=NAMES)
    add("--text", type=Path, action="append", help="a text file or a folder of them")
    add("--megabytes", type=float, default=2.0, help="how much of each text")
    add("--families", action="store_true", help="also files like well-known models'")
    for name, (default, about) in COUNTS.items():
        add(f"--{name}", type=int, default=default, help=about)
    return parser


def main() -> int:
    """Compare what the arguments name."""
    options = arguments().parse_args()
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    with tempfile.TemporaryDirectory() as temporary:
        found = list(chosen(options, Path(temporary)))
        files = texts.text_files(options.text or [SHARED / "corpora"])
        n_strings = options.strings // max(1, len(found)) + 1 if options.strings else 0
        compare = partial(
            compare_one, options=options, files=files, n_strings=n_strings
        )
        with ProcessPoolExecutor(options.jobs) as pool:
            results = list(progress(pool.map(compare, found), len(found)))
    print(table.rows(results))
    print(table.differences(results))
    n_different = sum(result.n_differences > 0 for result in results)
    n_refused = sum(result.is_bpe and result.refused is not None for result in results)
    print(
        f"\n{len(results)} vocabularies: {n_different} differ, {n_refused} BPE files are refused"
    )
    return int(n_different > 0)


def chosen(options: argparse.Namespace, folder: Path) -> Iterator[Vocabulary]:
    """List the vocabularies; made-up ones are written first."""
    if options.names or not (options.synthetic or options.families):
        yield from vocabularies.find(options.names, SHARED / "vocabularies")
    if options.families:
        families.write(folder / "families")
        yield from vocabularies.find([str(folder / "families")], folder)
    if options.synthetic:
        synthetic.write(folder / "synthetic", options.synthetic, options.seed)
        yield from vocabularies.find([str(folder / "synthetic")], folder)


def progress(results: Iterable[Result], n_results: int) -> Iterator[Result]:
    """Say on standard error what is done."""
    start = time.monotonic()
    for number, result in enumerate(results, 1):
        is_refused = result.refused is not None
        state = "refused" if is_refused else f"{result.n_differences} differences"
        place = f"{number}/{n_results} {time.monotonic() - start:.0f} s"
        print(f"[{place}] {result.name}: {state}", file=sys.stderr)
        yield result


def compare_one(
    vocabulary: Vocabulary,
    options: argparse.Namespace,
    files: list[Path],
    n_strings: int,
) -> Result:
    """Load a vocabulary twice and compare everything that was asked for."""
    try:
        theirs = LIBRARIES[vocabulary.kind](vocabulary.path)
    except (Exception, SystemExit) as error:
        message = f"by its own library: {type(error).__name__}: {error}"[:200]
        return Result(
            vocabulary.name, vocabulary.kind, message, is_bpe=False, tallies={}
        )
    try:
        ours = Ours(vocabulary.path, vocabulary.kind)
    except Exception as error:
        message = f"{type(error).__name__}: {error}".replace(f"{vocabulary.path}: ", "")
        return Result(vocabulary.name, theirs.name, message, vocabulary.is_bpe, {})
    tallies = {}
    n_bytes = int(options.megabytes * 1e6)
    if n_bytes:
        documents = (
            text
            for file in files
            for text in texts.documents(file, n_bytes, options.seed)
        )
        tallies["texts"] = compare_texts(theirs, ours, documents, deep_every=5)
    if n_strings:
        specials = theirs.specials or ours.specials
        made = strings.make_strings(options.seed, n_strings, specials)
        tallies["strings"] = compare_texts(theirs, ours, made)
        tallies["ids"] = compare_ids(theirs, ours, min(n_strings, 2000), options.seed)
    different = difference_of_vocabularies(theirs.vocabulary(), ours.vocabulary())
    return Result(
        vocabulary.name, theirs.name, None, vocabulary.is_bpe, tallies, different
    )


def difference_of_vocabularies(theirs: Any, ours: Any) -> str | None:
    """Say how two maps of tokens differ."""
    if theirs is None or theirs == ours:
        return None
    here, there = (
        sorted(theirs.items() - ours.items()),
        sorted(ours.items() - theirs.items()),
    )
    counts = f"{len(here)} tokens only theirs, {len(there)} only ours"
    return f"{counts}: {here[:4]!a} {there[:4]!a}"


if __name__ == "__main__":
    sys.exit(main())
