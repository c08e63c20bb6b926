"""Real text in many languages comes back unchanged, and no text is slow.

The corpora lie outside the repository: see ``shared`` in ``conftest``. Left out: ids
(``test_peers``), and absolute times (the benchmarks).
"""

import os
import random
import time

import pytest

import bytepair

BYTES = ["gpt2", "gpt4", "gpt4o", "llama3", "qwen", "deepseek-v3", "tekken"]
BYTES += ["letters-digits"]
CHARACTERS = ["sennrich", "subword-nmt", "jurafsky-martin"]
CORPORA = [
    "chinese.txt",
    "code.txt",
    "english-docs.txt",
    "english-novels.txt",
    "multilingual.txt",
    "persian.txt",
    "spanish-novels.txt",
    "tinyshakespeare.txt",
    "wikipedia-xml.txt",
    "unicode/naughty-strings.txt",
    "unicode/udhr-500-languages.txt",
    "unicode/unicode-GraphemeBreakTest.txt",
    "unicode/unicode-NormalizationTest.txt",
    "unicode/unicode-emoji-sequences.txt",
    "unicode/unicode-emoji-test.txt",
    "unicode/unicode-emoji-zwj-sequences.txt",
]


def trained(text, dialect, **options):
    """Train a small tokenizer on the beginning of a text."""
    options = {"merges": 500, **options}
    return bytepair.train_from_iterator([text], dialect=dialect, **options)


@pytest.mark.parametrize("corpus", CORPORA)
def test_corpora_come_back_unchanged(shared, corpus):
    """Every dialect of bytes gives back every byte of every corpus."""
    data = shared(f"corpora/{corpus}").read_bytes()
    for dialect in BYTES:
        tokenizer = trained(data[:200_000], dialect)
        ids = tokenizer.encode_to_numpy(data)
        assert ids.max() < tokenizer.n_vocab
        assert tokenizer.decode_bytes(ids) == data
        assert len(ids) < len(data)


@pytest.mark.parametrize("corpus", CORPORA)
def test_a_corpus_as_one_piece_comes_back_unchanged(shared, corpus):
    """Without a split pattern too, where a text is one long piece."""
    data = shared(f"corpora/{corpus}").read_bytes()[:300_001]
    tokenizer = trained(data, "byte-stream", merges=300)
    assert tokenizer.decode_bytes(tokenizer.encode_to_numpy(data)) == data


@pytest.mark.parametrize("corpus", CORPORA)
def test_pieces_are_the_text(shared, corpus):
    """Split joins to the text it was given, also where the text is cut within a character."""
    data = shared(f"corpora/{corpus}").read_bytes()[1:200_002]
    for dialect in BYTES:
        tokenizer = trained(b"ab", dialect, merges=0)
        assert b"".join(tokenizer.split(data)) == data


@pytest.mark.parametrize("dialect", CHARACTERS)
@pytest.mark.parametrize("corpus", CORPORA)
def test_ids_of_words_are_canonical(shared, corpus, dialect):
    """Where spaces are dropped, decoded ids encode to themselves."""
    data = shared(f"corpora/{corpus}").read_bytes()[:400_000]
    text = data.decode(errors="ignore")
    tokenizer = trained(text, dialect)
    ids = tokenizer.encode(text)
    decoded = tokenizer.decode(ids)
    assert tokenizer.encode(decoded) == ids
    if dialect != "jurafsky-martin":
        assert decoded.split() == text.split()


@pytest.mark.parametrize("corpus", CORPORA)
def test_text_that_is_cut_at_pieces_has_the_same_ids(shared, corpus):
    """Encoding pieces one by one gives the ids of the whole."""
    text = shared(f"corpora/{corpus}").read_bytes()[:60_000].decode(errors="ignore")
    tokenizer = trained(text, "gpt4o")
    pieces = tokenizer.split(text)
    ids = [id_ for piece in pieces for id_ in tokenizer.encode_ordinary(piece)]
    assert sum(len(piece) for piece in pieces) == len(text)
    if all(tokenizer.split(piece) == [piece] for piece in pieces):
        assert ids == tokenizer.encode(text)
    assert tokenizer.encode_batch(pieces) == [tokenizer.encode(one) for one in pieces]


# Texts made to be slow


def repeated(unit, n_bytes):
    """Repeat a unit to about ``n_bytes``."""
    return unit * (n_bytes // len(unit))


def random_bytes(n_bytes):
    """Give bytes that hold no pattern."""
    return random.Random(0).randbytes(n_bytes)


HARD = {
    "letter": lambda n: repeated(b"a", n),
    "spaces": lambda n: repeated(b" ", n),
    "newlines": lambda n: repeated(b"\n", n),
    "digits": lambda n: repeated(b"1", n),
    "ab": lambda n: repeated(b"ab", n),
    "emoji": lambda n: repeated("😀".encode(), n),
    "marks": lambda n: repeated("\u0301".encode(), n),
    "quotes": lambda n: repeated(b"'s", n),
    "upper and lower": lambda n: repeated(b"aA", n),
    "spaces and a letter": lambda n: repeated(b" " * 999 + b"a", n),
    "continuation bytes": lambda n: repeated(b"\x80", n),
    "random": random_bytes,
}
SMALL, LARGE = 2_500_000, 10_000_000


@pytest.mark.parametrize("kind", HARD)
@pytest.mark.parametrize("dialect", ["gpt4o", "byte-stream"])
def test_no_text_is_slow(kind, dialect):
    """10 MB take no more than about four times as long as 2.5 MB, in both directions."""
    seconds = {}
    for n_bytes in (SMALL, LARGE):
        data = HARD[kind](n_bytes)
        start = time.process_time()
        tokenizer = bytepair.train_from_iterator([data], dialect=dialect, merges=50)
        middle = time.process_time()
        ids = tokenizer.encode_to_numpy(data)
        end = time.process_time()
        seconds[n_bytes] = (middle - start, end - middle)
        assert tokenizer.decode_bytes(ids) == data
    for small, large in zip(seconds[SMALL], seconds[LARGE], strict=True):
        if os.getloadavg()[0] < 2 * (os.cpu_count() or 1):
            assert large < 12 * max(small, 0.05), seconds


@pytest.mark.parametrize("unit", ["a", "ab", " ", "é", "▁", "a "])
@pytest.mark.parametrize("dialect", ["sennrich", "subword-nmt", "sentencepiece"])
def test_no_text_of_characters_is_slow(dialect, unit):
    """The same for units of characters, on one megabyte and four."""
    seconds = []
    for n_characters in (1_000_000, 4_000_000):
        text = "abé " + unit * (n_characters // len(unit)) + " x"
        start = time.process_time()
        options = {"dialect": dialect, "merges": 30}
        tokenizer = bytepair.train_from_iterator([text], **options)
        ids = tokenizer.encode_to_numpy(text)
        seconds.append(time.process_time() - start)
        assert tokenizer.encode(tokenizer.decode(ids)) == ids.tolist()
    if os.getloadavg()[0] < 2 * (os.cpu_count() or 1):
        assert seconds[1] < 12 * max(seconds[0], 0.05), seconds
