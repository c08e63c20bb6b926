"""Files and folders that stay locked until the process that made them ends, even if it is killed.

An unlocked one was left by a killed process, and can be removed. Systems without such locks lock and remove nothing.
"""

import contextlib
import errno
import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

try:
    import fcntl
except ModuleNotFoundError:
    HAS_LOCKS = False
else:
    HAS_LOCKS = True


def lock(handle: int) -> bool:
    """Lock an open file for this process; return ``False`` if another one has locked it.

    Raises
    ------
    OSError
        The file system has no locks.
    """
    if not HAS_LOCKS:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_still(handle: int, path: Path) -> bool:
    """Whether a path still leads to an open file; another process may have removed it."""
    try:
        return os.path.samestat(os.fstat(handle), path.lstat())
    except OSError:
        return False


def make_locked(
    paths: Iterable[Path], make: Callable[[Path], int | None]
) -> tuple[Path, int | None]:
    """Make a file or folder under the first path that is free, and lock its handle.

    Raises
    ------
    OSError
        It cannot be made, or no path is free.
    """
    for path in paths:
        try:
            handle = make(path)
        except (FileExistsError, FileNotFoundError):
            if path.parent.is_dir():  # it exists, or was taken for abandoned
                continue
            raise
        if handle is None or _lock_new(handle, path):
            return path, handle
        os.close(handle)
    raise OSError(errno.EAGAIN, "too many other processes are writing it")


def make_folder(path: Path) -> int | None:
    """Make a folder for this user alone, and open it; ``None`` if the system has no locks."""
    path.mkdir(0o700)
    return open_folder(path) if HAS_LOCKS else None


def open_folder(path: Path) -> int:
    """Open a folder, to lock it."""
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


def remove_abandoned(path: Path) -> None:
    """Remove a file or folder with a temporary name, unless a process holds it or it is a link."""
    if not HAS_LOCKS:
        return
    with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        stack.callback(os.close, handle)
        if not lock(handle) or not is_still(handle, path):
            return
        if path.is_dir():
            shutil.rmtree(path)
        elif path.is_file():
            path.unlink()


def _lock_new(handle: int, path: Path) -> bool:
    """Lock a new file or folder; return ``False`` if another process took it for abandoned."""
    try:
        is_locked = lock(handle)
    except OSError:  # a file system without locks, on which nothing is removed
        return True
    return is_locked and is_still(handle, path)
