"""The arguments that ``count`` and ``tokenize`` share: what a corpus is, and who works."""

import enum
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bytepair import TokenizerError

from .sizes import size

if TYPE_CHECKING:
    from bytepair.scale.spark_engine import SparkEngine

__all__ = ["Corpus", "CorpusOptions", "GroupField", "Json", "Quiet"]


class CorpusFormatName(str, enum.Enum):
    """What the files of a corpus are."""

    TEXT = "text"
    JSONL = "jsonl"
    PARQUET = "parquet"
    CSV = "csv"
    TSV = "tsv"


class EngineName(str, enum.Enum):
    """What deals out the work."""

    LOCAL = "local"
    SPARK = "spark"


Engine = Annotated[
    EngineName,
    typer.Option(
        help="What deals out the work: processes of this machine, or Apache Spark."
    ),
]
SparkSettings = Annotated[
    list[str] | None,
    typer.Option(
        "--spark",
        metavar="NAME=VALUE",
        help="A setting of Spark (spark.master=yarn); repeatable. Without a master it "
        "runs on this machine.",
        show_default=False,
    ),
]
Corpus = Annotated[
    list[str],
    typer.Argument(
        metavar="CORPUS",
        help="Files, folders, globs, or addresses that fsspec opens. Endings say what they "
        "are: .jsonl, .parquet, .csv, .tsv, else text; and .gz, .zst, .xz, .bz2 behind.",
        show_default=False,
    ),
]
CorpusFormat = Annotated[
    CorpusFormatName | None,
    typer.Option(
        "--corpus-format",
        help="What the files are, where endings do not say it.",
        show_default=False,
    ),
]
Field = Annotated[
    str,
    typer.Option(
        metavar="PATH",
        help="Where the text is: the keys in a line of JSON (data.body), or the column.",
    ),
]
GroupField = Annotated[
    str | None,
    typer.Option(
        "--group",
        metavar="PATH",
        help="Where documents say of which group they are, such as a language: counts are "
        "then by group.",
        show_default=False,
    ),
]
LinesOfText = Annotated[
    bool, typer.Option("--lines", help="Each line of a text file is a document.")
]
Separator = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT", help="What stands between the documents of a text file."
    ),
]
SkipBad = Annotated[
    bool,
    typer.Option(
        "--skip-bad", help="Count lines without a document instead of refusing them."
    ),
]
Processes = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="How many processes; by default one for each processor.",
        show_default=False,
    ),
]
ThreadsEach = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Threads in each process; by default one, or all processors for one process.",
        show_default=False,
    ),
]
TaskSize = Annotated[
    str,
    typer.Option(
        metavar="SIZE",
        help="How much of the files is done at once, and again after an interruption.",
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Show no progress and no summary.")
]
Json = Annotated[
    bool, typer.Option("--json", help="Write the summary as JSON to standard output.")
]


@dataclass(frozen=True)
class CorpusOptions:
    """What ``count`` and ``tokenize`` ask alike: what a document is, and who works."""

    corpus_format: CorpusFormat = None
    field: Field = "text"
    lines: LinesOfText = False
    separator: Separator = None
    skip_bad: SkipBad = False
    processes: Processes = None
    threads: ThreadsEach = None
    task_size: TaskSize = "256MiB"
    engine: Engine = EngineName.LOCAL
    spark: SparkSettings = None

    def arguments(self) -> dict[str, Any]:
        """Give them as arguments of :func:`bytepair.scale.count` and ``tokenize``."""
        return {
            "corpus_format": self.corpus_format and self.corpus_format.value,
            "field": self.field,
            "lines": self.lines,
            "separator": self.separator,
            "skip_bad": self.skip_bad,
            "processes": self.processes or os.cpu_count() or 1,
            "threads": self.threads,
            "task_bytes": size(self.task_size),
            "engine": engine_of(self.engine, self.spark, self.processes),
        }


def engine_of(
    engine: EngineName, settings: list[str] | None, processes: int | None
) -> "SparkEngine | None":
    """Begin what is asked for; ``None`` is this machine without an engine."""
    if engine is EngineName.LOCAL:
        if settings:
            message = "--spark is a setting of --engine spark"
            raise TokenizerError(message)
        return None
    from bytepair.scale.spark_engine import SparkEngine, session

    pairs = [setting.partition("=") for setting in settings or []]
    for name, equals, _value in pairs:
        if not equals:
            message = f"--spark {name}: a setting is NAME=VALUE"
            raise TokenizerError(message)
    cores = processes or os.cpu_count() or 1
    return SparkEngine(session({name: value for name, _, value in pairs}, cores))
