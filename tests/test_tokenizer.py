"""What a tokenizer does for its users, method by method, and what it keeps to.

Left out: which ids are right (``test_against_reference``), files (``test_formats``),
wrong arguments (``test_bad_input``).
"""

import copy
import ctypes
import gc
import json
import os
import pickle
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from unittest.mock import Mock, call

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tests.programs import run_python

import bytepair
from bytepair import Tokenizer, _core, _tokenizer, surgery


def in_threads(work, n_threads):
    """Run a function in several threads at once."""
    with ThreadPoolExecutor(n_threads) as pool:
        for outcome in [pool.submit(work) for _ in range(n_threads)]:
            outcome.result()


CORPUS = ["the cat sat on the mat, the bat sat on the hat é 日本 🇺🇳 " * 3]
SPECIAL = ["<s>", "</s>", "<s><s>"]


@pytest.fixture(scope="module")
def tokenizer():
    """Give a tokenizer of bytes with three special tokens."""
    return bytepair.train_from_iterator(CORPUS, vocab_size=280, special_tokens=SPECIAL)


@pytest.fixture(scope="module")
def words():
    """Give a tokenizer of characters with end marks and an unknown token."""
    options = {"dialect": "sennrich", "merges": 30, "special_tokens": ["<s>"]}
    return bytepair.train_from_iterator(CORPUS, unknown_token="[UNK]", **options)


@pytest.fixture(scope="module")
def fallback():
    """Give a tokenizer of characters that falls back to bytes."""
    return bytepair.train_from_iterator(CORPUS, dialect="sentencepiece", merges=30)


# Encode


# Python holds characters in as many bytes each as the largest of a text needs.
WIDTHS = ["the cat sat ", "se\xf1or \x00\x7f\x80\xff", "on the mat \u0100\u07ff"]
WIDTHS += ["\u0800 日本語 \ud7ff\ue000\uffff", "the hat \U00010000🇺🇳\U0010ffff"]


def anew(text, *, has_utf8=False):
    """Give the same text as another object, whose UTF-8 Python has or not."""
    other = (text + "\0")[:-1]
    if has_utf8 and text:
        ctypes.pythonapi.PyUnicode_AsUTF8(ctypes.py_object(other))
    return other


@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from(WIDTHS), min_size=1, max_size=3).map("".join),
            st.sampled_from([0, 1, 64, 255, 256, 2047, 2048, 2111, 6000, 70_000]),
            st.booleans(),
        ),
        max_size=6,
    )
)
def test_texts_of_every_width_have_the_ids_of_their_utf8(tokenizer, words, drawn):
    """Whether Python has it or it is made for the call, on one thread or two."""
    texts = [((part * length)[:length], has_utf8) for part, length, has_utf8 in drawn]
    for one in (tokenizer, words):
        expected = [one.encode(text.encode()) for text, _ in texts]
        for text, ids in zip(texts, expected, strict=True):
            for threads in (1, 2):
                options = {"threads": threads}
                made = anew(text[0], has_utf8=text[1])
                assert one.encode(made, **options) == ids
                assert one.encode_to_numpy(anew(text[0]), **options).tolist() == ids
                assert one.count(anew(text[0]), **options) == len(ids)
            assert one.encode(anew(text[0])) == ids
            assert one.tokenize(text[0]) == one.tokenize(text[0].encode())
        for threads in (1, 2):
            batch = [anew(text, has_utf8=has_utf8) for text, has_utf8 in texts]
            assert one.encode_batch(batch, threads=threads) == expected
            assert one.encode_batch(batch, threads=threads) == expected
            ids, offsets = one.encode_batch_to_numpy(map(anew, batch), threads=threads)
            assert ids.tolist() == [id for some in expected for id in some]
            assert np.diff(offsets).tolist() == [len(some) for some in expected]
            counts = one.count_batch(map(anew, batch), threads=threads)
            assert counts == [len(some) for some in expected]


def test_very_long_texts_of_every_width_have_the_ids_of_their_utf8(tokenizer):
    """The UTF-8 of a long text is made whole, on one thread or two."""
    for part in WIDTHS:
        assert_ids_of_utf8(tokenizer, (part * 2**20)[: 2**20])
        assert_ids_of_utf8(tokenizer, (part * 2**20)[: 2**20 + 1])


def assert_ids_of_utf8(tokenizer, text):
    """Compare with the text in bytes."""
    expected = tokenizer.encode_to_numpy(text.encode())
    for threads in (1, 2):
        found = tokenizer.encode_to_numpy(anew(text), threads=threads)
        assert np.array_equal(found, expected)


