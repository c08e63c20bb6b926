"""The commands ``train``, ``encode``, ``decode``, ``info``, ``demo``, ``convert`` and ``verify``.

They run in this process but where signals, terminals, streams and imports are the point.
"""

import _thread
import fcntl
import json
import random
import re
import shlex
import signal
import subprocess
import sys
import termios
import threading
import time
from importlib.metadata import entry_points

import numpy as np
import pytest
from tests.commands import COMMAND, ENVIRONMENT, refused, run, run_process
from tests.conftest import load
from tests.programs import run_python
from tests.terminals import on_terminal

import bytepair
from bytepair import analyze, surgery
from bytepair.cli import demo, entry, train

TEXT = "low lower lowest, newer newest wider widest \N{SNOWMAN}\n" * 20


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


def test_train_passes_every_option_on(corpus, tmp_path):
    """Each option that sets a part of a dialect reaches the tokenizer."""
    options = ["--dialect", "unknown-token", "--pattern", r"\w+", "--pattern", "words"]
    options += ["--unmatched", "drop", "--ties", "largest_text", "--min-count", 3]
    options += ["--lowercase", "always", "--unknown-token", "<unk>", "--byte-fallback"]
    options += ["--special", "<a>", "--special", "<b>", "--document-separator", "<sep>"]
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


def test_train_saves_what_the_api_trains(corpus, tmp_path):
    """The command is the function of the same name; ``-`` is standard input."""
    run("train", corpus, "-o", tmp_path / "a.bytepair", "--merges", 12)
    run("train", "-", "-o", tmp_path / "b.bytepair", "--merges", 12, stdin=TEXT)
    expected = bytepair.train(corpus, merges=12)
    for name in "ab":
        loaded = bytepair.Tokenizer.from_file(tmp_path / f"{name}.bytepair")
        assert loaded == expected
        assert len(loaded.merges) == 12


def test_train_says_how_it_went(tmp_path):
    """The summary counts merges, tells the ratio, why it stopped, and special tokens.

    Where standard error is no terminal, no line is written over again.
    """
    (tmp_path / "t.txt").write_text("ab ab ab<|end|>ab")
    out = tmp_path / "t.bytepair"
    found = run(
        "train", tmp_path / "t.txt", "-o", out, "--merges", 99, "--special", "<|end|>"
    )
    for line in (
        "2 merges, 259 ids",
        "compression ratio 2.50 characters per token",
        "stopped: no pair occurs twice",
        "special tokens in the text: <|end|> 1",
        f"saved: {out}",
    ):
        assert line in found.stderr
    assert b"\r" not in found.stderr_bytes
    assert "remaining" not in found.stderr
    assert found.stdout == ""


def test_train_writes_its_summary_as_json(corpus, tmp_path):
    """``--json`` gives a program the numbers, and nothing else on standard output."""
    out = tmp_path / "t.bytepair"
    found = run("train", corpus, "-o", out, "--vocab-size", 270, "--json", "--quiet")
    summary = json.loads(found.stdout)
    assert found.stderr == ""
    assert summary["output"] == str(out)
    assert summary["merges"] == 14
    assert summary["n_vocab"] == 270
    assert summary["bytes"] == len(TEXT.encode())
    assert summary["characters_per_token"] == pytest.approx(
        summary["characters"] / summary["tokens"], abs=1e-4
    )


@pytest.mark.parametrize(
    ("command", "n_columns"), [("shard", 20), ("train", 40), ("train", 120)]
)
def test_a_line_of_progress_fits_the_terminal(corpus, tmp_path, command, n_columns):
    """It tells merges, time and ratio, with a bar if it is wide; it never wraps."""
    tokenizer = tmp_path / "t.bytepair"
    if command == "train":
        typed = ("train", corpus, "-o", tokenizer, "--merges", 20)
    else:
        bytepair.train(corpus, merges=20).save(tokenizer)
        typed = ("shard", tokenizer, corpus, "-o", tmp_path / "shards")
    shown = on_terminal(*typed, n_columns=n_columns)
    written_over = shown.split("\r\x1b[K")[1:-1]
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", text) for text in written_over]
    assert any(
        ("MB" if command == "shard" else "merges done") in text for text in plain
    )
    for text in plain:
        assert "\n" in text or len(text) < n_columns
    if n_columns == 120:
        line = next(text for text in plain if "merges done" in text)
        assert re.match(r"[━╸╺]+ +[0-9]+% ", line)
        for part in ("of 20 merges done", "remaining", "compression ratio"):
            assert part in line
    else:
        assert not any("━" in text for text in plain)


