"""Lists and blocks of code as Git hosts read them, for Python-Markdown.

There a block may have several words after its language, which are for programs. A list may follow a paragraph at once, and what belongs to an item is as far to the right as the
item's text. Python-Markdown wants an empty line before a list, and four spaces for each level.
"""

import re

__all__ = ["named_blocks", "spaced_lists"]

ITEM = re.compile(r"(?P<indent> *)(?P<mark>[-*+]|\d{1,3}[.)]) +(?=\S)")
FENCE = re.compile(r" *(`{3,}|~{3,})")


def named_blocks(markdown: str) -> str:
    r"""Leave of the words after a block's fence only the language; a title stays.

    >>> named_blocks("```python torch untied\nx\n```")
    '```python\nx\n```'
    >>> named_blocks('```text title="A b"\n```')
    '```text title="A b"\n```'
    """
    return re.sub(
        r"^( *`{3,}\w+) +(?!title=)\S.*$", r"\1", markdown, flags=re.MULTILINE
    )


def spaced_lists(markdown: str) -> str:
    r"""Indent the items of lists by four spaces, and put an empty line before a list.

    >>> print(spaced_lists("Some:\n- a\n  - b\n    c\n- d\nend"))
    Some:
    <BLANKLINE>
    - a
        - b
            c
    - d
      end
    >>> spaced_lists("1. a\n   - b") == "1. a\n    - b"
    True
    """
    lines: list[str] = []
    items: list[
        tuple[int, int]
    ] = []  # where the mark and the text of each open item begin
    fence = ""
    for line in markdown.split("\n"):
        indent = len(line) - len(line.lstrip(" "))
        item = None if fence else ITEM.match(line)
        before = lines[-1].strip() if lines else ""
        if not line.strip():
            lines.append(line)
            continue
        if not fence and (item or not before):  # else a paragraph that goes on
            while items and indent < items[-1][1]:
                items.pop()
        if item and not items and before and not ITEM.match(lines[-1]):
            lines += [""] if not _continues_list(lines) else []
        shift = 4 * len(items) - (items[-1][1] if items else 0)
        if item:
            items.append((indent, item.end()))
        lines.append(" " * max(indent + shift, 0) + line.lstrip(" "))
        if mark := FENCE.match(line):
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
    return "\n".join(lines)


def _continues_list(lines: list[str]) -> bool:
    """Tell whether the paragraph at the end belongs to an item of a list."""
    for line in reversed(lines):
        if not line.strip():
            return False
        if ITEM.match(line):
            return True
    return False
