"""Extensions that are limited to some characters: all other text keeps its ids."""

import random

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tests.made_up import every_kind
from tests.test_surgery import ids_or_none, short_texts

import bytepair
from bytepair import TokenizerError, TrainingError, surgery
from bytepair.surgery._scopes import scope_of

HINDI = (
    "नमस्ते दुनिया। यह हिन्दी है, “हिन्दी” ”” और कुछ नहीं!! (नमस्ते)\n 12 नमस्ते… दुनिया\n"
    "the cat's hat; नमस्ते”” été।।\n"
)
CODE = "def f(x):\n    return {'a': x[0]}  # ”” “a” … ।। (a)\n\n" * 3
SURROGATES = range(0xD800, 0xE000)
EVERYTHING = "U+0000-U+10FFFF"


def others_than(scope):
    """List all characters outside a scope, by Unicode's tables as they are."""
    inside = set()
    for first, last in scope_of(scope).ranges:
        inside.update(range(first, last + 1))
    codes = set(range(0x110000)) - {*SURROGATES} - inside
    return [chr(code) for code in sorted(codes)]


def same_ids(base, extended, texts):
    """Whether all texts have the same ids."""
    (old, old_ends), (new, new_ends) = (
        tokenizer.encode_batch_to_numpy(texts) for tokenizer in (base, extended)
    )
    return np.array_equal(old, new) and np.array_equal(old_ends, new_ends)


def small(dialect="gpt2", texts=("the cat's hat नम दु é “a” …",)):
    """Train a small tokenizer of bytes."""
    return bytepair.train_from_iterator(texts, merges=30, dialect=dialect)


@pytest.mark.slow
def test_every_other_character_keeps_its_ids():
    """Alone, after a space, and all of them in any order as one piece of text."""
    base, piece = small(), small("byte-stream")
    found = surgery.extend(base, texts=[HINDI] * 9, add=80, scope="Devanagari")
    assert found.report.added > 20
    others = others_than("Devanagari")
    assert len(others) == 0x110000 - len(SURROGATES) - 164
    spaced = [f" {character}" for character in others]
    assert same_ids(base, found.tokenizer, [*others, *spaced])
    random.Random(1).shuffle(others)
    assert not same_ids(base, found.tokenizer, [HINDI])
    found = surgery.extend(piece, texts=[HINDI] * 9, add=200, scope="Devanagari")
    assert found.report.added > 100
    assert same_ids(piece, found.tokenizer, ["".join(others)])


def test_punctuation_and_parts_of_characters_are_not_merged_in_other_text():
    """Without a scope they are: quotation marks, the bytes within them, the danda of many scripts."""
    base = small()
    free = surgery.extend(base, texts=[HINDI] * 9, add=80)
    assert not same_ids(base, free.tokenizer, [CODE])
    found = surgery.extend(base, texts=[HINDI] * 9, add=80, scope="Devanagari")
    assert same_ids(base, found.tokenizer, [CODE])
    new = found.tokenizer.vocabulary[base.n_vocab :]
    assert any("।".encode() in token for token in new)  # within a word
    assert "।।".encode() not in new


def test_bytes_that_are_no_text_keep_their_ids_without_a_fragment_of_the_scope():
    """Only bytes that begin a character of Devanagari and no other are such a fragment."""
    base = small("byte-stream")
    found = surgery.extend(base, texts=[HINDI] * 9, add=80, scope="Devanagari")
    source = random.Random(2)
    some = b"a \xe0\xa4\xa5\xa8\xae\xbf\xff\xc3\xe2\x80\x99"
    texts = [bytes(source.choices(some, k=40)) for _ in range(3000)]
    # U+0900 to U+093F, U+0940 to U+097F but for the two dandas.
    ends = [bytes([0xE0, 0xA5, last]) for last in range(0x80, 0xC0)]
    fragments = [b"\xe0\xa4", *set(ends) - {b"\xe0\xa5\xa4", b"\xe0\xa5\xa5"}]
    others = [text for text in texts if not any(f in text for f in fragments)]
    assert 500 < len(others) < len(texts)
    assert same_ids(base, found.tokenizer, others)


