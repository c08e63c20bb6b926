"""Ids that no continuation of a text can change."""

from bytepair._tokenizer import Tokenizer

from ._types import Added, Specials

__all__ = ["stable_prefix"]


def stable_prefix(
    tokenizer: Tokenizer,
    text: str | bytes,
    *,
    allowed_special: Specials = (),
    disallowed_special: Specials = (),
    added_tokens: Added = "find",
) -> int:
    """Return how many of the first ids of a text stay, whatever text is appended.

    This is proven from the split pattern, the normalizer and the merges, so it is 0 where they prove nothing;
    ``tokenizer.session().explain()`` says why.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> stable_prefix(tokenizer, "low low")
    1

    Raises the errors of ``Tokenizer.encode``.
    """
    session = tokenizer.session(
        text,
        keep_ids=False,
        allowed_special=allowed_special,
        disallowed_special=disallowed_special,
        added_tokens=added_tokens,
    )
    return session.n_stable