# The first and last characters of each length in UTF-8, and those around surrogates.
ENDS = "\0\x01\x7f\x80\xff\u0100\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0001f600\U0010ffff"


def test_every_end_of_every_width_at_every_place_has_the_ids_of_its_utf8(tokenizer):
    """Blocks of characters become the UTF-8 that Python makes, whatever stands in them and however long the last is."""
    texts = [filler * length for filler in "aéβ一😀" for length in range(256, 456)]
    for filler in "aéβ一😀":
        for place in range(130):
            before, behind = filler * (130 + place), filler * (139 - place)
            texts += [before + end + behind for end in ENDS]
    found = tokenizer.encode_batch_to_numpy(map(anew, texts), threads=1)
    as_bytes = [text.encode() for text in texts]
    expected = tokenizer.encode_batch_to_numpy(as_bytes, threads=1)
    assert all(map(np.array_equal, found, expected))


@pytest.mark.slow
def test_every_character_has_the_ids_of_its_utf8(tokenizer):
    """All characters in one text, in their order and in the reverse one."""
    characters = [*map(chr, range(0xD800)), *map(chr, range(0xE000, 0x110000))]
    for text in ("".join(characters), "".join(reversed(characters))):
        assert_ids_of_utf8(tokenizer, text)


def test_split_gives_pieces_of_the_type_of_the_text(tokenizer):
    """The pieces of a ``str`` are ``str``, and those of ``bytes`` are ``bytes``."""
    assert tokenizer.split("the hat") == ["the", " hat"]
    assert tokenizer.split(b"the \xff") == [b"the", b" \xff"]
    assert tokenizer.split("") == []


def test_disallowed_special_tokens_raise(tokenizer):
    """A disallowed token is an error that names it and its place, unless allowed too."""
    text = "the <s> cat"
    for disallowed in ("all", {"<s>"}, ["</s>", "<s>"]):
        with pytest.raises(bytepair.SpecialTokenError, match='"<s>" at byte 4'):
            tokenizer.encode(text, disallowed_special=disallowed)
    tokenizer.encode(text, disallowed_special={"</s>"})
    tokenizer.encode("the cat", disallowed_special="all")
    allowed = {"allowed_special": {"<s>"}, "disallowed_special": "all"}
    assert tokenizer.special_tokens["<s>"] in tokenizer.encode(text, **allowed)
    with pytest.raises(bytepair.SpecialTokenError, match="text 1 of the batch"):
        tokenizer.encode_batch(["a", text], disallowed_special="all")


@pytest.mark.parametrize("argument", ["allowed_special", "disallowed_special"])
@pytest.mark.parametrize("method", ["encode", "encode_to_numpy", "count", "tokenize"])
def test_names_that_are_no_special_tokens_are_errors(tokenizer, method, argument):
    """A name that is mistyped is not passed over."""
    with pytest.raises(bytepair.SpecialTokenError, match='"<S>" is not a special'):
        getattr(tokenizer, method)("a", **{argument: ["<S>"]})


def test_every_encoder_method_gives_the_same_ids(tokenizer):
    """Lists, arrays of 32 and of 16 bits, batches and counts agree."""
    texts = ["", "the cat", "<s>hat", "é" * 1000, "日本" * 3000]
    for options in ({}, {"allowed_special": "all"}, {"add_special_tokens": True}):
        ids = [tokenizer.encode(text, **options) for text in texts]
        assert tokenizer.encode_batch(texts, **options) == ids
        counts = [tokenizer.count(text, **options) for text in texts]
        assert counts == list(map(len, ids))
        for dtype, named in (
            ("uint32", options),
            ("uint16", {**options, "dtype": "uint16"}),
        ):
            arrays = [tokenizer.encode_to_numpy(text, **named) for text in texts]
            assert [array.tolist() for array in arrays] == ids
            assert {array.dtype for array in arrays} == {np.dtype(dtype)}
            flat, offsets = tokenizer.encode_batch_to_numpy(texts, **named)
            assert (flat.dtype, offsets.dtype) == (np.dtype(dtype), np.dtype("int64"))
            assert offsets.shape == (len(texts) + 1,)
            pairs = pairwise(offsets)
            assert [flat[start:end].tolist() for start, end in pairs] == ids


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_lists_of_a_large_batch_come_in_order_and_its_last_text_may_fail(
    tokenizer, threads
):
    """They are made while texts are encoded; an error names its text, and the next call is right."""
    texts = [f"the cat {place} sat " * 1_000 for place in range(100)]
    expected = [tokenizer.encode(text) for text in texts]
    assert sum(map(len, expected)) > 500_000
    options = {"threads": threads, "disallowed_special": "all"}
    for _ in range(2):
        assert tokenizer.encode_batch(texts, threads=threads) == expected
        with pytest.raises(bytepair.TokenizerError, match=r"text 100 of the batch"):
            tokenizer.encode_batch([*texts, "<s>"], **options)


