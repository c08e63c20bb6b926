"""Encodings by other rules than merges: the text stays, seeds repeat, and the rules hold."""

import itertools

import pytest
from hypothesis import given, strategies as st
from tests.conftest import encodable

import bytepair
from bytepair.serving import encode_by

METHODS = ["dropout", "stochastok", "uniform", "fewest", "longest"]
ALPHABET = "the cat中é1\n"


@pytest.fixture(scope="module", params=bytepair.dialects())
def tokenizer(request):
    """Give a tokenizer of each dialect that encodes every text of the alphabet."""
    texts = [
        "the cat sat on the mat, 12 中é " * 3,
        " ".join(letter * 2 + " " + letter for letter in ALPHABET),
    ]
    return bytepair.train_from_iterator(texts, dialect=request.param, merges=40)


@given(text=st.text(ALPHABET, max_size=30), seed=st.integers(0, 1 << 40))
@pytest.mark.parametrize("method", METHODS)
def test_other_ids_have_the_same_text(tokenizer, method, text, seed):
    """What is drawn by a seed repeats, and decodes as the encoding does."""
    options = {"seed": seed} if method in METHODS[:3] else {}
    ids = encode_by(tokenizer, text, method, **options)
    assert encode_by(tokenizer, text, method, **options) == ids
    own = tokenizer.encode(text)
    assert tokenizer.decode_bytes(ids) == tokenizer.decode_bytes(own)
    if method == "fewest":
        assert len(ids) <= len(own)
    if method == "dropout":
        assert ids == tokenizer.encode_full(text, dropout=0.1, seed=seed).ids


def test_uniform_draws_every_division():
    """All ways to make a piece of tokens are drawn, each about as often."""
    tokenizer = bytepair.train_from_iterator(["abab abab"], merges=2, dialect="gpt2")
    tokens = {token: id for id, token in enumerate(tokenizer.vocabulary)}
    ways = set()
    for cuts in itertools.product([0, 1], repeat=3):
        places = [0, *(n for n, cut in enumerate(cuts, 1) if cut), 4]
        parts = [b"abab"[a:b] for a, b in itertools.pairwise(places)]
        if all(part in tokens for part in parts):
            ways.add(tuple(tokens[part] for part in parts))
    drawn = [tuple(encode_by(tokenizer, "abab", "uniform", seed=n)) for n in range(600)]
    assert set(drawn) == ways
    assert all(0.6 < drawn.count(way) * len(ways) / 600 < 1.4 for way in ways)


def test_options_without_effect_are_refused():
    """So are unknown methods and rates that are no probability."""
    tokenizer = bytepair.train_from_iterator(["low"], vocab_size=258)
    wrong = [
        ("longest", {"seed": 1}, "seed has no effect"),
        ("uniform", {"rate": 0.1}, "rate has no effect"),
        ("stochastok", {"rate": 1.5}, "rate"),
        ("shortest", {}, "method must be one of"),
    ]
    for method, options, message in wrong:
        with pytest.raises(bytepair.TokenizerError, match=message):
            encode_by(tokenizer, "low", method, **options)


@pytest.mark.slow
def test_published_files_keep_the_text(published):
    """Also with marks, byte fallback and normalizers."""
    text = "The cats' naïve 12345 café, 東京!\n\n  def f(x): return x"
    text = encodable(published, text)
    for method, seed in itertools.product(METHODS, range(5)):
        options = {"seed": seed} if method in METHODS[:3] else {}
        ids = encode_by(published, text, method, **options)
        assert published.decode_bytes(ids) == published.decode_bytes(
            published.encode(text)
        )
