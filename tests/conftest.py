"""What tests share: the implementations under test, where large inputs lie, and tokenizers."""

import functools
import importlib
import os
import shutil
import signal
from pathlib import Path

import pytest
from hypothesis import settings

from bytepair import Tokenizer, TokenizerError, UnknownTokenError

# A slow machine makes no test fail. The same cases are run each time, so that a test that passed
# passes again; `pytest --hypothesis-profile=quick` runs fewer, `search` looks for new ones.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.register_profile("quick", settings.get_profile("repeatable"), max_examples=20)
settings.register_profile("search", deadline=None)
settings.load_profile("repeatable")

# pytest-xdist sets a width of 80 columns for its workers, but a pipe has none.
os.environ.pop("COLUMNS", None)
os.environ.pop("LINES", None)

# A shell lets its jobs in the background ignore Ctrl-C, and they hand that on; some tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)

IMPLEMENTATIONS = ["bytepair.reference", "bytepair"]

REPOSITORY = Path(__file__).parent.parent
SHARED = Path(os.environ.get("BYTEPAIR_SHARED", REPOSITORY.parent / "shared"))


@functools.cache
def load(path):
    """Load a tokenizer, from the same path once in a process; tests must not change the file."""
    return Tokenizer.from_file(path)


@pytest.fixture(params=IMPLEMENTATIONS)
def implementation(request):
    """Each module that trains and encodes; a test that asks for it runs on all."""
    return importlib.import_module(request.param)


@pytest.fixture
def shared():
    """Give the path of a large input, or skip the test where it is absent."""

    def find(relative):
        path = SHARED / relative
        if not path.exists():
            pytest.skip(f"{path} is absent; BYTEPAIR_SHARED names its folder")
        return path

    return find


@pytest.fixture(
    scope="session",
    params=sorted(SHARED.glob("vocabularies/*/*")),
    ids=lambda path: f"{path.parent.name}/{path.name}",
)
def published(request):
    """Give each published tokenizer that loads without options, and skip other files."""
    try:
        return Tokenizer.from_file(request.param)
    except TokenizerError as error:
        pytest.skip(str(error))


def encodable(tokenizer, text):
    """Give a text without the characters that a tokenizer refuses, inside a word or at its end."""

    def is_known(character):
        try:
            return tokenizer.encode(character * 2) is not None
        except UnknownTokenError:
            return False

    known = set(filter(is_known, set(text)))
    return "".join(character for character in text if character in known)


@pytest.fixture(scope="session")
def browser():
    """Begin Chromium once for all tests that look at pages."""
    api = pytest.importorskip("playwright.sync_api", reason="drives a browser")
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.skip("Chromium is not installed; `make chromium` installs it")
    with api.sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu"]
        found = playwright.chromium.launch(executable_path=path, args=arguments)
        yield found
        found.close()
