"""Shared options: reading a corpus (``train``, ``count-pieces``, ``shard``), and engines."""

import enum
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bytepair import TokenizerError

from .help_pages import READING, WORK
from .sizes import MOST_WORKERS, number, size

if TYPE_CHECKING:
    from bytepair.scale.spark_engine import SparkEngine

__all__ = [
    "Corpus",
    "CorpusOptions",
    "GroupField",
    "LearningOptions",
    "ReadingOptions",
]

TASK_SIZE = "256MiB"


class InputFormatName(str, enum.Enum):
    """The formats of the files of a corpus."""

    TEXT = "text"
    JSONL = "jsonl"
    PARQUET = "parquet"
    CSV = "csv"
    TSV = "tsv"


class EngineName(str, enum.Enum):
    """The engines that distribute the work."""

    LOCAL = "local"
    SPARK = "spark"


Engine = Annotated[
    EngineName | None,
    typer.Option(
        help="What runs the work: processes on this machine (local, the default), or Apache Spark.",
        show_default=False,
        rich_help_panel=WORK,
    ),
]
SparkSettings = Annotated[
    list[str] | None,
    typer.Option(
        "--spark",
        metavar="NAME=VALUE",
        help="A Spark setting, such as spark.master=yarn. May be repeated. Without a master, "
        "Spark runs on this machine.",
        show_default=False,
        rich_help_panel=WORK,
    ),
]
Corpus = Annotated[
    list[str],
    typer.Argument(
        metavar="CORPUS",
        help="Files, folders, globs, or URLs that fsspec opens. The name sets the "
        "format: .jsonl, .parquet, .csv, .tsv, else text, followed by .gz, .zst, .xz or .bz2 "
        "if compressed.",
        show_default=False,
    ),
]
InputFormat = Annotated[
    InputFormatName | None,
    typer.Option(
        "--input-format",
        help="The format of the files, whatever their names; text takes their bytes as they "
        "are. Without it, a file whose name and first bytes disagree is refused.",
        show_default=False,
        rich_help_panel=READING,
    ),
]
Field = Annotated[
    str | None,
    typer.Option(
        metavar="PATH",
        help="The field with the text: keys of a JSON line (data.body), or a column; by default text.",
        show_default=False,
        rich_help_panel=READING,
    ),
]
GroupField = Annotated[
    str | None,
    typer.Option(
        "--group",
        metavar="PATH",
        help="Count by group: the field or column with the group of a document, such as its "
        "language.",
        show_default=False,
        rich_help_panel=READING,
    ),
]
LinesOfText = Annotated[
    bool,
    typer.Option(
        "--lines",
        help="Each line of a text file is a document.",
        rich_help_panel=READING,
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        "--document-separator",
        metavar="TEXT",
        help="The text between two documents of a text file.",
        rich_help_panel=READING,
    ),
]
SkipBad = Annotated[
    bool,
    typer.Option(
        "--skip-bad",
        help="Skip lines of JSON, CSV and TSV without a document instead of refusing them.",
        rich_help_panel=READING,
    ),
]
Processes = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        parser=number(1, MOST_WORKERS),
        help="Number of processes; by default one for each processor.",
        show_default=False,
        rich_help_panel=WORK,
    ),
]
TaskSize = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="The size of a task, the unit of work that is repeated after an interruption; by "
        "default 256MiB.",
        show_default=False,
        rich_help_panel=WORK,
    ),
]


@dataclass(frozen=True)
class ReadingOptions:
    """The definition of a document."""

    input_format: InputFormat = None
    field: Field = None
    lines: LinesOfText = False

    def reading(self) -> dict[str, Any]:
        """Return them as arguments of :func:`bytepair.train` and its like."""
        return {
            "input_format": self.input_format and self.input_format.value,
            "field": self.field,
            "lines": self.lines,
        }

    def given(self) -> dict[str, Any]:
        """Return the options that were typed, and ``None`` for the rest."""
        return {k: None if v is False else v for k, v in self.reading().items()}


@dataclass(frozen=True)
class LearningOptions(ReadingOptions):
    """The definition of a document, for commands that learn from a corpus or rewrite it."""

    separator: Separator = None
    skip_bad: SkipBad = False

    def reading(self) -> dict[str, Any]:
        """Return them as arguments of :func:`bytepair.train` and its like."""
        more = {"separator": self.separator, "skip_bad": self.skip_bad}
        return {**super().reading(), **more}


@dataclass(frozen=True)
class CorpusOptions(LearningOptions):
    """What ``count-pieces`` and ``shard`` ask alike: what a document is, and who works."""

    processes: Processes = None
    task_size: TaskSize = None
    engine: Engine = None
    spark: SparkSettings = None

    def arguments(self) -> dict[str, Any]:
        """Give them as arguments of :func:`bytepair.scale.count` and ``tokenize``."""
        engine = engine_of(self.engine, self.spark, self.processes)
        n_processes = self.processes or os.cpu_count() or 1
        return {
            **self.reading(),
            "processes": 1 if engine else n_processes,
            "task_bytes": size(self.task_size or TASK_SIZE, "--task-size"),
            "engine": engine,
        }

    def given(self) -> dict[str, Any]:
        """Give the options that were typed, and ``None`` for the rest."""
        names = ("processes", "task_size", "engine", "spark")
        return {**super().given(), **{name: getattr(self, name) for name in names}}

    def sources(self, corpus: list[str], group: str | None = None) -> tuple[Any, str]:
        """List the files of a corpus, and say in one line what they were recognised as."""
        from bytepair.data._readers import ReadOptions
        from bytepair.data._sources import describe, list_sources

        reading = self.reading()
        sources = list_sources(corpus, reading.pop("input_format"))
        return sources, describe(sources, ReadOptions(**reading, group=group))


def engine_of(
    engine: EngineName | None, settings: list[str] | None, processes: int | None
) -> "SparkEngine | None":
    """Begin what is asked for; ``None`` is this machine without an engine."""
    if engine is not EngineName.SPARK:
        if settings:
            message = "--spark needs --engine spark"
            raise TokenizerError(message)
        return None
    from bytepair.scale.spark_engine import SparkEngine, session

    pairs = [setting.partition("=") for setting in settings or []]
    for name, equals, _value in pairs:
        if not equals:
            message = f"--spark {name}: expected NAME=VALUE"
            raise TokenizerError(message)
    cores = processes or os.cpu_count() or 1
    return SparkEngine(session({name: value for name, _, value in pairs}, cores))
