"""Names in the shape of transformers: methods, arguments, their order and defaults.

They are read from transformers as it is installed. Each exception says why.
"""

import inspect
import itertools
import json
import pickle
import random
from pathlib import Path

import numpy as np
import pytest
from tests.beside_transformers import (
    load_both,
    transformers,
    write_settings,
    write_tokenizer,
)

import bytepair
from bytepair.compat.transformers import (
    BatchEncoding,
    PreTrainedTokenizerFast,
)

THEIRS = {
    "tokenizer": transformers.PreTrainedTokenizerFast,
    "batch": transformers.BatchEncoding,
}
OURS = {"tokenizer": PreTrainedTokenizerFast, "batch": BatchEncoding}
BUILT_IN = "a dict has it, and takes the same arguments"
EXCEPTIONS = {
    ("batch", "clear"): BUILT_IN,
    ("batch", "fromkeys"): BUILT_IN,
    ("batch", "get"): BUILT_IN,
    ("batch", "items"): BUILT_IN,
    ("batch", "keys"): BUILT_IN,
    ("batch", "pop"): BUILT_IN,
    ("batch", "popitem"): BUILT_IN,
    ("batch", "setdefault"): BUILT_IN,
    ("batch", "update"): BUILT_IN,
    ("batch", "values"): BUILT_IN,
    ("batch", "__len__"): BUILT_IN,
}
INSTANCE_NAMES = {
    "bos_token",
    "pad_token_id",
    "additional_special_tokens",
    "extra_special_tokens",
    "extra_special_tokens_ids",
    "init_inputs",
    "init_kwargs",
    "files_loaded",
    "backend",
    "add_prefix_space",
    "response_template",
    "chat_control_tokens",
    "verbose",
    "deprecation_warnings",
    "clean_up_tokenization_spaces",
    "model_max_length",
    "name_or_path",
    "chat_template",
    "split_special_tokens",
}


def names(kind):
    """List the public names of a class of transformers, and the special ones users call."""
    special = {"__call__", "__init__", "__len__", "__getitem__"}
    found = (name for name in dir(THEIRS[kind]) if not name.startswith("_"))
    return sorted({*found, *(special & set(dir(THEIRS[kind])))})


METHODS = [
    (kind, name)
    for kind in THEIRS
    for name in names(kind)
    if callable(getattr(THEIRS[kind], name)) and (kind, name) not in EXCEPTIONS
]


def parameters(method):
    """Give the name, the kind and the default of each argument."""
    found = inspect.signature(method).parameters.values()
    return [(one.name, one.kind, one.default) for one in found]


@pytest.mark.parametrize(("kind", "name"), METHODS)
def test_arguments_are_those_of_transformers(kind, name):
    """The same names in the same order with the same defaults; ours may take more behind."""
    theirs = parameters(getattr(THEIRS[kind], name))
    ours = parameters(getattr(OURS[kind], name))
    assert ours[: len(theirs)] == theirs
    for argument, how, default in ours[len(theirs) :]:
        is_harmless = how in {inspect.Parameter.KEYWORD_ONLY} and default is None
        assert is_harmless, argument


@pytest.mark.parametrize(("kind", "name"), EXCEPTIONS)
def test_exceptions_are_methods_there(kind, name):
    """None is left in the list whose name is gone."""
    assert callable(getattr(THEIRS[kind], name))


@pytest.mark.parametrize("kind", THEIRS)
def test_every_public_name_is_there(kind):
    """None is missing, whether it is a method, a property or a constant."""
    missing = {name for name in names(kind) if not hasattr(OURS[kind], name)}
    assert not missing


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """Load a folder in both libraries."""
    path = tmp_path_factory.mktemp("gpt2")
    write_tokenizer(path, "gpt2")
    write_settings(path, pad_token="<|pad|>", eos_token="<|end|>", unk_token="<|unk|>")
    return load_both(path)


def test_names_of_a_loaded_tokenizer_are_there(pair):
    """Those that only an object has, too."""
    ours, theirs = pair
    public = {name for name in dir(theirs) if not name.startswith("_")}
    for name in sorted(public | INSTANCE_NAMES):
        assert hasattr(ours, name), name


SAME_VALUES = [
    *("is_fast", "init_inputs", "pretrained_vocab_files_map", "slow_tokenizer_class"),
    *("can_save_slow_tokenizer", "backend", "add_prefix_space", "response_template"),
    *("chat_control_tokens", "padding_side", "truncation_side", "model_input_names"),
    *("pad_token_type_id", "vocab_files_names"),
]


@pytest.mark.parametrize("name", SAME_VALUES)
def test_values_are_those_of_transformers(pair, name):
    """Constants and settings that say nothing of the tokens."""
    ours, theirs = pair
    assert getattr(ours, name) == getattr(theirs, name)


