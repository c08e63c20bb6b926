"""Tokenizers of tokenizers and transformers give the same results with bytepair, whatever is done to them."""

import asyncio
import copy
import json
import pickle
import random
from itertools import pairwise

import pytest
from tests.model_folders import content, write_model
from tests.parity.families import FAMILIES

import bytepair

tokenizers = pytest.importorskip("tokenizers")
compat = pytest.importorskip("bytepair.compat.tokenizers")
accelerate, explain, patch = compat.accelerate, compat.explain, compat.patch

TEXTS = [
    "Hello world, how are you?",
    "",
    "  two  spaces\n\n\t",
    "日本語のテキスト",
    "<|endoftext|> a</s><s><unk>▁",
    "é̂ 😀👩\u200d🚀 Ω≈ç√∫ ﬁ Å",
    "1234567 def f(x):\n    return x",
]
NO_TEXTS = [5, None, b"ab", "\ud800", ["a", 1], []]
FIELDS = (
    *("ids", "type_ids", "tokens", "offsets", "attention_mask", "special_tokens_mask"),
    *("word_ids", "sequence_ids"),
)


def row(encoding, *, is_part=False):
    """Everything about an encoding. Parts of parts are told otherwise: ``docs/explanation/offsets.md``."""
    fields = [getattr(encoding, field) for field in FIELDS]
    return (
        fields
        if is_part
        else [*fields, [row(part, is_part=True) for part in encoding.overflowing]]
    )


def rows(encodings):
    """Everything about some encodings."""
    return [row(encoding) for encoding in encodings]


def outcome(call):
    """Give the result of a call, or its error."""
    try:
        return call()
    except BaseException as error:  # of any class: both libraries raise the same
        return type(error), str(error)


def outcomes(tokenizer):
    """Make the calls that are replaced for texts, pairs, words, ids, and for what is neither."""
    chance = random.Random(1)
    n_ids = tokenizer.get_vocab_size()
    lists = [
        [chance.randrange(n_ids + 3) for _ in range(length)] for length in range(8)
    ]
    calls = [
        *(lambda text=text: row(tokenizer.encode(text)) for text in TEXTS),
        *(
            lambda text=text: row(
                tokenizer.encode(text, "a pair", add_special_tokens=False)
            )
            for text in TEXTS
        ),
        *(lambda text=text: row(tokenizer.encode(text)) for text in NO_TEXTS),
        *(lambda text=text: rows(tokenizer.encode_batch([text])) for text in NO_TEXTS),
        *(lambda text=text: rows(tokenizer.encode_batch(text)) for text in NO_TEXTS),
        lambda: rows(tokenizer.encode_batch(TEXTS)),
        lambda: rows(
            tokenizer.encode_batch(list(pairwise(TEXTS)), add_special_tokens=False)
        ),
        lambda: rows(tokenizer.encode_batch([["a", "b c"], "x"])),
        lambda: rows(
            tokenizer.encode_batch([["a", "b c"], ["x", "ü y"]], is_pretokenized=True)
        ),
        lambda: row(tokenizer.encode(["a", " b c"], ["x"], is_pretokenized=True)),
        *(lambda ids=ids: tokenizer.decode(ids) for ids in lists),
        *(
            lambda ids=ids: tokenizer.decode(ids, skip_special_tokens=False)
            for ids in lists
        ),
        lambda: tokenizer.decode_batch(lists),
        *(
            lambda ids=ids: tokenizer.decode(ids)
            for ids in ([-1], [2**33], "ab", 5, [[1]])
        ),
    ]
    return [outcome(call) for call in calls]


