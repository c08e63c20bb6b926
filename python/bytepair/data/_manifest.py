"""What a folder of shards was asked for, what is done of it, and what it holds in the end.

While work goes on, ``_work/plan.json`` says what was asked for and ``_work/task-N.json`` what
task N wrote. A note is there before its shards have their names, so every shard in the folder
has one. ``manifest.json`` appears when all tasks are done, and ``_work`` goes. What is read again
is compared with what it must hold. The tables of what each interruption leaves are in
`docs/explanation/corpora.md`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from bytepair._io import files
from bytepair._io.json import Place, parse, written
from bytepair._labels import argument
from bytepair.errors import FileError, FormatError, TokenizerError

from ._recognise import Compression, CorpusFormat
from ._shards import all_endings, endings_of, sha256_of, shard_formats
from ._work import PLAN, WorkFolder, note_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

__all__ = ["MANIFEST", "Dataset", "commit", "read_manifest"]

MANIFEST = "manifest.json"
VERSION = 2
VERSION_OF_ONE_MARK = 1
"""Plans of this version have one token at documents, and say where it stands."""
_ENDING = "|".join(map(re.escape, all_endings()))
SHARD = re.compile(rf"shard-([0-9]{{5,}})-[0-9]{{3,}}(?:{_ENDING})")
TALLY = ("documents", "null", "empty", "bad", "bytes")


class Dataset:
    """A folder that shards are written to, by one run at a time."""

    def __init__(self, folder: Path, plan: Mapping[str, Any]) -> None:
        self.folder = folder
        self.plan = {"version": VERSION, **json.loads(json.dumps(plan))}
        self.work = WorkFolder(folder)

    def finished(self) -> dict[str, Any] | None:
        """Give the manifest of a finished dataset, or ``None``.

        Raises
        ------
        TokenizerError
            The folder holds a dataset of another plan, or something else.
        FileError
            A shard is missing or has another size.
        """
        self.work.refuse_link()
        if not os.path.lexists(self.folder / MANIFEST):
            self._refuse_other_plan()
            self.work.refuse_others(self._is_noted())
            return None
        manifest = read_manifest(self.folder)
        self._refuse_other(manifest["plan"])
        for shard in _shards_of(manifest["tasks"]):
            for name, file in shard["files"].items():
                _check_size(self.folder / name, file["bytes"])
        self.work.tidy()
        return manifest

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Begin or go on to write; refuses a second run, another plan and what is not ours."""
        with self.work.held(self._is_noted):
            if os.path.lexists(self.folder / MANIFEST):
                message = f"{self.folder}: another run has just finished it"
                raise FileError(message)
            self._refuse_other_plan()
            _write_json(self.work.path / PLAN, self.plan, self.work)
            yield

    def note(self, number: int, done: Mapping[str, Any]) -> None:
        """Note what a task has written, before its shards get their names."""
        note = {"number": number, "plan": _sum_of(self.plan), **done}
        note["sum"] = _sum_of(note)
        _write_json(self.work.path / note_name(number), note, self.work)

    def noted(self, number: int, parts: list[dict[str, Any]]) -> dict[str, Any] | None:
        """Give what a task wrote, if it is done and its files are what was noted.

        What it wrote under another plan, or what is not known to be whole, is removed.
        """
        note = self._note(number)
        expected = {"number": number, "plan": _sum_of(self.plan), "parts": parts}
        if note is None or any(note[key] != value for key, value in expected.items()):
            self._forget(number)
            return None
        files = [file for shard in note["shards"] for file in shard["files"].items()]
        if not all(_is_whole(self.folder / name, file) for name, file in files):
            self._forget(number)
            return None
        return {key: note[key] for key in note if key not in ("number", "plan", "sum")}

    def forget_all(self) -> None:
        """Remove the shards and notes of an earlier run."""
        for number in self.work.noted():
            self._forget(number)

    def _forget(self, number: int) -> None:
        """Remove the shards that the note of a task tells of, and the note."""
        is_noted = self._is_noted([number])
        for path in self.folder.iterdir():
            if is_noted(path.name):
                path.unlink()
        (self.work.path / note_name(number)).unlink(missing_ok=True)

    def _note(self, number: int) -> dict[str, Any] | None:
        """Read the note of a task; ``None`` if there is none, or it is not what was written."""
        path = self.work.path / note_name(number)
        try:
            note = parse(files.read(path), str(path))
            rest = {key: value for key, value in note.object().items() if key != "sum"}
            if note["sum"].text() != _sum_of(rest):
                return None
            note["plan"].text()
            _check_task(note)
            names = [
                name
                for shard in note["shards"].items()
                for name in shard["files"].object()
            ]
            if note["number"].number() != number or not all(
                _number_of(name) == number for name in names
            ):
                return None
        except (FileError, FormatError):
            return None
        return note.object()

    def _is_noted(self, numbers: Iterable[int] | None = None) -> _Noted:
        """Say which files are shards that a note tells of, or one of some notes."""
        names: set[str] = set()
        damaged: set[int] = set()
        for number in self.work.noted() if numbers is None else numbers:
            note = self._note(number)
            if note is None:
                damaged.add(number)
            else:
                names.update(
                    name for shard in note["shards"] for name in shard["files"]
                )
        return _Noted(names, damaged)

    def _refuse_other_plan(self) -> None:
        """Refuse work that was begun with another plan."""
        path = self.work.path / PLAN
        if self.work.is_ours and path.is_file() and not path.is_symlink():
            self._refuse_other(_current(parse(files.read(path), str(path)).object()))

    def _refuse_other(self, plan: Mapping[str, Any]) -> None:
        if plan == self.plan:
            return
        names = [name for name in self.plan if plan.get(name) != self.plan[name]]
        names += [name for name in plan if name not in self.plan]
        what = ", ".join(_difference(name, plan, self.plan) for name in names)
        message = (
            f"{self.folder} holds a dataset that was started with different settings ({what}); "
            "name another folder, or remove this one"
        )
        raise TokenizerError(message)


