"""Whatever is wrong is an error that says so: of bytepair's own types, or a TypeError.

No input makes the core panic or hang, and no file is left half-written. Left out:
damaged tokenizer files (``test_formats``).
"""

import decimal
import html
import os
import re
import sys
import time
from contextlib import suppress
from functools import partial

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tests.made_up import hugging_face, vocabulary
from tests.programs import run_python

import bytepair
from bytepair import (
    EncodingError,
    FileError,
    PatternError,
    SpecialTokenError,
    TokenizerError,
    TrainingError,
    UnknownTokenError,
    analyze,
    surgery,
    verify,
)
from bytepair.segmentation import write_vocabulary
from bytepair.surgery import verify_extension

HUGE = 2**70
SURROGATE = "a\ud800"


@pytest.fixture(scope="module")
def tokenizer():
    """Give a tokenizer of bytes with one special token."""
    texts = ["the cat sat on the mat " * 3]
    return bytepair.train_from_iterator(texts, vocab_size=262, special_tokens=["<s>"])


@pytest.fixture(scope="module")
def words():
    """Give a tokenizer of characters that knows few of them."""
    return bytepair.train_from_iterator(["low lower " * 3], dialect="sennrich")


def train(texts=("low lower low",), **options):
    """Train on a small corpus."""
    return bytepair.train_from_iterator(texts, **options)


def refuses(error, message, call, *arguments, **options):
    """Check that a call raises an error, and that its message matches a pattern, if there is one."""
    with pytest.raises(error, match=message):
        call(*arguments, **options)


def test_all_errors_are_value_errors_and_what_python_calls_them():
    """One class catches all; the familiar classes of Python catch theirs."""
    for error in vars(bytepair.errors).values():
        if isinstance(error, type) and issubclass(error, Exception):
            assert issubclass(error, TokenizerError)
            assert issubclass(error, ValueError)
    assert issubclass(UnknownTokenError, KeyError)
    assert issubclass(FileError, OSError)
    assert str(UnknownTokenError("plain")) == "plain"


# Options of training


WRONG_VALUES = [
    (TrainingError, "alphabet", [{"vocab_size": 255}, {"vocab_size": 0}]),
    (TrainingError, "257", [{"vocab_size": 256, "special_tokens": ["<s>"]}]),
    (TrainingError, "not both", [{"vocab_size": 300, "merges": 3}]),
    (TrainingError, "vocab_size", [{"vocab_size": -1}, {"vocab_size": HUGE}]),
    (TrainingError, "merges", [{"merges": -1}, {"merges": HUGE}]),
    (TokenizerError, "threads", [{"threads": 0}]),
    (TokenizerError, "min_sources", [{"min_sources": 0}, {"min_sources": HUGE}]),
    (TrainingError, "threads", [{"threads": -1}, {"threads": HUGE}]),
    (TokenizerError, "min_count", [{"min_count": HUGE}, {"min_count": -HUGE}]),
    (TokenizerError, "known are gpt2, .*sentencepiece", [{"dialect": "gpt5"}]),
    (TokenizerError, "known are", [{"dialect": ""}]),
    (TokenizerError, "smallest_ids, first_seen, largest_text", [{"ties": "random"}]),
    (TokenizerError, "byte, character", [{"unit": "word"}]),
    (TokenizerError, "printable, value", [{"byte_ids": "x"}]),
    (TokenizerError, "keep, drop", [{"unmatched": "x"}]),
    (TokenizerError, "rust, oniguruma", [{"pattern_flavour": "pcre"}]),
    (TokenizerError, "unit, suffix", [{"end_mark_kind": "x"}]),
    (TokenizerError, "always, training, never", [{"lowercase": "x"}]),
    (TokenizerError, "nfc, nfd", [{"normalize": "nfx"}]),
    *[
        (TokenizerError, "normalize", [{"normalize": [("replace", *more)]}])
        for more in (("", "x"), ("x",))
    ],
    (TypeError, "unexpected keyword argument .colour.", [{"colour": "red"}]),
    (TokenizerError, "empty", [{"special_tokens": [""]}, {"separator": ""}]),
    (TokenizerError, "empty", [{"unknown_token": "", "dialect": "sennrich"}]),
    *[
        (EncodingError, "surrogate", [{"dialect": "sennrich", name: SURROGATE}])
        for name in ["dialect", "separator", "pattern", "unknown_token", "end_mark"]
    ],
    (EncodingError, "surrogate", [{"special_tokens": [SURROGATE]}]),
    (EncodingError, "surrogate", [{"pattern": ["a", SURROGATE]}]),
    (EncodingError, "surrogate", [{"normalize": [("prepend_each", SURROGATE)]}]),
]


