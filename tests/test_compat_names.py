"""Values, tokens and settings in the shape of transformers, beside transformers as it is installed.

Left out: signatures, which ``test_compat_vectors`` compares with those that are stored.
"""

import itertools
import json
import pickle
import random
from pathlib import Path

import numpy as np
import pytest
from tests.beside_transformers import (
    MARKS,
    assert_same,
    assert_same_values,
    both_of,
    load_both,
    properties,
    transformers,
)

import bytepair
from bytepair.compat.transformers import (
    PreTrainedTokenizerFast,
)

pytestmark = MARKS

INSTANCE_NAMES = ["bos_token", "pad_token_id", "additional_special_tokens"]
INSTANCE_NAMES += ["extra_special_tokens", "extra_special_tokens_ids", "init_kwargs"]
INSTANCE_NAMES += ["files_loaded", "verbose", "deprecation_warnings"]
INSTANCE_NAMES += ["clean_up_tokenization_spaces", "model_max_length", "name_or_path"]
INSTANCE_NAMES += ["chat_template", "split_special_tokens"]


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """Load a folder in both libraries."""
    roles = {"pad_token": "<|pad|>", "eos_token": "<|end|>", "unk_token": "<|unk|>"}
    return both_of(tmp_path_factory.mktemp("gpt2"), "gpt2", **roles)


def test_names_of_a_loaded_tokenizer_are_there(pair):
    """Those that only an object has, too; constants and settings have the same values."""
    ours, theirs = pair
    public = {name for name in dir(theirs) if not name.startswith("_")}
    missing = {n for n in {*public, *INSTANCE_NAMES} if not hasattr(ours, n)}
    assert not missing
    assert_same_values(pair, *SAME_VALUES)


SAME_VALUES = ["is_fast", "init_inputs", "pretrained_vocab_files_map"]
SAME_VALUES += ["slow_tokenizer_class", "can_save_slow_tokenizer", "backend"]
SAME_VALUES += ["add_prefix_space", "response_template", "chat_control_tokens"]
SAME_VALUES += ["padding_side", "truncation_side", "model_input_names"]
SAME_VALUES += ["pad_token_type_id", "vocab_files_names"]


def test_options_of_decoding_do_what_they_do_there(pair):
    """What changes nothing there changes nothing here: servers pass it by default."""
    ids = pair[1]("some <|pad|><|pad|> words .")["input_ids"]
    for options in (
        {"clean_up_tokenization_spaces": True},
        {"clean_up_tokenization_spaces": False},
        {"spaces_between_special_tokens": False},
        {"spaces_between_special_tokens": True},
        {"use_source_tokenizer": True},
        {"skip_special_tokens": True, "spaces_between_special_tokens": False},
    ):
        assert_same(pair, "decode", ids, **options)
        assert_same(pair, "batch_decode", [ids], **options)


@pytest.mark.parametrize("number", [-1, -100, 1 << 32, 1 << 70])
def test_a_number_that_is_no_id_is_an_error(pair, number):
    """As in transformers, where an id past the vocabulary is none."""
    ours, theirs = pair
    for tokenizer in (ours, theirs):
        assert tokenizer.decode([72, 4_000_000]) == tokenizer.decode([72])
        assert tokenizer.convert_ids_to_tokens([4_000_000]) == [None]
        for call in (tokenizer.decode, tokenizer.convert_ids_to_tokens):
            for ids in ([72, number], number):
                with pytest.raises(OverflowError):
                    call(ids)
    with pytest.raises(bytepair.TokenizerError, match=f"{number} is not an id"):
        ours.decode([number])


def test_what_is_no_token_has_no_id(pair):
    """Neither a number nor ``None`` is taken for the unknown token."""
    for tokenizer in pair:
        for wrong in ([1], [None], ["a", 1]):
            with pytest.raises(TypeError):
                tokenizer.convert_tokens_to_ids(wrong)
        with pytest.raises(TypeError):
            tokenizer.convert_tokens_to_string("some text")


@pytest.mark.parametrize(
    "options",
    [{"truncation": True}, {"max_length": 2}, {"padding": True}, {"text_target": "a"}],
    ids=str,
)
def test_what_changes_lengths_is_no_option_of_tokenize(pair, options):
    """It has no effect there, so it is refused; what has one is the same."""
    match = f"tokenize does not take .*{next(iter(options))}"
    with pytest.raises(TypeError, match=match):
        pair[0].tokenize("a b c", **options)
    assert_same(pair, "tokenize", ["some", "words"], is_split_into_words=True)
    options = {"split_special_tokens": True, "verbose": False}
    assert_same(pair, "tokenize", "a <|pad|>", **options)


