"""Lists whose order shows in the result, such as tokens that get their ids in order."""

from collections.abc import Iterable

__all__ = ["in_order", "refuse_set"]

UNORDERED: tuple[type, ...] = (set, frozenset, type(iter(set())))


def in_order(option: str, tokens: Iterable[str]) -> list[str]:
    """List tokens in the order in which they get ids; ``option`` is what they are called.

    Lists, tuples, generators and the keys of a ``dict`` have an order.

    >>> in_order("special_tokens", ["<s>", "</s>", "<s>"])
    ['<s>', '</s>']

    Raises
    ------
    TypeError
        They are one string, or a set: the order of a set differs from process to process,
        and with it the ids.
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
    """Refuse a set, or an iterator of one: ``result`` would differ from process to process."""
    if isinstance(items, UNORDERED):
        message = (
            f"{option} is a set, whose order changes from one process to the next, and "
            f"{result} with it; give a list"
        )
        raise TypeError(message)