@pytest.mark.parametrize(("error", "message", "cases"), WRONG_VALUES, ids=str)
def test_a_wrong_option_is_named(error, message, cases):
    """The message says which option, and what it may be."""
    for options in cases:
        refuses(error, message, train, **options)


WRONG_TYPES = {
    "dialect": [3],
    "pattern": [3, [3]],
    "ties": [None],
    "special_tokens": ["<s>", [3], None],
    "normalize": [3, [3]],
    "fuse_unknown": ["yes"],
    "byte_fallback": [1.5],
    "end_mark": [b"_"],
    **{name: [3] for name in ("separator", "progress", "lowercase", "unknown_token")},
}


@pytest.mark.parametrize(("name", "values"), WRONG_TYPES.items())
def test_an_option_of_the_wrong_type_is_a_type_error(name, values):
    """As everywhere in Python."""
    for value in values:
        refuses(TypeError, None, train, **{name: value})


@pytest.mark.parametrize("wrong", ["300", 300.0, True, [300], b"3", np.bool_(True)])
@pytest.mark.parametrize(
    "name", ["vocab_size", "merges", "threads", "max_token_bytes", "memory_limit"]
)
def test_what_is_no_whole_number_is_named_with_its_option(tmp_path, name, wrong):
    """Also a float without a fraction, and a boolean, which Python takes for 0 or 1."""
    (tmp_path / "a.txt").write_text("low low")
    size = {} if name in ("vocab_size", "merges") else {"merges": 1}
    with pytest.raises(TypeError, match=f"{name} must be a whole number, not"):
        bytepair.train(tmp_path / "a.txt", **{**size, name: wrong})
    least = {"vocab_size": 257, "merges": 1, "memory_limit": 2**30}.get(name, 2)
    bytepair.train(tmp_path / "a.txt", **{**size, name: np.int64(least)})


NO_NUMBERS = [
    ("weight", float("inf"), "a finite number, not inf"),
    ("weight", float("nan"), "a finite number, not nan"),
    ("weight", 0, "above 0, not 0"),
    ("weight", -0.5, "above 0, not -0.5"),
    ("weight", decimal.Decimal(0), "above 0, not 0;"),
    ("weight", 1e-300, "weight"),
    ("memory_limit", -5, "memory_limit must not be negative, but it is -5"),
]


@pytest.mark.parametrize(("name", "value", "message"), NO_NUMBERS)
def test_a_number_out_of_range_is_told_as_it_was_written(
    tmp_path, name, value, message
):
    """Infinity is no weight, a negative limit is not no memory; the file, which is absent, is not read."""
    path = tmp_path / "none"
    files, options = (path, {name: value}) if name != "weight" else ({path: value}, {})
    refuses(TrainingError, message, bytepair.train, files, merges=1, **options)
    refuses(TypeError, "weight", bytepair.train, {path: "1"})


def test_least_and_greatest_options_are_taken():
    """Borders of what is allowed: no merges, no room, any number of threads."""
    assert train(merges=0).merges == []
    assert train(vocab_size=256).merges == []
    assert train(vocab_size=257, special_tokens=["<s>"]).merges == []
    assert train(vocab_size=2**31).n_vocab < 300
    assert train(threads=10**9).merges == train(threads=1).merges
    for min_count in (0, -5, 1):
        assert train(min_count=min_count).merges == train(min_count=1).merges
    assert train(min_count=2**62).merges == []


def test_special_tokens_may_look_like_anything():
    """They may hold each other, NUL, spaces; equal a letter, a merge, the unknown token."""
    names = ["<s>", "<s><s>", "a\0b", " ", "l", "low", "é", "\n"]
    one = train(special_tokens=names)
    assert list(one.special_tokens) == names
    for name, id_ in one.special_tokens.items():
        assert one.encode(name, allowed_special="all") == [id_]
        assert id_ not in one.encode(name)
        assert one.decode([id_]) == name
    unknown = train(dialect="unknown-token", special_tokens=["[UNK]", "<s>"])
    assert unknown.vocabulary[-2:] == ["[UNK]", "<s>"]
    assert unknown.tokenize("lowx")[-1] == "[UNK]"


# Patterns


BROKEN = ["(", "a)", "[a", "a{2,1}", "*a", "é(", r"\p{Nope}", r"a\q", "a|b|(?Px)"]
BROKEN += ["[z-a]", "\\", "(?=", r"(a)\2"]


