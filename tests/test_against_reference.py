"""The core gives exactly what the reference gives: the same pieces, merges, ids, text.

Hypothesis draws a dialect, parts of it set by hand, texts to train on and texts to
encode, and both implementations are compared in everything that users can see.
The profile of hypothesis sets how many cases each test draws. Left out: speed, files,
and what the reference does not have (threads, batches, streams: other tests compare
the core with itself there).
"""

# ruff: noqa: RUF001 -- the texts under test are in many scripts

import json
import os
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, reject, settings, strategies as st

import bytepair
from bytepair import reference, surgery
from bytepair._training.vetoes import FORBIDDEN
from bytepair.reference import DIALECTS
from bytepair.reference.tokenizer import cut_pieces

VECTORS = Path(__file__).parent / "vectors"

BYTES = [name for name, dialect in DIALECTS.items() if dialect.units.kind == "byte"]
CHARACTERS = [name for name in DIALECTS if name not in BYTES]
TIES = ["smallest_ids", "first_seen", "largest_text"]
SPECIAL = ["<s>", "</s>", "<s><s>", "ab", "é"]

CASES = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

# Texts

SPACES = " \t\n\r\u000b\u0085\u00a0\u1680\u2028\u3000"
PROSE = "aZé中1٣²Ⅷ's’ſKẞß.-_/!#\u200c\u200d\u0301\U0001f1fa\U0001f600ǅʰ" + SPACES
assigned = st.characters(exclude_categories=("Cs", "Cn"))
few_letters = st.text("ab", max_size=30)
marks = st.text("ab_#</w>▁ ", max_size=30)
runs = st.lists(st.tuples(st.sampled_from("ab 1é\n"), st.integers(1, 20)), max_size=6)
texts = st.one_of(
    few_letters,
    marks,
    st.text(st.sampled_from(PROSE), max_size=30),
    st.text(assigned, max_size=20),
    runs.map(lambda pairs: "".join(character * n for character, n in pairs)),
    st.lists(st.sampled_from([*SPECIAL, "a", " b", "s>", "<"]), max_size=8).map(
        "".join
    ),
)
HARD_BYTES = [b"\xff", b"\xe2\x80", b"\xf0\x9f", b"\xc3", b"\xa9", b"a", b" ", b"\n"]
hard_bytes = st.lists(st.sampled_from(HARD_BYTES), max_size=12).map(b"".join)
data = st.one_of(texts, st.binary(max_size=20), hard_bytes)

# Options, named as in bytepair.train

OWN_PATTERNS = [
    "",
    "a",
    r"\w+",
    r"\s+|\S",
    r"[^a]?b{1,3}",
    r"\p{L}+(?=\s)|\s+$",
    r"(?:ab)+|\p{N}{1,2}|[\p{P}\p{S}]",
    r".",
    r"a*?b|\p{M}",
    r"\s+(?!\S)|\s",
    r"(?i:'s|K)|é",
    [r"\p{L}+", r"\p{Lu}"],
    [r"\s", r"a+", r"[^a]{2}"],
]
STEPS = [
    "nfc",
    "nfd",
    "nfkc",
    "nfkd",
    "lowercase",
    ("replace", " ", "▁"),
    ("replace", "ab", "b"),
]

targets = st.one_of(
    st.builds(dict, merges=st.integers(0, 30)),
    st.just({"merges": None}),
    st.builds(dict, vocab_size=st.integers(256, 600)),
)
common = {
    "ties": st.sampled_from(TIES),
    "min_count": st.integers(1, 4),
    "special_tokens": st.lists(st.sampled_from(SPECIAL), unique=True, max_size=3),
    "pattern": st.sampled_from(OWN_PATTERNS),
    "unmatched": st.sampled_from(["keep", "drop"]),
    "normalize": st.lists(st.sampled_from(STEPS), max_size=2),
    "min_sources": st.integers(1, 3),
}
byte_options = st.fixed_dictionaries(
    {}, optional={**common, "byte_ids": st.sampled_from(["printable", "value"])}
)
character_options = st.fixed_dictionaries(
    {},
    optional={
        **common,
        "end_mark": st.sampled_from([None, "</w>", "_", "▁", "b"]),
        "end_mark_kind": st.sampled_from(["unit", "suffix"]),
        "continuing_prefix": st.sampled_from([None, "##", "a"]),
        "unknown_token": st.sampled_from([None, "[UNK]", "<s>"]),
        "fuse_unknown": st.booleans(),
        "byte_fallback": st.booleans(),
        "lowercase": st.sampled_from(["never", "training", "always"]),
    },
)


