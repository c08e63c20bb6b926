"""Temporary folders for data that does not fit into memory.

A folder is locked while its process lives. Before a process makes its first folder, it removes the
unlocked ones, which killed processes left. Nothing with another name is touched.

Left out: systems without locks, where folders of other processes are never removed.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import tempfile
import weakref
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from bytepair.errors import FileError

from .locks import make_folder, make_locked, remove_abandoned

if TYPE_CHECKING:
    from types import TracebackType


PREFIX = "bytepair-temporary-"
NAME = re.compile(re.escape(PREFIX) + r"[0-9a-f]{16}")


class TemporaryFolder:
    """A folder in the system's temporary directory, removed with this object at the latest.

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
            The folder cannot be made.
        """
        try:
            parent = Path(tempfile.gettempdir())
            _remove_abandoned(parent)
            names = (f"{PREFIX}{os.urandom(8).hex()}" for _ in itertools.count())
            path, handle = make_locked(map(parent.joinpath, names), make_folder)
        except OSError as error:
            message = f"{error.filename or tempfile.tempdir}: {error.strerror or error}"
            raise FileError(message) from error
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
        """Remove the folder and its content."""
        self._remove()


@cache
def _remove_abandoned(parent: Path) -> None:
    """Remove the folders that no process has locked, once per process."""
    with os.scandir(parent) as entries:
        paths = [Path(entry.path) for entry in entries if NAME.fullmatch(entry.name)]
    for path in paths:
        remove_abandoned(path)


def _remove(path: Path, handle: int | None, process: int) -> None:
    """Remove the folder, unless this is a fork of the process that made it."""
    if process == os.getpid():
        shutil.rmtree(path, ignore_errors=True)  # the next run removes what is left
    if handle is not None:
        os.close(handle)
