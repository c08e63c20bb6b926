"""A folder of shards while it is written: who writes it, what was asked for, and what is done of it.

Everything but shards lies in ``_work``. ``bytepair.lock`` marks that folder as made here, and the run that
writes holds its lock, which ends with the process. ``plan.json`` has the settings, and ``task-N.json`` says
what task N wrote. A note is there before its shards have their names, so every shard belongs to a task
with a note. ``commit`` writes the manifest when all tasks are done, and removes ``_work``.

Only what is named so is ever removed or written over; anything else is refused by its name before a byte
is written. The tables of what each interruption leaves are in `docs/explanation/corpora.md`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair._io import files
from bytepair._io.json import parse, written
from bytepair._io.locks import is_still, lock, remove_abandoned
from bytepair._labels import argument
from bytepair.errors import FileError, FormatError, TokenizerError

from ._manifest import MANIFEST, VERSION, WORK, read_manifest, shards_of, totals_of
from ._shards import ENDINGS, problem_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


LOCK = "bytepair.lock"
"""The file in ``_work`` that is the mark and the lock."""
PLAN = "plan.json"

_MARK = b"made by bytepair tokenize\n"
_NOTE = re.compile(r"task-([0-9]{5,})\.json")
_ENDINGS = "|".join(re.escape(ending) for pair in ENDINGS.values() for ending in pair)
_SHARD = re.compile(rf"shard-([0-9]{{5,}})-[0-9]{{3,}}(?:{_ENDINGS})")


class Dataset:
    """A folder that shards are written to, by one run at a time."""

    def __init__(
        self, folder: Path, plan: Mapping[str, Any], behaviour: str | None = None
    ) -> None:
        self.folder, self.work = folder, folder / WORK
        self.behaviour = behaviour
        self.plan = {"version": VERSION, **json.loads(json.dumps(plan))}

    def finished(self) -> dict[str, Any] | None:
        """Return the manifest of a finished dataset, or ``None``.

        Raises
        ------
        TokenizerError
            The folder holds a dataset of another plan.
        FileError
            It holds something else, or a shard is missing or has another size.
        """
        self._refuse_link()
        if not os.path.lexists(self.folder / MANIFEST):
            self._refuse_other_plan()
            self._refuse_foreign()
            return None
        manifest = read_manifest(self.folder)
        self._refuse_other(manifest["plan"])
        for shard in shards_of(manifest["tasks"]):
            for name, file in shard["files"].items():
                problem = problem_of(self.folder / name, file, is_read=False)
                if problem is not None:
                    message = (
                        f"{self.folder / name} {problem}; remove "
                        f"{self.folder / MANIFEST} to write it again"
                    )
                    raise FileError(message)
        if _is_begun(self.folder):  # by a run that was killed after its manifest
            with contextlib.suppress(FileError), self._locked():
                _remove_work(self.folder)
        return manifest

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Begin to write or go on; refuse a second run, another plan and foreign files."""
        with self._locked():
            self._refuse_foreign()
            if os.path.lexists(self.folder / MANIFEST):
                message = f"{self.folder}: another run has just finished it"
                raise FileError(message)
            self._refuse_other_plan()
            _remove_unfinished(self.folder)
            _write_json(self.work / PLAN, self.plan)
            yield

    def note(self, number: int, done: Mapping[str, Any]) -> None:
        """Record the files of a task before its shards get their names."""
        note = {"number": number, "plan": _sum_of(self.plan), **done}
        _write_json(self._note_path(number), {**note, "sum": _sum_of(note)})

    def noted(self, number: int, parts: list[dict[str, Any]]) -> dict[str, Any] | None:
        """Return what a task wrote, if it is done and its files are whole.

        Otherwise, what it wrote is removed, and so is what it wrote under another plan.
        """
        note = self._read_note(number)
        if note is None or note["parts"] != parts or not self._has_files(note):
            self._forget(number)
            return None
        return {key: note[key] for key in note if key not in ("number", "plan")}

    def forget_all(self) -> None:
        """Remove the shards and notes of an earlier run."""
        for number in self._numbers():
            self._forget(number)

    def _numbers(self) -> set[int]:
        """Return the numbers of the tasks that have a note."""
        found = (_NOTE.fullmatch(entry.name) for entry in _entries(self.work))
        return {int(match[1]) for match in found if match}

    def _note_path(self, number: int) -> Path:
        return self.work / f"task-{number:05}.json"

    def _forget(self, number: int) -> None:
        """Remove the shards and the note of a task."""
        note = self._note_path(number)
        if not note.exists():
            return
        for path in self.folder.iterdir():
            if _number_of(path.name) == number:
                path.unlink()
        note.unlink()

    def _read_note(self, number: int) -> dict[str, Any] | None:
        """Read the note of a task; ``None`` if it is not what was written under this plan."""
        path = self._note_path(number)
        try:
            note = parse(files.read(path), str(path)).object()
        except (FileError, FormatError):
            return None
        if note.pop("sum", None) != _sum_of(note) or note["number"] != number:
            return None
        return note if note["plan"] == _sum_of(self.plan) else None

    def _has_files(self, note: Mapping[str, Any]) -> bool:
        """Whether the shards of a note are what was written."""
        return all(
            problem_of(self.folder / name, file, is_read=True) is None
            for shard in note["shards"]
            for name, file in shard["files"].items()
        )

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Make ``_work`` unless it is there, and keep other runs away."""
        path = self.work / LOCK
        with contextlib.ExitStack() as stack:
            try:
                self.work.mkdir(parents=True, exist_ok=True)
                held = stack.enter_context(path.open("a+b", buffering=0))
                is_alone = lock(held.fileno()) and is_still(held.fileno(), path)
                if is_alone and not path.stat().st_size:
                    held.write(_MARK)
            except OSError as error:
                message = f"{self.folder}: {error.strerror or error}"
                raise FileError(message) from error
            if not is_alone:
                message = f"{self.folder}: another run is writing to it"
                raise FileError(message)
            yield

    def _refuse_link(self) -> None:
        if self.folder.is_symlink():
            message = (
                f"{self.folder} is a link to {self.folder.readlink()}; name the "
                "target folder instead"
            )
            raise FileError(message)

    def _refuse_foreign(self) -> None:
        """Refuse a folder that holds what no run wrote here; nothing is touched."""
        if not self.folder.exists():
            return
        if not self.folder.is_dir():
            message = f"{self.folder} is not a folder; name a new or empty folder"
            raise FileError(message)
        is_begun = _is_begun(self.folder)
        numbers = self._numbers() if is_begun else set()
        for entry in _entries(self.folder):
            is_shard = files.is_draft(entry.name) or _number_of(entry.name) in numbers
            if entry.name == WORK and is_begun:
                for inside in _entries(self.work):
                    if not _is_own(inside):
                        self._refuse(inside)
            elif not (is_shard and entry.is_file(follow_symlinks=False)):
                self._refuse(entry)

    def _refuse(self, entry: os.DirEntry[str]) -> None:
        message = (
            f"{self.folder} holds something else: {entry.path} does not belong to this dataset; "
            "move it away, or name a new or empty folder"
        )
        raise FileError(message)

    def _refuse_other_plan(self) -> None:
        """Refuse work that was begun with another plan."""
        path = self.work / PLAN
        if _is_begun(self.folder) and path.is_file() and not path.is_symlink():
            self._refuse_other(parse(files.read(path), str(path)).object())

    def _refuse_other(self, plan: Mapping[str, Any]) -> None:
        names = [name for name in self.plan if plan.get(name) != self.plan[name]]
        names += [name for name in plan if name not in self.plan]
        if names:
            what = ", ".join(_difference(name, plan, self.plan) for name in names)
            message = (
                f"{self.folder} holds a dataset that was started with different settings "
                f"({what}); name another folder, or remove this one"
            )
            raise TokenizerError(message)


def commit(dataset: Dataset, tasks: list[dict[str, Any]]) -> dict[str, Any]:
    """Write and return the manifest of a dataset whose tasks are all done."""
    manifest = {
        "plan": dict(dataset.plan),
        "behaviour": dataset.behaviour,
        "totals": totals_of(tasks),
        "tasks": tasks,
    }
    _write_json(dataset.folder / MANIFEST, manifest)
    if _is_begun(dataset.folder):
        _remove_work(dataset.folder)
    return manifest


def new_attempt(folder: Path, number: int) -> Path:
    """Make a folder in ``_work``, named as drafts are, for one attempt of a task."""
    path = folder / WORK / f"{files.PREFIX}{secrets.token_hex(8)}-{number}"
    path.mkdir()
    return path


def _is_begun(folder: Path) -> bool:
    """Whether ``_work`` was made here: it has our mark, or a killed run has not marked it yet."""
    work, path = folder / WORK, folder / WORK / LOCK
    try:
        if work.is_symlink() or not os.listdir(work):  # noqa: PTH208 -- raises at once
            return not work.is_symlink()
        if path.is_symlink() or not path.is_file():
            return False
        with path.open("rb") as file:
            return _MARK.startswith(file.read(len(_MARK) + 1))
    except OSError:
        return False


def _remove_work(folder: Path) -> None:
    """Remove ``_work`` with what is ours in it, the mark last; anything else stays."""
    with contextlib.suppress(OSError, FileError):
        _remove_unfinished(folder)
        own = [entry for entry in _entries(folder / WORK) if _is_own(entry)]
        for entry in sorted(own, key=lambda entry: entry.name == LOCK):
            # An attempt is left on a system without locks.
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            else:
                Path(entry.path).unlink()
        (folder / WORK).rmdir()


def _remove_unfinished(folder: Path) -> None:
    """Remove drafts that no process has locked, including attempts of tasks."""
    for entry in [*_entries(folder), *_entries(folder / WORK)]:
        if files.is_draft(entry.name):
            remove_abandoned(Path(entry.path))


def _is_own(entry: os.DirEntry[str]) -> bool:
    """Whether an entry of ``_work`` is one that a run makes there."""
    is_named = entry.name in (LOCK, PLAN) or _NOTE.fullmatch(entry.name) is not None
    is_file = is_named and entry.is_file(follow_symlinks=False)
    return is_file or files.is_draft(entry.name)


def _number_of(name: str) -> int | None:
    """Return the number of the task that wrote a file of a shard.

    >>> _number_of("shard-00007-001.ends.npy")
    7
    """
    match = _SHARD.fullmatch(name)
    return int(match[1]) if match else None


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """List a folder in the order of names."""
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        message = f"{folder}: {error.strerror or error}"
        raise FileError(message) from error


def _difference(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Describe how two plans differ.

    >>> _difference("format", {"format": "npy"}, {"format": "bin"})
    "format: 'npy' then, 'bin' now"
    """
    there, now = old.get(name), new.get(name)
    if name != "sources" or not (isinstance(there, list) and there and now):
        return f"{argument(name)}: {there!r:.80} then, {now!r:.80} now"
    pairs = zip(there, now, strict=False)
    place = next((n for n, (one, other) in enumerate(pairs) if one != other), None)
    if place is None:
        return f"sources: {len(there):,} then, {len(now):,} now"
    return f"sources: {now[place]['path']} has changed, or was another file then"


def _sum_of(content: object) -> str:
    """Sum a document up, whatever the order of its keys."""
    text = json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    files.write(path, written(content, indent=1) + b"\n")