# Train, refused


TRAIN_REFUSED = {
    "t.txt -o t.bytepair": "give either --vocab-size or --merges",
    "t.txt -o t.bytepair --merges 3 --vocab-size 300": "give either",
    "none.txt -o t.bytepair --merges 3": "none.txt: no such file\n",
    "*.md -o t.bytepair --merges 3": "*.md: no file matches\n",
    "- -o t.bytepair --merges 3": "the corpus is empty",
    "latin.txt -o t.bytepair --merges 3 --dialect sennrich": (
        "latin.txt: the text is not UTF-8 at byte 3"
    ),
    "t.txt -o t.bytepair --vocab-size 200": (
        "a vocabulary of 200 ids is too small: the alphabet and the unknown and special tokens alone need 256"
    ),
    "t.txt -o t.bytepair --merges 3 --dialect gpt5": ", ".join(bytepair.dialects()),
    "t.txt -o t.bytepair --merges 3 --special ''": "an empty text",
    "t.txt -o t.bytepair --merges 3 --pattern 'a|(b'": (
        "error at character 2: a group without its `)`\n  a|(b\n    ^\n"
    ),
    "t.txt -o t.bytepair --merges 3 --document-separator ''": "an empty text",
    # The output is tried first: no text is needed to know this.
    "none.txt -o t.modle --merges 3": "unknown extension '.modle'",
    "none.txt -o t.foo --merges 3": "bytepair: t.foo: unknown extension",
    "none.txt -o - --merges 3": "standard output",
    "none.txt -o none/t.json --merges 3": "bytepair: none: No such file or directory\n",
    "none.txt -o folder.json --merges 3": "is a folder",
    "none.txt -o t.tiktoken --merges 3 --dialect sennrich": "tiktoken cannot express",
}


@pytest.mark.parametrize("typed", TRAIN_REFUSED)
def test_training_that_cannot_be_is_refused(typed, corpus, tmp_path):
    """The message names the file, the place or the option, and nothing is written."""
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9 caf\xe9")
    (tmp_path / "t.txt").write_text(TEXT, "utf-8")
    (tmp_path / "folder.json").mkdir()
    before = sorted(tmp_path.rglob("*"))
    code = 2 if TRAIN_REFUSED[typed].startswith("give either") else 1
    found = run("train", *shlex.split(typed), code=code, cwd=tmp_path)
    assert found.stderr.startswith("bytepair: ")
    assert TRAIN_REFUSED[typed] in found.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_no_training_is_lost_to_a_format(tmp_path):
    """Where only the result shows that a format cannot hold it, it is saved beside."""
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("low_er low_er")  # `_` is a letter here and the end mark too
    out = tmp_path / "t.json"
    options = ("--merges", 3, "--dialect", "jurafsky-martin", "--quiet")
    message = refused("train", corpus, "-o", out, *options)
    assert "cannot express" in message
    assert "the same character is in the alphabet" in message
    assert message.endswith(f"saved as {tmp_path / 't.bytepair'} instead")
    loaded = bytepair.Tokenizer.from_file(tmp_path / "t.bytepair")
    assert loaded == bytepair.train(corpus, merges=3, dialect="jurafsky-martin")
    assert not out.exists()


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
    while n_unread(process.stdin) and process.poll() is None:
        time.sleep(0.01)
    time.sleep(0.1)  # until it waits for more, of which nothing tells
    process.send_signal(signal.SIGINT)
    try:
        process.wait(timeout=60)
    finally:
        process.kill()
    message = process.stderr.read().decode()
    process.stdin.close()
    process.stderr.close()
    assert process.returncode == 130, message
    expected = "interrupted while counting, after 27 bytes; nothing was learned"
    assert message == f"bytepair: {expected}\n"
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_saves_what_was_learned(tmp_path, monkeypatch):
    """SIGINT while merging ends the command with 130, a tokenizer, and its log."""
    corpus, out, log = (tmp_path / name for name in ("c.txt", "t.bytepair", "m.jsonl"))
    corpus.write_bytes(random.Random(3).randbytes(3_000_000))  # much to merge
    watch, senders = train.Watch.__call__, []

    def watched(self, progress):
        watch(self, progress)
        if progress.phase == "merge" and not senders:
            interrupt = threading.Thread(target=_thread.interrupt_main)
            senders.append(interrupt)
            interrupt.start()

    monkeypatch.setattr(train.Watch, "__call__", watched)
    options = ("--dialect", "byte-stream", "--merges", 1_000_000)
    found = run("train", corpus, "-o", out, "--log", log, *options, code=130)
    tokenizer, steps = bytepair.Tokenizer.from_file(out), bytepair.read_log(log)
    n_merges = len(tokenizer.merges)
    assert n_merges == steps.last_step > 0
    assert found.stderr.splitlines() == [
        f"bytepair: interrupted after {n_merges:,} merges",
        f"saved: {out}; to continue, run the same command with --resume {out}",
        f"log: {log}",
    ]


