"""Copies the docstrings and defaults of the compiled core into the stub ``_core.pyi``.

``help`` shows the doc comments and signatures of the binding, which have no types. The stub
adds the types. Run this script with ``make stubs`` after a change. ``make check`` runs it
with ``--check``, which writes nothing and fails if the stub differs.
"""

import ast
import inspect
import subprocess
import sys
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import NamedTuple

from bytepair import _core

STUB = Path(_core.__file__).with_name("_core.pyi")

Definition = ast.ClassDef | ast.FunctionDef


class Edit(NamedTuple):
    """A range of the stub, in characters, and the text that replaces it."""

    start: int
    end: int
    text: str


class Named(NamedTuple):
    """A definition of the stub, and the same object at run time."""

    node: Definition
    name: str
    found: object


def main() -> int:
    """Write the stub, or compare it with the core."""
    before = STUB.read_text(encoding="utf-8")
    after = formatted(written(before))
    if before == after:
        return 0
    if "--check" not in sys.argv:
        STUB.write_text(after, encoding="utf-8")
        return 0
    lines = unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1)
    print("\n".join(lines))
    print("_core.pyi differs from the doc comments of the binding: make stubs")
    return 1


def written(stub: str) -> str:
    """Return the stub with the docstrings and the defaults of the compiled core."""
    edits = [edit for named in definitions(stub) for edit in edits_of(named, stub)]
    edits += names_edits(stub)
    for edit in sorted(edits, reverse=True):
        stub = stub[: edit.start] + edit.text + stub[edit.end :]
    return stub


def formatted(stub: str) -> str:
    """Return the stub in the layout of the formatter."""
    command = [
        sys.executable,
        "-m",
        "ruff",
        "format",
        "--stdin-filename",
        str(STUB),
        "-",
    ]
    done = subprocess.run(command, input=stub.encode(), capture_output=True, check=True)
    return done.stdout.decode()


def definitions(stub: str) -> Iterator[Named]:
    """Yield the classes, methods, properties and functions of the stub."""
    for node in ast.parse(stub).body:
        if not isinstance(node, Definition):
            continue
        found = getattr(_core, node.name)
        yield Named(node, node.name, found)
        if isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, ast.FunctionDef):
                    name = f"{node.name}.{member.name}"
                    own = getattr(found, member.name, None)
                    yield Named(member, name, own)


def names_edits(stub: str) -> Iterator[Edit]:
    """Yield the change to the names that the compiled core exports."""
    for node in ast.parse(stub).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names = ", ".join(f'"{name}"' for name in sorted(_core.__all__))
            start = offset(stub, node.value.lineno, node.value.col_offset)
            end = offset(
                stub, node.value.end_lineno or 0, node.value.end_col_offset or 0
            )
            yield Edit(start, end, f"[{names},]")


def edits_of(named: Named, stub: str) -> Iterator[Edit]:
    """Yield the changes to a definition."""
    node = named.node
    if not node.name.startswith("__"):
        yield from docstring_edits(named, stub)
    if isinstance(node, ast.FunctionDef) and not is_property(node):
        yield from default_edits(named, stub)


def docstring_edits(named: Named, stub: str) -> Iterator[Edit]:
    """Yield the change to a docstring."""
    node = named.node
    if is_overload(node) and ast.get_docstring(node) is None:
        return  # another overload has the docstring
    doc = inspect.getdoc(named.found)
    first = node.body[0]
    if not doc:
        if node.name.startswith("_") and ast.get_docstring(node) is None:
            return
        message = f"{named.name} has no doc comment in the binding"
        raise SystemExit(message)
    indent = " " * (node.col_offset + 4)
    yield Edit(
        offset(stub, first.lineno, first.col_offset),
        offset(stub, first.end_lineno or 0, first.end_col_offset or 0),
        f"\n{indent}{quoted(doc, indent)}\n",
    )


def default_edits(named: Named, stub: str) -> Iterator[Edit]:
    """Yield the changes to the defaults of a function."""
    assert isinstance(named.node, ast.FunctionDef)
    try:
        parameters = inspect.signature(named.found).parameters  # type: ignore[arg-type]
    except (TypeError, ValueError):  # a special method without a signature
        return
    arguments = named.node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [
        *zip(positional[::-1], arguments.defaults[::-1], strict=False),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    for argument, default in pairs:
        if default is None or argument.arg not in parameters:
            continue
        value = parameters[argument.arg].default
        if value is ...:
            message = (
                f"{named.name}: write the default of {argument.arg} in text_signature"
            )
            raise SystemExit(message)
        if ast.unparse(default) != repr(value):
            start = offset(stub, default.lineno, default.col_offset)
            end = offset(stub, default.end_lineno or 0, default.end_col_offset or 0)
            yield Edit(start, end, repr(value).replace("'", '"'))


def quoted(doc: str, indent: str) -> str:
    """Return a docstring as source."""
    prefix = "r" if "\\" in doc else ""
    lines = [f"{indent}{line}" if line else "" for line in doc.splitlines()]
    text = "\n".join(lines).strip()
    ending = f"\n{indent}" if len(lines) > 1 else ""
    return f'{prefix}"""{text}{ending}"""'


def is_property(node: ast.FunctionDef) -> bool:
    """Return whether a method is a property."""
    return any(ast.unparse(name) == "property" for name in node.decorator_list)


def is_overload(node: Definition) -> bool:
    """Return whether a function is an overload."""
    return any(ast.unparse(name) == "overload" for name in node.decorator_list)


def offset(text: str, line: int, column: int) -> int:
    """Return the offset, in characters, of a line, from 1, and a column, in bytes."""
    lines = text.splitlines(keepends=True)
    before = sum(map(len, lines[: line - 1]))
    return before + len(lines[line - 1].encode()[:column].decode())


if __name__ == "__main__":
    sys.exit(main())
