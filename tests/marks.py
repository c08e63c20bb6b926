"""Marks of tests that several files give."""

import pytest


def slow_but(fast, values):
    """Give parameters of which all but those in ``fast`` are for slow tests."""
    return [
        pytest.param(value, marks=[] if value in fast else pytest.mark.slow)
        for value in values
    ]
