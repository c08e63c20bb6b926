"""A short form of ``python -m tests.parity``: published and made-up files, the same answers.

The whole comparison, on megabytes of text and 200,000 strings, is ``make parity``. Files
that bytepair refuses are no difference here; which ones may be refused is said by name.
"""

import argparse
from pathlib import Path

import pytest
from tests.parity import families, strings, synthetic, texts, vocabularies
from tests.parity.__main__ import compare_one
from tests.parity.building import build, write_file
from tests.parity.libraries import LIBRARIES
from tests.parity.table import differences

pytest.importorskip("tokenizers", reason="compares with tokenizers")

N_STRINGS = 40
N_SYNTHETIC = 20
NEEDS = {"tiktoken": "tiktoken", "sentencepiece": "sentencepiece"}
NEEDS |= {"tekken": "mistral_common", "subword-nmt": "subword_nmt"}
NEEDS["gpt1"] = "transformers"


def compared(path, kind, *, is_bpe=True, text_files=(), seed=1):
    """Compare one file quickly, and give the result."""
    options = argparse.Namespace(megabytes=0.004, seed=seed)
    vocabulary = vocabularies.Vocabulary(path.name, path, kind, is_bpe)
    return compare_one(vocabulary, options, list(text_files), N_STRINGS)


@pytest.mark.parametrize("name", families.FAMILIES)
def test_files_built_like_published_ones_agree(name, tmp_path):
    """Every structure of a well-known model loads, and gives the same of everything."""
    path = tmp_path / f"{name}.json"
    write_file(path, build(families.FAMILIES[name]()))
    result = compared(path, "huggingface")
    assert result.refused is None
    assert result.n_differences == 0, differences([result])


def test_random_combinations_agree_or_are_refused(tmp_path):
    """Whatever the parts, ids, tokens, offsets and text are the same."""
    synthetic.write(tmp_path, N_SYNTHETIC, 3)
    paths = sorted(tmp_path.iterdir())
    assert len(paths) > N_SYNTHETIC // 2
    results = [compared(path, "huggingface", seed=n) for n, path in enumerate(paths)]
    differing = [result for result in results if result.n_differences]
    assert differing == [], differences(differing)


@pytest.mark.slow
def test_published_files_agree(shared):
    """Each file that lies in the shared folder, on a little of each text."""
    root = shared("vocabularies")
    files = texts.text_files([shared("corpora")])
    for vocabulary in vocabularies.find([], root):
        if vocabulary.kind in NEEDS:
            pytest.importorskip(NEEDS[vocabulary.kind])
        options = {"is_bpe": vocabulary.is_bpe, "text_files": files}
        result = compared(vocabulary.path, vocabulary.kind, **options)
        assert (result.refused is None) == vocabulary.is_bpe, vocabulary
        assert result.n_differences == 0, differences([result])


def test_the_comparison_finds_missing_merges(tmp_path, monkeypatch):
    """A file that lacks some merges is found, with a text that shows it."""
    document = build(families.FAMILIES["gpt2"]())
    right, wrong = tmp_path / "right.json", tmp_path / "wrong.json"
    write_file(right, document)
    del document["model"]["merges"][:50]
    write_file(wrong, document)
    library = LIBRARIES["huggingface"]

    def of_the_other(path):
        return library(wrong if path == right else path)

    monkeypatch.setitem(LIBRARIES, "huggingface", of_the_other)
    result = compared(right, "huggingface")
    found = result.tallies["strings"].first["ids"]
    assert len(found.text.encode()) <= 4
    assert found.theirs != found.ours


def test_strings_are_those_of_their_number():
    """A number names a string: the same in any order, and others for other seeds."""
    made = list(strings.make_strings(0, 300, ["<s>"]))
    alone = [strings.make_string(0, n, ["<s>"]) for n in reversed(range(300))]
    assert alone[::-1] == made
    assert list(strings.make_strings(1, 300, ["<s>"])) != made
    everything = "".join(strings.make_strings(0, 20_000, ["<|end|>"]))
    needed = [
        *strings.SPACES,
        *strings.MARKS,
        *strings.EMOJI,
        "\0",
        "\ufffd",
        "<|end|>",
    ]
    assert all(string in everything for string in needed)
    groups = strings.by_category().values()
    assert len(groups) == 29
    assert all(any(c in everything for c in group) for group in groups)


def test_documents_are_all_of_a_text(tmp_path):
    """Joined, they are the file; small files are never cut short."""
    path = Path(tmp_path) / "text.txt"
    path.write_text("some text, é and 日本 " * 2000, encoding="utf-8")
    assert "".join(texts.documents(path, 10**6)) == path.read_text(encoding="utf-8")
    assert sum(map(len, texts.documents(path, 9000))) < 10_000
