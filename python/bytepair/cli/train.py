"""``bytepair train``: text to a tokenizer file.

Foreseeable failures are refused before any text is read: a wrong pattern, a path that cannot
be written, a format that cannot hold such tokenizers. If only the result shows that the
format cannot hold it, it is saved as ``.bytepair``, which holds every tokenizer.
"""

import json
import os
import re
import shlex
import sys
import time
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

import bytepair
from bytepair import (
    FileError,
    FormatError,
    Progress,
    Tokenizer,
    TrainingError,
    TrainingInterrupted,
)
from bytepair._io import saving
from bytepair._io.files import StrPath, check_writable, write_together
from bytepair._io.temporary import TemporaryFolder
from bytepair._plurals import amount
from bytepair._training.calls import counts_file, refuse_text_options
from bytepair._training.earlier import read_earlier
from bytepair._training.merge_log import MergeLog, bytes_of
from bytepair._training.progress import ProgressLine
from bytepair._weights import Weight

from .command import Argument, Option, command
from .corpus_options import LEARNING_OPTIONS
from .options import FORMAT, JSON, QUIET, new_tokenizer
from .problems import remark, tell
from .sizes import number
from .training_options import (
    DIALECT_NAME,
    DIALECT_OPTIONS,
    FILES,
    LIMIT_OPTIONS,
    MEMORY_LIMIT,
    SPECIAL,
    THREADS,
)
from .training_steps import Steps

if TYPE_CHECKING:
    from bytepair.data import Counts

__all__ = ["Watch", "summary_lines", "train"]

INTERRUPTED = 130
"""The exit code that a shell reports for a program ended by SIGINT."""
TEXT_OPTIONS = (
    "input_format",
    "field",
    "lines",
    "separator",
    "skip_bad",
    "memory_limit",
)
"""Options for reading text, which do not apply to counts."""
UNREHEARSED = ("threads", "min_piece_count", "min_sources")
"""Options that a rehearsal, on a single piece, leaves out."""


def number_or_auto(text: str) -> int | str:
    """Return the number of merges within words, or ``"auto"``.

    >>> number_or_auto("80k"), number_or_auto("auto")
    (80000, 'auto')
    """
    return text if text == "auto" else number(1)(text)