class _Noted:
    """Tells the names of shards that have a note; one that is damaged stands for all of its task."""

    def __init__(self, names: set[str], damaged: set[int]) -> None:
        self.names, self.damaged = names, damaged

    def __call__(self, name: str) -> bool:
        if name in self.names:
            return True
        return _number_of(name) in self.damaged


def _number_of(name: str) -> int | None:
    """Give the number of the task that wrote a file of a shard.

    >>> _number_of("shard-00007-001.ends.npy")
    7
    """
    match = SHARD.fullmatch(name)
    return int(match[1]) if match else None


def commit(
    folder: Path, plan: Mapping[str, Any], tasks: list[dict[str, Any]]
) -> dict[str, Any]:
    """Write the manifest of a dataset whose tasks are all done, and give it."""
    manifest = {"plan": dict(plan), "totals": _totals(tasks), "tasks": tasks}
    work = WorkFolder(folder)
    _write_json(folder / MANIFEST, manifest, work)
    work.remove()
    return manifest


def _totals(tasks: list[dict[str, Any]]) -> dict[str, Any]:
    shards = list(_shards_of(tasks))
    return {
        **{name: sum(task["tally"][name] for task in tasks) for name in TALLY},
        "with_special_text": sum(task["with_special_text"] for task in tasks),
        "with_added_text": sum(task.get("with_added_text", 0) for task in tasks),
        "written_documents": sum(shard["documents"] for shard in shards),
        "tokens": sum(shard["tokens"] for shard in shards),
        "shards": len(shards),
    }


def read_manifest(folder: files.StrPath) -> dict[str, Any]:
    """Read the manifest of a finished dataset.

    Raises
    ------
    FileError
        There is none, for instance since tokenizing was not finished.
    FormatError
        It is not what was written.
    """
    path = Path(folder) / MANIFEST
    if not path.exists():
        state = "not finished" if WorkFolder(Path(folder)).is_ours else "no dataset"
        message = f"{os.fspath(folder)}: {state}, there is no {MANIFEST}"
        raise FileError(message)
    found = parse(files.read(path), str(path))
    plan = _current(found["plan"].object())
    if plan.get("version") != VERSION:
        message = f"{path}: version {plan.get('version')!r:.80} is not known"
        raise FormatError(message)
    totals = {"with_added_text": 0, **found["totals"].object()}  # not said earlier
    manifest = {**found.object(), "plan": plan, "totals": totals}
    _check(Place(manifest, str(path)))
    return manifest