# In a process of its own: arrays of other tests, whenever they go, would lie there as well.
SAME_MEMORY = """
import sys
import numpy as np
import bytepair

tokenizer = bytepair.train_from_iterator(["the the the"], vocab_size=259)
texts = ["the " * 16_384] * int(sys.argv[1])
array, _ = tokenizer.encode_batch_to_numpy(texts, threads=1)
place, n_bytes = array.ctypes.data, array.nbytes
del array
# What was given back to the system would come here.
others = [np.empty(n_bytes, np.uint8) for _ in range(3)]
assert {other.ctypes.data for other in others}.isdisjoint([place])
array, _ = tokenizer.encode_batch_to_numpy(texts[2:], threads=1)
assert array.ctypes.data == place
"""


@pytest.mark.parametrize("n_texts", ["4", "1100"])
def test_the_memory_of_an_array_that_is_gone_is_used_again(n_texts):
    """It is, also where there was room for more than is kept: of 1,100 texts for twice as many ids."""
    run_python(SAME_MEMORY, n_texts)


def test_an_array_that_cannot_hold_all_ids_is_refused(tokenizer):
    """The text does not decide: a vocabulary of more ids than 16 bits tell apart has none."""
    names = [f"<{place}>" for place in range(65_536 - tokenizer.n_vocab)]
    largest = tokenizer.with_special_tokens(names)
    text = f"the cat{names[-1]}"
    ids = largest.encode_to_numpy(text, allowed_special="all", dtype="uint16")
    assert ids[-1] == 65_535
    larger = largest.with_special_tokens(["<one more>"])
    assert larger.encode("<one more>", allowed_special="all") == [65_536]
    for method in (larger.encode_to_numpy, larger.encode_batch_to_numpy):
        for dtype, said in (
            ("uint16", "65537 ids, and uint16"),
            ("int64", 'not "int64"'),
        ):
            with pytest.raises(bytepair.TokenizerError, match=said):
                method("", dtype=dtype)


def test_lists_share_nothing_but_their_numbers(tokenizer):
    """A list that is changed changes no other, from whatever thread it comes."""
    text = "the cat 日本 " * 500
    expected = tokenizer.encode_to_numpy(text).tolist()
    lists = []

    def work():
        lists.extend(tokenizer.encode_batch([text] * 20))

    in_threads(work, 4)
    assert len(lists) == 80
    for found in lists:
        assert found == expected
        assert {type(id_) for id_ in found} == {int}
        found[:] = [0] * len(found)


def test_a_list_gives_back_what_it_has_of_each_integer(tokenizer):
    """However large an id is, lists hold it rightly, count a reference each, and end it.

    The integers of ids below 2 ** 18 are kept.
    """
    large = {"<a>": 70_000, "<b>": 262_143, "<c>": 262_144, "<d>": 300_000}
    more = tokenizer.with_special_tokens(large)
    text, expected = "".join(large), list(large.values())
    ids = more.encode(text, allowed_special="all")
    assert ids == expected
    n_held = [50, 50, 0, 0]
    counts = [sys.getrefcount(id_) for id_ in ids]
    for _ in range(3):
        lists = more.encode_batch([text] * 50, allowed_special="all")
        assert lists == [expected] * 50
        found = [sys.getrefcount(id_) for id_ in ids]
        assert found == [count + n for count, n in zip(counts, n_held, strict=True)]
        del lists
        assert [sys.getrefcount(id_) for id_ in ids] == counts


def test_batches_come_from_any_iterable(tokenizer):
    """Lists, tuples, generators; ``str`` and ``bytes`` side by side; no text at all."""
    expected = [tokenizer.encode("the"), tokenizer.encode("cat")]
    texts = ("the", b"cat"), iter(["the", "cat"]), {"the": 1, "cat": 2}
    for batch in texts:
        assert tokenizer.encode_batch(batch) == expected
    assert tokenizer.encode_batch([]) == []
    flat, offsets = tokenizer.encode_batch_to_numpy(iter([]))
    assert (flat.shape, offsets.tolist()) == ((0,), [0])