# Train: logs, resumed training, weights, limits


def test_train_goes_on_from_a_tokenizer_and_its_log(corpus, tmp_path):
    """In two parts it saves and logs what it does at once, and says how many ids are new."""
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
    files = ("-o", "t.bytepair", "--log", "m.jsonl", "--dialect", "sennrich")
    run("train", corpus, *files, "--merges", 15, cwd=one)
    run("train", corpus, *files, "--merges", 6, cwd=two)
    part = bytepair.Tokenizer.from_file(two / "t.bytepair").n_vocab
    resumed = ("--resume", "t.bytepair", "--json")
    found = run("train", corpus, *files[:4], *resumed, "--merges", 15, cwd=two)
    summary = json.loads(found.stdout)
    assert (summary["unchanged_ids"], summary["new_ids"]) == (part, 9)
    assert f"{part} ids unchanged, 9 new" in found.stderr
    for name in ("t.bytepair", "m.jsonl"):
        assert (one / name).read_bytes() == (two / name).read_bytes()


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
    """The summary names rare pieces and their occurrences."""
    (tmp_path / "t.txt").write_text("ab " * 50 + "xy")
    out = tmp_path / "t.bytepair"
    options = ("--merges", 2, "--min-piece-count", 5, "--pattern", r"\w+|\s")
    found = run("train", tmp_path / "t.txt", "-o", out, *options).stderr
    expected = "left out: 1 rare piece, 1 occurrence"
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


# Encode and decode


READERS = {
    "text": lambda data: list(map(int, data.split())),
    "json": json.loads,
    "uint16": lambda data: np.frombuffer(data, "<u2").tolist(),
    "uint32": lambda data: np.frombuffer(data, "<u4").tolist(),
}


@pytest.mark.parametrize("number_format", READERS)
def test_ids_are_written_in_each_format(saved, number_format):
    """A line of decimals by default, a list of JSON, or what numpy reads on every machine."""
    found = run("encode", saved, "--format", number_format, stdin="lower\nwider\n")
    expected = load(saved).encode("lower\nwider\n")
    assert READERS[number_format](found.stdout_bytes) == list(expected)
    if number_format == "text":
        assert found.stdout == " ".join(map(str, expected)) + "\n"
        assert run("encode", saved, stdin="lower\nwider\n").stdout == found.stdout


