"""Memory: what a limit promises, and what happens where memory ends.

Each case runs in a process of its own. A limit is measured by the most memory that was resident, over
that of the same call on a text of one line; where memory ends, a limit of the address space stands in
for it.
"""

import csv
import gzip
import json
import os
import re
import textwrap
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests.made_up import hugging_face, vocabulary
from tests.programs import run_python

import bytepair
from bytepair import TokenizerError, _core

IS_LINUX = Path("/proc/self/status").is_file()
pytestmark = pytest.mark.skipif(
    not IS_LINUX, reason="this system does not say how much memory was taken"
)
MEGABYTE = 1 << 20
LIMIT = 64 * MEGABYTE

PEAK = """
import json, resource, sys
from pathlib import Path

def status(name):
    text = Path("/proc/self/status").read_text()
    return int(text.split(name + ":")[1].split()[0]) << 10

def peak():
    return status("VmHWM")

def limit_to(n_bytes):
    import numpy  # without address space, loading its OpenBLAS retries forever
    most = status("VmSize") + n_bytes
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
"""


def run(program, *arguments, **options):
    """Run a program in a process of its own, and give what it prints as JSON."""
    environment = {**os.environ, "MALLOC_ARENA_MAX": "2"}
    options |= {"env": environment, "timeout": None}
    done = run_python(PEAK + textwrap.dedent(program), *arguments, **options)
    return json.loads(done.stdout)


FROM_PIPE = """
    import bytepair
    before = peak()
    tokenizer = bytepair.train("-", merges=50, threads=2)
    print(json.dumps([peak() - before, len(tokenizer.merges)]))
"""


@pytest.mark.slow
def test_training_takes_memory_for_distinct_pieces_alone():
    """200 MB through a pipe take a few blocks."""
    block = " ".join(f"w{n % 5000} é日本" for n in range(70_000)) + "\n"
    text = block * (200 * MEGABYTE // len(block.encode()))
    n_bytes, n_merges = run(FROM_PIPE, input=text)
    assert n_merges == 50
    assert n_bytes < 100 * MEGABYTE


NEW_WORDS = """
    import bytepair
    tokenizer = bytepair.train_from_iterator(["0123456789abcdef " * 9], vocab_size=270)
    def encode_new_words(start):
        for first in range(start, start + 1_500_000, 50_000):
            numbers = range(first, first + 50_000)
            tokenizer.count(" ".join(f"{n * 2654435761 % 2**32:x}" for n in numbers))
    encode_new_words(0)
    before = status("VmRSS")
    encode_new_words(10_000_000)
    print(status("VmRSS") - before)
"""


@pytest.mark.slow
def test_memory_does_not_grow_with_new_words():
    """The cache of pieces is bounded: new words for ever take no new memory."""
    assert run(NEW_WORDS) < 20 * MEGABYTE


LIMITED = """
    import bytepair
    from bytepair import scale
    how, path, warm, options = sys.argv[1], sys.argv[2], sys.argv[3], json.loads(sys.argv[4])

    def work(path):
        if how == "train":
            bytepair.train(path, vocab_size=300, **options)
        else:
            scale.count(path, output=path + ".parquet", **options)

    work(warm)
    before = peak()
    try:
        work(path)
        problem = None
    except bytepair.TokenizerError as error:
        problem = str(error)
    print(json.dumps([peak() - before, problem]))
"""


def words(n_words, length, seed=1):
    """Make so many different words of so many letters."""
    letters = np.random.default_rng(seed).integers(97, 123, (n_words, length + 1))
    letters[:, 0] = 32
    return letters.astype(np.uint8).tobytes()


LONG = b"a" * (40 * MEGABYTE)


def long_line(folder):
    """Make JSON lines of which one is longer than the limit allows."""
    lines = [json.dumps({"text": "low lower"}), json.dumps({"text": LONG.decode()})]
    (folder / "c.jsonl").write_text("\n".join(lines) + "\n")


def long_packed(folder):
    """Make a small file of a long text."""
    (folder / "c.txt.gz").write_bytes(gzip.compress(b"low new " + LONG, 1))


def long_field(folder):
    """Make a table of which one value is too long."""
    with (folder / "c.csv").open("w") as file:
        csv.writer(file).writerows([["text"], ["low"], [LONG.decode()]])


def long_value(folder):
    """Make a table of columns of which one value is too long."""
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"text": ["low"] * 10 + [LONG[: 6 * MEGABYTE].decode()]})
    pytest.importorskip("pyarrow.parquet").write_table(table, folder / "c.parquet")


