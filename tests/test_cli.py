"""The command line as a shell user meets it: each test runs ``bytepair`` as a process."""

import fcntl
import json
import os
import pty
import random
import re
import shlex
import signal
import struct
import subprocess
import sys
import termios
import time

import numpy as np
import pytest

import bytepair
from bytepair.cli import python_texts

COMMAND = [sys.executable, "-m", "bytepair"]
TEXT = "low lower lowest, newer newest wider widest \N{SNOWMAN}\n" * 20
ENVIRONMENT = {**os.environ, "PYTHONUTF8": "1", "TERM": "xterm"}
ENVIRONMENT.pop("NO_COLOR", None)


def run(*arguments, stdin=b"", code=0, cwd=None):
    """Run a command to its end and check its exit code."""
    found = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env=ENVIRONMENT,
        timeout=120,
        check=False,
    )
    assert b"Traceback" not in found.stderr, found.stderr.decode()
    assert found.returncode == code, found.stderr.decode()
    return found


def refused(*arguments, stdin=b"", cwd=None):
    """Run a command that must be refused and give its one message."""
    found = run(*arguments, stdin=stdin, cwd=cwd, code=1)
    message = found.stderr.decode()
    assert message.startswith("bytepair: ")
    assert "\nbytepair: " not in message
    return message.removeprefix("bytepair: ").rstrip("\n")


@pytest.fixture
def corpus(tmp_path):
    """Write a small text to train on."""
    path = tmp_path / "corpus.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Save a tokenizer of bytes with one special token."""
    path = tmp_path_factory.mktemp("saved") / "own.bytepair"
    tokenizer = bytepair.train_from_iterator(
        [TEXT], vocab_size=275, special_tokens=["<|end|>"]
    )
    tokenizer.save(path)
    return path


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """Save a tokenizer of characters with end marks."""
    path = tmp_path_factory.mktemp("words") / "words.bytepair"
    tokenizer = bytepair.train_from_iterator([TEXT], merges=20, dialect="subword-nmt")
    tokenizer.save(path)
    return path


# Train


def test_train_saves_what_the_api_trains(corpus, tmp_path):
    """The command is the function of the same name."""
    run("train", corpus, "-o", tmp_path / "t.bytepair", "--merges", 12)
    loaded = bytepair.Tokenizer.from_file(tmp_path / "t.bytepair")
    assert loaded == bytepair.train(corpus, merges=12)
    assert len(loaded.merges) == 12


def test_train_passes_every_option_on(corpus, tmp_path):
    """Each option that sets a part of a dialect reaches the tokenizer."""
    options = ["--dialect", "unknown-token", "--pattern", r"\w+", "--pattern", "words"]
    options += ["--unmatched", "drop", "--ties", "largest_text", "--min-count", 3]
    options += ["--lowercase", "always", "--unknown-token", "<unk>", "--byte-fallback"]
    options += ["--special", "<a>", "--special", "<b>", "--separator", "<sep>"]
    options += ["--vocab-size", 300, "--threads", 1, "--format", "bytepair"]
    run("train", corpus, "-o", tmp_path / "t", *options)
    expected = bytepair.train(
        corpus,
        dialect="unknown-token",
        pattern=[r"\w+", "words"],
        unmatched="drop",
        ties="largest_text",
        min_count=3,
        lowercase="always",
        unknown_token="<unk>",
        byte_fallback=True,
        special_tokens=["<a>", "<b>"],
        separator="<sep>",
        vocab_size=300,
    )
    assert bytepair.Tokenizer.from_file(tmp_path / "t") == expected


def test_train_reads_standard_input(corpus, tmp_path):
    """``-`` gives the tokenizer that the file gives."""
    run("train", "-", "-o", tmp_path / "a.bytepair", "--merges", 9, stdin=TEXT.encode())
    run("train", corpus, "-o", tmp_path / "b.bytepair", "--merges", 9)
    assert (tmp_path / "a.bytepair").read_bytes() == (
        tmp_path / "b.bytepair"
    ).read_bytes()


def test_train_says_how_it_went(tmp_path):
    """The summary counts merges, tells the ratio, why it stopped, and special tokens."""
    (tmp_path / "t.txt").write_text("ab ab ab<|end|>ab")
    out = tmp_path / "t.bytepair"
    found = run(
        "train", tmp_path / "t.txt", "-o", out, "--merges", 99, "--special", "<|end|>"
    )
    summary = found.stderr.decode()
    assert "2 merges, 259 ids" in summary
    assert "compression ratio 2.50 characters per token" in summary
    assert "stopped: no pair occurs twice" in summary
    assert "special tokens in the text: <|end|> 1" in summary
    assert f"saved: {out}" in summary
    assert found.stdout == b""


def test_train_writes_its_summary_as_json(corpus, tmp_path):
    """``--json`` gives a program the numbers, and nothing else on standard output."""
    out = tmp_path / "t.bytepair"
    found = run("train", corpus, "-o", out, "--vocab-size", 270, "--json", "--quiet")
    summary = json.loads(found.stdout)
    assert found.stderr == b""
    assert summary["output"] == str(out)
    assert summary["merges"] == 14
    assert summary["n_vocab"] == 270
    assert summary["bytes"] == len(TEXT.encode())
    assert summary["characters_per_token"] == pytest.approx(
        summary["characters"] / summary["tokens"], abs=1e-4
    )


def test_train_is_quiet(corpus, tmp_path):
    """``--quiet`` shows nothing on either stream."""
    found = run("train", corpus, "-o", tmp_path / "t.bytepair", "--merges", 3, "-q")
    assert (found.stdout, found.stderr) == (b"", b"")


