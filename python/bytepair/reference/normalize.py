"""Text -> text: changes to a text before it is split.

A step is a tuple: ``("lowercase",)``, ``("nfc",)``, ``("nfd",)``, ``("nfkc",)``,
``("nfkd",)``, ``("replace", old, new)`` or ``("prepend", start)``. Lower case is
looked up character by character. The four normal forms are those of Python's
``unicodedata``, whose Unicode version is Python's own: they agree with other
versions on every character that was assigned in both.
"""

import unicodedata
from collections.abc import Sequence

from .unicode import lowercase_table

Step = tuple[str, ...]


def normalize(text: str, steps: Sequence[Step], *, is_first: bool = True) -> str:
    """Apply the steps in order.

    ``is_first`` says that the text is at the start of the input, and not after a
    special token; only then ``prepend`` applies.

    >>> normalize("Fünf ﬁsh", [("lowercase",), ("nfkc",), ("replace", " ", "▁")])
    'fünf▁fish'
    >>> normalize("a", [("prepend", "▁")])
    '▁a'
    >>> normalize("a", [("prepend", "▁")], is_first=False)
    'a'
    """
    for name, *values in steps:
        text = _apply(name, values, text, is_first=is_first)
    return text


def _apply(name: str, values: list[str], text: str, *, is_first: bool) -> str:
    """Apply one step."""
    if name == "lowercase":
        return text.translate(lowercase_table())
    if name in ("nfc", "nfd", "nfkc", "nfkd"):
        return unicodedata.normalize(name.upper(), text)  # type: ignore[arg-type]
    if name == "replace":
        old, new = values
        return text.replace(old, new)
    if name == "prepend":
        (start,) = values
        return start + text if text and is_first else text
    message = f"unknown normalization step {name!r}"
    raise ValueError(message)
