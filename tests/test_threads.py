"""Threads: what is shared is right, and no thread waits for one that waits for it.

Run by a Python without a GIL, the same tests say that the core needs none.
"""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tests.programs import run_python

import bytepair

N_THREADS = 8
TEXTS = ["the cat sat on the mat", "naïve café, déjà vu " * 200, "你好世界" * 300]
TEXTS += ["👋🏽 𐍈𐌰𐌹 " * 200, "low lower lowest " * 500, ""]


@pytest.fixture(scope="module")
def tokenizer():
    """Give one tokenizer for all threads."""
    return bytepair.train_from_iterator(TEXTS * 2, vocab_size=500)


def at_once(work):
    """Call a function with numbers from as many threads, which begin together."""
    ready = threading.Barrier(N_THREADS)

    def begun(number):
        ready.wait()
        return work(number)

    with ThreadPoolExecutor(N_THREADS) as threads:
        return list(threads.map(begun, range(N_THREADS)))


def test_threads_share_a_tokenizer(tokenizer):
    """Every way to encode gives each thread the ids that one thread gets."""
    expected = [tokenizer.encode(text) for text in TEXTS]

    def work(number):
        for turn in range(6):
            text = TEXTS[(number + turn) % len(TEXTS)]
            ids = expected[(number + turn) % len(TEXTS)]
            assert tokenizer.encode(text) == ids
            assert tokenizer.encode_to_numpy(text, threads=2).tolist() == ids
            assert tokenizer.count(text) == len(ids)
            assert tokenizer.decode(ids) == text
            assert tokenizer.encode_full(text).ids == ids
        assert tokenizer.encode_batch(TEXTS, threads=2) == expected
        return tokenizer.decode_batch(expected)

    assert at_once(work) == [TEXTS] * N_THREADS


def test_lists_of_new_ids_are_made_at_once():
    """Integers that several threads hand out for the first time are those of the ids."""
    tokenizer = bytepair.train_from_iterator(TEXTS, vocab_size=300)
    added = [bytepair.AddedToken(f"<{number}>") for number in range(2000)]
    large = tokenizer.with_added_tokens(added)
    text = "".join(token.content for token in added)
    ids = [large.token_to_id(token.content) for token in added]
    assert max(ids) > 2000
    assert at_once(lambda _: large.encode(text)) == [ids] * N_THREADS


def test_sessions_and_streams_of_one_tokenizer_run_side_by_side(tokenizer):
    """Each thread's own session and stream know nothing of the others'."""

    def work(number):
        text = TEXTS[number % len(TEXTS)][:400]
        ids = tokenizer.encode(text)
        session, stream = tokenizer.session(), bytepair.DecodeStream(tokenizer)
        for character in text:
            session.append(character)
        assert "".join(map(stream.push, ids)) + stream.finish() == text
        return session.ids.tolist() == ids

    assert all(at_once(work))


def test_a_stream_that_is_shared_takes_ids_one_after_the_other(tokenizer):
    """No id gets lost and none is taken twice, with errors in between."""
    stream, letter = bytepair.DecodeStream(tokenizer), tokenizer.encode("x")

    def work(number):
        pushed = ""
        for turn in range(100):
            pushed += stream.push(letter)
            if turn % 10 == number:
                with pytest.raises(bytepair.UnknownTokenError):
                    stream.push(10_000_000)
        return pushed

    assert "".join(at_once(work)) == "x" * 100 * N_THREADS


def test_an_encoding_that_is_changed_is_read_as_it_was_or_is(tokenizer):
    """Whoever reads while others cut and fill up sees one state, not parts of two."""
    encoding = tokenizer.encode_full(TEXTS[4])
    n_ids = len(encoding)

    def work(number):
        for _ in range(50):
            if number % 2:
                encoding.pad(n_ids + number)
                encoding.set_sequence_id(number % 2)
            assert len(encoding.ids) in range(n_ids, n_ids + N_THREADS)
            assert encoding.char_to_token(0, 0) in (0, None)
            assert encoding.word_to_chars(0) in ((0, 3), None)

    at_once(work)
    assert len(encoding) == n_ids + 7


def test_threads_train_at_once():
    """Training in one thread changes nothing in another."""

    def work(number):
        corpus = TEXTS[: 2 + number % 2]
        trained = bytepair.train_from_iterator(corpus, vocab_size=300, threads=2)
        return trained.fingerprint

    even, odd, *others = at_once(work)
    assert even != odd
    assert others == [even, odd] * 3


def test_arrays_that_are_dropped_at_once_are_not_handed_out_twice(tokenizer):
    """Memory that is used again belongs to one array at a time."""
    text = TEXTS[4] * 10
    expected = tokenizer.encode_to_numpy(text)

    def work(_):
        kept = [tokenizer.encode_to_numpy(text) for _ in range(6)]
        kept[0][:] = 0
        return all(np.array_equal(ids, expected) for ids in kept[1:])

    assert all(at_once(work))


BEGIN = """
import threading
import bytepair
from bytepair import _core

tokenizer = bytepair.train_from_iterator(["low lower"], merges=2)
is_read, may_end = threading.Event(), threading.Event()

def read(n_bytes):
    if is_read.is_set():
        return b""
    is_read.set()
    may_end.wait()
    return b"low lower"

def beside(adding, asking):
    thread = threading.Thread(target=adding)
    thread.start()
    is_read.wait()
    threading.Timer(0.2, may_end.set).start()
    asked = asking()
    thread.join()
    return asked
"""

ASKED = {
    "groups of a measure": """
measure = _core.Measure(tokenizer)
print(beside(lambda: measure.add_stream(read, b"g"), lambda: measure.groups))
""",
    "sums of a measure": """
measure = _core.Measure(tokenizer)
print(beside(lambda: measure.add_stream(read), lambda: measure.sums(0))[0][1])
""",
    "weights of a corpus": """
corpus = _core.Corpus(_core.Dialect("gpt2"), special_tokens=[], separator=None, threads=1)
print(beside(lambda: corpus.add_stream(read), lambda: corpus.set_weight(2)))
""",
}


@pytest.mark.parametrize("what", ASKED)
def test_nobody_waits_with_the_gil_for_a_thread_that_reads(what):
    """A thread that reads a corpus by a function of Python's needs the GIL to go on."""
    done = run_python(BEGIN + ASKED[what])
    answers = {"groups of a measure": "[b'g']", "sums of a measure": "9"}
    assert done.stdout.strip() == answers.get(what, "None")