def many_documents(folder):
    """Make many tiny documents."""
    with (folder / "c.jsonl").open("w") as file:
        file.writelines(f'{{"text": "n{number}"}}\n' for number in range(300_000))


def text_of(make):
    """Give a function that writes a text."""
    return lambda folder: (folder / "c.txt").write_bytes(make())


def many_letters():
    """Make text that fits, with words that are as long as they may be."""
    return b" low lower ".join(bytes([n]) * (3 * MEGABYTE) for n in b"abcdef")


LEARNING = "memory_limit: to learn from"
# What is written, the options, and what the error says, if there is one.
CASES = {
    "long line": (
        long_line,
        {},
        r"c\.jsonl: what begins at byte \d+ has more than 4,194,304",
    ),
    # a text without a place to cut it
    "long text": (
        text_of(lambda: b"low new " + LONG),
        {},
        r"c\.txt.*the 4194304 bytes from byte [57] on",
    ),
    "long lines": (
        text_of(lambda: b"low\n" + LONG),
        {"lines": True},
        r"c\.txt: what begins at byte 4 has more",
    ),
    "long document": (
        text_of(lambda: b"low<s>" + LONG),
        {"separator": "<s>"},
        r"c\.txt",
    ),
    "long packed": (long_packed, {}, r"c\.txt\.gz.*bytes from byte 7 on"),
    "long field": (long_field, {}, r"c\.csv: CSV: the record of line 3"),
    "long value": (long_value, {}, r"c\.parquet: row 11 has more than"),
    "many words": (text_of(lambda: words(2_000_000, 9)), {}, LEARNING),
    "many documents": (many_documents, {}, None),
    "many letters": (text_of(many_letters), {}, LEARNING),
}
# Pieces that are documents, whose first occurrences are kept, and text that is normalized.
DEALT = [*((case, "gpt2") for case in CASES), ("many documents", "byte-stream")]
DEALT.append(("long text", "sentencepiece"))


@pytest.mark.parametrize("how", ["train", "count"])
@pytest.mark.parametrize(("case", "dialect"), DEALT)
def test_a_memory_limit_is_kept_or_what_exceeds_it_is_named(
    tmp_path, case, dialect, how
):
    """The most memory is within a fifth of the limit, and what cannot be within is an error of its place."""
    if how == "count":
        pytest.importorskip("pyarrow")
    write, options, problem = CASES[case]
    write(tmp_path)
    (path,) = tmp_path.iterdir()
    warm = tmp_path / f"warm{''.join(path.suffixes)}"
    write_small(warm)
    options = {"memory_limit": LIMIT, "threads": 2, "dialect": dialect, **options}
    taken, found = run(LIMITED, how, path, warm, json.dumps(options))
    assert taken < LIMIT * 6 / 5, f"{taken >> 20} MB"
    if problem is None or (how == "count" and problem == LEARNING):
        assert found is None
    else:
        assert re.search(problem, str(found)), found


def write_small(path):
    """Write a corpus of one document in the format of its name."""
    if path.suffix == ".parquet":
        table = pytest.importorskip("pyarrow").table({"text": ["low lower"]})
        pytest.importorskip("pyarrow.parquet").write_table(table, path)
        return
    text = {".jsonl": '{"text": "low lower"}\n', ".csv": "text\nlow lower\n"}
    content = text.get(path.suffix, "low lower").encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