def test_tokens_join_to_the_text(tokenizer, words):
    """Tokens of bytes that are UTF-8 join to the text; marks are written out."""
    assert "".join(tokenizer.tokenize("the cat on 1")) == "the cat on 1"
    assert "".join(words.tokenize("the cat")) == "the</w>cat</w>"
    assert words.tokenize("zebra")[0] == "[UNK]"


# Decode


@given(data=st.binary() | st.text().map(str.encode))
def test_decode_bytes_undoes_encode(tokenizer, data):
    """Any bytes come back, and as text they are what Python's decoder makes of them."""
    ids = tokenizer.encode(data)
    assert tokenizer.decode_bytes(ids) == data
    for errors in ("replace", "ignore"):
        assert tokenizer.decode(ids, errors=errors) == data.decode(errors=errors)
    try:
        expected = data.decode()
    except UnicodeDecodeError as error:
        with pytest.raises(bytepair.EncodingError, match=f"byte {error.start} "):
            tokenizer.decode(ids, errors="strict")
    else:
        assert tokenizer.decode(ids, errors="strict") == expected


@given(data=st.data())
def test_a_stream_gives_what_decode_gives(tokenizer, words, fallback, data):
    """Cut anywhere, a stream emits prefixes of the text and in the end all of it."""
    chosen = data.draw(st.sampled_from([tokenizer, words, fallback]))
    ids = data.draw(st.lists(st.integers(0, chosen.n_vocab - 1), max_size=20))
    errors = data.draw(st.sampled_from(["replace", "ignore"]))
    skip = data.draw(st.booleans())
    options = {"errors": errors, "skip_special_tokens": skip}
    text = chosen.decode(ids, **options)
    for cut in range(len(ids) + 1):
        stream = bytepair.DecodeStream(chosen, **options)
        emitted = stream.push(ids[:cut])
        assert text.startswith(emitted)
        for id_ in ids[cut:]:
            emitted += stream.push(id_)
            assert text.startswith(emitted)
        assert emitted + stream.finish() == text


def test_a_stream_never_emits_half_a_character(tokenizer):
    """Its bytes come together with the last; at the end half of one is replaced, left out, or an error."""

    def ids_of(data):
        return [tokenizer.token_to_id(bytes([byte])) for byte in data]

    stream = bytepair.DecodeStream(tokenizer, errors="strict")
    emitted = [stream.push(id_) for id_ in ids_of("a😀é".encode())]
    assert [*emitted, stream.finish()] == ["a", "", "", "", "😀", "", "é", ""]
    for errors, rest in (("replace", "\ufffd"), ("ignore", ""), ("strict", None)):
        stream = bytepair.DecodeStream(tokenizer, errors=errors)
        assert stream.push(ids_of(b"a\xf0\x9f")) == "a"
        if rest is not None:
            assert stream.finish() == rest
            continue
        with pytest.raises(bytepair.EncodingError, match="byte 1 "):
            stream.finish()


def test_special_tokens_can_be_left_out_of_the_text(tokenizer, words):
    """``skip_special_tokens`` leaves out special and unknown tokens."""
    ids = tokenizer.encode("<s>the</s>", allowed_special="all")
    assert tokenizer.decode(ids) == "<s>the</s>"
    assert tokenizer.decode(ids, skip_special_tokens=True) == "the"
    assert words.decode(words.encode("thez"), skip_special_tokens=True) == "the"


IDS_AS = {
    "list": list,
    "tuple": tuple,
    "generator": iter,
    "range": lambda ids: range(ids[0], ids[-1] + 1),
    **{kind: partial(np.array, dtype=kind) for kind in ("uint32", "uint16", "int64")},
    "big-endian": partial(np.array, dtype=">u4"),
    "strided": lambda ids: np.repeat(np.array(ids, dtype=np.uint32), 2)[::2],
    "read-only": lambda ids: np.frombuffer(np.array(ids, np.uint32).tobytes(), "u4"),
    "numpy numbers": lambda ids: list(np.array(ids, dtype=np.int64)),
    "memoryview": lambda ids: memoryview(np.array(ids, dtype=np.uint32)),
}


@pytest.mark.parametrize("kind", IDS_AS)
def test_ids_come_in_any_collection(tokenizer, kind):
    """Whatever holds integers can be decoded, whole and as a stream."""
    ids, wrap = [64, 65, 66], IDS_AS[kind]
    assert tokenizer.decode(wrap(ids)) == "abc"
    assert tokenizer.decode_bytes(wrap(ids)) == b"abc"
    assert bytepair.DecodeStream(tokenizer).push(wrap(ids)) == "abc"