def test_a_scope_of_all_characters_limits_nothing():
    """And one of no character that the corpus has is refused, as it would add nothing."""
    for name in ("gpt4o", "sennrich", "fallback"):
        base = every_kind()[name]
        texts = ["lower lowest ”” é (a)\n"] * 9
        free = surgery.extend(base, texts=texts, add=30)
        found = surgery.extend(base, texts=texts, add=30, scope=EVERYTHING)
        assert found.tokenizer == free.tokenizer
        assert found.report.curve == free.report.curve
    with pytest.raises(TokenizerError, match="no text of the corpus has any of its"):
        surgery.extend(every_kind()["gpt4o"], texts=["low"], add=3, scope="Thai")
    with pytest.raises(TrainingError, match="no token with a character of Thai"):
        surgery.extend(every_kind()["sennrich"], texts=["ไทย"], add=3, scope="Thai")


def test_dropped_pairs_take_no_places():
    """As many tokens are added as asked for, and those that need more of the scope come later."""
    base = small()
    for add in (5, 20, 30):
        found = surgery.extend(base, texts=[HINDI] * 9, add=add, scope="Devanagari")
        assert found.report.added == add
    assert "limited to Devanagari" in found.report.lines[-1]
    assert found.report.to_json()["scope"] == "Devanagari"


def test_the_scope_is_asked_of_normalized_text():
    """A micro sign is common to all scripts; compatibility forms make it a letter of Greek."""
    options = {"merges": 4, "dialect": "gpt4", "normalize": ["nfkc"]}
    base = bytepair.train_from_iterator(["μμ λμ 5 µm"], **options)
    found = surgery.extend(base, texts=["μμμ λμ λμ"] * 9, add=9, scope="Greek")
    assert found.tokenizer.encode("µ" * 3) == found.tokenizer.encode("μ" * 3)
    assert found.tokenizer.encode("µ" * 3) != base.encode("µ" * 3)
    others = others_than("Greek")[:3000]
    plain = [text for text in others if "μ" not in base.inspect().normalized(text)]
    assert same_ids(base, found.tokenizer, plain)


# Random vocabularies

LETTERS = "ab éनम中"
SCOPES = ["é", "Devanagari", "Han", ["न", "中"], "a-z", " "]
WORDS = st.lists(st.text(LETTERS, min_size=1, max_size=7), min_size=2, max_size=6)


def check_scope(base, found, scope, texts):
    """Check that texts without characters of the scope, once normalized, keep their ids."""
    within = scope_of(scope)
    n_other = 0
    for text in texts:
        if within.holds_of(base.inspect().normalized(text)):
            continue
        n_other += 1
        assert ids_or_none(base, text) == ids_or_none(found.tokenizer, text), text
    return n_other


@given(
    name=st.sampled_from(sorted(every_kind())),
    first=WORDS,
    later=WORDS,
    scope=st.sampled_from(SCOPES),
    n_base=st.integers(0, 9),
)
def test_other_text_keeps_its_ids_in_random_vocabularies(
    name, first, later, scope, n_base
):
    """Of every dialect, with marks, prefixes, spaces that are written otherwise, and bytes for characters."""
    base = every_kind()[name]
    if name in bytepair.dialects():
        texts = [" ".join([*first, LETTERS])]
        base = bytepair.train_from_iterator(texts, merges=n_base, dialect=name)
    corpus = [" ".join([*later, *later]), LETTERS]
    try:
        found = surgery.extend(base, texts=corpus, add=15, scope=scope)
    except TokenizerError as error:
        if "scope: " in str(error):  # a tokenizer that has no such character
            return
        raise
    texts = [*first, *later, *corpus, " ".join(first)]
    check_scope(base, found, scope, texts)
    less = surgery.extend(base, texts=corpus, add=5, scope=scope).tokenizer
    assert less.vocabulary == found.tokenizer.vocabulary[: less.n_vocab]
    check = surgery.verify_extension(base, found.tokenizer, texts=texts)
    assert check.faults == (), check.lines


