"""``bytepair.compat.tokenizers`` and encodings that are changed, beside tokenizers."""

import asyncio
import copy
import json
import pickle

import pytest
from tests.model_folders import write_model, write_tokenizer

import bytepair
from bytepair.compat.streaming import DecodeStream
from bytepair.compat.tokenizers import PreTokenizer, Tokenizer
from bytepair.compat.transformers import AutoTokenizer

theirs_module = pytest.importorskip("tokenizers", reason="compares with tokenizers")
TEXTS = ["some words follow", "é", "", "a <|pad|> b", "more and more of the words"]
FIELDS = [
    *("ids", "type_ids", "tokens", "offsets", "attention_mask", "word_ids"),
    *("special_tokens_mask", "sequence_ids", "n_sequences"),
]
FAMILIES = ["gpt2", "bert", "llama2-metaspace", "clip"]


def both_of(folder, family):
    """Write a family's file, and load it in both libraries."""
    write_tokenizer(folder, family)
    path = str(folder / "tokenizer.json")
    return Tokenizer.from_file(path), theirs_module.Tokenizer.from_file(path)


@pytest.fixture(scope="module", params=FAMILIES)
def pair(request, tmp_path_factory):
    """Give a tokenizer of both libraries."""
    return both_of(tmp_path_factory.mktemp(request.param), request.param)


def assert_same(ours, theirs, *, but=()):
    """All lists of an encoding are the same, and those of what overflows."""
    for field in set(FIELDS) - set(but):
        assert getattr(ours, field) == getattr(theirs, field), field
    assert len(ours.overflowing) == len(theirs.overflowing)
    for part, other in zip(ours.overflowing, theirs.overflowing, strict=True):
        assert_same(part, other, but=but)


def test_texts_are_encoded_and_decoded_as_there(pair):
    """One text and two, words, batches, with what is around them or without."""
    ours, theirs = pair
    for options in ({}, {"add_special_tokens": False}):
        for text in TEXTS:
            found = ours.encode(text, **options)
            assert_same(found, theirs.encode(text, **options))
            assert ours.decode(found.ids) == theirs.decode(found.ids)
            for skip in (False, True):
                assert ours.decode(found.ids, skip) == theirs.decode(found.ids, skip)
            expected = theirs.encode(text, "and a pair", **options)
            assert_same(ours.encode(text, "and a pair", **options), expected)
        words = [text.split() or ["x"] for text in TEXTS]
        batches = [
            (TEXTS, {}),
            ([(text, "pair") for text in TEXTS], {}),
            (words, {"is_pretokenized": True}),
        ]
        for batch, more in batches:
            found = ours.encode_batch(batch, **options, **more)
            expected = theirs.encode_batch(batch, **options, **more)
            for one, other in zip(found, expected, strict=True):
                assert_same(one, other)
    rows = [one.ids for one in ours.encode_batch(TEXTS)]
    assert ours.decode_batch(rows) == theirs.decode_batch(rows)


def test_lengths_are_set_and_taken_off(pair):
    """Truncation and padding act from then on."""
    for tokenizer in pair:
        tokenizer.enable_truncation(7, stride=1, direction="left")
        tokenizer.enable_padding(length=9, pad_id=1, pad_token="<p>", pad_type_id=1)
    ours, theirs = pair
    assert ours.truncation == theirs.truncation
    assert ours.padding == theirs.padding
    for one, other in zip(
        ours.encode_batch(TEXTS), theirs.encode_batch(TEXTS), strict=True
    ):
        assert_same(one, other, but={"sequence_ids"})  # theirs of parts are none
    for tokenizer in pair:
        tokenizer.no_truncation()
        tokenizer.no_padding()
    assert ours.truncation is ours.padding is None
    assert_same(ours.encode(TEXTS[0]), theirs.encode(TEXTS[0]))


def test_tokens_are_looked_up_and_added(tmp_path):
    """Ids, names, sizes, and both kinds of added tokens."""
    ours, theirs = both_of(tmp_path, "gpt2")
    assert ours.get_vocab() == theirs.get_vocab()
    for tokenizer in (ours, theirs):
        assert tokenizer.add_tokens(["<x>", "<y>"]) == 2
        assert tokenizer.add_special_tokens(["<z>"]) == 1
    assert ours.get_vocab_size() == theirs.get_vocab_size()
    assert ours.token_to_id("<x>") == theirs.token_to_id("<x>")
    assert ours.token_to_id("absent") is ours.id_to_token(10**6) is None
    for id_, token in theirs.get_added_tokens_decoder().items():
        assert ours.id_to_token(id_) == token.content
        found = ours.get_added_tokens_decoder()[id_]
        assert (found.content, found.special) == (token.content, token.special)
    text = "a <x> <z>"
    assert_same(ours.encode(text), theirs.encode(text))
    for tokenizer in (ours, theirs):
        tokenizer.encode_special_tokens = True
    assert ours.encode(text).ids == theirs.encode(text).ids
    assert ours.num_special_tokens_to_add(True) == theirs.num_special_tokens_to_add(
        True
    )


