"""BP401, BP402 and BP407: ids without a token, and ids that other libraries do not keep.

Hugging Face's libraries read no id of an added token that the model's vocabulary does not have:
they number such tokens on, in order. What they do is told from the files alone; nothing is
loaded with them.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bytepair import Tokenizer
from bytepair._io.beside import ADDED_TO, added_beside
from bytepair._io.recognising import MERGES_OF, file_in
from bytepair.errors import TokenizerError

from ._finding import Finding, FoundToken
from ._subject import BYTE, HOLE, Subject, plain

__all__ = ["document_of", "file_of", "find"]

ADDED_TOKENS = "added_tokens.json"


def find(
    subject: Subject, file: Path | None, document: dict[str, Any] | None
) -> Iterator[Finding]:
    """Look for ids without a token, and for those of added tokens that are not kept."""
    holes = [id_ for id_, (kind, _) in enumerate(subject.tokens) if kind == HOLE]
    if holes:
        message = f"these ids below {len(subject.tokens):,} have no token"
        tokens = tuple(FoundToken(id_, "") for id_ in holes)
        yield Finding("BP401", message, tokens)
    if document is not None:
        listed = document.get("added_tokens")
        entries = [token for token in _as_list(listed) if isinstance(token, dict)]
        ids = {str(token.get("content")): token.get("id") for token in entries}
        yield from _listed(subject, ids, "the file")
    if file is None:
        return
    if file.name in MERGES_OF:
        yield from _listed(subject, _object(file.parent / ADDED_TOKENS), ADDED_TOKENS)
    if file.name in ADDED_TO:
        yield from _beside(subject, file, document)
    if file.suffix == ".tiktoken" or file.name == "tiktoken.model":
        yield from _after_ranks(subject)


def _listed(
    subject: Subject, listed: Mapping[str, Any], name: str
) -> Iterator[Finding]:
    """Compare the ids that a file lists with those that reading it gives, here and there."""
    ids = {token.content: id_ for id_, token in subject.added.items()}
    found = tuple(
        FoundToken(ids[content], content, f"{name} lists {says}")
        for content, says in listed.items()
        if content in ids and says != ids[content]
    )
    if found:
        message = (
            f"Hugging Face's library gives these added tokens different ids than {name} does, "
            "since they are not in the model's vocabulary"
        )
        yield Finding("BP402", message, found)


def _beside(
    subject: Subject, file: Path, document: dict[str, Any] | None
) -> Iterator[Finding]:
    """Compare ids that only settings beside a file list with those that transformers gives."""
    names, last, n_model = _alone(file, document)
    if all(token.content in names for token in subject.added.values()):
        return
    found = []
    next_id = n_model if last < n_model else last + 1
    for token in added_beside(file.parent):
        says, content = token.id, token.content
        if content in names:
            continue
        own = subject.added.get(says)
        if own is not None and own.content == content and says != next_id:
            found.append(FoundToken(says, content, f"{next_id} in transformers"))
        next_id += 1
    if found:
        message = (
            "these tokens are listed only in settings beside the file; transformers gives them the "
            "next ids after the file's tokens instead of the listed ids"
        )
        yield Finding("BP402", message, tuple(found))


def _alone(file: Path, document: dict[str, Any] | None) -> tuple[set[str], int, int]:
    """Give the tokens of a file read alone, its last added id, and the size of its model."""
    alone = Tokenizer.from_file(file)
    added = alone.added_tokens
    names = {token.content for token in added.values()}
    if document is None:
        return names.union(map(plain, alone.vocabulary)), -1, alone.n_vocab
    vocab = document["model"].get("vocab")
    n_model = len(vocab) if isinstance(vocab, dict) else alone.n_vocab
    names |= vocab.keys() if isinstance(vocab, dict) else set()
    return names, max(added, default=-1), n_model


def _after_ranks(subject: Subject) -> Iterator[Finding]:
    """Compare the ids of special tokens with those after the ranks, which converters give."""
    ranks = {id_ for id_, (kind, _) in enumerate(subject.tokens) if kind < BYTE}
    special = sorted(subject.added.keys() - ranks)
    moved = {
        id_: len(ranks) + place
        for place, id_ in enumerate(special)
        if id_ != len(ranks) + place
    }
    taken = {id_: new for id_, new in moved.items() if new in ranks}
    if taken:
        message = (
            "ranks are missing: when transformers converts this file, it numbers special tokens "
            "from the number of ranks on, so they get the ids of other tokens"
        )
        tokens = tuple(
            subject.found(id_, f"{new}, which {plain(subject.written[new])!r} has")
            for id_, new in taken.items()
        )
        yield Finding("BP402", message, tokens)
    others = moved.keys() - taken.keys()
    if others:
        message = (
            "these special tokens get different ids when transformers converts this file, since it "
            "numbers them from the number of ranks on"
        )
        tokens = tuple(
            subject.found(id_, f"{moved[id_]} in transformers")
            for id_ in sorted(others)
        )
        yield Finding("BP407", message, tokens)


def file_of(path: Path | None) -> Path | None:
    """Give the file that a path stands for; ``None`` for a folder of which none can be told."""
    if path is None or not path.is_dir():
        return path
    try:
        return file_in(path)
    except TokenizerError:
        return None


def document_of(file: Path | None) -> dict[str, Any] | None:
    """Read a ``tokenizer.json``; ``None`` for files of other formats."""
    if file is None or file.suffix != ".json":
        return None
    document = _object(file)
    return document if isinstance(document.get("model"), dict) else None


def _object(file: Path) -> dict[str, Any]:
    """Read an object; empty if a file has none."""
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
