"""Damaged files of every format: an error that says what is wrong, or a tokenizer that works.

Each case takes a good file apart and damages it as its structure allows: cut, shuffled,
bits flipped, numbers huge, parts missing, nested without end. Small files of the formats
that bytepair only reads come from ``tests/fuzz/make_seeds.py``. Left out: endless search, which
``make fuzz`` does.
"""

import gzip
import json
import random
import re
import struct
import sys
import time
from functools import partial

import pytest
from tests import damage
from tests.damage import TARGETS, damaged, read_as, variants
from tests.programs import run_python

import bytepair
from bytepair import Tokenizer
from bytepair.analyze._compare import torture

TEXT = "the <s> é low lower 한국 1234\n"
SPECIAL = ["<s>", "<|end|>"]
DIALECTS = ["gpt2", "gpt4o", "subword-nmt", "unknown-token", "sentencepiece"]
N_ROUNDS = 60


def trained(dialect):
    """Train a small tokenizer; its file has a few kilobytes."""
    return bytepair.train_from_iterator(
        torture.TEXTS, dialect=dialect, merges=60, special_tokens=SPECIAL
    )


def problem_of(read, *arguments):
    """Read a file; an error must be ours, and is told. What is read must encode and decode, or refuse."""
    try:
        tokenizer = read(*arguments)
    except bytepair.TokenizerError as error:
        assert 0 < len(str(error)) < 5000
        return str(error)
    again = Tokenizer.from_bytes(tokenizer.to_bytes())
    for text in (TEXT, *torture.TEXTS[:9]):
        try:
            ids = tokenizer.encode(text, allowed_special="all")
            full = tokenizer.encode_full(text, allowed_special="all")
        except bytepair.TokenizerError:
            continue
        assert full.ids == ids == again.encode(text, allowed_special="all")
        stream = bytepair.DecodeStream(tokenizer)
        assert stream.push(ids) + stream.finish() == tokenizer.decode(ids)
    return None


def load_or_refuse(document, format_name="huggingface"):
    """Load a document, or its text, and give the error."""
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    return problem_of(partial(Tokenizer.from_bytes, format=format_name), data)


WRONG = [None, True, -1, 1.5, "", "x", "\ud800", [], {}, [[]], ["a", 0]]
WRONG += [2**31, 2**32, 2**63, 10**30]


FAST = [("subword-nmt", "bytepair"), ("gpt2", "huggingface")]
SLOW = [
    pytest.param(dialect, format_name, marks=pytest.mark.slow)
    for dialect in DIALECTS
    for format_name in ("bytepair", "huggingface")
    if (dialect, format_name) not in FAST
]


@pytest.mark.parametrize(("dialect", "format_name"), [*FAST, *SLOW])
def test_wrong_values_are_refused_or_harmless(dialect, format_name):
    """At every place of the document: other types, huge numbers, nothing at all."""
    document = json.loads(trained(dialect).to_bytes(format=format_name))
    for changed in variants(document, WRONG):
        load_or_refuse(changed, format_name)


def hugging_face():
    """Give the document of a small file."""
    return json.loads(trained("gpt2").to_bytes(format="huggingface"))


def refused(document):
    """Load a document that must be refused, and give the message."""
    message = load_or_refuse(document)
    assert message is not None
    return message


def test_a_merge_without_its_result_is_named():
    """Merges without parts are beside what the library refuses."""
    document = hugging_face()
    left, right = document["model"]["merges"][0]
    del document["model"]["vocab"][left + right]
    assert "merge" in refused(document)


def test_ids_that_are_huge_or_double_are_named():
    """No table is made as long as a wrong number says."""
    for id_ in (2**31 - 1, 2**32 - 1, 2**32, 2**64, -1):
        document = hugging_face()
        document["model"]["vocab"]["a"] = id_
        assert re.search(r"model\.vocab\.a: |the id [0-9]+", refused(document)), id_
    document = hugging_face()
    document["added_tokens"][0] |= {"id": 4_000_000_000, "content": "new"}
    data = json.dumps(document).encode()
    try:
        tokenizer = Tokenizer.from_bytes(data, format="huggingface")
    except bytepair.TokenizerError as error:
        assert "4000000000" in str(error)
    else:  # an added token that is new gets the next id, as in Hugging Face's library
        assert tokenizer.n_vocab < 1000