def test_decode_takes_what_it_takes_there(pair):
    """An id, ids, rows, arrays of one and two dimensions, a batch; past the vocabulary is no text."""
    rows = pair[1](["some words", "more"], padding=True)["input_ids"]
    far = len(pair[1]) + 100
    kinds = [rows[0][0], rows[0], rows, tuple(rows[0]), [], [far], [1, far, 2]]
    kinds += [np.array(rows[0]), np.array(rows), list(np.array(rows[0]))]
    for ids in (*kinds, {"input_ids": rows[0]}):
        assert_same(pair, "decode", ids)
    for ids in ([], rows[0]):
        assert_same(pair, "batch_decode", ids)
    for ids in (far, [1, far]):
        assert_same(pair, "convert_ids_to_tokens", ids)


@pytest.mark.parametrize("family", ["gpt2", "llama2-metaspace", "clip", "bert", "neox"])
def test_any_string_decodes_as_there(tmp_path, family):
    """Whether there is such a token or not, with the decoders of all families."""
    pair = both_of(tmp_path, family, pad_token="<|pad|>")
    strings = ["", "▁x", "▁", "q</w>", "zz zz", "<0x41>", "é", "Ġa", "<|pad|>"]
    for tokens in [*itertools.product(strings, repeat=2), [], ["Ã", "©"], ["漢", "Ġ"]]:
        assert_same(pair, "convert_tokens_to_string", list(tokens))


def test_added_tokens_are_checked_as_there(pair):
    """A text in place of a list would be taken for its characters; it is a ValueError."""
    for wrong in (
        {"additional_special_tokens": "<testtoken1>"},
        {"extra_special_tokens": "<testtoken1>"},
        {"additional_special_tokens": [1]},
        {"bos_token": 7},
        {"bos_token": ["<s>"]},
        {"colour_token": "<s>"},
    ):
        n_tokens = len(pair[0])
        for tokenizer in pair:
            with pytest.raises(ValueError):
                tokenizer.add_special_tokens(special_tokens_dict=wrong)
        assert len(pair[0]) == n_tokens


@pytest.mark.parametrize("family", ["gpt2", "llama2-metaspace", "clip", "neox"])
def test_tokens_that_wait_have_their_ids_at_once(family, tmp_path):
    """Added one by one, what each changes is that of transformers, before and after calls."""
    ours, theirs = pair = both_of(tmp_path, family)
    choose = random.Random(family)
    tokens = [f"<{number}>" for number in range(8)] + list(theirs.get_vocab())[:6]
    for _ in range(60):
        text = choose.choice([*tokens, "naïve", "  ", "\u2028", ""])
        names = ("special", "normalized", "lstrip", "rstrip", "single_word")
        flags = {name: choose.random() < 0.3 for name in names}
        is_special = choose.random() < 0.3
        found = [
            tokenizer.add_tokens([kind(text, **flags), text], is_special)
            for tokenizer, kind in (
                (ours, bytepair.AddedToken),
                (theirs, transformers.AddedToken),
            )
        ]
        assert found[0] == found[1]
        assert_same_values(pair, "vocab_size")
        assert_same(pair, "__len__")
        assert_same(pair, "get_added_vocab")
        assert_same(pair, "convert_tokens_to_ids", text)
        if family != "clip":  # there it is the normalized text
            assert_same(pair, "convert_ids_to_tokens", len(theirs) - 1)
        if choose.random() < 0.3:
            line = "".join(choose.choice([*tokens, " a ", "naïve"]) for _ in range(9))
            assert_same(pair, "encode", line)
            copied = pickle.loads(pickle.dumps(ours))
            assert copied.get_vocab() == ours.get_vocab() == theirs.get_vocab()
            assert copied.tokenizer.get_vocab() == theirs.get_vocab()
    for tokens in ([], "", "<x>"):
        assert_same(pair, "add_tokens", new_tokens=tokens, special_tokens=False)
    assert properties(ours.added_tokens_decoder) == properties(
        theirs.added_tokens_decoder
    )
    again = PreTrainedTokenizerFast(tokenizer=ours.tokenizer)
    assert again.added_tokens_decoder == ours.added_tokens_decoder


@pytest.mark.parametrize("options", [{}, {"special": True}, {"normalized": True}])
def test_an_added_token_has_the_defaults_of_tokenizers(options):
    """A special one is looked for in the text as it is given, unless it says otherwise."""
    kinds = (bytepair.AddedToken, transformers.AddedToken)
    ours, theirs = (properties({0: kind("<x>", **options)}) for kind in kinds)
    assert ours == theirs


def test_settings_with_added_tokens_are_read_and_written(pair):
    """At any depth, with the field that says what they are or without."""
    ours, theirs = pair
    written = {"content": "<x>", "lstrip": True, "special": True}
    settings = {"a": [{**written, "__type": "AddedToken"}, "b"], "c": {"d": 1}}
    token = ours.convert_added_tokens(settings)["a"][0]
    assert token == bytepair.AddedToken("<x>", lstrip=True, special=True)
    there = theirs.convert_added_tokens({"a": [{**written, "__type": "AddedToken"}]})
    for add_type_field in (True, False):
        options = {"save": True, "add_type_field": add_type_field}
        found = ours.convert_added_tokens({"a": [token]}, **options)
        assert found == theirs.convert_added_tokens(there, **options)