@command(
    Argument("files", "FILES...", FILES, reads=True),
    new_tokenizer(required=False),
    Option(
        "--vocab-size N",
        "Stop at this number of ids, special tokens included: 32000, 100k (100,000) or 32Ki "
        "(32,768).",
        type=number(1),
    ),
    Option("--merges N", "Stop after this number of merges.", type=number()),
    DIALECT_NAME,
    SPECIAL,
    *LEARNING_OPTIONS,
    *DIALECT_OPTIONS,
    *LIMIT_OPTIONS,
    Option(
        "--superwords N",
        "Learn N merges within words, then merges beyond words, up to the size. The text is read "
        "twice. With auto instead of a number, join whole words, and let merges beyond words "
        "replace less frequent ones within words.",
        type=number_or_auto,
    ),
    Option(
        "--whole-words",
        "With --superwords, join only whole words that are one token each.",
    ),
    Option(
        "--superword-pattern REGEX",
        "With --superwords, the pattern that splits text for merges beyond words; by default "
        "superwords, which splits off little but numbers and runs of punctuation.",
    ),
    Option(
        "--groups NAME[@WEIGHT]...",
        "Learn only from this group of counts by group, optionally with a weight (en@0.5). May be "
        "repeated; by default all groups count.",
    ),
    Option(
        "--parity",
        "Make languages need about as many tokens: each of FILES, or each group of counts, is a "
        "language, and the one with the most tokens chooses the next merge.",
    ),
    Option(
        "--parallel FILE...",
        "With --parity, compare the lengths of these files, not those of FILES. Each has the same "
        "text in one language; repeat the option for each, in the order of FILES or of --groups.",
        reads=True,
    ),
    Option(
        "--ratio NUMBER...",
        "With --parity, how many times shorter each text should become, relative to the others. "
        "Repeat the option for each, in the order of FILES or of --groups.",
        type=float,
    ),
    Option(
        "--window N",
        "With --parity, let a language wait that made more than twice its equal share of the last "
        "N choices.",
        type=number(1),
    ),
    Option(
        "--global-merges N",
        "With --parity, choose the first N merges from all languages together.",
        type=number(),
    ),
    Option(
        "--resume TOKENIZER",
        "Continue training this tokenizer, in its dialect. Its ids stay, and new tokens get ids "
        "after the largest one; --vocab-size and --merges include what it already has.",
        type=Path,
    ),
    Option(
        "--log FILE",
        "Write each merge as a line of JSON. With --resume and the existing log, append new lines "
        "to it.",
        type=Path,
        writes=True,
    ),
    Option(
        "--steps",
        "Walk through training on a small text: all pairs, the one chosen and why, and the text "
        "after each merge. Needs no --output.",
    ),
    THREADS,
    MEMORY_LIMIT,
    FORMAT,
    QUIET,
    JSON,
)
def train(
    files: list[str],
    *,
    output: Path | None = None,
    groups: list[str] | None = None,
    log: Path | None = None,
    steps: bool = False,
    format: str | None = None,
    quiet: bool = False,
    as_json: bool = False,
    **wanted: Any,
) -> None:
    """Train a tokenizer on text files and save it.

    $ bytepair train corpus.txt --vocab-size 500 -o own.json
    $ bytepair train corpus.txt --vocab-size 500 --special '<|end|>' -o own.json
    $ bytepair train corpus.txt --merges 5 --steps
    """
    target = Target(output, format, log)
    target.check(wanted, has_steps=steps)
    parity = parity_of(wanted)
    if "resume" in wanted:
        chosen = {name: wanted.get(name) for name in ("dialect", "pattern")}
        wanted["resume"] = read_earlier(wanted["resume"], **chosen)
    reading = {name: wanted.pop(name) for name in TEXT_OPTIONS if name in wanted}
    work = {name: wanted.pop(name) for name in UNREHEARSED if name in wanted}
    work |= {"parity": parity} if parity else {}
    counts = stored_counts(files)
    if counts is not None:
        refuse_text_options(**reading)
        dialect, parts = counts.parts(wanted.get("dialect"), {})
        special = wanted.get("special_tokens", counts.info.special_tokens)
        wanted = {**parts, **wanted, "special_tokens": special, "dialect": dialect}
    elif groups:
        message = "--groups needs counts by group (bytepair count-pieces --group)"
        raise TrainingError(message)
    target.rehearse(wanted)
    watch, walk = Watch(is_shown=not quiet), Steps() if steps else None
    wanted |= work | {
        "on_counted": walk and walk.take,
        "progress": watch,
        "log": log,
        "on_log": target.keep,
    }
    try:
        if counts is not None:
            weights: Any = groups and weighted(groups)
            tokenizer = bytepair.train_from_counts(counts, groups=weights, **wanted)
        else:
            tokenizer = bytepair.train(weighted(files), **reading, **wanted)
    except TrainingInterrupted as interrupted:
        is_auto = wanted.get("superwords") == "auto"
        has_window = getattr(wanted.get("parity"), "window", None) is not None
        target.rescue(interrupted, can_resume=not (is_auto or has_window))
    summary = watch.summary(tokenizer)
    changes = target.save(tokenizer)
    if walk and not as_json:
        walk.print(tokenizer)
    if not quiet:
        lines = [*watch.deferred, *summary_lines(summary)]
        lines += [f"saved: {output}"] if output else []
        lines += [f"different ids in this file than in training: {c}" for c in changes]
        lines += [f"log: {log}"] if log else []
        remark(*lines)
    if as_json:
        result = {"output": output and str(output), **summary, "changes": changes}
        print(json.dumps(result | (walk.as_object(tokenizer) if walk else {})))


def parity_of(wanted: dict[str, Any]) -> bytepair.Parity | None:
    """Remove the options of parity from those of training, and return them as one.

    >>> parity_of({"parity": True, "window": 9}).window
    9
    """
    names = ("parallel", "ratio", "window", "global_merges")
    given = {name: wanted.pop(name) for name in names if name in wanted}
    if not wanted.pop("parity", False):
        if given:
            message = f"--{next(iter(given)).replace('_', '-')} needs --parity"
            raise click.UsageError(message)
        return None
    return bytepair.Parity(**given)


def stored_counts(files: list[str]) -> "Counts | None":
    """Return the counts to train on, or ``None`` if the files are texts.

    >>> stored_counts(["a.txt"]) is None
    True
    """
    path = counts_file(files)
    if path is None:
        return None
    from bytepair.data import read_counts

    return read_counts(path)


