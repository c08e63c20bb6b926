"""The arguments of ``bytepair train``, each with its help."""

import enum
from pathlib import Path
from typing import Annotated

import typer

from bytepair import dialects, patterns


class UnmatchedName(str, enum.Enum):
    """What becomes of text that the pattern does not match."""

    KEEP = "keep"
    DROP = "drop"


class TiesName(str, enum.Enum):
    """Which of several pairs of equal count is merged first."""

    SMALLEST_IDS = "smallest_ids"
    FIRST_SEEN = "first_seen"
    LARGEST_TEXT = "largest_text"


class LowercaseName(str, enum.Enum):
    """When text is put in lower case."""

    ALWAYS = "always"
    TRAINING = "training"
    NEVER = "never"


Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILES",
        help="Files, folders, globs, or addresses that fsspec opens; - is standard input. "
        "Names say what they are: .jsonl, .parquet, .csv, .tsv, else text; with .gz, .zst, "
        ".xz or .bz2 behind where they are compressed. A text file is one text. file.txt@4 "
        "counts everything in file.txt four times, unless there is a file of that whole "
        "name. Or one file of counts, see bytepair count.",
        show_default=False,
    ),
]
OutputPath = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        metavar="OUT",
        help="Where to save. The ending says the format: .json (Hugging Face), .bytepair, "
        ".bytepair-compiled, .tiktoken or .model (SentencePiece); a name without one is a "
        "folder for vocab.json and merges.txt. Others need --format.",
        show_default=False,
    ),
]
VocabSize = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Stop at so many ids, all tokens counted."),
]
Merges = Annotated[
    int | None, typer.Option(metavar="N", min=0, help="Stop at so many merges.")
]
Dialect = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="One of "
        + ", ".join(dialects())
        + "; gpt4o if none is named, or that of --resume.",
    ),
]
Special = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TOKEN",
        help="A special token: it gets an id, and ends a text where it stands in the "
        "files. May be repeated.",
    ),
]
Pattern = Annotated[
    list[str] | None,
    typer.Option(
        metavar="REGEX",
        help="Split by this regular expression, or by one of the patterns "
        + ", ".join(patterns())
        + "; '' splits nothing. Repeated: one after the other.",
    ),
]
UnmatchedChoice = Annotated[
    UnmatchedName | None,
    typer.Option(help="Keep or drop text that the pattern does not match."),
]
TiesChoice = Annotated[
    TiesName | None,
    typer.Option(help="Which of several pairs of equal count is merged first."),
]
MinCount = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Merge no pair that occurs less often."),
]
Group = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME[@WEIGHT]",
        help="Learn from this group of counts by group, perhaps with a weight (en@0.5); "
        "repeatable. By default from all.",
        show_default=False,
    ),
]
MinPieceCount = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Leave out pieces of text that occur less often; how many is told, and how "
        "many merges are certain all the same.",
    ),
]
CharacterCoverage = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        help="In a dialect of characters: give ids to as few of the most frequent characters as "
        "make up this share of the text, such as 0.9995. The others are unknown characters.",
        show_default=False,
    ),
]
MaxAlphabet = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="In a dialect of characters: give ids to the N most frequent characters at most.",
        show_default=False,
    ),
]
MaxTokenBytes = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Learn no token of more bytes."),
]
MaxTokenChars = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Learn no token of more characters."),
]
WholeCharacters = Annotated[
    bool,
    typer.Option(
        "--whole-characters",
        help="Learn no token that ends within a character, but parts of one.",
    ),
]
Resume = Annotated[
    Path | None,
    typer.Option(
        metavar="TOKENIZER",
        help="Go on from this tokenizer, in its dialect. Its ids stay, new tokens get the "
        "ids behind the largest; --vocab-size and --merges count what is there, too.",
    ),
]
Log = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write each merge as a line of JSON. With --resume and the log so far, new "
        "lines follow the earlier ones.",
    ),
]
LowercaseChoice = Annotated[
    LowercaseName | None, typer.Option(help="When to put text in lower case.")
]
UnknownToken = Annotated[
    str | None,
    typer.Option(metavar="TOKEN", help="What stands for unknown characters."),
]
ByteFallback = Annotated[
    bool | None,
    typer.Option(help="Write unknown characters as tokens of their bytes."),
]
Threads = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="How many threads to use; by default one for each processor.",
    ),
]
MemoryLimit = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="About how much memory counting may take, such as 500MB or 2GB; the rest "
        "goes to temporary files.",
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Show no progress and no summary.")
]
Json = Annotated[
    bool, typer.Option("--json", help="Write the summary as JSON to standard output.")
]
