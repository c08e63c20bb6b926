"""Paths: what a user names, and files that appear whole or not at all.

A file is written beside its target, flushed to the disk and renamed. Left out: several files
at once, each of which appears on its own. A file is read whole.
"""

import contextlib
import glob
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from .errors import FileError

StrPath = str | os.PathLike[str]


def expand(files: StrPath | Iterable[StrPath]) -> list[str]:
    """List the files that paths and globs stand for, in the order given.

    A glob stands for its matches in sorted order; ``-`` is standard input.
    """
    if isinstance(files, (str, os.PathLike)):
        files = [files]
    try:
        return [found for path in files for found in _expand_one(os.fspath(path))]
    except FileError:
        raise
    except OSError as error:  # a name that is too long
        message = f"{error.filename}: {error.strerror or error}"
        raise FileError(message) from error


def _expand_one(path: str) -> Iterator[str]:
    if path == "-" or Path(path).is_file():
        yield path
        return
    if Path(path).is_dir():
        message = f"{path} is a folder; name its files, for instance {path}/*.txt"
        raise FileError(message)
    if not glob.has_magic(path):
        if Path(path).exists():  # a pipe or a device
            yield path
            return
        message = f"{path}: no such file"
        raise FileError(message)
    matches = sorted(glob.glob(path, recursive=True))  # noqa: PTH207 -- any root
    matches = [match for match in matches if Path(match).is_file()]
    if not matches:
        message = f"{path}: no file matches"
        raise FileError(message)
    yield from matches


def read(path: StrPath) -> bytes:
    """Read a file, or raise a ``FileError`` that names it."""
    refuse_no_name(path)
    try:
        return Path(path).read_bytes()
    except OSError as error:
        message = f"{os.fspath(path)}: {error.strerror or error}"
        raise FileError(message) from error


def write(path: StrPath, data: bytes) -> None:
    """Write a file under a temporary name and rename it: it appears whole or not at all."""
    with writing(path) as file:
        file.write(data)


@contextlib.contextmanager
def writing(path: StrPath) -> Iterator[BinaryIO]:
    """Open a file that appears under its name when the block ends without an exception.

    A link is followed. A pipe or a device stays what it is: it is written to.
    """
    refuse_no_name(path)
    try:
        target = Path(os.path.realpath(path))
        is_replaced = target.is_file() or not target.exists()
        with _replacing(target) if is_replaced else target.open("wb") as file:
            yield file
    except FileError:  # of something else, in the block
        raise
    except OSError as error:
        message = f"{os.fspath(path)}: {error.strerror or error}"
        raise FileError(message) from error


@contextlib.contextmanager
def writing_elsewhere(path: StrPath) -> Iterator[Path]:
    """Give the path of a file that appears under its name as :func:`writing` says.

    For those who open a file by its name.
    """
    with writing(path) as file:
        yield Path(os.fsdecode(file.name))


@contextlib.contextmanager
def _replacing(target: Path) -> Iterator[BinaryIO]:
    """Write under a temporary name beside the target, and rename at the end."""
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    os.close(handle)
    try:
        with Path(temporary).open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        set_mode(temporary, target)
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def check_writable(folder: Path) -> None:
    """Refuse a folder that is absent or cannot be written to."""
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        message = f"{folder}: {error.strerror or error}"
        raise FileError(message) from error


def refuse_no_name(path: StrPath) -> None:
    """Refuse what names no file: nothing, or a name that no system knows."""
    if not os.fspath(path):
        message = "the path is empty"
        raise FileError(message)
    if "\0" in os.fspath(path):
        message = f"{os.fspath(path)!r}: a file name cannot contain a NUL character"
        raise FileError(message)


def set_mode(temporary: str, target: Path) -> None:
    """Give the file the mode that ``open`` would have given it."""
    if target.exists():
        mode = target.stat().st_mode & 0o777
    else:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    Path(temporary).chmod(mode)