def weighted(files: list[str]) -> list[str] | dict[StrPath, Weight]:
    """Split ``path@weight`` into both, unless a file has that name.

    >>> weighted(["a.txt", "b.txt"])
    ['a.txt', 'b.txt']
    >>> weighted(["en.txt", "fa.txt@2.5"])
    {'en.txt': 1, 'fa.txt': Decimal('2.5')}
    """
    parts = [split_weight(file) for file in files]
    if all(weight is None for _path, weight in parts):
        return files
    pairs = [(path, 1 if weight is None else weight) for path, weight in parts]
    weights: dict[StrPath, Weight] = {}
    for path, weight in pairs:
        if path in weights:
            message = f"{path} is named twice; give it one weight"
            raise TrainingError(message)
        weights[path] = weight
    return weights


def split_weight(file: str) -> tuple[str, Decimal | None]:
    """Split the weight off a path, unless a file has exactly this name."""
    path, at, weight = file.rpartition("@")
    if not (path and at) or Path(file).exists():
        return file, None
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)?|\.[0-9]+", weight):
        return file, None
    return path, Decimal(weight)


def as_pasted(path: str) -> str:
    r"""Return a path quoted for a shell, with escapes if a terminal would not show it as it is.

    >>> as_pasted("a b.json"), as_pasted("a\tb\udcff.json")
    ("'a b.json'", "$'a\\x09b\\xff.json'")
    """
    if path.isprintable():
        return shlex.quote(path)
    escaped = "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b"'\\" else f"\\x{byte:02x}"
        for byte in os.fsencode(path)
    )
    return f"$'{escaped}'"


@dataclass
class Target:
    """The files for a tokenizer and the log of its merges."""

    output: Path | None
    format: str | None
    log: Path | None
    merges: MergeLog | None = None

    def keep(self, merges: MergeLog) -> None:
        """Keep the merge log of training."""
        self.merges = merges

    def check(self, wanted: dict[str, Any], *, has_steps: bool) -> None:
        """Refuse a command without a size or that neither saves nor shows anything, and an idle format."""
        n_sizes = len(wanted.keys() & {"vocab_size", "merges"})
        missing = [] if n_sizes else ["give either --vocab-size or --merges"]
        if self.output is None and not has_steps:
            missing.append("--output is missing; only --steps works without it")
        if missing or n_sizes > 1:
            message = (
                "; ".join(missing) or "give either --vocab-size or --merges, not both"
            )
            raise click.UsageError(message)
        if self.output is None and self.format is not None:
            message = "--format needs --output"
            raise click.UsageError(message)

    def rehearse(self, given: dict[str, Any]) -> None:
        """Train on a single piece and save the result, so that foreseeable failures happen at once.

        Raises
        ------
        TokenizerError
            The options contradict each other, the path has no known format or cannot be
            written, or the format cannot hold tokenizers of this kind.
        """
        output, wanted = self.output, dict(given)
        if output is None:
            return
        if str(output) == "-":
            message = "a tokenizer cannot be written to standard output; name a file"
            raise FileError(message)
        saving.format_of(output, self.format, option="--format")
        if "superwords" in wanted:
            tiny = bytepair.train_from_iterator(["ab ab"], **wanted)
        else:
            tiny = bytepair.train_from_counts({"ab": 2}, **wanted)
        with TemporaryFolder() as folder:
            rehearsed = Path(folder) / output.name
            saving.save(tiny, rehearsed, self.format, ids_may_change=True)
            if output.exists() and output.is_dir() != rehearsed.is_dir():
                kind = "folder" if output.is_dir() else "file"
                message = f"{output} is a {kind}; this format needs another path"
                raise FileError(message)
        check_writable(output if output.is_dir() else output.parent)

    def save(self, tokenizer: Tokenizer) -> list[str]:
        """Save a tokenizer and its log, both or neither; return how ids differ from training.

        Nobody uses the ids of a new tokenizer yet, so they may change.

        Raises
        ------
        FormatError
            The format cannot hold it; it is then saved in the same folder as ``.bytepair``.
        """
        logs = {self.log: bytes_of(self.merges)} if self.log and self.merges else {}
        if self.output is None:
            write_together(logs)
            return []
        try:
            changes = saving.save(
                tokenizer, self.output, self.format, ids_may_change=True, others=logs
            )
        except FormatError as error:
            fallback = self.output.with_suffix(".bytepair")
            saving.save(tokenizer, fallback, "bytepair", others=logs)
            message = f"{error}; saved as {fallback} instead"
            raise FormatError(message) from error
        return list(map(str, changes))

    def rescue(self, interrupted: TrainingInterrupted, *, can_resume: bool) -> NoReturn:
        """Save what was learned before Ctrl-C, report it, and exit."""
        lines = [str(interrupted)]
        if interrupted.tokenizer is not None:
            self.save(interrupted.tokenizer)
            if self.output:
                quoted = as_pasted(str(self.output))
                how = f"; to continue, run the same command with --resume {quoted}"
                lines.append(f"saved: {self.output}{how if can_resume else ''}")
            lines += [f"log: {self.log}"] if self.log and self.merges else []
        tell("\n".join(lines))
        raise click.exceptions.Exit(INTERRUPTED)


