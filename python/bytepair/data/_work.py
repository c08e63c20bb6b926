"""The folder ``_work`` of a dataset that is being written, and what may be removed from it.

Everything in it carries a mark: ``bytepair.lock`` says that the folder was made here and holds a
token, and the names of all other files begin with that token, but for the plan and the notes of
tasks. Only what is marked so is ever removed or written over; anything else is refused by its
name before a byte is written. The lock is held on that file and ends with the process.

The folder appears under its name with the mark in it and the lock held, and goes the same way:
it is renamed first. A process that is killed meanwhile leaves ``.bytepair-…``, which the next
run removes.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NoReturn

from bytepair._io.files import PREFIX
from bytepair._io.locks import is_still, lock
from bytepair.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["LOCK", "PLAN", "WORK", "WorkFolder", "note_name"]

WORK = "_work"
"""Where files of a folder lie until they are whole."""
LOCK = "bytepair.lock"
"""The file in it that is the mark and the lock."""
PLAN = "plan.json"

_MARK = re.compile(rb"made by bytepair tokenize, ([0-9a-f]{16})\n")
_NOTE = re.compile(r"task-([0-9]{5,})\.json")
_BEGUN = re.compile(re.escape(PREFIX) + r"[0-9a-f]{16}")


def note_name(number: int) -> str:
    """Name the note of a task.

    >>> note_name(3)
    'task-00003.json'
    """
    return f"task-{number:05}.json"


class WorkFolder:
    """The folder ``_work`` in the folder of a dataset."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / WORK

    @property
    def is_ours(self) -> bool:
        """Whether there is such a folder and it was made here."""
        return _token_of(self.path) is not None

    def temporary(self, name: str) -> Path:
        """Give a new name in it for what will be called ``name``, with our mark."""
        mark = _token_of(self.path) or PREFIX.removesuffix("-")
        return self.path / f"{mark}-{secrets.token_hex(4)}-{name}"

    def noted(self) -> list[int]:
        """Give the numbers of the tasks that have a note."""
        if not self.is_ours:
            return []
        entries = (entry for entry in _entries(self.path) if _is_plain(entry))
        found = (_NOTE.fullmatch(entry.name) for entry in entries)
        return sorted(int(match[1]) for match in found if match)

    @contextlib.contextmanager
    def held(self, look: Callable[[], Callable[[str], bool]]) -> Iterator[None]:
        """Make or take over the folder, and keep others away as long as the block lasts.

        ``look`` is asked now and when nobody else is writing, and gives what tells which files
        may lie beside ``_work``.

        Raises
        ------
        FileError
            Something else is there, another run is writing, or it cannot be written to.
        """
        self.refuse_others(look())
        try:
            held = self._take_over() if os.path.lexists(self.path) else self._make()
        except OSError as error:
            message = f"{self.folder}: {error.strerror or error}"
            raise FileError(message) from error
        with held:
            self.refuse_others(look())
            self._remove_unfinished()
            yield

    def refuse_others(self, is_known: Callable[[str], bool]) -> None:
        """Refuse a folder that holds what was not written here; nothing is touched."""
        self.refuse_link()
        if not self.folder.exists():
            return
        if not self.folder.is_dir():
            message = f"{self.folder} is not a folder; name a new or empty folder"
            raise FileError(message)
        for entry in _entries(self.folder):
            if entry.name == WORK and self.is_ours:
                self._refuse_others_inside()
            elif entry.is_dir(follow_symlinks=False):
                if not _BEGUN.fullmatch(entry.name):
                    self._refuse(entry)
            elif not (_is_plain(entry) and is_known(entry.name)):
                self._refuse(entry)

    def refuse_link(self) -> None:
        """Refuse a link in place of the folder."""
        if self.folder.is_symlink():
            message = (
                f"{self.folder} is a link to {self.folder.readlink()}; name the "
                "target folder instead"
            )
            raise FileError(message)

    def remove(self) -> None:
        """Remove the folder and what is ours in it; anything else stays, with the folder."""
        token = _token_of(self.path)
        if token is None:
            return
        with contextlib.suppress(OSError):
            others = [
                entry for entry in _entries(self.path) if not _is_ours(entry, token)
            ]
            if others:
                _empty(self.path, token)
                return
            begun = self.folder / f"{PREFIX}{token}"
            self.path.replace(begun)
            _empty(begun, token)
            begun.rmdir()

    def tidy(self) -> None:
        """Remove what a killed run left beside a finished dataset, if nobody is writing."""
        with contextlib.suppress(OSError, FileError):
            if self.is_ours:
                with self._take_over():
                    self.remove()
            self._remove_begun()

    def _make(self) -> BinaryIO:
        """Make the folder with its mark and give the lock: at once, or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        token = secrets.token_hex(8)
        begun = self.folder / f"{PREFIX}{token}"
        begun.mkdir()
        held = (begun / LOCK).open("xb")
        try:
            _refuse_second(self.folder, held, begun / LOCK)
            held.write(b"made by bytepair tokenize, %s\n" % token.encode())
            held.flush()
            os.fsync(held.fileno())
            begun.rename(self.path)
        except BaseException as error:
            held.close()
            _empty(begun, token)
            begun.rmdir()
            if (
                isinstance(error, OSError) and self.path.exists()
            ):  # one that was quicker
                raise _second(self.folder) from error
            raise
        return held

    def _take_over(self) -> BinaryIO:
        held = (self.path / LOCK).open("rb+")
        try:
            _refuse_second(self.folder, held, self.path / LOCK)
        except BaseException:
            held.close()
            raise
        return held

    def _remove_unfinished(self) -> None:
        """Remove what earlier runs had begun: all that has a temporary name."""
        token = _token_of(self.path)
        for entry in _entries(self.path):
            if token is not None and entry.name.startswith(f"{token}-"):
                _remove(entry)
        self._remove_begun()

    def _remove_begun(self) -> None:
        """Remove what is left of work folders that were being made or removed."""
        for entry in _entries(self.folder):
            if not _BEGUN.fullmatch(entry.name) or not entry.is_dir(
                follow_symlinks=False
            ):
                continue
            with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
                path = Path(entry.path)
                if (path / LOCK).exists():
                    held = stack.enter_context((path / LOCK).open("rb+"))
                    if not lock(held.fileno()):
                        continue
                _empty(path, entry.name.removeprefix(PREFIX))
                path.rmdir()

    def _refuse_others_inside(self) -> None:
        token = _token_of(self.path) or ""
        for entry in _entries(self.path):
            if not _is_ours(entry, token):
                self._refuse(entry)

    def _refuse(self, entry: os.DirEntry[str]) -> NoReturn:
        message = (
            f"{self.folder} holds something else: {entry.path} does not belong to this dataset; "
            "move it away, or name a new or empty folder"
        )
        raise FileError(message)


def _token_of(work: Path) -> str | None:
    """Give the token in the mark of a folder, ``None`` where it has none."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        if work.is_symlink():
            return None
        handle = os.open(work / LOCK, flags)
    except OSError:
        return None
    try:
        match = _MARK.fullmatch(os.read(handle, 100))
    except OSError:
        return None
    finally:
        os.close(handle)
    return match[1].decode() if match else None