@pytest.mark.parametrize("number_format", [*READERS, "pieces"])
def test_decode_undoes_encode(saved, tmp_path, number_format):
    """Any bytes come back from ids in every format, through files and through pipes."""
    data = TEXT.encode() + bytes(range(256)) + b"\r\n\n"
    format_ = ("--format", number_format)
    (tmp_path / "text").write_bytes(data)
    ids = run("encode", saved, *format_, stdin=data).stdout_bytes
    run("encode", saved, tmp_path / "text", "-o", tmp_path / "ids", *format_)
    assert (tmp_path / "ids").read_bytes() == ids
    assert run("decode", saved, "-", *format_, stdin=ids).stdout_bytes == data
    run("decode", saved, tmp_path / "ids", "-o", tmp_path / "back", *format_)
    assert (tmp_path / "back").read_bytes() == data


@pytest.mark.parametrize("number_format", ["text", "json"])
def test_lines_are_texts_of_their_own(saved, number_format):
    """With ``--lines`` each line is encoded alone, empty ones too, and decoded alone."""
    lines = ["lower", "", "wider \N{SNOWMAN}"]
    options = ("--lines", "--format", number_format)
    ids = run("encode", saved, *options, stdin="\n".join(lines)).stdout
    found = [READERS[number_format](line) for line in ids.splitlines()]
    assert found == [load(saved).encode(line) for line in lines]
    back = run("decode", saved, *options, stdin=ids).stdout
    assert back == "\n".join([*lines, ""])


def test_special_tokens_are_text_unless_allowed(saved):
    """A special token in the text gets its id where it is allowed by name, or all are."""
    encode, special = ("encode", saved), "274"
    assert special not in run(*encode, stdin="low<|end|>").stdout.split()
    for allowed in ("<|end|>", "all"):
        found = run(*encode, "--allowed-special", allowed, stdin="low<|end|>")
        assert found.stdout.split()[-1] == special
    assert "not a special token" in refused(*encode, "--allowed-special", "<|no|>")
    message = refused(*encode, "--allowed-special", "\udcff")  # a byte that is no text
    assert message.startswith("special token has a lone surrogate")


def test_a_closed_pipe_ends_quietly(saved, tmp_path):
    """``bytepair encode … | head -1`` writes nothing to standard error."""
    path = tmp_path / "long"
    path.write_bytes(TEXT.encode() * 500)
    process = subprocess.Popen(
        [*COMMAND, "encode", str(saved), str(path), "--lines"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    )
    process.stdout.readline()
    process.stdout.close()
    _, message = process.communicate(timeout=60)
    assert (process.returncode, message) == (141, b"")


def test_a_full_device_is_an_error(saved):
    """Output that cannot be written is reported, once."""
    with open("/dev/full", "wb") as full:  # noqa: PTH123 -- a device
        streams = {"capture_output": False, "stdout": full, "stderr": subprocess.PIPE}
        found = run_process("encode", saved, stdin=b"lower", code=1, **streams)
    assert found.stderr == "bytepair: No space left on device\n"


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (OSError(28, "No space left"), 1, "bytepair: No space left\n"),
        (BrokenPipeError(), 141, ""),
    ],
    ids=repr,
)
def test_output_that_a_program_holds_may_fail_too(monkeypatch, error, code, message):
    """There is no descriptor of it to close."""

    def failing(*_):
        raise error

    monkeypatch.setattr("click.Group.invoke", failing)
    assert run("languages", code=code).stderr == message


# Encode and decode, refused


def test_a_text_that_fails_is_located(words, tmp_path):
    """A message names the file, and with ``--lines`` the line."""
    path = tmp_path / "text"
    path.write_bytes(b"low\nl\xffw\n")
    message = refused("encode", words, path)
    assert message.startswith(f"{path}: the text is not UTF-8 at byte 5")
    message = refused("encode", words, path, "--lines", "-o", tmp_path / "ids")
    assert message.startswith(f"{path}: line 2: the text is not UTF-8 at byte 1")
    assert refused("count-tokens", words, "Z\udcff").startswith("the text: the text is")
    assert "Z" in refused("encode", words, stdin=b"Z")
    assert [found.name for found in tmp_path.iterdir()] == ["text"]