def test_the_backend_and_its_owner_change_together(tmp_path):
    """What is added to one is there in the other; lengths of calls stay their own."""
    owner = AutoTokenizer.from_pretrained(
        write_model(tmp_path, "gpt2", pad_token="<|pad|>")
    )
    theirs = theirs_module.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    theirs.add_special_tokens(["<|pad|>"])
    ours = owner.backend_tokenizer
    assert owner.backend_tokenizer is ours
    ours.add_tokens(["<x>"])
    owner.add_tokens(["<y>"])
    theirs.add_tokens(["<x>", "<y>"])
    text = "a <x> <y>"
    assert owner(text)["input_ids"] == theirs.encode(text).ids
    assert_same(ours.encode(text), theirs.encode(text))
    assert json.loads(ours.to_str())["model"]["type"] == "BPE"
    owner.set_truncation_and_padding(
        padding_strategy="max_length",
        truncation_strategy="longest_first",
        max_length=4,
        stride=0,
        pad_to_multiple_of=None,
        padding_side=None,
    )
    pad, ids = owner.pad_token_id, theirs.encode("a b c d e f g h").ids
    assert ours.encode("a b c d e f g h").ids == ids[:4]
    assert ours.encode("a").ids == [*theirs.encode("a").ids, pad, pad, pad]
    assert len(owner("a b c d e f g h")["input_ids"]) > 4


def test_a_file_is_written_and_read(pair, tmp_path):
    """As text, bytes, a file, a pickle."""
    ours, _ = pair
    ours.save(tmp_path / "own.json")
    text = ours.to_str()
    assert json.loads(text) == json.loads((tmp_path / "own.json").read_text())
    assert json.loads(ours.to_str(pretty=True)) == json.loads(text)
    again = [
        Tokenizer.from_str(text),
        Tokenizer.from_buffer(text.encode()),
        Tokenizer.from_file(tmp_path / "own.json"),
        Tokenizer(ours.tokenizer),
    ]
    expected = theirs_module.Tokenizer.from_str(text)
    for tokenizer in again:
        for one in TEXTS:
            assert_same(tokenizer.encode(one), expected.encode(one))
    ours.enable_truncation(3)
    again = pickle.loads(pickle.dumps(ours))
    assert_same(again.encode(TEXTS[0]), ours.encode(TEXTS[0]))
    ours.no_truncation()


def test_parts_can_be_read(pair):
    """What they do, and settings as attributes; where one is missing, it is missing."""
    ours, theirs = pair
    for name in ("normalizer", "pre_tokenizer", "post_processor", "decoder", "model"):
        assert (getattr(ours, name) is None) == (getattr(theirs, name) is None)
    for text in (*TEXTS, "ÉÀ  ﬁ", "A\u0301"):
        if theirs.normalizer is not None:
            expected = theirs.normalizer.normalize_str(text)
            assert ours.normalizer.normalize_str(text) == expected
        tokens = theirs.encode(text).tokens
        assert ours.decoder.decode(tokens) == theirs.decoder.decode(tokens)
    assert ours.model.unk_token == theirs.model.unk_token
    assert repr(ours.model).startswith("BPE(")
    with pytest.raises(AttributeError, match="'Model' has no attribute 'colour'"):
        ours.model.colour  # noqa: B018 -- asked for


def test_what_is_not_built_says_what_to_do(pair):
    """Parts that are put in, trainers, and encodings put together later."""
    ours, _ = pair
    for part in ("model", "normalizer", "pre_tokenizer", "post_processor", "decoder"):
        with pytest.raises(NotImplementedError, match=rf"^{part} .*from_str\(\)"):
            setattr(ours, part, None)
    encoding = ours.encode("a")
    calls = [
        lambda: ours.train(["x"]),
        lambda: ours.train_from_iterator(["x"]),
        lambda: ours.post_process(encoding),
        lambda: PreTokenizer({}, None).pre_tokenize_str("a"),
    ]
    for call in calls:
        with pytest.raises(NotImplementedError, match=r"bytepair\.|encode"):
            call()


def test_another_thread_gives_the_same(pair):
    """Calls that are awaited."""
    ours, _ = pair

    async def gather():
        found = await ours.async_encode("some words")
        batch = await ours.async_encode_batch(TEXTS)
        texts = await ours.async_decode_batch([one.ids for one in batch])
        return found.ids, [one.ids for one in batch], texts

    rows = [one.ids for one in ours.encode_batch(TEXTS)]
    expected = ours.encode("some words").ids, rows, ours.decode_batch(rows)
    assert asyncio.run(gather()) == expected


