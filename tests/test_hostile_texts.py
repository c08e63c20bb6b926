"""Inputs that are made to cost much: eight times as much of one costs little more than eight times.

Measured is CPU time of this process.
"""

import json
import random
import time

import pytest

import bytepair
from bytepair import Tokenizer

pytestmark = pytest.mark.slow

LARGER = 8
ALLOWED = 3.0
"""How many times more than eight times as much is still well: caches overflow on the way."""

TRIES = 5
"""How often the larger input is measured: other programs only ever add to its time."""

MIN_SECONDS = 0.4
"""What the larger input must cost at least to be judged."""


def nested_words(n_bytes):
    """Give words of one letter more each."""
    side = int((2 * n_bytes) ** 0.5)
    return " ".join("a" * length for length in range(side))


TEXTS = {
    "one letter": lambda n: "a" * n,
    "two letters": lambda n: "".join(random.Random(n).choices("ab", k=n)),
    "marks": lambda n: "e" + "\u0301\u0323" * (n // 2),
    "emoji": lambda n: "👩\u200d🚀" * (3 * n // 10),
    "spaces": lambda n: "ab" + " \t\n" * (n // 3),
    "distinct words": lambda n: " ".join(f"w{number:x}" for number in range(n // 7)),
    "nested words": nested_words,
}
DIALECTS = ["gpt2", "byte-stream", "sentencepiece", "sennrich"]


def training(text, dialect):
    """Train on a text."""
    return lambda: bytepair.train_from_iterator([text], merges=200, dialect=dialect)


def encoding(text, dialect):
    """Encode and decode a text by a new tokenizer, which remembers nothing."""
    tokenizer = bytepair.train_from_iterator([text], merges=200, dialect=dialect)
    data = tokenizer.to_bytes()

    def work():
        new = Tokenizer.from_bytes(data)
        new.decode(new.encode(text))

    return work


def counting(text, dialect):
    """Count a text that comes in pieces of ten characters, by tokens whose length does not grow with the text."""
    tokenizer = bytepair.train_from_iterator(
        [text[:20_000]], merges=200, dialect=dialect
    )
    parts = [text[start : start + 10] for start in range(0, len(text), 10)]

    def work():
        session = tokenizer.session()
        for part in parts:
            session.append(part)

    return work


def added_tokens(n):
    """Add many tokens with one beginning, and look for them in a text."""
    base = bytepair.train_from_iterator(["ab"], merges=1)
    names = ["<|" + "x" * (number % 50) + f"{number}|>" for number in range(n * 20)]

    def work():
        tokenizer = base.with_special_tokens(names)
        tokenizer.encode("<|" + "x" * 10_000, allowed_special="all")
        Tokenizer.from_bytes(tokenizer.to_bytes(format="huggingface"))

    return work


def long_added_token(n):
    """Add one token of many characters."""
    base = bytepair.train_from_iterator(["ab"], merges=1)
    name = "ab" * (n * 500)
    return lambda: Tokenizer.from_bytes(base.with_special_tokens([name]).to_bytes())


def nested_pieces(n):
    """Load a vocabulary of ``a``, ``aa``, ``aaa`` and so on."""
    side = int((2 * n * 1000) ** 0.5)
    text = "a" * (side + 1)
    names = ["a" * length for length in range(1, side)]
    model = {
        "type": "BPE",
        "vocab": {name: number for number, name in enumerate(names)},
        "merges": [[name, "a"] for name in names[:-1]],
    }
    data = json.dumps({"model": model, "added_tokens": []}).encode()
    return lambda: Tokenizer.from_bytes(data, format="huggingface").encode(text)


def text_case(text, use, dialect):
    """Use a text of so many thousands in a dialect."""
    return lambda n: use(TEXTS[text](n * 1000), dialect)


CASES = {
    "many added tokens": (added_tokens, 50),
    "one long added token": (long_added_token, 200),
    "nested pieces": (nested_pieces, 100),
    **{
        f"{use.__name__} {text} {dialect}": (text_case(text, use, dialect), 20)
        for text in TEXTS
        for dialect in DIALECTS
        for use in (training, encoding, counting)
        # A run of separators that grows is looked through again after each part, and a word of up to a thousand letters
        # is counted again: it is continued only where it is longer than several of its tokens.
        if (use, text, dialect) != (counting, "spaces", "sennrich")
        if (use, text) != (counting, "nested words")
    },
}


def seconds(work):
    """CPU seconds of this process; the better of two."""
    taken = []
    for _ in range(2):
        started = time.process_time()
        work()
        taken.append(time.process_time() - started)
    return min(taken)


@pytest.mark.parametrize("name", CASES)
def test_eight_times_as_much_costs_eight_times(name):
    """Each input grows until it can be judged."""
    case, size = CASES[name]
    small, large = 0.0, seconds(case(size))
    while large < MIN_SECONDS and size < 20_000:
        size *= LARGER
        small, large = large, seconds(case(size))
    for _ in range(TRIES):
        if not small or large <= max(small * LARGER * ALLOWED, MIN_SECONDS):
            return
        large = min(large, seconds(case(size)))
    pytest.fail(f"{large:.2f} s for {LARGER} times what took {small:.3f} s")