def _check(manifest: Place) -> None:
    """Refuse a manifest that is not such as is written here, or contradicts itself."""
    _check_plan(manifest["plan"])
    sources = manifest["plan"]["sources"].items_or_none()
    paths = {source["path"].text() for source in sources}
    for task in manifest["tasks"].items():
        _check_task(task)
        for part in task["parts"].items():
            if part["path"].value not in paths:
                part["path"].refuse(f"{part['path'].value!r:.80} is not a source")
        for shard in task["shards"].items():
            _check_files(shard, manifest["plan"]["format"].text())
    expected = _totals(manifest["tasks"].value)
    totals = manifest["totals"].only(*expected)
    for name, total in expected.items():
        if totals[name].number() != total:
            totals[name].refuse(f"{totals[name].value:,}, but the tasks have {total:,}")
    names = [shard["name"] for shard in _shards_of(manifest["tasks"].value)]
    if len(set(names)) < len(names):
        manifest["tasks"].refuse("two shards have the same name")


def _check_plan(plan: Place) -> None:
    plan["tokenizer"].text()
    _check_known(plan["format"], shard_formats())
    if plan["width"].number() not in (2, 4):
        plan["width"].refuse("an id has 2 or 4 bytes")
    _check_known(plan["added_tokens"], ("find", "text"))
    for name in ("begin_of_document", "end_of_document"):
        plan[name].text_or_none()
    for source in plan["sources"].items_or_none():
        _check_source(source)
    if "reading" in plan:
        _check_reading(plan["reading"])


def _check_source(source: Place) -> None:
    source.only("path", "size", "format", "compression")
    source["path"].text()
    source["size"].number()
    _check_known(source["format"], get_args(CorpusFormat))
    _check_known(source["compression"], (None, *get_args(Compression)))


def _check_files(shard: Place, format_name: str) -> None:
    name, files = shard["name"].text(), shard["files"]
    names = [name + ending for ending in endings_of(format_name)]
    files.only(*names)
    for file_name in names:
        files[file_name].object()


def _check_known(place: Place, known: Collection[str | None]) -> None:
    if place.text_or_none() not in known:
        place.refuse(f"{place.value!r:.80} is not known")


def _check_reading(reading: Place) -> None:
    reading.only("field", "lines", "separator")
    reading["field"].text()
    separator = reading["separator"].text_or_none()
    if separator == "" or (reading["lines"].flag() and separator is not None):
        reading["separator"].refuse(f"{separator!r:.80} cannot separate documents here")


def _check_task(task: Place) -> None:
    for part in task["parts"].items():
        part["path"].text()
        part["start"].number()
        part["stop"].number_or_none()
    for name in TALLY:
        task["tally"][name].number()
    task["with_special_text"].number()
    if "with_added_text" in task:
        task["with_added_text"].number()
    for shard in task["shards"].items():
        _check_shard(shard)


def _check_shard(shard: Place) -> None:
    name = shard["name"].text()
    if name != Path(name).name or "\0" in name:
        shard["name"].refuse(f"{name!r:.80} is not the name of a file")
    shard["tokens"].number(shard["documents"].number(1))
    shard["largest_id"].number()
    for file_name, file in shard["files"].values():
        if not file_name.startswith(f"{name}."):
            file.refuse(f"{file_name!r:.80} is not a file of {name}")
        file["sha256"].sha256()
        file["bytes"].number()


def _current(plan: dict[str, Any]) -> dict[str, Any]:
    """Give a plan as this version writes it."""
    plan = {**plan, "added_tokens": plan.get("added_tokens", "find")}
    if plan.get("version") != VERSION_OF_ONE_MARK:
        return plan
    current: dict[str, Any] = {}
    for name, value in plan.items():
        if name == "end_of_document":
            is_before = plan.get("mark_at") == "begin"
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
    if name != "sources" or not (isinstance(there, list) and there and now):
        return f"{argument(name)}: {there!r:.80} then, {now!r:.80} now"
    pairs = zip(there, now, strict=False)
    place = next((n for n, (one, other) in enumerate(pairs) if one != other), None)
    if place is None:
        return f"sources: {len(there):,} then, {len(now):,} now"
    return f"sources: {now[place]['path']} has changed, or was another file then"


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


def _sum_of(content: object) -> str:
    """Sum a document up, whatever the order of its keys."""
    text = json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _write_json(path: Path, content: Mapping[str, Any], work: WorkFolder) -> None:
    """Write a document, through the work folder where there is one."""
    data = written(content, indent=1) + b"\n"
    if not work.is_ours:
        files.write(path, data)
        return
    temporary = work.temporary(path.name)
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        message = f"{path}: {error.strerror or error}"
        raise FileError(message) from error
