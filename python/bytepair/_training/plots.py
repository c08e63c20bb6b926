"""Figures drawn by matplotlib: curves of compression, and how any figure becomes a file.

Needs ``pip install bytepair[plot]``. Only ``bytepair plot`` may call it, in its own process. The same logs give the same file: neither a date nor
chance goes into it, though another version of matplotlib may draw otherwise.
"""

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bytepair._io.files import StrPath, check_writable, refuse_no_name, write
from bytepair._labels import label_of
from bytepair.errors import FormatError, MissingLibraryError, TokenizerError

from .merge_log import MergeLog

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["check_output", "distinct_names", "drawn", "plot_logs", "save"]

SUFFIXES = (".svg", ".png")
MAX_POINTS = 2000
"""More points than this show nothing more."""


def plot_logs(logs: Mapping[str, MergeLog], path: StrPath) -> None:
    """Draw bytes per token against vocabulary size, a curve for each log by its name.

    Raises
    ------
    MissingLibraryError
        matplotlib is not installed.
    FormatError
        The path ends with neither ``.svg`` nor ``.png``.
    FileError
        The file cannot be written.
    """
    save(lambda: _draw(logs), path)


def save(draw: "Callable[[], Figure]", path: StrPath) -> None:
    """Write the figure that ``draw`` makes. Raises the errors of :func:`plot_logs`."""
    write(path, drawn(draw, path))


def drawn(draw: "Callable[[], Figure]", path: StrPath) -> bytes:
    """Give the content of the file of a figure; the same figure gives the same bytes.

    Raises the errors of :func:`plot_logs`.
    """
    check_output(path)
    try:
        import matplotlib as mpl
    except ImportError as error:
        message = "drawing needs matplotlib: pip install 'bytepair[plot]'"
        raise MissingLibraryError(message) from error
    file = io.BytesIO()
    suffix = Path(path).suffix.lower()
    metadata = {"Date": None} if suffix == ".svg" else {"Software": None}
    # matplotlib keeps its settings for the whole process: that of `bytepair plot` alone.
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rc("svg", hashsalt="bytepair", fonttype="none")  # else ids come by chance
        mpl.rc("font", size=10)
        figure = draw()
        figure.savefig(file, format=suffix[1:], metadata=metadata, dpi=150)
    return file.getvalue()


def _draw(logs: Mapping[str, MergeLog]) -> "Figure":
    from matplotlib.figure import Figure  # without pyplot: no window, no state
    from matplotlib.ticker import StrMethodFormatter

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for name, log in logs.items():
        sizes, ratios = zip(*thinned(log.curve()), strict=True)
        axes.plot(sizes, ratios, label=label_of(name))
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.set_xlabel("vocabulary size")
    axes.set_ylabel("bytes per token")
    axes.grid(visible=True, alpha=0.3)
    if len(logs) > 1:
        axes.legend()
    return figure


def thinned(curve: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """Leave out points beside which others stand, the last one never.

    >>> len(thinned([(n, 1.0) for n in range(100_000)])) <= 2001
    True
    """
    step = -(-len(curve) // MAX_POINTS)
    kept = list(curve[::step])
    return kept if kept[-1] == curve[-1] else [*kept, curve[-1]]


def check_output(path: StrPath) -> None:
    """Refuse a path that says no format, or cannot be written."""
    refuse_no_name(path)
    if Path(path).suffix.lower() not in SUFFIXES:
        message = f"{path}: a plot is an .svg or a .png file; name one"
        raise FormatError(message)
    check_writable(Path(path).parent)


def distinct_names(paths: Sequence[Path]) -> list[str]:
    """Name files by their stems, or by their paths where those are not distinct.

    >>> distinct_names([Path("a/x.jsonl"), Path("b/y.jsonl")])
    ['x', 'y']
    """
    stems = [path.stem for path in paths]
    if len(set(stems)) == len(stems):
        return stems
    names = list(map(str, paths))
    if len(set(names)) == len(names):
        return names
    message = "a log is named twice"
    raise TokenizerError(message)
