"""The examples on pages: what a page shows is what Python and the commands give.

A page is read from top to bottom, in a folder of its own:

- A block of ``pycon`` is run in one session for the whole page.
- A block of ``console`` has commands after ``$``; lines of one command that follow begin with
  ``>``. What it prints, on standard output and standard error, stands below it. It succeeds
  unless what is shown has the error of bytepair, or the next command is ``echo $?``.
- A block of ``python`` is compiled. After ``<!-- run -->`` it is also run, as a program.
- Any block after ``<!-- file: name -->`` is first saved under this name.

``...`` in what is shown stands for any text. Blocks of ``sh`` and ``text`` are not run: they are
for files that only the reader has. Left out: pages whose examples need more, see ``NOT_RUN``.
"""

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from bytepair.cli.app import app

REPOSITORY = Path(__file__).parent.parent

EXAMPLES = {
    "README.md": 8,
    "docs/explanation/compat.md": 9,
    "docs/explanation/divergences.md": 9,
    "docs/explanation/what-metrics-do-not-say.md": 12,
    "docs/findings/BP101.md": 8,
    "docs/findings/BP102.md": 5,
    "docs/findings/BP103.md": 9,
    "docs/findings/BP202.md": 7,
    "docs/findings/BP301.md": 6,
    "docs/findings/BP302.md": 8,
    "docs/findings/BP303.md": 6,
    "docs/findings/BP503.md": 5,
    "docs/findings/BP601.md": 7,
    "docs/findings/BP602.md": 8,
    "docs/findings/BP604.md": 8,
    "docs/first-steps.md": 22,
    "docs/how-to/changed-between-versions.md": 13,
    "docs/how-to/check-a-tokenizer.md": 10,
    "docs/how-to/command-line.md": 4,
    "docs/how-to/compare-for-a-language.md": 4,
    "docs/how-to/compare-tokenizers.md": 18,
    "docs/how-to/count-a-chat.md": 24,
    "docs/how-to/encode.md": 35,
    "docs/how-to/find-glitch-tokens.md": 8,
    "docs/how-to/grammars.md": 13,
    "docs/how-to/look-inside.md": 15,
    "docs/how-to/migrate/hugging-face.md": 16,
    "docs/how-to/migrate/minbpe.md": 16,
    "docs/how-to/migrate/sentencepiece.md": 10,
    "docs/how-to/migrate/tiktoken.md": 14,
    "docs/how-to/reinforcement-learning.md": 32,
    "docs/how-to/report.md": 5,
    "docs/how-to/serve-chats.md": 28,
    "docs/how-to/serve.md": 16,
    "docs/how-to/superwords.md": 12,
    "docs/how-to/train.md": 7,
    "docs/how-to/treat-languages-alike.md": 7,
    "docs/how-to/untrusted-text.md": 14,
    "docs/how-to/your-language.md": 13,
    "docs/reference/errors.md": 4,
    "docs/tutorials/1-bytes-and-a-pattern.md": 14,
    "docs/tutorials/2-a-stream-of-bytes.md": 18,
    "docs/tutorials/3-end-of-word-marks.md": 17,
    "docs/tutorials/4-learner-and-segmenter.md": 14,
    "docs/tutorials/5-unknown-and-special-tokens.md": 25,
    "docs/tutorials/from-corpus-to-shards.md": 22,
    "docs/tutorials/read-a-merge-tree.md": 17,
    "docs/tutorials/ship.md": 29,
}
"""How many examples each page has, so that none is lost unnoticed: add your page here."""

NOT_RUN: dict[str, str] = {}
"""Pages with examples that are not run here, and why."""

NEEDED = {
    "docs/explanation/compat.md": ["tokenizers"],
    "docs/first-steps.md": ["tokenizers"],
    "docs/how-to/serve.md": ["tokenizers"],
    "docs/tutorials/from-corpus-to-shards.md": ["pyarrow"],
    "docs/tutorials/ship.md": ["gguf", "sentencepiece", "tiktoken", "transformers"],
}
"""What pages need besides bytepair and its command line; without it they are skipped."""

