"""``bytepair plot``: compression against the size of the vocabulary."""

from pathlib import Path
from typing import Annotated

import typer

from bytepair import read_log
from bytepair._training import plots

__all__ = ["plot"]


def plot(
    logs: Annotated[
        list[Path],
        typer.Argument(
            metavar="LOGS",
            help="Merge logs that bytepair train --log wrote; each becomes a curve.",
            show_default=False,
        ),
    ],
    *,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="Where to save the plot: an .svg or a .png file.",
            show_default=False,
        ),
    ],
) -> None:
    """Plot bytes per token against vocabulary size."""
    plots.check_output(output)
    names = plots.distinct_names(logs)
    plots.plot_logs(
        {name: read_log(path) for name, path in zip(names, logs, strict=True)}, output
    )