def test_a_pattern_that_does_not_compile_is_named():
    """The message says where in the pattern."""
    wrong = ("(", "[", "a{2,1}", r"\p{Nothing}", "(?<=a*)b", "\\", "(?P<n>a", "*")
    for pattern in wrong:
        assert re.search("pattern|regular", refused(with_pattern(pattern))), pattern


@pytest.mark.parametrize("depth", [200, 10_000, 300_000])
def test_nesting_without_end_is_refused(depth):
    """Sequences in sequences, lists in lists and groups in groups."""
    sequence = '{"type":"Sequence","normalizers":[' * depth + "]}" * depth
    document = json.dumps({**hugging_face(), "normalizer": "HERE"})
    assert load_or_refuse(document.replace('"HERE"', sequence).encode())
    for data in (b"[" * depth, b'{"a":' * depth, b'{"version":' + b"[" * depth):
        assert load_or_refuse(data)
        assert load_or_refuse(data, "bytepair")
    with pytest.raises(bytepair.TokenizerError):
        bytepair.train_from_iterator(["a"], pattern="(" * depth + "a" + ")" * depth)


TIKTOKEN = [
    *(("", "no token"), ("no base64 at all", "line 1"), ("!!! 0", "line 1")),
    *(("YQ==", "line 1"), ("YQ== -1", "line 1"), ("YQ== 0 extra", "line 1")),
    *(("YQ== 0\nYg== x", "line 2"), ("YQ== 0\nYg== 1.5", "line 2")),
    *(("YQ== 0\n 1", "line 2"), ("YQ== 5000000000", "line 1")),
    *(("YQ== 0\nYQ== 1", '"a": appears twice'), ("YQ== 0\nYg== 0", "two tokens")),
    ("YQ== 2147483648", "the id 2147483648: too large"),
]


@pytest.mark.parametrize(("text", "message"), TIKTOKEN)
def test_damaged_ranks_are_named(tmp_path, text, message):
    """The line is in the message, or what is wrong with it."""
    path = tmp_path / "own.tiktoken"
    path.write_text(text)
    with pytest.raises(bytepair.FormatError, match=message):
        Tokenizer.from_file(path, dialect="gpt2")


PAIRS = [
    *(('{"a": 0, "b": 0}', "", "id 0"), ('{"a": 0, "a": 1}', "", "twice")),
    *(('{"a b": 0}', "", "stand for no byte"), ('{"a": 0', "", "cut off")),
    *(
        ('{"a": 0, "b": ' + id + "}", "", 'id of "b"')
        for id in ("-1", "1.5", "5000000000")
    ),
    ('{"a": 0, "b": 4000000000}', "", "the id 4000000000: too large"),
    ('{"a": 0, "b": 1}', "#version: 0.2\na b\n", "line 2"),
    ('{"a": 0, "ab": 1}', "a  b", "line 1"),
]


@pytest.mark.parametrize(("vocab", "merges", "message"), PAIRS)
def test_damaged_pairs_are_named(tmp_path, vocab, merges, message):
    """The line, the id or the name is in the message."""
    (tmp_path / "vocab.json").write_text(vocab)
    (tmp_path / "merges.txt").write_text(merges)
    with pytest.raises(bytepair.FormatError, match=message):
        Tokenizer.from_file(tmp_path, pattern="gpt2")


BIG = """
import json, sys, bytepair
document = json.loads(sys.stdin.read())
def attempt(change):
    copy = json.loads(json.dumps(document))
    change(copy)
    try:
        bytepair.Tokenizer.from_bytes(json.dumps(copy).encode(), format="huggingface")
    except bytepair.TokenizerError:
        pass
attempt(lambda d: d["model"]["vocab"].update(a=2**31))
attempt(lambda d: d["added_tokens"].append({**d["added_tokens"][0], "id": 2**31, "content": "x"}))
attempt(lambda d: d.update(padding={"strategy": {"Fixed": 2**40}, "direction": "Right",
    "pad_to_multiple_of": None, "pad_id": 0, "pad_type_id": 0, "pad_token": "a"}))
attempt(lambda d: d.update(truncation={"direction": "Right", "max_length": 2**60,
    "strategy": "LongestFirst", "stride": 2**50}))
print("alive")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory")
def test_huge_numbers_take_no_memory():
    """With a gigabyte of address space, every one is refused or harmless."""
    found = run_python(BIG, memory=1 << 30, input=json.dumps(hugging_face()))
    assert found.stdout == "alive\n"


@pytest.fixture(scope="module")
def small_files(tmp_path_factory):
    """Give small files of all formats, by the name of the fuzzer's target."""
    return damage.small_files(tmp_path_factory.mktemp("seeds"))


