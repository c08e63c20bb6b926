"""Docstrings as Markdown, an extension for griffe: examples become blocks, and roles become code.

Signatures show types that a reader knows: names of types that the package gives itself are replaced by
what they stand for.
"""

import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

try:
    from griffe import Extension
except ImportError:  # the function is tested without it
    Extension = object

__all__ = ["Docstrings", "as_markdown"]

HEADING = re.compile(r"([A-Z][A-Za-z ]+)\n-{3,}(?:\n|$)")
NAMES = re.compile(r"\*{0,2}\w+(?:, \*{0,2}\w+)+")
TERM = re.compile(r"(?P<indent> +)(?P<term>``[^`]+``(?:, ``[^`]+``)*)")
TYPES = ("ExprBinOp", "ExprSubscript")
"""What griffe calls a union, and a type with others in brackets."""
LONGEST_VALUE = 300
"""The characters of an attribute's value that is shown; a longer one says less than its docstring."""


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
    >>> as_markdown("One.\n\nRaises\n------\nA, B\n    Two.").split("\n")[-4:]
    ['A', '    Two.', 'B', '    Two.']
    """
    text: list[str] = []
    sections: list[str] = []
    heading = ""
    is_literal = False
    for paragraph in re.split(r"\n{2,}", docstring):
        found = HEADING.match(paragraph)
        heading = found[1] if found else heading
        if heading == "Examples" or (heading and (found or not _is_text(paragraph))):
            sections.append(_entries(_plain(paragraph)))
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
    """Turn roles into code, and a page of the documentation or a module with its own page into a link to it.

    >>> _plain("See :func:`a`, ``docs/explanation/limits.md``.")
    'See `a`, [limits](../../explanation/limits.html).'
    """
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", paragraph)
    text = re.sub(
        r"`{1,2}docs/([\w/-]+/([\w-]+))\.md`{1,2}", r"[\2](../../\1.html)", text
    )
    return re.sub(r"`{1,2}(bytepair\.compat\.[a-z]+)`{1,2}", r"[`\1`](\1.html)", text)


def _entries(paragraph: str) -> str:
    r"""Give each name of a section its own entry, and make a list of terms within an entry.

    >>> _entries(
    ...     "    ``a``, ``b``\n        One\n        two.\n    ``c``\n        Three."
    ... )
    '    - ``a``, ``b``: One\n      two.\n    - ``c``: Three.'
    >>> _entries("Returns\n-------\na, b\n    One.")
    'Returns\n-------\na\n    One.\nb\n    One.'
    >>> _entries("a, b, c\n    One.")
    'a\n    One.\nb\n    See ``a``.\nc\n    See ``a``.'
    """
    lines = paragraph.split("\n")
    if TERM.fullmatch(lines[0]):
        return "\n".join(_listed(lines))
    entries: list[list[str]] = [[]]
    for line in lines:
        if line and not line.startswith(" "):
            entries.append([])
        entries[-1].append(line)
    return "\n".join(line for entry in entries for line in _parted(entry))


def _parted(entry: list[str]) -> list[str]:
    """Repeat an entry of two names for each of them; of more, let the others name the first."""
    if len(entry) < 2 or not NAMES.fullmatch(entry[0]):
        return entry
    first, *others = entry[0].split(", ")
    text = entry[1:] if len(others) == 1 else [f"    See ``{first}``."]
    return [first, *entry[1:], *(line for name in others for line in (name, *text))]


def _listed(lines: list[str]) -> list[str]:
    """Draw terms, and below each what it means, as a list."""
    found: list[str] = []
    indent = ""
    for line in lines:
        if term := TERM.fullmatch(line):
            indent = term["indent"]
            found.append(f"{indent}- {term['term']}:")
        elif found[-1].endswith("``:"):
            found[-1] += f" {line.strip()}"
        else:
            found.append(f"{indent}  {line.strip()}")
    return found


def with_types(expression: Any, meaning: Callable[[str], Any]) -> Any:
    """Replace the names of types in an expression by what they stand for, which may hold such names too.

    ``meaning`` gives the expression for the path of a name, and None for a name that stands for itself.
    """
    if isinstance(expression, list):
        return [with_types(part, meaning) for part in expression]
    if not is_dataclass(expression) or isinstance(expression, type):
        return expression
    if type(expression).__name__ == "ExprName":
        found = meaning(expression.canonical_path)
        return expression if found is None else with_types(found, meaning)
    changed = {
        field.name: with_types(getattr(expression, field.name), meaning)
        for field in fields(expression)
        if field.init and field.name != "parent"
    }
    return replace(expression, **changed)


class Docstrings(Extension):
    """Rewrites each docstring once, before it is parsed, and the types beside it."""

    def on_object(self, *, obj: Any, loader: Any, **_: Any) -> None:
        """Rewrite the docstring of an object, and its types."""
        if obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)
        obj.labels -= {"method descriptor", "builtin"}  # how it is compiled
        is_own = "instance-attribute" in obj.labels  # its value is code of the class
        if obj.is_attribute and (is_own or len(str(obj.value or "")) > LONGEST_VALUE):
            obj.value = None

        def meaning(path: str) -> Any:
            return _meaning(path, loader.modules_collection)

        if obj.is_function:
            for function in (obj, *(obj.overloads or ())):
                function.returns = with_types(function.returns, meaning)
                for parameter in function.parameters:
                    parameter.annotation = with_types(parameter.annotation, meaning)
        elif obj.is_attribute and str(obj.annotation) != "TypeAlias":
            obj.annotation = with_types(obj.annotation, meaning)


def _meaning(path: str, modules: Any) -> Any:
    """Give what a name of the package's own types stands for, if it is one."""
    if not path.startswith("bytepair."):
        return None
    try:
        found = modules.get_member(path)
        found = found.final_target if found.is_alias else found
    except Exception:  # griffe has several for a name that is not found
        return None
    is_type = found.is_attribute and type(found.value).__name__ in TYPES
    return found.value if is_type and found.name[1:] != found.name[1:].upper() else None