def test_a_text_is_typed_read_from_a_file_or_from_standard_input(saved, tmp_path):
    """All commands that take a text follow one rule, and decode takes ids or a file alike."""
    text = "the cat sat"
    (tmp_path / "text").write_text(text)
    ids = run("encode", saved, text).stdout
    for command in ("encode", "count-tokens", "trace", "show"):
        typed = run(command, saved, text).stdout
        assert run(command, saved, "--text", text).stdout == typed
        assert run(command, saved, stdin=text.encode()).stdout.split()[0] in typed
        assert run(command, saved, "text", cwd=tmp_path).stdout.split()[0] in typed
        assert "leave out" in refused(command, saved, "a", "--text", "b", code=2)
        assert "in quotes: 'the cat'" in refused(command, saved, "the", "cat", code=2)
    for command in ("encode", "trace", "show"):
        assert "a folder, not a text" in refused(command, saved, tmp_path)
        assert "te?t: no such" in refused(command, saved, "te?t", cwd=tmp_path)
    run("encode", saved, text, "-o", tmp_path / "ids.npy")
    np.savetxt(tmp_path / "12", np.load(tmp_path / "ids.npy"), "%d")
    for typed in (ids.split(), [ids], [f"[{', '.join(ids.split())}]"], ["ids.npy"]):
        assert run("decode", saved, *typed, cwd=tmp_path).stdout == text
    assert run("decode", saved, "12", cwd=tmp_path).stdout == text
    assert run("decode", saved, *ids.split() * 999).stdout == text * 999
    assert run("decode", saved, "[]").stdout == ""
    for wrong in (["x"], ["1", "-"], ["1", "ids.npy"], ["\u0661"]):
        message = refused("decode", saved, *wrong, cwd=tmp_path)
        assert message.startswith(f"{' '.join(wrong)!r}: neither an id")
    assert "--format json is for" in refused(
        "decode", saved, "1", "--format", "json", code=2
    )


def test_a_missing_input_is_named(saved, tmp_path):
    """Neither a tokenizer nor a text that is not there gives a traceback."""
    missing = tmp_path / "none"
    assert f"{missing}: no such file" in refused("encode", saved, missing)
    assert str(missing) in refused("encode", missing)
    assert str(missing) in refused("decode", saved, missing)
    assert refused("info", missing) == f"{missing}: no such file or folder"


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
    """Ids are never cut off: a vocabulary above 65,536 needs 32 bits, as does a larger padding id."""
    tokenizer = load(saved)
    for id_, is_small in ((65_535, True), (65_536, False)):
        path = tmp_path / f"{id_}.bytepair"
        tokenizer.with_special_tokens({"<|last|>": id_}).save(path)
        encode = ("encode", path, "--format", "uint16")
        if is_small:
            found = run(*encode, "--allowed-special", "all", stdin=b"<|last|>")
            assert found.stdout_bytes == b"\xff\xff"
        else:
            assert "use --format uint32" in refused(*encode, stdin=b"low")
    path = tmp_path / "tokenizer.json"
    tokenizer.with_padding(0, length=9).save(path)
    parts = json.loads(path.read_text("utf-8"))
    parts["padding"]["pad_id"] = 70_000
    path.write_text(json.dumps(parts), "utf-8")
    encode = ("encode", path, "--add-special-tokens", "--format", "uint16")
    assert "the id 70000 does not fit uint16" in refused(*encode, stdin=b"low")


def test_arrays_of_numpy_are_written_and_read(saved, tmp_path):
    """``.npy`` is an array, ``.bin`` its numbers, of the type that holds all ids or is asked for.

    An array is recognised by its header, in a file and in a pipe.
    """
    text, path, raw = (tmp_path / name for name in ("text", "ids.npy", "ids.bin"))
    text.write_text(TEXT, "utf-8")
    ids = load(saved).encode(TEXT)
    run_process("encode", saved, "-", "-o", raw, stdin=TEXT.encode())
    assert np.fromfile(raw, "<u2").tolist() == ids
    for format_ in ((), ("--format", "uint16"), ("--format", "uint32")):
        run("encode", saved, text, "-o", path, *format_)
        array = np.load(path)
        assert array.dtype == (format_ or ("", "uint16"))[1]
        assert array.tolist() == ids
        assert run("decode", saved, path).stdout == TEXT
        assert run("decode", saved, path, *format_).stdout == TEXT
        assert run("decode", saved, stdin=path.read_bytes()).stdout == TEXT
    run("encode", saved, "--lines", "-o", path, code=2)
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
    ids = " ".join(map(str, load(saved).encode("low")))
    path.write_text(ids)
    assert run("decode", saved, path, "--format", "text").stdout == "low"


