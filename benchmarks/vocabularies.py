"""The vocabularies that engines encode with: published ones, or one learned here.

Each is loaded or trained by this project and written in the formats that the peers
read, so that all work with the same tokens; that their ids are equal is checked later.
"""

import sys
from pathlib import Path
from typing import Any

from . import texts


def prepare(vocabulary: dict[str, Any], files: list[str], scratch: Path) -> Path | None:
    """Write ``vocabulary.json`` and ``vocabulary.tiktoken`` into a new folder.

    Gives ``None``, with a word on standard error, where a file is missing.
    """
    import bytepair

    source = _source(vocabulary, files)
    if not source.is_file():
        print(
            f"skipped vocabulary {vocabulary['name']!r}: no {source}", file=sys.stderr
        )
        return None
    if "file" in vocabulary:
        dialect = vocabulary.get("dialect")
        tokenizer = bytepair.Tokenizer.from_file(source, dialect=dialect)
    else:
        options = {name: vocabulary[name] for name in ("dialect", "merges")}
        tokenizer = bytepair.train(source, **options)
    folder = scratch / vocabulary["name"]
    ranks = folder / "ranks"
    ranks.mkdir(parents=True)
    tokenizer.save(folder / "vocabulary.json")
    tokenizer.save(ranks / "vocabulary.tiktoken")
    (ranks / "vocabulary.tiktoken").rename(folder / "vocabulary.tiktoken")
    return folder


def _source(vocabulary: dict[str, Any], files: list[str]) -> Path:
    if "file" in vocabulary:
        return texts.SHARED / "vocabularies" / str(vocabulary["file"])
    return Path(files[0]) if files else texts.corpus(str(vocabulary["train_on"]))
