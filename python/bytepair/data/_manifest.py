"""What a folder of shards was asked for, what is done of it, and what it holds in the end.

While work goes on, ``_work/plan.json`` says what was asked for and ``_work/task-N.json`` what
task N wrote. ``manifest.json`` appears when all tasks are done, and ``_work`` goes. The tables
of what each interruption leaves are in `docs/explanation/corpora.md`.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair import _files
from bytepair.errors import FileError, FormatError, TokenizerError

from ._shards import WORK, sha256_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["MANIFEST", "Dataset", "commit", "read_manifest"]

MANIFEST = "manifest.json"
VERSION = 2
VERSION_OF_ONE_MARK = 1
"""Plans of this version have one token at documents, and say where it stands."""
TOTALS = ("documents", "null", "empty", "bad", "bytes")


class Dataset:
    """A folder that shards are written to, by one run at a time."""

    def __init__(self, folder: Path, plan: Mapping[str, Any]) -> None:
        self.folder = folder
        self.plan = {"version": VERSION, **json.loads(json.dumps(plan))}

    @property
    def work(self) -> Path:
        """Where files lie until they are whole."""
        return self.folder / WORK

    def finished(self) -> dict[str, Any] | None:
        """Give the manifest of a finished dataset, or ``None``.

        Raises
        ------
        TokenizerError
            The folder holds a dataset of another plan, or something else.
        FileError
            A shard is missing or has another size.
        """
        if not (self.folder / MANIFEST).exists():
            self._refuse_strangers()
            return None
        manifest = read_manifest(self.folder)
        self._refuse_other(manifest["plan"])
        for shard in _shards_of(manifest["tasks"]):
            for name, file in shard["files"].items():
                _check_size(self.folder / name, file["bytes"])
        return manifest

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Begin or go on to write; refuses a second run and another plan."""
        try:
            self.work.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = f"{self.folder}: {error.strerror or error}"
            raise FileError(message) from error
        with _locked(self.work / "lock"):
            plan_path = self.work / "plan.json"
            if plan_path.exists():
                self._refuse_other(_current(_read_json(plan_path)))
            else:
                _write_json(plan_path, self.plan)
            self._remove_unfinished()
            yield

    def note(self, number: int, done: Mapping[str, Any]) -> None:
        """Note that a task is done, and what it wrote."""
        _write_json(self._note_path(number), done)

    def noted(self, number: int) -> dict[str, Any] | None:
        """Give what a task wrote, if it is done and its files are what was noted."""
        path = self._note_path(number)
        if not path.exists():
            return None
        done = _read_json(path)
        written = [file for shard in done["shards"] for file in shard["files"].items()]
        is_whole = all(_is_whole(self.folder / name, file) for name, file in written)
        return done if is_whole else None

    def _note_path(self, number: int) -> Path:
        return self.work / f"task-{number:05}.json"

    def _remove_unfinished(self) -> None:
        kept = {"plan.json", "lock"}
        for path in self.work.iterdir():
            is_note = path.name.startswith("task-") and path.suffix == ".json"
            if path.is_dir():  # of an attempt on a cluster
                shutil.rmtree(path, ignore_errors=True)
            elif path.name not in kept and not is_note:
                path.unlink(missing_ok=True)

    def _refuse_strangers(self) -> None:
        """Refuse a folder that holds files but no work of ours."""
        if self.work.exists() or not self.folder.exists():
            return
        if not self.folder.is_dir() or any(self.folder.iterdir()):
            message = f"{self.folder} holds something else; name an empty or new folder"
            raise FileError(message)

    def _refuse_other(self, plan: Mapping[str, Any]) -> None:
        if plan == self.plan:
            return
        names = [name for name in self.plan if plan.get(name) != self.plan[name]]
        names += [name for name in plan if name not in self.plan]
        what = ", ".join(_difference(name, plan, self.plan) for name in names)
        message = (
            f"{self.folder} holds a dataset that was begun with other settings ({what}); "
            "name another folder, or remove this one"
        )
        raise TokenizerError(message)


