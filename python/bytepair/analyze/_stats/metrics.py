"""Formulas of metrics: from counts and sums to numbers, without a corpus or a tokenizer.

The table `METRICS` in `metric_table.py` describes each metric of :func:`bytepair.analyze.stats`;
this module has the formulas that are more than a quotient. A number that does not exist (a
quotient by zero, the entropy of nothing) is ``None``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bytepair._numpy import np
from bytepair._ranges import check_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "RENYI_ORDER",
    "efficiency",
    "gini",
    "ratio",
    "renyi_efficiency",
    "renyi_entropy",
    "shannon_efficiency",
    "shannon_entropy",
]

RENYI_ORDER = 2.5
"""The order of Rényi's entropy in the examples of tokenization-scorer."""


def ratio(numerator: float, denominator: float) -> float | None:
    """Divide two sums; ``None`` if the divisor is zero.

    >>> ratio(12, 4), ratio(12, 0)
    (3.0, None)
    """
    return numerator / denominator if denominator else None


def shannon_entropy(counts: ArrayLike) -> float | None:
    """Return the entropy of a distribution in bits: the sum of p log2(1 / p), where p is count / sum.

    ``None`` if there are no counts above zero.

    >>> shannon_entropy([1, 1, 1, 1]), shannon_entropy([2, 1, 1]), shannon_entropy([])
    (2.0, 1.5, None)
    """
    shares = _shares(counts)
    if not len(shares):
        return None
    return abs(float(-(shares * np.log2(shares)).sum()))


def renyi_entropy(counts: ArrayLike, order: float = RENYI_ORDER) -> float | None:
    """Return Rényi's entropy of an order in bits: log2(sum of p ** order) / (1 - order).

    Order 1 is Shannon's entropy. ``None`` if there are no counts above zero.

    >>> renyi_entropy([1, 1, 1, 1]), renyi_entropy([3, 1], order=2)
    (2.0, 0.6780719051126377)
    """
    if order == 1:
        return shannon_entropy(counts)
    shares = _shares(counts)
    if not len(shares):
        return None
    return float(np.log2((shares**order).sum()) / (1 - order))


def efficiency(entropy: float | None, n_types: int) -> float | None:
    """Divide an entropy in bits by the largest possible entropy of this number of types.

    >>> efficiency(1.5, 4), efficiency(0.0, 1)
    (0.75, None)
    """
    if entropy is None or n_types < 2:
        return None
    return entropy / math.log2(n_types)


def shannon_efficiency(counts: ArrayLike, n_types: int | None = None) -> float | None:
    """Return Shannon's entropy as a share of log2 of the number of types.

    By default, these are the types that occur. ``None`` for fewer than two types.

    >>> shannon_efficiency([1, 1, 1, 1]), shannon_efficiency([1, 1, 0, 0], n_types=4)
    (1.0, 0.5)
    """
    return efficiency(shannon_entropy(counts), _n_types(counts, n_types))


def renyi_efficiency(
    counts: ArrayLike, order: float = RENYI_ORDER, n_types: int | None = None
) -> float | None:
    """Return Rényi's entropy as a share of log2 of the number of types.

    By default, these are the types that occur. ``None`` for fewer than two types. The examples are
    from the README of tokenization-scorer, which shows the values of order 3 next to a call with 2.5.

    >>> def counts(text):
    ...     return [text.split().count(token) for token in sorted(set(text.split()))]
    >>> few = counts("pick @@ed pick @@l @@ed pick @@les")
    >>> many = counts("pick @@e @@d pick @@l @@e @@d pick @@l @@e @@s")
    >>> [round(renyi_efficiency(each), 12) for each in (few, many)]
    [0.826506483423, 0.920484024217]
    >>> [round(renyi_efficiency(each, order=3), 12) for each in (few, many)]
    [0.803152850136, 0.910568192382]
    """
    return efficiency(renyi_entropy(counts, order), _n_types(counts, n_types))


def gini(costs: Sequence[float]) -> float | None:
    """Return the Gini coefficient: the sum of |a - b| over all pairs, divided by 2 n ** 2 mean.

    It is 0 if all values are equal; the more unequal they are, the closer it is to 1. ``None`` if
    their sum is zero.

    >>> gini([1, 1, 1]), gini([1, 3]), round(gini([0, 0, 1]), 6), gini([])
    (0.0, 0.25, 0.666667, None)
    """
    sorted_costs = np.sort(_numbers("costs", costs))
    n_costs, total = len(sorted_costs), float(sorted_costs.sum())
    if total == 0:
        return None
    ranks = np.arange(1, n_costs + 1)
    weighted = float(((2 * ranks - n_costs - 1) * sorted_costs).sum())
    return weighted / (n_costs * total)


def _shares(counts: ArrayLike) -> NDArray[np.float64]:
    """Return the shares of the types that occur."""
    numbers = _numbers("counts", counts)
    numbers = numbers[numbers > 0]
    return numbers / numbers.sum() if len(numbers) else numbers


def _numbers(name: str, values: ArrayLike) -> NDArray[np.float64]:
    try:
        numbers = np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        message = f"{name} must be a list of numbers: {error}"
        raise TypeError(message) from error
    if numbers.ndim != 1:
        message = f"{name} must be a list of numbers, not {type(values).__name__}"
        raise TypeError(message)
    return numbers


def _n_types(counts: ArrayLike, n_types: int | None) -> int:
    check_whole(n_types=n_types)
    return int(np.count_nonzero(np.asarray(counts))) if n_types is None else n_types
