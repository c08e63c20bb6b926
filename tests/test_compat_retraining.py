"""``train_new_from_iterator`` beside that of transformers, on the same texts.

Left out: marks of words, where transformers lets the order of a hash table give ids.
"""

import pytest
from tests.beside_transformers import MARKS, both_of as both, transformers
from tests.model_folders import write_tokenizer

from bytepair._verify import torture
from bytepair.compat.transformers import PreTrainedTokenizerFast

pytestmark = MARKS

TEXTS = [*torture.TEXTS, *["low lower lowest", "the cat sat on the mat 123"] * 9]
FAMILIES = ["gpt2", "smollm", "neox", "bert"]


def assert_same(ours, theirs):
    """Compare tokens, their ids, and the ids of texts."""
    assert ours.get_vocab() == theirs.get_vocab()
    assert ours.special_tokens_map == theirs.special_tokens_map
    assert ours.all_special_tokens == theirs.all_special_tokens
    for text in (*TEXTS, "<|endoftext|> and more"):
        for options in ({}, {"add_special_tokens": False}, {"text_pair": "low"}):
            expected = theirs(text, **options)["input_ids"]
            assert ours(text, **options)["input_ids"] == expected
        ids = theirs(text)["input_ids"]
        for skip in (False, True):
            assert ours.decode(ids, skip) == theirs.decode(ids, skip)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("vocab_size", [300, 420])
def test_the_same_is_learned(tmp_path, family, vocab_size):
    """Bytes: tokens, ids, and what encoding makes of them."""
    ours, theirs = both(tmp_path, family, pad_token="<|pad|>")
    assert_same(
        ours.train_new_from_iterator(iter([TEXTS]), vocab_size),
        theirs.train_new_from_iterator(iter([TEXTS]), vocab_size),
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_added_tokens_come_back_only_where_a_folder_was_loaded(tmp_path, family):
    """As there: a tokenizer made of a file alone leaves those out that are not special."""
    write_tokenizer(tmp_path, family)
    options = {"tokenizer_file": str(tmp_path / "tokenizer.json")}
    assert_same(
        PreTrainedTokenizerFast(**options).train_new_from_iterator([TEXTS], 400),
        transformers.PreTrainedTokenizerFast(**options).train_new_from_iterator(
            [TEXTS], 400
        ),
    )


def test_a_template_gets_the_new_ids(tmp_path):
    """Behind another stage too, where transformers leaves the old ids."""
    ours, theirs = both(tmp_path, "llama3")
    found = ours.train_new_from_iterator([TEXTS], 500)
    assert found.get_vocab() == theirs.train_new_from_iterator([TEXTS], 500).get_vocab()
    assert found("low")["input_ids"][0] == found.get_vocab()["<|begin_of_text|>"]


def test_options_of_the_trainer_act(tmp_path):
    """How often a pair must occur."""
    options = {"min_frequency": 4}
    ours, theirs = both(tmp_path, "gpt2")
    found = ours.train_new_from_iterator([TEXTS], 2000, **options)
    plain = ours.train_new_from_iterator([TEXTS], 2000)
    assert len(found) < len(plain)
    options = {**options, "show_progress": False}
    assert_same(found, theirs.train_new_from_iterator([TEXTS], 2000, **options))


def test_special_tokens_are_named_anew_and_more_come(tmp_path):
    """Roles, the template and extra tokens follow."""
    ours, theirs = both(tmp_path, "bert", cls_token="[CLS]", pad_token="<|pad|>")
    options = {
        "new_special_tokens": ["<new>", "<other>"],
        "special_tokens_map": {"[CLS]": "<first>", "<|pad|>": "<fill>"},
    }
    found = ours.train_new_from_iterator([TEXTS], 400, **options)
    expected = theirs.train_new_from_iterator([TEXTS], 400, **options)
    assert found.cls_token == "<first>"
    assert found("low <new>")["input_ids"][0] == found.cls_token_id
    assert_same(found, expected)


def test_characters_are_learned_too(tmp_path):
    """An alphabet of the texts, behind special tokens."""
    ours, theirs = both(tmp_path, "llama2-metaspace")
    found = ours.train_new_from_iterator([TEXTS], 700)
    expected = theirs.train_new_from_iterator([TEXTS], 700)
    assert found.get_vocab() == expected.get_vocab()
    for text in TEXTS:
        assert found(text)["input_ids"] == expected(text)["input_ids"]


WORDS = ["the cat sat on the mat, and the dog sat too!"] * 3 + ["lower low lowest 123"]


@pytest.mark.parametrize("family", ["clip", "openai-gpt", "wordpiece-like"])
def test_characters_with_marks_of_words_are_learned(tmp_path, family):
    """The alphabet has each as it is and with its mark; the texts become pieces of it."""
    ours, theirs = both(tmp_path, family)
    found = ours.train_new_from_iterator([WORDS], 1000, min_frequency=3)
    expected = theirs.train_new_from_iterator([WORDS], 1000, min_frequency=3)
    assert len(found) == len(expected)

    def alphabet(tokenizer):
        tokens = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().get)
        plain = [token.removesuffix("</w>").removeprefix("##") for token in tokens]
        return [
            token for token, one in zip(tokens, plain, strict=True) if len(one) == 1
        ]

    ours_alphabet, alphabet_there = alphabet(found), alphabet(expected)
    assert sorted(ours_alphabet) == sorted(alphabet_there)
    n_plain = sum(len(token) == 1 for token in ours_alphabet)
    assert ours_alphabet[:n_plain] == alphabet_there[:n_plain]
    for text in WORDS:
        ids, ids_there = (one(text)["input_ids"] for one in (found, expected))
        assert found.decode(ids) == expected.decode(ids_there)
        assert found.unk_token_id is None or found.unk_token_id not in ids[1:-1]


