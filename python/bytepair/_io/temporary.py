"""Folders for what does not fit memory, which are not left over when a process is killed.

A folder has a name and a mark of ours, and is locked as long as its process lives. The first folder
that a process makes removes those that nobody holds: a killed process left them. Anything else
in the folder for temporary files is not touched.

Left out: systems without locks, where nothing of others is removed.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import tempfile
import weakref
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from bytepair.errors import FileError

from .locks import is_kept, is_still, lock, open_folder

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["TemporaryFolder"]

PREFIX = "bytepair-"
NAME = re.compile(re.escape(PREFIX) + r"[0-9a-f]{16}")
MARK = "made by bytepair"
"""The file that comes first in a folder of ours, and goes last."""


class TemporaryFolder:
    """A folder in that for temporary files, which goes with this object at the latest.

    >>> with TemporaryFolder() as folder:
    ...     Path(folder, "rows").write_text("1")
    1
    >>> Path(folder).exists()
    False
    """

    def __init__(self) -> None:
        """Make the folder.

        Raises
        ------
        FileError
            The system does not let it be made.
        """
        path, handle = _made()
        self.name = str(path)
        self._remove = weakref.finalize(self, _remove, path, handle, os.getpid())

    def __enter__(self) -> str:
        return self.name

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.remove()

    def remove(self) -> None:
        """Remove the folder with all that is in it."""
        self._remove()


def _made() -> tuple[Path, int | None]:
    """Make a folder with our mark; gives the handle of its lock, if there are locks."""
    try:
        parent = Path(tempfile.gettempdir())
        _remove_abandoned(parent)
        while True:
            path = parent / f"{PREFIX}{os.urandom(8).hex()}"
            path.mkdir(0o700)
            try:
                handle = open_folder(path)
            except FileNotFoundError:  # somebody took it for abandoned
                continue
            if handle is None or is_kept(handle, path):
                (path / MARK).touch()
                return path, handle
            os.close(handle)  # the same, a moment later
    except OSError as error:
        message = f"{error.filename or tempfile.tempdir}: {error.strerror or error}"
        raise FileError(message) from error


@cache
def _remove_abandoned(parent: Path) -> None:
    """Remove the folders of ours that nobody holds, once in a process."""
    with os.scandir(parent) as found:
        paths = [Path(entry.path) for entry in found if NAME.fullmatch(entry.name)]
    for path in paths:
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            handle = open_folder(path)
            if handle is None:
                return
            stack.callback(os.close, handle)
            if _is_ours(handle) and lock(handle) and is_still(handle, path):
                _empty(path)


def _is_ours(handle: int) -> bool:
    """Tell a folder of this user that has our mark, or nothing yet."""
    status = os.fstat(handle)
    if status.st_uid != os.geteuid() or not stat.S_ISDIR(status.st_mode):
        return False
    names = os.listdir(handle)
    return not names or MARK in names


def _empty(path: Path) -> None:
    """Remove a folder of ours, the mark last: what is left of it can still be told."""
    with os.scandir(path) as found:
        entries = [entry for entry in found if entry.name != MARK]
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            Path(entry.path).unlink(missing_ok=True)
    if len(os.listdir(path)) > 1:  # noqa: PTH208 -- something could not be removed
        return
    (path / MARK).unlink(missing_ok=True)
    path.rmdir()


def _remove(path: Path, handle: int | None, process: int) -> None:
    """Remove the folder of this process; one that was forked leaves it."""
    if process == os.getpid():
        with contextlib.suppress(OSError):  # what is left goes with the next run
            _empty(path)
    if handle is not None:
        os.close(handle)