# The vocabulary


def test_ways_to_look_at_the_vocabulary_agree(tokenizer, words, fallback):
    """Every token has one id, whichever way it is asked for."""
    for one in (tokenizer, words, fallback):
        assert len(one) == one.n_vocab == len(one.vocabulary)
        assert len(set(one.vocabulary)) == one.n_vocab
        for id_, token in enumerate(one.vocabulary):
            assert (one.inspect().tokens([id_])[0].entry, one.token_to_id(token)) == (
                token,
                id_,
            )
        assert one.token_to_id("no such token") is None


def test_get_vocab_maps_tokens_to_ids(tokenizer, words):
    """``get_vocab`` has every token once, in the form of published vocabularies; ids have ``str`` and ``bytes``."""
    assert tokenizer.get_vocab()["Ġthe"] == tokenizer.token_to_id(" the")
    assert words.get_vocab()["the</w>"] == words.token_to_id("the</w>")
    for one in (tokenizer, words):
        vocabulary = one.get_vocab()
        assert sorted(vocabulary.values()) == list(range(one.n_vocab))
        expected = [_core.id_of_written(one, token) for token in vocabulary]
        assert list(vocabulary.values()) == expected
    for text in ("é", " the"):
        assert tokenizer.token_to_id(text) == tokenizer.token_to_id(text.encode())
    assert tokenizer.token_to_id(" the") >= 256 > tokenizer.token_to_id(b"\xff")


def test_str_tells_the_whole_pipeline(tokenizer, words, fallback):
    """Every part that changes ids is named, and what is lost."""
    for one, parts in (
        (tokenizer, ["bytes", r"\p{Lu}", "280 tokens", "<s>", "loses: nothing"]),
        (words, ["</w>", "[UNK]"]),
        (fallback, ["NFKC", "byte fallback"]),
    ):
        assert [part for part in parts if part not in str(one)] == []
    assert "loses: nothing" not in str(words)


# More special tokens, equality, immutability


def test_special_tokens_can_be_added(tokenizer):
    """A new tokenizer has them, at the last ids or those of a mapping; ids of text stay."""
    before, last = str(tokenizer), tokenizer.n_vocab
    assert tokenizer.special_tokens == dict(zip(SPECIAL, range(last - 3, last)))  # noqa: B905
    more = tokenizer.with_special_tokens(["<|user|>", "<s>"])
    assert more.special_tokens == {**tokenizer.special_tokens, "<|user|>": 280}
    assert more.n_vocab == 281
    assert more.encode("<|user|>", allowed_special="all") == [280]
    assert more.encode("the cat") == tokenizer.encode("the cat")
    assert more.decode([280]) == "<|user|>"
    assert str(tokenizer) == before
    assert type(more) is Tokenizer
    more = tokenizer.with_special_tokens({"<a>": 310, "<b>": 305})
    assert more.special_tokens["<a>"] == 310
    assert more.n_vocab == 311
    assert more.vocabulary[301] is None
    with pytest.raises(bytepair.UnknownTokenError, match="301"):
        more.decode([301])
    assert more.encode("<b><a>", allowed_special="all") == [305, 310]


def test_a_tokenizer_cannot_be_changed(tokenizer):
    """Attributes cannot be set, and what is given out is a copy."""
    for name in ("n_vocab", "new_attribute"):
        with pytest.raises(AttributeError):
            setattr(tokenizer, name, 3)
    before = tokenizer.encode("<s>the", allowed_special="all")
    given = [tokenizer.vocabulary, tokenizer.merges, tokenizer.special_tokens]
    for collection in (*given, tokenizer.get_vocab()):
        collection.clear()
    tokenizer.encode_to_numpy("the")[:] = 0
    assert tokenizer.encode("<s>the", allowed_special="all") == before
    assert tokenizer.n_vocab == len(tokenizer.vocabulary) == 280


class WithAttributes(Tokenizer):
    """A subclass with attributes, one of them in a slot."""

    __slots__ = ("__dict__", "pad")


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))]
)
def test_a_copy_of_a_subclass_has_its_attributes(tokenizer, copied):
    """What a subclass adds to a tokenizer goes through copies and ``pickle``."""
    one = WithAttributes(tokenizer)
    one.pad, one.names = 3, ["a"]
    again = copied(one)
    assert (type(again), again, again.pad, again.names) == (type(one), one, 3, ["a"])


