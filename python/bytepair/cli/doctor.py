"""``bytepair doctor``: faults of a tokenizer, and facts worth knowing.

The exit code is 1 if an error or a warning was found, otherwise 0. Refused input also exits with 1,
without findings.
"""

import json
import shutil
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from bytepair import Tokenizer

from .colours import has_colours
from .corpus_options import ReadingOptions
from .finding_codes import choosing, codes_of
from .options import Json
from .progress_line import ProgressLine
from .spreading import spread

__all__ = ["doctor"]

FOUND = 1
NARROWEST = 30
N_SHOWN = 5


@spread
def doctor(
    tokenizer_path: Annotated[
        Path | None,
        typer.Argument(
            metavar="TOKENIZER",
            help="A tokenizer's file or folder. It is compared with tokenizer_config.json and "
            "config.json in the same folder.",
            show_default=False,
        ),
    ] = None,
    *,
    corpus: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CORPUS",
            help="Count tokens in these texts (BP6): a file, folder or glob. May be repeated.",
            show_default=False,
        ),
    ] = None,
    config: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Compare with this tokenizer_config.json or model's config.json, instead of "
            "those beside the tokenizer. May be repeated.",
            show_default=False,
        ),
    ] = None,
    select: Annotated[
        list[str] | None,
        choosing(
            "Look only for these findings: codes or their beginnings, such as BP1, "
            "separated by commas. May be repeated."
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        choosing("Leave out these findings, written as for --select."),
    ] = None,
    explain: Annotated[
        str | None,
        typer.Option(
            metavar="CODE",
            help="Print the page about this code, and exit.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            help="Show the first N tokens of each finding, by default 5; --json shows all.",
            show_default=False,
        ),
    ] = None,
    reading: ReadingOptions,
    as_json: Json = False,
) -> None:
    """Find faults in a tokenizer; the exit code is 1 if there are any."""
    from bytepair.analyze import doctor as analysis
    from bytepair.analyze.doctor._codes import FROM_SETTINGS, chosen as chosen_codes

    if explain is not None:
        _refuse_beside_explain(
            {
                "tokenizer_path": tokenizer_path,
                "corpus": corpus,
                "config": config,
                "select": select,
                "ignore": ignore,
                "limit": limit,
                **reading.given(),
                "json": as_json or None,
            }
        )
        print(analysis.page(explain.upper()), end="")
        return
    if tokenizer_path is None:
        message = "name a tokenizer, or a code with --explain"
        raise typer.BadParameter(message, param_hint="TOKENIZER")
    _refuse_idle(reading, corpus)
    chosen = codes_of(select), codes_of(ignore)
    if config is not None and not FROM_SETTINGS & chosen_codes(*chosen):
        message = (
            f"is for {', '.join(sorted(FROM_SETTINGS))}, and none of them is looked for"
        )
        raise typer.BadParameter(message, param_hint="--config")
    if as_json and limit is not None:
        message = "has no effect on --json, which shows all"
        raise typer.BadParameter(message, param_hint="--limit")
    line = ProgressLine(is_shown=True)
    diagnosis = analysis.diagnose(
        Tokenizer.from_file(tokenizer_path),
        file=tokenizer_path,
        config=analysis.beside(tokenizer_path) if config is None else config,
        corpus=corpus,
        reading=reading.reading(),
        select=chosen[0],
        ignore=chosen[1],
        progress=lambda done, total: line.show_bytes("counting", done, total),
    )
    line.clear()
    if as_json:
        print(json.dumps(diagnosis.as_object()))
    else:
        from bytepair.views._diagnosis import diagnosis_text

        width = max(NARROWEST, shutil.get_terminal_size().columns)
        painted = has_colours(sys.stdout)
        n_shown = N_SHOWN if limit is None else limit
        print(
            diagnosis_text(diagnosis, width=width, n_shown=n_shown, is_painted=painted)
        )
    if not diagnosis.is_clean:
        raise typer.Exit(FOUND)


def _refuse_beside_explain(options: dict[str, Any]) -> None:
    """Refuse what a page about a code has no use for."""
    for name, value in options.items():
        if value is not None:
            option = "--" + name.replace("_", "-")
            message = "has no effect with --explain, which only prints a page"
            hint = "TOKENIZER" if name == "tokenizer_path" else option
            raise typer.BadParameter(message, param_hint=hint)


def _refuse_idle(reading: ReadingOptions, corpus: list[str] | None) -> None:
    """Refuse options that define a document if there is no corpus."""
    for name, value in reading.given().items():
        if value is not None and corpus is None:
            option = "--" + name.replace("_", "-")
            message = "needs a corpus; give one with --corpus"
            raise typer.BadParameter(message, param_hint=option)
