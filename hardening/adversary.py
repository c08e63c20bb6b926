"""Inputs that are made to cost much: eight times as much of one costs little more than eight times.

Measured is CPU time, so this is a check for people to run, not a test.
"""

import json
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import bytepair
from bytepair import Tokenizer

__all__ = ["cases"]

LARGER = 8
ALLOWED = 3.0
"""How many times more than eight times as much is still well: caches overflow on the way."""

MIN_SECONDS = 0.4
"""What the larger input must cost at least to be judged."""

Work = Callable[[], object]
Case = Callable[[int, random.Random], Work]
"""From a size in thousands to what is then measured."""


def one_letter(n: int, _chance: random.Random) -> str:
    return "a" * (n * 1000)


def two_letters(n: int, chance: random.Random) -> str:
    return "".join(chance.choices("ab", k=n * 1000))


def marks(n: int, _chance: random.Random) -> str:
    return "e" + "\u0301\u0323" * (n * 500)


def emoji(n: int, _chance: random.Random) -> str:
    return "👩\u200d🚀" * (n * 300)


def spaces(n: int, _chance: random.Random) -> str:
    return "ab" + " \t\n" * (n * 333)


def distinct_words(n: int, _chance: random.Random) -> str:
    return " ".join(f"w{number:x}" for number in range(n * 150))


def nested_words(n: int, _chance: random.Random) -> str:
    side = int((2 * n * 1000) ** 0.5)
    return " ".join("a" * length for length in range(side))


TEXTS = [
    one_letter,
    two_letters,
    marks,
    emoji,
    spaces,
    distinct_words,
    nested_words,
]
DIALECTS = ["gpt2", "byte-stream", "sentencepiece", "sennrich"]


def training(text: str, dialect: str) -> Work:
    """Train on a text."""
    return lambda: bytepair.train_from_iterator([text], merges=200, dialect=dialect)


def encoding(text: str, dialect: str) -> Work:
    """Encode and decode a text."""
    tokenizer = bytepair.train_from_iterator([text], merges=200, dialect=dialect)
    return lambda: tokenizer.decode(tokenizer.encode(text))


def counting(text: str, dialect: str) -> Work:
    """Count a text that comes in pieces of ten characters."""
    tokenizer = bytepair.train_from_iterator([text], merges=200, dialect=dialect)
    parts = [text[start : start + 10] for start in range(0, len(text), 10)]

    def work() -> None:
        counter = tokenizer.counter()
        for part in parts:
            counter.append(part)

    return work


def added_tokens(n: int, _chance: random.Random) -> Work:
    """Add many tokens with one beginning, and look for them in a text."""
    base = bytepair.train_from_iterator(["ab"], merges=1)
    names = ["<|" + "x" * (number % 50) + f"{number}|>" for number in range(n * 20)]

    def work() -> None:
        tokenizer = base.with_special_tokens(names)
        tokenizer.encode("<|" + "x" * 10_000, allowed_special="all")
        Tokenizer.from_bytes(tokenizer.to_bytes(format="huggingface"))

    return work


def long_added_token(n: int, _chance: random.Random) -> Work:
    """Add one token of many characters."""
    base = bytepair.train_from_iterator(["ab"], merges=1)
    name = "ab" * (n * 500)
    return lambda: Tokenizer.from_bytes(base.with_special_tokens([name]).to_bytes())


def nested_pieces(n: int, _chance: random.Random) -> Work:
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


def text_case(
    make: Callable[[int, random.Random], str],
    use: Callable[[str, str], Work],
    dialect: str,
) -> Case:
    """Use a text in a dialect."""
    return lambda n, chance: use(make(n, chance), dialect)


def all_cases() -> dict[str, tuple[Case, int]]:
    """Every case with its smaller size."""
    found: dict[str, tuple[Case, int]] = {
        "many added tokens": (added_tokens, 50),
        "one long added token": (long_added_token, 200),
        "nested pieces": (nested_pieces, 100),
    }
    for make in TEXTS:
        for dialect in DIALECTS:
            for use in (training, encoding, counting):
                name = f"{use.__name__} {make.__name__} {dialect}"
                found[name] = (text_case(make, use, dialect), 20)
    return found


def seconds(work: Work) -> float:
    """CPU seconds of this process; the better of two."""
    taken = []
    for _ in range(2):
        started = time.process_time()
        work()
        taken.append(time.process_time() - started)
    return min(taken)


def cases(chance: random.Random, _folder: Path) -> Iterator[str | None]:
    """Grow each input until it can be judged; each once, in an order of chance."""
    found = list(all_cases().items())
    chance.shuffle(found)
    for name, (case, size) in found:
        small, large = 0.0, seconds(case(size, chance))
        while large < MIN_SECONDS and size < 20_000:
            size *= LARGER
            small, large = large, seconds(case(size, chance))
        too_much = small and large > small * LARGER * ALLOWED and large > MIN_SECONDS
        yield (
            f"{name}: {small:.2f} s, of eight times as much {large:.2f} s"
            if (too_much)
            else None
        )
