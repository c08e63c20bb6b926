"""Texts of exactly so many ids, for benchmarks of servers."""

import random
import re
from collections.abc import Iterator, Sequence

from bytepair._core import Session
from bytepair._expected import expect
from bytepair._ranges import check_index
from bytepair._tokenizer import Tokenizer
from bytepair.errors import TokenizerError

from ._tokens import TokenBytes

__all__ = ["sample_text"]

N_WORDS = 4096
"""The maximum number of words to draw from."""
MIN_WORDS = 16
"""With fewer words, all texts of tokens are drawn from."""
N_TRIES = 1000
"""How often a word is drawn for one place."""


def sample_text(
    tokenizer: Tokenizer,
    n: int,
    *,
    seed: int,
    words: Sequence[str] | None = None,
    prefix: str = "",
) -> str:
    """Return a text of exactly ``n`` ids, made of random words.

    With a ``prefix``, the ids of ``prefix + text`` are those of the prefix and ``n`` more. By default the words are
    tokens of the vocabulary that are a space and letters. The same arguments give the same text on every machine, also
    in other versions of Python if ``words`` are given. Takes some microseconds for each word.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["low lower lowest"], vocab_size=262)
    >>> text = sample_text(tokenizer, 100, seed=1, prefix="low")
    >>> len(tokenizer.encode(text)), len(tokenizer.encode("low" + text))
    (100, 101)

    Raises
    ------
    TokenizerError
        No text has exactly so many ids, or none that these words make.
    """
    expect("tokenizer", tokenizer, Tokenizer, "a Tokenizer")
    check_index(n=n, seed=seed)
    choices = [list(words)] if words is not None else list(_choices(tokenizer))
    if not choices[0]:
        message = "words must not be empty"
        raise TokenizerError(message)
    draw, chosen = random.Random(seed), []
    session = tokenizer.session(prefix, keep_ids=False)
    n_before = len(session)
    while len(session) < n_before + n:
        longer = _longer(session, n_before, n_before + n, _drawn(choices, draw))
        if longer is None:
            message = (
                f"no text of exactly {n} ids was found: after {len(session) - n_before} ids, "
                f"none of {N_TRIES} words that were drawn fits; pass other words"
            )
            raise TokenizerError(message)
        word, session = longer
        chosen.append(word)
    return "".join(chosen)


def _longer(
    session: Session, n_before: int, most: int, words: Iterator[str]
) -> tuple[str, Session] | None:
    """Return the first word that makes a text longer, not too long, and leaves the ids of the prefix as they are."""
    for word in words:
        trial = session.fork()
        patch = trial.append(word)
        if patch.keep >= n_before and len(session) < len(trial) <= most:
            return word, trial
    return None


def _drawn(choices: list[list[str]], draw: random.Random) -> Iterator[str]:
    """Iterate over random words, the later choices only where the first ones did not fit."""
    for words in choices:
        for _ in range(N_TRIES):
            # Only random() gives the same numbers in every version of Python.
            yield words[int(draw.random() * len(words))]


def _choices(tokenizer: Tokenizer) -> Iterator[list[str]]:
    """Iterate over lists of words: those of the vocabulary, each with a space before it, and then all its texts."""
    texts = {token.decode(errors="ignore") for token in TokenBytes(tokenizer)}
    words = sorted({text.strip() for text in texts if _is_word(text.strip())})
    if len(words) >= MIN_WORDS:
        step = max(1, len(words) // N_WORDS)
        yield [f" {word}" for word in words[::step]]
    yield sorted(filter(None, texts))


def _is_word(text: str) -> bool:
    return len(text) > 1 and re.fullmatch(r"[^\W\d_]+", text) is not None
