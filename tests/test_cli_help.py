"""Help pages and the list of commands: complete, uncut, and quick to show."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys

import click
import numpy as np
import pytest
from tests.commands import run
from tests.programs import run_python

import bytepair
from bytepair.cli import commands
from bytepair.cli.app import app

CONTEXT = click.Context(app)
COMMANDS = {name: app.get_command(CONTEXT, name) for name in app.list_commands(CONTEXT)}
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


@pytest.mark.parametrize("n_columns", [80, 200])
@pytest.mark.parametrize("name", PAGES)
def test_help_is_whole_at_any_width(name, n_columns, monkeypatch):
    """Every summary, option and explanation stands there uncut, and lines fit the terminal."""
    text = page(name, monkeypatch, n_columns)
    for line in text.splitlines():
        assert len(line) <= n_columns
    shown = "".join(text.split())
    expected = [entry.summary for entry in commands.COMMANDS]
    if name:
        expected = [COMMANDS[name].help, *(p.help for p in COMMANDS[name].params)]
    for sentence in expected:
        assert "".join(sentence.split()) in shown


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


@pytest.mark.parametrize(
    "typed",
    ["verify a b", "plot a", "convert a b --to x", "docter", "train --vocab_size 9"],
)
def test_a_name_that_is_gone_is_refused_with_what_to_type(typed):
    """The current name stands in the message."""
    told = run(*typed.split(), code=2).stderr
    assert re.match(
        r"bytepair: No such (option|command) '\S+'\. Use (bytepair [a-z]|--[a-z])", told
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
    options = {"capture_output": True, "text": True, "check": True}
    environment = {**os.environ, "_BYTEPAIR_COMPLETE": "bash_source"}
    shown = subprocess.run([program], env=environment, **options)
    words = shlex.join(["bytepair", *typed])
    commands_of_shell = (
        f"{shown.stdout}\nCOMP_WORDS=({words}); COMP_CWORD={len(typed)}\n"
        f'_bytepair_completion {shlex.quote(str(program))}; printf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    found = subprocess.run(["bash", "-c", commands_of_shell], **options)
    assert sorted(found.stdout.split()) == expected


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Make a folder with the files that examples read."""
    folder = tmp_path_factory.mktemp("examples")
    text = "Hello world, how low is the lower <|end|>? " * 20
    (folder / "corpus.txt").write_text(text)
    line = json.dumps({"text": text, "language": "English"})
    (folder / "corpus.jsonl").write_text(f"{line}\n")
    (folder / "terms.txt").write_text("theis\n")
    (folder / "new.txt").write_text("from a new field, unseen before " * 9)
    np.save(folder / "ids.npy", np.array([72, 105], np.uint16))
    (folder / "codes.txt").write_text("#version: 0.2\nl o\nlo w</w>\n")
    for name, size in (("tokenizer", 290), ("copy", 290), ("other", 270)):
        options = {"vocab_size": size, "special_tokens": ["<|end|>"]}
        tokenizer = bytepair.train_from_iterator([text], **options)
        tokenizer.save(folder / f"{name}.json")
    program = folder / "bytepair"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m bytepair "$@"\n')
    program.chmod(0o700)
    return folder


@pytest.mark.skipif(shutil.which("sh") is None, reason="needs sh")
@pytest.mark.parametrize("name", COMMANDS)
def test_the_three_examples_of_a_help_page_run(name, inputs, monkeypatch):
    """Each is a command of bytepair, and ends without an error in a folder with its files."""
    examples = COMMANDS[name].examples
    assert len(examples) == 3
    if name == "playground":
        from bytepair.cli import playground

        monkeypatch.setattr(playground, "serve", lambda _page: None)
        monkeypatch.setattr(playground, "page_with", lambda _tokenizers: "a page")
    environment = {**os.environ, "PATH": f"{inputs}{os.pathsep}{os.environ['PATH']}"}
    for example in examples:
        if re.search(r"[|<*]", example.replace("'<|end|>'", "")):
            shown = {"shell": True, "cwd": inputs, "env": environment}
            subprocess.run(example, **shown, check=True, capture_output=True)
        else:
            run(*shlex.split(example)[1:], cwd=inputs)
