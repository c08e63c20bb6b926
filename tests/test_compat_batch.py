"""What training scripts do with ``bytepair.compat.transformers``, beside transformers.

Filling up and collators, words that are cut already, targets, places of tokens, added
tokens, chats that go on. Left out: ids of calls, which ``test_compat_transformers`` has.
"""

import copy
import dataclasses
import importlib.util
import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from tests.beside_transformers import (
    load_both,
    plain,
    transformers,
    write_settings,
    write_tokenizer,
)

import bytepair
from bytepair.compat.transformers import AutoTokenizer, BatchEncoding

KINDS = ["gpt2", "roberta-prefixed", "bert", "llama2-metaspace", "clip", "neox"]
TEMPLATE = """{% for m in messages %}<|{{ m.role }}|>
{% if m.role == 'assistant' %}{% generation %}{{ m.content }} é!{% endgeneration %}
{% else %}{{ m.content | trim }}{% endif %}{% endfor %}{{ tools | tojson }}{{ documents | tojson }}
{% if add_generation_prompt %}<|assistant|>{% endif %}"""
PLAIN = "{% for m in messages %}<{{ m.role }}>{{ m.content }}</s>{% endfor %}"
TRIMMED = "{% for m in messages %}<{{ m.role }}>{{ m.content | trim }}</s>{% endfor %}"


@pytest.fixture(scope="module", params=KINDS)
def folder(request, tmp_path_factory):
    """Write a folder as a model's publisher would."""
    path = tmp_path_factory.mktemp(request.param)
    write_tokenizer(path, request.param)
    write_settings(
        path,
        model_max_length=60,
        pad_token="<|pad|>",
        extra_special_tokens=["<|image|>"],
        chat_template=TEMPLATE,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )
    return path


@pytest.fixture
def pair(folder):
    """Load the folder in both libraries."""
    return load_both(folder)


def outcome(call):
    """Give an answer as lists, or that it was refused, as we refuse uneven arrays."""
    try:
        answer = call()
    except (ValueError, AssertionError):
        return "refused"
    rows = answer.values() if hasattr(answer, "items") else ()
    if any(getattr(row, "dtype", None) == np.dtype(object) for row in rows):
        return "refused"
    return plain(answer) if hasattr(answer, "items") else answer


ROWS = [[5, 6, 7], [8], [9, 10]]
PADS = [
    {},
    {"padding": "longest", "pad_to_multiple_of": 4, "return_tensors": "np"},
    {"padding": "max_length", "max_length": 6, "padding_side": "left"},
    {"padding": "max_length", "max_length": 2},
    {"padding": "max_length"},
    {"padding": False},
    {"return_attention_mask": False},
    {"return_attention_mask": True, "return_tensors": "np"},
]


@pytest.mark.parametrize("options", PADS, ids=str)
def test_pad_fills_up_as_transformers_does(pair, options):
    """Rows and columns, lists and arrays, with masks, types and labels."""
    ours, theirs = pair
    features = [
        lambda: [{"input_ids": list(row)} for row in ROWS],
        lambda: [{"input_ids": np.array(row)} for row in ROWS],
        lambda: [{"input_ids": list(row), "label": 0.5} for row in ROWS],
        lambda: {"input_ids": [list(row) for row in ROWS]},
        lambda: {"input_ids": list(ROWS[0])},
        lambda: {"input_ids": []},
        lambda: {"labels": [1]},
        lambda: [
            {
                "input_ids": list(row),
                "attention_mask": [1] * len(row),
                "token_type_ids": [1] * len(row),
                "special_tokens_mask": [0] * len(row),
            }
            for row in ROWS
        ],
    ]
    for make in features:
        expected = outcome(lambda: theirs.pad(make(), **options))  # noqa: B023
        assert outcome(lambda: ours.pad(make(), **options)) == expected  # noqa: B023
    answers = [ours(text) for text in ("a b", "a", "some words")]
    their_answers = [theirs(text) for text in ("a b", "a", "some words")]
    assert outcome(lambda: ours.pad(answers, **options)) == outcome(
        lambda: theirs.pad(their_answers, **options)
    )


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
    ours.mask_token = theirs.mask_token = "<|image|>"
    rows = [dict(theirs(text)) for text in ("some words", "a", "more of the words")]
    rows = [{k: row[k] for k in ("input_ids", "attention_mask")} for row in rows]
    if label is not None:
        rows = [{**row, "labels": label(row["input_ids"])} for row in rows]
    answers = [
        getattr(transformers, name)(tokenizer, return_tensors="np", **options)(
            [dict(row) for row in rows]
        )
        for tokenizer in pair
    ]
    assert plain(answers[0]) == plain(answers[1])


