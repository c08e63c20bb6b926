"""Vocabularies that are joined: what is old stays, and each new token is reached."""

import pytest
from tests.made_up import CORPUS, every_kind, hugging_face, vocabulary
from tests.test_surgery import (
    OTHERS,
    TEXTS,
    check_old,
    grown,
    n_joined,
)
from tests.test_surgery_removal import ALIKE

import bytepair
from bytepair import TokenizerError, _core, surgery

DIALECTS = [name for name in bytepair.dialects() if name not in ALIKE]
OTHER_TEXTS = ["wide wider widest hats", "the cat's hat lowest newest"] * 3


def second(name):
    """Give a tokenizer of the same dialect that has learned from other texts."""
    options = {"merges": 40, "dialect": name, "special_tokens": ["<|other|>"]}
    return bytepair.train_from_iterator([*OTHER_TEXTS, *CORPUS], **options)


@pytest.mark.parametrize("allow_helpers", [False, True])
@pytest.mark.parametrize("name", DIALECTS)
def test_the_first_stays_and_tokens_of_the_second_are_reached(name, allow_helpers):
    """Ids, merges and added tokens of the first are as they were; each token that was added is made."""
    base, other = every_kind()[name], second(name)
    found = surgery.merge_vocabularies(base, other, allow_helpers=allow_helpers)
    after, n_old, report = found.tokenizer, base.n_vocab, found.report
    check_old(base, after)
    assert found.id_map == tuple(range(n_old))
    assert report.added == after.n_vocab - n_old > 0
    assert sum(report.outcomes.values()) == len(report.rows)
    for token in report.rows:
        if token.id is not None:
            assert after.vocabulary[token.id] == other.vocabulary[token.other_id]
        assert (token.outcome == "needs_helpers") <= (not allow_helpers)
    new = set(range(n_old, after.n_vocab))
    others = {id_ for id_ in report.other_ids.values() if id_ >= n_old}
    assert len(new) == len(others) + report.helpers
    assert others <= new
    assert allow_helpers or not report.helpers
    assert not new & set(_core.unreached(after)[0])
    n_joined(base, after, [*TEXTS[:3], *OTHERS, *OTHER_TEXTS])


def test_tokens_come_in_the_order_of_the_others_merges():
    """Each is what the base, with those before it, encodes to two tokens."""
    base = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    other = bytepair.train_from_iterator(["wide wider wides"], vocab_size=262)
    found = surgery.merge_vocabularies(base, other)
    new = found.tokenizer.vocabulary[258:]
    assert new == [t for t in other.vocabulary[256:] if t not in base.vocabulary]
    for token in found.report.rows:
        if token.outcome == "added":
            joined = b"".join(found.tokenizer.vocabulary[part] for part in token.parts)
            assert len(token.parts) == 2
            assert joined == other.vocabulary[token.other_id]


def test_a_token_that_needs_helpers_is_named_or_gets_them():
    """Of a token of three parts, the report says which; with helpers, each beginning becomes a token."""
    base = bytepair.train_from_iterator(["xyz"], vocab_size=256)
    letters = vocabulary(*"abcd", "bc", "abc", "abcd")
    merges = [["b", "c"], ["a", "bc"], ["abc", "d"]]
    other = hugging_face({"vocab": {**letters, "dca": 7}, "merges": merges})
    found = surgery.merge_vocabularies(base, other)
    rows = {token.text: token for token in found.report.rows}
    assert rows["dca"].outcome == "needs_helpers"
    assert rows["dca"].id is None
    assert rows["dca"].helpers == ("dc",)
    assert "1 helper would be needed" in found.report.lines[-1]
    helped = surgery.merge_vocabularies(base, other, allow_helpers=True)
    rows = {token.text: token for token in helped.report.rows}
    assert rows["dca"].helpers == ("dc",)
    assert helped.tokenizer.token_to_id("dc") >= base.n_vocab
    assert helped.report.helpers == 1
    assert helped.tokenizer.encode("dca") == [rows["dca"].id]


def across(base_name, other_name):
    """Join vocabularies of two dialects, with helpers."""
    texts = ["low lower lowest the widest hats wider than hats été 中文 नम"] * 5
    others = ["newer wide cats chats un été 中文字 नमस्ते  two  spaces"] * 5
    base = bytepair.train_from_iterator(texts, merges=20, dialect=base_name)
    other = bytepair.train_from_iterator(others, merges=40, dialect=other_name)
    return surgery.merge_vocabularies(base, other, allow_helpers=True)


