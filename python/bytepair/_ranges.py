"""Numbers that make no sense, refused by the name of their option."""

import operator
from typing import SupportsIndex

from ._labels import argument
from .errors import TrainingError

__all__ = [
    "MAX_COUNT",
    "check_count",
    "check_index",
    "check_range",
    "check_whole",
    "whole",
]

MAX_COUNT = (1 << 63) - 1


def check_range(
    least: int = 0, most: int = (1 << 32) - 1, /, **numbers: int | None
) -> None:
    """Refuse what is no whole number between two others; whether it makes sense the core says."""
    check_whole(**numbers)
    for name, number in numbers.items():
        if number is not None and not least <= number <= most:
            message = (
                f"{argument(name)} must be between {least} and {most:,}, not {number:,}"
            )
            raise TrainingError(message)


def check_whole(**numbers: object) -> None:
    """Refuse what is no whole number, and booleans, which are taken for one by mistake."""
    for name, number in numbers.items():
        if number is not None and whole(number) is None:
            message = f"{name} must be a whole number, not {number!r}"
            raise TypeError(message)


def whole(number: object) -> int | None:
    """Return a whole number of Python or numpy; ``None`` for anything else, a boolean too.

    >>> import numpy as np
    >>> whole(3), whole(np.int16(3)), whole(True), whole(3.0), whole(np.array([3, 4]))
    (3, 3, None, None, None)
    """
    if isinstance(number, bool) or not isinstance(number, SupportsIndex):
        return None
    try:
        return operator.index(number)
    except TypeError:  # an array, which has the method
        return None


def check_index(**numbers: object) -> None:
    """Refuse what is no whole number, also ``None``."""
    check_whole(**numbers)
    for name, number in numbers.items():
        if number is None:
            message = f"{name} must be a whole number, not None"
            raise TypeError(message)


def check_count(**numbers: int) -> None:
    """Refuse what is no count of 63 bits."""
    check_whole(**numbers)
    for name, number in numbers.items():
        if not -MAX_COUNT <= number <= MAX_COUNT:
            message = f"{argument(name)} is {number:,}, beyond {MAX_COUNT:,} (63 bits)"
            raise TrainingError(message)