@pytest.mark.parametrize("pattern", BROKEN)
def test_a_broken_pattern_is_pointed_at(pattern):
    """The message shows the pattern and a mark below the place."""
    with pytest.raises(PatternError) as found:
        train(pattern=pattern)
    lines = str(found.value).splitlines()
    assert lines[1].strip() == pattern
    assert lines[2].strip() == "^"
    near = lines[2].index("^") - 2
    assert 0 <= near <= len(pattern)
    assert f"character {near}" in lines[0]


@given(st.text("()[]{}?*+|\\^$.,-=!<>:abpPL123&~ é", max_size=12))
def test_any_pattern_compiles_or_is_refused(pattern):
    """Random patterns never break the core, and what compiles splits text exactly."""
    try:
        one = train(pattern=pattern, merges=0)
    except PatternError:
        return
    text = "abc 123 é(a)\n"
    try:
        assert "".join(one.split(text)) == text
    except PatternError as error:
        assert "steps" in str(error)  # noqa: PT017 -- either is right


def test_a_pattern_that_explodes_is_stopped():
    """Backtracking without end is an error, after a second or so."""
    for pattern in (r"(a|aa)+\1$", "(?:(a+)+)+(?=b)", "(x+x+)+y(?<!z)", "(?=(a+)+$)a"):
        try:
            one = train(pattern=pattern, merges=0)
            pieces = one.split("a" * 5000 + "x" * 5000 + "c")
        except PatternError:
            continue
        assert "".join(pieces) == "a" * 5000 + "x" * 5000 + "c"


# Texts


def test_an_empty_corpus_is_an_error(tmp_path):
    """There is nothing to learn from, and nothing is made."""
    (tmp_path / "empty").write_text("")
    for make, corpora in (
        (train, ([], [""], iter(()))),
        (partial(train, dialect="sennrich"), (["  \n"],)),
        (partial(train, special_tokens=["<s>"]), (["<s>"],)),
        (bytepair.train, (tmp_path / "empty", [])),
        (bytepair.train_from_counts, ({}, {"": 3}, {"a": 0})),
    ):
        for corpus in corpora:
            refuses(TrainingError, "corpus is empty", make, corpus)


def test_texts_that_are_no_texts_are_type_errors():
    """One string is no list of texts; numbers and ``None`` are no texts."""
    for texts in ("one text", b"one text", 5, None):
        refuses(TypeError, None, train, texts)
    for wrong in (3, None, ["nested"], bytearray(b"x"), 1.5):
        for texts in (["right", wrong, "right"], [*["right"] * 10_000, wrong]):
            refuses(TypeError, "expected str or bytes", train, texts)


class OwnError(Exception):
    """Raised by an iterator."""


def test_an_iterator_that_raises_ends_training():
    """Its exception comes out as it is."""

    def texts():
        yield "low lower"
        raise OwnError

    refuses(OwnError, None, train, texts())
    with pytest.raises(OwnError):
        bytepair.train_from_iterator(special_tokens=texts(), texts=["a"])


def test_bytes_that_are_no_utf8_are_an_error_for_characters(words):
    """The message gives the offset; dialects of bytes take them."""
    refuses(EncodingError, "byte 3", train, [b"abc\xff"], dialect="sennrich")
    with pytest.raises(EncodingError, match="byte 1"):
        bytepair.train_from_counts({b"a\xe2\x80": 1}, dialect="sennrich")
    for method in ("encode", "tokenize", "split", "count", "encode_to_numpy"):
        refuses(EncodingError, "byte 2", getattr(words, method), b"lo\xe2\x80")
    refuses(EncodingError, r"text 1 .*byte 0", words.encode_batch, [b"low", b"\xff"])
    assert train([b"abc\xff" * 2]).n_vocab > 256


def test_lone_surrogates_are_an_error(tokenizer, words):
    """They are no text; the message says where the first is."""
    for one in (tokenizer, words):
        for method in ("encode", "tokenize", "split", "count"):
            with pytest.raises(EncodingError, match="surrogate at character 1"):
                getattr(one, method)(SURROGATE)
        with pytest.raises(EncodingError, match=r"text 1 .*surrogate"):
            one.encode_batch(["low", SURROGATE])
        refuses(EncodingError, "surrogate", one.token_to_id, SURROGATE)
    for call, argument in (
        (train, ["a", SURROGATE]),
        (bytepair.train_from_counts, {SURROGATE: 1}),
        (tokenizer.with_special_tokens, [SURROGATE]),
    ):
        refuses(EncodingError, "surrogate", call, argument)
    for name in ("allowed_special", "disallowed_special"):
        with pytest.raises(TokenizerError, match=r"surrogate|not a special"):
            tokenizer.encode("a", **{name: [SURROGATE]})