@pytest.mark.parametrize("base_name", ["gpt2", "gpt4", "tekken"])
def test_part_of_a_character_hides_no_cut(base_name):
    """The pattern cuts ``newer wide`` also where a token goes on with half a letter."""
    found = across(base_name, "byte-stream")
    check = surgery.verify_extension(found.base, found.tokenizer)
    assert check, check.lines
    long = [other for other in found.report.rows if "newer wide" in other.text]
    halves = {(t.outcome, t.id) for t in long if "\\x" in t.text}
    assert halves == {("cut", None)}
    unlimited = across("byte-stream", "byte-stream")
    assert "cut" not in unlimited.report.outcomes


BERT = {
    "type": "BertNormalizer",
    "clean_text": True,
    "handle_chinese_chars": True,
    "lowercase": True,
}
LOST = {
    "BERT": (BERT, {"type": "BertPreTokenizer"}, ["!!", "a!"], ["AB"]),
    "punctuation": (
        None,
        {"type": "Punctuation", "behavior": "Isolated"},
        ["!!", "a!"],
        [],
    ),
    "digits": (None, {"type": "Digits", "individual_digits": True}, ["11", "a1"], []),
    "words": (None, {"type": "Whitespace"}, ["a!", "a b"], []),
    "form": ({"type": "NFKC"}, None, [], ["aﬁ"]),
}


@pytest.mark.parametrize(
    ("normalizer", "split", "cut", "changed"), LOST.values(), ids=LOST
)
def test_what_no_text_can_give_is_not_added(normalizer, split, cut, changed):
    """Tokens that the base always cuts or changes are named with the reason; the library never gives them either."""
    tokens = ["ab", "!!", "a!", "AB", "11", "a1", "a b", "aﬁ"]
    letters = list("abAB!1 ﬁ")
    base = hugging_face(
        {"vocab": vocabulary(*letters), "merges": []},
        normalizer=normalizer,
        pre_tokenizer=split,
    )
    merges = [list(text) if len(text) == 2 else ["a ", "b"] for text in tokens]
    other = hugging_face(
        {
            "vocab": vocabulary(*letters, "a ", *tokens),
            "merges": [["a", " "], *merges],
        }
    )
    found = surgery.merge_vocabularies(base, other, allow_helpers=True)
    outcomes = {one.text: one.outcome for one in found.report.rows}
    assert outcomes["ab"] == "added"
    assert {outcomes[text] for text in cut} <= {"cut"}
    assert {outcomes[text] for text in changed} <= {"changed"}


@pytest.mark.parametrize("base_name", ["gpt2", "byte-stream"])
@pytest.mark.parametrize("other_name", ["unknown-token", "sentencepiece"])
def test_numbers_add_up_where_a_helper_is_a_token_of_the_other(base_name, other_name):
    """It counts as added, once, and not as known: the base has not got it."""
    report = across(base_name, other_name).report
    assert report.outcomes["added"] + report.helpers == report.added
    known = [other.id for other in report.rows if other.outcome == "known"]
    assert max(known) < report.first_id


def test_a_vocabulary_and_itself_are_the_same(tmp_path):
    """Nothing is added, and the file is a copy."""
    base = every_kind()["gpt4o"]
    base.save(tmp_path / "base.json")
    found = surgery.merge_vocabularies(tmp_path / "base.json", base)
    assert found.report.added == 0
    assert "nothing added" in found.report.lines[0]
    assert found.save(tmp_path / "new.json").is_copy


def test_dialects_that_differ_in_marks_are_refused():
    """An end mark or a prefix that only one has; the message says so."""
    for base, other in (("gpt4o", "sennrich"), ("prefix", "sentencepiece")):
        with pytest.raises(TokenizerError, match="other: only one of the two has"):
            surgery.merge_vocabularies(every_kind()[base], every_kind()[other])


def test_a_file_of_the_joined_vocabulary_is_read_back(tmp_path):
    """Hugging Face's library finds each new token at its id."""
    pytest.importorskip("tokenizers")
    base, other = every_kind()["gpt4o"], second("gpt4o")
    proof = surgery.merge_vocabularies(base, other).save(tmp_path / "t.json")
    assert proof.read_by == ("bytepair", "tokenizers")
    assert proof.n_texts > 0


# The curve of an extension


def test_only_what_the_curve_has_is_saved():
    """Neither a number below 0, which Python counts from the end, nor one beyond the additions."""
    report = grown("gpt4o", add=3).report
    assert report.saved(0) == 0
    assert report.saved(3) == (report.curve[0] - report.curve[3]) / report.curve[0]
    for n_added in (-1, -4, 4, 1 << 40):
        with pytest.raises(TokenizerError, match=r"n_added must be between 0 and 3,"):
            report.saved(n_added)
    for no_number in (None, True, 1.0):
        with pytest.raises(TypeError, match="must be a whole number"):
            report.saved(no_number)
