"""Training from files, texts and counts: what is read, told, learned, and at what cost.

Left out: which merges are right (``test_against_reference``, ``test_seeds``), wrong
arguments (``test_bad_input``).
"""

import json
import os
import random
import re
import signal
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from tests.marks import slow_but
from tests.programs import run_python

import bytepair
from bytepair import surgery
from bytepair._training.remaining import Remaining
from bytepair.errors import TrainingError

BLOCK = 8 << 20  # how much of a file is read at once, in bytes
TIES = ["smallest_ids", "first_seen", "largest_text"]


def assert_equal(one, other):
    """Two tokenizers learned the same, with the same counts."""
    assert one.inspect().merge_log == other.inspect().merge_log
    assert one.vocabulary == other.vocabulary
    assert str(one) == str(other)


def report_of(train, *arguments, **options):
    """Train, and give the tokenizer and the report at the end."""
    steps = []
    tokenizer = train(*arguments, progress=steps.append, **options)
    return tokenizer, steps[-1].report


# Files


def test_one_file_several_files_and_globs(tmp_path):
    """Paths as text or objects, in lists, generators and globs, name the same files."""
    texts = {"a.txt": "low lower", "b.txt": "lowest low", "c.md": "slow low"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    expected = bytepair.train_from_iterator(texts.values(), merges=9)
    files = [tmp_path / name for name in texts]
    for given in (files, map(str, files), tuple(files), (file for file in files)):
        assert_equal(bytepair.train(given, merges=9), expected)
    both = [f"{tmp_path}/*.txt", tmp_path / "c.md"]
    assert_equal(bytepair.train(both, merges=9), expected)
    assert_equal(bytepair.train(tmp_path / "*", merges=9), expected)
    assert_equal(bytepair.train(f"{tmp_path}/**/*.*", merges=9), expected)
    one = bytepair.train(tmp_path / "a.txt", merges=2)
    assert_equal(one, bytepair.train_from_iterator(["low lower"], merges=2))


def test_files_come_in_the_order_given_and_globs_sorted(tmp_path):
    """The pair that is seen first is the first in that order; a file that is named like a glob is that file."""
    for name, text in (("b", "cd"), ("a", "ab"), ("c", "ef"), ("[a]", "xy")):
        (tmp_path / name).write_text(text)

    def first_merge(*names):
        files = [tmp_path / name for name in names]
        return bytepair.train(files, dialect="byte-stream", merges=1).merges

    assert first_merge("b", "a", "c") == [(b"c", b"d")]
    assert first_merge("c", "a", "b") == [(b"e", b"f")]
    assert first_merge("?") == [(b"a", b"b")]
    assert first_merge("[a]") == [(b"x", b"y")]


@pytest.mark.skipif(sys.platform != "linux", reason="names need not be UTF-8 there")
def test_file_names_need_not_be_utf8(tmp_path):
    """A name of any bytes, as the system gives it, can be read."""
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.txt")
    with open(path, "w") as file:  # noqa: PTH123 -- the name is the point
        file.write("xy xy")
    assert bytepair.train(path, merges=1).merges == [(b"x", b"y")]
    assert bytepair.train(f"{tmp_path}/*.txt", merges=1).merges == [(b"x", b"y")]


def test_one_file_is_one_text(tmp_path):
    """No piece reaches from one file into the next, and empty files change nothing."""
    for number, text in enumerate(["", "ab", "", "cd", ""]):
        (tmp_path / str(number)).write_text(text)
    options = {"dialect": "byte-stream", "min_count": 1}
    tokenizer, report = report_of(bytepair.train, tmp_path / "*", **options)
    assert tokenizer.merges == [(b"a", b"b"), (b"c", b"d")]
    assert (report["texts"], report["bytes"]) == (5, 4)


def test_files_are_read_as_they_are(tmp_path):
    """Line ends and byte order marks stay."""
    file = tmp_path / "file"
    file.write_bytes(b"\xef\xbb\xbfa\r\nb\r\n")
    tokenizer = bytepair.train(file, dialect="byte-stream", merges=0)
    pieces = [(tokenizer.decode_bytes([n]), n) for n in range(256)]
    assert tokenizer.decode_bytes([n for _, n in pieces]) == bytes(range(256))
    words = bytepair.train(file, dialect="unknown-token", pattern="", merges=0)
    assert words.vocabulary[:-1] == ["\n", "\r", "a", "b", "\ufeff"]
    crlf = bytepair.train(file, dialect="byte-stream", merges=1)
    assert crlf.merges == [(b"\r", b"\n")]


# Special tokens


@pytest.mark.parametrize("is_file", [True, False])
def test_special_tokens_in_training_text_are_reported(tmp_path, is_file):
    """They are borders, are counted apart, and get the last ids; one that is named twice is one."""
    text, file = "ab<s>ab</s><s><s>ab", tmp_path / "file"
    file.write_text(text)
    train = bytepair.train if is_file else bytepair.train_from_iterator
    options = {"dialect": "byte-stream", "vocab_size": 260}
    options["special_tokens"] = ["<s>", "</s>", "<s>", "<x>"]
    tokenizer, report = report_of(train, file if is_file else [text], **options)
    assert tokenizer.inspect().merge_log == [(97, 98, 256, 3)]
    assert tokenizer.special_tokens == {"<s>": 257, "</s>": 258, "<x>": 259}
    assert report["special_tokens"] == {"<s>": 3, "</s>": 1, "<x>": 0}
    assert report["characters"] == 6
    assert str(tokenizer).count("<s>") == 1


# Progress


def test_progress_is_told_truthfully(tmp_path):
    """Counting and merging are told with numbers that grow and end where they must."""
    rng = random.Random(0)
    letters = [chr(97 + n) for n in range(26)]
    words = ["".join(rng.choices(letters, k=rng.randint(2, 9))) for _ in range(20_000)]
    text = " ".join(rng.choices(words, k=400_000))
    file = tmp_path / "file"
    file.write_text(text)
    steps = []
    tokenizer = bytepair.train([file, file], merges=3000, progress=steps.append)
    n_bytes = 2 * len(text)
    phases = {phase: [s for s in steps if s.phase == phase] for phase in PHASES}
    assert [s for phase in PHASES for s in phases[phase]] == steps
    for phase in PHASES:
        assert [s.done for s in phases[phase]] == sorted(s.done for s in phases[phase])
        assert all(s.seconds >= 0 for s in phases[phase])
    assert all(s.total == n_bytes and 0 <= s.done <= n_bytes for s in phases["count"])
    assert phases["count"][-1].done > 0
    assert all(s.total == 3000 and 0 < s.done <= 3000 for s in phases["merge"])
    assert all(s.characters == n_bytes > s.tokens for s in phases["merge"])
    tokens = [s.tokens for s in phases["merge"]]
    assert tokens == sorted(tokens, reverse=True)
    (end,) = phases["done"]
    assert end.done == end.total == end.report["merges"] == 3000
    assert len(tokenizer.merges) == 3000
    assert end.tokens == 2 * tokenizer.count(text)
    assert end.characters == end.report["characters"] == n_bytes
    assert end.characters_per_token == pytest.approx(n_bytes / end.tokens)
    assert end.report["best_count_at_stop"] is None
    assert end.report["distinct_pieces"] == len(set(tokenizer.split(text)))


PHASES = ["count", "merge", "done"]


def test_the_report_says_why_training_ended_and_counts_characters():
    """How often the best pair occurred where none was left; characters and tokens are weighted by counts."""
    _, report = report_of(bytepair.train_from_iterator, ["abab cd"], vocab_size=9999)
    assert report["best_count_at_stop"] == 1
    options = {"dialect": "sennrich", "merges": 0}
    counts = {"éé": 3, "a": 2}
    _, report = report_of(bytepair.train_from_counts, counts, **options)
    assert report["best_count_at_stop"] is None
    assert (report["characters"], report["tokens"]) == (8, 13)


@pytest.mark.parametrize("phase", PHASES)
def test_an_exception_in_a_progress_function_ends_training(tmp_path, phase):
    """It comes out as it is, in every phase."""
    file = tmp_path / "file"
    file.write_text("low lower lowest " * 100)

    def stop(progress):
        if progress.phase == phase:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        bytepair.train(file, merges=5, progress=stop)


INTERRUPTED = """
import bytepair, sys
def texts():
    yield "abc"
    print("iterate", flush=True)
    while True:
        yield "abc " * 10_000
def tell(step, told=[]):
    if step.phase not in told:
        print(step.phase, flush=True)
        told.append(step.phase)
try:
    if sys.argv[1] == "merge":
        counts = {f"{n**30:x}": n for n in range(2, 100_000)}
        bytepair.train_from_counts(counts, progress=tell)
    elif sys.argv[1] == "count":
        bytepair.train("/dev/zero", pattern=".", progress=tell)
    else:
        bytepair.train_from_iterator(texts())
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="sends a signal, reads /dev/zero")
@pytest.mark.parametrize("phase", ["merge", "count", "iterate"])
def test_ctrl_c_ends_training(phase):
    """Training looks at signals while it reads and while it merges."""
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, phase], stdout=subprocess.PIPE, text=True
    )
    assert any(line == f"{phase}\n" for line in process.stdout)
    process.send_signal(signal.SIGINT)
    try:
        output, _ = process.communicate(timeout=20)
    finally:
        process.kill()
    assert output == "interrupted\n"


# Counts


@pytest.mark.parametrize("count", [2**31 - 1, 2**31, 2**32 - 1, 2**32 + 1, 2**60])
@pytest.mark.parametrize("ties", TIES)
def test_counts_beyond_32_bits_are_exact(count, ties):
    """A pair one more frequent than another goes first, however large the counts."""
    counts = {"ab": count, "cd": count + 1, "xcdx": 1}
    tokenizer = bytepair.train_from_counts(counts, ties=ties, merges=2)
    letters = {token: tokenizer.token_to_id(token) for token in "abcd"}
    assert tokenizer.inspect().merge_log == [
        (letters["c"], letters["d"], 256, count + 2),
        (letters["a"], letters["b"], 257, count),
    ]


LIMIT = r"9,223,372,036,854,775,807 \(63 bits\)"


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ({"ab": -3}, "'ab' is -3; a count must not be negative"),
        ({"ab": -(2**200)}, "a count must not be negative"),
        ({"ab": 2**63}, f"'ab' is 9223372036854775808, more than {LIMIT}"),
        ({"ab": 2**200}, LIMIT),
        ({"ab": 2**63 - 1, b"ab": 1}, f"'ab' adds up to more than {LIMIT}"),
        ({"ab": 2**62}, "is 4611686018427387904, and each occurrence has 2 symbols"),
        ({"a": 2**62, "abc": 2**62}, LIMIT),
        ({"a" * 1000: 2**60}, LIMIT),
    ],
)
def test_what_is_wrong_with_a_count_is_said(counts, message):
    """One below zero, one too large, a sum and a product each have their own words; nothing wraps."""
    with pytest.raises(bytepair.TokenizerError, match=message.replace("'", '"')):
        bytepair.train_from_counts(counts, merges=3)


def test_pieces_in_counts_are_not_split():
    """A piece is taken as it is, spaces and all; one symbol may occur 2 ** 62 times."""
    tokenizer = bytepair.train_from_counts({"a b": 5, "a": 2**62}, merges=2)
    assert tokenizer.merges == [(b"a", b" "), (b"a ", b"b")]


# What the result depends on


def some_texts(n_texts=300, seed=1):
    """Make texts of few words, with many ties."""
    rng = random.Random(seed)
    words = ["".join(rng.choices("abcdeé ", k=rng.randint(1, 6))) for _ in range(200)]
    return [" ".join(rng.choices(words, k=rng.randint(0, 40))) for _ in range(n_texts)]


@pytest.mark.parametrize("dialect", ["gpt4o", "sennrich", "byte-stream"])
def test_the_first_pair_does_not_depend_on_how_text_arrives(tmp_path, dialect):
    """Ties go by the place in the text, not by threads, batches or files."""
    texts = some_texts()
    options = {"dialect": dialect, "ties": "first_seen", "min_count": 1, "merges": 400}
    expected = bytepair.train_from_iterator(texts, threads=1, **options)
    for number, text in enumerate(texts):
        (tmp_path / f"{number:04}").write_text(text)
    others = [
        bytepair.train_from_iterator(texts, threads=3, **options),
        bytepair.train_from_iterator([*texts, *reversed(texts)], **options),
        bytepair.train(tmp_path / "*", threads=2, **options),
    ]
    assert_equal(others[0], expected)
    assert_equal(others[2], expected)
    assert others[1].merges == expected.merges
    backwards = bytepair.train_from_iterator(texts[::-1], **options)
    assert backwards.merges != expected.merges


SAVE = """
import bytepair, sys
threads, own, published, *files = sys.argv[1:]
tokenizer = bytepair.train(files, dialect="gpt2", merges=500, threads=int(threads))
tokenizer.save(own)
tokenizer.save(published)
"""


def test_every_run_writes_the_same_bytes(tmp_path):
    """Threads, hash seeds and the order of files leave no trace in what is written."""
    words = random.Random(7)
    files = [tmp_path / f"{number}.txt" for number in range(5)]
    for file in files:
        numbers = (int(words.expovariate(1 / 4000)) for _ in range(12_000))
        file.write_text(" ".join(f"{number**3:x}" for number in numbers))
    found = set()
    for run in range(5):
        saved = [tmp_path / f"{run}.bytepair", tmp_path / f"{run}.json"]
        random.Random(run).shuffle(files)
        environment = {**os.environ, "PYTHONHASHSEED": str(run)}
        run_python(SAVE, run + 1, *saved, *files, env=environment)
        found.add(tuple(path.read_bytes() for path in saved))
    assert len(found) == 1


# Blocks

# Whatever can lie across the border of two blocks: special tokens and their beginnings,
# characters of several bytes, combining marks, runs, long words, bytes that are no UTF-8.
ACROSS = "x<s><s>é日本😀e\u0301\u0301<s>a12345\r\n\r\n \t  Ångström's<s<|end|>ÀÉzz don't ﬁ ½<s>"
DIALECTS = {
    "gpt4o": {},
    "gpt2": {"special_tokens": ["<s>", "<s><s>", "a12345\r\n\r\n "]},
    "deepseek-v3": {"special_tokens": ["<s>"]},
    "letters-digits": {"separator": "<|end|>"},
    "sennrich": {"special_tokens": ["<s>"], "separator": "<|end|>"},
    "jurafsky-martin": {"special_tokens": ["<s>"]},
    "sentencepiece": {"special_tokens": ["<s>"]},
    "unknown-token": {"normalize": ["nfc", ("replace", "zz d", "q")]},
}


@pytest.mark.parametrize("dialect", slow_but(["gpt2"], DIALECTS))
def test_nothing_happens_at_the_border_of_two_blocks(tmp_path, dialect):
    """A file is counted as if it were in memory, wherever the blocks end."""
    options = {"dialect": dialect, "min_count": 1, "merges": 200, **DIALECTS[dialect]}
    across = ACROSS.encode()
    if dialect in ("gpt4o", "gpt2", "letters-digits"):
        across += b"\xff\xe2\x80 \xf0\x9f"
    filler = b"ab cd\n" * (BLOCK // 6 + 1)
    for shift in range(0, len(across) + 8, 11):
        start = BLOCK - len(across) - 4 + shift
        text = filler[:start] + across + b" ab" + across
        file = tmp_path / "file"
        file.write_bytes(text)
        from_file, report = report_of(bytepair.train, file, **options)
        in_memory, expected = report_of(bytepair.train_from_iterator, [text], **options)
        assert_equal(from_file, in_memory)
        assert report == expected


@pytest.mark.parametrize(
    ("text", "n_prefixes"),
    [
        ("abab", 1),
        ("ab<s>ab<s>", 1),
        ("<s>abab", 0),
        ("<s><s>ab<s>ab", 0),
        ("ab<|end|>ab<|end|>ab<s>ab", 3),
        ("ab<|end|>ab<|end|><|end|>cd<s>ab<|end|>", 3),
    ],
)
def test_a_text_begins_behind_a_separator_not_behind_a_special_token(
    tmp_path, text, n_prefixes
):
    """Only a text that begins with no special token gets a prefix, in files too; a separator is no token."""
    (tmp_path / "file").write_text(text)
    options = {"dialect": "byte-stream", "normalize": [("prepend", "x")], "merges": 1}
    options |= {"special_tokens": ["<s>"], "separator": "<|end|>"}
    tokenizer, report = report_of(bytepair.train, tmp_path / "file", **options)
    in_memory, expected = report_of(bytepair.train_from_iterator, [text], **options)
    assert_equal(tokenizer, in_memory)
    assert report == expected
    n_ab = text.count("ab")
    assert tokenizer.inspect().merge_log == [(97, 98, 256, n_ab)]
    assert report["characters"] == 2 * (n_ab + text.count("cd")) + n_prefixes
    assert report["texts"] == 1 + text.count("<|end|>")
    assert report["special_tokens"] == {"<s>": text.count("<s>")}


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["smallest_ids", "first_seen"])
def test_a_file_of_several_blocks_is_counted_exactly(tmp_path, ties):
    """Random text of 20 MB gives the counts of a plain ``Counter`` over its pieces."""
    rng = random.Random(2)
    kinds = ["a", "é", "日本", "😀", " ", "\n", "  \n", "1", "'s", "<s>", "B.", "\t"]
    words = ["".join(rng.choices(kinds, k=rng.randint(1, 9))) for _ in range(5000)]
    words += ["long" * 2000, " " * 5000, "<s>" * 30]
    text = "".join(rng.choices(words, k=800_000))
    file = tmp_path / "file"
    file.write_text(text, newline="")
    options = {"special_tokens": ["<s>"], "ties": ties, "merges": 300}
    tokenizer = bytepair.train(file, **options)
    counts = Counter()
    for part in text.split("<s>"):
        counts.update(tokenizer.split(part))
    assert_equal(bytepair.train_from_counts(counts, **options), tokenizer)


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["a", "é", "😀", " ", "\n"])
def test_a_piece_may_be_longer_than_a_block(tmp_path, piece):
    """Nine megabytes without a place to cut are one piece, between ordinary ones."""
    text = "ab ab" + piece * (9_000_000 // len(piece.encode())) + "cd cd"
    file = tmp_path / "file"
    file.write_text(text, newline="")
    options = {"merges": 30, "pattern": r"\p{L}+|\s+|\p{S}+"}
    from_file = bytepair.train(file, **options)
    counts = Counter(from_file.split(text))
    assert_equal(from_file, bytepair.train_from_counts(counts, **options))


@pytest.mark.parametrize("n_before", [4, BLOCK - 2, BLOCK, 2 * BLOCK + 6])
def test_text_that_is_no_utf8_is_named_with_its_place(tmp_path, n_before):
    """A dialect of characters names file and byte, in later blocks too."""
    file = tmp_path / "file.txt"
    file.write_bytes(("é" * (n_before // 2)).encode() + b" \xff abc")
    message = rf"file\.txt: .*at byte {n_before + 1};"
    with pytest.raises(bytepair.EncodingError, match=message):
        bytepair.train(file, dialect="sennrich", merges=1)


def test_normalizing_leaves_lower_case_as_it_is():
    """``normalize`` and ``lowercase`` are set apart, in either order."""
    texts, dialect = ["Low LOW"], "jurafsky-martin"
    for options in ({"normalize": "nfc"}, {"normalize": "nfc", "lowercase": "always"}):
        tokenizer = bytepair.train_from_iterator(texts, dialect=dialect, **options)
        assert tokenizer.tokenize("LOW") == ["low_"]
    options = {"normalize": "nfc", "lowercase": "never"}
    tokenizer = bytepair.train_from_iterator(texts, dialect=dialect, **options)
    assert tokenizer.split("LOW") == ["LOW"]


def test_bytes_cannot_stand_for_a_character_with_a_mark():
    """A mark joined to a character and byte fallback are refused together."""
    with pytest.raises(bytepair.TokenizerError, match="byte_fallback"):
        bytepair.train_from_iterator(["a"], dialect="subword-nmt", byte_fallback=True)
    options = {"byte_fallback": True, "continuing_prefix": "##"}
    with pytest.raises(bytepair.TokenizerError, match="byte_fallback"):
        bytepair.train_from_iterator(["a"], dialect="sentencepiece", **options)


# Limits, weights, rare pieces


@pytest.mark.parametrize("name", ["max_token_bytes", "max_token_chars"])
def test_a_limit_of_length_must_allow_something(name):
    """No token has no byte and no character."""
    with pytest.raises(bytepair.TrainingError, match=f"{name} must be between 1"):
        bytepair.train_from_counts({"ab": 2}, **{name: 0})


def test_a_weight_counts_a_file_so_many_times(tmp_path):
    """Training with weights is training on as many copies."""
    texts = {"a": "ab ab cd " * 3, "b": "cd ef cde ", "c": "abc ab"}
    weights = dict(zip(texts, (2, 5, 1), strict=True))
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    copies = [text for name, text in texts.items() for _ in range(weights[name])]
    files = {tmp_path / name: weight for name, weight in weights.items()}
    expected = bytepair.train_from_iterator(copies)
    assert_equal(bytepair.train(files), expected)
    half = {tmp_path / "a": 0.5}  # where "ab" occurs six times
    assert bytepair.train(half, min_count=4).merges == []
    assert bytepair.train(half, min_count=3, merges=1).merges == [(b"a", b"b")]
    tenths = {path: weight / 10 for path, weight in files.items()}
    least = {"min_count": 1, "merges": len(expected.merges)}
    scaled, report = report_of(bytepair.train, tenths, **least)
    assert scaled.merges == expected.merges[: len(scaled.merges)] != []
    assert report["characters"] == sum(map(len, copies)) / 10
    last_count = expected.inspect().merge_log[len(scaled.merges) - 1][3]
    assert last_count >= 10 or len(scaled.merges) == len(expected.merges)


def test_rare_pieces_are_left_out_and_told():
    """The report says how many pieces and occurrences."""
    counts = {"ab": 1000, "cd": 500, "xy": 3, "ax": 2, "zz": 1}
    options = {"min_piece_count": 4}
    tokenizer, report = report_of(bytepair.train_from_counts, counts, **options)
    assert tokenizer.merges == [(b"a", b"b"), (b"c", b"d")]
    assert (report["dropped_pieces"], report["dropped_occurrences"]) == (3, 6)
    assert (report["characters"], report["tokens"]) == (3000, 1500)
    texts = [" ".join(piece for piece, n in counts.items() for _ in range(n))]
    options["pattern"] = r"\w+|\s"
    same, found = report_of(bytepair.train_from_iterator, texts, **options)
    assert same.merges == tokenizer.merges
    assert found["dropped_occurrences"] == 6
    _, report = report_of(bytepair.train_from_counts, counts)
    assert report["dropped_pieces"] == 0


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_pieces_of_few_documents_are_left_out_however_they_are_read(tmp_path, threads):
    """The same as from independent counts: a special token ends no document, a weight makes no source."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rng = random.Random(5)
    words = ["".join(rng.choices("abc", k=rng.randint(2, 6))) for _ in range(300)]
    texts = [" ".join(rng.choices(words, k=99)) + "<s>" + words[0] for _ in range(40)]
    texts[7] = " ".join(rng.choices(words, k=150_000))  # longer than a stretch
    texts = [f"{text} {'c' * (9 + number)}" for number, text in enumerate(texts)]
    (tmp_path / "lines.txt").write_text("\n".join(texts))
    (tmp_path / "parted.txt").write_text("<|end|>".join(texts))
    lines = (json.dumps({"text": text}) + "\n" for text in texts)
    (tmp_path / "lines.jsonl").write_text("".join(lines))
    parquet.write_table(pa.table({"text": texts}), tmp_path / "rows.parquet")
    (tmp_path / "files").mkdir()
    for number, text in enumerate(texts):
        (tmp_path / f"files/{number:02}.txt").write_text(text)
    found = [Counter(re.findall(r"[abc]+| ", text)) for text in texts]
    n_documents = Counter(piece for counts in found for piece in counts)
    counts = sum(found, Counter())
    for least in (2, 25):
        kept = {piece: n for piece, n in counts.items() if n_documents[piece] >= least}
        assert 0 < len(kept) < len(counts)
        expected = bytepair.train_from_counts(kept, merges=60, dialect="gpt2")
        n_left_out = counts.total() - sum(kept.values())
        dropped = len(counts) - len(kept), n_left_out
        options = {"dialect": "gpt2", "pattern": "[abc]+| ", "min_sources": least}
        options |= {"merges": 60, "special_tokens": ["<s>"], "threads": threads}
        path = tmp_path / "lines.jsonl"
        for train, given, others in (
            (bytepair.train, tmp_path / "lines.txt", {"lines": True}),
            (bytepair.train, tmp_path / "parted.txt", {"separator": "<|end|>"}),
            (bytepair.train, path, {}),
            (bytepair.train, path, {"memory_limit": 300_000_000}),
            (bytepair.train, tmp_path / "rows.parquet", {}),
            (bytepair.train, tmp_path / "files", {}),
            (bytepair.train_from_iterator, texts, {}),
            (
                bytepair.train_from_iterator,
                ["<|end|>".join(texts)],
                {"separator": "<|end|>"},
            ),
        ):
            tokenizer, report = report_of(train, given, **options, **others)
            assert tokenizer.merges == expected.merges
            names = ("dropped_pieces", "dropped_occurrences")
            assert tuple(map(report.get, names)) == dropped
        _, report = report_of(bytepair.train, {path: 3}, **options)
        assert report["dropped_occurrences"] == 3 * n_left_out
    for number in (0, -1, 1 << 40):
        with pytest.raises(bytepair.TokenizerError, match="min_sources"):
            bytepair.train_from_iterator(texts, merges=1, min_sources=number)
    with pytest.raises(
        TrainingError, match="none occurs in 41 documents, of 40 in all"
    ):
        bytepair.train_from_iterator(texts, merges=1, min_sources=len(texts) + 1)
    with pytest.raises(TrainingError, match="these counts do not say"):
        bytepair.train_from_counts({"ab": 2}, merges=1, min_sources=1)
    with pytest.raises(TypeError, match="min_sources"):
        bytepair.train_from_iterator(texts, merges=1, min_sources=1.5)


@pytest.mark.slow
def test_a_memory_limit_changes_nothing(tmp_path):
    """Counting by temporary files gives the same, and leaves none; too little is refused."""
    rng = random.Random(4)
    words = ["".join(rng.choices("abcdefgh", k=7)) for _ in range(300_000)]
    (tmp_path / "text").write_text(" ".join(words))
    options = {"merges": 200, "threads": 1}
    expected = bytepair.train(tmp_path / "text", **options)
    limited = bytepair.train(tmp_path / "text", memory_limit=32_000_000, **options)
    assert_equal(limited, expected)
    with pytest.raises(bytepair.TokenizerError, match="memory_limit: 1000 bytes"):
        bytepair.train(tmp_path / "text", memory_limit=1000, **options)
    options["min_sources"] = 2
    for others in ({"lines": True}, {"separator": "ab"}):
        (tmp_path / "text").write_text(" ".join(words).replace("ab cd", "ab\n"))
        given = tmp_path / "text", options | others | {"merges": 900}
        expected, limited = (
            report_of(bytepair.train, given[0], **given[1], memory_limit=limit)
            for limit in (None, 64_000_000)
        )
        assert_equal(limited[0], expected[0])
        assert limited[1] == expected[1]
        assert expected[1]["dropped_pieces"] > 100_000
    del options["min_sources"]
    texts = (word + " " for word in words)
    from_texts = bytepair.train_from_iterator(texts, memory_limit=32_000_000, **options)
    assert len(from_texts.merges) == 200


# Cut and resumed


@pytest.mark.parametrize(
    ("size", "error", "message"),
    [
        ({"merges": 21}, bytepair.TokenizerError, "there are 20"),
        ({"vocab_size": 277}, bytepair.TokenizerError, "there are 20"),
        ({"vocab_size": 255}, bytepair.TrainingError, "need 256"),
        ({}, TypeError, "either vocab_size or merges"),
        ({"vocab_size": 260, "merges": 1}, TypeError, "either vocab_size or merges"),
    ],
)
def test_what_is_not_in_the_order_of_training_is_not_cut(size, error, message):
    """Holes, more merges than there are, and sizes that make no sense: refused."""
    tokenizer = bytepair.train_from_iterator(some_texts(), merges=20)
    with pytest.raises(error, match=message):
        surgery.shorten(tokenizer, **size)
    with_hole = tokenizer.with_special_tokens({"<s>": 300})
    with pytest.raises(bytepair.TokenizerError, match="ids that no token has"):
        surgery.shorten(with_hole, 260)


def test_cutting_puts_right_what_names_special_tokens():
    """Template and padding follow the special tokens to their new ids."""
    options = {"special_tokens": ["<s>", "<pad>"]}
    large = bytepair.train_from_iterator(["ab ab abc abc"], merges=3, **options)
    large = large.with_template("<s> $A").with_padding(large.special_tokens["<pad>"])
    cut = surgery.shorten(large, merges=1)
    assert cut.special_tokens == {"<s>": 257, "<pad>": 258}
    ids = cut.encode_batch(["ab", "c"], add_special_tokens=True)
    assert ids == [[257, 256], [257, 66]]
    assert surgery.shorten(large.with_padding(258), merges=3).n_vocab == 261
    with pytest.raises(bytepair.TokenizerError, match="padding"):
        surgery.shorten(large.with_padding(258), merges=1)


def test_ties_that_no_dialect_tells_must_be_given():
    """A tokenizer of an own pattern does not say which pair goes first among equals."""
    texts, own = some_texts(), {"pattern": r"\w+|\W", "ties": "first_seen"}
    small = bytepair.train_from_iterator(texts, merges=5, **own)
    with pytest.raises(bytepair.TrainingError, match="give dialect or ties"):
        bytepair.train_from_iterator(texts, merges=9, resume=small)
    options = {"resume": small, "ties": "first_seen"}
    resumed = bytepair.train_from_iterator(texts, merges=9, **options)
    assert_equal(resumed, bytepair.train_from_iterator(texts, merges=9, **own))


# Interruption, remaining time


def test_what_was_learned_until_an_interruption_is_kept(tmp_path):
    """The exception carries a tokenizer, which is that of training so far; so is the log."""
    texts, log = some_texts(), tmp_path / "log"
    options = {"merges": 400, "special_tokens": ["<s>"]}

    def stop(progress):
        if progress.phase == "merge":
            raise KeyboardInterrupt

    with pytest.raises(bytepair.TrainingInterrupted, match="ed after") as found:
        bytepair.train_from_iterator(texts, progress=stop, log=log, **options)
    tokenizer = found.value.tokenizer
    n_merges = len(tokenizer.merges)
    assert 1 <= n_merges < 400
    whole = bytepair.train_from_iterator(texts, log=tmp_path / "whole", **options)
    assert_equal(tokenizer, surgery.shorten(whole, merges=n_merges))
    assert found.value.report["merges"] == n_merges == bytepair.read_log(log).last_step
    again = bytepair.train_from_iterator(texts, resume=tokenizer, log=log, merges=400)
    assert again.merges == whole.merges
    assert again.special_tokens == tokenizer.special_tokens
    steps = bytepair.read_log(log).steps
    assert [step.ids for step in steps] == [
        merge[:3] for merge in again.inspect().merge_log
    ]
    said = [(step.token, step.count, step.tokens) for step in steps]
    whole_log = bytepair.read_log(tmp_path / "whole")
    assert said == [(step.token, step.count, step.tokens) for step in whole_log.steps]


def test_an_interruption_while_counting_says_what_was_read(tmp_path):
    """There is no tokenizer, and no log is written."""
    (tmp_path / "text").write_text("low lower" * 100)

    def stop(progress):
        raise KeyboardInterrupt

    with pytest.raises(bytepair.TrainingInterrupted, match="after 900 bytes") as found:
        bytepair.train(tmp_path / "text", merges=3, progress=stop, log=tmp_path / "log")
    assert found.value.tokenizer is None
    assert not (tmp_path / "log").exists()

    def texts():
        yield from ["ab"] * 5000
        raise KeyboardInterrupt

    with pytest.raises(bytepair.TrainingInterrupted, match="after 4,096 texts"):
        bytepair.train_from_iterator(texts())


COURSES = json.loads((Path(__file__).parent / "courses.json").read_text())


def share_within(factor, course):
    """Tell for what part of the middle 80 % of a course the stated time is that near."""
    remaining, points = Remaining(), course["points"]
    end, right, wrong = points[-1][1], 0.0, 0.0
    for (done, seconds), (_, seconds_after) in pairwise(points):
        remaining.add(done, seconds)
        if 0.1 * end <= seconds <= 0.9 * end:
            ratio = remaining.seconds_left(course["total"]) / (end - seconds)
            is_right = 1 / factor <= ratio <= factor
            right += is_right * (seconds_after - seconds)
            wrong += (not is_right) * (seconds_after - seconds)
    return right / (right + wrong)


def test_the_remaining_time_is_near_the_truth():
    """Within a factor of two for three quarters of recorded courses, of three for nearly all."""
    for factor, least_mean, least in ((2, 0.75, 0.5), (3, 0.9, 0.5)):
        shares = [share_within(factor, course) for course in COURSES.values()]
        assert sum(shares) / len(shares) > least_mean
        assert min(shares) > least