def test_a_lone_surrogate_in_a_long_text_is_found_where_it_is(tokenizer):
    """The first of the first text that has one, whatever else is wrong."""
    for filler in ("a", "é", "日", "🇺"):
        for place in (0, 63, 64, 2999, 4999):
            text = filler * place + "\udfff" + (filler + "\ud800") * (5000 - place)
            problem = f"the text has a lone surrogate at character {place}, "
            for method in ("encode", "encode_to_numpy", "count"):
                refuses(EncodingError, f"^{problem}", getattr(tokenizer, method), text)
            for method in ("encode_batch", "encode_batch_to_numpy", "count_batch"):
                for threads in (1, 2):
                    texts = ["<s>", "é" * 5000, text, text[:400], "é" * 300_000]
                    options = {"threads": threads, "disallowed_special": "all"}
                    for batch in (iter(texts), [*texts, 7]):
                        told = f"^text 2 .*: {problem}"
                        with pytest.raises(EncodingError, match=told):
                            getattr(tokenizer, method)(batch, **options)
    with pytest.raises(SpecialTokenError):
        tokenizer.encode("é" * 5000 + "<s>", disallowed_special="all")
    with pytest.raises(TypeError, match="text 1 "):
        tokenizer.encode_batch(["é" * 5000, 7, "\ud800" * 5000])
    with pytest.raises(EncodingError, match=r"text 0 .*surrogate"):
        tokenizer.encode_batch(["\ud800" * 5000], threads=0)


WRONG_COUNTS = {
    FileError: ["no-such-file"],
    TypeError: [
        *({"a": wrong} for wrong in (1.5, "1", None)),
        *({3: 1}, {None: 1}, [("a", 1)], None, 3),
    ],
}


@pytest.mark.parametrize("error", WRONG_COUNTS)
def test_wrong_counts_are_errors(error):
    """Counts are numbers of texts, in a mapping or a file."""
    for counts in WRONG_COUNTS[error]:
        refuses(error, None, bytepair.train_from_counts, counts)


# Encoding and decoding


def test_unknown_characters_are_named(words):
    """With nothing to stand for them they are errors, alone and in batches."""
    refuses(UnknownTokenError, '"z" is not in the alphabet', words.encode, "lozenge")
    with pytest.raises(UnknownTokenError, match="text 1 of the batch"):
        words.encode_batch(["low", "zebra"])
    for method in ("count", "encode_to_numpy"):
        refuses(UnknownTokenError, None, getattr(words, method), "zebra")


