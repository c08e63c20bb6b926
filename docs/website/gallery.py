"""The gallery: a page for each program in ``docs/examples/``, with what it prints and draws, and how long it runs.

A program opens with what it shows. What it draws it writes as ``*.svg`` to the folder that it runs in. Each is
run when the site is built, and a notebook is made of it.
"""

import ast
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Run", "cells", "notebook", "page", "pages", "title_of"]


class Run(NamedTuple):
    """What a program printed and drew, and its time with the start of Python and all imports."""

    output: str
    figures: dict[str, bytes]
    seconds: float


def pages(folder: Path) -> dict[str, str | bytes]:
    """Give the pages of all programs, their files, and the page that lists them."""
    import nbformat

    found: dict[str, str | bytes] = {}
    cards = []
    for path in sorted(folder.glob("*.py")):
        nbformat.validate(
            nbformat.reads(notebook(path.read_text(encoding="utf-8")), as_version=4)
        )
        source, name = path.read_text(encoding="utf-8"), page_name(path.stem)
        run = run_of(path)
        figures = {
            f"figure-{name}-{n}.svg": svg
            for n, svg in enumerate(run.figures.values(), 1)
        }
        found[f"{name}.md"] = page(path.stem, source, run, list(figures))
        found |= {
            path.name: source.encode(),
            f"{path.stem}.ipynb": notebook(source).encode(),
        }
        found |= figures
        cards.append(card(path.stem, source, list(figures)))
    head = (
        "# Gallery\n\n"
        "Short, complete programs. Each page shows the code, its output and figures, and its run time when this site was built, "
        "with the script and a notebook to download.\n\n"
    )
    found["index.md"] = head + "\n".join(cards)
    return found


def page_name(stem: str) -> str:
    """Name the page of a program.

    >>> page_name("own_pattern")
    'own-pattern'
    """
    return stem.replace("_", "-")


def title_of(stem: str) -> str:
    """Make a title of a program's name.

    >>> title_of("own_pattern")
    'Own pattern'
    """
    return stem.replace("_", " ").capitalize()


def parted(source: str) -> tuple[str, str]:
    r"""Part a program into what it says of itself and its code.

    >>> parted("'''One.\n\nTwo.\n'''\n\nprint(1)\n")
    ('One.\n\nTwo.', 'print(1)')
    """
    tree = ast.parse(source)
    about = ast.get_docstring(tree) or ""
    code = "\n".join(source.split("\n")[(tree.body[0].end_lineno or 0) :])
    return about.replace("``", "`"), code.strip("\n")


def card(stem: str, source: str, figures: list[str]) -> str:
    """Draw the entry of a program in the list."""
    about = " ".join(parted(source)[0].split("\n\n")[0].split())
    lines = [f"## [{title_of(stem)}]({page_name(stem)}.md)", "", about, ""]
    lines += [
        f"[![{title_of(stem)}]({figure})]({page_name(stem)}.md)\n" for figure in figures
    ]
    return "\n".join(lines)


def page(stem: str, source: str, run: Run, figures: list[str]) -> str:
    r"""Draw the page of a program.

    >>> source = "'''Adds.'''\n\nprint(1 + 1)\n"
    >>> print(page("add_up", source, Run("2\n", {}, 0.1), []))
    # Add up
    <BLANKLINE>
    Adds.
    <BLANKLINE>
    [Script](add_up.py) · [Notebook](add_up.ipynb) · ran in 0.1 s
    <BLANKLINE>
    ## Code
    <BLANKLINE>
    ```python
    print(1 + 1)
    ```
    <BLANKLINE>
    ## Output
    <BLANKLINE>
    ```text
    2
    ```
    <BLANKLINE>
    """
    about, code = parted(source)
    files = (
        f"[Script]({stem}.py) · [Notebook]({stem}.ipynb) · ran in {run.seconds:.1f} s"
    )
    lines = [f"# {title_of(stem)}", "", about, "", files, ""]
    for figure in figures:
        lines += [f"![Figure drawn by the program]({figure})", ""]
    lines += ["## Code", "", "```python", code, "```", ""]
    if run.output.strip():
        lines += ["## Output", "", "```text", run.output.rstrip(), "```", ""]
    return "\n".join(lines)


def run_of(path: Path) -> Run:
    """Run a program in a folder of its own; it must end well and write nothing to standard error."""
    package = path.resolve().parents[2] / "python"
    environment = {**os.environ, "PYTHONUTF8": "1", "PYTHONPATH": str(package)}
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        found = subprocess.run(
            [sys.executable, str(path.resolve())],
            cwd=folder,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        seconds = time.perf_counter() - begin
        if found.returncode or found.stderr:
            message = f"{path} ended with {found.returncode}:\n{found.stderr}"
            raise RuntimeError(message)
        figures = {
            file.name: file.read_bytes() for file in sorted(Path(folder).glob("*.svg"))
        }
    return Run(found.stdout, figures, seconds)


def cells(code: str) -> list[str]:
    r"""Cut code at empty lines between statements.

    >>> cells("import a\n\n# b\nb = 1\n\ndef f():\n    c\n\n    d\n\n\nf()\n")
    ['import a', '# b\nb = 1', 'def f():\n    c\n\n    d', 'f()']
    """
    lines = code.split("\n")
    inside = {
        number
        for statement in ast.parse(code).body
        for number in range(statement.lineno, statement.end_lineno or statement.lineno)
    }
    found: list[list[str]] = [[]]
    for number, line in enumerate(lines, 1):
        if not line.strip() and number not in inside:
            found.append([])
        else:
            found[-1].append(line)
    return ["\n".join(cell) for cell in found if cell]


def notebook(source: str) -> str:
    r"""Write a program as a notebook of Jupyter, in version 4.5 of the format.

    >>> found = json.loads(notebook("'''Adds.'''\n\nprint(1 + 1)\n"))
    >>> [(cell["cell_type"], cell["source"]) for cell in found["cells"]]
    [('markdown', 'Adds.'), ('code', 'print(1 + 1)')]
    """
    about, code = parted(source)
    made: list[dict[str, Any]] = [{"cell_type": "markdown", "source": about}]
    made += [
        {"cell_type": "code", "source": cell, "outputs": [], "execution_count": None}
        for cell in cells(code)
    ]
    for number, cell in enumerate(made):
        cell |= {"id": f"cell-{number}", "metadata": {}}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    whole = {
        "cells": made,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"
