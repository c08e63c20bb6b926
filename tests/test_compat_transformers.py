"""``bytepair.compat.transformers`` beside transformers itself, on the same folder.

The files are built like those of well-known models (``parity.families``). Left out: ids of
texts in every state, which ``python -m parity`` compares.
"""

import importlib.util
import shutil

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
from bytepair._verify import torture
from bytepair.compat.transformers import AutoTokenizer, PreTrainedTokenizerFast

ROLES = {
    "llama3": {"bos_token": "<|begin_of_text|>", "eos_token": "<|eot_id|>"},
    "smollm": {
        "eos_token": "<|im_end|>",
        "additional_special_tokens": ["<|im_start|>"],
    },
    "nemotron": {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"},
    "whisper": {"bos_token": "<|endoftext|>", "padding_side": "left"},
    "bert": {"cls_token": "[CLS]", "sep_token": "[SEP]", "truncation_side": "left"},
}
TEXTS = [
    "Hello, world! These are some words, and more of them follow here.",
    "short",
    "",
    "你好 привет 👍🏽 <|eot_id|> <s>[SEP] and\n\n  spaces  ",
    "one two three four five six seven eight nine ten eleven twelve",
]
TEMPLATE = """{{ bos_token or '' }}{% for m in messages %}
<|{{ m.role }}|>{{ m.content | trim }}{% if loop.last %}!{% endif %}
{% endfor %}
{% if add_generation_prompt %}<|assistant|>{% endif %}{{ messages | tojson }}"""


@pytest.fixture(scope="module", params=ROLES)
def folder(request, tmp_path_factory):
    """Write a folder as a model's publisher would."""
    path = tmp_path_factory.mktemp(request.param)
    write_tokenizer(path, request.param)
    write_settings(
        path,
        model_max_length=40,
        pad_token="<|pad|>",
        chat_template=TEMPLATE,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        **ROLES[request.param],
    )
    return path


@pytest.fixture(scope="module")
def pair(folder):
    """Load the folder in both libraries."""
    return load_both(folder)


CALLS = [
    {},
    {"add_special_tokens": False},
    {"padding": True},
    {"padding": "max_length", "max_length": 30},
    {"padding": "max_length"},
    {"padding": True, "pad_to_multiple_of": 8, "return_tensors": "np"},
    {"padding": "longest", "padding_side": "left"},
    {"truncation": True, "max_length": 7},
    {"truncation": True},
    {"truncation": "only_first", "max_length": 12},
    {"max_length": 9},
    {
        "truncation": True,
        "max_length": 8,
        "padding": "max_length",
        "return_tensors": "np",
    },
    {
        "truncation": True,
        "max_length": 9,
        "stride": 2,
        "return_overflowing_tokens": True,
    },
    {
        "truncation": True,
        "max_length": 9,
        "return_overflowing_tokens": True,
        "padding": True,
        "return_special_tokens_mask": True,
        "return_offsets_mapping": True,
    },
    {"return_offsets_mapping": True, "return_length": True},
    {"return_attention_mask": False, "return_token_type_ids": False},
]


def outcome(call, *, is_ours=False):
    """Give an answer, or that it was refused, by us with an error of our own."""
    try:
        return plain(call())
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        if is_ours and not isinstance(error, bytepair.TokenizerError):
            raise
        return "refused"


@pytest.mark.parametrize("options", CALLS, ids=str)
def test_calls_give_what_transformers_gives(pair, options):
    """One text, a batch, a pair, and a batch of pairs."""
    ours, theirs = pair
    seconds = TEXTS[::-1]
    for arguments in (
        *((text,) for text in TEXTS),
        (TEXTS,),
        (TEXTS[0], TEXTS[4]),
        (TEXTS[1], TEXTS[4]),
        (TEXTS, seconds),
    ):
        expected = outcome(lambda: theirs(*arguments, **options))  # noqa: B023
        found = outcome(lambda: ours(*arguments, **options), is_ours=True)  # noqa: B023
        assert found == expected, arguments


def test_tokens_and_decoding_are_those_of_transformers(pair):
    """Tokens, ids of tokens and texts of ids, one and many, special ones too."""
    ours, theirs = pair
    for text in [*TEXTS, *torture.TEXTS]:
        assert ours.tokenize(text) == theirs.tokenize(text)
        ids = theirs(text)["input_ids"]
        assert ours.encode(text) == ids
        for skip in (False, True):
            options = {"skip_special_tokens": skip}
            assert ours.decode(ids, **options) == theirs.decode(ids, **options)
            tokens = theirs.convert_ids_to_tokens(ids, **options)
            assert ours.convert_ids_to_tokens(ids, **options) == tokens
        assert ours.convert_tokens_to_ids(tokens) == theirs.convert_tokens_to_ids(
            tokens
        )
    batch = [theirs(text)["input_ids"] for text in TEXTS]
    assert ours.batch_decode(batch) == theirs.batch_decode(batch)
    assert ours.decode(np.array(batch[0])) == theirs.decode(np.array(batch[0]))
    for token in ("no such token", "the", "Ġ"):
        assert ours.convert_tokens_to_ids(token) == theirs.convert_tokens_to_ids(token)
    assert ours.convert_ids_to_tokens(3) == theirs.convert_ids_to_tokens(3)


NAMES = ["vocab_size", "all_special_tokens", "all_special_ids", "model_max_length"]
NAMES += [
    f"{role}_token" for role in ("bos", "eos", "unk", "sep", "pad", "cls", "mask")
]
NAMES += [f"{role}_token_id" for role in ("bos", "eos", "unk", "pad", "cls", "mask")]
NAMES += ["padding_side", "truncation_side", "model_input_names", "chat_template"]


def test_properties_are_those_of_transformers(pair):
    """Sizes, special tokens by role and their ids, settings."""
    ours, theirs = pair
    assert len(ours) == len(theirs)
    assert ours.get_vocab() == theirs.get_vocab()
    for name in NAMES:
        assert getattr(ours, name) == getattr(theirs, name), name
    for is_pair in (False, True):
        expected = theirs.num_special_tokens_to_add(pair=is_pair)
        assert ours.num_special_tokens_to_add(pair=is_pair) == expected


def test_chat_templates_render_as_in_transformers(pair):
    """As text and as ids, one chat and several."""
    pytest.importorskip("jinja2", reason="renders templates")
    ours, theirs = pair
    chat = [
        {"role": "user", "content": " héllo <b> "},
        {"role": "system", "content": "x"},
    ]
    for conversation in (chat, [chat, chat[:1]]):
        for options in (
            {"tokenize": False},
            {"tokenize": False, "add_generation_prompt": True},
            {"return_dict": False},
            {"padding": True, "truncation": True, "max_length": 20},
        ):
            expected = theirs.apply_chat_template(conversation, **options)
            found = ours.apply_chat_template(conversation, **options)
            assert (
                plain(found) == plain(expected)
                if hasattr(found, "items")
                else found == expected
            )


def test_saved_folders_are_read_by_both(pair, tmp_path):
    """``AutoTokenizer`` of transformers gives our ids, and so do we."""
    ours, theirs = pair
    ours.save_pretrained(tmp_path)
    for again in (
        transformers.AutoTokenizer.from_pretrained(tmp_path),
        AutoTokenizer.from_pretrained(tmp_path),
    ):
        for text in [*TEXTS, *torture.TEXTS]:
            assert again(text)["input_ids"] == theirs(text)["input_ids"]
        assert plain(again(TEXTS, padding=True)) == plain(ours(TEXTS, padding=True))
        for name in set(NAMES) - {
            "vocab_size",
            "all_special_ids",
            "all_special_tokens",
        }:
            assert getattr(again, name) == getattr(theirs, name), name
        assert set(again.all_special_tokens) == set(theirs.all_special_tokens)


def test_a_role_is_set_as_an_attribute(folder):
    """As training scripts do: the padding token is the end."""
    tokenizer = AutoTokenizer.from_pretrained(folder, pad_token=None)
    tokenizer.pad_token = "the"
    assert tokenizer.pad_token_id == tokenizer.convert_tokens_to_ids("the")
    assert tokenizer(["a b c", "a"], padding=True)["input_ids"][1][-1] in (
        tokenizer.pad_token_id,
        tokenizer(["a"])["input_ids"][0][-1],
    )


def test_arguments_that_do_not_fit_are_refused(tmp_path):
    """Each says what to do instead."""
    own = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    tokenizer = PreTrainedTokenizerFast(tokenizer=own)
    with pytest.raises(bytepair.TokenizerError, match="pad_token"):
        tokenizer(["a", "b c"], padding=True)
    if importlib.util.find_spec("torch") is None:
        with pytest.raises(ImportError, match="need PyTorch"):
            tokenizer(["a", "b c"], truncation=True, max_length=1, return_tensors="pt")
    for wrong in (5, None, b"abc", {"a": 1}, {"a"}, [b"abc"], ["a", {"b", "c"}]):
        for error in (bytepair.TokenizerError, TypeError):
            with pytest.raises(error, match="expected a text"):
                tokenizer.encode(wrong)
    with pytest.raises(bytepair.TokenizerError, match="padding must be"):
        tokenizer("a", padding=1)
    with pytest.raises(bytepair.TokenizerError, match="truncation must be"):
        tokenizer("a", truncation=1, max_length=1)
    with pytest.raises(bytepair.TokenizerError, match="second text"):
        tokenizer("a b c", truncation="only_second", max_length=2)
    with pytest.raises(bytepair.TokenizerError, match="longest_first"):
        tokenizer("a", truncation="yes", max_length=2)
    with pytest.raises(bytepair.FileError, match="no such file or folder"):
        AutoTokenizer.from_pretrained(tmp_path / "some" / "model")
    shutil.rmtree(tmp_path)


# Every combination of options, on published files and on the kinds of template there are

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
    path = tmp_path
    if request.param in PUBLISHED:
        shutil.copy(shared(f"vocabularies/{request.param}/tokenizer.json"), path)
    else:
        write_tokenizer(path, request.param)
    write_settings(path, pad_token="<|pad|>", model_max_length=30)
    return load_both(path)


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


@settings(max_examples=200, suppress_health_check=list(HealthCheck))
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


# The answers of a call, and what is made of them


def test_words_and_characters_of_tokens_are_those_of_transformers(pair):
    """Every token, word and character of two texts."""
    ours, theirs = pair
    texts = ("Hello, wörld 👍🏽!", " two  words")
    answer, expected = ours(*texts), theirs(*texts)
    for token in range(len(expected["input_ids"])):
        for name in ("token_to_sequence", "token_to_word", "token_to_chars"):
            assert getattr(answer, name)(token) == getattr(expected, name)(token), name
    for which, text in enumerate(texts):
        for place in range(len(text)):
            for name in ("char_to_token", "char_to_word"):
                found = getattr(answer, name)(0, place, which)
                assert found == getattr(expected, name)(0, place, which), name
        for word in {word for word in expected.word_ids() if word is not None}:
            span = expected.word_to_tokens(0, word, which)
            assert answer.word_to_tokens(0, word, which) == span
            if span is not None:
                found = answer.word_to_chars(0, word, which)
                assert found == expected.word_to_chars(0, word, which)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"padding": "max_length", "max_length": 20},
        {"padding": True, "pad_to_multiple_of": 8, "return_tensors": "np"},
        {"padding": False},
        {"return_attention_mask": False, "padding_side": "left"},
    ],
    ids=str,
)
def test_rows_are_filled_up_later_as_transformers_does(pair, options):
    """As collators do: lists of answers, and columns."""
    ours, theirs = pair
    rows = [dict(theirs(text, return_special_tokens_mask=True)) for text in TEXTS]
    batch = {"input_ids": [row["input_ids"] for row in rows]}
    for features in (rows, batch, rows[0]):
        expected = plain(theirs.pad(features, **options))
        assert plain(ours.pad(features, **options)) == expected