def test_raw_numbers_have_no_lines(saved):
    """``--lines`` with raw numbers would lose the lines: wrong usage."""
    run("encode", saved, "--lines", "--format", "uint16", code=2)
    run("decode", saved, "--lines", "--format", "uint32", code=2)


# Info


def test_info_begins_with_what_is_asked(saved):
    """The file, the dialect, the size, the special tokens and what is lost, and no pattern."""
    shown = run("info", saved).stdout
    names = [line[:16].strip() for line in shown.splitlines()]
    expected = ["file", "dialect", "size", "special tokens", "units", "loses"]
    assert names == [*expected, "learned from"]
    assert f" (format bytepair), {saved.stat().st_size:,} bytes\n" in shown
    assert "dialect         like gpt4o\nsize" in shown
    assert "275 ids, 18 merges, 1 added token\n" in shown
    assert "    274  <|end|>" in shown
    assert "loses           nothing (decoding restores every text)\n" in shown
    counts = [row[3] for row in load(saved).inspect().merge_log]
    assert f"occurred {counts[0]} times at first, {counts[-1]} at last" in shown


def test_info_tells_the_pipeline(saved):
    """At length a reader finds every part, how the split runs, and both ends of the merges."""
    shown = run("info", saved, "--verbose").stdout
    tokenizer = load(saved)
    for name, text in tokenizer.inspect().description.items():
        assert f"{name:<16}{text}" in shown
    assert tokenizer.inspect().settings["stages"][0] in shown
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
    surgery.shorten(tokenizer, tokenizer.n_vocab - 1).save(small)
    bytepair.train_from_iterator(["her hers"], merges=3).save(other)
    assert "compression     2.25 bytes per token of the training corpus (18 bytes)" in (
        run("info", path, "--log", log).stdout
    )
    found = json.loads(run("info", small, "--log", log, "--json").stdout)
    assert (found["bytes_per_token"], found["corpus_bytes"]) == (18 / 10, 18)
    assert "compression" not in run("info", path).stdout
    assert "merge 1 differs from that of the tokenizer" in refused(
        "info", other, "--log", log
    )


def test_info_is_json_for_programs(saved):
    """The JSON says the same."""
    found = json.loads(run("info", saved, "--json").stdout)
    tokenizer = load(saved)
    assert found["dialects"] == ["gpt4o"]
    assert found["n_vocab"] == 275
    assert found["n_merges"] == 18
    assert found["fingerprint"] == tokenizer.fingerprint
    assert found["behaviour"] == analyze.behaviour(tokenizer)
    assert found["special_tokens"] == {"<|end|>": 274}
    assert found["pipeline"] == tokenizer.inspect().description
    assert found["split_execution"] == tokenizer.inspect().settings["stages"]
    assert [left + right for left, right in found["first_merges"]] == [
        (left + right).decode() for left, right in tokenizer.merges[:5]
    ]


# Demo


def test_the_demo_goes_the_whole_way(tmp_path, monkeypatch):
    """It trains, shows what it learned, saves, loads, and checks the round trip."""
    monkeypatch.setattr(demo, "MAX_BYTES", 500_000)
    out = tmp_path / "demo.bytepair"
    found = run("demo", "-o", out)
    for part in (
        "4,000 ids, compression ratio",
        "First merges\n      0  ",
        "Last merges",
        "[ return]",
        "no difference",
        f"Saved: {out}",
        f"bytepair report {out} -o report.html",
        f"bytepair show {out}",
        f"bytepair trace {out}",
    ):
        assert part in found.stdout
    assert found.stderr == ""
    assert bytepair.Tokenizer.from_file(out).n_vocab == 4000