def test_the_alphabet_is_limited_as_in_transformers(tmp_path):
    """Characters that are left out are not there for their neighbours either."""
    ours, theirs = both(tmp_path, "llama2-metaspace")
    texts = [
        "abacabad abacabad abac xay xay xy"
    ]  # a, b, c, x and y differ in frequency
    for limit in (1, 2, 3, 100):
        options = {"limit_alphabet": limit, "show_progress": False}
        found = ours.train_new_from_iterator([texts], 40, **options)
        expected = theirs.train_new_from_iterator([texts], 40, **options)
        assert found.get_vocab() == expected.get_vocab()
        assert found(texts[0])["input_ids"] == expected(texts[0])["input_ids"]


def test_an_initial_alphabet_is_there_whatever_the_texts_have(tmp_path):
    """Of each text its first character; also where the alphabet is limited."""
    ours, theirs = both(tmp_path, "llama2-metaspace")
    for options in (
        {"initial_alphabet": ["é", "日本", "", "a"]},
        {"initial_alphabet": ["é", "ß"], "limit_alphabet": 2},
        {"initial_alphabet": []},
    ):
        found = ours.train_new_from_iterator([TEXTS], 700, **options)
        expected = theirs.train_new_from_iterator([TEXTS], 700, **options)
        assert found.get_vocab() == expected.get_vocab()


def test_options_that_change_nothing_are_taken(tmp_path):
    """An alphabet beyond all bytes, and the marks that a tokenizer has."""
    ours, theirs = both(tmp_path, "gpt2")
    options = {"limit_alphabet": 256, "initial_alphabet": []}
    assert_same(
        ours.train_new_from_iterator([TEXTS], 300, **options),
        theirs.train_new_from_iterator([TEXTS], 300, **options),
    )
    (tmp_path / "clip").mkdir()
    ours, _ = both(tmp_path / "clip", "clip")
    marks = {"end_of_word_suffix": "</w>", "continuing_subword_prefix": ""}
    assert (
        ours.train_new_from_iterator([TEXTS], 600, **marks).get_vocab()
        == ours.train_new_from_iterator([TEXTS], 600).get_vocab()
    )
    for name, mark in (("end_of_word_suffix", None), ("end_of_word_suffix", "@@")):
        with pytest.raises(TypeError, match=name):
            ours.train_new_from_iterator([TEXTS], 600, **{name: mark})