@st.composite
def character_cases(draw):
    """Draw a dialect of characters and options that do not get in each other's way."""
    dialect, options = draw(st.sampled_from(CHARACTERS)), draw(character_options)
    if "normalize" in options:
        # The two name the same step of the core, where the last one set counts.
        options["normalize"] = [s for s in options["normalize"] if s != "lowercase"]
        options.setdefault("lowercase", "always")
    has_suffix = options.get("end_mark_kind") == "suffix" or dialect == "subword-nmt"
    if has_suffix or options.get("continuing_prefix"):
        # Bytes would stand for the marks too, and training refuses that.
        options["byte_fallback"] = False
    return dialect, options


def of_reference(dialect, options):
    """Name options as the reference does."""
    options = dict(options)
    stages = DIALECTS[dialect].split
    if "pattern" in options:
        patterns = options.pop("pattern")
        patterns = [patterns] if isinstance(patterns, str) else patterns
        stages = tuple((pattern, "keep") for pattern in patterns if pattern)
    if "unmatched" in options:
        unmatched = options.pop("unmatched")
        stages = tuple((pattern, unmatched) for pattern, _ in stages)
    if "continuing_prefix" in options:
        options["prefix"] = options.pop("continuing_prefix")
    if "normalize" in options:
        steps = options["normalize"]
        options["normalize"] = [(s,) if isinstance(s, str) else s for s in steps]
    return {**options, "split": stages}


def train_both(texts, dialect, options):
    """Train with both; ``None`` where nothing can be learned, and both say so."""
    theirs = of_reference(dialect, options)
    try:
        expected = reference.train_from_iterator(texts, dialect=dialect, **theirs)
    except ValueError as error:
        if "cannot hold the alphabet" not in str(error):
            raise
        with pytest.raises(
            bytepair.TrainingError, match=r"need \d|empty|no piece is left"
        ):
            bytepair.train_from_iterator(texts, dialect=dialect, **options)
        return None
    if not has_pieces(texts, expected, options):
        with pytest.raises(bytepair.TrainingError, match=r"empty|no piece is left"):
            bytepair.train_from_iterator(texts, dialect=dialect, **options)
        return None
    ours = bytepair.train_from_iterator(texts, dialect=dialect, **options)
    return ours, expected


def has_pieces(texts, tokenizer, options):
    """Whether training text holds any piece that is learned from."""
    special = options.get("special_tokens", ())
    dialect = tokenizer.dialect
    cut = (cut_pieces(t, dialect, special_tokens=special, training=True) for t in texts)
    n_texts = Counter(piece for pieces in cut for piece in set(pieces) if piece)
    return max(n_texts.values(), default=0) >= options.get("min_sources", 1)


def assert_same_training(ours, expected):
    """Everything that was learned is equal."""
    assert ours.vocabulary == expected.vocabulary
    assert ours.merges == expected.merges
    assert ours.inspect().merge_log == expected.inspect().merge_log
    assert ours.special_tokens == expected.special_tokens


def assert_same_encoding(ours, expected, text, **options):
    """Pieces, tokens, ids and what they decode to are equal, errors too."""
    assert ours.split(text) == expected.split(text)
    if not options:
        assert ours.tokenize(text) == expected.tokenize(text)
    try:
        ids = expected.encode(text, **options)
    except reference.UnknownTokenError:
        with pytest.raises(bytepair.UnknownTokenError, match="is not in the alphabet"):
            ours.encode(text, **options)
        return
    assert ours.encode(text, **options) == ids
    assert ours.decode(ids) == expected.decode(ids)
    assert ours.decode_bytes(ids) == expected.decode_bytes(ids)


