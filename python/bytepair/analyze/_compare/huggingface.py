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

from .faults import Case, Fault, fault_of
from .pairing import token_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bytepair._io.files import StrPath
    from bytepair._tokenizer import Tokenizer

__all__ = ["faults_of_huggingface", "is_installed"]

MAX_SHOWN = 80
"""This many characters of a text are shown."""


def is_installed() -> bool:
    """Whether the library is installed."""
    return importlib.util.find_spec("tokenizers") is not None


def faults_of_huggingface(
    tokenizer: Tokenizer, path: StrPath, texts: Iterable[str]
) -> Iterator[Fault]:
    """Compare what the library reads with a tokenizer: all ids, and the ids of texts."""
    try:
        theirs = _read(path)
    except Exception as error:
        message = f"Hugging Face's library does not read it: {error}"
        yield Fault("tokenizers", message)
        return
    ids, vocabulary = theirs.get_vocab(with_added_tokens=True), tokenizer.vocabulary
    wrong = [
        Case(token_name(vocabulary[id_] or token), id_, ids.get(token, "none"))
        for token, id_ in tokenizer.get_vocab().items()
        if ids.get(token) != id_
    ]
    where = "in Hugging Face's library"
    yield from fault_of("tokenizers", f"other ids {where}", wrong)
    if wrong:
        return
    different = (
        Case(repr(text[:MAX_SHOWN]), None, None)
        for text in texts
        if _differs(tokenizer, theirs, text)
    )
    yield from fault_of("tokenizers", f"texts with other ids {where}", different)


def _read(path: StrPath) -> Any:  # noqa: ANN401 -- the library may be absent
    import tokenizers

    theirs = tokenizers.Tokenizer.from_file(os.fspath(path))
    theirs.no_truncation()
    theirs.no_padding()
    if getattr(theirs.model, "dropout", None):
        theirs.model.dropout = None
    return theirs


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