def test_progress_is_for_terminals(corpus, tmp_path):
    """Where standard error is no terminal, no line is written over again."""
    found = run("train", corpus, "-o", tmp_path / "t.bytepair", "--merges", 3)
    assert b"\r" not in found.stderr
    assert b"remaining" not in found.stderr


def on_terminal(*arguments, n_columns=0):
    """Run a command with a terminal for its output and give what that shows."""
    process, terminal = pty.fork()
    if process == 0:  # pragma: no cover -- another process
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("4H", 24, n_columns, 0, 0))
        environment = {**ENVIRONMENT, "TERM": "xterm-256color"}
        os.execvpe(COMMAND[0], [*COMMAND, *map(str, arguments)], environment)
    shown = b""
    try:
        while block := os.read(terminal, 65536):
            shown += block
    except OSError:  # the other end is closed
        pass
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0, shown
    return shown.decode()


@pytest.mark.parametrize("n_columns", [20, 40, 120])
def test_a_line_of_progress_fits_the_terminal(corpus, tmp_path, n_columns):
    """What is longer is cut: a line that wraps cannot be written over; a wide one has a bar."""
    tokenizer = tmp_path / "t.bytepair"
    commands = [
        ("train", corpus, "-o", tokenizer, "--merges", 20),
        ("shard", tokenizer, corpus, "-o", tmp_path / "shards"),
    ]
    for command in commands:
        shown = on_terminal(*command, n_columns=n_columns)
        written_over = shown.split("\r\x1b[K")[1:-1]
        assert any("merges done" in text or "MB" in text for text in written_over)
        plain = [re.sub(r"\x1b\[[0-9;]*m", "", text) for text in written_over]
        for text in plain:
            assert "\n" in text or len(text) < n_columns
        has_bar = any(re.match(r"━*╸?━* +[0-9]+% ", text) for text in plain)
        assert has_bar == (n_columns == 120)


def test_progress_tells_merges_time_and_ratio(corpus, tmp_path):
    """On a terminal one line tells merges done, remaining time and compression ratio."""
    shown = on_terminal("train", corpus, "-o", tmp_path / "t.bytepair", "--merges", 20)
    line = next(part for part in shown.split("\r") if "merges done" in part)
    assert "of 20 merges done" in line
    assert "remaining" in line
    assert "compression ratio" in line


# Train, refused


def test_train_needs_one_target(corpus, tmp_path):
    """Neither a vocabulary size nor a number of merges, or both, is wrong usage."""
    out = tmp_path / "t.bytepair"
    run("train", corpus, "-o", out, code=2)
    run("train", corpus, "-o", out, "--merges", 3, "--vocab-size", 300, code=2)
    run("train", corpus, "-o", out, "--merges", -3, code=2)
    run("train", corpus, "--merges", 3, code=2)
    assert not out.exists()


def test_a_missing_file_is_named(tmp_path):
    """A file that is not there ends the command before anything is trained."""
    out = tmp_path / "t.bytepair"
    message = refused("train", tmp_path / "none.txt", "-o", out, "--merges", 3)
    assert message == f"{tmp_path / 'none.txt'}: no such file"
    message = refused("train", tmp_path / "*.txt", "-o", out, "--merges", 3)
    assert message == f"{tmp_path / '*.txt'}: no file matches"
    assert list(tmp_path.iterdir()) == []


def test_an_empty_corpus_is_refused(tmp_path):
    """Nothing can be learned from nothing, and nothing is written."""
    message = refused("train", "-", "-o", tmp_path / "t.bytepair", "--merges", 3)
    assert message.startswith("the corpus is empty")
    assert list(tmp_path.iterdir()) == []


def test_text_that_is_not_utf8_is_located(tmp_path):
    """A dialect of characters names the file and the byte that is wrong."""
    path = tmp_path / "latin.txt"
    path.write_bytes(b"caf\xe9 caf\xe9")
    out = tmp_path / "t.bytepair"
    message = refused("train", path, "-o", out, "--merges", 3, "--dialect", "sennrich")
    assert message.startswith(f"{path}: the text is not UTF-8 at byte 3")
    assert not out.exists()


def test_a_vocabulary_below_the_alphabet_is_refused(corpus, tmp_path):
    """The message tells how many ids there must be at least."""
    out = tmp_path / "t.bytepair"
    message = refused("train", corpus, "-o", out, "--vocab-size", 200)
    assert "--vocab-size is 200" in message
    assert "need 256" in message


def test_a_broken_pattern_is_pointed_at(corpus, tmp_path):
    """A caret stands under the place where the pattern is wrong."""
    out = tmp_path / "t.bytepair"
    message = refused("train", corpus, "-o", out, "--merges", 3, "--pattern", "a|(b")
    first, pattern, caret = message.split("\n")
    assert first.startswith("pattern error at character 2")
    assert pattern[caret.index("^")] == "("


def test_an_unknown_dialect_lists_the_known(corpus, tmp_path):
    """A wrong name is answered with the right ones."""
    out = tmp_path / "t.bytepair"
    message = refused("train", corpus, "-o", out, "--merges", 3, "--dialect", "gpt5")
    assert all(name in message for name in bytepair.dialects())


def test_an_output_that_cannot_be_written_is_refused_before_training(tmp_path):
    """The path is tried first: with no input at all the complaint is about the output."""
    train = ("train", tmp_path / "none.txt", "--merges", 3, "-o")
    assert "is not a known one" in refused(*train, tmp_path / "t.modle")
    message = refused(*train, tmp_path / "none" / "t.json")
    assert message == f"{tmp_path / 'none'}: No such file or directory"
    (tmp_path / "folder.json").mkdir()
    assert "is a folder" in refused(*train, tmp_path / "folder.json")


