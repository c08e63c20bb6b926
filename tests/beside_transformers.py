"""What the tests beside transformers share: a folder in both libraries, and their answers."""

import copy
import logging

import numpy as np
import pytest
from tests.model_folders import write_model

import bytepair
from bytepair.compat.transformers import AutoTokenizer

try:
    import transformers
except ImportError:
    transformers = None
else:
    logging.disable(logging.WARNING)

MARKS = [
    pytest.mark.slow,
    pytest.mark.skipif(transformers is None, reason="compares with transformers"),
]


def load_both(folder, **keywords):
    """Load a folder in both libraries; ours comes first, and is loaded last."""
    # Theirs marks tokens that it is given as objects as special, and so as not normalized.
    theirs = transformers.AutoTokenizer.from_pretrained(folder, **keywords)
    return AutoTokenizer.from_pretrained(folder, **keywords), theirs


def both_of(folder, family, **settings):
    """Write a model, and load it in both libraries."""
    return load_both(write_model(folder, family, **settings))


def plain(answer):
    """Give an answer as a dictionary of lists."""
    if not hasattr(answer, "items"):
        return answer
    return {k: v.tolist() if hasattr(v, "tolist") else v for k, v in answer.items()}


def outcome(tokenizer, name, arguments, options):
    """Give an answer, or that it was refused: by us with an error of our own, as uneven arrays are."""
    is_ours = type(tokenizer).__module__.startswith("bytepair")
    refusals = bytepair.TokenizerError if is_ours else Exception
    try:
        answer = getattr(tokenizer, name)(*copy.deepcopy(arguments), **options)
    except refusals:
        return "refused"
    rows = answer.values() if hasattr(answer, "items") else ()
    if any(getattr(row, "dtype", None) == np.dtype(object) for row in rows):
        return "refused"
    return plain(answer)


def assert_same(pair, name, /, *arguments, **options):
    """Call a method of both libraries: both give the same, or refuse."""
    found, expected = (outcome(one, name, arguments, options) for one in pair)
    assert found == expected, (name, arguments, options)


def assert_same_values(pair, *names):
    """Compare attributes."""
    ours, theirs = pair
    for name in names:
        assert getattr(ours, name) == getattr(theirs, name), name


FLAGS = ("content", "special", "normalized", "lstrip", "rstrip", "single_word")


def properties(tokens):
    """Give the text and the properties of each added token, by its id."""
    return {i: [getattr(token, n) for n in FLAGS] for i, token in tokens.items()}
