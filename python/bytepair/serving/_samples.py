"""Texts of exactly so many ids, for benchmarks of servers."""

import random
import re
from collections.abc import Iterator, Sequence

from bytepair._expected import expect, expect_each
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
    if words is None:
        choices = list(_choices(tokenizer))
    else:
        expect_each("words", words, str, "a str")
        choices = [list(words)]
    if not choices[0]:
        message = "words must not be empty"
        raise TokenizerError(message)
    # Only random() gives the same numbers in every version of Python.
    draw, chosen = random.Random(seed).random, []
    session = tokenizer.session(prefix, keep_ids=False)
    n_before = len(session)
    while (n_done := len(session) - n_before) < n:
        for n_tries in range(N_TRIES * len(choices)):
            drawn_from = choices[n_tries // N_TRIES]
            word = drawn_from[int(draw() * len(drawn_from))]
            trial = session.fork()
            # The word makes the text longer, but not too long, and leaves the ids of the prefix as they are.
            is_kept = trial.append(word).keep >= n_before
            if is_kept and n_done < len(trial) - n_before <= n:
                break
        else:
            message = (
                f"no text of exactly {n} ids was found: after {n_done} ids, "
                f"none of {N_TRIES} words that were drawn fits; pass other words"
            )
            raise TokenizerError(message)
        session = trial
        chosen.append(word)
    return "".join(chosen)


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
