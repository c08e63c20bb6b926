"""Real text in many languages comes back unchanged, and no text is slow.

The corpora lie outside the repository: see ``shared`` in ``conftest``. Left out: ids
(``test_peers``), and absolute times (the benchmarks).
"""

import os
import random
import time

import pytest
from tests.marks import slow_but

import bytepair

BYTES = ["gpt2", "gpt4", "gpt4o", "llama3", "qwen", "deepseek-v3", "tekken"]
BYTES += ["letters-digits", "byte-stream"]
CHARACTERS = ["sennrich", "subword-nmt", "jurafsky-martin"]
NAMES = "chinese code english-docs english-novels multilingual persian spanish-novels"
NAMES += (
    " tinyshakespeare wikipedia-xml unicode/naughty-strings unicode/udhr-500-languages"
)
NAMES += " unicode/unicode-GraphemeBreakTest unicode/unicode-NormalizationTest"
NAMES += " unicode/unicode-emoji-sequences unicode/unicode-emoji-test"
NAMES += " unicode/unicode-emoji-zwj-sequences"
CORPORA = [f"{name}.txt" for name in NAMES.split()]
CORPORA = slow_but(["unicode/naughty-strings.txt"], CORPORA)


def trained(text, dialect, merges=300):
    """Train a small tokenizer on a text."""
    return bytepair.train_from_iterator([text], dialect=dialect, merges=merges)


@pytest.mark.parametrize("corpus", CORPORA)
def test_bytes_come_back_unchanged(shared, corpus):
    """Every dialect of bytes gives back every byte, and its pieces join to the text, also where it is cut within a character."""
    data = shared(f"corpora/{corpus}").read_bytes()
    for dialect in BYTES:
        tokenizer = trained(data[:200_000], dialect)
        part = data[1:300_001] if dialect == "byte-stream" else data[1:]  # one piece
        ids = tokenizer.encode_to_numpy(part)
        assert ids.max() < tokenizer.n_vocab
        assert tokenizer.decode_bytes(ids) == part
        assert len(ids) < len(part)
        assert b"".join(tokenizer.split(part[:200_001])) == part[:200_001]


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
    ids = [id_ for piece in pieces for id_ in tokenizer.encode(piece)]
    if all(tokenizer.split(piece) == [piece] for piece in pieces):
        assert ids == tokenizer.encode(text)
    assert tokenizer.encode_batch(pieces) == [tokenizer.encode(one) for one in pieces]


SMALL = 50_000
UNITS = ["a", "ab", " ", "\n", "1", "😀", "\u0301", "'s", "aA", " " * 999 + "a"]
UNITS += ["é", "▁", "a ", b"\x80", random.Random(0).randbytes(SMALL)]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: ascii(unit[:9]))
@pytest.mark.parametrize(
    "dialect", ["gpt4o", "byte-stream", "sennrich", "subword-nmt", "sentencepiece"]
)
def test_no_text_is_slow(dialect, unit):
    """Four times as much of a unit takes about four times as long, in both directions."""
    if dialect not in BYTES and isinstance(unit, bytes):
        pytest.skip("the dialect takes no bytes that are not UTF-8")
    unit, seconds = unit if isinstance(unit, bytes) else unit.encode(), []
    for n_bytes in (SMALL, 4 * SMALL):
        text = "abé ".encode() + unit * -(-n_bytes // len(unit)) + b" x"
        start = time.process_time()
        tokenizer = trained(text, dialect, merges=30)
        ids = tokenizer.encode_to_numpy(text)
        decoded = tokenizer.decode_bytes(ids)
        seconds.append(time.process_time() - start)
        if dialect in BYTES:
            assert decoded == text
        assert tokenizer.encode(decoded) == ids.tolist()
    if os.getloadavg()[0] < 2 * (os.cpu_count() or 1):
        assert seconds[1] < 12 * max(seconds[0], 0.05), seconds
