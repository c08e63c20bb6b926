"""The vocabularies that engines encode with: published ones, or learned here.

A published ``tokenizer.json`` is used as it is; from other files, and from what is learned,
this project writes one. Where one pattern is all that splits, ranks are written too. So
all work with the same tokens; that their ids are equal is checked later.
"""

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import mixture, texts

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Vocabulary = dict[str, Any]


def at_hand(wanted: list[Vocabulary], files: list[str]) -> Iterator[Vocabulary]:
    """Choose the vocabularies whose files, or corpora to learn from, exist."""
    for vocabulary in wanted:
        missing = [path for path in _sources(vocabulary, files) if not path.is_file()]
        if missing:
            print(f"skipped {vocabulary['name']}: no {missing[0]}", file=sys.stderr)
        else:
            yield vocabulary


def prepare(vocabulary: Vocabulary, files: list[str], scratch: Path) -> Path:
    """Write ``vocabulary.json``, and ``vocabulary.tiktoken``, into a new folder."""
    import bytepair

    sources = _sources(vocabulary, files)
    pattern = pattern_of(vocabulary)
    folder = scratch / str(vocabulary["name"])
    ranks = folder / "ranks"  # its sidecar has the name of the other file
    ranks.mkdir(parents=True)
    if "file" not in vocabulary:
        tokenizer = _learned(vocabulary, sources, folder)
    else:
        dialect = vocabulary.get("dialect")
        tokenizer = bytepair.Tokenizer.from_file(sources[0], dialect=dialect)
    if sources[0].suffix == ".json":
        shutil.copy(sources[0], folder / "vocabulary.json")
    else:
        tokenizer.save(folder / "vocabulary.json")
    if sources[0].suffix == ".tiktoken":
        _spell_pattern(folder / "vocabulary.json", pattern)
    if pattern:
        tokenizer.save(ranks / "vocabulary.tiktoken")
        (ranks / "vocabulary.tiktoken").rename(folder / "vocabulary.tiktoken")
    return folder


def pattern_of(vocabulary: Vocabulary) -> str | None:
    """Give the one pattern that splits: the definition's, or that of published ranks."""
    published = tomllib.loads((Path(__file__).parent / "patterns.toml").read_text())
    return vocabulary.get("pattern") or published.get(vocabulary.get("dialect"))


def _learned(vocabulary: Vocabulary, sources: list[Path], folder: Path) -> Any:  # noqa: ANN401
    """Train with a pattern of our own on a mixture of all corpora."""
    import bytepair

    text = folder / "mixture.txt"
    mixture.write(sources, vocabulary["train_bytes"], text)
    return bytepair.train(
        text, pattern=vocabulary["pattern"], merges=vocabulary["merges"]
    )


def _spell_pattern(path: Path, pattern: str) -> None:
    """Write the pattern as published files do: peers know patterns by their spelling."""
    tokenizer = json.loads(path.read_text())
    split = tokenizer["pre_tokenizer"]["pretokenizers"][0]
    split["pattern"] = {"Regex": pattern}
    path.write_text(json.dumps(tokenizer, ensure_ascii=False))


def _sources(vocabulary: Vocabulary, files: list[str]) -> list[Path]:
    if "file" in vocabulary:
        return [texts.SHARED / "vocabularies" / str(vocabulary["file"])]
    return [texts.corpus(name) for name in files or vocabulary["train_on"]]