def test_a_format_for_other_tokenizers_is_refused_before_training(tmp_path):
    """That tiktoken has no end marks is known without any text."""
    missing = tmp_path / "none.txt"
    train = ("train", missing, "--merges", 3, "--dialect", "sennrich", "-o")
    message = refused(*train, tmp_path / "t.tiktoken")
    assert "tiktoken cannot express" in message
    assert list(tmp_path.iterdir()) == []


def test_no_training_is_lost_to_a_format(tmp_path):
    """Where only the result shows that a format cannot hold it, it is saved beside."""
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("low_er low_er")  # `_` is a letter here and the end mark too
    out = tmp_path / "t.json"
    options = ("--merges", 3, "--dialect", "jurafsky-martin", "--quiet")
    message = refused("train", corpus, "-o", out, *options)
    assert "cannot express" in message
    assert message.endswith(f"saved as {tmp_path / 't.bytepair'} instead")
    loaded = bytepair.Tokenizer.from_file(tmp_path / "t.bytepair")
    assert loaded == bytepair.train(corpus, merges=3, dialect="jurafsky-martin")
    assert not out.exists()


@pytest.mark.parametrize("option", ["--special", "--separator"])
def test_empty_texts_cut_nothing(corpus, tmp_path, option):
    """An empty special token or separator would stand everywhere: refused."""
    out = tmp_path / "t.bytepair"
    message = refused("train", corpus, "-o", out, "--merges", 3, option, "")
    assert "an empty text" in message


def test_a_special_token_given_twice_is_one(corpus, tmp_path):
    """Repeating a name does not add an id."""
    out = tmp_path / "t.bytepair"
    twice = ("--special", "<a>", "--special", "<a>")
    run("train", corpus, "-o", out, "--merges", 3, *twice)
    loaded = bytepair.Tokenizer.from_file(out)
    assert loaded.special_tokens == {"<a>": 259}
    assert loaded.n_vocab == 260


@pytest.mark.parametrize("name", ["vocab_size", "merges", "threads"])
@pytest.mark.parametrize("number", [-1, 1 << 70])
def test_numbers_out_of_range_are_named(name, number):
    """A negative or huge number is a TrainingError, not an OverflowError."""
    with pytest.raises(bytepair.TrainingError, match=name):
        bytepair.train_from_iterator([TEXT], **{name: number})


def test_an_existing_file_survives_a_failure(tmp_path, saved):
    """What cannot be trained leaves the file of the last time as it was."""
    out = tmp_path / "t.bytepair"
    out.write_bytes(saved.read_bytes())
    refused("train", "-", "-o", out, "--merges", 3)
    assert out.read_bytes() == saved.read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["t.bytepair"]


def n_unread(pipe):
    """Count the bytes of a pipe that nobody has read."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


def test_ctrl_c_ends_training(tmp_path):
    """SIGINT while a pipe is read ends the command at once, with 130 and no file."""
    out = tmp_path / "t.bytepair"
    process = subprocess.Popen(
        [*COMMAND, "train", "-", "-o", str(out), "--merges", "9"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    )
    process.stdin.write(b"some text, and more to come")
    process.stdin.flush()
    for _ in range(200):  # until it has read the text, and waits for more
        time.sleep(0.2)
        if not n_unread(process.stdin):
            break
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    try:
        process.wait(timeout=20)
    finally:
        process.kill()
    message = process.stderr.read()
    process.stdin.close()
    process.stderr.close()
    assert process.returncode == 130, message
    expected = "interrupted while counting, after 27 bytes; nothing was learned"
    assert message.decode() == f"bytepair: {expected}\n"
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_saves_what_was_learned(tmp_path):
    """SIGINT while merging ends the command with 130, a tokenizer, and its log."""
    corpus, out, log = (tmp_path / name for name in ("c.txt", "t.bytepair", "m.jsonl"))
    rng = random.Random(3)
    corpus.write_bytes(rng.randbytes(12_000_000))
    options = ("--dialect", "byte-stream", "--merges", "1000000")
    for seconds in (2, 8, 30):  # until it merges; of noise there is much to merge
        process = subprocess.Popen(
            [*COMMAND, "train", corpus, "-o", out, "--log", log, *options],
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
        )
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        try:
            _, message = process.communicate(timeout=100)
        finally:
            process.kill()
        assert process.returncode == 130, message
        if b"while counting" not in message:
            break
    tokenizer, steps = bytepair.Tokenizer.from_file(out), bytepair.read_log(log)
    n_merges = len(tokenizer.merges)
    assert n_merges == steps.last_step > 0
    lines = message.decode().splitlines()
    assert lines[0] == f"bytepair: interrupted after {n_merges:,} merges"
    assert lines[1:] == [
        f"saved: {out}; to continue, run the same command with --resume {out}",
        f"log: {log}",
    ]


# Train: logs, resumed training, weights, limits


def test_train_goes_on_from_a_tokenizer_and_its_log(corpus, tmp_path):
    """In two parts it saves and logs what it does at once."""
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
    files = ("-o", "t.bytepair", "--log", "m.jsonl", "--dialect", "sennrich")
    run("train", corpus, *files, "--merges", 15, cwd=one)
    run("train", corpus, *files, "--merges", 6, cwd=two)
    resumed = ("--resume", "t.bytepair")
    run("train", corpus, *files[:4], *resumed, "--merges", 15, cwd=two)
    for name in ("t.bytepair", "m.jsonl"):
        assert (one / name).read_bytes() == (two / name).read_bytes()


@pytest.mark.parametrize(
    ("output", "options"),
    [
        ("own.json", ()),
        ("own.json", ("--ties", "largest_text", "--min-count", 3)),
        ("own.tiktoken", ("--dialect", "gpt4", "--special", "<|end|>")),
        ("folder", ("--dialect", "gpt2")),
        ("own.json", ("--pattern", r"\p{L}+|[^\p{L}]+")),
        ("own.json", ("--dialect", "unknown-token", "--unknown-token", "<unk>")),
        ("own.json", ("--dialect", "sentencepiece", "--lowercase", "training")),
        ("own name.json", ("--format", "huggingface", "--dialect", "letters-digits")),
    ],
)
def test_the_same_command_goes_on_from_what_it_wrote(corpus, tmp_path, output, options):
    """Whatever its format, ``--resume`` with the path is all that is added."""
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
    command = ("train", corpus, "-o", output, *options)
    run(*command, "--merges", 15, cwd=one)
    run(*command, "--merges", 6, cwd=two)
    part = bytepair.Tokenizer.from_file(two / output)
    found = run(*command, "--merges", 15, "--resume", output, "--json", cwd=two)
    whole, after = (bytepair.Tokenizer.from_file(f / output) for f in (one, two))
    assert after.merges == whole.merges
    assert after.vocabulary[: part.n_vocab] == part.vocabulary
    summary = json.loads(found.stdout)
    assert (summary["unchanged_ids"], summary["new_ids"]) == (part.n_vocab, 9)
    assert f"{part.n_vocab} ids unchanged, 9 new" in found.stderr.decode()


def test_train_goes_on_from_a_published_tokenizer(shared, tmp_path):
    """GPT-2's own file takes a Persian corpus, and every id stays where it was."""
    path = shared("vocabularies/gpt2/tokenizer.json")
    (tmp_path / "fa.txt").write_text("سلام دنیا، زبان فارسی زیباست. " * 200, "utf-8")
    options = ("-o", "own.json", "--resume", path, "--vocab-size", 50_270)
    found = run("train", "fa.txt", *options, "--dialect", "gpt2", cwd=tmp_path)
    assert "50,257 ids unchanged, 13 new" in found.stderr.decode()
    before, after = map(bytepair.Tokenizer.from_file, (path, tmp_path / "own.json"))
    assert after.special_tokens == {"<|endoftext|>": 50_256}
    assert after.vocabulary[:50_257] == before.vocabulary


