"""The golden vectors are what the reference computes."""

import importlib.util
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "vectors"
LARGEST_FILE = 100_000  # bytes


@pytest.fixture(scope="module")
def files():
    """Compute the text of each file anew."""
    path = FOLDER / "make_vectors.py"
    spec = importlib.util.spec_from_file_location("make_vectors", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.build()


@pytest.mark.parametrize(
    "name",
    ["split.json", "normalize.json", "train.json", "encode.json", "units.json"],
)
def test_vectors_are_what_the_reference_computes(files, name):
    """A change of meaning shows as a difference in a vector file."""
    text = (FOLDER / name).read_text(encoding="ascii")
    assert text == files[name]
    assert len(text) < LARGEST_FILE