ENDING = """
    import bytepair, numpy as np
    what = sys.argv[1]
    tokenizer = bytepair.train_from_iterator(["low lower aa aaaa"], vocab_size=260, dialect="gpt2")
    small = "aa low" * 50_000
    results = []
    text = "a" * (16 << 20)
    varied = " ".join(format(n, "x") for n in range(1_000_000))
    works = {
        "list": lambda: tokenizer.encode(varied),
        "array": lambda: tokenizer.encode_to_numpy(text),
        "threads": lambda: tokenizer.encode_to_numpy(varied, threads=2),
        "batch": lambda: tokenizer.encode_batch_to_numpy([varied, text, varied]),
        "lists": lambda: tokenizer.encode_batch([varied, varied]),
        "full": lambda: tokenizer.encode_full(text),
        "offsets": lambda: tokenizer.encode_full(varied).offsets,
        "count": lambda: tokenizer.count(text),
        "train": lambda: bytepair.train_from_iterator([text, varied], vocab_size=300),
        "bytes": lambda: tokenizer.decode_bytes(ids),
        "text": lambda: tokenizer.decode(ids),
    }
    ids = np.full(12_000_000, 258, np.uint32) if what in ("bytes", "text") else None
    tokenizer.encode(small)
    for room in (20, 70, 85, 110, 160):
        limit = status("VmSize") + (room << 20)
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
        try:
            works[what]()
            results.append("done")
        except MemoryError as error:
            results.append("MemoryError")
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    print(json.dumps(results))
"""


@pytest.mark.parametrize("what", re.findall(r'"(\w+)": lambda', ENDING))
def test_where_memory_ends_python_gets_a_memory_error(what):
    """Whatever room is left, a call gives its result or a MemoryError; no process ends."""
    results = run(ENDING, what)
    assert results[0] == "MemoryError"
    assert set(results) <= {"done", "MemoryError"}


PACKED = """
    import bytepair, bytepair.data  # and numpy, whose import waits for ever without memory
    limit_to(100 << 20)
    try:
        bytepair.train(sys.argv[1], vocab_size=300, dialect="gpt2")
        print(json.dumps("done"))
    except MemoryError as error:
        print(json.dumps(str(error)))
"""


@pytest.mark.parametrize("name", ["c.txt", "c.txt.gz", "c.jsonl", "c.csv"])
def test_a_file_that_is_longer_than_memory_is_a_memory_error(tmp_path, name):
    """A text without a place to cut it, packed or not, ends with a MemoryError where memory does."""
    path, text = tmp_path / name, b"a" * (150 * MEGABYTE)
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(text, 1))
    elif name.endswith(".jsonl"):
        path.write_bytes(b'{"text": "' + text + b'"}\n')
    else:
        path.write_bytes(b"text\n" + text)
    found = run(PACKED, path)
    assert name in found


COMMAND = """
    import pyarrow.parquet, pyarrow.compute
    from bytepair.cli.app import run
    sys.argv = ["bytepair", *sys.argv[1:]]
    limit_to(100 << 20)
    run()
"""


@pytest.mark.parametrize("command", ["count-pieces", "train"])
def test_a_small_file_that_is_much_when_unpacked_ends_a_command_with_one_line(
    tmp_path, command
):
    """A packed text of one letter that no memory holds is an error that names the file, and no abort."""
    pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "c.txt.gz"
    path.write_bytes(gzip.compress(b"a" * (150 * MEGABYTE), 1))
    size = ["--vocab-size", "300"] if command == "train" else []
    output = tmp_path / ("out.json" if command == "train" else "out.parquet")
    arguments = [command, path, "-o", output, "--dialect", "gpt2", *size]
    done = run_python(PEAK + textwrap.dedent(COMMAND), *arguments, code=1)
    last = done.stderr.strip().splitlines()[-1]
    assert "c.txt.gz: out of memory" in last, done.stderr[-2000:]
    assert "Traceback" not in done.stderr


SPARSE = """
    import bytepair
    limit_to(512 << 20)
    try:
        bytepair.Tokenizer.from_file(sys.argv[1])
        print(json.dumps("read"))
    except bytepair.TokenizerError as error:
        print(json.dumps(str(error)))
"""