def changes(tokenizer):
    """Change an object step by step, as programs do."""
    yield "nothing"
    tokenizer.enable_truncation(5)
    yield "truncation"
    tokenizer.enable_truncation(8, stride=1, strategy="only_first", direction="left")
    yield "truncation on the left"
    tokenizer.enable_padding(length=9, pad_id=1, pad_token="<p>", direction="left")
    yield "padding"
    tokenizer.no_truncation()
    tokenizer.enable_padding(pad_to_multiple_of=8)
    yield "padding to the longest"
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    yield "special tokens are text"
    tokenizer.encode_special_tokens = False
    word = tokenizers.AddedToken("world", single_word=True)
    tokenizer.add_tokens(
        ["foo", word, tokenizers.AddedToken("you", lstrip=True, normalized=False)]
    )
    yield "added tokens"
    tokenizer.add_special_tokens(["<|x|>", "are"])
    yield "special tokens"
    names = [
        ("<|x|>", tokenizer.token_to_id("<|x|>")),
        ("foo", tokenizer.token_to_id("foo")),
    ]
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="<|x|> $A", pair="<|x|> $A $B:1 foo:1", special_tokens=names
    )
    yield "a template"
    tokenizer.normalizer = tokenizers.normalizers.Lowercase()
    yield "a normalizer"
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(
        add_prefix_space=False
    )
    yield "a pre-tokenizer"
    tokenizer.pre_tokenizer.add_prefix_space = True
    yield "a setting of a part"
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    yield "a decoder"
    tokenizer.add_tokens(["naïve"])
    yield "an added token whose letters stand for bytes"
    tokenizer.model.ignore_merges = True
    yield "a setting of the model"
    tokenizer.normalizer = tokenizer.post_processor = tokenizer.decoder = None
    yield "no parts"
    tokenizer.model = tokenizers.models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")])
    yield "another model"


def pair_of(name):
    """Give an accelerated tokenizer, and one that is not."""
    return [
        accelerate(tokenizers.Tokenizer.from_str(content(name))),
        tokenizers.Tokenizer.from_str(content(name)),
    ]


@pytest.mark.parametrize("name", ["gpt2", "qwen2.5", "bert"])
def test_results_are_the_same_after_each_change(name):
    """Ids, offsets, masks, parts, errors; also where bytepair refuses what the object has become."""
    ours, theirs = pair_of(name)
    assert explain(ours) == "bytepair encodes"
    for change, _ in zip(changes(ours), changes(theirs), strict=True):
        for mine, expected in zip(outcomes(ours), outcomes(theirs), strict=True):
            assert mine == expected, change


def test_special_tokens_as_text_are_split_as_theirs():
    """Also if other added tokens lie in their text, or merges are ignored."""
    for ignores in (False, True):
        ours, theirs = pair_of("gpt2")
        for tokenizer in (ours, theirs):
            tokenizer.model.ignore_merges = ignores
            tokenizer.add_special_tokens(["<think>x", "pad"])
            tokenizer.add_tokens([tokenizers.AddedToken("<think>", normalized=False)])
            tokenizer.encode_special_tokens = True
        for text in ("a<think>x", " pad pad<think>", "<|endoftext|>"):
            assert row(ours.encode(text)) == row(theirs.encode(text)), text


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_results_of_families_are_the_same(name):
    """Each family of published files, as it is."""
    ours, theirs = pair_of(name)
    assert outcomes(ours) == outcomes(theirs)


def test_copies_and_pickles_are_accelerated():
    """And know the settings that a file holds."""
    ours, theirs = pair_of("gpt2")
    for tokenizer in (ours, theirs):
        tokenizer.enable_truncation(3)
        tokenizer.add_tokens(["world"])
    for again in (
        copy.copy(ours),
        copy.deepcopy(ours),
        pickle.loads(pickle.dumps(ours)),
    ):
        assert explain(again) == "bytepair encodes"
        assert isinstance(again, tokenizers.Tokenizer)
        assert outcomes(again) == outcomes(theirs)
    assert pickle.dumps(ours) == pickle.dumps(pickle.loads(pickle.dumps(ours)))


