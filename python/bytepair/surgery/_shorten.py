"""Fewer merges: the tokenizer as training to a smaller size gives it."""

from bytepair import _core
from bytepair._expected import loaded
from bytepair._io.files import StrPath
from bytepair._ranges import check_range
from bytepair._tokenizer import Tokenizer

__all__ = ["shorten"]


def shorten(
    tokenizer: Tokenizer | StrPath,
    vocab_size: int | None = None,
    *,
    merges: int | None = None,
) -> Tokenizer:
    """Return the tokenizer that training to a smaller size gives.

    Keeps the alphabet and the first merges. Tokens behind those that go move up, as
    unknown and special tokens do: their ids change. ``vocab_size`` counts all tokens; or say how many ``merges`` stay.

    >>> import bytepair
    >>> from bytepair.surgery import shorten
    >>> texts = ["low lower lowest"]
    >>> large = bytepair.train_from_iterator(texts, vocab_size=259)
    >>> shorten(large, 257) == bytepair.train_from_iterator(texts, vocab_size=257)
    True

    Raises
    ------
    TrainingError
        The vocabulary would be too small for the alphabet and the special tokens.
    TokenizerError
        The ids are not in the order of training, or there are no more merges.
    """
    if (vocab_size is None) == (merges is None):
        message = "give either vocab_size or merges"
        raise TypeError(message)
    check_range(vocab_size=vocab_size, merges=merges)
    tokenizer = loaded(tokenizer)
    return type(tokenizer)(_core.shorten(tokenizer, vocab_size, merges))
