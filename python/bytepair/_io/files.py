"""Expand the paths that users name, and read and write files whole.

A file is written under a temporary name beside its target, flushed to disk and renamed. The
temporary name is ``.bytepair-`` and a hash of the target's name. It is short, so that no target has
too long a name, and always the same, so that the next writer removes what a killed one left. Files
that belong together are all written before the first is renamed.
"""

import contextlib
import glob
import hashlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from bytepair._names import refuse_set
from bytepair.errors import FileError

from .locks import HAS_LOCKS, make_folder, make_locked, remove_abandoned

StrPath = str | os.PathLike[str]

PREFIX = ".bytepair-"
"""How the names of drafts begin."""
DRAFT = re.compile(re.escape(PREFIX) + r"[0-9a-f]{16}-[0-9]+")
MOST_WRITERS = 100
"""The number of writers that one target may have at the same time."""
N_LOOKED_AT = 8
"""The number of temporary names under which a writer looks for abandoned files."""
MAX_READ_LEN = 2 << 30
"""The maximum size of a file that is read whole, in bytes."""


def is_address(path: str) -> bool:
    """Whether a path is an address, which fsspec opens.

    >>> is_address("s3://bucket/text.jsonl"), is_address("text.jsonl")
    (True, False)
    """
    return "://" in path


def expand(files: StrPath | Iterable[StrPath]) -> list[str]:
    """List the files that paths and globs stand for, in the order of the paths.

    The matches of a glob are sorted; ``-`` is standard input.
    """
    if isinstance(files, (str, os.PathLike)):
        files = [files]
    else:
        refuse_set("files", files, "the result")
    try:
        return [file for path in files for file in _expand_one(os.fspath(path))]
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
    """Read a file, or raise a ``FileError`` that names it.

    A sparse file may be much larger than its space on disk, so the size is limited, far above
    that of any tokenizer.
    """
    refuse_no_name(path)
    try:
        n_bytes = Path(path).stat().st_size
        data = Path(path).read_bytes() if n_bytes <= MAX_READ_LEN else None
    except OSError as error:
        message = f"{os.fspath(path)}: {error.strerror or error}"
        raise FileError(message) from error
    if data is None:
        message = (
            f"{os.fspath(path)}: {n_bytes:,} bytes are too many for a tokenizer "
            f"or its settings; at most {MAX_READ_LEN:,} are read"
        )
        raise FileError(message)
    return data


def write(path: StrPath, data: bytes) -> None:
    """Write a file under a temporary name and rename it, so that it appears whole or not at all."""
    with writing(path) as file:
        file.write(data)


def write_together(files: Mapping[Path, bytes], *, makes_folders: bool = False) -> None:
    """Write several files as :func:`writing_together` does.

    On an error, the folders that were made for them are removed.
    """
    with contextlib.ExitStack() as stack:
        for path in files if makes_folders else ():
            stack.enter_context(_folder_for(path))
        opened = stack.enter_context(writing_together(*files))
        for data, file in zip(files.values(), opened, strict=True):
            file.write(data)


@contextlib.contextmanager
def writing_together(*paths: Path) -> Iterator[list[BinaryIO]]:
    """Open several files that appear, in this order, when the block ends without an exception.

    All are on disk before the first is renamed, and the renames follow one another directly. No
    system renames several files at once: if the process is killed or a rename fails in between,
    only the first files are new. Links are followed. A pipe or a device is written to directly.
    """
    _check_names(paths)
    with contextlib.ExitStack() as stack:
        drafts = []
        for path in paths:
            drafts.append(Draft(path))
            stack.callback(drafts[-1].discard)
        try:
            yield [draft.file for draft in drafts]
        except FileError:  # of another file, in the block
            raise
        except OSError as error:
            raise _cannot(" and ".join(map(str, paths)), error) from error
        for draft in drafts:
            draft.finish()
        for draft in drafts:
            draft.rename()


@contextlib.contextmanager
def writing(path: StrPath) -> Iterator[BinaryIO]:
    """Open one file as :func:`writing_together` does."""
    refuse_no_name(path)
    with writing_together(Path(path)) as (file,):
        yield file


@contextlib.contextmanager
def writing_elsewhere(path: StrPath) -> Iterator[Path]:
    """Return the temporary path of a file that is written as by :func:`writing`.

    For code that opens a file by its path.
    """
    with writing(path) as file:
        yield Path(os.fsdecode(file.name))


