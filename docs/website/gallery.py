"""The gallery: a page for each program in ``docs/examples/``, with what it prints and draws, and how long it runs.

A program opens with what it shows. What it draws it writes as ``*.svg`` to the folder that it runs in. Each is
run when the site is built, and jupytext makes a notebook of it.
"""

import ast
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

__all__ = ["pages"]

HEAD = """\
# Gallery

Short, complete programs. Each page shows the code, its output and figures, and its run time when this site was built,
with the script and a notebook to download.
"""


def pages(folder: Path) -> dict[str, str | bytes]:
    """Give the pages of all programs, their files, and the page that lists them."""
    import jupytext

    found: dict[str, str | bytes] = {}
    cards = [HEAD]
    for path in sorted(folder.glob("*.py")):
        source, name = path.read_text(encoding="utf-8"), path.stem.replace("_", "-")
        about, code = parted(source)
        title = name.replace("-", " ").capitalize()
        output, drawn, seconds = run(path)
        figures = {f"figure-{name}-{n}.svg": svg for n, svg in enumerate(drawn, 1)}
        shown = [f"![Figure drawn by the program]({figure})" for figure in figures]
        printed = f"```text\n{output.rstrip()}\n```"
        parts = [
            f"# {title}",
            about,
            f"[Script]({path.name}) · [Notebook]({path.stem}.ipynb) · ran in {seconds:.1f} s",
            *shown,
            f"## Code\n\n```python\n{code}\n```",
            f"## Output\n\n{printed}" if output.strip() else "",
        ]
        notebook = jupytext.writes(jupytext.reads(source, "py:light"), "ipynb")
        found |= {f"{name}.md": "\n\n".join(parts), **figures}
        found |= {path.name: source.encode(), f"{path.stem}.ipynb": notebook.encode()}
        cards += [
            f"## [{title}]({name}.md)",
            about.split("\n\n")[0],
            *(shown or [printed]),
        ]
    found["index.md"] = "\n\n".join(cards)
    return found


def parted(source: str) -> tuple[str, str]:
    r"""Part a program into what it says of itself and its code.

    >>> parted("'''One.\n\nTwo.\n'''\n\nprint(1)\n")
    ('One.\n\nTwo.', 'print(1)')
    """
    tree = ast.parse(source)
    code = "\n".join(source.split("\n")[(tree.body[0].end_lineno or 0) :])
    return (ast.get_docstring(tree) or "").replace("``", "`"), code.strip("\n")


def run(path: Path) -> tuple[str, list[bytes], float]:
    """Run a program in a folder of its own, and give what it printed and drew, and its seconds.

    It must end well and write nothing to standard error.
    """
    package = path.resolve().parents[2] / "python"
    environment = {**os.environ, "PYTHONUTF8": "1", "PYTHONPATH": str(package)}
    environment["MATPLOTLIBRC"] = str(Path(__file__).with_name("matplotlibrc"))
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
        drawn = [file.read_bytes() for file in sorted(Path(folder).glob("*.svg"))]
    return found.stdout, drawn, seconds