def test_the_template_of_a_file_goes_before_settings(tmp_path):
    """``add_bos_token`` and ``add_eos_token`` change nothing, as in transformers."""
    write_tokenizer(tmp_path, "bert")
    for begins, ends in ((True, False), (True, True), (False, False)):
        write_settings(
            tmp_path,
            bos_token="[CLS]",
            eos_token="[SEP]",
            add_bos_token=begins,
            add_eos_token=ends,
        )
        ours, theirs = load_both(tmp_path)
        for arguments in (("a b",), ("a b", "c"), (TEXTS,)):
            options = {"return_token_type_ids": True}
            expected = plain(theirs(*arguments, **options))
            assert plain(ours(*arguments, **options)) == expected


def test_a_tokenizer_that_no_json_can_hold_is_called_all_the_same():
    """Encoding reads the core alone, not what could be written."""
    own = bytepair.train_from_iterator(TEXTS, dialect="sennrich", merges=20)
    with pytest.raises(bytepair.FormatError):
        own.to_bytes(format="huggingface")
    tokenizer = PreTrainedTokenizerFast(tokenizer=own, pad_token="<pad>")
    answer = tokenizer(["some words", "some"], padding=True, return_tensors="np")
    assert answer["attention_mask"].tolist()[1][-1] == 0
    assert tokenizer.vocab_size == len(own.get_vocab())
    assert tokenizer.get_added_vocab() == {"<pad>": own.n_vocab}