byte_cases = st.tuples(st.sampled_from(BYTES), byte_options)
KINDS = {
    "bytes": st.tuples(st.lists(data, max_size=4), data, byte_cases),
    "characters": st.tuples(st.lists(texts, max_size=4), texts, character_cases()),
}


@CASES
@pytest.mark.parametrize("kind", KINDS)
@given(drawn=st.data(), target=targets)
def test_dialects_agree(kind, drawn, target):
    """They learn and encode the same, whatever parts are changed, unknown characters too."""
    corpus, text, (dialect, options) = drawn.draw(KINDS[kind])
    # Of characters, the text may have some that training did not see.
    seen = [*corpus, text] if kind == "bytes" else corpus
    trained = train_both(seen, dialect, {**options, **target})
    if trained is not None:
        assert_same_training(*trained)
        for one in [*corpus, text]:
            assert_same_encoding(*trained, one)


# Limits of tokens

LIMITS = {
    "max_token_bytes": st.integers(1, 6),
    "max_token_chars": st.integers(1, 4),
    "whole_characters": st.booleans(),
    "max_words": st.integers(1, 2),
    "one_script": st.booleans(),
    "forbid": st.sampled_from(
        ["colon-space", "letter-digit", r"b.|a\s", "^a|é$", "日a?"]
    ),
    "veto": st.just(lambda left, right: n_bytes(left) * 3 % 5 > n_bytes(right) % 4),
    "cuts": st.just(lambda piece: re.split("(?<=[bé])", piece)),
}


def n_bytes(text):
    """Count the bytes of a text with escaped bytes."""
    return len(os.fsencode(text))


def limits_of_reference(limits):
    """Return the limits as the reference takes them."""
    theirs = dict(limits)
    patterns = [
        FORBIDDEN.get(name, name) for name in [theirs.pop("forbid", None)] if name
    ]
    if most := theirs.pop("max_words", None):
        patterns.append(rf"[^ ▁]+([ ▁]+[^ ▁]+){{{most}}}")
    if "veto" in theirs:
        theirs["veto"] = lambda left, right: len(left) * 3 % 5 > len(right) % 4
    if "cuts" in theirs:
        theirs["cuts"] = lambda piece: [
            match.end() for match in re.finditer("(?:b|é)(?!$)".encode(), piece)
        ]
    return reference.Limits(**theirs, forbidden=tuple(patterns))


limits_of_tokens = st.fixed_dictionaries({}, optional=LIMITS)
many_bytes = st.text("abé日ひ😀я1:  ", max_size=12).map(str.encode)


byte_texts = st.lists(st.one_of(hard_bytes, many_bytes), max_size=4)
marked = st.sampled_from(["unit", "suffix"]).map(
    lambda kind: {"end_mark": "</w>", "end_mark_kind": kind, "min_count": 1}
)
# An end mark of bytes is a character of its own, or belongs to the last byte.
LIMITED = {
    "bytes": st.tuples(byte_texts, byte_cases),
    "marked bytes": st.tuples(byte_texts, st.tuples(st.just("gpt4o"), marked)),
    "characters": st.tuples(st.lists(texts, max_size=4), character_cases()),
}


@CASES
@pytest.mark.parametrize("kind", LIMITED)
@given(drawn=st.data(), limits=limits_of_tokens)
def test_limits_of_tokens_agree(kind, drawn, limits):
    """Limits of length, vetoes and cuts forbid the same merges; marks of characters do not count."""
    corpus, (dialect, options) = drawn.draw(LIMITED[kind])
    options = {**options, "merges": 30}
    theirs = {**of_reference(dialect, options), "limits": limits_of_reference(limits)}
    expected = reference.train_from_iterator(corpus, dialect=dialect, **theirs)
    if has_pieces(corpus, expected, options):
        ours = bytepair.train_from_iterator(
            corpus, dialect=dialect, **options, **limits
        )
        assert_same_training(ours, expected)


