"""The vocabularies that engines encode with: published ones, or one learned here.

Each is loaded or trained by this project and written in the formats that the peers
read, so that all work with the same tokens; that their ids are equal is checked later.
"""

import sys
from pathlib import Path
from typing import Any

from . import texts

Vocabulary = dict[str, Any]


def at_hand(wanted: list[Vocabulary], files: list[str]) -> list[Vocabulary]:
    """Choose the published vocabularies whose files exist; without any, those to learn."""
    found = [
        vocabulary for vocabulary in wanted if _source(vocabulary, files).is_file()
    ]
    published = [vocabulary for vocabulary in found if "file" in vocabulary]
    if not found:
        print("skipped: neither vocabularies nor a corpus", file=sys.stderr)
    return published or found


def prepare(vocabulary: Vocabulary, files: list[str], scratch: Path) -> Path:
    """Write ``vocabulary.json`` and ``vocabulary.tiktoken`` into a new folder."""
    import bytepair

    source = _source(vocabulary, files)
    dialect = vocabulary.get("dialect")
    if "file" in vocabulary:
        tokenizer = bytepair.Tokenizer.from_file(source, dialect=dialect)
    else:
        merges = vocabulary["merges"]
        tokenizer = bytepair.train(source, dialect=dialect, merges=merges)
    folder = scratch / str(vocabulary["name"])
    ranks = folder / "ranks"  # its sidecar has the name of the other file
    ranks.mkdir(parents=True)
    tokenizer.save(folder / "vocabulary.json")
    tokenizer.save(ranks / "vocabulary.tiktoken")
    (ranks / "vocabulary.tiktoken").rename(folder / "vocabulary.tiktoken")
    return folder


def _source(vocabulary: Vocabulary, files: list[str]) -> Path:
    if "file" in vocabulary:
        return texts.SHARED / "vocabularies" / str(vocabulary["file"])
    return Path(files[0]) if files else texts.corpus(str(vocabulary["train_on"]))
