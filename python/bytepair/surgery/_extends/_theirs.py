"""Comparing how Hugging Face's library reads a ``tokenizer.json`` with what is expected.

That library gives an added token that is missing from the vocabulary of the model the next free id, so
tokens appended to the model would move it. Therefore bytepair writes every added token into that
vocabulary at its own id; this module checks it.
"""

from __future__ import annotations

import importlib.util
import os
from typing import TYPE_CHECKING, Any

from bytepair.errors import TokenizerError

from ._faults import Fault, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bytepair._io.files import StrPath
    from bytepair._tokenizer import Tokenizer

__all__ = ["faults_of_theirs", "is_installed"]

STRETCH = 100_000
"""Long texts are passed to the library in stretches of this many characters, since it needs much memory."""


def is_installed() -> bool:
    """Tell whether the library is installed."""
    return importlib.util.find_spec("tokenizers") is not None


def faults_of_theirs(
    tokenizer: Tokenizer, path: StrPath, texts: Iterable[str]
) -> Iterator[Fault]:
    """Compare what the library reads with a tokenizer: all ids, and the ids of texts."""
    try:
        theirs = _read(path)
    except Exception as error:
        message = f"Hugging Face's library does not read it: {error}"
        yield Fault("tokenizers", message)
        return
    ids = theirs.get_vocab(with_added_tokens=True)
    wrong = [
        (token, id_, ids.get(token))
        for token, id_ in tokenizer.get_vocab().items()
        if ids.get(token) != id_
    ]
    if wrong:
        shown = [
            f"the id {id_:,} of {token!r} is {'none' if now is None else f'{now:,}'}"
            for token, id_, now in wrong
        ]
        yield Fault(
            "tokenizers",
            f"in Hugging Face's library, {listed(shown)}",
            tuple({"token": t, "id": i, "their_id": now} for t, i, now in wrong),
        )
        return
    different = [
        text for text in _stretches(texts) if _differs(tokenizer, theirs, text)
    ]
    if different:
        shown = [repr(text[:80]) for text in different]
        message = f"texts have different ids in Hugging Face's library: {listed(shown)}"
        yield Fault("tokenizers", message, tuple({"text": t} for t in different))


def _read(path: StrPath) -> Any:  # noqa: ANN401 -- the library may be absent
    import tokenizers

    theirs = tokenizers.Tokenizer.from_file(os.fspath(path))
    theirs.no_truncation()
    theirs.no_padding()
    if getattr(theirs.model, "dropout", None):
        theirs.model.dropout = None
    return theirs


def _stretches(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        for start in range(0, len(text), STRETCH):
            yield text[start : start + STRETCH]


def _differs(tokenizer: Tokenizer, theirs: Any, text: str) -> bool:  # noqa: ANN401
    try:
        ids = tokenizer.encode(text, allowed_special="all")
    except TokenizerError:
        return False
    try:
        found: list[int] = theirs.encode(text, add_special_tokens=False).ids
    except Exception:  # what it raises has no class of its own
        return True
    return found != ids