BLOCK = re.compile(
    r"(?:^<!-- (?P<order>run|file: (?P<name>\S+)) -->\n+)?"
    r"^```(?P<language>\w*)[^\n]*\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
SHELL = re.compile(r"[|<>&;*?$`\n]")
CHECKER = doctest.OutputChecker()
TIMES_OUT = 300


class Step(NamedTuple):
    """A command of a page, with what the page shows below it."""

    command: str
    expected: str


class Page:
    """A page that is run: the names of its session, its folder and its last exit code."""

    def __init__(self, path, folder):
        self.path, self.folder = path, folder
        self.names = {"__name__": "__main__"}
        self.exit_code = 0
        self.n_run = 0

    def run(self):
        """Run all blocks in order; give the number of examples."""
        text = self.path.read_text(encoding="utf-8")
        for block in BLOCK.finditer(text):
            line = text.count("\n", 0, block.start("text")) + 1
            if block["name"]:
                (self.folder / block["name"]).write_text(block["text"], "utf-8")
            n_before = self.n_run
            run = getattr(self, f"run_{block['language']}", None)
            if run:
                run(block["text"], line, is_run=block["order"] == "run")
            if block["language"] in ("pycon", "console"):
                assert self.n_run > n_before, f"{self.path}:{line}: an empty block"
        return self.n_run

    def run_pycon(self, text, line, *, is_run):
        """Run the examples of a block in the session of the page."""
        name = self.path.name
        test = doctest.DocTestParser().get_doctest(text, {}, name, name, line - 1)
        test.globs = self.names
        told = []
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
        result = runner.run(test, out=told.append, clear_globs=False)
        assert result.failed == 0, "".join(told)
        self.n_run += result.attempted

    def run_console(self, text, line, *, is_run):
        """Run the commands of a block one by one."""
        assert not text or text.startswith("$ "), f"{self.path}:{line}: no command"
        steps = steps_of(text)
        following = [step.command for step in steps[1:]] + [""]
        for step, after in zip(steps, following, strict=True):
            if step.command == "echo $?":
                output = f"{self.exit_code}\n"
            else:
                self.exit_code, output = run_command(step.command, self.folder)
            may_fail = after == "echo $?" or "bytepair: " in step.expected
            shown = f"{self.path}: $ {step.command}\n{output}"
            assert self.exit_code == 0 or may_fail or step.command == "echo $?", shown
            example = doctest.Example(step.command, step.expected)
            is_same = CHECKER.check_output(step.expected, output, doctest.ELLIPSIS)
            difference = CHECKER.output_difference(example, output, doctest.ELLIPSIS)
            assert is_same, f"{self.path}: $ {step.command}\n{difference}"
            self.n_run += 1

    def run_python(self, text, line, *, is_run):
        """Compile a block, and run it as a program where the page says so."""
        compile("\n" * (line - 1) + text, str(self.path), "exec")
        if is_run:
            (self.folder / "example.py").write_text(text, "utf-8")
            code, output = in_shell("python example.py", self.folder)
            assert code == 0, f"{self.path}:{line}\n{output}"
            self.n_run += 1


def steps_of(text):
    """Give the commands of a block, each with what is shown below it."""
    steps = []
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        first, *rest = part.split("\n")
        n_more = 0
        while rest[n_more].startswith("> ") or rest[n_more] == ">":
            n_more += 1
        more = [line[2:] for line in rest[:n_more]]
        steps.append(Step("\n".join([first, *more]), "\n".join(rest[n_more:])))
    return steps


def run_command(command, folder):
    """Give the exit code of a command and what it prints.

    A command of bytepair that needs no shell is called here, which is quicker than to start it.
    """
    if not command.startswith("bytepair ") or SHELL.search(command):
        return in_shell(command, folder)
    found = CliRunner().invoke(app, shlex.split(command)[1:])
    if found.exception and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found.exit_code, found.output


def in_shell(command, folder):
    """Give the exit code and the output of a line of shell, which finds the programs of this Python."""
    programs = Path(sys.executable).parent
    found = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=TIMES_OUT,
        check=False,
    )
    return found.returncode, found.stdout