def test_a_compiled_file_that_is_nothing_but_a_claim_is_refused(tmp_path):
    """A section that is a terabyte of a hole on the disk is an error, not an end of the process."""
    tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    path = tmp_path / "t.bytepair-compiled"
    tokenizer.save(path)
    whole = path.read_bytes()
    table_at, n_sections = 24, 8
    for section in range(n_sections):
        place = table_at + 16 * section
        length = int.from_bytes(whole[place : place + 8], "little") + (3 << 40)
        damaged = bytearray(whole)
        damaged[place : place + 8] = length.to_bytes(8, "little")
        path.write_bytes(damaged)
        os.truncate(path, len(whole) + (3 << 40))
        assert str(path) in run(SPARSE, path)


GROWING = {
    "prepend": {"type": "Prepend", "prepend": "a" * 1_000_000},
    "replace": {"type": "Replace", "pattern": {"String": "a"}, "content": "b" * 60_000},
    "pattern": {"type": "Replace", "pattern": {"Regex": "a"}, "content": "b" * 60_000},
    "chain": [
        {"type": "Replace", "pattern": {"String": "a"}, "content": "b" * 250},
        {"type": "Replace", "pattern": {"String": "b"}, "content": "c" * 250},
    ],
    "prepends": [{"type": "Prepend", "prepend": letter * 900} for letter in "ab"],
}


@pytest.mark.parametrize("name", GROWING)
def test_a_normalizer_that_makes_texts_a_thousand_times_longer_is_refused(name):
    """The file is refused when it is read, by an error that names the normalizer."""
    found = GROWING[name]
    if isinstance(found, list):
        found = {"type": "Sequence", "normalizers": found}
    longer = pytest.raises(TokenizerError, match=r"normalizer: .* 1024 times longer")
    with longer:
        hugging_face({"vocab": vocabulary(*"low"), "merges": []}, normalizer=found)


def test_parts_that_share_nearly_all_ids_are_refused_where_there_are_many():
    """A stride of 999 of 1,000 over 120,000 ids is an error; over few it is not."""
    tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=256)
    cut = tokenizer.with_truncation(1000, stride=999)
    assert len(cut.encode_full("x" * 3000, fit_length=True).overflowing) == 2000
    long, whole = "x" * 120_000, tokenizer.encode_full("x" * 120_000)
    with pytest.raises(TokenizerError, match=r"truncation: 120000 ids .* lower stride"):
        cut.encode_full(long, fit_length=True)
    with pytest.raises(TokenizerError, match="truncation: 120000 ids"):
        whole.truncate(1000, stride=999)
    pairs = tokenizer.with_truncation(100)
    with pytest.raises(TokenizerError, match="truncation: 120000 ids"):
        pairs.encode_full(long[:60_000], long[:60_000], fit_length=True)


def test_a_part_of_a_file_that_cannot_be_cut_has_a_limit(tmp_path):
    """The error names the file and the place, and nothing is written."""
    options = {"vocab_size": 258, "dialect": "gpt2"}
    tokenizer = bytepair.train_from_iterator(["low lower"], **options)
    path, output = tmp_path / "text", tmp_path / "ids.npy"
    path.write_text("low new " + "a" * 5000)
    special = {"allowed_special": (), "disallowed_special": ()}
    options = {**special, "is_wide": False, "has_header": True, "added_tokens": "find"}
    output.touch()
    names = (str(path), str(output), str(output))
    encode = partial(
        _core.encode_file, tokenizer, names, stretch_len=100, threads=1, **options
    )
    with pytest.raises(TokenizerError, match=r"text: .* 1000 bytes from byte 7 on"):
        encode(max_uncut=1000)
    assert encode(max_uncut=6000)[1] == 5008


@pytest.mark.parametrize("limit", [1, 1000, 8 * MEGABYTE])
def test_a_limit_that_cannot_be_kept_is_refused_at_the_start(tmp_path, limit):
    """The error says how much is enough, and that much is taken."""
    (tmp_path / "c.jsonl").write_text('{"text": "low lower"}\n')
    train = partial(bytepair.train, tmp_path / "c.jsonl", vocab_size=260, threads=2)
    with pytest.raises(TokenizerError, match=r"memory_limit: .* at least") as told:
        train(memory_limit=limit)
    enough = int(str(told.value).split("at least ")[1].split(",")[0].split(" ")[0])
    assert train(memory_limit=enough * 3).n_vocab