def test_copies_are_equal(tokenizer, words, fallback):
    """``copy``, ``deepcopy`` and every pickle protocol give an equal tokenizer."""
    for one in (tokenizer, words, fallback):
        pickles = [pickle.dumps(one, protocol=n) for n in range(2, 6)]
        copies = [copy.copy(one), copy.deepcopy(one), *map(pickle.loads, pickles)]
        for other in copies:
            assert type(other) is Tokenizer
            assert other == one
            assert (hash(other), str(other)) == (hash(one), str(one))
            assert other.inspect().merge_log == one.inspect().merge_log
            assert other.encode("the cat") == one.encode("the cat")


def test_tokenizers_are_equal_if_their_parts_are(tokenizer, words):
    """Equality, hash and fingerprint go by content."""
    again = bytepair.train_from_iterator(CORPUS, vocab_size=280, special_tokens=SPECIAL)
    assert again == tokenizer
    assert {again, tokenizer} == {tokenizer}
    assert again.fingerprint == tokenizer.fingerprint
    others = [words, tokenizer.with_special_tokens(["<x>"])]
    for changed in ({"vocab_size": 279}, {"vocab_size": 280, "pattern": "gpt2"}):
        options = {"special_tokens": SPECIAL, **changed}
        others.append(bytepair.train_from_iterator(CORPUS, **options))
    assert len({tokenizer.fingerprint, *(o.fingerprint for o in others)}) == 5
    assert all(tokenizer != other for other in others)
    assert tokenizer != 3


FINGERPRINTS = """
import bytepair, json, pickle, sys
text = "the cat sat on the mat, the bat sat on the hat"
names = bytepair.dialects()
all = [bytepair.train_from_iterator([text], merges=20, dialect=name) for name in names]
print(json.dumps([[one.fingerprint, pickle.dumps(one).hex()] for one in all]))
"""


def test_fingerprints_and_pickles_are_the_same_in_every_process():
    """Neither depends on hash seeds or on the process."""
    seeded = ({**os.environ, "PYTHONHASHSEED": seed} for seed in "0123")
    found = [json.loads(run_python(FINGERPRINTS, env=e).stdout) for e in seeded]
    assert all(one == found[0] for one in found)
    assert len({fingerprint for fingerprint, _ in found[0]}) == len(found[0])


# Threads and processes


def test_what_is_collected_during_a_call_may_encode(tokenizer):
    """A finalizer that Python runs while a list is made encodes with the same tokenizer."""
    text, expected, found = "the cat sat", tokenizer.encode("the cat sat"), []

    class Cycle:
        def __init__(self):
            self.itself = self

        def __del__(self):
            found.append(tokenizer.encode(text))

    thresholds = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(100):
            Cycle()
            assert tokenizer.encode(text) == expected
            assert tokenizer.encode_to_numpy(text).tolist() == expected
    finally:
        gc.set_threshold(*thresholds)
    gc.collect()
    assert found == [expected] * 100


def test_other_threads_run_while_a_long_text_is_encoded(tokenizer):
    """The GIL is free during an encode of several megabytes."""
    text = "the cat sat on the mat é " * 400_000
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    for work in (tokenizer.encode_to_numpy, tokenizer.count):
        start = time.perf_counter()
        work(text)
        end = time.perf_counter()
        middle = [tick for tick in ticks if start < tick < end]
        assert len(middle) >= 5, (work, end - start)
    done.set()
    thread.join()


FORK = """
import bytepair, os, threading, time
tokenizer = bytepair.train_from_iterator(["the cat sat on the mat " * 9], vocab_size=270)
texts = ["the cat sat %d" % n * 50 for n in range(200)]
expected = tokenizer.encode_batch(texts)
done = threading.Event()

def work():
    while not done.is_set():
        tokenizer.encode_batch(texts, threads=1)  # glibc must not create threads now
        tokenizer.encode(texts[0])

threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
codes = []
for _ in range(20):
    child = os.fork()
    if child == 0:
        is_right = tokenizer.encode_batch(texts, threads=2) == expected
        is_right &= [tokenizer.encode(text) for text in texts] == expected
        again = bytepair.train_from_iterator(["the cat " * 9], vocab_size=260, threads=2)
        os._exit(0 if is_right and again.n_vocab == 260 else 3)
    codes.append(os.waitpid(child, 0)[1])
done.set()
for thread in threads:
    thread.join()
print(codes)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_child_encodes_and_trains_after_fork():
    """Processes forked off in the middle of other threads' calls work, and do not hang.

    Those calls start no threads: a fork while glibc 2.36 reuses the stack of a thread
    leaves the child with a stack whose memory it frees twice, once in a thousand times.
    """
    assert run_python(FORK).stdout.strip() == str([0] * 20)


FIRST = """
import bytepair, os, random, signal, threading, time
words = ["".join(random.choices("abcdefghijklmnop", k=random.randint(3, 9))) for _ in range(40_000)]
texts = [" ".join(words)]
codes = []
for number in range(8):
    tokenizer = bytepair.train_from_iterator(texts, vocab_size=40_000, threads=1)
    begun = threading.Event()

    def work():
        begun.set()
        tokenizer.encode_batch(["the cat sat on the mat" * 20], threads=1)

    thread = threading.Thread(target=work)
    thread.start()
    begun.wait()
    time.sleep(number * 0.0001)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(0 if tokenizer.encode("the cat") else 3)
    codes.append(os.waitpid(child, 0)[1])
    thread.join()
