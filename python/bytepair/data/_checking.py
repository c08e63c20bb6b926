"""Shards against the corpus that they were made of: every document, there and back.

Files are compared with their sums, and each document is read from its source again and decoded
from its ids. Where a tokenizer loses something of a text by its nature, the ids are compared
instead. Costs a pass over the corpus, and a call for each document.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair._expected import loaded
from bytepair.errors import TokenizerError

from ._dataset import TokenDataset, check_file
from ._manifest import shards_of
from ._readers import Part, ReadOptions, read_part
from ._recognise import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bytepair._io.files import StrPath
    from bytepair._tokenizer import Tokenizer

    from ._plan import Task


def check_dataset(folder: StrPath, tokenizer: Tokenizer | StrPath) -> dict[str, int]:
    r"""Compare a finished dataset with its corpus, and say how many documents came back.

    ``exact`` documents were decoded to their bytes; the others were encoded again, to the same
    ids. ``empty`` ones have no ids.

    Raises
    ------
    FileError
        A file of the dataset has changed since it was written, or one cannot be read.
    FormatError
        The dataset is not such as is written here.
    TokenizerError
        It was made with another tokenizer, or a document is another.

    Examples
    --------
    >>> import bytepair, pathlib, tempfile
    >>> from bytepair import scale
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "docs.txt").write_text("low\n\nlower\n")
    >>> tokenizer = bytepair.train_from_iterator(["low low"], vocab_size=258)
    >>> _ = scale.tokenize(
    ...     tokenizer, folder / "docs.txt", folder / "tokens", lines=True
    ... )
    >>> check_dataset(folder / "tokens", tokenizer)
    {'documents': 3, 'exact': 2, 'empty': 1}
    """
    tokenizer = loaded(tokenizer)
    dataset = TokenDataset(folder)
    plan = dataset.manifest["plan"]
    refuse_other(dataset, tokenizer)
    if not plan["sources"] or "reading" not in plan:
        message = f"{folder}: made from rows, not from files that can be read again"
        raise TokenizerError(message)
    for shard in shards_of(dataset.manifest["tasks"]):
        for name, file in shard["files"].items():
            check_file(Path(folder) / name, file, is_read=True)
    kept, marks = marks_of(tokenizer, plan)
    added_tokens = plan["added_tokens"]
    counts = {"documents": 0, "exact": 0, "empty": 0}
    place = 0
    for path, text in _documents(dataset.manifest):
        counts["documents"] += 1
        marked = dataset[place].tolist() if place < len(dataset) else []
        ids = marked[kept]
        is_marked = [marked[: kept.start], marked[len(ids) + kept.start :]] == marks
        if text and is_marked and tokenizer.decode_bytes(ids) == text:
            counts["exact"] += 1
            place += 1
            continue
        expected = tokenizer.encode(text, added_tokens=added_tokens)
        if not expected:
            counts["empty"] += 1
            continue
        if ids != expected or not is_marked:
            message = (
                f"{folder}: document {place:,} differs from document "
                f"{counts['documents'] - 1:,} of the corpus, in {path}"
            )
            raise TokenizerError(message)
        place += 1
    if place != len(dataset):
        message = f"{folder}: {len(dataset):,} documents, but {place:,} in the corpus"
        raise TokenizerError(message)
    return counts


def refuse_other(dataset: TokenDataset, tokenizer: Tokenizer) -> None:
    """Refuse a tokenizer that did not write the shards of a dataset."""
    wrote, given = dataset.manifest["plan"]["tokenizer"], tokenizer.fingerprint
    if wrote != given:
        message = f"{dataset.folder}: made with another tokenizer, {wrote}; this one is {given}"
        raise TokenizerError(message)


def marks_of(
    tokenizer: Tokenizer, plan: dict[str, Any]
) -> tuple[slice, list[list[int]]]:
    """Return which ids of a document are those of its text, and the ids around them."""
    marks = []
    for token in (plan["begin_of_document"], plan["end_of_document"]):
        id_ = tokenizer.special_tokens.get(token, tokenizer.token_to_id(token or ""))
        marks.append([] if token is None else [-1 if id_ is None else id_])
    before, behind = marks
    return slice(len(before), -len(behind) or None), marks


def _documents(manifest: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Read the corpus again, task by task, as it was read."""
    plan = manifest["plan"]
    options = ReadOptions(**plan["reading"], skip_bad=True)
    for part in itertools.chain.from_iterable(tasks_of(manifest)):
        for batch in read_part(part, options):
            for text in batch.column(0):
                yield part.source.path, text.as_py() or b""


def tasks_of(manifest: dict[str, Any]) -> list[Task]:
    """Return the tasks of a dataset, as parts of its corpus."""
    sources = {s["path"]: Source(**s) for s in manifest["plan"]["sources"]}

    def made(part: dict[str, Any]) -> Part:
        start, stop = part["start"], part["stop"]
        return Part(sources[part["path"]], start, stop, stop and stop - start)

    return [tuple(map(made, task["parts"])) for task in manifest["tasks"]]
