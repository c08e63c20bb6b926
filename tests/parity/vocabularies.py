"""Find vocabulary files, and say which library published each.

A folder stands for all vocabularies in it. A name that is no path is looked for in the
shared folder of published vocabularies: ``gpt2`` is all of ``gpt2/``, ``clip/tokenizer``
one file.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from .building import fields
from .ranks import is_ranks

__all__ = ["Vocabulary", "find"]

UNIGRAM, BPE = 1, 2
"""Types of a SentencePiece model."""


class Vocabulary(NamedTuple):
    """A file, its name in the table, and who reads it."""

    name: str
    path: Path
    kind: str
    is_bpe: bool = True


def find(names: Sequence[str], shared: Path) -> list[Vocabulary]:
    """List the vocabularies that names, files and folders stand for."""
    found: list[Vocabulary] = []
    for name in names or ["."]:
        here = Path(name)
        if name != "." and here.exists():
            found += _below(here)
        else:
            matches = [
                v for v in _below(shared) if name == "." or v.name.startswith(name)
            ]
            if not matches:
                message = (
                    f"{name}: no such file, and no vocabulary in {shared} begins so"
                )
                raise SystemExit(message)
            found += matches
    return found


def _below(root: Path) -> list[Vocabulary]:
    paths = (
        [root] if root.is_file() else sorted(p for p in root.rglob("*") if p.is_file())
    )
    base = root.parent if root.is_file() else root
    found = [(path, kind_of(path)) for path in paths]
    return [
        Vocabulary(str(path.relative_to(base)), path, kind, is_bpe(path, kind))
        for path, kind in found
        if kind
    ]


def kind_of(path: Path) -> str | None:
    """Say which library reads a file, or ``None`` if none does."""
    if path.suffix == ".tiktoken" or (path.suffix == ".model" and is_ranks(path)):
        return "tiktoken"
    if path.suffix == ".model" or ".model.v" in path.name:
        return "sentencepiece"
    if path.suffix == ".json":
        return _kind_of_json(path)
    if path.name == "merges.txt" and (path.parent / "vocab.json").exists():
        return "gpt2"
    if path.name == "vocab_40000.bpe":
        return "gpt1"
    with path.open("rb") as file:
        line = file.readline(100)
    is_codes = line.startswith(b"#version") and path.suffix != ".ref"
    return "subword-nmt" if is_codes or path.name.startswith("testcode") else None


def _kind_of_json(path: Path) -> str | None:
    with path.open("rb") as file:
        start = file.read(2000)
    if b'"default_vocab_size"' in start or b'"token_bytes"' in start:
        return "tekken"
    try:
        content = json.loads(path.read_bytes())
    except ValueError:
        return None
    is_tokenizer = isinstance(content, dict) and isinstance(content.get("model"), dict)
    return "huggingface" if is_tokenizer else None


def is_bpe(path: Path, kind: str) -> bool:
    """Tell whether a file is of BPE, so that it must not be refused."""
    if kind == "huggingface":
        model = json.loads(path.read_bytes())["model"]
        return bool(model.get("type", "BPE" if "merges" in model else "") == "BPE")
    if kind == "sentencepiece":
        trainer = dict(fields(dict(fields(path.read_bytes())).get(2, b"")))
        return trainer.get(3, UNIGRAM) == BPE
    return True