def has_examples(path):
    """Tell whether a page has blocks that are run."""
    blocks = BLOCK.finditer(path.read_text(encoding="utf-8"))
    return any(
        block["language"] in ("pycon", "console") or block["order"] == "run"
        for block in blocks
    )


ALL = [REPOSITORY / "README.md", *sorted(REPOSITORY.glob("docs/**/*.md"))]
PAGES = {path.relative_to(REPOSITORY).as_posix(): path for path in ALL}


SLOW = {
    "docs/how-to/encode.md",
    "docs/tutorials/from-corpus-to-shards.md",
    "docs/tutorials/ship.md",
}
"""Pages that import large libraries or start many processes."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW))
        for name in PAGES
        if name not in NOT_RUN
    ],
)
def test_what_a_page_shows_is_what_is_given(name, tmp_path, monkeypatch):
    """Every example of the page runs and gives what stands below it."""
    for library in NEEDED.get(name, []):
        pytest.importorskip(library)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")  # tiktoken keeps copies of any path
    monkeypatch.chdir(tmp_path)
    found = Page(PAGES[name], tmp_path).run()
    assert found == EXAMPLES.get(name, 0), f"write {found} for {name} in EXAMPLES"


def test_every_page_with_examples_is_listed():
    """The lists name the pages that have examples, and no other."""
    shown = {name for name, path in PAGES.items() if has_examples(path)}
    assert shown == EXAMPLES.keys() | NOT_RUN.keys()
    assert not EXAMPLES.keys() & NOT_RUN.keys()
    assert NEEDED.keys() | SLOW <= EXAMPLES.keys()


@pytest.mark.parametrize(
    "text",
    [
        "```pycon\n>>> 1 + 1\n3\n```\n",
        "```pycon\n>>> a = 1\n```\n\n```pycon\n>>> b\n1\n```\n",
        "```pycon\nno example\n```\n",
        "```console\n$ echo a\nb\n```\n",
        "```console\n$ echo a\n```\n",
        "```console\n$ cat absent\n...\n```\n",
        "```console\n$ bytepair info absent.json\n...\n```\n",
        "```console\n$ exit 3\n$ echo $?\n0\n```\n",
        "```console\nno command\n```\n",
        "```python\nif\n```\n",
        "<!-- run -->\n```python\nraise ValueError\n```\n",
    ],
)
def test_a_page_that_shows_something_else_is_found(text, tmp_path, monkeypatch):
    """A wrong answer, a command that fails and a block without an example end the test."""
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    with pytest.raises((AssertionError, SyntaxError)):
        Page(page, tmp_path).run()


def test_a_page_is_one_session(tmp_path, monkeypatch):
    """Blocks share names and a folder, in order; errors and exit codes can be shown."""
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- file: a.txt -->\n```text\nlow\nlower\n```\n"
        "```pycon\n>>> from pathlib import Path\n>>> text = Path('a.txt').read_text()\n```\n"
        "```console\n$ cat a.txt \\\n> | head -n 1\nlow\n$ echo b > b.txt\n```\n"
        "```pycon\n>>> text, Path('b.txt').read_text()\n('low\\nlower\\n', 'b\\n')\n```\n"
        "<!-- run -->\n```python\nassert __name__ == '__main__'\n```\n"
        "```console\n$ bytepair info absent.json\nbytepair: ...absent.json...\n"
        "$ echo $?\n1\n$ exit 3\n$ echo $?\n3\n```\n"
        "```python\nabsent()\n```\n```sh\nabsent\n```\n"
    )
    assert Page(page, tmp_path).run() == 10
