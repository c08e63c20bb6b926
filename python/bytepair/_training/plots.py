"""How a figure drawn by matplotlib becomes a file.

Needs ``pip install bytepair[plot]``. Only commands may call it, in their own process. The same figure gives the same
file: neither a date nor chance goes into it, though another version of matplotlib may draw otherwise.
"""

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bytepair._io.files import StrPath, check_writable, refuse_no_name
from bytepair.errors import FormatError, MissingLibraryError, TokenizerError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["check_output", "distinct_names", "drawn"]

SUFFIXES = (".svg", ".png")


def drawn(draw: "Callable[[], Figure]", path: StrPath) -> bytes:
    """Give the content of the file of a figure; the same figure gives the same bytes.

    Raises
    ------
    MissingLibraryError
        matplotlib is not installed.
    FormatError
        The path ends with neither ``.svg`` nor ``.png``.
    FileError
        The file cannot be written.
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
    # matplotlib keeps its settings for the whole process: that of a command alone.
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rc("svg", hashsalt="bytepair", fonttype="none")  # else ids come by chance
        mpl.rc("font", size=10)
        figure = draw()
        figure.savefig(file, format=suffix[1:], metadata=metadata, dpi=150)
    return file.getvalue()


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
