"""``bytepair.compat.transformers`` beside transformers itself, on the same folder.

The files are built like those of well-known models (``parity.families``). Calls, filling up,
words, targets, places of tokens, added tokens and chats. Left out: ids of texts in every
state, which ``python -m parity`` compares; what is stored (``test_compat_vectors``).
"""

import copy
import dataclasses
import pickle
import shutil

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from tests.beside_transformers import (
    MARKS,
    assert_same,
    assert_same_values,
    both_of,
    load_both,
    plain,
    properties,
    transformers,
)
from tests.model_folders import write_model, write_settings
from tests.vectors.make_transformers import TEMPLATE, steps_of_batches

import bytepair
from bytepair._verify import torture
from bytepair.compat.transformers import BatchEncoding

pytestmark = MARKS

ROLES = {
    "llama3": {"bos_token": "<|begin_of_text|>", "eos_token": "<|eot_id|>"},
    "smollm": {"eos_token": "<|im_end|>", "extra_special_tokens": ["<|im_start|>"]},
    "nemotron": {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"},
    "whisper": {"bos_token": "<|endoftext|>", "padding_side": "left"},
    "bert": {"cls_token": "[CLS]", "sep_token": "[SEP]"},
    "gpt2": {},
    "roberta-prefixed": {},
    "llama2-metaspace": {},
    "clip": {},
    "neox": {},
}
TEXTS = [
    "Hello, world! These are some words, and more of them follow here.",
    "short",
    "",
    "你好 привет 👍🏽 <|eot_id|> <s>[SEP] and\n\n  spaces  ",
]


@pytest.fixture(scope="module", params=ROLES)
def folder(request, tmp_path_factory):
    """Write a folder as a model's publisher would."""
    own = {
        "model_max_length": 60,
        "pad_token": "<|pad|>",
        "extra_special_tokens": ["<|image|>"],
        "chat_template": TEMPLATE,
        "model_input_names": ["input_ids", "token_type_ids", "attention_mask"],
    }
    path = tmp_path_factory.mktemp(request.param)
    return write_model(path, request.param, **own | ROLES[request.param])


@pytest.fixture
def pair(folder):
    """Load the folder in both libraries."""
    return load_both(folder)


# Calls

PUBLISHED = ["gpt2", "llama2-style", "qwen3"]


KINDS = ["roberta", "whisper", "bert"]


PIECES = st.sampled_from(
    [
        "the",
        " ",
        "  ",
        "\n",
        "Hello",
        "a",
        "é",
        "👍🏽",
        "日本",
        "12345",
        "<s>",
        ".",
        "word ",
    ]
)
SENTENCES = st.lists(PIECES, max_size=12).map("".join)


BATCHES = st.lists(SENTENCES, min_size=1, max_size=3)


PAIRS = st.tuples(SENTENCES, SENTENCES)


INPUTS = st.one_of(
    SENTENCES.map(lambda text: (text,)),
    PAIRS,
    BATCHES.map(lambda texts: (texts,)),
    st.lists(PAIRS, min_size=1, max_size=3).map(lambda pairs: (pairs,)),
    st.lists(PAIRS, min_size=1, max_size=3).map(
        lambda pairs: tuple(map(list, zip(*pairs, strict=True)))
    ),
)


OPTIONS = st.fixed_dictionaries(
    {
        "add_special_tokens": st.booleans(),
        "padding": st.sampled_from(
            [False, True, "longest", "max_length", "do_not_pad"]
        ),
        "truncation": st.sampled_from(
            [None, False, True, "longest_first", "only_first", "only_second"]
        ),
        "max_length": st.one_of(st.none(), st.integers(1, 24)),
        "stride": st.integers(0, 4),
        "pad_to_multiple_of": st.sampled_from([None, None, 2, 8]),
        "padding_side": st.sampled_from([None, "left", "right"]),
        "return_overflowing_tokens": st.booleans(),
        "return_offsets_mapping": st.booleans(),
        "return_special_tokens_mask": st.booleans(),
        "return_token_type_ids": st.sampled_from([None, True]),
        "return_attention_mask": st.sampled_from([None, True, False]),
        "return_length": st.booleans(),
        "return_tensors": st.sampled_from([None, None, "np"]),
    }
)


@pytest.fixture(params=[*PUBLISHED, *KINDS])
def any_pair(request, tmp_path, shared):
    """Load a published file, or one of a kind of template, in both libraries."""
    own = {"pad_token": "<|pad|>", "model_max_length": 30}
    if request.param in KINDS:
        return both_of(tmp_path, request.param, **own)
    shutil.copy(shared(f"vocabularies/{request.param}/tokenizer.json"), tmp_path)
    write_settings(tmp_path, **own)
    return load_both(tmp_path)


def as_lists(value):
    """Give arrays as lists, with their types where rows differ in length."""
    if not isinstance(value, np.ndarray):
        return value
    return [str(value.dtype), [as_lists(row) for row in value]]


def what_was_said(call, kinds):
    """Give an answer as a dictionary of lists, or that it was refused."""
    try:
        answer = call()
    except kinds:
        return "refused", None
    return {name: as_lists(value) for name, value in answer.items()}, answer


def is_too_short(tokenizer, arguments, options):
    """Tell whether a text is to be cut to less than the special tokens around it."""
    is_pair = len(arguments) == 2 or isinstance(next(iter(arguments[0]), None), tuple)
    n_special = tokenizer.num_special_tokens_to_add(pair=is_pair)
    is_cut = options["truncation"] or (
        options["truncation"] is None and options["padding"] is False
    )
    is_added = options["add_special_tokens"] and is_cut
    return is_added and (options["max_length"] or 30) < n_special


@settings(suppress_health_check=list(HealthCheck))
@given(arguments=INPUTS, options=OPTIONS, side=st.sampled_from(["left", "right"]))
def test_every_combination_gives_what_transformers_gives(
    any_pair, arguments, options, side
):
    """Or is refused by both; where it is not, words and spans agree as well."""
    ours, theirs = any_pair
    if is_too_short(ours, arguments, options):  # transformers does not cut at all there
        with pytest.raises(bytepair.TokenizerError):
            ours(*arguments, **options)
        return
    if not options["add_special_tokens"]:  # there, what overflows has types of its own
        options = {**options, "return_token_type_ids": None}
    ours.truncation_side = theirs.truncation_side = side
    expected, their_answer = what_was_said(
        lambda: theirs(*arguments, verbose=False, **options), BaseException
    )
    found, our_answer = what_was_said(
        lambda: ours(*arguments, **options), bytepair.TokenizerError
    )
    assert found == expected
    if found == "refused":
        return
    for row in range(len(their_answer.encodings)):
        for name in ("tokens", "sequence_ids", "word_ids"):
            assert getattr(our_answer, name)(row) == getattr(their_answer, name)(row)


WORDS = st.lists(
    st.sampled_from(
        ["the", "words", "é", "👍🏽", "a-b", " x", "", "Hello,", "<|pad|>", "x "]
    ),
    min_size=1,
    max_size=6,
)


@settings(suppress_health_check=list(HealthCheck))
@given(WORDS, WORDS, st.sampled_from([None, 6, 9]), st.booleans())
def test_words_are_encoded_as_in_transformers(
    pair, words, others, max_length, is_padded
):
    """Ids, offsets that count from the word, places of words; one, two and a batch."""
    ours, theirs = pair
    options = {
        "is_split_into_words": True,
        "return_offsets_mapping": True,
        "truncation": max_length is not None,
        "max_length": max_length,
        "padding": is_padded,
    }
    for arguments in (
        (words,),
        (words, others),
        ([words, others],),
        ([words, others], [others, words]),
        ([(words, others), (others, words)],),
    ):
        expected = theirs(*arguments, **options)
        found = ours(*arguments, **options)
        assert plain(found) == plain(expected)
        for row in range(len(expected.encodings)):
            for name in ("word_ids", "tokens", "sequence_ids"):
                assert getattr(found, name)(row) == getattr(expected, name)(row)


def test_calls_fillings_and_chats_are_those_of_transformers(pair):
    """Targets have a length of their own, an empty second text is none, last messages stay open."""
    for name, arguments, *options in steps_of_batches():
        assert_same(pair, name, *arguments, **dict(*options))


COLLATORS = [
    ("DataCollatorWithPadding", {}, lambda ids: 0.5),
    ("DataCollatorForTokenClassification", {}, list),
    ("DataCollatorForLanguageModeling", {"mlm": False, "pad_to_multiple_of": 8}, None),
    ("DataCollatorForLanguageModeling", {"mlm": True, "seed": 1}, None),
]


@pytest.mark.parametrize(("name", "options", "label"), COLLATORS)
def test_collators_of_transformers_take_our_tokenizer(pair, name, options, label):
    """They call ``pad`` and more, and give the arrays that they give for transformers."""
    ours, theirs = pair
    ours.mask_token = theirs.mask_token = theirs.all_special_tokens[-1]
    rows = [dict(theirs(text)) for text in ("some words", "a", "more of the words")]
    rows = [{k: row[k] for k in ("input_ids", "attention_mask")} for row in rows]
    if label is not None:
        rows = [{**row, "labels": label(row["input_ids"])} for row in rows]
    collate = getattr(transformers, name)
    found, expected = (
        collate(one, return_tensors="np", **options)([dict(row) for row in rows])
        for one in pair
    )
    assert plain(found) == plain(expected)


# Answers, and ids


def test_places_of_tokens_are_those_of_transformers(pair):
    """Characters, words and tokens, of one text and of two, by row or in row 0."""
    ours, theirs = pair
    texts = ["Hello wörld, again", "so"], ["two 👍🏽 texts", "x"]
    found, expected = ours(*texts, padding=True), theirs(*texts, padding=True)
    assert found.n_sequences == expected.n_sequences
    assert found.is_fast is expected.is_fast is True
    for row in range(2):
        assert found[row].ids == expected[row].ids
        for token in range(len(expected[row].ids)):
            for name in ("token_to_chars", "token_to_word", "token_to_sequence"):
                ask = getattr(found, name)
                assert ask(row, token) == getattr(expected, name)(row, token), name
        for which in (0, 1):
            for place in range(len(texts[which][row])):
                for name in ("char_to_token", "char_to_word"):
                    ask = getattr(found, name)
                    answer = getattr(expected, name)(row, place, which)
                    assert ask(row, place, which) == answer, name
            words = {w for w in expected.word_ids(row) if w is not None}
            for word in words:
                try:
                    answer = expected.word_to_tokens(row, word, which)
                except TypeError:
                    continue
                assert found.word_to_tokens(row, word, which) == answer
    assert found.char_to_token(1) == expected.char_to_token(1)
    assert [e.ids for e in found[0:2]] == [e.ids for e in expected[0:2]]


def test_batches_are_mappings(pair):
    """Keys, entries, slices, copies and pickles; tensors on request."""
    ours, theirs = pair
    found, expected = ours(["a", "b"]), theirs(["a", "b"])
    assert list(found.keys()) == list(expected.keys())
    assert found.data == expected.data == dict(found)
    assert {**found} == {**expected}
    by_hand = BatchEncoding({"input_ids": [[1], [2]], "score": [0.5, 1.5]})
    assert by_hand[:1] == {"input_ids": [[1]], "score": [0.5]}
    assert not by_hand.is_fast
    with pytest.raises(KeyError):
        by_hand[0]
    assert by_hand.copy().convert_to_tensors("np")["score"].dtype == np.float64
    for again in (
        pickle.loads(pickle.dumps(found)),
        copy.deepcopy(found),
        found.copy(),
    ):
        assert again == found
        assert again.tokens(1) == expected.tokens(1)
        assert again.char_to_token(0, 0) == expected.char_to_token(0, 0)
        assert again.n_sequences == expected.n_sequences
    assert found.convert_to_tensors("np", prepend_batch_axis=True).input_ids.ndim == 3


def test_tokens_and_decoding_are_those_of_transformers(pair):
    """Tokens, ids of tokens and texts of ids, one and many, special ones too."""
    for text in [*TEXTS, *torture.TEXTS]:
        assert_same(pair, "tokenize", text)
        assert_same(pair, "encode", text)
        ids = pair[1](text)["input_ids"]
        for skip in (False, True):
            assert_same(pair, "decode", ids, skip_special_tokens=skip)
            assert_same(pair, "convert_ids_to_tokens", ids, skip_special_tokens=skip)
        tokens = pair[1].convert_ids_to_tokens(ids)
        assert_same(pair, "convert_tokens_to_ids", tokens)
    assert_same(pair, "decode", np.array(pair[1](TEXTS[0])["input_ids"]))
    assert_same(pair, "batch_decode", pair[1](TEXTS)["input_ids"])
    found, expected = ([one(text) for text in TEXTS] for one in pair)
    assert plain(pair[0].pad(found)) == plain(pair[1].pad(expected))
    for token in ("no such token", "the", "Ġ"):
        assert_same(pair, "convert_tokens_to_ids", token)
    assert_same(pair, "convert_ids_to_tokens", 3)


SETTINGS = ["padding_side", "truncation_side", "model_input_names", "chat_template"]
SETTINGS += ["model_max_length", "special_tokens_map"]
SETTINGS += [f"{role}_token" for role in ("bos", "eos", "unk", "pad", "cls", "mask")]
SETTINGS += [f"{role}_token_id" for role in ("bos", "eos", "unk", "pad", "cls", "mask")]
NAMES = ["vocab", "added_tokens_encoder", "pad_token_type_id", "vocab_size"]
NAMES += ["max_len_single_sentence", "max_len_sentences_pair", "is_fast"]
NAMES += ["extra_special_tokens", "clean_up_tokenization_spaces"]
NAMES += ["all_special_tokens", "all_special_ids", *SETTINGS]


def assert_alike(pair):
    """Compare all that is known of tokens."""
    assert_same_values(pair, *NAMES)
    found, expected = (properties(one.added_tokens_decoder) for one in pair)
    assert found == expected
    for name in ("get_added_vocab", "get_vocab", "__len__"):
        assert_same(pair, name)


def test_attributes_are_those_of_transformers(pair):
    """Sizes, special tokens by role and their ids, added tokens with their properties, settings."""
    assert_alike(pair)
    assert_same_values(pair, "name_or_path")
    assert pair[0].init_kwargs["model_max_length"] == 60
    for is_pair in (False, True):
        assert_same(pair, "num_special_tokens_to_add", pair=is_pair)
    ids, whole = pair[1]("a b")["input_ids"], {"already_has_special_tokens": True}
    assert_same(pair, "get_special_tokens_mask", ids, **whole)


def test_saved_folders_are_read_by_both(pair, tmp_path):
    """``AutoTokenizer`` of transformers gives our ids, and so do we."""
    ours, theirs = pair
    ours.save_pretrained(tmp_path)
    for again in load_both(tmp_path):
        for text in [*TEXTS, *torture.TEXTS]:
            assert_same((again, theirs), "encode", text)
        assert plain(again(TEXTS, padding=True)) == plain(ours(TEXTS, padding=True))
        assert_same_values((again, theirs), *SETTINGS)
        assert set(again.all_special_tokens) == set(theirs.all_special_tokens)


def test_the_template_of_a_file_goes_before_settings(tmp_path):
    """``add_bos_token`` and ``add_eos_token`` change nothing, as in transformers."""
    roles = {"bos_token": "[CLS]", "eos_token": "[SEP]"}
    for begins, ends in ((True, False), (True, True), (False, False)):
        adds = {"add_bos_token": begins, "add_eos_token": ends}
        pair = both_of(tmp_path, "bert", **roles, **adds)
        for arguments in (("a b",), ("a b", "c"), (TEXTS,)):
            assert_same(pair, "__call__", *arguments, return_token_type_ids=True)


def test_added_tokens_are_those_of_transformers(pair, tmp_path):
    """New ones and ones that the vocabulary has, special or not; also when saved."""
    ours, theirs = pair
    text = "a newtok hello the newtoks<x> <|user|> the<Y>"
    known = next(t for t in theirs.get_vocab() if t.isalpha() and len(t) > 1)
    text += f" {known} {known}s"
    token = transformers.AddedToken("<Y>", lstrip=True, single_word=False)
    for tokens, is_special in (
        (["newtok", "hello", known], False),
        (["newtok"], False),
        ("<x>", True),
        ([token, "newtok", ""], False),
        (["newtok"], True),
    ):
        assert_same(pair, "add_tokens", tokens, special_tokens=is_special)
        assert_alike(pair)
        assert_same(pair, "__call__", text)
    roles = {"cls_token": "<|user|>", "extra_special_tokens": ["<|more|>"]}
    assert_same(pair, "add_special_tokens", roles)
    assert_alike(pair)
    ours.save_pretrained(tmp_path)
    for loaded in load_both(tmp_path):
        assert_same((loaded, theirs), "__call__", text)
        assert set(loaded.get_added_vocab()) == set(theirs.get_added_vocab())


# Chats


@dataclasses.dataclass
class Call:
    """A call of a tool, in a message."""

    name: str
    arguments: dict[str, int]


@dataclasses.dataclass
class Message:
    """A message as programs have it."""

    role: str
    content: str | None = None
    calls: list[Call] | None = None


class Dumped:
    """A message that gives its content when it is asked."""

    def model_dump(self):
        """Give the content."""
        return {"role": "assistant", "content": None, "calls": None}


def test_messages_that_are_objects_are_read_as_their_content(pair):
    """Data classes and objects with ``model_dump``, one chat and several; None is no field."""
    template = (
        "{% for m in messages %}{{ m['role'] }}"
        "{% if m.content is defined %}: {{ m.content }}{% endif %}"
        "{% for call in m.calls or [] %}{{ call.name }}{{ call.arguments | tojson }}"
        "{% endfor %}{% endfor %}"
    )
    calls = [Call("add", {"a": 1})]
    chat = [Message("user", "text"), Dumped(), Message("tool", None, calls)]
    options = {"chat_template": template, "tokenize": False}
    for conversation in (chat, [chat, chat[:2]], tuple(chat)):
        assert_same(pair, "apply_chat_template", conversation, **options)
    with pytest.raises(bytepair.TokenizerError, match="a role and a content"):
        pair[0].apply_chat_template(["text"], **options)
