"""``bytepair doctor``: faults of a tokenizer, and facts worth knowing.

The exit code is 1 if an error or a warning was found, otherwise 0. Refused input also exits with 1,
without findings.
"""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import click

from bytepair import Tokenizer
from bytepair._io.loading import located
from bytepair._terminal import has_colours
from bytepair.cli.command import Argument, Option, command, refuse_options
from bytepair.cli.corpus_options import READING_OPTIONS
from bytepair.cli.options import JSON, codes_of
from bytepair.cli.progress_line import ProgressLine
from bytepair.cli.sizes import number
from bytepair.cli.tokenizers_first import TokenizerPath

__all__ = ["doctor"]

FOUND = 1
NARROWEST = 30
N_SHOWN = 5


@command(
    Argument(
        "tokenizer_path",
        "[TOKENIZER]",
        "A tokenizer's file or folder. It is compared with tokenizer_config.json and config.json "
        "in the same folder, and a folder also with the ids of the installed transformers.",
        type=TokenizerPath(),
        reads=True,
    ),
    Option(
        "--corpus CORPUS...",
        "Count tokens in these texts (BP6): a file, folder or glob. May be repeated.",
        reads=True,
    ),
    Option(
        "--config FILE...",
        "Compare with this tokenizer_config.json or model's config.json, instead of those in "
        "the tokenizer's folder. May be repeated.",
        type=Path,
        reads=True,
    ),
    Option(
        "--select CODE...",
        "Look only for these findings: codes or their beginnings, such as BP1, separated by "
        "commas. May be repeated.",
        parse=codes_of,
    ),
    Option(
        "--ignore CODE...",
        "Leave out these findings, written as for --select.",
        parse=codes_of,
    ),
    Option(
        "--explain CODE",
        "Print the page about this code, such as BP101 or 101, and exit.",
    ),
    Option(
        "--limit N",
        "Show the first N tokens of each finding, by default 5; --json shows all.",
        type=number(),
    ),
    *READING_OPTIONS,
    JSON,
)
def doctor(
    tokenizer_path: Path | None = None, *, explain: str | None = None, **options: Any
) -> int:
    """Find faults in a tokenizer; the exit code is 1 if there are any.

    $ bytepair doctor tokenizer.json
    $ bytepair doctor tokenizer.json --corpus corpus.txt
    $ bytepair doctor --explain BP101
    """
    from bytepair.analyze import doctor as analysis

    if explain is not None:
        given = ["tokenizer_path"] if tokenizer_path else []
        reason = "has no effect with --explain, which only prints a page"
        refuse_options([*given, *options], reason)
        from ._draw import page_text

        text = analysis.page(f"BP{explain.upper().removeprefix('BP')}")
        print(page_text(text, shutil.get_terminal_size().columns))
        return 0
    if tokenizer_path is None:
        message = "TOKENIZER is missing; name a tokenizer, or a code with --explain"
        raise click.UsageError(message)
    return diagnose(tokenizer_path, **options)


def diagnose(
    path: Path,
    *,
    corpus: list[str] | None = None,
    config: list[Path] | None = None,
    select: list[str] | None = None,
    ignore: list[str] | None = None,
    limit: int | None = None,
    as_json: bool = False,
    **reading: Any,
) -> int:
    """Print the findings of a tokenizer, and return the exit code."""
    from bytepair.analyze import doctor as analysis

    from ._codes import FROM_SETTINGS, chosen

    if corpus is None:
        refuse_options(reading, "needs a corpus; give one with --corpus")
    if config is not None and not FROM_SETTINGS & chosen(select, ignore):
        codes = ", ".join(sorted(FROM_SETTINGS))
        refuse_options(["config"], f"is for {codes}, and none of them is selected")
    if as_json and limit is not None:
        refuse_options(["limit"], "has no effect on --json, which shows all")
    file = located(path)
    with ProgressLine(is_shown=True).alive("loading") as line:

        def tell(what: str) -> None:
            line.doing = what

        diagnosis = analysis.diagnose(
            Tokenizer.from_file(path),
            file=file,
            config=analysis.beside(file) if config is None else config,
            corpus=corpus,
            reading=reading,
            select=select,
            ignore=ignore,
            progress=lambda done, total: line.show_bytes("counting", done, total),
            tell=tell,
        )
    if as_json:
        print(json.dumps(diagnosis.as_object()))
    else:
        from ._draw import diagnosis_text

        width = max(NARROWEST, shutil.get_terminal_size().columns)
        painted = has_colours(sys.stdout)
        n_shown = N_SHOWN if limit is None else limit
        print(
            diagnosis_text(diagnosis, width=width, n_shown=n_shown, is_painted=painted)
        )
    return 0 if diagnosis.is_clean else FOUND