WORDS = st.lists(
    st.sampled_from(
        ["the", "words", "é", "👍🏽", "a-b", " x", "", "Hello,", "<|pad|>", "x "]
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=60, suppress_health_check=list(HealthCheck), deadline=None)
@given(
    words=WORDS,
    others=WORDS,
    max_length=st.sampled_from([None, 6, 9]),
    is_padded=st.booleans(),
)
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


def test_words_are_the_ids_of_each_word_by_itself(pair):
    """The plain way to say it, without what stands around a text."""
    ours, _ = pair
    words = ["Some", "words", "follow", "hére"]
    found = ours(words, is_split_into_words=True, add_special_tokens=False)
    each = [ours(word, add_special_tokens=False)["input_ids"] for word in words]
    assert found["input_ids"] == [id_ for ids in each for id_ in ids]


def test_targets_become_labels(pair):
    """With a length of their own; alone they are an answer."""
    ours, theirs = pair
    for arguments in (
        {"text": ["a b c", "d"], "text_target": ["e f", "g h i j"]},
        {
            "text": "a b",
            "text_target": "c d e f",
            "max_target_length": 4,
            "truncation": True,
        },
        {"text_target": "a b c"},
        {"text": "a", "tokenizer_kwargs": {"add_special_tokens": False}},
    ):
        assert plain(ours(**arguments)) == plain(theirs(**arguments))
    with pytest.raises(bytepair.TokenizerError, match="text_target"):
        ours()


def test_batches_of_pairs_are_tuples_or_lists(pair):
    """Both mean the same; an empty second text is none only where it stands alone."""
    ours, theirs = pair
    for arguments in (
        ([("a", "b"), ("c", "d e")],),
        ([["a", "b"], ["c", "d e"]],),
        ("a", ""),
        (["a", "b"], ["", "c"]),
    ):
        assert plain(ours(*arguments)) == plain(theirs(*arguments))


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


def test_encodings_that_are_made_later_are_those_of_the_call(pair):
    """Tokens that are added after a call, and sides that are set, change none of its rows."""
    ours, _ = pair
    texts = ["some words <x> follow", "é <x>"]
    calls = [
        {},
        {"padding": True},
        {"truncation": True, "max_length": 5, "padding": "max_length"},
        {"add_special_tokens": False, "split_special_tokens": True},
    ]
    options = {"return_token_type_ids": False}
    for n, call in enumerate(calls):
        later = ours(texts, **call, **options)
        now = ours(texts, **call, **options, return_offsets_mapping=True)
        ours.add_tokens([f"<x{n}>", "<x>"][n % 2 :])
        ours.truncation_side = ours.padding_side = "left" if n % 2 else "right"
        for row, encoding in enumerate(later.encodings):
            assert encoding.ids == later["input_ids"][row] == now["input_ids"][row]
            assert encoding.attention_mask == later["attention_mask"][row]
            assert encoding.offsets == now["offset_mapping"][row]


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


ATTRIBUTES = ["vocab", "added_tokens_encoder", "pad_token_type_id", "vocab_size"]
ATTRIBUTES += ["max_len_single_sentence", "max_len_sentences_pair", "is_fast"]
ATTRIBUTES += ["extra_special_tokens", "clean_up_tokenization_spaces", "name_or_path"]
ATTRIBUTES += ["padding_side", "truncation_side", "model_input_names"]
ATTRIBUTES += ["special_tokens_map", "all_special_tokens", "all_special_ids"]


def token_tuple(token):
    """Give the text of an added token and its properties."""
    names = ("content", "special", "normalized", "lstrip", "rstrip", "single_word")
    return tuple(getattr(token, name) for name in names)


def assert_alike(ours, theirs):
    """Compare all that is known of tokens."""
    for name in ATTRIBUTES:
        if name != "name_or_path":
            assert getattr(ours, name) == getattr(theirs, name), name
    found, expected = ours.added_tokens_decoder, theirs.added_tokens_decoder
    assert {k: token_tuple(v) for k, v in found.items()} == {
        k: token_tuple(v) for k, v in expected.items()
    }
    assert ours.get_added_vocab() == theirs.get_added_vocab()
    assert len(ours) == len(theirs)


def test_attributes_are_those_of_transformers(pair):
    """Sizes, added tokens with their properties, settings."""
    ours, theirs = pair
    assert_alike(ours, theirs)
    assert ours.name_or_path == theirs.name_or_path
    assert ours.init_kwargs["model_max_length"] == 60
    ids = theirs("a b")["input_ids"]
    mask = theirs.get_special_tokens_mask(ids, already_has_special_tokens=True)
    assert ours.get_special_tokens_mask(ids, already_has_special_tokens=True) == mask


def test_what_is_put_around_ids_is_what_a_call_puts_there(pair):
    """Ids, types and masks, of one text and of two."""
    ours, _ = pair
    first, second = (
        ours(t, add_special_tokens=False)["input_ids"] for t in ("a b", "c")
    )
    for texts, ids in ((("a b",), (first,)), (("a b", "c"), (first, second))):
        found = ours(*texts, return_special_tokens_mask=True)
        assert ours.build_inputs_with_special_tokens(*ids) == found["input_ids"]
        types = ours.create_token_type_ids_from_sequences(*ids)
        assert types == found["token_type_ids"]
        assert ours.get_special_tokens_mask(*ids) == found["special_tokens_mask"]


def test_added_tokens_are_those_of_transformers(pair, tmp_path):
    """New ones and ones that the vocabulary has, special or not; also when saved."""
    ours, theirs = pair
    text = "a newtok hello the newtoks<x> <|user|> the<Y>"
    known = next(t for t in theirs.get_vocab() if t.isalpha() and len(t) > 1)
    text += f" {known} {known}s"
    token = transformers.AddedToken("<Y>", lstrip=True, single_word=False)
    for tokens, options in (
        (["newtok", "hello", known], {}),
        (["newtok"], {}),
        ("<x>", {"special_tokens": True}),
        ([token, "newtok", ""], {}),
        (["newtok"], {"special_tokens": True}),
    ):
        expected = theirs.add_tokens(tokens, **options)
        assert ours.add_tokens(tokens, **options) == expected, tokens
        assert_alike(ours, theirs)
        assert plain(ours(text)) == plain(theirs(text))
    roles = {"cls_token": "<|user|>", "extra_special_tokens": ["<|more|>"]}
    assert ours.add_special_tokens(roles) == theirs.add_special_tokens(roles)
    assert_alike(ours, theirs)
    assert ours.cls_token_id == theirs.cls_token_id
    ours.save_pretrained(tmp_path)
    for again in (AutoTokenizer, transformers.AutoTokenizer):
        loaded = again.from_pretrained(tmp_path)
        assert plain(loaded(text)) == plain(theirs(text))
        assert set(loaded.get_added_vocab()) == set(theirs.get_added_vocab())


CHAT = [
    {"role": "user", "content": " héllo ", "name": None},
    {"role": "assistant", "content": "some words "},
    {"role": "user", "content": "more"},
    {"role": "assistant", "content": "the end "},
]
CHATS = [
    {"return_assistant_tokens_mask": True},
    {"return_assistant_tokens_mask": True, "return_tensors": "np"},
    {"return_assistant_tokens_mask": True, "truncation": True, "max_length": 30},
    {"return_assistant_tokens_mask": True, "return_dict": False},
    {"add_generation_prompt": True, "tokenize": False},
    {"add_generation_prompt": True, "continue_final_message": True},
    {"tools": [{"name": "f"}], "documents": [{"title": "t", "text": "é"}]},
    {"tokenizer_kwargs": {"return_offsets_mapping": True}},
    {"chat_template": PLAIN, "continue_final_message": True, "tokenize": False},
    {"chat_template": TRIMMED, "continue_final_message": True, "tokenize": False},
    {"chat_template": PLAIN, "continue_final_message": "content"},
    {"chat_template": PLAIN, "continue_final_message": "reasoning_content"},
    {"return_dict": False},
]


@pytest.mark.parametrize("options", CHATS, ids=str)
def test_chats_are_written_as_in_transformers(pair, options):
    """Masks of what a model writes, open last messages, tools and documents."""
    pytest.importorskip("jinja2", reason="renders templates")
    ours, theirs = pair
    for chat in (CHAT, [CHAT, CHAT[:2]], []):
        if "return_tensors" in options and chat != CHAT:
            continue
        expected = outcome(lambda: theirs.apply_chat_template(chat, **options))  # noqa: B023
        found = outcome(lambda: ours.apply_chat_template(chat, **options))  # noqa: B023
        assert found == expected


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
    ours, theirs = pair
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
        expected = theirs.apply_chat_template(conversation, **options)
        assert ours.apply_chat_template(conversation, **options) == expected
    with pytest.raises(bytepair.TokenizerError, match="a role and a content"):
        ours.apply_chat_template(["text"], **options)


def test_arrays_of_another_library_are_not_taken_for_tensors(pair):
    """Arrays of NumPy are no tensors of PyTorch, and are moved nowhere."""
    batch = pair[0](["a b", "c d"], return_tensors="np")
    if importlib.util.find_spec("torch") is None:
        for call in (lambda: batch.convert_to_tensors("pt"), lambda: batch.to("cpu")):
            with pytest.raises(ImportError, match="need PyTorch"):
                call()
    assert batch.convert_to_tensors("np") is batch
    more = batch | {"labels": [0, 1]}
    assert isinstance(more, BatchEncoding)
    assert more.labels == [0, 1]
    assert "labels" not in batch