print(codes)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_child_encodes_that_was_forked_off_in_the_first_call():
    """What the first call makes is not waited for by a process without its thread."""
    assert run_python(FIRST).stdout.strip() == str([0] * 8)


POOL = """
import bytepair, multiprocessing
tokenizer = bytepair.train_from_iterator(["the cat sat on the mat " * 9], vocab_size=270)
if __name__ == "__main__":
    texts = ["the cat %d" % number for number in range(100)]
    tokenizer.encode_batch(texts, threads=2)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map(tokenizer.encode, texts)
    print(found == tokenizer.encode_batch(texts))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_pool_of_processes_encodes():
    """Methods of a tokenizer go to the processes of a pool."""
    assert run_python(POOL).stdout == "True\n"


# Importing


def test_importing_loads_no_more_than_it_needs():
    """No other package is imported, nor numpy, nor the reference: ``import bytepair`` costs less than numpy."""
    code = "import bytepair, sys; print(*sorted(sys.modules))"
    loaded = set(run_python(code).stdout.split())
    unwanted = {"typer", "rich", "click", "regex", "tokenizers", "tiktoken", "numpy"}
    assert "bytepair" in loaded
    assert not {*unwanted, "bytepair.reference", "bytepair.cli"} & loaded


def test_many_lists_of_ids_are_decoded_together():
    """Each as by itself, from lists and arrays; an error names the place of the list."""
    options = {"vocab_size": 260, "special_tokens": ["<s>"]}
    tokenizer = bytepair.train_from_iterator(["low lower"], **options)
    texts = ["low", "", "é <s> lower"]
    rows = tokenizer.encode_batch(texts, allowed_special="all")
    assert tokenizer.decode_batch(rows) == texts
    assert tokenizer.decode_batch(iter(map(np.array, rows[::2]))) == texts[::2]
    assert tokenizer.decode_batch(np.array([rows[0], rows[0]])) == ["low", "low"]
    options = {"skip_special_tokens": True, "errors": "ignore"}
    expected = tokenizer.decode(rows[2][:-1], **options)
    assert tokenizer.decode_batch([rows[2][:-1]], **options) == [expected]
    with pytest.raises(bytepair.UnknownTokenError, match="list 1 of the batch"):
        tokenizer.decode_batch([[0], [9999]])
    with pytest.raises(TypeError, match="list 0 of the batch: expected a list of ids"):
        tokenizer.decode_batch([1, 2])


@pytest.mark.parametrize("decode", ["decode", "decode_bytes"])
def test_what_is_no_list_of_ids_is_told_what_to_pass(decode):
    """Lists of lists, one id, text, and what is no integer."""
    decoded = getattr(bytepair.train_from_iterator(["ab"], vocab_size=256), decode)
    rows = [[[1, 2]], [(1, 2)], [np.array([1, 2])]]
    rows += [np.array([[1, 2]]), np.zeros((2, 2), dtype=np.uint32)]
    for wrong, match in (
        *((row, "decode_batch") for row in rows),
        (5, r"expected a list of ids, not int: pass \[5\]"),
        ("ab", "expected ids, which are integers, not str"),
        (1.5, "not float"),
        *([[one], f"not {type(one).__name__}"] for one in (1.5, "1", None)),
        (None, "not NoneType"),
    ):
        with pytest.raises(TypeError, match=match):
            decoded(wrong)


def test_a_tokenizer_says_how_it_is_made():
    """Without a tokenizer to begin with, and with something else."""
    for arguments in ((), (None,), ("gpt2",), (b"",)):
        with pytest.raises(TypeError, match=r"bytepair\.train.*Tokenizer\.from_file"):
            bytepair.Tokenizer(*arguments)
    tokenizer = bytepair.train_from_iterator(["ab"], vocab_size=256)
    assert bytepair.Tokenizer(tokenizer) == tokenizer


def test_tokens_are_added_that_are_not_special():
    """They are found in every text, as their properties say, and keep ids that they have."""
    options = {"vocab_size": 259, "special_tokens": ["<s>"]}
    tokenizer = bytepair.train_from_iterator(["low lower"], **options)
    token, s_id = bytepair.AddedToken, tokenizer.special_tokens["<s>"]
    changed = tokenizer.with_added_tokens(["<x>", token("<y>", lstrip=True), "low"])
    assert changed.special_tokens == tokenizer.special_tokens
    assert changed.n_vocab == tokenizer.n_vocab + 2
    assert changed.encode("<x>") == [tokenizer.n_vocab]
    assert changed.encode("a  <y>")[1:] == [tokenizer.n_vocab + 1]
    assert changed.token_to_id("low") == tokenizer.token_to_id("low")
    assert changed.added_tokens[tokenizer.n_vocab] == token("<x>")
    assert changed.added_tokens[tokenizer.n_vocab + 1].lstrip
    special = changed.with_added_tokens([token("<x>", special=True)])
    assert special.n_vocab == changed.n_vocab
    assert special.special_tokens["<x>"] == tokenizer.n_vocab
    assert tokenizer.added_tokens == {s_id: token("<s>", special=True)}
    with pytest.raises(TypeError, match="one string"):
        tokenizer.with_added_tokens("<x>")


def test_what_a_tokenizer_is_compared_by_never_depends_on_what_the_stack_held():
    """Byte tokens are byte tokens in the first fingerprint, asked for by ``==``."""
    texts = ["<s><s>ab b<s><s>s> ba</s>", "x\x19", "ab ab"]
    options = {"dialect": "sennrich", "byte_fallback": True, "unknown_token": "[UNK]"}
    options |= {"min_count": 4, "special_tokens": ["<s>"]}
    options["normalize"] = [("replace", " ", "▁")]
    large = bytepair.train_from_iterator(texts, merges=30, **options)
    small = bytepair.train_from_iterator(texts, merges=0, **options)
    assert all(surgery.shorten(large, merges=0) == small for _ in range(3))


def test_added_tokens_are_looked_up_once_and_copied(monkeypatch):
    """A loop over a vocabulary costs no more for asking each time; a changed copy changes nothing."""
    counted = Mock(wraps=_tokenizer.added_tokens)
    monkeypatch.setattr(_tokenizer, "added_tokens", counted)
    base = bytepair.train_from_iterator(["low"], vocab_size=256)
    tokenizer = base.with_special_tokens(["<s>"]).with_added_tokens(["<think>"])
    start, think = (
        bytepair.AddedToken("<s>", special=True),
        bytepair.AddedToken("<think>"),
    )
    expected = {256: start, 257: think}
    found = [tokenizer.added_tokens for _ in range(tokenizer.n_vocab)]
    assert all(each == expected for each in found)
    assert counted.mock_calls == [call(tokenizer)]
    found[0].clear()
    found[1][258] = found[1].pop(257)
    assert tokenizer.added_tokens == expected
    again = pickle.loads(pickle.dumps(tokenizer))
    assert (again, again.added_tokens) == (tokenizer, expected)
    more = tokenizer.with_added_tokens([bytepair.AddedToken("<think>", lstrip=True)])
    assert more.added_tokens[257].lstrip
    assert base.added_tokens == {}


OF_PADDING = {"length": 4, "multiple_of": 4, "side": "left", "type_id": 1}
OF_TRUNCATION = {"stride": 1, "strategy": "only_first", "side": "left"}


@pytest.mark.parametrize(
    ("method", "name", "value"),
    [
        *(("with_padding", *option) for option in OF_PADDING.items()),
        *(("with_truncation", *option) for option in OF_TRUNCATION.items()),
    ],
)
def test_options_of_what_is_turned_off_are_refused(tokenizer, method, name, value):
    """Each by its name; alone, None turns it off, and a number takes the option."""
    changed = getattr(tokenizer, method)
    with pytest.raises(bytepair.TokenizerError, match=f"^{name}= has no effect"):
        changed(None, **{name: value})
    assert changed(None) == tokenizer
    assert changed(2, **{name: value}) != changed(2)
