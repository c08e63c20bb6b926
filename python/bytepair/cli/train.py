"""``bytepair train``: text to a tokenizer file.

What can be known to fail is refused before any text is read: a pattern, a path that
cannot be written, a format that does not hold such tokenizers. What only the result
shows loses no work: it is saved as ``.bytepair``, which holds every tokenizer.
"""

import json
import os
import re
import shlex
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

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
from bytepair._training.calls import refuse_text_options
from bytepair._training.earlier import read_earlier
from bytepair._training.merge_log import MergeLog, bytes_of
from bytepair._training.progress import ProgressLine
from bytepair._training.weights import Weight

from . import training_options as options
from .corpus_options import LearningOptions
from .options import Format, Json, NewTokenizerOrNone, Quiet
from .problems import remark, tell
from .sizes import size
from .spreading import spread
from .training_steps import Steps

if TYPE_CHECKING:
    from bytepair.data import Counts

__all__ = ["Watch", "summary_lines", "train"]

INTERRUPTED = 130
"""What a shell reports for a program that SIGINT ended."""


@spread
def train(
    files: options.Files,
    *,
    output: NewTokenizerOrNone = None,
    vocab_size: options.VocabSize = None,
    merges: options.Merges = None,
    dialect: options.Dialect = None,
    special: options.Special = None,
    reading: LearningOptions,
    pattern: options.Pattern = None,
    normalize: options.Normalize = None,
    unmatched: options.UnmatchedChoice = None,
    ties: options.TiesChoice = None,
    min_count: options.MinCount = None,
    min_piece_count: options.MinPieceCount = None,
    character_coverage: options.CharacterCoverage = None,
    max_alphabet: options.MaxAlphabet = None,
    max_token_bytes: options.MaxTokenBytes = None,
    max_token_chars: options.MaxTokenChars = None,
    whole_characters: options.WholeCharacters = False,
    lowercase: options.LowercaseChoice = None,
    unknown_token: options.UnknownToken = None,
    byte_fallback: options.ByteFallback = None,
    group: options.Group = None,
    resume: options.Resume = None,
    log: options.Log = None,
    steps: options.Steps = False,
    threads: options.Threads = None,
    memory_limit: options.MemoryLimit = None,
    format_name: Format = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train a tokenizer on text files and save it."""
    if (vocab_size is None) == (merges is None):
        message = "give either --vocab-size or --merges"
        raise typer.BadParameter(message)
    n_bytes = None if memory_limit is None else size(memory_limit, "--memory-limit")
    check_output(output, format_name, steps=steps)
    parts = {
        "pattern": "" if pattern == [""] else pattern,
        "normalize": [] if normalize == [""] else normalize,
        "unmatched": unmatched and unmatched.value,
        "ties": ties and ties.value,
        "min_count": min_count,
        "lowercase": lowercase and lowercase.value,
        "unknown_token": unknown_token,
        "byte_fallback": byte_fallback,
    }
    limits = {
        "character_coverage": character_coverage,
        "max_alphabet": max_alphabet,
        "max_token_bytes": max_token_bytes,
        "max_token_chars": max_token_chars,
        "whole_characters": whole_characters or None,
        "resume": resume
        and read_earlier(resume, dialect=dialect, pattern=parts["pattern"]),
    }
    wanted: dict[str, Any] = {
        "vocab_size": vocab_size,
        "merges": merges,
        "dialect": dialect,
        "special_tokens": special or [],
        **{name: v for name, v in {**parts, **limits}.items() if v is not None},
    }
    counts = stored_counts(files)
    if counts is not None:
        refuse_text_options(**reading.given(), memory_limit=memory_limit)
        found_dialect, found_parts = counts.parts(dialect, {})
        names = {
            "special_tokens": wanted["special_tokens"] or counts.info.special_tokens
        }
        wanted = {**found_parts, **wanted, **names, "dialect": found_dialect}
    elif group:
        message = "--groups needs counts by group (bytepair count-pieces --group)"
        raise TrainingError(message)
    rehearse(output, format_name, wanted)
    check_log(log, output)
    kept: list[MergeLog] = []
    watch, walk = Watch(is_shown=not quiet), Steps() if steps else None
    common: dict[str, Any] = {
        "on_counted": walk and walk.take,
        "threads": threads,
        "progress": watch,
        "min_piece_count": min_piece_count,
        "log": log,
        "on_log": kept.append,
        **wanted,
    }
    try:
        if counts is not None:
            chosen = group and dict(map(group_weight, group))
            tokenizer = bytepair.train_from_counts(counts, groups=chosen, **common)
        else:
            tokenizer = bytepair.train(
                weighted(files), memory_limit=n_bytes, **reading.reading(), **common
            )
    except TrainingInterrupted as interrupted:
        rescue(interrupted, output, format_name, logged(log, kept))
    summary = watch.summary(tokenizer)
    saved, changes = save(tokenizer, output, format_name, logged(log, kept))
    if walk and not as_json:
        walk.print(tokenizer)
    if not quiet:
        lines = [*watch.deferred, *summary_lines(summary)]
        lines += [f"saved: {saved}"] if saved else []
        lines += [f"different ids in this file than in training: {c}" for c in changes]
        lines += [f"log: {log}"] if log else []
        remark(*lines)
    if as_json:
        found = {"output": saved and str(saved), **summary, "changes": changes}
        print(json.dumps(found | (walk.as_object(tokenizer) if walk else {})))


def stored_counts(files: list[str]) -> "Counts | None":
    """Read a file of counts, where one is what to train on.

    >>> stored_counts(["a.txt"]) is None
    True
    """
    if not any(file.endswith(".parquet") for file in files):
        return None
    from bytepair.data import is_counts, read_counts

    if not any(is_counts(file) for file in files):
        return None
    if len(files) > 1:
        message = "merge files of counts first: bytepair count-pieces --merge"
        raise TrainingError(message)
    return read_counts(files[0])


def weighted(files: list[str]) -> list[str] | dict[StrPath, Weight]:
    """Read ``path@weight``, where no file has that name.

    >>> weighted(["a.txt", "b.txt"])
    ['a.txt', 'b.txt']
    >>> weighted(["en.txt", "fa.txt@2.5"])
    {'en.txt': 1, 'fa.txt': Decimal('2.5')}
    """
    parts = [split_weight(file) for file in files]
    if all(weight is None for _path, weight in parts):
        return files
    pairs = [(path, 1 if weight is None else weight) for path, weight in parts]
    found: dict[StrPath, Weight] = {}
    for path, weight in pairs:
        if path in found:
            message = f"{path} is named twice; give it one weight"
            raise TrainingError(message)
        found[path] = weight
    return found


def group_weight(name: str) -> tuple[str, Weight]:
    """Read ``name@weight``.

    >>> group_weight("en"), group_weight("fa@2.5")
    (('en', 1), ('fa', Decimal('2.5')))
    """
    group, weight = split_weight(name)
    return group, 1 if weight is None else weight


def split_weight(file: str) -> tuple[str, Decimal | None]:
    """Cut a weight off a path, if it has one and is no file itself."""
    path, at, weight = file.rpartition("@")
    if not (path and at) or Path(file).exists():
        return file, None
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)?|\.[0-9]+", weight):
        return file, None
    return path, Decimal(weight)


def check_log(log: Path | None, output: Path | None) -> None:
    """Refuse a log in the place of the tokenizer."""
    if log is None or output is None:
        return
    if os.path.realpath(log) == os.path.realpath(output):
        message = f"{log} is where the tokenizer is saved; name another file"
        raise typer.BadParameter(message, param_hint="--log")


def logged(path: Path | None, kept: list[MergeLog]) -> dict[Path, bytes]:
    """Give the file of the log, if one is asked for and training came that far."""
    return {} if path is None or not kept else {path: bytes_of(kept[-1])}


def rescue(
    interrupted: TrainingInterrupted,
    output: Path | None,
    format_name: str | None,
    logs: dict[Path, bytes],
) -> NoReturn:
    """Save what was learned until Ctrl-C, say what it is, and end."""
    lines = []
    if interrupted.tokenizer is not None:
        saved, _changes = save(interrupted.tokenizer, output, format_name, logs)
        if saved:
            quoted = as_pasted(str(saved))
            lines.append(
                f"saved: {saved}; to continue, run the same command with --resume {quoted}"
            )
        lines += [f"log: {log}" for log in logs]
    tell("\n".join([str(interrupted), *lines]))
    raise typer.Exit(INTERRUPTED)


def as_pasted(path: str) -> str:
    r"""Quote a path for a shell, in escapes where a terminal would not show it as it is.

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


def check_output(output: Path | None, format_name: str | None, *, steps: bool) -> None:
    """Refuse a command that neither saves nor shows anything, and a format of nothing."""
    if output is None and not steps:
        message = "name where to save; only --steps needs no output"
        raise typer.BadParameter(message, param_hint="--output / -o")
    if output is None and format_name is not None:
        message = "without --output nothing is saved"
        raise typer.BadParameter(message, param_hint="--format")


def rehearse(
    output: Path | None,
    format_name: str | None,
    wanted: dict[str, Any],
) -> None:
    """Train next to nothing and save it, so that what must fail fails at once.

    Raises
    ------
    TokenizerError
        The options do not fit each other, the path says no format or cannot be
        written, or the format does not hold tokenizers of this kind.
    """
    if output is None:
        return
    if str(output) == "-":
        message = "a tokenizer cannot be written to standard output; name a file"
        raise FileError(message)
    saving.format_of(output, format_name, option="--format")
    tiny = bytepair.train_from_counts({"ab": 2}, **wanted)
    with TemporaryFolder() as folder:
        rehearsed = Path(folder) / output.name
        saving.save(tiny, rehearsed, format_name, ids_may_change=True)
        if output.exists() and output.is_dir() != rehearsed.is_dir():
            kind = "folder" if output.is_dir() else "file"
            message = f"{output} is a {kind}; this format needs another path"
            raise FileError(message)
    check_writable(output if output.is_dir() else output.parent)


def save(
    tokenizer: Tokenizer,
    output: Path | None,
    format_name: str | None,
    logs: dict[Path, bytes],
) -> tuple[Path | None, list[str]]:
    """Save a tokenizer; say where, and which texts the format normalizes otherwise.

    Its log appears together with it, or neither does. Nobody uses ids of a tokenizer that was just trained, so that these may change.

    Raises
    ------
    FormatError
        The format cannot express it; then it lies beside, as ``.bytepair``.
    """
    if output is None:
        write_together(logs)
        return None, []
    try:
        changes = saving.save(
            tokenizer, output, format_name, ids_may_change=True, others=logs
        )
    except FormatError as error:
        fallback = output.with_suffix(".bytepair")
        saving.save(tokenizer, fallback, "bytepair", others=logs)
        message = f"{error}; saved as {fallback} instead"
        raise FormatError(message) from error
    return output, list(map(str, changes))


class Watch:
    """Shows progress on a terminal, and keeps what is known at the end."""

    def __init__(self, *, is_shown: bool) -> None:
        self.line = ProgressLine()
        self.line.is_shown &= is_shown
        self.deferred: list[str] = []
        self.start = time.perf_counter()
        self.last: Progress | None = None

    def __call__(self, progress: Progress) -> None:
        """Take a step; the summary takes the place of the last one."""
        self.last = progress
        if progress.corpus and not self.line.is_shown:
            self.deferred.append(progress.corpus)
        elif progress.phase != "done":
            self.line(progress)
        elif self.line.is_shown:
            sys.stderr.write("\r\x1b[K")

    def summary(self, tokenizer: Tokenizer) -> dict[str, Any]:
        """Give what was read and learned, by name."""
        report = self.last.report if self.last else {}
        ratio = self.last.characters_per_token if self.last else 0.0
        return {
            **report,
            "n_vocab": tokenizer.n_vocab,
            "characters_per_token": round(ratio, 4),
            "seconds": round(time.perf_counter() - self.start, 3),
        }


def summary_lines(summary: dict[str, Any]) -> list[str]:
    """Write a summary for a reader."""
    lines = [
        f"{amount(summary['merges'], 'merge')}, {amount(summary['n_vocab'], 'id')}, "
        f"compression ratio {summary['characters_per_token']:.2f} characters per token, "
        f"{amount(summary['bytes'], 'byte')} in {summary['seconds']:.1f} s"
    ]
    if "unchanged_ids" in summary:
        unchanged, new = summary["unchanged_ids"], summary["new_ids"]
        lines.append(f"{amount(unchanged, 'id')} unchanged, {new:,} new")
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
    found = {name: n for name, n in summary["special_tokens"].items() if n}
    if found:
        counts = ", ".join(f"{shown(name)} {n:,}" for name, n in found.items())
        lines.append(f"special tokens in the text: {counts}")
    return lines


def _left_out_line(left_out: dict[str, Any]) -> str:
    """Say which characters have no ids, and what becomes of them.

    >>> found = {"characters": 1234, "share": 0.0005, "stand_in": "bytes"}
    >>> _left_out_line(found)
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
    r"""Write a token so that white space in it is seen.

    >>> shown("<s>"), shown("  "), shown("a\n")
    ('<s>', "'  '", "'a\\n'")
    """
    return name if name.isprintable() and " " not in name else repr(name)


def _stop_reason(best_count: int) -> str:
    """Say why no more was merged, by how often the best pair that was left occurs."""
    if best_count == 0:
        return "no pair occurs twice: each piece is one token"
    if best_count == 1:
        return "no pair occurs twice"
    return f"the most frequent pair occurs only {best_count:,} times"
