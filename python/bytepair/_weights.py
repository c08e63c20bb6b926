"""Weights of files as whole numbers, so that counts stay exact.

A weight is the decimal number as it is written, a fraction. All weights are multiplied by their least common
denominator, the *scale*. So ``0.1`` and ``0.25`` count every piece 2 and 5 times. The scale is 20: the least count
of a pair is also multiplied by 20, and reported counts are divided by it.
"""

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import TypeAlias

from bytepair.errors import TrainingError

__all__ = ["Weight", "exact", "unscaled", "whole_multipliers"]

Weight: TypeAlias = int | float | Fraction | Decimal

LIMIT = 1 << 63


def whole_multipliers(weights: Sequence[Weight]) -> tuple[list[int], int]:
    """Return whole numbers in the ratio of the weights, and their scale.

    >>> whole_multipliers([1.0, 4.0]), whole_multipliers([0.1, 0.25])
    (([1, 4], 1), ([2, 5], 20))
    """
    fractions = [exact(weight) for weight in weights]
    scale = math.lcm(*(fraction.denominator for fraction in fractions))
    multipliers = [int(fraction * scale) for fraction in fractions]
    if max([scale, *multipliers]) >= LIMIT:
        message = (
            "the weights are too far apart: as whole numbers they exceed 63 bits; "
            "give them fewer digits"
        )
        raise TrainingError(message)
    return multipliers, scale


def exact(weight: object) -> Fraction:
    """Return a weight as a fraction, by its decimal digits.

    >>> exact(0.1), exact(2)
    (Fraction(1, 10), Fraction(2, 1))
    """
    if isinstance(weight, bool) or not isinstance(weight, (Real, Decimal)):
        message = f"a weight must be a number, not {weight!r}"
        raise TypeError(message)
    if not math.isfinite(weight):
        message = f"a weight must be a finite number, not {weight}"
        raise TrainingError(message)
    if weight <= 0:
        message = f"a weight must be above 0, not {weight}; leave a file out instead"
        raise TrainingError(message)
    if isinstance(weight, (Rational, Decimal)):
        return Fraction(weight)
    return Fraction(repr(float(weight)))


def unscaled(number: int, scale: int) -> int | float:
    """Divide a count by the scale; a whole number stays one.

    >>> unscaled(40, 20), unscaled(50, 20)
    (2, 2.5)
    """
    whole, rest = divmod(number, scale)
    return number / scale if rest else whole
