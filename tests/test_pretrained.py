"""``Tokenizer.save_pretrained``: transformers reads the folder and gives the same ids."""

import json
import logging

import pytest
from tests.parity import families
from tests.parity.building import build, write_file

import bytepair
from bytepair import Tokenizer
from bytepair.analyze._compare import torture

transformers = pytest.importorskip("transformers", reason="reads the folder")
logging.disable(logging.WARNING)
pytestmark = pytest.mark.slow


def settings_in(folder):
    """Read the settings of a folder."""
    return json.loads((folder / "tokenizer_config.json").read_text())


def has_the_same_ids(tokenizer, folder):
    """Tell whether transformers gives the ids of a tokenizer, for one text and for two."""
    theirs = transformers.AutoTokenizer.from_pretrained(folder)
    options = {"allowed_special": "all", "add_special_tokens": True}
    for text in [*torture.TEXTS, *torture.around(list(tokenizer.special_tokens)[:9])]:
        expected = tokenizer.encode_full(text, fit_length=False, **options).ids
        assert theirs(text)["input_ids"] == expected, text
        if text:
            both = tokenizer.encode_full(text, "b <s>", fit_length=False, **options)
            assert theirs(text, "b <s>")["input_ids"] == both.ids, text


@pytest.mark.parametrize("name", families.FAMILIES)
def test_the_files_of_every_family_keep_their_ids(name, tmp_path):
    """Normalizers, templates, added tokens: whatever the file holds."""
    write_file(tmp_path / "source.json", build(families.FAMILIES[name]()))
    tokenizer = Tokenizer.from_file(tmp_path / "source.json")
    tokenizer.save_pretrained(tmp_path / "folder")
    has_the_same_ids(tokenizer, tmp_path / "folder")


@pytest.mark.parametrize("dialect", bytepair.dialects())
def test_trained_tokenizers_of_every_dialect_keep_their_ids(dialect, tmp_path):
    """Or are refused before anything is written."""
    tokenizer = bytepair.train_from_iterator(torture.TEXTS, dialect=dialect, merges=99)
    try:
        tokenizer.save_pretrained(tmp_path / "folder")
    except bytepair.FormatError:
        assert list(tmp_path.iterdir()) == []
    else:
        has_the_same_ids(tokenizer, tmp_path / "folder")


def test_settings_name_what_the_tokenizer_says_and_no_more(tmp_path):
    """The tokens of the template, of padding, and the lengths."""
    special = ["<s>", "</s>", "<pad>", "<other>"]
    tokenizer = bytepair.train_from_iterator(
        ["low lower"], vocab_size=270, special_tokens=special
    )
    tokenizer.save_pretrained(tmp_path)
    assert settings_in(tmp_path) == {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
    }
    full = tokenizer.with_template("<s> $A </s>").with_truncation(9, side="left")
    full.with_padding(tokenizer.special_tokens["<pad>"]).save_pretrained(tmp_path)
    found = settings_in(tmp_path)
    assert (found["bos_token"], found["eos_token"]) == ("<s>", "</s>")
    assert (found["pad_token"], found["padding_side"]) == ("<pad>", "right")
    assert (found["model_max_length"], found["truncation_side"]) == (9, "left")
    assert "unk_token" not in found
    two_before = tokenizer.with_template("<s> <other> $A </s>").with_padding(0)
    two_before.save_pretrained(tmp_path)
    assert set(settings_in(tmp_path)) & {"bos_token", "pad_token"} == set()


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    """A file in its place, or no name."""
    tokenizer = bytepair.train_from_iterator(["low"], vocab_size=256)
    (tmp_path / "file").write_text("")
    with pytest.raises(bytepair.FileError, match="file"):
        tokenizer.save_pretrained(tmp_path / "file")
    with pytest.raises(bytepair.FileError, match="empty"):
        tokenizer.save_pretrained("")
