"""BP405 and BP408: texts to which transformers gives other ids than the tokenizer's file.

The installed transformers loads a copy of the files of a folder, as they are and without
``config.json``, by which it may choose another class. Code in folders is never run.
"""

import json
import shutil
import textwrap
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from bytepair._io.recognising import HUB_FILES
from bytepair._io.temporary import TemporaryFolder
from bytepair.analyze._behaviour import behaviour_of, behaviour_text, digits_of

from ._finding import Finding, FoundToken
from ._subject import Subject, probe_texts

__all__ = ["Loader", "differing"]

PARTS = ("normalizer", "pre_tokenizer", "model", "decoder")
"""The parts of a ``tokenizer.json`` that a class of transformers may replace."""
MODEL_SETTINGS = ("unk_token", "fuse_unk", "byte_fallback", "ignore_merges")
OPTIONS = {"add_special_tokens": False, "split_special_tokens": True, "verbose": False}
"""The options by which transformers reads special tokens in a text as text, and adds none."""
UNCHECKED = "BP405 and BP408 were not checked: they need transformers"
INSTALL = "Install it to see which ids it gives."
MOST_IDS = 8
MOST_SHOWN = 60
MOST_OF_A_PROBLEM = 120

Ids: TypeAlias = dict[str, list[int]]


@dataclass(frozen=True)
class Loader:
    """What one library makes of a folder.

    Attributes
    ----------
    name
        The library, its version, and the file that was left out.
    behaviour
        The hash of the ids of one fixed text (:func:`bytepair.analyze.behaviour`); ``None`` if
        the library refuses the folder or the text.
    made
        The class that the library chose.
    replaced
        The parts of the ``tokenizer.json`` that the class replaces.
    n_texts, n_differing
        The number of texts that were compared with the file, and of those with other ids.
    first
        The shortest of these, with both lists of ids.
    decodes_alike
        Whether it decodes the ids that it gives for the fixed text to the same text as the file.
    problem
        Why the library does not load the folder.
    """

    name: str
    behaviour: str | None = None
    made: str = ""
    replaced: tuple[str, ...] = ()
    n_texts: int = 0
    n_differing: int = 0
    first: FoundToken | None = None
    decodes_alike: bool = True
    problem: str = ""

    def as_object(self) -> dict[str, Any]:
        """Return everything as a JSON object."""
        first = self.first and self.first.as_object()
        return {**asdict(self), "first": first}


def differing(subject: Subject) -> Iterator[Finding]:
    """Look for texts that transformers encodes differently, and list the loaders of a subject."""
    file = subject.file
    if file is None or not _is_for_transformers(subject, file):
        return
    own_name = f"{file.name}, read by bytepair"
    subject.loaders.append(Loader(own_name, behaviour_of(subject.tokenizer)))
    subject.tell("importing transformers")
    try:
        from transformers import __version__ as version
    except Exception as error:  # a damaged library may raise anything
        subject.unchecked.append(f"{UNCHECKED} ({_problem(error)}). {INSTALL}")
        return
    own = {text: subject.ids_of(text.encode()) for text in probe_texts()}
    has_code = "auto_map" in {*subject.config, *subject.model}
    runs = {"BP405": ["the folder's code"] if has_code else []}
    if subject.model:
        runs["BP408"] = [*runs["BP405"], "config.json"]
    wrong: set[str] = set()
    for code, left_out in runs.items():
        missing = f" without {' and '.join(left_out)}" if left_out else ""
        name = f"transformers {version}{missing}"
        subject.tell(f"loading with {name}")
        with TemporaryFolder() as folder:
            _copy(subject, file, Path(folder), has_model=code == "BP405")
            loader, theirs = _loaded(subject, Loader(name), Path(folder), list(own))
        told = _compared(own, theirs, loader.made)
        first = next(iter(told.values()), None)
        subject.loaders.append(replace(loader, n_differing=len(told), first=first))
        yield Finding(code, tuple(told[text] for text in told if text not in wrong))
        wrong.update(told)


