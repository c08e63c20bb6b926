"""Formulas of metrics beside the same written out, and their page beside their table."""

import itertools
import math
import re
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from bytepair.analyze import (
    METRICS,
    gini,
    renyi_efficiency,
    renyi_entropy,
    shannon_efficiency,
    shannon_entropy,
)
from bytepair.analyze._stats.metric_table import SECTIONS

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "metrics.md"

COUNTS = st.lists(st.integers(0, 1000), max_size=20)


@given(COUNTS)
def test_entropies_are_those_of_the_definition(counts):
    """Shannon's is a sum of p log2 1/p, Rényi's a logarithm of a sum of powers."""
    total = sum(counts)
    if not total:
        assert shannon_entropy(counts) is renyi_entropy(counts) is None
        return
    shares = [count / total for count in counts if count]
    shannon = sum(share * math.log2(1 / share) for share in shares)
    assert shannon_entropy(counts) == pytest.approx(shannon, abs=1e-12)
    assert renyi_entropy(counts, order=1) == shannon_entropy(counts)
    for order in (0.5, 2, 2.5, 3):
        powers = sum(share**order for share in shares)
        expected = math.log2(powers) / (1 - order)
        assert renyi_entropy(counts, order) == pytest.approx(expected, abs=1e-12)


@given(COUNTS, st.integers(2, 50))
def test_efficiencies_are_shares_of_the_largest_entropy(counts, n_types):
    """That of so many types that occur equally often is 1, whatever the order."""
    n_found = sum(count > 0 for count in counts)
    if n_found > 1:
        entropy = shannon_entropy(counts)
        assert entropy is not None
        assert shannon_efficiency(counts) == entropy / math.log2(n_found)
        assert shannon_efficiency(counts, 64) == entropy / 6
    else:
        assert shannon_efficiency(counts) is renyi_efficiency(counts) is None
    assert renyi_efficiency([7] * n_types) == pytest.approx(1)


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=12))
def test_gini_is_the_mean_difference_of_all_pairs(costs):
    """Half of the mean difference of two, as a share of the mean."""
    mean = sum(costs) / len(costs)
    if not mean:
        assert gini(costs) is None
        return
    differences = sum(abs(a - b) for a, b in itertools.product(costs, repeat=2))
    expected = differences / (2 * len(costs) ** 2 * mean)
    assert gini(costs) == pytest.approx(expected, abs=1e-12)


def test_the_page_of_metrics_is_their_table():
    """Each has an entry with its title, key, unit, formula and caveat, in its section of the page."""
    text = PAGE.read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)", text, re.MULTILINE)[1:] == list(SECTIONS)
    page = re.sub(r"\s+", " ", text)
    entries = re.findall(r"- \*\*.*?(?= - \*\*| ## |$)", page)
    expected = [
        f"- **{metric.title}** (`{metric.key}`, {metric.unit}): *{metric.formula}*. {metric.caveat}"
        for metric in METRICS.values()
    ]
    assert [entry.strip() for entry in entries] == expected
