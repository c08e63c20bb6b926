"""Paths: what a user names, and files that appear whole or not at all.

A file is written beside its target, flushed to the disk and renamed. What lies there meanwhile
is called ``.bytepair-`` and a hash of the target's name: short, so that every name can be written,
and the same each time, so that the next writer removes what a killed one left. Several files that
belong together are all written before the first is renamed. A file is read whole.
"""

import contextlib
import glob
import hashlib
import io
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from bytepair._names import refuse_set
from bytepair.errors import FileError

from .locks import HAS_LOCKS, is_kept, is_still, lock, open_folder

StrPath = str | os.PathLike[str]

PREFIX = ".bytepair-"
"""How names of ours begin that nobody chose."""
MOST_WRITERS = 100
"""How many may write one target at the same time."""
N_LOOKED_AT = 8
"""Under how many of their names a writer looks for what was abandoned."""
MAX_READ_LEN = 2 << 30
"""How long a file may be that is read as a whole, in bytes."""


def expand(files: StrPath | Iterable[StrPath]) -> list[str]:
    """List the files that paths and globs stand for, in the order given.

    A glob stands for its matches in sorted order; ``-`` is standard input.
    """
    if isinstance(files, (str, os.PathLike)):
        files = [files]
    else:
        refuse_set("files", files, "the result")
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
    """Read a file, or raise a ``FileError`` that names it.

    A file may be nothing but a hole on the disk that reads as zeros, so there is a limit that
    no file of a tokenizer comes near to.
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
    """Write a file under a temporary name and rename it: it appears whole or not at all."""
    with writing(path) as file:
        file.write(data)


def write_together(files: Mapping[Path, bytes], *, makes_folders: bool = False) -> None:
    """Write several files: all appear, in their order, or none does.

    They are renamed one directly after the other. No system renames several at once, so a kill in
    between leaves the first ones new; an error or Ctrl-C gives back what was there.
    A link is followed. A pipe or a device is written to, after all others.
    """
    _check_names(files)
    with contextlib.ExitStack() as stack:
        for path in files if makes_folders else ():
            stack.enter_context(_folder_for(path))
        drafts = [stack.enter_context(_draft(*pair)) for pair in files.items()]
        pairs = zip(drafts, files, strict=True)
        _rename({path: draft for draft, path in pairs if draft is not None})
        for draft, (path, data) in zip(drafts, files.items(), strict=True):
            if draft is None:
                write(path, data)


@contextlib.contextmanager
def writing_together(*paths: Path) -> Iterator[list[BinaryIO]]:
    """Open several files that appear, in their order, when the block ends without an exception.

    All appear or none does, as by :func:`write_together`. A pipe or a device is written to at once.
    """
    _check_names(paths)
    with contextlib.ExitStack() as stack:
        drafts = [stack.enter_context(_drafting(path)) for path in paths]
        pairs = list(zip(paths, drafts, strict=True))
        try:
            yield [
                stack.enter_context(path.open("wb")) if draft is None else draft
                for path, draft in pairs
            ]
        except FileError:  # of something else, in the block
            raise
        except OSError as error:
            raise _cannot(" and ".join(map(str, paths)), error) from error
        finished = [(path, draft) for path, draft in pairs if draft is not None]
        for path, draft in finished:
            _finish_of(path, draft)
        _rename({path: Path(draft.name) for path, draft in finished})


def _check_names(paths: Iterable[Path]) -> None:
    """Refuse what names no file, and two names of one: only one of their contents would stay."""
    seen: dict[str, Path] = {}
    for path in paths:
        refuse_no_name(path)
        target = os.path.realpath(path)
        is_replaced = Path(target).is_file() or not Path(target).exists()
        if is_replaced and target in seen:
            message = f"{path}: this is the same file as {seen[target]}; name another"
            raise FileError(message)
        seen[target] = path


def _rename(drafts: Mapping[Path, Path]) -> None:
    """Give drafts their names; if one cannot have it, the others have what was there before."""
    targets = {path: Path(os.path.realpath(path)) for path in drafts}
    begun: list[Path] = []
    with contextlib.ExitStack() as stack:
        before = {
            target: stack.enter_context(_kept(target)) if target.exists() else None
            for target in targets.values()
        }
        try:
            for path, draft in drafts.items():
                begun.append(targets[path])
                draft.replace(targets[path])
        except BaseException as error:  # Ctrl-C too
            for target in begun:
                _put_back(target, before[target])
            if not isinstance(error, OSError):
                raise
            raise _cannot(path, error) from error


def _kept(target: Path) -> BinaryIO:
    """Open a file that may be replaced; what is open can still be read then, on most systems."""
    return target.open("rb") if HAS_LOCKS else io.BytesIO(target.read_bytes())


def _put_back(target: Path, before: BinaryIO | None) -> None:
    """Give a file what it had before, if it is another now."""
    if before is None:
        target.unlink(missing_ok=True)
    elif not (HAS_LOCKS and is_still(before.fileno(), target)):
        with writing(target) as file:
            shutil.copyfileobj(before, file)


@contextlib.contextmanager
def _draft(path: Path, data: bytes) -> Iterator[Path | None]:
    """Write a draft of a file, as :func:`_drafting` opens it."""
    with _drafting(path) as file:
        if file is None:
            yield None
            return
        try:
            file.write(data)
        except OSError as error:
            raise _cannot(path, error) from error
        _finish_of(path, file)
        yield Path(file.name)


@contextlib.contextmanager
def _drafting(path: Path) -> Iterator[BinaryIO | None]:
    """Open a file under a temporary name beside its target, and remove what is not renamed.

    ``None`` for what is no file that can be replaced.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        message = f"{path}: this is a folder; name a file"
        raise FileError(message)
    if target.exists() and not target.is_file():
        yield None
        return
    with contextlib.ExitStack() as stack:
        try:
            file = _temporary(target)
        except OSError as error:
            raise _cannot(path, error) from error
        stack.callback(_close, file)
        stack.callback(Path(file.name).unlink, missing_ok=True)
        yield file