def _is_for_transformers(subject: Subject, file: Path) -> bool:
    """Whether the tokenizer is a folder in a format of other libraries, or a file with settings beside it."""
    if ".bytepair" in file.name:
        return False
    return subject.is_folder or bool(subject.config and subject.document)


def _loaded(
    subject: Subject, loader: Loader, folder: Path, texts: list[str]
) -> tuple[Loader, Ids]:
    """Load a copy of the files with transformers, and encode texts; without ids if that fails."""
    try:
        from transformers import AutoTokenizer

        theirs = AutoTokenizer.from_pretrained(
            folder, trust_remote_code=False, local_files_only=True
        )
        *rows, last = theirs([*texts, behaviour_text()], **OPTIONS)["input_ids"]
        is_alike = theirs.decode(last) == subject.tokenizer.decode(last)
        digits, replaced = digits_of(last), _replaced(subject, theirs)
    except Exception as error:  # a class may raise anything
        return replace(loader, problem=_problem(error, str(folder))), {}
    made = type(theirs).__name__
    loader = replace(loader, behaviour=digits, made=made, replaced=replaced)
    loader = replace(loader, n_texts=len(texts), decodes_alike=is_alike)
    return loader, dict(zip(texts, rows, strict=True))


def _problem(error: Exception, folder: str = "") -> str:
    """Return the message of an error, shortened and without the path of a copy."""
    message = str(error).replace(folder or "\0", "the folder")
    return textwrap.shorten(message or type(error).__name__, MOST_OF_A_PROBLEM)


def _copy(subject: Subject, file: Path, folder: Path, *, has_model: bool) -> None:
    """Copy the files that transformers may read, and write the settings that count."""
    patterns = HUB_FILES if subject.is_folder else ()
    shutil.copyfile(file, folder / (file.name if patterns else "tokenizer.json"))
    found = {path for pattern in patterns for path in file.parent.glob(pattern)}
    for path in filter(Path.is_file, found):
        target = folder / path.relative_to(file.parent)
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(path, target)
    settings = {
        "tokenizer_config.json": subject.config,
        "config.json": subject.model if has_model else {},
    }
    for name, content in settings.items():
        (folder / name).unlink(missing_ok=True)
        if content:
            kept = {key: content[key] for key in content if key != "auto_map"}
            (folder / name).write_text(json.dumps(kept), encoding="utf-8")


def _replaced(subject: Subject, theirs: Any) -> tuple[str, ...]:  # noqa: ANN401 -- a class of transformers
    """List the parts of a tokenizer that are not those of the ``tokenizer.json``.

    The file is read without its vocabulary, which would take longest. The hash of the ids shows
    whether that differs.
    """
    backend = getattr(theirs, "backend_tokenizer", None)
    if subject.document is None or backend is None:
        return ()
    from tokenizers import Tokenizer

    left_out = dict.fromkeys(("post_processor", "padding", "truncation"))
    model = {**subject.document["model"], "vocab": {}, "merges": []}
    document = {**subject.document, **left_out, "model": model, "added_tokens": []}
    try:
        file = Tokenizer.from_str(json.dumps(document))
    except Exception:  # an older version, which does not know a part
        return ()
    return tuple(name for name in PARTS if _state(file, name) != _state(backend, name))


def _state(tokenizer: Any, name: str) -> object:  # noqa: ANN401 -- one of tokenizers
    """Return the content of a part, as it is pickled; of the model, its settings."""
    part = getattr(tokenizer, name)
    if name == "model":
        return [getattr(part, setting, None) for setting in MODEL_SETTINGS]
    return part and part.__getstate__()


def _compared(own: Ids, theirs: Ids, made: str) -> dict[str, FoundToken]:
    """Describe the texts that get other ids, the shortest first."""
    other = [text for text, ids in theirs.items() if ids != own[text]]
    other.sort(key=lambda text: len(text.encode()))
    found = {}
    for text in other:
        shown = text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
        detail = f"{_listed(own[text])} here, {_listed(theirs[text])} with {made}"
        found[text] = FoundToken(None, shown, detail)
    return found


def _listed(ids: list[int]) -> str:
    """Write a few ids, or the number of many."""
    return str(list(ids)) if len(ids) <= MOST_IDS else f"{len(ids):,} ids"