def test_a_message_is_encoded_behind_those_before_it(tmp_path):
    """Alone, and with a history that is its beginning or is closed otherwise."""
    template = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% if loop.last %}!{% endif %}{% endfor %}"
    pair = both_of(tmp_path, "gpt2", chat_template=template)
    messages = [{"role": "user", "content": f"text {n}"} for n in range(3)]
    for n in range(3):
        name = "encode_message_with_chat_template"
        assert_same(pair, name, messages[n], messages[:n])
    for tokenizer in pair:
        with pytest.raises(ValueError, match="add_generation_prompt"):
            tokenizer.encode_message_with_chat_template(
                messages[0], add_generation_prompt=True
            )


def test_the_vocabulary_is_written_as_the_model_there_writes_it(pair, tmp_path):
    """Both files, with a prefix and without; a folder that is not there is an error."""
    ours, theirs = pair
    for prefix in (None, "mine"):
        found = ours.save_vocabulary(str(tmp_path), prefix)
        folder = tmp_path / "theirs"
        folder.mkdir(exist_ok=True)
        expected = theirs.backend_tokenizer.model.save(str(folder), prefix)
        ours_written = [Path(path) for path in found]
        written = [Path(path) for path in expected]
        assert [path.name for path in ours_written] == [path.name for path in written]
        vocabs = [json.loads(files[0].read_text()) for files in (ours_written, written)]
        assert vocabs[0] == vocabs[1]
        assert ours_written[1].read_text() == written[1].read_text()
    with pytest.raises(bytepair.FileError, match="save_pretrained"):
        ours.save_vocabulary(tmp_path / "absent")


def test_extra_tokens_are_set_as_there(pair):
    """By tokens and by ids; what is no list is refused."""
    names = ("extra_special_tokens", "all_special_tokens", "all_special_ids")
    for tokenizer in pair:
        tokenizer.extra_special_tokens_ids = [5, 7]
    assert_same_values(pair, *names, "extra_special_tokens_ids")
    for tokenizer in pair:
        tokenizer.extra_special_tokens = ["<|end|>"]
        with pytest.raises(ValueError, match="extra_special_tokens"):
            tokenizer.extra_special_tokens = "<|end|>"
    assert_same_values(pair, *names)
    for tokenizer in pair:
        tokenizer.extra_special_tokens = None
    assert_same_values(pair, *names)


def test_roles_of_a_models_own_are_as_there(tmp_path):
    """Whatever their names, read, set, listed, saved and loaded again."""
    own = {"image_token": "<image>", "boi": "<begin of image>"}
    both = both_of(tmp_path, "gpt2", extra_special_tokens=own, pad_token="<pad>")
    assert roles(both[0]) == roles(both[1])
    for tokenizer in both:
        tokenizer.image_token = "<other image>"
        tokenizer.boi_id = 70
        tokenizer.sep_token_id = 71
        tokenizer._set_model_specific_special_tokens({"eoi": "<end of image>"})
    assert roles(both[0]) == roles(both[1])
    for tokenizer in both:
        tokenizer.image_token = None
    assert roles(both[0]) == roles(both[1])
    both[0].save_pretrained(tmp_path / "saved")
    for one in load_both(tmp_path / "saved"):
        assert_same_values((one, both[1]), "special_tokens_map", "boi_id")


def roles(tokenizer):
    """Say which token has which role, and how it was given."""
    names = ["image_token", "boi", "sep_token", "pad_token"]
    given = {k: str(v) for k, v in tokenizer._special_tokens_map.items() if v}
    return {
        "names": tokenizer.SPECIAL_TOKENS_ATTRIBUTES,
        "given": given,
        "texts": [getattr(tokenizer, name) for name in names],
        "ids": [getattr(tokenizer, f"{name}_id") for name in names],
        "all": tokenizer.all_special_tokens,
        "map": tokenizer.special_tokens_map,
    }


@pytest.mark.parametrize("cleans", [True, False])
@pytest.mark.parametrize("may_clean", [True, False])
def test_spaces_are_taken_out_only_where_settings_say_so(tmp_path, cleans, may_clean):
    """Before punctuation and English endings, by a setting or an argument."""
    name = "clean_up_tokenization_spaces"
    long_name = f"{name}_for_bpe_even_though_it_will_corrupt_output"
    pair = both_of(tmp_path, "gpt2", **{name: cleans, long_name: may_clean})
    assert getattr(pair[0], long_name) == getattr(pair[1], long_name) == may_clean
    text = "it 's one . and ' more ' , they 've n't ! 'm ?"
    ids = pair[1](text)["input_ids"]
    for options in ({}, {name: True}, {name: False}):
        assert_same(pair, "decode", ids, **options)
        assert_same(pair, "decode", [ids], **options)
        assert_same(pair, "batch_decode", [ids], **options)
    assert_same(pair, "clean_up_tokenization", text)