def _finish_of(path: Path, draft: BinaryIO) -> None:
    """Bring a draft to the disk, or say which file cannot be written."""
    try:
        _finish(draft, Path(os.path.realpath(path)))
    except OSError as error:
        raise _cannot(path, error) from error


def _close(file: BinaryIO) -> None:
    """Close a draft, which is locked until then; on a full disk what is left of it cannot be written."""
    with contextlib.suppress(OSError):
        file.close()


@contextlib.contextmanager
def _folder_for(path: Path) -> Iterator[None]:
    """Make the folder of a file; if the block fails, those that were made are gone again."""
    missing = [folder for folder in path.parents if not folder.exists()]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _cannot(path.parent, error) from error
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):  # somebody else may use it by now
            for folder in missing:
                folder.rmdir()
        raise


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
def folder_beside(target: Path) -> Iterator[Path]:
    """Make a folder beside a target for as long as the block lasts."""
    for path in _temporary_paths(target):
        try:
            path.mkdir(0o700)
            handle = open_folder(path)
        except (FileExistsError, FileNotFoundError) as error:
            if target.parent.is_dir():  # somebody else has it, or took it for abandoned
                continue
            raise _cannot(target, error) from error
        except OSError as error:
            raise _cannot(target, error) from error
        with contextlib.ExitStack() as stack:
            if handle is not None:
                stack.callback(os.close, handle)
                if not is_kept(handle, path):
                    continue
            stack.callback(shutil.rmtree, path, ignore_errors=True)
            yield path
            return
    message = f"{target}: {MOST_WRITERS} other processes are writing it"
    raise FileError(message)


def _cannot(target: Path | str, error: OSError) -> FileError:
    return FileError(f"{target}: {error.strerror or error}")


@contextlib.contextmanager
def _replacing(target: Path) -> Iterator[BinaryIO]:
    """Write under a temporary name beside the target, and rename at the end."""
    with _temporary(target) as file:
        try:
            yield file
            _finish(file, target)
            Path(file.name).replace(target)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise


def _finish(file: BinaryIO, target: Path) -> None:
    """Bring a draft to the disk, with the mode of what it replaces."""
    file.flush()
    if target.exists():
        Path(file.name).chmod(mode_of(target))
    os.fsync(file.fileno())
    if not HAS_LOCKS:  # a system that renames no open file
        file.close()


def _temporary(target: Path) -> BinaryIO:
    """Open a new file beside the target, locked as long as it is open.

    The system gives it its mode, and it is never open to more than the target is.
    """
    mode = mode_of(target) | 0o600 if target.exists() else 0o666
    for path in _temporary_paths(target):
        try:
            file = open(path, "x+b", opener=lambda name, how: os.open(name, how, mode))  # noqa: SIM115
        except FileExistsError:
            continue
        if is_kept(file.fileno(), path):
            return file
        file.close()
    message = f"{target}: {MOST_WRITERS} other processes are writing it"
    raise FileError(message)


def _temporary_paths(target: Path) -> Iterator[Path]:
    """Give names beside a target; what was abandoned under the first of them goes."""
    hashed = hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]
    stem = target.parent / f"{PREFIX}{hashed}"
    paths = [Path(f"{stem}-{number}") for number in range(MOST_WRITERS)]
    for path in paths[:N_LOOKED_AT]:
        if os.path.lexists(path):
            _remove_abandoned(path)
    yield from paths


def _remove_abandoned(path: Path) -> None:
    """Remove what a killed process left under a name of ours, unless somebody holds it."""
    with contextlib.suppress(OSError), _held(path) as handle:
        kind = os.fstat(handle).st_mode
        if not is_still(handle, path):
            return
        if stat.S_ISDIR(kind):
            shutil.rmtree(path)
        elif stat.S_ISREG(kind):
            path.unlink()


@contextlib.contextmanager
def _held(path: Path) -> Iterator[int]:
    """Open and lock a file or folder.

    Raises
    ------
    OSError
        It is a link, somebody else holds it, or there are no locks.
    """
    flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    handle = os.open(path, os.O_RDONLY | flags)
    try:
        if not (HAS_LOCKS and lock(handle)):
            raise BlockingIOError
        yield handle
    finally:
        os.close(handle)


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


def mode_of(path: Path) -> int:
    """Give who may do what with a file."""
    return stat.S_IMODE(path.stat().st_mode) & 0o777
