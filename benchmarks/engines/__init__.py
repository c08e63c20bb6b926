"""The libraries, each behind the same doors, in the module of its name.

A trainer has ``trainer(case, path, n_threads)``, which gives a function that learns,
beginning with the file on disk, and ``learned(result)``, which lists the merges, each as
its two sides in bytes, or as the token that they make where the library tells no more.

An encoder has ``load(folder, case)``, which gives a tokenizer or raises;
``batch(tokenizer, output, n_threads)``, a function from texts to the ids of each; and
``one(tokenizer, output, n_threads)``, a function from one text to its ids. ``output`` is
``list`` or ``numpy``. Each is the library's fastest call for that; ids of special tokens
are not added. ``file(tokenizer, path, target, n_threads)`` writes the ids of a file to
another and says how many they are. ``corpus(tokenizer, path, folder, n_processes)`` gives a
function that writes the ids of a file of JSON lines into a folder, and ``ids_of(result)`` the
ids of what that gives. ``in_shape(path, case)`` gives a tokenizer that is called as those of
transformers are. ``flat(result)`` is there where results of ``batch`` are neither arrays or
lists of ids nor one array of ids with offsets.

``extender(case, target)`` gives a function that adds ``case["add"]`` tokens to the tokenizer of
``case["base_file"]`` by what ``case["file"]`` holds, and writes a ``tokenizer.json``; ``pruner`` one that
leaves ``case["to"]`` tokens. ``prover(result, target)`` writes what such a function gave with its proof.

``serve(name, options, texts)`` gives the :class:`Work` of a call that is named, with the tokenizer that ``options`` load.

``add(tokenizer, contents)`` gives a tokenizer with more special tokens, and
``with_added(tokenizer, text)`` the ids of a text in which all of them count, as an array.

An engine is named after its library; ``bytepair numpy`` is one with its output. Libraries
are imported by the job that uses them, so none weighs on another.
"""

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

Case = dict[str, Any]


class Work(NamedTuple):
    """A function whose calls are timed, and what it is called with."""

    call: Callable[[Any], Any]
    inputs: list[Any]
    ids: Callable[[], Iterable[Any]] | None = None
    """Gives the ids to compare, after the calls; without it, they are what the calls give."""
    size: int = 0
    """What the function counted, or the bytes of what it made."""


class Elsewhere(NamedTuple):
    """A library in an environment of its own, since another version has its name."""

    folder: str
    library: str


ELSEWHERE = {"tokenizers-next": Elsewhere("peers-next", "tokenizers")}


def engine(label: str) -> tuple[Any, str]:
    """Give the module of an engine such as ``bytepair numpy``, and its output."""
    name, _, output = label.partition(" ")
    return importlib.import_module(f"{__name__}.{name.replace('-', '_')}"), output


def is_installed(label: str) -> bool:
    """Say whether the library of an engine can be imported."""
    name = label.partition(" ")[0]
    if name in ELSEWHERE:
        library = ELSEWHERE[name].library
        return any((folder / library).is_dir() for folder in packages(name))
    return importlib.util.find_spec(name.replace("-", "_")) is not None


def packages(name: str) -> list[Path]:
    """List the folders of packages of an engine that lies elsewhere."""
    return list(_environment(name).glob("lib/*/site-packages"))


def interpreter(label: str) -> str:
    """Give the Python that runs an engine."""
    name = label.partition(" ")[0]
    if name not in ELSEWHERE:
        return sys.executable
    return str(_environment(name) / "bin" / "python")


def _environment(name: str) -> Path:
    return Path(sys.prefix).with_name(ELSEWHERE[name].folder)