METHODS = ["encode", "count", "tokenize", "split"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("text", [None, 3, 1.5, ["a"], bytearray(b"a"), object()])
def test_texts_of_wrong_types_are_type_errors(tokenizer, method, text):
    """The message names the type."""
    refuses(TypeError, type(text).__name__, getattr(tokenizer, method), text)


def test_wrong_batches_are_errors(tokenizer):
    """One text is no batch; a wrong text in a batch is named by its index."""
    for texts in ("the", b"the", None, 3):
        for method in (tokenizer.encode_batch, tokenizer.encode_batch_to_numpy):
            refuses(TypeError, None, method, texts)
    refuses(TypeError, "text 2", tokenizer.encode_batch, ["a", "b", None])
    for threads in (0, -1, HUGE):
        with pytest.raises(TokenizerError, match="threads"):
            tokenizer.encode_batch(["a"], threads=threads)
    assert tokenizer.encode_batch(["a"] * 3, threads=10**9) == [[64]] * 3

    def texts():
        yield "a"
        raise OwnError

    refuses(OwnError, None, tokenizer.encode_batch, texts())


@pytest.mark.parametrize("special", ["<s>", "<x>", 3, [3], None, [None], [["<s>"]]])
@pytest.mark.parametrize("name", ["allowed_special", "disallowed_special"])
def test_wrong_special_arguments_are_errors(tokenizer, name, special):
    """A name outside a collection is a mistake, and so is anything but names."""
    refuses(TypeError, None, tokenizer.encode, "a", **{name: special})


@pytest.mark.parametrize("id_", [-1, 262, 2**31, 2**32, 2**63, HUGE, -HUGE])
def test_ids_that_no_token_has_are_errors(tokenizer, id_):
    """Negative and huge ids are named, in every method that takes ids."""
    push = bytepair.DecodeStream(tokenizer).push
    methods = [tokenizer.decode, tokenizer.decode_bytes, push]
    uses = [(tokenizer.token_bytes, id_), (push, id_), *((m, [id_]) for m in methods)]
    for method, argument in [*uses, (tokenizer.decode, [64, id_])]:
        refuses(UnknownTokenError, f"id {id_}", method, argument)


@pytest.mark.parametrize("ids", [None, "abc", [1.0], ["1"], [None], [[1]], 1.5])
def test_what_a_stream_cannot_take_for_ids_is_a_type_error(tokenizer, ids):
    """It takes an id or an iterable of ids, which are whole numbers."""
    refuses(TypeError, None, bytepair.DecodeStream(tokenizer).push, ids)


def test_wrong_arguments_of_decoding_are_errors(tokenizer):
    """``errors`` is one of three words."""
    for errors in ("x", "surrogateescape", ""):
        for call in (
            partial(tokenizer.decode, [64]),
            partial(bytepair.DecodeStream, tokenizer),
        ):
            refuses(TokenizerError, r"replace.*strict.*ignore", call, errors=errors)
    refuses(TypeError, None, tokenizer.decode, [64], errors=None)
    for method, arguments in (
        (tokenizer.token_to_id, (3, None, ["a"])),
        (tokenizer.token_bytes, ("a", 1.5, None)),
    ):
        for argument in arguments:
            refuses(TypeError, None, method, argument)


@pytest.mark.parametrize("wrong", [1.5, True, [1], object(), np.array([1, 2])])
def test_what_makes_another_tokenizer_names_what_it_takes(tokenizer, wrong):
    """A value of another type is a ``TypeError`` that says what was expected."""
    read, template = bytepair.Tokenizer.from_bytes, tokenizer.with_template
    calls = {
        "data must be the bytes": partial(read, wrong),
        "format must be the name": partial(read, b"{}", format=wrong),
        "single": partial(template, [wrong, "$A"]),
        "pair": partial(template, "$A", pair=[wrong, "$A", "$B"]),
        "a text or an AddedToken, not": partial(tokenizer.with_added_tokens, [wrong]),
    }
    for message, call in calls.items():
        refuses(TypeError, message, call)
    told = "expected a list of tokens, not"
    for many in (None, 5, b"low"):
        refuses(TypeError, told, tokenizer.with_added_tokens, many)


def test_a_stream_goes_on_after_an_error(tokenizer):
    """A wrong id changes nothing: the ids after it are decoded."""
    stream = bytepair.DecodeStream(tokenizer)
    assert stream.push(64) == "a"
    refuses(UnknownTokenError, None, stream.push, 9999)
    assert stream.push(65) + stream.finish() == "b"


def _numbers(tokenizer):
    """Give calls with one whole number, by the name of its argument."""
    full = tokenizer.encode_full("abc")
    return {
        "max_length": tokenizer.with_truncation,
        "stride": lambda n: tokenizer.with_truncation(9, stride=n),
        "length": lambda n: tokenizer.with_padding(0, length=n),
        "multiple_of": lambda n: tokenizer.with_padding(0, multiple_of=n),
        "type_id": lambda n: tokenizer.with_padding(0, type_id=n),
        "threads": lambda n: tokenizer.encode_batch(["a"], threads=n),
        "max_tokens": lambda n: tokenizer.truncate("abc", n),
        "seed": lambda n: tokenizer.encode_full("a", dropout=0.5, seed=n),
        "pad_id": lambda n: full.pad(9, pad_id=n),
        "token_index": full.token_to_word,
        "char_pos": full.char_to_token,
        "sequence_id": full.set_sequence_id,
        "min_count": lambda n: train(merges=1, min_count=n),
        "n_most": lambda n: bytepair.analyze.compare(
            tokenizer, tokenizer, texts=["a"], n_most=n
        ),
    }


@pytest.mark.parametrize("name", _numbers(train(merges=1)))
def test_a_number_that_an_argument_cannot_be_is_told_with_its_name(tokenizer, name):
    """A boolean is no number, though Python counts with it; one of numpy is."""
    call = _numbers(tokenizer)[name]
    for wrong in (True, np.bool_(True), 1.0):
        refuses(TypeError, f"{name}.* must be a whole number, not", call, wrong)
    refuses(TokenizerError, rf"^{name} must be .*-{HUGE}", call, -HUGE)
    call(np.int64(2))


def test_a_boolean_is_no_id_and_no_number(tokenizer):
    """True would be taken for the id 1 or the probability 1."""
    for method, wrong in (
        (tokenizer.decode, [True]),
        (tokenizer.decode_bytes, [64, False]),
        (tokenizer.decode, np.array([True])),
        (tokenizer.decode_batch, [[True]]),
        (bytepair.DecodeStream(tokenizer).push, True),
        (tokenizer.token_bytes, True),
        (tokenizer.with_padding, True),
        (lambda chance: tokenizer.encode_full("a", dropout=chance), True),
        (tokenizer.with_template, ["$A", ("<s>", True)]),
        (bytepair.train_from_counts, {"ab": True}),
    ):
        refuses(TypeError, None, method, wrong)


WRONG_SPECIAL = {
    TypeError: ["<x>", 3, [3], [None], {"<x>": "3"}, {"<x>": 1.5}],
    TokenizerError: [
        *({"<x>": id_} for id_ in (-1, 3, HUGE, 2**32 - 1)),
        *([""], {"<s>": 300}, {"<x>": 300, "<y>": 300}),
    ],
}


@pytest.mark.parametrize("error", WRONG_SPECIAL)
def test_wrong_new_special_tokens_are_errors(tokenizer, error):
    """An id is free and near, a name is not empty, and no token has two ids."""
    for tokens in WRONG_SPECIAL[error]:
        refuses(error, None, tokenizer.with_special_tokens, tokens)


# Files


def test_files_that_cannot_be_read_are_named(tmp_path):
    """Missing, no files in a folder, no match, NUL: a ``FileError`` that is an OSError."""
    (tmp_path / "file").write_text("ab")
    (tmp_path / "folder").mkdir()
    for path, message in (
        (tmp_path / "missing", "missing: no such file"),
        (tmp_path / "folder", "a folder without files"),
        (tmp_path / "*.txt", r"\*\.txt: no file matches"),
        ("a\0b", "NUL"),
        ("", "the path is empty"),
        (tmp_path / "file" / "below", "no such file"),
        ("x" * 5000, "no such file|too long"),
    ):
        refuses(FileError, message, bytepair.train, path, merges=1)
        refuses(FileError, message, bytepair.train, [tmp_path / "file", path], merges=1)
        refuses(TokenizerError, None, bytepair.Tokenizer.from_file, path)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_without_permission_is_named(tmp_path):
    """The system's reason is in the message."""
    file = tmp_path / "secret"
    file.write_text("ab")
    file.chmod(0)
    refuses(FileError, r"secret: Permission denied", bytepair.train, file)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_file_that_fails_while_it_is_read_is_named():
    """An error of the system in the middle is no end of file."""
    refuses(FileError, "/proc/self/mem: ", bytepair.train, "/proc/self/mem")


@pytest.mark.parametrize("files", [None, 3, [3], b"file", [None], 1.5])
def test_paths_of_wrong_types_are_type_errors(files):
    """A path is text or a path object."""
    refuses(TypeError, None, bytepair.train, files)


def test_wrong_names_of_formats_are_errors(tokenizer, tmp_path):
    """The message lists what is known; nothing is written."""
    known = "bytepair, compiled, huggingface, tiktoken"
    for message, call, *arguments in (
        (known, partial(tokenizer.save, format="onnx"), tmp_path / "file.json"),
        (r"extension '\.txt'", tokenizer.save, tmp_path / "file.txt"),
        ("format", partial(tokenizer.to_bytes, format="onnx")),
        ("format", partial(bytepair.Tokenizer.from_bytes, format="onnx"), b""),
    ):
        refuses(TokenizerError, message, call, *arguments)
    refuses((TokenizerError, TypeError), None, bytepair.Tokenizer.from_bytes, "text")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["missing/file.json", "file/below.json", "a\0b.json"])
