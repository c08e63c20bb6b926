"""Help pages and the list of commands: complete, uncut, and quick to show."""

import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest
import typer
from tests.commands import run
from tests.programs import run_python

from bytepair.cli import commands, help_pages
from bytepair.cli.app import app

COMMANDS = typer.main.get_command(app).commands
PAGES = ["", *COMMANDS]


def page(name, monkeypatch, n_columns):
    """Show the help of a command, or of all for an empty name."""
    monkeypatch.setenv("COLUMNS", str(n_columns))
    return run(*name.split(), "--help").stdout


def words(text):
    """Write a text on one line."""
    return " ".join(text.split())


@pytest.mark.parametrize("entry", commands.COMMANDS, ids=lambda entry: entry.name)
def test_a_summary_is_what_the_command_says_of_itself(entry):
    """The list of commands, which imports none of them, agrees with their docstrings."""
    text = words(COMMANDS[entry.name].help)
    assert text == entry.summary or text.startswith(f"{entry.summary} ")


@pytest.mark.parametrize("n_columns", [40, 80, 200])
@pytest.mark.parametrize("name", PAGES)
def test_help_is_whole_at_any_width(name, n_columns, monkeypatch):
    """Every summary, option and explanation stands there uncut, and lines fit the terminal."""
    text = page(name, monkeypatch, n_columns)
    for line in text.splitlines():
        assert len(line) <= n_columns or len(line.split()) == 1 or "<" in line
    shown = words(text)
    expected = [entry.summary for entry in commands.COMMANDS]
    if name:
        params = COMMANDS[name].params
        seen = [param.help for param in params if not getattr(param, "hidden", False)]
        expected = map(words, [COMMANDS[name].help, *seen])
    for sentence in expected:
        assert sentence in shown


def test_commands_are_listed_in_groups(monkeypatch):
    """Each command stands below the title of its group, in the order of the table."""
    title = ""
    found = []
    for line in page("", monkeypatch, 200).splitlines():
        if re.fullmatch(r"\w.*:", line):
            title = line.removesuffix(":")
        elif match := re.match(r"  ([a-z][\w-]*)  ", line):
            found.append((match[1], title))
    assert found == [(entry.name, entry.group) for entry in commands.COMMANDS]


def test_help_is_painted_for_a_terminal_only(monkeypatch):
    """A pipe gets no colours; painted rows say the same as plain ones."""
    assert "\x1b" not in page("encode", monkeypatch, 80)
    rows = [("-o, --output FILE", "Where to write."), ("--added <find|text>", "What.")]
    plain = help_pages.laid_out(rows, 80, 25)
    painted = help_pages.laid_out(rows, 80, 25, is_painted=True)
    assert [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in painted] == plain
    assert painted[0].startswith(
        "  \x1b[1;36m-o,\x1b[0m \x1b[1;36m--output\x1b[0m \x1b[36mFILE"
    )


@pytest.mark.parametrize("arguments", [["--help"], ["info", "--help"]])
def test_help_waits_for_no_other_command(arguments):
    """Neither the list of commands nor one command imports numpy, or what others need."""
    code = (
        "import sys; from bytepair.cli.app import app\n"
        f"try: app({arguments!r}, prog_name='bytepair')\n"
        "except SystemExit: pass\n"
        "names = set(sys.modules)\n"
        "print(sorted(names & {'numpy', 'rich', 'pyarrow', 'bytepair.cli.train'}), file=sys.stderr)"
    )
    assert run_python(code).stderr.strip() == "[]"


@pytest.mark.parametrize("typed", ["verify a b", "plot a", "convert a b --to x"])
def test_a_name_that_is_gone_is_refused_with_what_to_type(typed):
    """The current name stands in the message."""
    told = run(*typed.split(), code=2).stderr
    assert re.match(
        r"bytepair: no such (option|command): \S+; use (bytepair [a-z]|--[a-z])", told
    )


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (["cou"], ["count-pieces", "count-tokens"]),
        (["tok"], []),
        (["train", "--dialect", "gpt4"], ["gpt4", "gpt4o"]),
        (["encode", "--format", "u"], ["uint16", "uint32"]),
        (["train", "--vocab"], ["--vocab-size"]),
        (["info", "some"], []),
    ],
    ids=str,
)
def test_bash_completes_commands_options_and_values(typed, expected, tmp_path):
    """The script that is shown works in bash; files are completed by bash itself."""
    program = tmp_path / "bytepair"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m bytepair "$@"\n')
    program.chmod(0o700)
    environment = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    options = {"capture_output": True, "text": True, "check": True}
    command = [program, "--show-completion", "bash"]
    shown = subprocess.run(command, env=environment, **options)
    assert "complete -o default" in shown.stdout
    words = shlex.join(["bytepair", *typed])
    commands_of_shell = (
        f"{shown.stdout}\nCOMP_WORDS=({words}); COMP_CWORD={len(typed)}\n"
        f'_bytepair_completion {shlex.quote(str(program))}; printf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    found = subprocess.run(["bash", "-c", commands_of_shell], **options)
    assert sorted(found.stdout.split()) == expected