def test_a_tokenizer_that_is_refused_goes_on_with_its_library():
    """With a word, or an error if that is wanted."""
    vocabulary = {"[UNK]": 0, "a": 1, "##b": 2}
    pieces = tokenizers.Tokenizer(
        tokenizers.models.WordPiece(vocabulary, unk_token="[UNK]")
    )
    plain = copy.deepcopy(pieces)
    assert outcomes(accelerate(pieces)) == outcomes(plain)
    assert explain(pieces).startswith("tokenizers encodes: ")
    assert "WordPiece" in explain(pieces)
    assert explain(plain) == "tokenizers encodes: the object is not accelerated"
    with pytest.raises(bytepair.FormatError, match="WordPiece"):
        accelerate(plain, fallback=False)
    with pytest.raises(TypeError, match="str has no tokenizer"):
        accelerate("gpt2")

    class Halves:
        def pre_tokenize(self, text):
            text.split(lambda _, part: [part[:2], part[2:]])

    own = accelerate(tokenizers.Tokenizer.from_str(content("gpt2")))
    before = own.encode("Hello").ids
    own.pre_tokenizer = tokenizers.pre_tokenizers.PreTokenizer.custom(Halves())
    assert own.encode("Hello").ids != before
    assert "Custom" in explain(own)
    own.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    assert explain(own) == "bytepair encodes"
    twice = pair_of("gpt2")[0]
    twice.post_processor = tokenizers.processors.TemplateProcessing(
        single="$A $A", pair="$A $B", special_tokens=[]
    )
    assert "contains a text twice" in explain(twice)
    equal = pair_of("gpt2")[0]
    equal.normalizer = tokenizers.normalizers.Lowercase()
    equal.add_tokens(["<A>", "<a>"])
    assert "makes two added tokens equal" in explain(equal)
    dropping = tokenizers.Tokenizer(tokenizers.models.BPE({"a": 0}, [], dropout=0.5))
    assert "dropout" in explain(accelerate(dropping))


def test_a_patch_holds_within_its_block():
    """For objects that exist, and for those that are made in it."""
    existing = tokenizers.Tokenizer.from_str(content("gpt2"))
    with patch():
        made = tokenizers.Tokenizer.from_str(content("gpt2"))
        assert explain(existing) == explain(made) == "bytepair encodes"
        assert row(made.encode("Hello world")) == row(
            pair_of("gpt2")[1].encode("Hello world")
        )
        assert isinstance(made.encode("Hello"), bytepair.Encoding)
        made.add_tokens(["Hello"])
        assert made.encode("Hello").ids == [made.token_to_id("Hello")]
    for tokenizer in (existing, made):
        assert "not accelerated" in explain(tokenizer)
        assert isinstance(tokenizer.encode("Hello"), tokenizers.Encoding)


def test_an_object_that_is_not_accelerated_is_as_before():
    """Also its methods that wait, and the offsets of the fast batch, which are zeros."""
    accelerate(pair_of("gpt2")[1])  # the methods are set from now on
    plain = tokenizers.Tokenizer.from_str(content("gpt2"))
    (fast,) = plain.encode_batch_fast(["Hello world"])
    assert set(fast.offsets) == {(0, 0)}

    async def wait(tokenizer):
        (encoding,) = await tokenizer.async_encode_batch(["Hello world"])
        return encoding

    assert isinstance(asyncio.run(wait(plain)), tokenizers.Encoding)
    ours = pair_of("gpt2")[0]
    assert row(asyncio.run(wait(ours))) == row(plain.encode("Hello world"))


def test_an_object_that_takes_the_state_of_another_is_compiled_anew():
    """As unpickling by hand does."""
    ours, theirs = pair_of("gpt2")[0], pair_of("qwen2.5")[1]
    ours.encode("Hello")
    ours.__setstate__(theirs.__getstate__())
    assert outcomes(ours) == outcomes(theirs)


def test_an_object_that_did_not_change_is_not_compiled_anew():
    """Two calls run on one tokenizer of ours, also if a sequence of parts is empty, which is false."""
    tokenizer, _ = pair_of("gpt2")
    tokenizer.normalizer = tokenizers.normalizers.Sequence([])
    engine = tokenizer.__dict__[compat.KEY]
    cores = []
    for text in TEXTS:
        tokenizer.encode(text)
        cores.append(engine.core)
    assert cores[0] is not None
    assert all(core is cores[0] for core in cores)


