"""The arguments of ``bytepair train``, each with its help."""

import enum
from pathlib import Path
from typing import Annotated

import typer

from bytepair import dialects, patterns

from .help_pages import DIALECT, LIMITS, WORK
from .sizes import MOST_WORKERS, number


class UnmatchedName(str, enum.Enum):
    """What becomes of text that the pattern does not match."""

    KEEP = "keep"
    DROP = "drop"


class TiesName(str, enum.Enum):
    """Which of several equally frequent pairs is merged first."""

    SMALLEST_IDS = "smallest_ids"
    FIRST_SEEN = "first_seen"
    LARGEST_TEXT = "largest_text"


class LowercaseName(str, enum.Enum):
    """When text is put in lower case."""

    ALWAYS = "always"
    TRAINING = "training"
    NEVER = "never"


FILES = (
    "Files, folders, globs, or URLs that fsspec opens; - is standard input. "
    "The name sets the format: .jsonl, .parquet, .csv, .tsv, else text, followed by .gz, "
    ".zst, .xz or .bz2 if compressed. A text file is one text. file.txt@4 "
    "counts everything in file.txt four times, unless a file has exactly that name. One "
    "file of counts (see bytepair count-pieces) works too."
)
Files = Annotated[
    list[str], typer.Argument(metavar="FILES", help=FILES, show_default=False)
]
VocabSize = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        parser=number(1),
        help="Stop at this number of ids, special tokens included: 32000, 100k (100,000) or 32Ki (32,768).",
    ),
]
Merges = Annotated[
    int | None,
    typer.Option(
        metavar="N", parser=number(), help="Stop after this number of merges."
    ),
]
_DIALECTS = f"One of {', '.join(dialects())}; by default gpt4o"
Dialect = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        autocompletion=dialects,
        help=f"{_DIALECTS}, or with --resume the dialect of that tokenizer.",
    ),
]
CountedDialect = Annotated[
    str | None,
    typer.Option(metavar="NAME", autocompletion=dialects, help=f"{_DIALECTS}."),
]
Special = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TOKEN",
        help="A special token: it gets an id, and a text ends where the files contain it. "
        "May be repeated.",
    ),
]
Pattern = Annotated[
    list[str] | None,
    typer.Option(
        autocompletion=patterns,
        metavar="REGEX",
        help="Split by this regular expression, or by one of the patterns "
        + ", ".join(patterns())
        + "; '' splits nothing. May be repeated; patterns apply one after the other.",
        rich_help_panel=DIALECT,
    ),
]
Normalize = Annotated[
    list[str] | None,
    typer.Option(
        metavar="STEP",
        help="Normalize text by this step: nfc, nfd, nfkc, nfkd, lowercase or spaces (each written "
        "as ▁); '' changes nothing. May be repeated; steps apply one after the other.",
        show_default=False,
        rich_help_panel=DIALECT,
    ),
]
UnmatchedChoice = Annotated[
    UnmatchedName | None,
    typer.Option(
        help="Keep or drop text that the pattern does not match.",
        rich_help_panel=DIALECT,
    ),
]
TiesChoice = Annotated[
    TiesName | None,
    typer.Option(
        help="Which of several equally frequent pairs is merged first.",
        rich_help_panel=DIALECT,
    ),
]
MinCount = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        parser=number(1),
        help="Do not merge pairs that occur fewer than N times.",
        rich_help_panel=LIMITS,
    ),
]
Group = Annotated[
    list[str] | None,
    typer.Option(
        "--groups",
        metavar="NAME[@WEIGHT]",
        help="Learn only from this group of counts by group, optionally with a weight "
        "(en@0.5). May be repeated; by default all groups count.",
        show_default=False,
    ),
]
MinPieceCount = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        parser=number(1),
        help="Leave out pieces of text that occur fewer than N times. The summary shows how many.",
        rich_help_panel=LIMITS,
    ),
]
CharacterCoverage = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        help="In character-level dialects, give ids only to the most frequent characters that make up "
        "this share of the text, such as 0.9995. The others are unknown characters.",
        show_default=False,
        rich_help_panel=LIMITS,
    ),
]
MaxAlphabet = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        parser=number(1),
        help="In character-level dialects, give ids only to the N most frequent characters.",
        show_default=False,
        rich_help_panel=LIMITS,
    ),
]
MaxTokenBytes = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        parser=number(1),
        help="Do not learn tokens of more than N bytes.",
        rich_help_panel=LIMITS,
    ),
]
MaxTokenChars = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        parser=number(1),
        help="Do not learn tokens of more than N characters.",
        rich_help_panel=LIMITS,
    ),
]
WholeCharacters = Annotated[
    bool,
    typer.Option(
        "--whole-characters",
        help="Do not learn tokens that end inside a character, except parts of a single character.",
        rich_help_panel=LIMITS,
    ),
]
Resume = Annotated[
    Path | None,
    typer.Option(
        metavar="TOKENIZER",
        help="Continue training this tokenizer, in its dialect. Its ids stay, and new tokens get "
        "ids after the largest one; --vocab-size and --merges include what it already has.",
    ),
]
Log = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write each merge as a line of JSON. With --resume and the existing log, append "
        "new lines to it.",
    ),
]
Steps = Annotated[
    bool,
    typer.Option(
        "--steps",
        help="Walk through training on a small text: all pairs, the one chosen and why, and the "
        "text after each merge. Needs no --output.",
    ),
]
LowercaseChoice = Annotated[
    LowercaseName | None,
    typer.Option(help="When to lowercase text.", rich_help_panel=DIALECT),
]
UnknownToken = Annotated[
    str | None,
    typer.Option(
        metavar="TOKEN",
        help="The token that stands for unknown characters.",
        rich_help_panel=DIALECT,
    ),
]
ByteFallback = Annotated[
    bool | None,
    typer.Option(
        help="Encode unknown characters as byte tokens.", rich_help_panel=DIALECT
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        parser=number(1, MOST_WORKERS),
        help="Number of threads; by default one per processor.",
        rich_help_panel=WORK,
    ),
]
MemoryLimit = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="The maximum memory, such as 500MB or 2GB; the rest goes to temporary files. "
        "Work that does not fit into this limit is refused.",
        rich_help_panel=WORK,
    ),
]
