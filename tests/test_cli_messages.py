"""Messages of the command line: wrong usage, numbers as users write them, colours."""

import io
import json
import sys

import click
import pytest
from tests.commands import refused, run, run_process

import bytepair
from bytepair._terminal import has_colours
from bytepair.cli import problems
from bytepair.cli.progress_line import ProgressLine
from bytepair.cli.sizes import number


@pytest.mark.parametrize(
    ("arguments", "first_line"),
    [
        ("trian", "No such command 'trian'."),
        ("prune a --size 3", "No such option '--size'. Use --to."),
        ("train", "Missing argument 'FILES...'."),
        ("train a -o b", "give either --vocab-size or --merges"),
        ("report a", "Missing option '-o' / '--output'."),
        ("train a --merges 3", "--output is missing; only --steps works without it"),
        (
            "train a -o b --merges many",
            "Invalid value for '--merges': 'many' is not a whole number; give one such as 32000, "
            "100k (100,000) or 32Ki (32,768)",
        ),
        ("train a -o b --merges -1", "Invalid value for '--merges': must be at least 0, not -1"),
        ("train a -o b --vocab-size 0k", "Invalid value for '--vocab-size': must be at least 1, not 0k"),
        (
            "train a -o b --merges 1 --threads 9k",
            "Invalid value for '--threads': must be at most 4,096, not 9k",
        ),
        (
            "train a -o b --merges 1 --memory-limit much",
            "Invalid value for '--memory-limit': 'much' is not a size in bytes; give one such as "
            "500MB or 2GB",
        ),
        ("compare a b --max-growth 1%", "--max-growth needs a corpus; give its files after A and B"),
        ("info a b", "Got unexpected extra argument (b)"),
    ],
)  # fmt: skip
def test_wrong_usage_says_what_is_wrong_and_where_the_help_is(arguments, first_line):
    """One line that begins as all messages do, then the usage of the command."""
    found = run(*arguments.split(), code=2)
    lines = found.stderr.splitlines()
    assert found.stdout == ""
    assert lines[0].startswith(f"bytepair: {first_line}")
    command = "bytepair" if arguments == "trian" else f"bytepair {arguments.split()[0]}"
    assert lines[1] == ""
    assert lines[2].startswith(f"Usage: {command} [OPTIONS] ")
    assert lines[3] == f"For more, see: {command} --help"


def test_no_command_is_answered_with_the_help():
    """On standard error, and as wrong usage."""
    found = run(code=2)
    assert found.stdout == ""
    assert found.stderr.rstrip() == run("--help").stdout.rstrip()


NUMBERS = {"0": 0, "32000": 32_000, "100k": 100_000, "100K": 100_000, "0.001k": 1}
NUMBERS |= {"32Ki": 1 << 15, "1Mi": 1 << 20, "1.5M": 1_500_000, "2G": 2_000_000_000}


@pytest.mark.parametrize(("text", "value"), NUMBERS.items())
def test_numbers_have_prefixes(text, value):
    """Powers of 1000, and of 1024 with an ``i``."""
    assert number()(text) == value


@pytest.mark.parametrize(
    "text",
    ["", "k", "1.5", "1.0001k", "5i", "5kB", "1e3", "0x10", "100,000", "٣", " 5"],
)
def test_what_is_no_whole_number_is_refused(text):
    """Nothing is rounded or guessed."""
    with pytest.raises(click.BadParameter, match="is not a whole number"):
        number()(text)


def test_a_vocabulary_size_has_a_prefix(tmp_path):
    """``0.3k`` gives the tokenizer that 300 gives."""
    text = tmp_path / "t.txt"
    text.write_text("low lower lowest newer newest " * 9)
    paths = tmp_path / "a.bytepair", tmp_path / "b.bytepair"
    for path, size in zip(paths, ("300", "0.3k"), strict=True):
        run("train", text, "-o", path, "--vocab-size", size)
    assert paths[0].read_bytes() == paths[1].read_bytes()


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        """Say so."""
        return True