@pytest.mark.parametrize("target", TARGETS)
def test_damage_to_any_format_is_an_error_or_a_tokenizer(target, tmp_path, small_files):
    """Never a panic, never more than five seconds; written and read again it gives the same ids."""
    chance = random.Random(target)
    for data in small_files[target]:
        for _ in range(N_ROUNDS):
            worse = damaged(data, chance)
            started = time.process_time()
            problem_of(read_as, target, tmp_path, worse)
            assert time.process_time() - started < 5, worse


@pytest.mark.parametrize("target", TARGETS)
def test_files_cut_anywhere_are_an_error_or_a_tokenizer(target, tmp_path, small_files):
    """At every length of a short file, at a few hundred of a longer one."""
    data = min(small_files[target], key=len)
    for length in range(0, len(data), 1 + len(data) // 300):
        problem_of(read_as, target, tmp_path, data[:length])


def with_steps(field, key, steps):
    """Put a row of steps into a small file."""
    return {**hugging_face(), field: {"type": "Sequence", key: steps}}


def test_replacements_that_multiply_without_end_are_refused():
    """Forty doublings of a letter would make a terabyte of it."""
    doubling = {"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}
    by_pattern = {"type": "Replace", "pattern": {"Regex": "."}, "content": "xx"}
    long = {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 100_000}
    for steps in ([doubling] * 40, [by_pattern] * 40, [long]):
        message = refused(with_steps("normalizer", "normalizers", steps))
        assert "normalizer" in message
    message = refused(with_steps("decoder", "decoders", [doubling] * 40))
    assert "decoder" in message
    document = with_steps("normalizer", "normalizers", [doubling] * 3)
    tokenizer = Tokenizer.from_bytes(json.dumps(document).encode())
    assert tokenizer.decode(tokenizer.encode("ab")) == "a" * 8 + "b"


WIDE = [
    ("normalizer", "normalizers", {"type": "NFC"}),
    ("pre_tokenizer", "pretokenizers", {"type": "Whitespace"}),
    ("decoder", "decoders", {"type": "Fuse"}),
    ("decoder", "decoders", {"type": "ByteFallback"}),
]


@pytest.mark.parametrize(("field", "key", "step"), WIDE)
def test_rows_of_steps_without_end_are_refused(field, key, step):
    """Steps call one another: a hundred thousand of them would overflow the stack."""
    message = refused(with_steps(field, key, [step] * 100_000))
    assert f"{field}: has 100000 steps" in message
    load_or_refuse(with_steps(field, key, [step] * 900))


def with_pattern(pattern):
    """Put a split pattern into a small file."""
    split = {"type": "Split", "behavior": "Isolated", "invert": False}
    return {**hugging_face(), "pre_tokenizer": split | {"pattern": {"Regex": pattern}}}


EXPLODING = {
    "counted repeats in each other": "(" * 5 + "a" + "{1,100})" * 5,
    "the same of classes": r"(?:\p{L}{100}){100}",
    "repeats of repeats": "a{1000}{1000}{1000}",
    "the same in groups": "(?:" * 5000 + "a" + "){2}" * 5000,
    "branches of nothing": "a|" * 100_000,
    "open classes": "[" * 100_000,
    "as many states as memory has": "(a|b)*a(a|b){18}",
    "a large set named often": r"\w" * 200_000,
    "the same as branches": "|".join([r"\w"] * 100_000),
    "the same in a class": "[" + r"\w" * 200_000 + "]",
    "the same as operands": r"[\w" + r"&&\w" * 100_000 + "]",
    "many branches": "|".join(f"w{n}x" for n in range(100_000)),
    "many characters": "[" + "".join(map(chr, range(0x4E00, 0x9E00, 2))) * 10 + "]",
    "branches of one character": "|".join(map(chr, range(0x4E00, 0x9E00))) * 5,
    "look-behinds": "(?<=a{255})" * 5000,
    "look-aheads": "(?=.*a)" * 3000,
    "flags": "(?i)" * 10_000 + "a",
}


@pytest.mark.parametrize("name", EXPLODING)
def test_patterns_that_explode_are_refused_or_harmless(name):
    """Within five seconds, whatever a short pattern stands for."""
    started = time.process_time()
    message = load_or_refuse(with_pattern(EXPLODING[name]))
    assert time.process_time() - started < 5
    assert message is None or "pattern" in message


def test_numbers_that_are_too_large_for_a_template_or_a_strip():
    """The same ids used again and again, and characters to strip without end."""
    special = {"SpecialToken": {"id": "<s>", "type_id": 0}}
    text = {"Sequence": {"id": "A", "type_id": 0}}
    other = {"Sequence": {"id": "B", "type_id": 1}}
    ids = [0] * 20_000
    processor = {
        "type": "TemplateProcessing",
        "single": [*[special] * 20_000, text],
        "pair": [text, other],
        "special_tokens": {
            "<s>": {"id": "<s>", "ids": ids, "tokens": ["<s>"] * 20_000}
        },
    }
    assert "post_processor.single" in refused(
        {**hugging_face(), "post_processor": processor}
    )
    for length in (0, 10**6, 2**62):
        cutter = {"type": "FixedLength", "length": length}
        message = refused({**hugging_face(), "pre_tokenizer": cutter})
        assert "pre_tokenizer.length" in message
    strip = {"type": "Strip", "content": "_", "start": 2**62, "stop": 2**62}
    document = {**hugging_face(), "decoder": strip}
    tokenizer = Tokenizer.from_bytes(json.dumps(document).encode())
    assert tokenizer.decode(tokenizer.encode("a")) == "a"


def gguf(key, kind, value):
    """Write a file with one key."""
    name = struct.pack("<Q", len(key)) + key + struct.pack("<I", kind)
    return b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + name + value


HUGE_LENGTHS = {
    "protobuf": ("sentencepiece", b"\x0a\x80\x80\x80\x80\x08abc"),
    "charsmap": ("sentencepiece", b"\x1a\x08\x12\x06\x00\x00\x00\x80ab"),
    "text": ("gguf", gguf(b"tokenizer.ggml.model", 8, struct.pack("<Q", 2**31))),
    "array": ("gguf", gguf(b"tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, 2**60))),
    "floats": ("gguf", gguf(b"tokenizer.ggml.scores", 9, struct.pack("<IQ", 6, 2**60))),
    "skipped": ("gguf", gguf(b"other", 9, struct.pack("<IQ", 7, 2**60))),
    "keys": ("gguf", b"GGUF" + struct.pack("<IQQ", 3, 2**62, 2**62)),
    "packed": ("clip", gzip.compress(b"a" * 10**8)),
    "compiled": ("compiled", None),
}
LOAD = """
import sys, bytepair
try:
    bytepair.Tokenizer.from_file(sys.argv[1])
except bytepair.TokenizerError as error:
    print("refused")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory")
@pytest.mark.parametrize("name", HUGE_LENGTHS)
def test_lengths_that_a_file_merely_states_take_no_memory(name, tmp_path):
    """With a gigabyte of address space a length of two is refused."""
    format_name, data = HUGE_LENGTHS[name]
    if data is None:
        whole = trained("gpt2").to_bytes(format="compiled")
        place = len(whole) // 2
        data = whole[:32] + struct.pack("<Q", 2**31) + whole[40:place] + whole[place:]
    suffix = {"clip": "txt.gz", "sentencepiece": "model"}.get(format_name, format_name)
    path = tmp_path / f"own.{suffix}"
    path.write_bytes(data)
    assert run_python(LOAD, path, memory=1 << 30).stdout == "refused\n"