def test_options_of_decoding_do_what_they_do_there(pair):
    """What changes nothing there changes nothing here: servers pass it by default."""
    ours, theirs = pair
    ids = theirs("some <|pad|><|pad|> words .")["input_ids"]
    for options in (
        {"clean_up_tokenization_spaces": True},
        {"clean_up_tokenization_spaces": False},
        {"spaces_between_special_tokens": False},
        {"spaces_between_special_tokens": True},
        {"use_source_tokenizer": True},
        {"skip_special_tokens": True, "spaces_between_special_tokens": False},
    ):
        assert ours.decode(ids, **options) == theirs.decode(ids, **options)
        assert ours.batch_decode([ids], **options) == [theirs.decode(ids, **options)]


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
    ours, theirs = pair
    with pytest.raises(
        TypeError, match=f"tokenize does not take .*{next(iter(options))}"
    ):
        ours.tokenize("a b c", **options)
    for text, kept in (
        (["some", "words"], {"is_split_into_words": True}),
        ("a <|pad|>", {"split_special_tokens": True, "verbose": False}),
    ):
        assert ours.tokenize(text, **kept) == theirs.tokenize(text, **kept)


def test_decode_takes_what_it_takes_there(pair):
    """An id, ids, rows, arrays of one and two dimensions, a batch."""
    ours, theirs = pair
    batch = theirs(["some words", "more"], padding=True)
    rows = batch["input_ids"]
    for ids in (rows[0][0], rows[0], rows, tuple(rows[0]), np.array(rows[0])):
        assert ours.decode(ids) == theirs.decode(ids)
    assert ours.decode(np.array(rows)) == theirs.decode(np.array(rows))
    assert ours.decode(list(np.array(rows[0]))) == theirs.decode(rows[0])
    assert ours.decode({"input_ids": rows[0]}) == theirs.decode({"input_ids": rows[0]})
    assert ours.decode([]) == theirs.decode([]) == ""
    assert ours.batch_decode([]) == theirs.batch_decode([]) == []
    assert ours.batch_decode(rows[0]) == theirs.batch_decode(rows[0])


def test_ids_and_tokens_that_nobody_knows_are_taken_as_there(pair):
    """Past the vocabulary there is no text and no token, and any string decodes."""
    ours, theirs = pair
    far = len(theirs) + 100
    assert ours.decode([far]) == theirs.decode([far]) == ""
    assert ours.decode([1, far, 2]) == theirs.decode([1, far, 2])
    assert ours.convert_ids_to_tokens(far) is theirs.convert_ids_to_tokens(far) is None
    found = ours.convert_ids_to_tokens([1, far])
    assert found == theirs.convert_ids_to_tokens([1, far])
    for tokens in (
        [],
        [""],
        ["zz zz"],
        ["Ġa", "", "é", "<|pad|>"],
        ["Ã", "©"],
        ["漢", "Ġ", "Ġ"],
    ):
        expected = theirs.convert_tokens_to_string(tokens)
        assert ours.convert_tokens_to_string(tokens) == expected


@pytest.mark.parametrize("family", ["llama2-metaspace", "clip", "bert", "neox"])
def test_any_string_decodes_as_there(tmp_path, family):
    """With the decoders of other families too."""
    write_tokenizer(tmp_path, family)
    write_settings(tmp_path)
    ours, theirs = load_both(tmp_path)
    strings = ["", "▁x", "▁", "q</w>", "zz zz", "<0x41>", "é", "Ġa", "<|pad|>"]
    for tokens in itertools.product(strings, repeat=2):
        expected = theirs.convert_tokens_to_string(list(tokens))
        assert ours.convert_tokens_to_string(list(tokens)) == expected


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


def test_added_tokens_come_by_place_and_by_name(tmp_path):
    """All ways to add a token do what they do there."""
    write_tokenizer(tmp_path, "gpt2")
    write_settings(tmp_path)
    both = load_both(tmp_path)
    text = "a <x> b<y>c <z>"
    for tokenizer in both:
        kind = bytepair.AddedToken if tokenizer is both[0] else transformers.AddedToken
        assert tokenizer.add_tokens("<x>", True) == 1
        assert tokenizer.add_tokens(new_tokens=["<y>"], special_tokens=False) == 1
        assert tokenizer.add_tokens(kind("<z>", lstrip=True)) == 1
        assert tokenizer.add_tokens([]) == tokenizer.add_tokens("") == 0
        named = {
            "bos_token": kind("<b>", special=True),
            "extra_special_tokens": ["<e>"],
        }
        assert tokenizer.add_special_tokens(special_tokens_dict=named) == 2
    ours, theirs = both
    assert ours(text)["input_ids"] == theirs(text)["input_ids"]
    ids = ours(text)["input_ids"]
    for skip in (False, True):
        assert ours.decode(ids, skip) == theirs.decode(ids, skip)
    assert ours.get_added_vocab() == theirs.get_added_vocab()
    for id_, token in theirs.added_tokens_decoder.items():
        found = ours.added_tokens_decoder[id_]
        properties = ("content", "special", "normalized", "lstrip", "rstrip")
        for name in (*properties, "single_word"):
            assert getattr(found, name) == getattr(token, name)


