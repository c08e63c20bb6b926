"""``bytepair.compat.streaming``: text that is exact at each step."""

import copy
import pickle

import pytest

import bytepair
from bytepair._verify import torture
from bytepair.compat.streaming import DecodeStream, IncrementalDetokenizer


@pytest.mark.parametrize("dialect", ["gpt2", "gpt4o", "sentencepiece", "subword-nmt"])
@pytest.mark.parametrize("n_prompt", [0, 1, 7])
def test_parts_are_the_text_behind_the_prompt(dialect, n_prompt):
    """At each step: what decoding all ids gives, but for an incomplete end."""
    tokenizer = bytepair.train_from_iterator(
        torture.TEXTS, dialect=dialect, merges=50, special_tokens=["<s>"]
    )
    for text in torture.TEXTS:
        ids = tokenizer.encode(text, allowed_special="all")
        prompt, rest = ids[:n_prompt], ids[n_prompt:]
        for skip in (False, True):
            detokenizer = IncrementalDetokenizer(
                tokenizer, prompt, skip_special_tokens=skip
            )
            said = detokenizer.prompt_text
            for n_ids, id_ in enumerate(rest, n_prompt + 1):
                said += detokenizer.push(id_)
                whole = tokenizer.decode(ids[:n_ids], skip_special_tokens=skip)
                assert whole.startswith(said)
                assert len(whole) - len(said) <= 4
            said += detokenizer.finish()
            assert said == tokenizer.decode(ids, skip_special_tokens=skip)
            assert detokenizer.prompt_text + detokenizer.text == said
            assert detokenizer.ids == rest


def test_an_id_past_the_vocabulary_gives_no_text_and_the_end_is_the_end():
    """Models have more rows of embeddings than there are tokens; after the end is no id."""
    tokenizer = bytepair.train_from_iterator(["ab"], vocab_size=256)
    detokenizer = IncrementalDetokenizer(tokenizer, [*tokenizer.encode("a"), 9999])
    assert detokenizer.prompt_text == "a"
    assert detokenizer.push(9999) == ""
    assert detokenizer.push(2**40) == ""
    assert detokenizer.ids == [9999, 2**40]
    assert detokenizer.push(tokenizer.encode("b")[0]) == "b"
    assert detokenizer.push(tokenizer.encode("é")[0]) == ""
    assert detokenizer.finish() == "\ufffd"
    assert detokenizer.finish() == ""
    with pytest.raises(ValueError, match="finished"):
        detokenizer.push(0)


@pytest.mark.parametrize("dialect", ["gpt2", "sentencepiece", "subword-nmt"])
def test_streams_are_copied_and_pickled_at_any_place(dialect):
    """A copy goes on from there by itself, and so does what a pickle gives."""
    tokenizer = bytepair.train_from_iterator(
        torture.TEXTS, dialect=dialect, merges=50, special_tokens=["<s>"]
    )
    ids = tokenizer.encode("a é\n<s> the end", allowed_special="all")
    for skip in (False, True):
        options = {"skip_special_tokens": skip}
        for n_before in range(len(ids) + 1):
            stream = tokenizer.decode_stream(**options)
            before = stream.push(ids[:n_before])
            copies = [
                stream.copy(),
                copy.copy(stream),
                copy.deepcopy(stream),
                pickle.loads(pickle.dumps(stream)),
            ]
            whole = tokenizer.decode(ids, **options)
            for again in copies:
                text = before + again.push(ids[n_before:]) + again.finish()
                assert text == whole
                ended = pickle.loads(pickle.dumps(again))
                assert ended.finish() == ""
            assert before + stream.push(ids[n_before:]) + stream.finish() == whole


def test_detokenizers_are_copied_and_pickled():
    """Texts, ids and what is incomplete come along."""
    tokenizer = bytepair.train_from_iterator(["…"], vocab_size=256)
    ids = tokenizer.encode("ab…c")
    for kind in (IncrementalDetokenizer(tokenizer, ids[:1]), None):
        detokenizer = kind or DecodeStream(ids[:1])
        push = (lambda one, id_: one.push(id_)) if kind else step_of(tokenizer)
        push(detokenizer, ids[1])
        push(detokenizer, ids[2])
        for again in (
            copy.deepcopy(detokenizer),
            pickle.loads(pickle.dumps(detokenizer)),
        ):
            found = [push(again, id_) or "" for id_ in ids[3:]]
            assert found == ["", "…", "c"]


def step_of(tokenizer):
    """Give the step of a stream that is told its tokenizer."""
    return lambda stream, id_: stream.step(tokenizer, id_)
