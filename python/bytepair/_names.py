"""Lists whose order affects the result, such as tokens that get ids in order."""

from collections.abc import Iterable

__all__ = ["in_order", "refuse_set"]

UNORDERED: tuple[type, ...] = (set, frozenset, type(iter(set())))


def in_order(option: str, tokens: Iterable[str]) -> list[str]:
    """Return tokens in the order in which they get ids; messages name the ``option``.

    Lists, tuples, generators and the keys of a ``dict`` have an order.

    >>> in_order("special_tokens", ["<s>", "</s>", "<s>"])
    ['<s>', '</s>']

    Raises
    ------
    TypeError
        The tokens are one string, or a set: its order differs from process to process, and
        so would the ids.
    """
    if isinstance(tokens, (str, bytes)):
        message = f"{option} must be a list of tokens, not one string"
        raise TypeError(message)
    refuse_set(option, tokens)
    if not isinstance(tokens, Iterable):
        message = f"{option} must be a list of tokens, not {type(tokens).__name__}"
        raise TypeError(message)
    return list(dict.fromkeys(tokens))


def refuse_set(option: str, items: object, result: str = "the ids") -> None:
    """Refuse a set, or an iterator of a set: ``result`` would differ from process to process."""
    if isinstance(items, UNORDERED):
        message = (
            f"{option} is a set, whose order changes from one process to the next, and "
            f"{result} with it; give a list"
        )
        raise TypeError(message)