# Superwords

SUPERWORD_TEXTS = st.lists(
    st.text("abé日 ,:12!\n", max_size=40), min_size=1, max_size=3
)


@CASES
@given(
    corpus=SUPERWORD_TEXTS,
    n_words=st.integers(1, 12),
    dialect=st.sampled_from(["gpt4o", "gpt2", "llama3", "sentencepiece"]),
    pattern=st.sampled_from([None, "", r"\d", "[,:]+"]),
    ties=st.sampled_from(TIES),
    limits=limits_of_tokens,
    form=st.sampled_from(["any", "whole", "auto"]),
)
def test_superwords_agree(corpus, n_words, dialect, pattern, ties, limits, form):
    """Both stages learn the merges of the definition, and the result encodes like it."""
    corpus = [*corpus, "a b, ab: a b"]
    options = {"superwords": n_words, "dialect": dialect, "ties": ties, "merges": 25}
    options |= {"superwords": "auto"} if form == "auto" else {}
    options |= {"whole_words": True} if form == "whole" else {}
    options |= {} if pattern is None else {"superword_pattern": pattern}
    theirs = {**options, "limits": limits_of_reference(limits)}
    if pattern == "":
        theirs["superword_pattern"] = "(?!)"
    expected = reference.tokenizer.train_superwords(corpus, **theirs)
    ours = bytepair.train_from_iterator(corpus, **options, **limits)
    assert_same_training(ours, expected)
    for text in corpus:
        assert ours.encode(text) == expected.encode(text)


# Smaller vocabularies, larger ones


def sized_cases(draw, corpus, dialect, options):
    """Train to two numbers of merges, the smaller one drawn."""
    corpus = [*corpus, "ab ab"]
    options = {"special_tokens": ["<s>"], **options, "dialect": dialect}
    try:
        large = bytepair.train_from_iterator(corpus, **options, merges=30)
    except bytepair.TrainingError:  # nothing is left to learn from
        reject()
    n_merges = draw(st.integers(0, len(large.merges)))
    small = bytepair.train_from_iterator(corpus, **options, merges=n_merges)
    return corpus, options, large, small


@CASES
@pytest.mark.parametrize("cases", [byte_cases, character_cases()])
@given(drawn=st.data(), corpus=st.lists(texts, max_size=3))
def test_truncated_and_resumed_tokenizers_equal_training(cases, drawn, corpus):
    """Cutting gives the smaller tokenizer, going on from that the larger one."""
    assert_sizes_agree(*sized_cases(drawn.draw, corpus, *drawn.draw(cases)))


def assert_sizes_agree(corpus, options, large, small):
    """All ways to the two sizes lead to the same tokenizers."""
    n_merges = len(small.merges)
    for cut in (
        surgery.shorten(large, merges=n_merges),
        surgery.shorten(large, small.n_vocab),
    ):
        assert cut == small
        assert cut.inspect().merge_log == small.inspect().merge_log
    resumed = bytepair.train_from_iterator(corpus, **options, resume=small, merges=30)
    assert resumed.merges == large.merges
    assert [count for *_, count in resumed.inspect().merge_log] == [
        count for *_, count in large.inspect().merge_log
    ]
    assert resumed.vocabulary[: small.n_vocab] == small.vocabulary
    assert surgery.shorten(resumed, merges=n_merges) == small
    plain = {name: v for name, v in options.items() if name != "special_tokens"}
    if "unknown_token" in plain or plain["dialect"] == "unknown-token":
        return  # it is a name too, and stays in front of new tokens
    small, large = (
        bytepair.train_from_iterator(corpus, **plain, merges=n) for n in (n_merges, 30)
    )
    resumed = bytepair.train_from_iterator(corpus, **plain, resume=small, merges=30)
    assert (resumed, resumed.inspect().merge_log) == (large, large.inspect().merge_log)


# Special tokens, counts