def test_what_takes_their_object_takes_it_accelerated():
    """Streams and saving are theirs."""
    ours, theirs = pair_of("gpt2")
    ids = ours.encode("Hello 👩\u200d🚀").ids
    streams = [tokenizers.decoders.DecodeStream() for _ in range(2)]
    for id_ in ids:
        assert streams[0].step(ours, id_) == streams[1].step(theirs, id_)
    assert ours.to_str() == theirs.to_str()


def test_a_version_that_is_not_known_is_an_error(monkeypatch):
    """Since what it does may differ."""
    monkeypatch.setattr(tokenizers, "__version__", "0.99.0")
    monkeypatch.setattr(compat, "theirs", {})
    with pytest.raises(
        bytepair.TokenizerError,
        match=r"tokenizers 0\.99\.0 is installed; .* 0\.22 to 0\.23",
    ):
        accelerate(tokenizers.Tokenizer.from_str(content("gpt2")))


@pytest.mark.slow
def test_tokenizers_of_transformers_give_the_same(tmp_path):
    """Calls, columns, chats, saved folders, training; all of it is of transformers."""
    transformers = pytest.importorskip("transformers")
    from bytepair.compat.transformers import AutoTokenizer

    template = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
    settings = {
        "eos_token": "<|endoftext|>",
        "pad_token": "<|endoftext|>",
        "chat_template": template,
    }
    write_model(tmp_path, "gpt2", **settings)
    ours = AutoTokenizer.from_pretrained(tmp_path)
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert explain(ours) == "bytepair encodes"
    assert isinstance(ours, transformers.PreTrainedTokenizerBase)
    options = {
        "padding": True,
        "truncation": True,
        "max_length": 9,
        "return_offsets_mapping": True,
    }
    chat = [{"role": "user", "content": "How are you?"}]
    for do in [
        lambda one: dict(one(TEXTS, **options)),
        lambda one: dict(one(TEXTS, TEXTS, return_special_tokens_mask=True)),
        lambda one: one(TEXTS[0]).word_ids(),
        lambda one: one.tokenize(TEXTS[0]),
        lambda one: one.batch_decode(one(TEXTS)["input_ids"], skip_special_tokens=True),
        lambda one: dict(one.apply_chat_template(chat)),
        lambda one: one.add_tokens(["How"]),
        lambda one: one(TEXTS, split_special_tokens=True)["input_ids"],
        lambda one: one.train_new_from_iterator(TEXTS, 270)(TEXTS)["input_ids"],
    ]:
        assert do(ours) == do(theirs)
    again = pickle.loads(pickle.dumps(ours))
    assert explain(again) == "bytepair encodes"
    assert again(TEXTS)["input_ids"] == theirs(TEXTS)["input_ids"]
    ours.save_pretrained(tmp_path / "ours")
    theirs.save_pretrained(tmp_path / "theirs")
    files = [
        json.loads((tmp_path / name / "tokenizer.json").read_text())
        for name in ("ours", "theirs")
    ]
    assert files[0] == files[1]


@pytest.mark.slow
def test_what_is_no_byte_pair_encoding_stays_with_transformers(tmp_path):
    """As a word, or as an error if that is wanted."""
    pytest.importorskip("transformers")
    from bytepair.compat.transformers import AutoTokenizer

    pieces = tokenizers.Tokenizer(
        tokenizers.models.WordPiece({"[UNK]": 0, "a": 1}, unk_token="[UNK]")
    )
    pieces.save(str(tmp_path / "tokenizer.json"))
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "[UNK]"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    assert tokenizer("a")["input_ids"] == [1]
    assert "WordPiece" in explain(tokenizer)
    with pytest.raises(bytepair.FormatError):
        AutoTokenizer.from_pretrained(tmp_path, fallback=False)