@pytest.mark.parametrize("direction", ["left", "right"])
def test_encodings_are_cut_and_filled_up_as_there(pair, direction):
    """In place, with what overflows."""
    ours, _ = pair
    for max_length, stride in ((3, 0), (4, 2), (0, 0), (99, 0)):
        both = [tokenizer.encode("some words follow") for tokenizer in pair]
        for one in both:
            one.truncate(max_length, stride=stride, direction=direction)
        assert_same(*both, but={"sequence_ids"})
        for one in both:
            one.pad(8, direction=direction, pad_id=5, pad_type_id=1, pad_token="<p>")
        assert_same(*both, but={"sequence_ids"})
    with pytest.raises(bytepair.TokenizerError, match="stride is 3"):
        ours.encode("some words follow").truncate(3, stride=3)


def test_places_are_looked_up_as_there(pair):
    """Characters, tokens and words of both texts, and those that are not there."""
    ours, theirs = (one.encode("some é words <|pad|>", "and more") for one in pair)
    assert ours.words == ours.word_ids
    for index in range(len(ours) + 2):
        for name in ("token_to_sequence", "token_to_chars", "token_to_word"):
            if index < len(ours):
                found = getattr(theirs, name)(index)
                found = (
                    found[-1]
                    if name == "token_to_word" and isinstance(found, tuple)
                    else found
                )
                assert getattr(ours, name)(index) == found, (name, index)
            else:
                assert getattr(ours, name)(index) is None
        for sequence in (0, 1):
            for name in (
                "char_to_token",
                "char_to_word",
                "word_to_tokens",
                "word_to_chars",
            ):
                expected = getattr(theirs, name)(index, sequence)
                assert getattr(ours, name)(index, sequence) == expected, (name, index)


def test_encodings_are_joined_as_there(pair):
    """With offsets that go on or begin anew, and the number of each text."""
    for growing in (True, False):
        joined = []
        for tokenizer in pair:
            parts = [
                tokenizer.encode(text, add_special_tokens=False)
                for text in ("some words", "and more")
            ]
            for number, part in enumerate(parts):
                part.set_sequence_id(number)
            joined.append(type(parts[0]).merge(parts, growing))
        assert_same(*joined, but={"sequence_ids"})  # theirs lose those of the first
        assert joined[0].sequence_ids == [
            number for number, part in enumerate(parts) for _ in part.ids
        ]
    assert bytepair.Encoding.merge([]).ids == []


def test_encodings_are_copied_and_pickled(pair):
    """All lists stay, those of what overflows too, and a copy is changed by itself."""
    ours, _ = pair
    ours.enable_truncation(4)
    encoding = ours.encode("some words follow <|pad|> ", "and more")
    ours.no_truncation()
    copies = [copy.copy(encoding), copy.deepcopy(encoding)]
    copies += [pickle.loads(pickle.dumps(encoding, protocol)) for protocol in (2, 5)]
    for again in copies:
        assert_same(again, encoding)
        merged = bytepair.Encoding.merge([again, encoding])
        assert merged.tokens == [*encoding.tokens, *encoding.tokens]
        again.truncate(1)
        assert len(again) == 1
    assert len(encoding) == 4
    with pytest.raises(bytepair.TokenizerError, match="2 ids, but 1 tokens"):
        bytepair.Encoding(
            [1, 2],
            tokens=["a"],
            type_ids=[0, 0],
            offsets=[(0, 1), (0, 1)],
            special_tokens_mask=[0, 0],
            attention_mask=[1, 1],
            word_ids=[0, 0],
            sequence_ids=[0, 0],
        )


@pytest.mark.parametrize("skip", [False, True])
def test_a_stream_gives_what_that_of_tokenizers_gives(pair, skip):
    """Id by id behind a prompt; past the vocabulary there is no text."""
    ours, theirs = pair
    ids = theirs.encode("some words é 👍🏽 <|pad|> and more").ids
    far = theirs.get_vocab_size() + 7
    for prompt, rest in ((ids[:3], ids[3:]), ([], ids), (ids, [far, *ids[:2]])):
        stream = DecodeStream(ids=prompt, skip_special_tokens=skip)
        other = theirs_module.decoders.DecodeStream(
            ids=prompt, skip_special_tokens=skip
        )
        found = [stream.step(ours, id_) for id_ in rest]
        expected = [other.step(theirs, id_) for id_ in rest]
        assert "".join(filter(None, found)) == "".join(filter(None, expected))
