"""Run inside an environment that has the wheel with ``[cli]``: ``commands_test.py REPOSITORY``.

Shows the help of every command, then walks through what a first day takes.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

import bytepair
from bytepair.cli.app import app
from bytepair.cli.commands import COMMANDS

TEXT = "Beautiful is better than ugly. Readability counts: naïve café, 你好.\n"
STEPS = [
    "train corpus.txt --vocab-size 300 -o own.json --log merges.jsonl",
    "info own.json",
    "show own.json Beautiful",
    "trace own.json Beautiful",
    "encode own.json corpus.txt --format uint16 --output ids.bin",
    "decode own.json ids.bin --format uint16 --output again.txt",
    "count-tokens own.json corpus.txt",
    "stats own.json corpus.txt",
    "convert own.json own.tiktoken",
    "compare own.json own.tiktoken --exit-code",
    "extend own.json corpus.txt --add 10 -o more.json",
    "report own.json corpus.txt -o report.html",
    "demo",
]


def main() -> int:
    """Run all of it; an error ends the program."""
    command = shutil.which("bytepair")
    assert command, "there is no command"
    assert Path(sys.prefix).resolve() in Path(command).resolve().parents, command
    assert output([command, "--version"]).split() == ["bytepair", bytepair.__version__]
    check_help()
    Path("corpus.txt").write_text(TEXT * 200, encoding="utf-8")
    for step in STEPS:
        assert (
            output([command, *step.split()]) or " -o " in step or " --output " in step
        ), step
    assert Path("again.txt").read_text(encoding="utf-8") == TEXT * 200
    assert "<html" in Path("report.html").read_text(encoding="utf-8")
    return 0


def check_help() -> None:
    """Every command says what it does and lists its options."""
    for entry in COMMANDS:
        shown = CliRunner().invoke(app, [entry.name, "--help"])
        assert shown.exit_code == 0, (entry.name, shown.exception, shown.output)
        assert "--help" in shown.output, entry.name


def output(command: list[str]) -> str:
    """Run a command that must succeed; gives what it prints."""
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 0, (command, done.stderr.decode(errors="replace"))
    return done.stdout.decode()


if __name__ == "__main__":
    sys.exit(main())