def commit(
    folder: Path, plan: Mapping[str, Any], tasks: list[dict[str, Any]]
) -> dict[str, Any]:
    """Write the manifest of a dataset whose tasks are all done, and give it."""
    shards = list(_shards_of(tasks))
    totals: dict[str, Any] = {
        name: sum(task["tally"][name] for task in tasks) for name in TOTALS
    }
    totals["with_special_text"] = sum(task["with_special_text"] for task in tasks)
    totals["written_documents"] = sum(shard["documents"] for shard in shards)
    totals["tokens"] = sum(shard["tokens"] for shard in shards)
    totals["shards"] = len(shards)
    manifest = {"plan": dict(plan), "totals": totals, "tasks": tasks}
    _write_json(folder / MANIFEST, manifest)
    shutil.rmtree(folder / WORK, ignore_errors=True)
    return manifest


def read_manifest(folder: _files.StrPath) -> dict[str, Any]:
    """Read the manifest of a finished dataset.

    Raises
    ------
    FileError
        There is none, for instance since tokenizing was not finished.
    """
    path = Path(folder) / MANIFEST
    if not path.exists():
        state = "not finished" if (Path(folder) / WORK).exists() else "no dataset"
        message = f"{os.fspath(folder)}: {state}, there is no {MANIFEST}"
        raise FileError(message)
    manifest = _read_json(path)
    manifest["plan"] = _current(manifest.get("plan", {}))
    version = manifest["plan"].get("version")
    if version != VERSION:
        message = f"{path}: version {version!r} is not known"
        raise FormatError(message)
    return manifest


def _current(plan: dict[str, Any]) -> dict[str, Any]:
    """Give a plan as this version writes it."""
    if plan.get("version") != VERSION_OF_ONE_MARK:
        return plan
    current: dict[str, Any] = {}
    for name, value in plan.items():
        if name == "end_of_document":
            is_before = plan["mark_at"] == "begin"
            current["begin_of_document"] = value if is_before else None
            current["end_of_document"] = None if is_before else value
        elif name != "mark_at":
            current[name] = value
    return {**current, "version": VERSION}


def _shards_of(tasks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    return (shard for task in tasks for shard in task["shards"])


def _difference(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Say how two plans differ.

    >>> _difference("format", {"format": "npy"}, {"format": "bin"})
    "format: 'npy' then, 'bin' now"
    """
    there, now = old.get(name), new.get(name)
    if name != "sources" or not (there and now):
        return f"{name}: {there!r} then, {now!r} now"
    pairs = zip(there, now, strict=False)
    place = next((n for n, (one, other) in enumerate(pairs) if one != other), None)
    if place is None:
        return f"sources: {len(there):,} then, {len(now):,} now"
    return f"sources: {there[place]['path']} has changed, or is another file now"


def _is_whole(path: Path, file: Mapping[str, Any]) -> bool:
    with contextlib.suppress(OSError):
        if path.stat().st_size == file["bytes"]:
            return sha256_of(path) == str(file["sha256"])
    return False


def _check_size(path: Path, size: int) -> None:
    found = path.stat().st_size if path.exists() else None
    if found != size:
        state = "is missing" if found is None else f"has {found:,} bytes, not {size:,}"
        message = f"{path} {state}; remove {path.parent / MANIFEST} to write it again"
        raise FileError(message)


def _read_json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(_files.read(path))
    except ValueError as error:
        message = f"{path}: {error}"
        raise FormatError(message) from error
    if not isinstance(found, dict):
        message = f"{path}: expected an object"
        raise FormatError(message)
    return found


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    _files.write(path, text.encode(errors="surrogateescape"))


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep a second run away; the lock ends with the process, however that ends."""
    try:
        import fcntl
    except ModuleNotFoundError:  # no such locks on this system
        yield
        return
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            message = f"{path.parent.parent}: another run is writing to it"
            raise FileError(message) from error
        yield
