"""Code within a sentence as Git hosts show it, an extension for Python-Markdown.

A token such as ` the` keeps its space, and a bar within a cell of a table is written with a backslash that is not shown.
"""

from typing import Any
from xml.etree.ElementTree import Element

from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import BACKTICK_RE, BacktickInlineProcessor
from markdown.util import AtomicString, code_escape

__all__ = ["makeExtension"]

LONGEST_WORD = 24
"""Code without a space stays on one line up to this length."""


class Code(BacktickInlineProcessor):
    """Finds code between backquotes."""

    def handleMatch(self, m: Any, data: str) -> Any:
        """Make the element of a match."""
        found = super().handleMatch(m, data)
        element, begin, end = found
        if isinstance(element, Element):
            code = data[begin:end].strip("`").replace("\\|", "|").replace("\n", " ")
            text = code if data[begin + 1] != "`" else code.strip()
            element.text = AtomicString(code_escape(text))
            if len(text) <= LONGEST_WORD and " " not in text:
                element.set("class", "bp-word")
        return found


class CodeExtension(Extension):
    """Replaces how code is read."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Register it in place of the usual one."""
        md.inlinePatterns.register(Code(BACKTICK_RE), "backtick", 190)


def makeExtension(**_: Any) -> CodeExtension:
    """Give the extension."""
    return CodeExtension()
