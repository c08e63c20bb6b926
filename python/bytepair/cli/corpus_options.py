"""Options for reading a corpus, and for the processes or the engine that do the work."""

import os
from typing import TYPE_CHECKING, Any

import click

from bytepair import TokenizerError

from .command import READING, WORK, Argument, Option
from .sizes import MOST_WORKERS, number, size

if TYPE_CHECKING:
    from bytepair.scale.spark_engine import SparkEngine


def documents_of(context: click.Context, _option: object, typed: str | None) -> Any:
    """Return the input format; ``lines`` sets ``lines`` and leaves the format open."""
    if typed == "lines":
        context.params["lines"] = True
        return None
    return typed


CORPUS = Argument(
    "corpus",
    "CORPUS...",
    "Files, folders, globs, or URLs that fsspec opens. The name sets the format: .jsonl, "
    ".parquet, .csv, .tsv, else text, followed by .gz, .zst, .xz or .bz2 if compressed.",
    reads=True,
)
READING_OPTIONS = (
    Option(
        "--input-format [text|lines|jsonl|parquet|csv|tsv]",
        "The format of the files, whatever their names: text takes their bytes as they are; lines "
        "is text, compressed or not, with a document in each line. Without it, a file whose name "
        "and first bytes disagree is refused.",
        callback=documents_of,
        group=READING,
    ),
    Option(
        "--field PATH",
        "The field with the text: keys of a JSON line (data.body), or a column; by default text.",
        group=READING,
    ),
)
"""The definition of a document."""
LEARNING_OPTIONS = (
    *READING_OPTIONS,
    Option(
        "--document-separator TEXT",
        "The text between two documents of a text file.",
        name="separator",
        group=READING,
    ),
    Option(
        "--skip-bad",
        "Skip lines of JSON, CSV and TSV without a document instead of refusing them.",
        group=READING,
    ),
)
"""The definition of a document, for commands that learn from a corpus or rewrite it."""
CORPUS_OPTIONS = (
    *LEARNING_OPTIONS,
    Option(
        "--processes N",
        "Number of processes; by default one for each processor.",
        type=number(1, MOST_WORKERS),
        group=WORK,
    ),
    Option(
        "--task-size SIZE",
        "The size of a task, the unit of work that is repeated after an interruption; by default "
        "256MiB.",
        name="task_bytes",
        type=size,
        group=WORK,
    ),
    Option(
        "--engine [local|spark]",
        "What runs the work: processes on this machine (local, the default), or Apache Spark.",
        group=WORK,
    ),
    Option(
        "--spark NAME=VALUE...",
        "A Spark setting, such as spark.master=yarn. May be repeated. Without a master, Spark "
        "runs on this machine.",
        group=WORK,
    ),
)
"""The definition of a document, and what does the work."""


def listed(
    corpus: list[str], options: dict[str, Any]
) -> tuple[Any, str, dict[str, Any]]:
    """Return the files of a corpus, a line that describes them, and the options for the API."""
    from bytepair.data._readers import ReadOptions, describe
    from bytepair.data._sources import list_sources

    sources = list_sources(corpus, options.get("input_format"))
    names = ("field", "lines", "separator", "skip_bad", "group")
    reading = {name: options[name] for name in names if name in options}
    shown = describe(sources, ReadOptions(**reading))
    return sources, shown, with_engine(options)


def with_engine(options: dict[str, Any]) -> dict[str, Any]:
    """Replace the performance options by the number of processes and the engine."""
    options = dict(options)
    name, settings = options.pop("engine", None), options.pop("spark", [])
    n_processes = options.pop("processes", None) or os.cpu_count() or 1
    if name == "spark":
        return {**options, "engine": _spark(settings, n_processes)}
    if settings:
        message = "--spark needs --engine spark"
        raise TokenizerError(message)
    return {**options, "processes": n_processes}


def _spark(settings: list[str], n_cores: int) -> "SparkEngine":
    from bytepair.scale.spark_engine import SparkEngine, session

    pairs = [setting.partition("=") for setting in settings]
    for name, equals, _value in pairs:
        if not equals:
            message = f"--spark {name}: expected NAME=VALUE"
            raise TokenizerError(message)
    return SparkEngine(session({name: value for name, _, value in pairs}, n_cores))
