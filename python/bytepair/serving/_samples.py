"""Texts of exactly so many ids, for benchmarks of servers."""

import random
import re
from collections.abc import Sequence

from bytepair._expected import expect, expect_each
from bytepair._ranges import check_index, check_range
from bytepair._tokenizer import Tokenizer
from bytepair.errors import TokenizerError, UnknownTokenError

from ._tokens import TokenBytes

__all__ = ["sample_text"]

WORD = re.compile(r"[^\W\d_]{2,}")
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
    tokens of the vocabulary that are a space and letters. Words that the tokenizer has no tokens for are left out. The same arguments give the same text on every machine, also
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
    check_range(n=n)
    if words is None:
        choices = _choices(tokenizer)
    else:
        expect("words", words, (list, tuple), "a list of str")
        expect_each("words", words, str, "a str")
        choices = [words]
    if not any(choices):
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
            try:
                patch = trial.append(word)
            except UnknownTokenError:
                continue
            # The word makes the text longer, but not too long, and leaves the ids of the prefix as they are.
            if patch.keep >= n_before and n_done < len(trial) - n_before <= n:
                break
        else:
            message = f"no text of exactly {n} ids was found, but one of {n_done}; pass other words"
            raise TokenizerError(message)
        session = trial
        chosen.append(word)
    return "".join(chosen)


def _choices(tokenizer: Tokenizer) -> list[Sequence[str]]:
    """Return the words of the vocabulary, each with a space before it, and all its texts."""
    texts = {token.decode(errors="ignore") for token in TokenBytes(tokenizer)} - {""}
    stripped = {text.strip() for text in texts}
    words = sorted(f" {text}" for text in stripped if WORD.fullmatch(text))
    return [words for words in (words, sorted(texts)) if words]
