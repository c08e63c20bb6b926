"""Names and messages as a reader sees them: nothing in them acts on a terminal or in a figure."""

import unicodedata

__all__ = ["harmless", "label_of"]

JOINERS = "\u200c\u200d"
"""Characters without a shape that words of many scripts need."""


def harmless(text: str, *, kept: str = "") -> str:
    r"""Write control characters, and those that turn the direction of a text, as escapes.

    >>> harmless("a\x1b[31m\u202e\u200c\n"), harmless("a\nb", kept="\n")
    ('a\\x1b[31m\\u202e\u200c\\n', 'a\nb')
    """
    if text.isprintable():
        return text
    return "".join(c if c in kept or _is_seen(c) else repr(c)[1:-1] for c in text)


def _is_seen(character: str) -> bool:
    kind = unicodedata.category(character)
    return character in JOINERS or kind not in ("Cc", "Cf", "Cs", "Zl", "Zp")


def label_of(name: str) -> str:
    r"""Write a name so that matplotlib shows it as it is.

    >>> label_of("_a$b")
    'a\\$b'
    """
    return harmless(name).replace("$", r"\$").lstrip("_")
