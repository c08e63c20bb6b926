"""Split patterns that are plain texts, though they look like regular expressions."""

import re

from bytepair import Tokenizer

from ._behaviour import behaviour_text

__all__ = ["dead_literals"]

LITERAL = re.compile(r"(?:\\x\{[0-9A-F]+\})+")
"""A plain text as a pattern of its own: each character by its number."""
LIKE_A_PATTERN = re.compile(r"\\[A-Za-z]|\(\?|\[\^|[\])][+*?{]|\w-\w\]")
"""What regular expressions have and texts seldom do: a class, a group or a repetition."""


def dead_literals(tokenizer: Tokenizer) -> list[str]:
    """List the texts at which a tokenizer splits that look like patterns and occur in no probe."""
    inside = tokenizer.inspect()
    literals = [
        "".join(chr(int(number, 16)) for number in re.findall(r"\{(\w+)", escaped))
        for escaped in LITERAL.findall(inside.description["split"])
    ]
    literals = [text for text in literals if LIKE_A_PATTERN.search(text)]
    if not literals:
        return []
    probe = inside.normalized(behaviour_text().encode())
    return [text for text in literals if text not in probe]