def test_train_with_weights(tmp_path):
    """``@`` gives a weight, unless a file is called so."""
    for name in ("a.txt", "b.txt", "b.txt@3"):
        (tmp_path / name).write_text(name[0] * 2 + " " + "cd " * 4)
    out = ("-o", "t.bytepair", "--merges", 3, "--json", "-q")

    def n_characters(*files):
        return json.loads(run("train", *files, *out, cwd=tmp_path).stdout)["characters"]

    assert n_characters("a.txt", "b.txt") == 30
    assert n_characters("a.txt@2.5", "b.txt") == 52.5
    assert n_characters("a.txt", "b.txt@3") == 30
    assert n_characters("a.txt", "b.txt@2") == 45
    message = refused("train", "a.txt", "a.txt@2", *out, cwd=tmp_path)
    assert "named twice" in message
    assert "above 0" in refused("train", "a.txt@0", *out, cwd=tmp_path)
    assert "no such file" in refused("train", "a.txt@x", *out, cwd=tmp_path)


def test_train_tells_what_was_left_out(tmp_path):
    """The summary names rare pieces, their occurrences, and the merges that are certain."""
    (tmp_path / "t.txt").write_text("ab " * 50 + "xy")
    out = tmp_path / "t.bytepair"
    options = ("--merges", 2, "--min-piece-count", 5, "--pattern", r"\w+|\s")
    found = run("train", tmp_path / "t.txt", "-o", out, *options).stderr.decode()
    expected = "left out: 1 rare piece, 1 occurrence; the first 1 of 1 merge would be the same with them"
    assert expected in found


def test_train_keeps_tokens_within_limits(corpus, tmp_path):
    """The limits of the command are those of the function."""
    limits = ("--max-token-bytes", 4, "--max-token-chars", 3, "--whole-characters")
    run("train", corpus, "-o", tmp_path / "t.bytepair", "--merges", 30, *limits)
    expected = bytepair.train(
        corpus, merges=30, max_token_bytes=4, max_token_chars=3, whole_characters=True
    )
    assert bytepair.Tokenizer.from_file(tmp_path / "t.bytepair") == expected
    assert max(map(len, expected.vocabulary)) == 4  # a space and a snowman
    assert expected != bytepair.train(corpus, merges=30)


def test_train_reads_sizes(corpus, tmp_path):
    """A memory limit has a unit; what is none is wrong usage, what is too little refused."""
    train = ("train", corpus, "-o", tmp_path / "t.bytepair", "--merges", 5)
    run(*train, "--memory-limit", "0.5GB")
    expected = bytepair.train(corpus, merges=5)
    assert bytepair.Tokenizer.from_file(tmp_path / "t.bytepair") == expected
    run(*train, "--memory-limit", "much", code=2)
    assert "--memory-limit: 1000 bytes" in refused(*train, "--memory-limit", "1kB")


def test_plot_draws_logs(corpus, tmp_path):
    """One curve for each log, in the format that the ending says."""
    for name in ("one", "two"):
        options = ("-o", f"{name}.bytepair", "--log", f"{name}.jsonl", "--merges", 9)
        run("train", corpus, *options, cwd=tmp_path)
    run("plot", "one.jsonl", "two.jsonl", "-o", "curve.svg", cwd=tmp_path)
    drawn = (tmp_path / "curve.svg").read_text()
    assert all(f">{name}<" in drawn for name in ("one", "two"))
    run("plot", "one.jsonl", "-o", "curve.png", cwd=tmp_path)
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert ".svg or a .png" in refused("plot", "one.jsonl", "-o", "x.gif", cwd=tmp_path)
    message = refused("plot", "one.bytepair", "-o", "x.svg", cwd=tmp_path)
    assert "looks like a .bytepair tokenizer" in message


