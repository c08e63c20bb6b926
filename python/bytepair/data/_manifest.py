"""The manifest of a folder of shards: what it was asked for, and what it holds.

A manifest that is read is compared with what it must hold, and with itself. How one comes to be
written is in `_work`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from bytepair._io import files
from bytepair._io.json import Place, Shapes, parse
from bytepair.errors import FileError, FormatError

from ._recognise import Compression, CorpusFormat
from ._shards import ENDINGS

if TYPE_CHECKING:
    from collections.abc import Iterator


MANIFEST = "manifest.json"
WORK = "_work"
"""The folder beside shards that are not finished."""
VERSION = 2
TALLY = ("documents", "null", "empty", "bad", "bytes")


def totals_of(tasks: list[dict[str, Any]]) -> dict[str, Any]:
    """Add up what tasks wrote."""
    shards = list(shards_of(tasks))
    return {
        **{name: sum(task["tally"][name] for task in tasks) for name in TALLY},
        "with_special_text": sum(task["with_special_text"] for task in tasks),
        "with_added_text": sum(task["with_added_text"] for task in tasks),
        "written_documents": sum(shard["documents"] for shard in shards),
        "tokens": sum(shard["tokens"] for shard in shards),
        "shards": len(shards),
    }


def shards_of(tasks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Return the shards of all tasks, in order."""
    return (shard for task in tasks for shard in task["shards"])


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
        state = "not finished" if (path.parent / WORK).is_dir() else "no dataset"
        message = f"{os.fspath(folder)}: {state}, there is no {MANIFEST}"
        raise FileError(message)
    found = parse(files.read(path), str(path))
    version = found["plan"].object().get("version")
    if version != VERSION:
        message = f"{path}: version {version!r:.80} is not known"
        raise FormatError(message)
    found.check(SHAPE)
    _check_agreement(found)
    return found.object()


def _check_shard(shard: Place) -> None:
    shard.check({"name": Place.text, "documents": Place.positive, "files": {}})
    name = shard["name"].value
    if name != Path(name).name or "\0" in name:
        shard["name"].refuse(f"{name!r:.80} is not the name of a file")
    shard["tokens"].number(shard["documents"].number())
    shard["largest_id"].number()
    for _name, file in shard["files"].values():
        file.check({"sha256": Place.sha256, "bytes": Place.number})


def _check_reading(plan: Place) -> None:
    """Check how documents were read; rows of a data frame were not."""
    if "reading" not in plan:
        return
    reading = plan["reading"].check_only(READING)
    separator = reading["separator"].value
    if separator == "" or (reading["lines"].value and separator is not None):
        reading["separator"].refuse(f"{separator!r:.80} cannot separate documents here")


SOURCE: Shapes = {
    "path": Place.text,
    "size": Place.number,
    "format": Place.one_of(*get_args(CorpusFormat)),
    "compression": Place.one_of(None, *get_args(Compression)),
}
PLAN: Shapes = {
    "tokenizer": Place.text,
    "format": Place.one_of(*ENDINGS),
    "width": Place.one_of(2, 4),
    "added_tokens": Place.one_of("find", "text"),
    "begin_of_document": Place.text_or_none,
    "end_of_document": Place.text_or_none,
    "sources": [Place.exactly(SOURCE)],
}
READING: Shapes = {
    "field": Place.text,
    "lines": Place.flag,
    "separator": Place.text_or_none,
}
PART: Shapes = {"path": Place.text, "start": Place.number, "stop": Place.number_or_none}
TASK: Shapes = {
    "parts": [PART],
    "tally": dict.fromkeys(TALLY, Place.number),
    "with_special_text": Place.number,
    "with_added_text": Place.number,
    "shards": [_check_shard],
}
SHAPE: Shapes = {"plan": PLAN, "tasks": [TASK], "totals": {}}


def _check_agreement(manifest: Place) -> None:
    """Refuse a manifest that contradicts itself."""
    plan, tasks = manifest["plan"], manifest["tasks"].value
    _check_reading(plan)
    paths = {source["path"] for source in plan["sources"].value}
    endings = ENDINGS[plan["format"].value]
    for task in manifest["tasks"].items():
        for part in task["parts"].items():
            if part["path"].value not in paths:
                part["path"].refuse(f"{part['path'].value!r:.80} is not a source")
        for shard in task["shards"].items():
            names = [shard["name"].value + ending for ending in endings]
            shard["files"].check_only(dict.fromkeys(names, Place.object))
    expected = totals_of(tasks)
    totals = manifest["totals"].check_only(dict.fromkeys(expected, Place.number))
    for name, total in expected.items():
        if totals[name].value != total:
            totals[name].refuse(f"{totals[name].value:,}, but the tasks have {total:,}")
    names = [shard["name"] for shard in shards_of(tasks)]
    if len(set(names)) < len(names):
        manifest["tasks"].refuse("two shards have the same name")