@pytest.mark.parametrize("name", ["byte-stream", "gpt4o", "sennrich", "sentencepiece"])
def test_other_text_keeps_its_ids_in_all_short_texts(name):
    """All texts of up to five letters, some of the scope, some not."""
    letters = "aé नम"
    base = bytepair.train_from_iterator([f"aa {letters}"], merges=2, dialect=name)
    corpus = ["ननé नम aनa éनé aéन न न ननéé aa a é"] * 3
    texts = short_texts(letters, 5)
    for scope in ("Devanagari", "é"):
        found = surgery.extend(base, texts=corpus, add=30, scope=scope)
        assert found.report.added > 3
        assert check_scope(base, found, scope, texts) > 300


# What a scope is


def test_scripts_have_names():
    """Upper case, spaces and underscores do not matter."""
    assert scope_of("DEVANAGARI") == scope_of(["Devanagari"])
    assert scope_of("old persian") == scope_of("Old_Persian")
    assert scope_of("Arabic,Devanagari").name == "Arabic and Devanagari"
    scope = scope_of(["Arabic", "Devanagari"])
    assert all(scope.holds_of(letter) for letter in "سन")
    assert not scope.holds_of("a।")  # the danda is common to several scripts


def test_characters_are_given_one_by_one_or_as_ranges():
    """Ranges that touch are joined; surrogates are no characters."""
    given = ["ß", "a-z", "U+0041-U+005A", "u+1e9e", range(0x61, 0x63), 0x7B]
    scope = scope_of(given)
    assert scope.ranges == ((0x41, 0x5A), (0x61, 0x7B), (0xDF, 0xDF), (0x1E9E, 0x1E9E))
    assert scope.name == f"{26 + 27 + 2} characters"
    assert scope_of(set("ba")).ranges == ((0x61, 0x62),)
    assert scope_of(range(0x900, 0x980)).ranges == ((0x900, 0x97F),)
    assert scope_of(",").ranges == ((0x2C, 0x2C),)
    assert scope_of("U+D000-U+DFFF").ranges == ((0xD000, 0xD7FF),)
    assert scope_of("Thai, U+0964").name == "Thai and 1 character"


BAD = {
    "no script is called 'Devangari', but Devanagari": "Devangari",
    "no script is called 'Deva', but Devanagari": "Deva",
    "no script is called 'äöü'; a scope is a script, not a language": "äöü",
    "'z-a' is not a range": "z-a",
    "'U\\+110000' is not a range": "U+110000",
    "only surrogates": "U+D800",
    "no script and no character": [],
    "no script is called ''": "",
}


@pytest.mark.parametrize("message", BAD)
def test_scopes_that_make_no_sense_are_refused(message):
    """With the names that are nearest."""
    with pytest.raises(TrainingError, match=message):
        surgery.extend(every_kind()["gpt4o"], texts=["aa"], add=1, scope=BAD[message])
    for wrong in (3, b"Thai", [None], [True]):
        with pytest.raises(TypeError, match="scope"):
            scope_of(wrong)


PUBLISHED = [
    ("gpt2", "persian", 0, "Arabic"),
    ("qwen3", "multilingual", 3 << 20, "Devanagari"),
]
"""Vocabularies, corpora, and where they have text of a script."""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "corpus", "start", "scope"), PUBLISHED)
def test_published_vocabularies_keep_the_ids_of_every_other_character(
    name, corpus, start, scope, shared
):
    """Each on a line of its own, after a space or not, with tokens learned from real text."""
    path = shared(f"vocabularies/{name}")
    with shared(f"corpora/{corpus}.txt").open("rb") as file:
        file.seek(start)
        text = file.read(400_000)
    found = surgery.extend(path, texts=[text], add=200, scope=scope)
    assert found.report.added == 200
    others = others_than(scope)
    texts = ["\n".join(others), "\n ".join(others), "".join(others[::7]), CODE]
    assert same_ids(found.base, found.tokenizer, texts)