class Draft:
    """A file under a temporary name beside its target; a pipe or a device is its own draft.

    Attributes
    ----------
    file
        The open file, locked while it is open. No user can read it who cannot read its target.
    """

    def __init__(self, path: Path) -> None:
        """Open the draft.

        Raises
        ------
        FileError
            The path is a folder, or no file can be created beside it.
        """
        self.path, self.target = path, Path(os.path.realpath(path))
        self.temporary: Path | None = None
        if self.target.is_dir():
            message = f"{path}: this is a folder; name a file"
            raise FileError(message)
        try:
            if self.target.exists() and not self.target.is_file():
                self.file: BinaryIO = self.target.open("wb")
                return
            names = _names_beside(self.target)
            self.temporary, handle = make_locked(names, self._make)
            self.file = open(self.temporary, "r+b", opener=lambda *_: handle or 0)  # noqa: SIM115
        except OSError as error:
            raise _cannot(path, error) from error

    def finish(self) -> None:
        """Flush the draft to the disk, with the mode of the file that it replaces."""
        try:
            self.file.flush()
            if self.temporary is None:
                return
            if self.target.exists():
                self.temporary.chmod(mode_of(self.target))
            os.fsync(self.file.fileno())
        except OSError as error:
            raise _cannot(self.path, error) from error
        if not HAS_LOCKS:  # a system that renames no open file
            self.file.close()

    def rename(self) -> None:
        """Rename the draft to its target."""
        if self.temporary is None:
            return
        try:
            self.temporary.replace(self.target)
        except OSError as error:
            raise _cannot(self.path, error) from error
        self.temporary = None

    def discard(self) -> None:
        """Remove the draft unless it was renamed, and end its lock."""
        if self.temporary is not None:
            self.temporary.unlink(missing_ok=True)
        with contextlib.suppress(
            OSError
        ):  # a full disk may lack room for the rest of it
            self.file.close()

    def _make(self, path: Path) -> int:
        is_new = not self.target.exists()
        mode = 0o666 if is_new else mode_of(self.target) | 0o600
        how = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        return os.open(path, how, mode)


def _check_names(paths: Iterable[Path]) -> None:
    """Refuse a path that names no file, and two paths of the same file."""
    seen: dict[str, Path] = {}
    for path in paths:
        refuse_no_name(path)
        target = os.path.realpath(path)
        is_replaced = Path(target).is_file() or not Path(target).exists()
        if is_replaced and target in seen:
            message = f"{path}: this is the same file as {seen[target]}; name another"
            raise FileError(message)
        seen[target] = path


@contextlib.contextmanager
def _folder_for(path: Path) -> Iterator[None]:
    """Make the folder of a file; if the block fails, remove the folders that were made."""
    missing = [folder for folder in path.parents if not folder.exists()]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _cannot(path.parent, error) from error
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):  # another process may use it by now
            for folder in missing:
                folder.rmdir()
        raise


@contextlib.contextmanager
def folder_beside(target: Path) -> Iterator[Path]:
    """Make a folder beside a target, and remove it when the block ends."""
    try:
        path, handle = make_locked(_names_beside(target), make_folder)
    except OSError as error:
        raise _cannot(target, error) from error
    with contextlib.ExitStack() as stack:
        if handle is not None:
            stack.callback(os.close, handle)
        stack.callback(shutil.rmtree, path, ignore_errors=True)
        yield path


def _cannot(target: Path | str, error: OSError) -> FileError:
    return FileError(f"{target}: {error.strerror or error}")


def _names_beside(target: Path) -> Iterator[Path]:
    """Return temporary paths beside a target, after removing abandoned files at the first ones."""
    hashed = hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]
    paths = [target.parent / f"{PREFIX}{hashed}-{n}" for n in range(MOST_WRITERS)]
    for path in paths[:N_LOOKED_AT]:
        if os.path.lexists(path):
            remove_abandoned(path)
    return iter(paths)


def is_draft(name: str) -> bool:
    """Whether a file has the name of a draft.

    >>> is_draft(".bytepair-0123456789abcdef-0"), is_draft("shard-00000-000.npy")
    (True, False)
    """
    return DRAFT.fullmatch(name) is not None


def check_writable(folder: Path) -> None:
    """Refuse a folder that is missing or cannot be written to."""
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        message = f"{folder}: {error.strerror or error}"
        raise FileError(message) from error


def refuse_no_name(path: StrPath) -> None:
    """Refuse an empty path, and one with a NUL character."""
    if not os.fspath(path):
        message = "the path is empty"
        raise FileError(message)
    if "\0" in os.fspath(path):
        message = f"{os.fspath(path)!r}: a file name cannot contain a NUL character"
        raise FileError(message)


def mode_of(path: Path) -> int:
    """Return the permissions of a file."""
    return stat.S_IMODE(path.stat().st_mode) & 0o777