# Encode and decode


def test_ids_are_a_line_of_numbers(saved):
    """By default the whole input becomes one line of decimal ids."""
    found = run("encode", saved, stdin=b"lower\nwider\n")
    expected = bytepair.Tokenizer.from_file(saved).encode("lower\nwider\n")
    assert found.stdout == " ".join(map(str, expected)).encode() + b"\n"


@pytest.mark.parametrize(
    "number_format", ["text", "pieces", "json", "uint16", "uint32"]
)
def test_decode_undoes_encode(saved, tmp_path, number_format):
    """Any bytes come back from ids in every format, through files and through pipes."""
    data = TEXT.encode() + bytes(range(256)) + b"\r\n\n"
    format_ = ("--format", number_format)
    (tmp_path / "text").write_bytes(data)
    ids = run("encode", saved, *format_, stdin=data).stdout
    run("encode", saved, tmp_path / "text", "-o", tmp_path / "ids", *format_)
    assert (tmp_path / "ids").read_bytes() == ids
    assert run("decode", saved, "-", *format_, stdin=ids).stdout == data
    run("decode", saved, tmp_path / "ids", "-o", tmp_path / "back", *format_)
    assert (tmp_path / "back").read_bytes() == data


def test_json_is_an_array(saved):
    """The JSON that is written is the list of ids."""
    ids = json.loads(run("encode", saved, "--format", "json", stdin=b"lower").stdout)
    assert ids == bytepair.Tokenizer.from_file(saved).encode("lower")


@pytest.mark.parametrize("bits", [16, 32])
def test_raw_numbers_are_little_endian(saved, bits):
    """What is written is the array that numpy reads, on every machine."""
    raw = run("encode", saved, "--format", f"uint{bits}", stdin=b"lower").stdout
    ids = np.frombuffer(raw, f"<u{bits // 8}").tolist()
    assert ids == bytepair.Tokenizer.from_file(saved).encode("lower")


@pytest.mark.parametrize("number_format", ["text", "json"])
def test_lines_are_texts_of_their_own(saved, number_format):
    """With ``--lines`` each line is encoded alone, empty ones too, and decoded alone."""
    tokenizer = bytepair.Tokenizer.from_file(saved)
    lines = ["lower", "", "wider \N{SNOWMAN}"]
    options = ("--lines", "--format", number_format)
    ids = run("encode", saved, *options, stdin="\n".join(lines).encode()).stdout
    parse = (
        json.loads if number_format == "json" else lambda s: list(map(int, s.split()))
    )
    assert [parse(line) for line in ids.decode().splitlines()] == [
        tokenizer.encode(line) for line in lines
    ]
    back = run("decode", saved, *options, stdin=ids).stdout
    assert back.decode() == "\n".join([*lines, ""])


def test_special_tokens_are_text_unless_allowed(saved):
    """A special token in the text gets its id where it is allowed by name, or all are."""
    text = b"low<|end|>"
    special = b"274"
    assert special not in run("encode", saved, stdin=text).stdout.split()
    for allowed in ("<|end|>", "all"):
        found = run("encode", saved, "--allowed-special", allowed, stdin=text)
        assert found.stdout.split()[-1] == special
    message = refused("encode", saved, "--allowed-special", "<|no|>", stdin=text)
    assert "not a special token" in message


def test_end_marks_become_spaces(words):
    """A tokenizer of characters gives text, its marks turned back."""
    ids = run("encode", words, stdin=b"lower wider newest").stdout
    assert run("decode", words, stdin=ids).stdout == b"lower wider newest"


