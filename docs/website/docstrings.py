"""Docstrings as Markdown, an extension for griffe: examples become blocks, and roles become code."""

import re
from typing import Any

try:
    from griffe import Extension
except ImportError:  # the function is tested without it
    Extension = object

__all__ = ["Docstrings", "as_markdown"]

EXAMPLE = re.compile(
    r"^( *)>>> .*(?:\n(?! *$).*)*(?:\n\n\1>>> .*(?:\n(?! *$).*)*)*", re.MULTILINE
)
SECTION = re.compile(r"^[A-Z][A-Za-z ]+\n-{3,}$", re.MULTILINE)
LONGEST_VALUE = 300
"""The characters of an attribute's value that is shown; a longer one says less than its docstring."""


def as_markdown(docstring: str) -> str:
    r"""Fence examples, and turn roles and pages of the documentation into code and links.

    Examples after the first section, which would belong to it, become a section of their own.

    >>> as_markdown("See :func:`train`.\n\n>>> 1 + 1\n2\n\n>>> 2\n2\n\nMore.").split(
    ...     "\n\n"
    ... )
    ['See `train`.', '```pycon\n>>> 1 + 1\n2', '>>> 2\n2\n```', 'More.']
    >>> as_markdown("One.\n\nRaises\n------\nError\n    When.\n\n>>> 1\n1").split(
    ...     "\n\n"
    ... )
    ['One.', 'Raises\n------\nError\n    When.', 'Examples\n--------\n>>> 1\n1']
    >>> as_markdown("See ``docs/explanation/limits.md``.")
    'See [limits](../../explanation/limits.md).'
    """
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", docstring)
    text = re.sub(
        r"`{1,2}docs/([\w/-]+/([\w-]+))\.md`{1,2}", r"[\2](../../\1.md)", text
    )
    text = re.sub(r"(\S)::(\n\n(?:    .*\n?|\n)+)", r"\1:\2", text)
    begin = found.start() if (found := SECTION.search(text)) else len(text)
    head, sections = text[:begin], text[begin:]
    head = EXAMPLE.sub(r"\1```pycon\n\g<0>\n\1```", head)
    if sections and not re.search("^Examples\n---", sections, re.MULTILINE):
        examples = [match[0] for match in EXAMPLE.finditer(sections)]
        sections = re.sub(r"\n{3,}", "\n\n", EXAMPLE.sub("", sections)).rstrip()
        if examples:
            sections += "\n\nExamples\n--------\n" + "\n\n".join(examples)
    return head + sections


class Docstrings(Extension):
    """Rewrites each docstring once, before it is parsed."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Rewrite the docstring of an object, and leave out values that say less than it does."""
        if obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)
        obj.labels -= {"method descriptor", "builtin"}  # how it is compiled
        is_own = "instance-attribute" in obj.labels  # its value is code of the class
        if obj.is_attribute and (is_own or len(str(obj.value or "")) > LONGEST_VALUE):
            obj.value = None
