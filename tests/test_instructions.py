"""Ids are the same whatever instructions of the processor are used."""

import json
import os
import subprocess
import sys

import pytest

from bytepair import _core

PROGRAM = """
import json, sys, bytepair
from bytepair import _core
corpus, texts = json.load(sys.stdin)
results = []
for dialect in ("gpt2", "gpt4o", "sennrich", "sentencepiece"):
    tokenizer = bytepair.train_from_iterator(corpus, vocab_size=700, dialect=dialect)
    encoded = [tokenizer.encode(text) for text in texts * 2]
    results.append((str(tokenizer.fingerprint), [list(map(int, ids)) for ids in encoded]))
json.dump([_core.instructions(), results], sys.stdout)
"""

CORPUS = [
    "The quick brown fox doesn't jump over 12345 lazy dogs; they'll sleep.\n\n" * 40,
    "    def f(x):\n        return x['key'] != 0x7F  # comment\n" * 40,
    "سلام دنیا، این یک متن آزمایشی است. \u200cمی\u200cخواهم\n" * 40,  # noqa: RUF001
    "天地玄黄，宇宙洪荒。日月盈昃，辰宿列张。ひらがな カタカナ 한국어\n" * 40,  # noqa: RUF001
    "Größe naïve ÅNGSTRÖM ǅ \u0301e 🙂👍🏽 \u00a0\u2028 ½ ٣٤٥ Ⅷ\n" * 40,
]
TEXTS = [text * 30 for text in CORPUS] + ["".join(CORPUS), " " * 5000, "a" * 5000, ""]


def run(instructions):
    """Train and encode in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps([CORPUS, TEXTS]),
        env={**os.environ, "BYTEPAIR_INSTRUCTIONS": instructions},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def with_all():
    """Give the ids that all instructions of this processor give."""
    return json.loads(run("").stdout)[1]


@pytest.mark.parametrize("name", ["portable", "ssse3", "avx2", "avx512", "neon"])
def test_ids_do_not_depend_on_instructions(name, with_all):
    """Each kind of instructions that this processor has gives the same tokenizers and ids."""
    found = run(name)
    if found.returncode and "does not have" in found.stderr:
        pytest.skip(f"this processor does not have {name}")
    assert json.loads(found.stdout) == [name, with_all]


def test_ids_are_those_of_the_definition(with_all):
    """The naive twins of all fast paths give the same tokenizers and ids."""
    assert json.loads(run("definition").stdout)[1] == with_all


def test_instructions_that_do_not_exist_are_refused():
    """A limit that nobody knows is an error that names it and what there is."""
    found = run("mmx3")
    assert found.returncode == 1
    assert 'BYTEPAIR_INSTRUCTIONS is "mmx3"' in found.stderr
    assert f"it has {_core.instructions()}" in found.stderr