class Watch:
    """Shows progress on a terminal, and keeps the last numbers for the summary."""

    def __init__(self, *, is_shown: bool) -> None:
        self.line = ProgressLine()
        self.line.is_shown &= is_shown
        self.deferred: list[str] = []
        self.start = time.perf_counter()
        self.last: Progress | None = None

    def __call__(self, progress: Progress) -> None:
        """Show the progress; at the end, clear the line for the summary."""
        self.last = progress
        if progress.corpus and not self.line.is_shown:
            self.deferred.append(progress.corpus)
        elif progress.phase != "done":
            self.line(progress)
        elif self.line.is_shown:
            sys.stderr.write("\r\x1b[K")

    def summary(self, tokenizer: Tokenizer) -> dict[str, Any]:
        """Return what was read and learned, by name."""
        report = self.last.report if self.last else {}
        ratio = self.last.characters_per_token if self.last else 0.0
        return {
            **report,
            "n_vocab": tokenizer.n_vocab,
            "characters_per_token": round(ratio, 4),
            "seconds": round(time.perf_counter() - self.start, 3),
        }


def summary_lines(summary: dict[str, Any]) -> list[str]:
    """Return the lines of a summary."""
    lines = [
        f"{amount(summary['merges'], 'merge')}, {amount(summary['n_vocab'], 'id')}, "
        f"compression ratio {summary['characters_per_token']:.2f} characters per token, "
        f"{amount(summary['bytes'], 'byte')} in {summary['seconds']:.1f} s"
    ]
    if "unchanged_ids" in summary:
        unchanged, new = summary["unchanged_ids"], summary["new_ids"]
        lines.append(f"{amount(unchanged, 'id')} unchanged, {new:,} new")
    if "groups" in summary:
        lines += [
            f"{name}: {found['before']:,} tokens before, {found['after']:,} now"
            for name, found in summary["groups"].items()
        ]
    if summary["dropped_pieces"]:
        lines.append(
            f"left out: {amount(summary['dropped_pieces'], 'rare piece')}, "
            f"{amount(summary['dropped_occurrences'], 'occurrence')}"
        )
    if summary["left_out"]:
        lines.append(_left_out_line(summary["left_out"]))
    if summary["bad"]:
        lines.append(f"left out: {amount(summary['bad'], 'line')} without a text")
    if summary["best_count_at_stop"] is not None:
        lines.append(f"stopped: {_stop_reason(summary['best_count_at_stop'])}")
    special = {name: n for name, n in summary["special_tokens"].items() if n}
    if special:
        counts = ", ".join(f"{shown(name)} {n:,}" for name, n in special.items())
        lines.append(f"special tokens in the text: {counts}")
    return lines


def _left_out_line(left_out: dict[str, Any]) -> str:
    """Describe the characters without ids, and how they are encoded.

    >>> left_out = {"characters": 1234, "share": 0.0005, "stand_in": "bytes"}
    >>> _left_out_line(left_out)
    'left out: 1,234 characters, 0.05 % of the text; they are encoded as bytes'
    """
    n_characters, percent = left_out["characters"], 100 * left_out["share"]
    share = "less than 0.01" if 0 < percent < 0.005 else f"{percent:.2f}"
    line = f"left out: {amount(n_characters, 'character')}, {share} % of the text"
    if not n_characters:
        return line
    stand_in = left_out["stand_in"]
    if stand_in is None:
        return (
            f"{line}; they cannot be encoded without --byte-fallback or --unknown-token"
        )
    becomes = "bytes" if stand_in == "bytes" else stand_in
    return f"{line}; they are encoded as {becomes}"


def shown(name: str) -> str:
    r"""Return a token, in quotes if it has white space or invisible characters.

    >>> shown("<s>"), shown("  "), shown("a\n")
    ('<s>', "'  '", "'a\\n'")
    """
    return name if name.isprintable() and " " not in name else repr(name)


def _stop_reason(best_count: int) -> str:
    """Return why training stopped, from the count of the most frequent pair that was left."""
    if best_count == 0:
        return "no pair occurs twice, apart from forbidden ones"
    if best_count == 1:
        return "no pair occurs twice"
    return f"the most frequent pair occurs only {best_count:,} times"
