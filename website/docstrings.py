"""Docstrings as Markdown, an extension for griffe: examples become blocks, and roles become code."""

import re
from typing import Any

try:
    from griffe import Extension
except ImportError:  # the function is tested without it
    Extension = object

__all__ = ["Docstrings", "as_markdown"]

HEADING = re.compile(r"([A-Z][A-Za-z ]+)\n-{3,}(?:\n|$)")


def as_markdown(docstring: str) -> str:
    r"""Fence examples and literal blocks, and turn roles into code.

    A paragraph or an example that follows a section such as ``Raises``, and would belong to it, goes before
    the first section. The section ``Examples`` is left as it is.

    >>> as_markdown("See :func:`train`.\n\n>>> 1 + 1\n2\n\n>>> 2\n2\n\nMore.").split(
    ...     "\n\n"
    ... )
    ['See `train`.', '```pycon\n>>> 1 + 1\n2', '>>> 2\n2\n```', 'More.']
    >>> as_markdown("One.\n\nRaises\n------\nError\n    When.\n\n>>> 1\n1").split(
    ...     "\n\n"
    ... )
    ['One.', '```pycon\n>>> 1\n1\n```', 'Raises\n------\nError\n    When.']
    >>> as_markdown("Such::\n\n    a\n    b").split("\n\n")
    ['Such:', '```text\na\nb\n```']
    """
    text: list[str] = []
    sections: list[str] = []
    heading = ""
    is_literal = False
    for paragraph in re.split(r"\n{2,}", docstring):
        found = HEADING.match(paragraph)
        heading = found[1] if found else heading
        if heading == "Examples" or (heading and (found or not _is_text(paragraph))):
            sections.append(_plain(paragraph))
            continue
        _append(text, paragraph, is_literal=is_literal)
        is_literal = paragraph.endswith("::")
    return "\n\n".join([*text, *sections])


def _append(text: list[str], paragraph: str, *, is_literal: bool) -> None:
    """Add a paragraph outside of sections; examples that follow each other are one block."""
    indent = " " * (len(paragraph) - len(paragraph.lstrip(" ")))
    fence = f"{indent}```"
    if paragraph.startswith(f"{indent}>>> "):
        if text and text[-1].startswith(f"{fence}pycon"):
            begin = text.pop().removesuffix(f"\n{fence}")
            text.append(f"{begin}\n\n{paragraph}\n{fence}")
        else:
            text.append(f"{fence}pycon\n{paragraph}\n{fence}")
    elif is_literal and indent:
        lines = "\n".join(line.removeprefix(indent) for line in paragraph.split("\n"))
        text.append(f"```text\n{lines}\n```")
    elif paragraph.endswith("::"):
        begin = _plain(paragraph).removesuffix("::").rstrip()
        text += [f"{begin}:"] if begin else []
    else:
        text.append(_plain(paragraph))


def _is_text(paragraph: str) -> bool:
    """Tell whether a paragraph within a section is an example or a sentence, not an entry of the section."""
    is_flat = not re.search(r"^ ", paragraph, re.MULTILINE)
    return paragraph.startswith(">>> ") or (is_flat and paragraph.endswith("."))


def _plain(paragraph: str) -> str:
    return re.sub(r":\w+:`~?([^`]+)`", r"`\1`", paragraph)


class Docstrings(Extension):
    """Rewrites each docstring once, before it is parsed."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Rewrite the docstring of an object."""
        if obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)
