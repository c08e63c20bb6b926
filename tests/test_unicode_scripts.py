"""``UnicodeScripts`` of a ``tokenizer.json`` cuts as Hugging Face ``tokenizers`` does.

The table behind it is compared on every code point in ``test_unicode_drift``. Costs a few
seconds.
"""

import json
import unicodedata

import pytest
from hypothesis import given, strategies as st

import bytepair
from bytepair import FormatError, Tokenizer

peer = pytest.importorskip("tokenizers")

SCRIPTS = {"type": "UnicodeScripts"}
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False}
PLAIN = {**BYTES, "use_regex": False}
METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first"}
ROWS = {
    "alone": [SCRIPTS, PLAIN],
    "with words of bytes": [SCRIPTS, {**BYTES, "use_regex": True}],
    "after digits": [{"type": "Digits", "individual_digits": True}, SCRIPTS, PLAIN],
    "before marks for spaces": [SCRIPTS, METASPACE, PLAIN],
    "after marks for spaces": [METASPACE, SCRIPTS, PLAIN],
    "twice": [SCRIPTS, {"type": "Punctuation", "behavior": "Removed"}, SCRIPTS, PLAIN],
}
SAMPLE = "Latin words, кириллица и ещё, 漢字とカタカナー、ひらがな 한국어 עברית العربية हिन्दी ไทย 123 "
EDGES = " ーァ々〆a1Ω.,\t\n\u0301\u0589\u061c\u0953\u3000\u30a0\u30fb\ue000\u0378\U0001e94b\u1c89한中あア😀\u200d"

characters = st.one_of(
    st.sampled_from(EDGES),
    st.sampled_from(SAMPLE),
    st.characters(max_codepoint=0x33FF, exclude_categories=("Cs",)),
    st.characters(exclude_categories=("Cs",)),
)
strings = st.lists(characters, max_size=30).map("".join)


def document(row, normalizer=None):
    """Learn a few merges of bytes, so that spans are seen through them."""
    learned = peer.Tokenizer(peer.models.BPE())
    learned.pre_tokenizer = peer.pre_tokenizers.Sequence(
        [peer.pre_tokenizers.UnicodeScripts(), peer.pre_tokenizers.ByteLevel(False)]
    )
    alphabet = peer.pre_tokenizers.ByteLevel.alphabet()
    trainer = peer.trainers.BpeTrainer(
        vocab_size=400, initial_alphabet=alphabet, show_progress=False
    )
    learned.train_from_iterator([SAMPLE * 3], trainer)
    whole = json.loads(learned.to_str())
    whole["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": row}
    whole["normalizer"] = normalizer
    whole["decoder"] = {**PLAIN, "trim_offsets": True}
    return json.dumps(whole)


def both(row, normalizer=None):
    """Read a file with both libraries."""
    text = document(row, normalizer)
    ours = Tokenizer.from_bytes(text.encode(), format="huggingface")
    return ours, peer.Tokenizer.from_str(text)


def assert_same(ours, theirs, text):
    """Ids and spans are equal."""
    expected = theirs.encode(text)
    given = ours.encode_full(text, allowed_special="all")
    assert list(ours.encode(text, allowed_special="all")) == expected.ids, text
    assert given.ids == expected.ids, text
    assert given.offsets == expected.offsets, text


@pytest.mark.parametrize("row", ROWS)
def test_ids_and_spans_are_those_of_the_library(row):
    """For any text, alone and among other cutters and changes of pieces."""
    ours, theirs = both(ROWS[row])

    @given(strings)
    def compare(text):
        assert_same(ours, theirs, text)

    compare()
    assert_same(ours, theirs, SAMPLE)
    for start in range(0, 0x30000, 0x400):
        codes = range(start, start + 0x400)
        assigned = (chr(code) for code in codes if not 0xD800 <= code < 0xE000)
        assert_same(ours, theirs, "a".join(assigned))


def test_spans_go_through_a_normalizer():
    """Compatibility forms change scripts before pieces are cut."""
    ours, theirs = both(ROWS["alone"], {"type": "NFKD"})
    for text in ("①ｱｲ㌀ﾊﾟ ﬁ℡", "e\u0301가\u1100", SAMPLE):
        assert_same(ours, theirs, text)


@pytest.mark.parametrize("row", ROWS)
def test_what_is_written_is_the_same_tokenizer(row, tmp_path):
    """In each format that holds it; ``tokenizer.json`` names the cutter again."""
    ours, theirs = both(ROWS[row])
    for name in ("a.bytepair", "a.bytepair-compiled", "tokenizer.json"):
        done = bytepair.convert(ours, tmp_path / name, texts=[SAMPLE])
        assert Tokenizer.from_file(done.files[0]).fingerprint == ours.fingerprint
    written = json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8"))
    types = [step["type"] for step in written["pre_tokenizer"]["pretokenizers"]]
    assert types == [step["type"] for step in ROWS[row]]
    again = peer.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert again.encode(SAMPLE).ids == theirs.encode(SAMPLE).ids


def test_it_is_told_and_refused_where_a_pattern_is_needed(tmp_path):
    """It has a name and no pattern, and drops what stands before the first script."""
    ours, _ = both(ROWS["alone"])
    told = ours.inspect().description
    assert "UnicodeScripts" in told["split"]
    assert "does not match" in told["loses"]
    with pytest.raises(FormatError, match="UnicodeScripts"):
        ours.save(tmp_path / "own.tiktoken")
    assert list(ours.encode("  \u0378")) == []


def test_a_field_that_it_has_not_changes_no_id():
    """The library has no settings for it, and passes over those that it finds."""
    ours, theirs = both([{**SCRIPTS, "behavior": "Isolated"}, PLAIN])
    without, _ = both([SCRIPTS, PLAIN])
    text = "".join(EDGES) + " abc \u0430\u0431 12"
    assert ours.encode(text) == theirs.encode(text).ids == without.encode(text)


def test_edges_are_what_they_are_for():
    """The sample of edges has unassigned, private and unscripted characters."""
    categories = {unicodedata.category(character) for character in EDGES}
    assert {"Cn", "Co", "Zs", "Mn", "Lm"} <= categories
