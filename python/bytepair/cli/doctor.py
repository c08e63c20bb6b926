"""``bytepair doctor``: what is wrong with a tokenizer, or worth knowing.

The exit code is 1 where an error or a warning was found, and 0 where only notes were, or
nothing; ``--exit-zero`` makes it 0. What is refused ends with 1 too, and prints no findings.
"""

import json
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from .colours import has_colours
from .corpus_options import Quiet, ReadingOptions
from .options import LoadingOptions
from .progress_line import ProgressLine
from .spreading import spread

__all__ = ["doctor"]

FOUND = 1
NARROWEST = 30


@spread
def doctor(
    tokenizer_path: Annotated[
        Path | None,
        typer.Argument(
            metavar="TOKENIZER",
            help="A file or folder of a tokenizer. Settings beside a tokenizer.json, or in the "
            "folder, are compared with it.",
            show_default=False,
        ),
    ] = None,
    *,
    corpus: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CORPUS",
            help="Files, folders or globs of texts, in which tokens are counted (BP6). May be "
            "repeated.",
            show_default=False,
        ),
    ] = None,
    config: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="A tokenizer_config.json, or the config.json of a model, instead of those "
            "beside the tokenizer. May be repeated.",
            show_default=False,
        ),
    ] = None,
    select: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CODE",
            help="Look for these findings only: codes or their beginnings, such as BP1, "
            "separated by commas or repeated.",
            show_default=False,
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CODE",
            help="Leave these findings out, written as for --select.",
            show_default=False,
        ),
    ] = None,
    explain: Annotated[
        str | None,
        typer.Option(
            metavar="CODE",
            help="Print the page about a code, and look at no tokenizer.",
            show_default=False,
        ),
    ] = None,
    show: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="Show the first N tokens of each finding; --json has all.",
        ),
    ] = 5,
    exit_zero: Annotated[
        bool,
        typer.Option("--exit-zero", help="Exit with 0 whatever is found."),
    ] = False,
    reading: ReadingOptions,
    loading: LoadingOptions,
    quiet: Quiet = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write everything as one JSON object.")
    ] = False,
) -> None:
    """Look for what is wrong with a tokenizer; the exit code is 1 if something is."""
    from bytepair.analyze import doctor as analysis

    if explain is not None:
        print(analysis.page(explain.upper()), end="")
        return
    if tokenizer_path is None:
        message = "name a tokenizer, or a code with --explain"
        raise typer.BadParameter(message, param_hint="TOKENIZER")
    _refuse_idle(reading, corpus)
    line = ProgressLine(is_shown=not quiet)
    diagnosis = analysis.diagnose(
        loading.load(tokenizer_path),
        file=tokenizer_path,
        config=analysis.beside(tokenizer_path) if config is None else config,
        corpus=corpus,
        reading=reading.reading(),
        select=_codes(select),
        ignore=_codes(ignore),
        progress=lambda done, total: line.show_bytes("counting", done, total),
    )
    line.clear()
    if as_json:
        print(json.dumps(diagnosis.as_object()))
    else:
        from bytepair.views._diagnosis import diagnosis_text

        width = max(NARROWEST, shutil.get_terminal_size().columns)
        painted = has_colours(sys.stdout)
        print(diagnosis_text(diagnosis, width=width, n_shown=show, is_painted=painted))
    if not (exit_zero or diagnosis.is_clean):
        raise typer.Exit(FOUND)


def _codes(given: list[str] | None) -> list[str] | None:
    """Take codes apart that commas separate.

    >>> _codes(["BP1,bp203", "BP5"])
    ['BP1', 'BP203', 'BP5']
    """
    if given is None:
        return None
    return [code.strip().upper() for codes in given for code in codes.split(",")]


def _refuse_idle(reading: ReadingOptions, corpus: list[str] | None) -> None:
    """Refuse options that say what a document is, where there is no corpus."""
    for name, value in reading.given().items():
        if value is not None and corpus is None:
            option = "--" + name.replace("_", "-")
            message = f"{option} says how to read a corpus; give one with --corpus"
            raise typer.BadParameter(message, param_hint=option)
