"""Locks on open files, which end with the process that holds them, however that ends.

Left out: locks on systems that have none of this kind, where nobody is kept away.
"""

import os
from pathlib import Path

try:
    import fcntl
except ModuleNotFoundError:
    HAS_LOCKS = False
else:
    HAS_LOCKS = True

__all__ = ["HAS_LOCKS", "is_kept", "is_still", "lock", "open_folder"]


def lock(handle: int) -> bool:
    """Lock an open file for this process; gives ``False`` if another one has locked it.

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
    """Tell whether a path still leads to an open file; another process may have removed it."""
    try:
        return os.path.samestat(os.fstat(handle), path.lstat())
    except OSError:
        return False


def is_kept(handle: int, path: Path) -> bool:
    """Lock what was just made, unless somebody took it for abandoned and removes it."""
    try:
        is_ours = lock(handle)
    except OSError:  # a file system without locks, where nothing is removed
        return True
    return is_ours and is_still(handle, path)


def open_folder(path: Path) -> int | None:
    """Open a folder to lock it; ``None`` where a system has no locks.

    Raises
    ------
    OSError
        It is no folder, or gone.
    """
    if not HAS_LOCKS:
        return None
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
