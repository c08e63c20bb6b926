"""Many threads use one tokenizer at once, with and without the GIL, and get what one thread gets."""

import random
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bytepair

__all__ = ["cases"]

N_THREADS = 8
LETTERS = "abc DEF\n 12 é한🙂'"


def texts_of(chance: random.Random) -> list[str]:
    """Texts of all lengths."""
    return [
        "".join(chance.choices(LETTERS, k=chance.choice([0, 1, 20, 300, 5000])))
        for _ in range(40)
    ]


def answers(tokenizer: bytepair.Tokenizer, texts: list[str]) -> list[Any]:
    """Give what one thread asks for, in several ways."""
    ids = [tokenizer.encode(text) for text in texts]
    return [
        ids,
        tokenizer.encode_batch(texts),
        [tokenizer.decode(row) for row in ids],
        [tokenizer.encode_to_numpy(text).tolist() for text in texts],
    ]


def cases(chance: random.Random, folder: Path) -> Iterator[str | None]:
    """Ask the same of eight threads, in an order of each one's own."""
    while True:
        texts = texts_of(chance)
        dialect = chance.choice(["gpt2", "gpt4o", "sentencepiece", "sennrich"])
        made = bytepair.train_from_iterator(texts, vocab_size=400, dialect=dialect)
        path = folder / "own.bytepair"
        made.save(path)
        expected = answers(made, texts)
        fresh = bytepair.Tokenizer.from_file(path)
        found: dict[int, Any] = {}

        def ask(
            number: int,
            texts: list[str] = texts,
            fresh: bytepair.Tokenizer = fresh,
            found: dict[int, Any] = found,
        ) -> None:
            try:
                found[number] = answers(fresh, texts)
            except BaseException as error:
                found[number] = repr(error)

        threads = [threading.Thread(target=ask, args=(n,)) for n in range(N_THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        wrong = [answer for answer in found.values() if answer != expected]
        yield f"{dialect}: a thread got {str(wrong[0])[:200]}" if wrong else None
