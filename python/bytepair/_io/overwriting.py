"""Refuse outputs that would overwrite inputs, before anything is opened for writing.

Files are compared by their identity, whatever the spelling of the path, so links and ``/dev/fd``
are recognised. An output in a folder of texts is refused as well: the next run would read it as a
text. Costs a ``stat`` of each path, and a walk through each folder if an output exists already.
"""

import glob
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from bytepair.errors import FileError, FormatError

from .files import StrPath
from .loading import located
from .recognising import (
    FOLDER_FILES,
    HUB_FILES,
    MERGES_OF,
    file_in,
    is_folder,
    pair_of,
    sidecar_of,
)

Identity = tuple[int, int]
Named = str | int
"""A path, or the descriptor of an open stream."""

SETTINGS = [name for name in HUB_FILES if name not in FOLDER_FILES and "*" not in name]
"""Files that may be read beside the tokenizer of a folder."""


def refuse_overwriting(
    inputs: Iterable[StrPath], outputs: Iterable[StrPath | None]
) -> None:
    """Refuse outputs that are also inputs, or that lie in a folder of texts that is read.

    Inputs are files, folders, globs and ``-`` for standard input; addresses are ignored.
    Outputs are files, folders to write into, and ``-`` for standard output.

    Raises
    ------
    FileError
        An output is refused; the message names it and the input.
    """
    named = [os.fspath(path) for path in outputs if path is not None]
    targets = {_id(file): path for path in named for file in _written(path)}
    targets.pop(None, None)
    for path in inputs:
        source = os.fspath(path)
        if "\0" in source or "://" in source:
            continue
        folder = _folder_of_texts(source)
        if folder is not None:
            _refuse_inside(folder, named)
        for file in _read(source, folder) if targets else ():
            target = targets.get(_id(file))
            if target is not None:
                _refuse("standard input" if isinstance(file, int) else file, target)


def _refuse(path: str, target: str) -> None:
    if target == "-":
        message = f"{path}: standard output is written to this file, which is also read"
    else:
        message = f"{target}: this is the same file as the input {path}; name another"
    raise FileError(message)


def _refuse_inside(folder: Path, outputs: list[str]) -> None:
    whole = Path(os.path.realpath(folder))
    for output in outputs:
        target = Path(os.path.realpath(output))
        if output == "-" or not target.is_relative_to(whole):
            continue
        inside = target.relative_to(whole).parts
        if not any(part.startswith(".") for part in inside):
            message = (
                f"{output}: this is in the folder {folder}, which is read as a corpus, and the "
                "next run would read it too; name a path outside the folder"
            )
            raise FileError(message)


def _id(path: Named) -> Identity | None:
    """Return the identity of a regular file; ``None`` for any other path."""
    try:
        status = os.stat(path)  # noqa: PTH116 -- or the descriptor of a stream
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def _written(path: str) -> Iterator[Named]:
    """List the files that an output may write: itself, and others of a tokenizer with that name."""
    if path == "-":
        yield from _standard(sys.stdout)
        return
    yield from (path, os.path.realpath(path))  # links are followed
    yield str(sidecar_of(Path(path))) if path.endswith(".tiktoken") else path
    for names in MERGES_OF.items() if Path(path).is_dir() else ():
        yield from (str(Path(path, name)) for name in names)


def _read(source: str, folder: Path | None) -> Iterable[Named]:
    """List the files that an input stands for."""
    if source == "-":
        return _standard(sys.stdin)
    if folder is not None:
        return files_below(folder)
    path = located(Path(source))
    try:
        file = file_in(path) if is_folder(path) else path
    except FormatError:
        return []
    if not os.path.exists(file) and glob.has_magic(source):  # noqa: PTH110 -- of any length
        return glob.iglob(source, recursive=True)  # noqa: PTH207 -- any root
    pair = pair_of(file)
    files = [file, *(pair or ())]
    if file.suffix == ".tiktoken":
        files.append(sidecar_of(file))
    if pair is not None or is_folder(path):
        files += [file.with_name(name) for name in SETTINGS]
    return map(str, files)


def _standard(stream: TextIO | None) -> list[Named]:
    """Return the descriptor of a standard stream, if it has one."""
    try:
        return [] if stream is None else [stream.fileno()]
    except (OSError, ValueError):
        return []


def _folder_of_texts(source: str) -> Path | None:
    """Return the path of a folder that is not one tokenizer; ``None`` for any other path."""
    path = Path(source)
    if not is_folder(path):
        return None
    try:
        file_in(path)
    except FormatError:
        return path
    return None


def files_below(folder: Path) -> list[str]:
    """List the files in a folder and its subfolders, hidden ones left out."""
    files = []
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        names = [name for name in names if not name.startswith(".")]
        files += [Path(parent, name) for name in names]
    return [str(path) for path in sorted(files, key=lambda path: path.parts)]