@pytest.mark.slow
def test_the_demo_has_colours_and_progress_on_a_terminal(tmp_path):
    """Tokens are told apart by colour there, and the line of progress is shown."""
    shown = on_terminal("demo", "-o", tmp_path / "demo.bytepair")
    assert "\x1b[" in shown
    assert "[ return]" not in shown
    assert "merges done" in shown


def test_the_demo_fails_where_the_round_trip_fails(monkeypatch):
    """A text that does not come back is an error, not a remark."""
    tokenizer = bytepair.train_from_iterator([TEXT], merges=5)
    assert demo.check_round_trip(tokenizer, [b"low", b"\xff"]) == 4

    class Wrong:
        encode_batch = tokenizer.encode_batch

        def decode_bytes(self, ids):
            return tokenizer.decode_bytes(ids).replace(b"o", b"0")

    with pytest.raises(
        bytepair.TokenizerError, match="text 1 is not the same after decoding"
    ):
        demo.check_round_trip(Wrong(), [b"l", b"low"])


def test_the_demo_needs_sources(monkeypatch, tmp_path):
    """A Python without its sources is named, and the command to use instead."""
    monkeypatch.setattr(demo.sysconfig, "get_path", lambda _name: str(tmp_path))
    with pytest.raises(bytepair.TokenizerError, match="no sources to train on"):
        demo.python_texts(1_000_000)


def test_the_demo_reads_no_more_than_it_says():
    """The limit holds, and the order of the texts is fixed."""
    texts = demo.python_texts(200_000)
    assert 0 < sum(map(len, texts)) <= 200_000
    assert texts == demo.python_texts(200_000)


# The way in


def test_the_command_is_installed():
    """``bytepair`` and ``python -m bytepair`` are one program."""
    (installed,) = entry_points(group="console_scripts", name="bytepair")
    assert installed.load() is entry.main


def test_the_version_is_shown():
    """``--version`` tells the version of the package."""
    assert run("--version").stdout == f"bytepair {bytepair.__version__}\n"


@pytest.mark.parametrize("missing", ["click", "rich"])
def test_what_is_missing_is_named(missing):
    """Without click or rich one line says what to install."""
    program = (
        f"import sys; sys.modules[{missing!r}] = None; "
        "sys.argv[1:] = ['demo']; from bytepair.cli.entry import main; main()"
    )
    assert run_python(program, code=1).stderr == (
        f"bytepair: the command line needs {missing}: pip install 'bytepair[cli]'\n"
    )


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


# Convert and verify


def test_convert_writes_what_compare_finds_equal(saved, tmp_path):
    """Every file is named, own texts are counted, and both commands say so."""
    text = tmp_path / "own.txt"
    text.write_text(TEXT, encoding="utf-8")
    found = run("convert", saved, tmp_path / "own.json", "--corpus", text).stdout
    assert f"wrote {tmp_path / 'own.json'}\n" in found
    assert "huggingface: the same ids" in found
    equal = run("compare", saved, tmp_path / "own.json", text, "--exit-code").stdout
    assert equal.startswith("no difference")
    assert f"{len(TEXT):,} characters" in equal


def test_convert_refuses_what_it_cannot_do(saved, tmp_path):
    """One line of reason, and no file."""
    assert "unknown format" in refused(
        "convert", saved, tmp_path / "x", "--format", "onnx"
    )
    assert "extension '.txt'" in refused("convert", saved, tmp_path / "x.txt")
    assert "no such file" in refused(
        "convert", saved, tmp_path / "x.json", "--corpus", "no"
    )
    (tmp_path / "bytes").write_bytes(b"a\xff")
    message = refused("compare", saved, saved, tmp_path / "bytes", "--exit-code")
    assert message.endswith("byte 1 is not UTF-8")
    assert [path.name for path in tmp_path.iterdir()] == ["bytes"]
