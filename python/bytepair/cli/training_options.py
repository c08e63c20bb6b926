"""Options of training, by the names of :func:`bytepair.train`; ``count-pieces`` has some of them too."""

import re
import shlex
from pathlib import Path

import click

from bytepair import dialects, patterns
from bytepair._training.vetoes import FORBIDDEN

from .command import DIALECT, LIMITS, WORK, Option, completing
from .options import one_pattern
from .sizes import MOST_WORKERS, number, size

FILES = (
    "Files, folders, globs, or URLs that fsspec opens; - is standard input. The name sets the "
    "format: .jsonl, .parquet, .csv, .tsv, else text, followed by .gz, .zst, .xz or .bz2 if "
    "compressed. A text file is one text. file.txt@4 counts everything in file.txt four times, "
    "unless a file has exactly that name. One file of counts (see bytepair count-pieces) works too."
)
DIALECT_NAME = Option(
    "--dialect NAME",
    f"One of {', '.join(dialects())}; by default gpt4o, and with train --resume the dialect of "
    "that tokenizer.",
    shell_complete=completing(dialects),
)


def one_token(token: str) -> str:
    """Return a special token, or refuse a list of them in one value.

    >>> one_token("<|end|>")
    '<|end|>'
    """
    if re.fullmatch(r"([<\[])\S+[>\]],\s*\1\S+", token):
        names = " ".join(f"--special {shlex.quote(part)}" for part in token.split(","))
        message = f"--special: {token!r} is one token; for several tokens, give {names}"
        raise click.UsageError(message)
    return token


SPECIAL = Option(
    "--special TOKEN...",
    "A special token: it gets an id, and a text ends where the files contain it. May be repeated.",
    name="special_tokens",
    parse=lambda tokens: [one_token(token) for token in tokens],
)
COUNTING_OPTIONS = (
    Option(
        "--pattern REGEX...",
        "Split by this regular expression, or by one of the patterns "
        f"{', '.join(patterns())}; '' splits nothing. May be repeated; patterns apply one after "
        "the other.",
        parse=one_pattern,
        shell_complete=completing(patterns),
        group=DIALECT,
    ),
    Option(
        "--normalize STEP...",
        "Normalize text by this step: nfc, nfd, nfkc, nfkd, lowercase or spaces (each written as "
        "▁); '' changes nothing. May be repeated; steps apply one after the other.",
        parse=lambda steps: [] if steps == ("",) else steps,
        group=DIALECT,
    ),
    Option(
        "--unmatched [keep|drop]",
        "Keep or drop text that the pattern does not match.",
        group=DIALECT,
    ),
    Option(
        "--ties [smallest_ids|first_seen|largest_text]",
        "Which of several equally frequent pairs is merged first.",
        group=DIALECT,
    ),
    Option(
        "--lowercase [always|training|never]",
        "When to lowercase text.",
        group=DIALECT,
    ),
)
"""The parts of a dialect that matter for counting pieces."""
DIALECT_OPTIONS = (
    *COUNTING_OPTIONS,
    Option(
        "--unknown-token TOKEN",
        "The token that stands for unknown characters.",
        group=DIALECT,
    ),
    Option(
        "--byte-fallback/--no-byte-fallback",
        "Encode unknown characters as byte tokens.",
        group=DIALECT,
    ),
)
MIN_COUNT = Option(
    "--min-count N",
    "Do not merge pairs that occur fewer than N times.",
    type=number(1),
    group=LIMITS,
)
MAX_TOKEN_BYTES = Option(
    "--max-token-bytes N",
    "Do not learn tokens of more than N bytes.",
    type=number(1),
    group=LIMITS,
)
MIN_PIECE_COUNT = Option(
    "--min-piece-count N",
    "Leave out pieces of text that occur fewer than N times. The summary shows how many.",
    type=number(1),
    group=LIMITS,
)
LIMIT_OPTIONS = (
    MIN_COUNT,
    MIN_PIECE_COUNT,
    Option(
        "--min-sources N",
        "Leave out pieces of text that occur in fewer than N documents, or in fewer than N groups "
        "of counts by group. The summary shows how many.",
        type=number(1),
        group=LIMITS,
    ),
    Option(
        "--character-coverage SHARE",
        "In character-level dialects, give ids only to the most frequent characters that make up "
        "this share of the text, such as 0.9995. The others are unknown characters.",
        type=float,
        group=LIMITS,
    ),
    Option(
        "--max-alphabet N",
        "In character-level dialects, give ids only to the N most frequent characters.",
        type=number(1),
        group=LIMITS,
    ),
    MAX_TOKEN_BYTES,
    Option(
        "--max-token-chars N",
        "Do not learn tokens of more than N characters.",
        type=number(1),
        group=LIMITS,
    ),
    Option(
        "--whole-characters",
        "Do not learn tokens that end inside a character, except parts of a single character.",
        group=LIMITS,
    ),
    Option(
        "--max-words N",
        "Do not learn tokens of more than N words. Only spaces separate words, not line breaks.",
        type=number(1),
        group=LIMITS,
    ),
    Option(
        "--one-script",
        "Do not learn tokens with characters of several scripts, such as Latin and Greek.",
        group=LIMITS,
    ),
    Option(
        "--forbid REGEX...",
        "Do not learn tokens in which this regular expression matches, or one of the patterns "
        f"{', '.join(FORBIDDEN)}. May be repeated.",
        parse=list,
        group=LIMITS,
    ),
    Option(
        "--cuts FILE",
        "Do not learn merges across the cuts of words in this file. Each line is a word with spaces "
        "where it is cut: un happi ness. Only whole words are cut, apart from punctuation at their "
        "ends, and only in training.",
        type=Path,
        reads=True,
        group=LIMITS,
    ),
)
THREADS = Option(
    "--threads N",
    "Number of threads; by default one per processor.",
    type=number(1, MOST_WORKERS),
    group=WORK,
)
MEMORY_LIMIT = Option(
    "--memory-limit SIZE",
    "The maximum memory, such as 500MB or 2GB; the rest goes to temporary files. Work that does "
    "not fit into this limit is refused.",
    type=size,
    group=WORK,
)
