"""``bytepair.compat.streaming``: text that is exact at each step."""

import pytest

import bytepair
from bytepair import torture
from bytepair.compat.streaming import IncrementalDetokenizer


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


def test_a_wrong_id_changes_nothing_and_the_end_is_the_end():
    """The next id goes on; after the end none does."""
    tokenizer = bytepair.train_from_iterator(["ab"], vocab_size=256)
    detokenizer = IncrementalDetokenizer(tokenizer, tokenizer.encode("a"))
    with pytest.raises(bytepair.UnknownTokenError):
        detokenizer.push(9999)
    assert detokenizer.push(tokenizer.encode("b")[0]) == "b"
    assert detokenizer.push(tokenizer.encode("é")[0]) == ""
    assert detokenizer.finish() == "\ufffd"
    assert detokenizer.finish() == ""
    with pytest.raises(ValueError, match="finished"):
        detokenizer.push(0)
