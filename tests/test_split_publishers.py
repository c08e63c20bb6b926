"""The vectors of publishers' splits are what the publishers' libraries give today.

The core is held against the vectors in Rust. Here the libraries are, where they are
installed.
"""

import json
from importlib import util
from pathlib import Path

import pytest

from bytepair.reference.split import delimited, split_once

VECTORS = Path(__file__).parent / "vectors"


def maker():
    """Load the program that writes the vectors."""
    path = VECTORS / "make_publishers.py"
    spec = util.spec_from_file_location("make_publishers", path)
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_vectors_are_what_the_libraries_give():
    """Each library splits each text into the pieces of the file."""
    pytest.importorskip("tokenizers", reason="compares with tokenizers")
    pytest.importorskip("tiktoken", reason="compares with tiktoken")
    answer = maker().answer
    vectors = json.loads((VECTORS / "publishers.json").read_text("utf-8"))
    for case in vectors["cases"]:
        texts = case.get("texts", vectors["texts"])
        assert [answer(case["stages"], text) for text in texts] == case["pieces"]


def test_the_reference_joins_delimiters_as_the_publishers_do():
    """Where its own engine finds the matches, it gives the pieces of the libraries."""
    tokenizers = pytest.importorskip("tokenizers", reason="compares with tokenizers")
    for behaviour in maker().BEHAVIOURS:
        for invert in (False, True):
            stage = tokenizers.pre_tokenizers.Split("-", behaviour, invert)
            for text in ("the-final--countdown", "-", "--a", "b--", "a", "---c-d-"):
                theirs = [piece for piece, _ in stage.pre_tokenize_str(text)]
                parts = split_once(text, "-")
                assert delimited(parts, behaviour, invert=invert) == theirs