def test_files_that_cannot_be_written_are_named(tokenizer, tmp_path, name):
    """Nothing is left behind."""
    (tmp_path / "file").write_text("before")
    refuses(FileError, None, tokenizer.save, tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "before"


FULL = """
import bytepair, resource, signal, sys
tokenizer = bytepair.train_from_iterator(["low lower lowest " * 9])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
try:
    tokenizer.save(sys.argv[1])
except bytepair.FileError as error:
    print(error)
"""


@pytest.mark.parametrize("name", ["own.json", "own.bytepair", "own.tiktoken"])
def test_a_full_disk_leaves_the_old_file(tmp_path, name):
    """A write that fails half way changes nothing that was there."""
    path = tmp_path / name
    path.write_text("before")
    assert name.split(".")[0] in run_python(FULL, path).stdout
    assert path.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == [name]


HUNGRY = """
import bytepair
tokenizer = bytepair.train_from_iterator(["low lower lowest " * 9])
for make in (
    lambda: tokenizer.with_special_tokens({"<x>": 2**32 - 1}),
    lambda: bytepair.train_from_iterator(["ab ab"], threads=10**7).encode_batch(["a"]),
    lambda: bytepair.train_from_iterator(["ab ab"], vocab_size=2**40),
    lambda: bytepair.train_from_iterator(["ab ab"], pattern="((a{1000}){1000}){1000}"),
):
    try:
        make()
    except bytepair.TokenizerError:
        pass
print("alive")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory")
def test_no_small_input_takes_all_memory():
    """Huge numbers are refused or harmless, with two gigabytes of memory."""
    assert run_python(HUNGRY, memory=2 << 30).stdout == "alive\n"


# Anything at all


anything = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=5),
    st.lists(st.integers(-3, 300), max_size=3),
    st.lists(st.text(max_size=3), max_size=3),
    st.just(object()),
)
OPTIONS = [
    "vocab_size merges special_tokens separator threads unit byte_ids pattern",
    "pattern_flavour unmatched normalize lowercase end_mark end_mark_kind ties",
    "continuing_prefix unknown_token fuse_unknown byte_fallback min_count dialect",
]


@given(
    st.dictionaries(st.sampled_from(" ".join(OPTIONS).split()), anything, max_size=3)
)
def test_any_options_train_or_are_refused(options):
    """Whatever the options are, there is a tokenizer, one of our errors, or a TypeError."""
    with suppress(TokenizerError, TypeError):
        train(**options)


@given(st.data())
def test_any_arguments_are_taken_or_refused(tokenizer, data):
    """No argument of any method panics or raises an error of another kind."""
    methods = "encode encode_batch count tokenize split decode decode_bytes token_to_id"
    methods += " token_bytes with_special_tokens encode_to_numpy encode_batch_to_numpy"
    method = getattr(tokenizer, data.draw(st.sampled_from(methods.split())))
    names = ["allowed_special", "disallowed_special", "threads", "errors", "nonsense"]
    keywords = st.dictionaries(st.sampled_from(names), anything, max_size=2)
    with suppress(TokenizerError, TypeError):
        method(data.draw(anything), **data.draw(keywords))


# Time


def test_failed_attempts_in_a_long_run_cost_linear_time():
    """Each space of a run begins a match that fails; none searches the whole run."""
    pattern = r" ?[^\s.,]+"
    tokenizer = train(pattern=pattern, merges=0)
    started = time.process_time()
    assert len(tokenizer.encode(" " * 4_000_000)) == 4_000_000
    assert time.process_time() - started < 10


def test_a_long_run_of_byte_tokens_streams_in_linear_time():
    """A chain that waits for the end of a run does not read it again for each byte."""
    names = ["<unk>", "a", *(f"<0x{byte:02X}>" for byte in range(256))]
    strip = {"type": "Strip", "content": "a", "start": 1, "stop": 0}
    decoders = [{"type": "ByteFallback"}, {"type": "Fuse"}, strip]
    tokenizer = hugging_face(
        {"vocab": vocabulary(*names), "merges": [], "unk_token": "<unk>"}
        | {"byte_fallback": True},
        decoder={"type": "Sequence", "decoders": decoders},
    )
    text = "é" * 200_000
    ids = tokenizer.encode(text)
    stream = bytepair.DecodeStream(tokenizer)
    started = time.process_time()
    pieces = [stream.push(number) for number in ids]
    assert "".join(pieces) + stream.finish() == text
    assert time.process_time() - started < 5


def test_what_is_neither_a_tokenizer_nor_its_path_is_refused(tokenizer):
    """Functions that take a tokenizer say so, and a path that leads nowhere is named."""
    bad = 3
    for call, *arguments in (
        *((analyze.diagnose, bad), (analyze.portrait, bad)),
        *((analyze.trace, bad, "low"), (analyze.cut, bad, "low")),
        *((analyze.why, bad, "low", "l"), (analyze.measure, bad, [])),
        *((analyze.stats, bad, []), (analyze.stats, {"a": bad}, [])),
        *((analyze.file_sums, [bad], []), (analyze.describe, {"a": bad})),
    ):
        refuses(TypeError, "a Tokenizer or a path, found int", call, *arguments)
    refuses(FileError, "nowhere.json: no such file", analyze.portrait, "nowhere.json")
    refuses(TypeError, r"'min_cuont'; did you mean min_count=\?", train, min_cuont=2)
    for call in (analyze.measure, analyze.stats):
        refuses(TypeError, r"mean threads=\?", call, tokenizer, [], thread=2)
    for call in (analyze.measure_all, analyze.file_sums):
        refuses(TypeError, r"mean threads=\?", call, [tokenizer], [], thread=2)


def test_a_value_of_another_kind_is_named(tokenizer):
    """The message has the argument and what it must be, and nothing of the code behind it."""
    for says, call, *arguments in (
        *(
            ("or a path, found int", call, 3, tokenizer)
            for call in (verify, verify_extension)
        ),
        ("found must be a result of trace", analyze.why, tokenizer, "low", "l"),
        ("measurements must be a dict", analyze.stats_of, []),
        ("reading must be a dict", partial(analyze.diagnose, reading="x"), tokenizer),
        ("logs must be a dict", partial(analyze.describe, logs="x"), {"a": tokenizer}),
        ("costs must be a list of numbers", analyze.gini, 3),
        ("counts must be the result of count_words", write_vocabulary, {"low": 1}, "x"),
        ("the corpus must be a path", analyze.file_sums, [tokenizer], 3),
        ("lines must be True or False", partial(bytepair.train, lines="no"), "x"),
        ("special_tokens must be a list", partial(train, special_tokens=3)),
        ('"all" or a coll.*, not int', partial(tokenizer.count, allowed_special=3), ""),
        ("ids_may_change must", partial(tokenizer.to_bytes, ids_may_change="no")),
    ):
        refuses(TypeError, says, call, *arguments)
    steps = partial(analyze.training_steps, tokenizer, [], ties="random")
    refuses(TokenizerError, "ties must be one of smallest_ids, ", steps)


def test_results_are_short_as_values():
    """A result of any size is a few hundred characters; printed and in a notebook, it is the command's view."""
    texts = [f"word{number} {number}" for number in range(2000)]
    one, other = (
        bytepair.train_from_iterator(texts, vocab_size=size) for size in (3000, 900)
    )
    found = [analyze.compare(one, other), analyze.diagnose(one), analyze.portrait(one)]
    found += [analyze.measure_texts(one, texts), surgery.remove(one, [299])]
    found += [surgery.verify_extension(one, other), found[-1].report]
    text = "word1 " * 500
    traced = [analyze.trace(one, text), one.trace(text)]
    for result in [*found, *traced, analyze.cut(one, text * 10), one.show(text * 10)]:
        assert len(repr(result)) < 5000
        assert result._repr_html_().startswith("<")
    for result in found:
        body = result._repr_html_().partition("</style>")[2]
        text = html.unescape(re.sub("<[^>]*>", "", body))
        assert len(str(result)) < 20_000
        assert "".join(text.split()) == "".join(str(result).split())
    starts = ["A  ", "BP504 ", "dialect ", "Corpus ", "14 tokens removed"]
    assert all(map(str.startswith, map(str, found), starts))


def test_numpy_alone_is_enough_for_all_but_extras():
    """Every module is imported without other libraries, or names what to install."""
    program = """
import sys, importlib, pkgutil
known = {*sys.stdlib_module_names, "numpy", "bytepair"}
class Refusing:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in known and not top.startswith("_"):
            raise ModuleNotFoundError(f"No module named {top!r}", name=top)
sys.meta_path.insert(0, Refusing())
import bytepair
from bytepair import analyze, errors
for module in pkgutil.walk_packages(bytepair.__path__, "bytepair.", onerror=print):
    name = module.name
    if name.startswith("bytepair.cli.") or name.endswith(("__main__", "command")):
        continue  # the way in says what to install
    try:
        importlib.import_module(name)
    except errors.MissingLibraryError as error:
        assert "pip install 'bytepair[" in str(error), error
    except ModuleNotFoundError as error:
        assert error.name in ("jinja2", "markupsafe", "tokenizers"), (name, error)
own = bytepair.train_from_iterator(["low"], vocab_size=258)
str(analyze.compare(own, own)), str(analyze.diagnose(own)), str(analyze.measure_texts(own, ["low"]))
from bytepair.cli.entry import main
main()
"""
    assert run_python(program, code=None).stderr == (
        "bytepair: the command line needs click: pip install 'bytepair[cli]'\n"
    )