def _refuse_second(folder: Path, held: BinaryIO, path: Path) -> None:
    """Lock a file, or refuse since another run has."""
    try:
        is_locked = lock(held.fileno())
    except OSError as error:
        message = (
            f"{folder}: {error.strerror or error}; this file system has no locks, so nothing "
            "would stop a second run"
        )
        raise FileError(message) from error
    if not is_locked or not is_still(held.fileno(), path):
        raise _second(folder)


def _second(folder: Path) -> FileError:
    return FileError(f"{folder}: another run is writing to it")


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """List a folder in the order of names."""
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        message = f"{folder}: {error.strerror or error}"
        raise FileError(message) from error


def _is_ours(entry: os.DirEntry[str], token: str) -> bool:
    """Tell whether an entry of a work folder carries our mark."""
    if entry.is_symlink():
        return False
    if entry.name.startswith(f"{token}-"):
        return True
    is_named = entry.name in (LOCK, PLAN) or _NOTE.fullmatch(entry.name) is not None
    return is_named and _is_plain(entry)


def _is_plain(entry: os.DirEntry[str]) -> bool:
    return entry.is_file(follow_symlinks=False)


def _empty(work: Path, token: str) -> None:
    """Remove what is ours in a work folder, the mark last."""
    ours = [entry for entry in _entries(work) if _is_ours(entry, token)]
    for entry in sorted(ours, key=lambda entry: entry.name == LOCK):
        _remove(entry)


def _remove(entry: os.DirEntry[str]) -> None:
    if entry.is_dir(follow_symlinks=False):  # an attempt on a cluster
        shutil.rmtree(entry.path, ignore_errors=True)
    else:
        Path(entry.path).unlink(missing_ok=True)
