"""Numbers that make no sense, refused by the name of their option."""

from typing import SupportsIndex

from .errors import TrainingError

__all__ = ["MAX_COUNT", "check_count", "check_index", "check_range", "check_whole"]

MAX_COUNT = (1 << 63) - 1


def check_range(**numbers: int | None) -> None:
    """Refuse what is no 32-bit number; whether it makes sense the core says."""
    check_whole(**numbers)
    for name, number in numbers.items():
        if number is not None and not 0 <= number < 1 << 32:
            message = f"{name} must be between 0 and {(1 << 32) - 1:,}, not {number:,}"
            raise TrainingError(message)


def check_whole(**numbers: object) -> None:
    """Refuse what is no whole number, and booleans, which are taken for one by mistake."""
    for name, number in numbers.items():
        is_whole = isinstance(number, SupportsIndex) and not isinstance(number, bool)
        if number is not None and not is_whole:
            message = f"{name} must be a whole number, not {number!r}"
            raise TypeError(message)


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
            message = f"{name} is {number:,}, beyond {MAX_COUNT:,} (63 bits)"
            raise TrainingError(message)