@pytest.mark.parametrize("family", ["gpt2", "llama2-metaspace", "clip", "neox"])
def test_tokens_that_wait_have_their_ids_at_once(family, tmp_path):
    """Added one by one, what each changes is that of transformers, before and after calls."""
    write_tokenizer(tmp_path, family)
    write_settings(tmp_path)
    ours, theirs = load_both(tmp_path)
    choose = random.Random(family)
    tokens = [f"<{number}>" for number in range(8)] + list(theirs.get_vocab())[:6]
    for _ in range(60):
        text = choose.choice([*tokens, "naïve", "  ", "\u2028"])
        names = ("special", "normalized", "lstrip", "rstrip", "single_word")
        flags = {name: choose.random() < 0.3 for name in names}
        is_special = choose.random() < 0.3
        found = [
            tokenizer.add_tokens([kind(text, **flags), text], special_tokens=is_special)
            for tokenizer, kind in (
                (ours, bytepair.AddedToken),
                (theirs, transformers.AddedToken),
            )
        ]
        assert found[0] == found[1]
        assert len(ours) == len(theirs)
        assert ours.vocab_size == theirs.vocab_size
        assert ours.get_added_vocab() == theirs.get_added_vocab()
        assert ours.convert_tokens_to_ids(text) == theirs.convert_tokens_to_ids(text)
        last = len(theirs) - 1
        if family != "clip":  # there it is the normalized text
            assert ours.convert_ids_to_tokens(last) == theirs.convert_ids_to_tokens(
                last
            )
        if choose.random() < 0.3:
            line = "".join(choose.choice([*tokens, " a ", "naïve"]) for _ in range(9))
            assert ours(line)["input_ids"] == theirs(line)["input_ids"]
            copied = pickle.loads(pickle.dumps(ours))
            assert copied.get_vocab() == ours.get_vocab() == theirs.get_vocab()
            assert copied.tokenizer.get_vocab() == theirs.get_vocab()
    again = PreTrainedTokenizerFast(tokenizer=ours.tokenizer)
    assert again.added_tokens_decoder == ours.added_tokens_decoder


@pytest.mark.parametrize("options", [{}, {"special": True}, {"normalized": True}])
def test_an_added_token_has_the_defaults_of_tokenizers(options):
    """A special one is looked for in the text as it is given, unless it says otherwise."""
    theirs = transformers.AddedToken("<x>", **options)
    ours = bytepair.AddedToken("<x>", **options)
    for name in ("content", "special", "normalized", "lstrip", "rstrip", "single_word"):
        assert getattr(ours, name) == getattr(theirs, name)


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
    pytest.importorskip("jinja2")
    write_tokenizer(tmp_path, "gpt2")
    template = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% if loop.last %}!{% endif %}{% endfor %}"
    write_settings(tmp_path, chat_template=template)
    messages = [{"role": "user", "content": f"text {n}"} for n in range(3)]
    for n_before in range(3):
        history, message = messages[:n_before], messages[n_before]
        ours, theirs = load_both(tmp_path)
        found = ours.encode_message_with_chat_template(message, history)
        assert found == theirs.encode_message_with_chat_template(message, history)
    for tokenizer in (ours, theirs):
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
    for tokenizer in pair:
        tokenizer.extra_special_tokens_ids = [5, 7]
    ours, theirs = pair
    assert ours.extra_special_tokens == theirs.extra_special_tokens
    assert ours.extra_special_tokens_ids == theirs.extra_special_tokens_ids == [5, 7]
    for tokenizer in pair:
        tokenizer.extra_special_tokens = ["<|end|>"]
        with pytest.raises(ValueError, match="extra_special_tokens"):
            tokenizer.extra_special_tokens = "<|end|>"
    assert ours.all_special_tokens == theirs.all_special_tokens
    assert ours.all_special_ids == theirs.all_special_ids
    for tokenizer in pair:
        tokenizer.extra_special_tokens = None
    assert ours.extra_special_tokens == theirs.extra_special_tokens == []


OWN_ROLES = {"image_token": "<image>", "boi": "<begin of image>"}


def test_roles_of_a_models_own_are_as_there(tmp_path):
    """Whatever their names, read, set, listed, saved and loaded again."""
    write_tokenizer(tmp_path, "gpt2")
    write_settings(tmp_path, extra_special_tokens=OWN_ROLES, pad_token="<pad>")
    both = load_both(tmp_path)
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
    again = load_both(tmp_path / "saved")
    for one in again:
        assert one.special_tokens_map == both[1].special_tokens_map
        assert one.boi_id == both[1].boi_id


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
    write_tokenizer(tmp_path, "gpt2")
    name = "clean_up_tokenization_spaces"
    long_name = f"{name}_for_bpe_even_though_it_will_corrupt_output"
    write_settings(tmp_path, **{name: cleans, long_name: may_clean})
    ours, theirs = load_both(tmp_path)
    assert getattr(ours, long_name) == getattr(theirs, long_name) == may_clean
    text = "it 's one . and ' more ' , they 've n't ! 'm ?"
    ids = theirs(text)["input_ids"]
    for options in ({}, {name: True}, {name: False}):
        expected = theirs.decode(ids, **options)
        assert ours.decode(ids, **options) == expected
        assert ours.decode([ids], **options) == [expected]
        assert ours.batch_decode([ids], **options) == [expected]
    assert ours.clean_up_tokenization(text) == theirs.clean_up_tokenization(text)