def test_names_in_a_line_of_progress_do_not_act(monkeypatch):
    """What stands in it is shown; only its own signs clear the line."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    ProgressLine(is_shown=True).show("reading \x1b[31m\u202e.json")
    assert stream.getvalue().removeprefix("\r\x1b[K") == "reading \\x1b[31m\\u202e.json"


@pytest.mark.parametrize(
    ("stream", "environment", "is_painted"),
    [
        (Terminal(), {}, True),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"NO_COLOR": ""}, True),
        (Terminal(), {"TERM": "dumb"}, False),
        (io.StringIO(), {}, False),
    ],
)
def test_a_message_is_red_on_a_terminal_only(
    stream, environment, is_painted, monkeypatch
):
    """There it takes the place of a line of progress; the text is the same everywhere."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert has_colours(stream) == is_painted
    monkeypatch.setattr(sys, "stderr", stream)
    stream.truncate(0)
    stream.seek(0)
    problems.tell("no file")
    begin = "\x1b[1;31mbytepair:\x1b[0m" if is_painted else "bytepair:"
    over = "\r\x1b[K" if isinstance(stream, Terminal) else ""
    assert stream.getvalue() == f"{over}{begin} no file\n"


def test_a_pipe_gets_no_colour():
    """The command as a process, with both streams in pipes."""
    found = run_process("info", "nowhere", code=1)
    assert found.stdout == ""
    assert found.stderr.startswith("bytepair: nowhere: ")


@pytest.mark.parametrize(
    "command",
    [
        "show {tokenizer} low",
        "show {tokenizer} {tokenizer} low",
        "show {evil} low",
        "trace {tokenizer} low --why {evil}",
        "stats {tokenizer} {corpus} --group lang",
        "stats {tokenizer} {missing}",
        "count-tokens {tokenizer} {corpus}",
        "count-tokens {tokenizer} {other} {corpus}",
        "compare {tokenizer} {other} {corpus} {corpus}",
        "doctor {missing}",
        "doctor {tokenizer} --select {evil}",
        "info {missing}",
        "encode {tokenizer} {corpus} --format pieces",
        "train {corpus} --merges 1 -o {saved}.bytepair",
        "stats {tokenizer} {corpus} -o {saved}.csv",
        "report {tokenizer} -o {saved}.html",
        "shard {tokenizer} {corpus} -o {saved}",
        "count-pieces {corpus} -o {saved}.parquet",
        "convert {tokenizer} {saved}.bytepair",
    ],
)
def test_names_do_not_act_on_a_terminal(command, tmp_path):
    """Names of files and groups, texts and options reach a terminal with escapes."""
    evil = "\x1b[31m\x9b\u202e"
    texts = [f"{evil} low", "low lower"]
    lines = [json.dumps({"text": text, "lang": text}) for text in texts]
    corpus = tmp_path / f"{evil}.jsonl"
    corpus.write_text("\n".join(lines))
    paths = [tmp_path / f"{evil}.bytepair", tmp_path / "other.bytepair"]
    for n_merges, path in enumerate(paths, 2):
        bytepair.train_from_iterator(["low lower"], merges=n_merges).save(path)
    names = {"evil": evil, "tokenizer": paths[0], "other": paths[1], "corpus": corpus}
    names["missing"] = tmp_path / f"{evil}.json"
    names["saved"] = tmp_path / f"new\xa0{evil}"
    found = run(*(word.format(**names) for word in command.split()), code=None)
    assert not set("\x1b\x9b\u202e") & set(found.stdout + found.stderr)
    assert found.stdout + found.stderr


def test_a_field_of_a_file_is_no_option(tmp_path):
    """A field that is named like an option stands in a message as it does in the file."""
    for ending in ("json", "bytepair"):
        path = tmp_path / f"t.{ending}"
        bytepair.train_from_iterator(["low lower"], merges=2).save(path)
        path.write_text(json.dumps({**json.loads(path.read_text()), "added_tokens": 3}))
        told = refused("encode", path, "--added-tokens", "text")
        assert "added_tokens: " in told
        assert "--added-tokens" not in told


@pytest.mark.parametrize("command", ["info {0} --verbose", "compare {0} {1}"])
def test_long_lines_go_on_below_their_beginning(command, tmp_path):
    """On a terminal, words stay whole, and no character of a pattern is lost."""
    paths = [str(tmp_path / "a.json"), str(tmp_path / "b.json")]
    for path, dialect in zip(paths, ("gpt2", "qwen"), strict=True):
        bytepair.train_from_iterator(["low"], merges=1, dialect=dialect).save(path)
    typed = command.format(*paths).split()
    whole = run(*typed, code=None).stdout
    found = run(*typed, code=None, env={"COLUMNS": "60"}).stdout
    assert max(map(len, found.splitlines())) <= 60 < max(map(len, whole.splitlines()))
    pattern = r"[^\s\p{L}\p{N}]+"
    assert pattern in whole
    indent = 16 if command.startswith("info") else 23
    joined = found.replace("\n" + " " * indent, "")
    assert next(line for line in whole.splitlines() if pattern in line) in joined