special_text = st.lists(
    st.sampled_from([*SPECIAL, "a", " b", "s>", "<", "<s", "é́", "\n"]), max_size=12
).map("".join)


@CASES
@given(
    st.lists(special_text, min_size=1, max_size=3),
    special_text,
    st.sampled_from(sorted(DIALECTS)),
    st.lists(st.sampled_from(SPECIAL), unique=True),
    st.sets(st.sampled_from(SPECIAL)),
    st.sampled_from([{}, {"normalize": [("prepend", "▁")]}]),
)
def test_special_tokens_agree(
    corpus, text, dialect, special_tokens, allowed, normalize
):
    """Training cuts at special tokens; encoding finds exactly those that are allowed."""
    options = {"special_tokens": special_tokens, "merges": 20, **normalize}
    if dialect == "jurafsky-martin":
        options["lowercase"] = "always"
    if dialect in CHARACTERS:
        options["unknown_token"] = "[UNK]"
    trained = train_both(corpus, dialect, options)
    if trained is not None:
        assert_same_training(*trained)
        allowed = sorted(allowed & set(special_tokens))
        assert_same_encoding(*trained, text)
        assert_same_encoding(*trained, text, allowed_special=allowed)
        everything = trained[1].encode(text, allowed_special=special_tokens)
        assert trained[0].encode(text, allowed_special="all") == everything


COUNTED = {
    "texts": (texts, sorted(DIALECTS)),
    "bytes": (hard_bytes, BYTES),  # which need not be UTF-8
}


@CASES
@pytest.mark.parametrize("kind", COUNTED)
@given(
    drawn=st.data(),
    ties=st.sampled_from(TIES),
    min_count=st.integers(1, 2**33),
    merges=st.integers(0, 30),
)
def test_counts_agree(kind, drawn, ties, min_count, merges):
    """Pieces that were counted before give the same merges, also beyond 32 bits."""
    pieces, dialects = COUNTED[kind]
    counts = drawn.draw(st.dictionaries(pieces, st.integers(0, 2**40), max_size=8))
    text, dialect = drawn.draw(pieces), drawn.draw(st.sampled_from(dialects))
    counts = {piece: n for piece, n in counts.items() if piece and n}
    options = {"ties": ties, "min_count": min_count, "merges": merges}
    if not counts:
        with pytest.raises(bytepair.TrainingError, match="empty"):
            bytepair.train_from_counts(counts, dialect=dialect, **options)
        return
    ours = bytepair.train_from_counts(counts, dialect=dialect, **options)
    expected = reference.train_from_counts(counts, dialect=dialect, **options)
    assert_same_training(ours, expected)
    assert_same_encoding(ours, expected, text)


# Golden vectors


@pytest.mark.parametrize("dialect", ["sennrich", "unknown-token", "gpt2"])
def test_a_count_of_0_is_no_occurrence(dialect):
    """The letters of such a piece are in no alphabet, for the core and for the reference."""
    counts = {"zq": 0, "ba": 3, "ab": 3}
    own = bytepair.train_from_counts(counts, dialect=dialect, merges=1)
    theirs = reference.train_from_counts(counts, dialect=dialect, merges=1)
    assert own.tokenize("abba") == theirs.tokenize("abba")
    assert own.n_vocab == len(theirs.vocabulary)
    without = {"ba": 3, "ab": 3}
    assert own == bytepair.train_from_counts(without, dialect=dialect, merges=1)


def test_golden_normal_forms_hold():
    """The core normalizes every text of the vectors as every list of steps says."""
    found = json.loads((VECTORS / "normalize.json").read_text(encoding="ascii"))
    texts = [bytes.fromhex(text) for text in found["texts"]]
    for case in found["cases"]:
        steps = [tuple(step) for step in case["steps"]]
        tokenizer = bytepair.train_from_counts(
            {"a": 1}, merges=0, pattern="", normalize=steps
        )
        for text, normalized in zip(texts, case["normalized"], strict=True):
            assert b"".join(tokenizer.split(text)).hex() == normalized, steps
