"""BP401 and BP402: ids without a token, and ids that differ from those in the file."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ._finding import Finding, FoundToken
from ._subject import HOLE, Subject

__all__ = ["document_of", "find"]


def find(subject: Subject, document: dict[str, Any] | None) -> Iterator[Finding]:
    """Look for ids without a token, and for added tokens whose file lists another id."""
    holes = [id_ for id_, (kind, _) in enumerate(subject.tokens) if kind == HOLE]
    if holes:
        message = f"these ids below {len(subject.tokens):,} have no token"
        tokens = tuple(FoundToken(id_, "") for id_ in holes)
        yield Finding("BP401", message, tokens)
    if document is not None:
        yield from _moved(subject, document)


def _moved(subject: Subject, document: dict[str, Any]) -> Iterator[Finding]:
    listed = document.get("added_tokens")
    ids = {token.content: id_ for id_, token in subject.added.items()}
    found = []
    tokens = listed if isinstance(listed, list) else []
    for token in (token for token in tokens if isinstance(token, dict)):
        says, content = token.get("id"), str(token.get("content"))
        id_ = ids.get(content)
        if id_ is not None and says != id_:
            found.append(FoundToken(id_, content, f"the file lists {says}"))
    if found:
        message = (
            "Hugging Face's library gives these added tokens other ids than the file lists, "
            "since they are not in model.vocab"
        )
        yield Finding("BP402", message, tuple(found))


def document_of(file: Path | None) -> dict[str, Any] | None:
    """Read a ``tokenizer.json``; ``None`` for files of other formats."""
    if file is None or file.suffix != ".json":
        return None
    try:
        document = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    is_ours = isinstance(document, dict) and isinstance(document.get("model"), dict)
    return document if is_ours else None