def test_a_closed_pipe_ends_quietly(saved, tmp_path):
    """``bytepair encode … | head -1`` writes nothing to standard error."""
    path = tmp_path / "long"
    path.write_bytes(TEXT.encode() * 5000)
    process = subprocess.Popen(
        [*COMMAND, "encode", str(saved), str(path), "--lines"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    )
    process.stdout.readline()
    process.stdout.close()
    message = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 141
    assert message == b""


def test_a_full_device_is_an_error(saved):
    """Output that cannot be written is reported, once."""
    with open("/dev/full", "wb") as full:  # noqa: PTH123 -- a device
        found = subprocess.run(
            [*COMMAND, "encode", str(saved)],
            input=b"lower",
            stdout=full,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
            check=False,
        )
    assert found.returncode == 1
    assert found.stderr == b"bytepair: No space left on device\n"


# Encode and decode, refused


def test_a_text_that_fails_is_located(words, tmp_path):
    """A message names the file, and with ``--lines`` the line."""
    path = tmp_path / "text"
    path.write_bytes(b"low\nl\xffw\n")
    message = refused("encode", words, path)
    assert message.startswith(f"{path}: the text is not UTF-8 at byte 5")
    message = refused("encode", words, path, "--lines", "-o", tmp_path / "ids")
    assert message.startswith(f"{path}: line 2: the text is not UTF-8 at byte 1")
    assert "Z" in refused("encode", words, stdin=b"Z")
    assert [found.name for found in tmp_path.iterdir()] == ["text"]


def test_a_missing_input_is_named(saved, tmp_path):
    """Neither a tokenizer nor a text that is not there gives a traceback."""
    missing = tmp_path / "none"
    assert refused("encode", saved, missing) == f"{missing}: No such file or directory"
    assert str(missing) in refused("encode", missing)
    assert str(missing) in refused("decode", saved, missing)
    assert refused("info", missing) == f"{missing}: No such file or directory"


def test_a_tokenizer_that_is_cut_off_is_refused(saved, tmp_path):
    """Half a file is no tokenizer, wherever it is cut, and the file is named."""
    data = saved.read_bytes()
    path = tmp_path / "cut.bytepair"
    for length in (0, 1, len(data) // 2, len(data) - 2):
        path.write_bytes(data[:length])
        assert refused("info", path).startswith(f"{path}: ")


@pytest.mark.parametrize("ids", ["-1", "275", "4294967296", "99999999999999999999"])
def test_ids_that_no_token_has_are_refused(saved, ids):
    """Negative and huge ids are named, as text and as JSON, and nothing is written."""
    for number_format, data in (("text", ids), ("json", f"[{ids}]")):
        message = refused(
            "decode", saved, "--format", number_format, stdin=data.encode()
        )
        assert message.startswith(f"standard input: no token has the id {ids}")


@pytest.mark.parametrize(
    ("number_format", "data", "problem"),
    [
        ("text", b"5 six 7", "word 1 of the input is not an id: 'six'"),
        ("text", b"5\xff", "word 0 of the input is not an id"),
        ("text", b"1_000", "word 0 of the input is not an id: '1_000'"),
        ("text", b"9" * 9999, "word 0 of the input is not an id"),
        ("json", b"[5, 6", "not JSON"),
        ("json", b"[" * 100_000, "not JSON"),
        ("json", b"\xff", "not JSON"),
        ("json", b"{}", "expected a JSON array of ids, not {}"),
        ("json", b"[5, 6.0]", "item 1 of the array is not an id: 6.0"),
        ("json", b"[true]", "item 0 of the array is not an id: true"),
        ("uint16", b"abc", "3 bytes are not a whole number of 2-byte ids"),
        ("uint32", b"abcdef", "6 bytes are not a whole number of 4-byte ids"),
    ],
)
def test_what_is_no_list_of_ids_is_refused(saved, number_format, data, problem):
    """The message tells which place of the input is wrong."""
    message = refused("decode", saved, "--format", number_format, stdin=data)
    assert message.startswith(f"standard input: {problem}")


def test_ids_that_fail_are_located(saved):
    """With ``--lines`` a message names the line."""
    message = refused("decode", saved, "--lines", stdin=b"5 6\n\n7 x\n")
    assert message.startswith("standard input: line 3: word 1")


def test_16_bits_are_refused_where_ids_need_more(saved, tmp_path):
    """Ids are never cut off: a vocabulary above 65,536 needs 32 bits."""
    tokenizer = bytepair.Tokenizer.from_file(saved)
    for id_, is_small in ((65_535, True), (65_536, False)):
        path = tmp_path / f"{id_}.bytepair"
        tokenizer.with_special_tokens({"<|last|>": id_}).save(path)
        encode = ("encode", path, "--format", "uint16")
        if is_small:
            found = run(*encode, "--allowed-special", "all", stdin=b"<|last|>")
            assert found.stdout == b"\xff\xff"
        else:
            assert "use --format uint32" in refused(*encode, stdin=b"low")


def test_encode_writes_what_numpy_loads(saved, tmp_path):
    """An output ``.npy`` is an array, ``.bin`` its numbers, of the type that holds all ids."""
    (tmp_path / "text").write_bytes(TEXT.encode())
    ids = list(map(int, run("encode", saved, tmp_path / "text").stdout.split()))
    run("encode", saved, tmp_path / "text", "-o", tmp_path / "ids.npy")
    assert np.load(tmp_path / "ids.npy").tolist() == ids
    run("encode", saved, "-", "-o", tmp_path / "ids.bin", stdin=TEXT.encode())
    assert np.fromfile(tmp_path / "ids.bin", "<u2").tolist() == ids
    wide = ("--format", "uint32")
    run("encode", saved, tmp_path / "text", "-o", tmp_path / "ids.npy", *wide)
    assert np.load(tmp_path / "ids.npy").dtype == np.uint32
    run("encode", saved, "--lines", "-o", tmp_path / "ids.npy", code=2)


@pytest.mark.parametrize("dtype", ["uint16", "uint32"])
def test_decode_reads_the_npy_that_encode_writes(saved, tmp_path, dtype):
    """An array is recognised by its header, in a file and in a pipe, whatever its width."""
    (tmp_path / "text").write_bytes(TEXT.encode())
    path = tmp_path / "ids.npy"
    run("encode", saved, tmp_path / "text", "-o", path, "--format", dtype)
    assert np.load(path).dtype == dtype
    assert run("decode", saved, path).stdout == TEXT.encode()
    assert run("decode", saved, path, "--format", dtype).stdout == TEXT.encode()
    assert run("decode", saved, stdin=path.read_bytes()).stdout == TEXT.encode()
    run("decode", saved, path, "--lines", code=2)


def test_an_npy_that_encode_never_writes_is_refused(saved, tmp_path):
    """Other numbers, other shapes, cut and other files are named; text stays text."""
    path = tmp_path / "ids.npy"
    for array, message in [
        (np.array([1, 2]), "of int64 with 1 dimension; expected uint16 or uint32"),
        (np.array([1.0], np.float32), "of float32"),
        (np.array([[1, 2]], np.uint16), "with 2 dimensions"),
        (np.array([1, 2], ">u2"), "of >u2"),
    ]:
        np.save(path, array)
        found = refused("decode", saved, path)
        assert message in found
        assert found.startswith(str(path))
    np.save(path, np.array([108, 111], np.uint16))
    whole = path.read_bytes()
    assert "leave out --format" in refused("decode", saved, path, "--format", "uint32")
    for data, message in [
        (whole[:-1], "2 ids with 3 bytes of them, not 4; the file is cut off"),
        (whole + b"\0\0", "2 ids with 6 bytes"),
        (whole[:20], "damaged header"),
        (b"108 111", "the name ends in .npy, but this is not a NumPy array"),
    ]:
        path.write_bytes(data)
        assert message in refused("decode", saved, path)
    ids = " ".join(map(str, bytepair.Tokenizer.from_file(saved).encode("low")))
    path.write_text(ids)
    assert run("decode", saved, path, "--format", "text").stdout == b"low"


def test_raw_numbers_have_no_lines(saved):
    """``--lines`` with raw numbers would lose the lines: wrong usage."""
    run("encode", saved, "--lines", "--format", "uint16", code=2)
    run("decode", saved, "--lines", "--format", "uint32", code=2)


# Info


def test_info_begins_with_what_is_asked(saved):
    """The dialect, the size, the special tokens and what is lost, and no pattern."""
    shown = run("info", saved).stdout.decode()
    names = [line[:16].strip() for line in shown.splitlines()]
    expected = ["dialect", "size", "special tokens", "units", "loses", "learned from"]
    assert names == expected
    assert "dialect         like gpt4o\nsize" in shown
    assert "275 ids, 18 merges, 1 added token\n" in shown
    assert "    274  <|end|>" in shown
    assert "loses           nothing\n" in shown
    counts = [row[3] for row in bytepair.Tokenizer.from_file(saved).merge_log]
    assert f"occurred {counts[0]} times at first, {counts[-1]} at last" in shown


def test_info_tells_the_pipeline(saved):
    """At length a reader finds every part, how the split runs, and both ends of the merges."""
    shown = run("info", saved, "--verbose").stdout.decode()
    tokenizer = bytepair.Tokenizer.from_file(saved)
    for name, text in tokenizer._describe():
        assert f"{name:<16}{text}" in shown
    assert tokenizer.explain()[0] in shown
    assert tokenizer.fingerprint in shown
    assert "274  <|end|>" in shown
    assert "' newest'" in shown


def test_info_tells_the_compression_that_the_log_has(tmp_path):
    """After the last merge of the tokenizer, also of a smaller one; other logs are refused."""
    log, path, small, other = (
        tmp_path / name for name in ("l", "t.bytepair", "s.bytepair", "o.bytepair")
    )
    tokenizer = bytepair.train_from_iterator(["low lower"] * 2, merges=3, log=log)
    tokenizer.save(path)
    tokenizer.truncated(tokenizer.n_vocab - 1).save(small)
    bytepair.train_from_iterator(["her hers"], merges=3).save(other)
    assert "compression     2.25 bytes per token of the training corpus (18 bytes)" in (
        run("info", path, "--log", log).stdout.decode()
    )
    found = json.loads(run("info", small, "--log", log, "--json").stdout)
    assert (found["bytes_per_token"], found["corpus_bytes"]) == (18 / 10, 18)
    assert "compression" not in run("info", path).stdout.decode()
    assert "merge 1 is another than in the tokenizer" in refused(
        "info", other, "--log", log
    )


def test_info_is_json_for_programs(saved):
    """The JSON says the same."""
    found = json.loads(run("info", saved, "--json").stdout)
    tokenizer = bytepair.Tokenizer.from_file(saved)
    assert found["dialects"] == ["gpt4o"]
    assert found["n_vocab"] == 275
    assert found["n_merges"] == 18
    assert found["fingerprint"] == tokenizer.fingerprint
    assert found["special_tokens"] == {"<|end|>": 274}
    assert found["pipeline"] == dict(tokenizer._describe())
    assert found["split_execution"] == tokenizer.explain()
    assert [left + right for left, right in found["first_merges"]] == [
        (left + right).decode() for left, right in tokenizer.merges[:5]
    ]


# Demo


def test_the_demo_goes_the_whole_way(tmp_path):
    """It trains, shows what it learned, saves, loads, and checks the round trip."""
    out = tmp_path / "demo.bytepair"
    found = run("demo", "-o", out)
    shown = found.stdout.decode()
    assert "4,000 ids, compression ratio" in shown
    assert "First merges\n      1  " in shown
    assert "Last merges" in shown
    assert "[ return]" in shown
    assert "no difference" in shown
    assert f"Saved: {out}" in shown
    assert f"bytepair report {out} -o report.html" in shown
    assert f"bytepair show {out}" in shown
    assert f"bytepair trace {out}" in shown
    assert found.stderr == b""
    assert bytepair.Tokenizer.from_file(out).n_vocab == 4000


def test_the_demo_has_colours_and_progress_on_a_terminal(tmp_path):
    """Tokens are told apart by colour there, and the line of progress is shown."""
    shown = on_terminal("demo", "-o", tmp_path / "demo.bytepair")
    assert "\x1b[" in shown
    assert "[ return]" not in shown
    assert "merges done" in shown


def test_the_demo_fails_where_the_round_trip_fails(monkeypatch):
    """A text that does not come back is an error, not a remark."""
    from bytepair.cli import demo

    tokenizer = bytepair.train_from_iterator([TEXT], merges=5)
    assert demo.check_round_trip(tokenizer, [b"low", b"\xff"]) == 4

    class Wrong:
        encode_batch = tokenizer.encode_batch

        def decode_bytes(self, ids):
            return tokenizer.decode_bytes(ids).replace(b"o", b"0")

    with pytest.raises(bytepair.TokenizerError, match="text 1 did not come back"):
        demo.check_round_trip(Wrong(), [b"l", b"low"])


def test_the_demo_has_text_without_sources(monkeypatch, tmp_path):
    """A Python without its sources and topics still has docstrings to train on."""
    monkeypatch.setattr(python_texts.sysconfig, "get_path", lambda _name: str(tmp_path))
    monkeypatch.setitem(sys.modules, "pydoc_data.topics", None)
    texts = python_texts.python_texts(1_000_000)
    assert sum(map(len, texts)) > 100_000
    assert bytepair.train_from_iterator(texts, vocab_size=400).n_vocab == 400


def test_the_demo_reads_no_more_than_it_says():
    """The limit holds, and the order of the texts is fixed."""
    texts = python_texts.python_texts(200_000)
    assert 0 < sum(map(len, texts)) <= 200_000
    assert texts == python_texts.python_texts(200_000)


# The way in


def test_wrong_usage_is_2():
    """Unknown commands and options are wrong usage."""
    run("no-such-command", code=2)
    run("encode", "--no-such-option", code=2)


def test_the_version_is_shown():
    """``--version`` tells the version of the package."""
    assert run("--version").stdout.decode() == f"bytepair {bytepair.__version__}\n"


def test_the_command_is_installed():
    """``bytepair`` and ``python -m bytepair`` are one program."""
    from importlib.metadata import entry_points

    (entry,) = entry_points(group="console_scripts", name="bytepair")
    from bytepair.cli.entry import main

    assert entry.load() is main


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_what_is_missing_is_named(missing):
    """Without typer or rich one line says what to install."""
    program = (
        f"import sys; sys.modules[{missing!r}] = None; "
        "sys.argv[1:] = ['demo']; from bytepair.cli.entry import main; main()"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=False
    )
    assert found.returncode == 1
    assert found.stderr.decode().replace("\r", "") == (
        f"bytepair: the command line needs {missing}: pip install 'bytepair[cli]'\n"
    )


def test_the_package_does_not_import_the_command_line():
    """``import bytepair`` needs neither typer nor rich."""
    program = (
        "import sys, bytepair; "
        "sys.exit(bool({'typer', 'rich', 'bytepair.cli'} & sys.modules.keys()))"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_arguments_that_are_not_utf8_are_refused(saved):
    """A byte that is no text in an argument ends the command with a message."""
    found = subprocess.run(
        [*COMMAND, "encode", saved, "--allowed-special", b"\xff"],
        input=b"low",
        capture_output=True,
        env=ENVIRONMENT,
        check=False,
    )
    assert found.returncode == 1
    assert found.stderr.startswith(b"bytepair: special token has a lone surrogate")


def test_files_may_have_any_name(tmp_path):
    """A file whose name is not UTF-8 can be trained on."""
    path = os.fsencode(tmp_path) + b"/caf\xe9.txt"
    with open(path, "wb") as file:  # noqa: PTH123 -- a name of bytes
        file.write(TEXT.encode())
    assert len(bytepair.train(os.fsdecode(path), merges=3).merges) == 3


@pytest.mark.parametrize(("closed", "name"), [("<&-", "input"), (">&-", "output")])
def test_a_closed_stream_is_one_line(saved, closed, name):
    """A standard stream that is closed ends the command with a message."""
    command = shlex.join([*map(str, COMMAND), "encode", str(saved)])
    found = subprocess.run(
        ["sh", "-c", f"{command} {closed}"],
        capture_output=True,
        env=ENVIRONMENT,
        check=False,
    )
    assert found.returncode == 1
    assert found.stderr == f"bytepair: standard {name} is closed\n".encode()


def test_a_tokenizer_needs_a_path(corpus, tmp_path):
    """Neither standard output nor an unknown ending is taken for a format."""
    for output, reason in (("-", "standard output"), ("t.foo", "t.foo: the extension")):
        message = refused("train", corpus, "-o", output, "--merges", 1)
        assert reason in message
        assert "/tmp" not in message


def test_a_file_of_another_kind_is_told(tmp_path):
    """What is no JSON at all is not blamed on a place in it."""
    path = tmp_path / "corpus.txt"
    path.write_text("low lower")
    assert "not a known tokenizer format" in refused("info", path)


# Convert and verify


def test_convert_writes_what_verify_finds_equal(saved, tmp_path):
    """Every file is named, own texts are counted, and both commands say so."""
    text = tmp_path / "own.txt"
    text.write_text(TEXT, encoding="utf-8")
    found = run("convert", saved, tmp_path / "own.json", "--text", text).stdout.decode()
    assert f"wrote {tmp_path / 'own.json'}\n" in found
    assert "huggingface: the same ids" in found
    equal = run("verify", saved, tmp_path / "own.json", "--text", text).stdout.decode()
    assert equal.startswith("no difference")
    assert f"{len(TEXT):,} characters" in equal


def test_verify_shows_the_first_difference(saved, tmp_path):
    """The exit code is 1, and the text that differs is small."""
    other = bytepair.Tokenizer.from_file(saved).with_special_tokens(["<|other|>"])
    other.save(tmp_path / "other.bytepair")
    found = run("verify", saved, tmp_path / "other.bytepair", code=1)
    assert found.stderr == b""
    lines = found.stdout.decode().splitlines()
    assert lines[:2] == ["ids differ", "  text    '<|other|>'"]


def test_convert_refuses_what_it_cannot_do(saved, tmp_path):
    """One line of reason, and no file."""
    assert "unknown format" in refused("convert", saved, tmp_path / "x", "--to", "onnx")
    assert "extension '.txt'" in refused("convert", saved, tmp_path / "x.txt")
    assert "no such file" in refused(
        "convert", saved, tmp_path / "x.json", "--text", "no"
    )
    (tmp_path / "bytes").write_bytes(b"a\xff")
    message = refused("verify", saved, saved, "--text", tmp_path / "bytes")
    assert message.endswith("byte 1 is not UTF-8")
    assert [path.name for path in tmp_path.iterdir()] == ["bytes"]
