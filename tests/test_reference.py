"""The reference: its examples, and what holds for every text and vocabulary."""

# ruff: noqa: RUF001 -- the texts under test are in many scripts

import doctest
import importlib
import json
import pkgutil
import random
import re
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from bytepair import reference
from bytepair.reference import DIALECTS, tiny, train_from_counts, train_from_iterator
from bytepair.reference.encode import apply_merges
from bytepair.reference.split import split, to_bytes, to_text
from bytepair.reference.train import merge
from bytepair.reference.unicode import class_ranges, complement, expand
from bytepair.reference.units import symbols

MODULES = [module.name for module in pkgutil.iter_modules(reference.__path__)]
BYTE_DIALECTS = [name for name, d in DIALECTS.items() if d.units.kind == "byte"]
COMPLETE = ["gpt2", "gpt4", "gpt4o", "llama3", "qwen", "tekken"]
TIES = ["smallest_ids", "first_seen", "largest_text"]

# Few letters make many ties and runs; the rest are characters that splitters turn on.
letters = st.text("ab", max_size=12)
words = st.text("abc_", min_size=1, max_size=8)
counted_words = st.dictionaries(words, st.integers(1, 9), min_size=1, max_size=8)
prose = st.text(st.sampled_from("aZé中1٣ \t\n\r'’sſ.-_/\u200c\u3000\U0001f1fa"))
texts = st.one_of(st.text(), prose)


@pytest.mark.parametrize("name", ["", *MODULES])
def test_examples_in_docstrings_hold(name):
    """The package and every module have examples, and they run."""
    module = importlib.import_module(f"bytepair.reference.{name}".rstrip("."))
    result = doctest.testmod(module)
    assert (result.failed, result.attempted > 0) == (0, True)


# The first reading


@given(st.text(min_size=1) | letters.filter(bool), st.integers(0, 12), texts)
def test_the_first_reading_equals_the_reference(corpus, n_merges, text):
    """``tiny`` learns the merges of the dialect byte-stream, and gives its ids and texts."""
    merges = tiny.train(corpus, n_merges)
    tokenizer = train_from_iterator([corpus], dialect="byte-stream", merges=n_merges)
    assert list(merges.values()) == list(range(256, 256 + len(tokenizer.merges)))
    parts = [tuple(tiny_bytes(id_, merges) for id_ in pair) for pair in merges]
    assert parts == tokenizer.merges
    for sample in (corpus, text):
        ids = tiny.encode(sample, merges)
        assert ids == tokenizer.encode(sample)
        assert tiny.decode(ids, merges) == tokenizer.decode(ids) == sample


def tiny_bytes(id_, merges):
    """Spell the token of an id, from the pairs that made it."""
    if id_ < 256:
        return bytes([id_])
    (pair,) = (pair for pair, result in merges.items() if result == id_)
    return b"".join(tiny_bytes(part, merges) for part in pair)


# Split


@given(texts, st.sampled_from(["keep", "drop"]))
def test_split_equals_a_search_for_the_leftmost_match(text, unmatched):
    """Matching at each position finds what searching finds, if no match is empty."""
    pattern = r"\p{L}+|\p{N}{1,3}|\s+(?!\S)|'s"
    compiled = importlib.import_module("regex").compile(f"({expand(pattern)})")
    parts = compiled.split(text)
    expected = parts if unmatched == "keep" else parts[1::2]
    pieces = split(text, [(pattern, unmatched)])
    assert list(pieces) == [part for part in expected if part]


@given(letters)
def test_an_empty_match_is_no_match(text):
    """A pattern that always matches the empty text first splits nothing."""
    assert list(split(text, [("|a", "keep")])) == ([text] if text else [])


@given(texts, st.sampled_from(BYTE_DIALECTS))
def test_kept_pieces_join_to_the_text(text, dialect):
    """A splitter that keeps what it does not match loses nothing and adds no piece."""
    pieces = list(split(text, DIALECTS[dialect].split))
    assert "".join(pieces) == text
    assert "" not in pieces


@pytest.mark.parametrize("dialect", COMPLETE)
@given(text=texts)
def test_some_model_patterns_match_everything(dialect, text):
    """These need no rule for unmatched text; DeepSeek's stages leave controls."""
    ((pattern, _),) = DIALECTS[dialect].split
    assert "".join(split(text, [(pattern, "drop")])) == text


@given(st.binary())
def test_bytes_that_are_no_utf8_come_back(data):
    """Text made of any bytes gives the same bytes."""
    assert to_bytes(to_text(data)) == data


def test_an_invalid_byte_is_in_no_class():
    """Only a negated class and the dot match it, one byte at a time."""
    text = to_text(b"\xff\xe2\x80")
    assert len(text) == 3
    for pattern in (r"\P{L}", r"\W", r"\S", r"\D", ".", r"[^\s\p{L}\p{N}]"):
        assert list(split(text, [(pattern, "drop")])) == list(text)
    for pattern in (r"\p{L}", r"\w", r"\s", r"\d", r"\p{C}", r"[\p{S}\p{P}\p{M}]"):
        assert list(split(text, [(pattern, "drop")])) == []


@pytest.mark.parametrize("pattern", [r"\b", r"\h", "[[a]]", "[a&&b]", "(?m)a$", r"\pQ"])
def test_patterns_without_a_fixed_meaning_are_refused(pattern):
    """What engines read in different ways is an error and never a guess."""
    with pytest.raises(ValueError, match=re.escape(pattern[:2])):
        expand(pattern)


def test_the_end_of_text_is_not_before_a_last_line_end():
    """``$`` matches at the very end alone, as in Rust."""
    assert list(split("a\n", [("a$|\n", "drop")])) == ["\n"]


@pytest.mark.parametrize("escape", [r"\p{L}", r"\w", r"\s", r"\d", r"\p{Han}"])
def test_complement_is_its_own_inverse(escape):
    """A class and its negation share no character and leave none out."""
    ranges = class_ranges(escape)
    assert complement(complement(ranges)) == ranges


# Train


@given(counted_words, st.sampled_from(TIES))
def test_every_merge_makes_a_new_token(counts, ties):
    """No two merges make the same token, whatever the ties."""
    tokenizer = train_from_counts(counts, dialect="gpt2", ties=ties, min_count=1)
    assert len(set(tokenizer.tokens)) == len(tokenizer.tokens)
    assert len(tokenizer.tokens) == 256 + len(tokenizer.merges)


@given(counted_words, st.sampled_from(["smallest_ids", "largest_text"]), st.randoms())
def test_training_ignores_the_order_of_pieces(counts, ties, rng):
    """Without ``first_seen``, only the counts matter."""
    shuffled = list(counts.items())
    rng.shuffle(shuffled)
    one = train_from_counts(counts, dialect="sennrich", ties=ties)
    two = train_from_counts(dict(shuffled), dialect="sennrich", ties=ties)
    assert one == two


@given(st.lists(letters))
def test_counts_and_text_train_alike(texts):
    """A text is no more than its counted pieces, in order of first occurrence."""
    counts = Counter(word for text in texts for word in text.split())
    from_text = train_from_iterator(texts, dialect="sennrich")
    assert from_text == train_from_counts(counts, dialect="sennrich")


@given(st.lists(words), st.integers(0, 10))
def test_first_seen_is_the_first_in_the_text(words, n_merges):
    """Among the most frequent pairs the text itself, merged so far, has it first."""
    options = {"dialect": "sennrich", "min_count": 1, "merges": n_merges}
    tokenizer = train_from_iterator([" ".join(words)], **options)
    segmented = [symbols(word.encode(), tokenizer.dialect.units) for word in words]
    for left, right, n_pairs in tokenizer.learned:
        pairs = [pair for word in segmented for pair in pairwise(word)]
        counts = Counter(pairs)
        assert n_pairs == max(counts.values())
        assert (left, right) == next(p for p in pairs if counts[p] == n_pairs)
        segmented = [merge(word, (left, right)) for word in segmented]


@given(counted_words, st.integers(1, 5))
def test_training_stops_below_min_count(counts, min_count):
    """Every merged pair is frequent enough, and the counts never grow."""
    tokenizer = train_from_counts(counts, dialect="gpt2", min_count=min_count)
    n_pairs = [n for _, _, _, n in tokenizer.inspect().merge_log]
    assert n_pairs == sorted(n_pairs, reverse=True)
    assert all(n >= min_count for n in n_pairs)


def test_vocab_size_counts_all_tokens():
    """Alphabet, merges, the unknown token and special tokens, in this order."""
    options = {"dialect": "unknown-token", "special_tokens": ["<s>", "</s>"]}
    tokenizer = train_from_counts({"hug": 10, "pug": 5}, vocab_size=8, **options)
    assert tokenizer.vocabulary == ["g", "h", "p", "u", "ug", "[UNK]", "<s>", "</s>"]
    assert tokenizer.special_tokens == {"<s>": 6, "</s>": 7}


def test_vocab_size_below_the_alphabet_is_an_error():
    """Nothing can be left out of the alphabet."""
    with pytest.raises(ValueError, match="alphabet of 256"):
        train_from_counts({}, dialect="gpt2", vocab_size=100)


def test_character_alphabets_are_sorted_as_written():
    """Marks joined to a letter sort with it; a mark of its own comes last."""
    suffix = train_from_counts({"ab": 1, "ba": 1}, dialect="subword-nmt")
    assert suffix.vocabulary == ["a", "a</w>", "b", "b</w>"]
    unit = train_from_counts({"zé": 1}, dialect="sennrich")
    assert unit.vocabulary == ["z", "é", "</w>"]
    fallback = train_from_counts({"a": 1}, dialect="sentencepiece")
    assert fallback.vocabulary[0] == "<0x00>"
    assert fallback.vocabulary[255:] == ["<0xFF>", "a"]


# Encode and decode


@given(st.lists(st.binary() | texts), st.binary(), st.sampled_from(BYTE_DIALECTS))
def test_byte_dialects_give_back_any_bytes(corpus, data, dialect):
    """Decoding undoes encoding, for bytes that are no UTF-8 too."""
    tokenizer = train_from_iterator([*corpus, data], dialect=dialect, merges=20)
    assert tokenizer.decode_bytes(tokenizer.encode(data)) == data


@given(counted_words, st.sampled_from(sorted(DIALECTS)), st.sampled_from(TIES))
def test_encoding_a_training_piece_repeats_training(counts, dialect, ties):
    """Lowest rank first ends where applying every merge in order ends."""
    tokenizer = train_from_counts(counts, dialect=dialect, ties=ties, min_count=1)
    for word in counts:
        segmented = symbols(word.encode(), tokenizer.dialect.units)
        ranked = apply_merges(segmented, tokenizer.ranks)
        for left, right, _ in tokenizer.learned:
            segmented = merge(segmented, (left, right))
        assert ranked == segmented


@given(st.lists(words), st.sampled_from(["sennrich", "subword-nmt"]))
def test_end_marks_become_spaces(words, dialect):
    """Words come back parted by one space, none at the end."""
    text = " ".join(words)
    tokenizer = train_from_iterator([text], dialect=dialect, merges=10)
    assert tokenizer.decode(tokenizer.encode(text)) == text


@given(st.text(min_size=1))
def test_byte_fallback_encodes_any_character(text):
    """Characters that never occurred in training become their bytes."""
    tokenizer = train_from_counts({"a": 1}, dialect="sentencepiece", normalize=())
    assert tokenizer.decode_bytes(tokenizer.encode(text)) == text.encode()
    assert tokenizer.tokenize("aé") == ["a", "<0xC3>", "<0xA9>"]


def test_a_fallback_byte_is_not_the_text_that_looks_like_it():
    """``<0x41>`` and ``A`` stand for the same byte and are two tokens."""
    tokenizer = train_from_counts({"A<0x41>": 1}, dialect="sentencepiece", min_count=1)
    assert tokenizer.vocabulary.count("<0x41>") == 1
    assert tokenizer.encode("A") != [0x41]
    assert tokenizer.decode_bytes([0x41]) == b"A"


def test_an_unknown_character_is_an_error_or_shows_as_itself():
    """``encode`` has no id for it; ``tokenize`` needs none."""
    tokenizer = train_from_counts({"ab": 3}, dialect="sennrich")
    assert tokenizer.tokenize("abc") == ["ab", "c", "</w>"]
    with pytest.raises(reference.UnknownTokenError, match="'c' is not in the voc"):
        tokenizer.encode("abc")


def test_unknown_tokens_in_a_row_can_be_fused():
    """Each unknown character is one token, unless they are fused."""
    for fuses, tokens in ((False, ["[UNK]", "[UNK]", "hug"]), (True, ["[UNK]", "hug"])):
        options = {"dialect": "unknown-token", "fuse_unknown": fuses}
        assert train_from_counts({"hug": 10}, **options).tokenize("xxhug") == tokens


def test_merge_order_counts_and_not_id_order():
    """The pair whose merge comes first wins, whatever the ids."""
    a, b, c = (reference.Token(letter, "u") for letter in (b"a", b"b", b"c"))
    ab, bc = reference.Token(b"ab", "uu"), reference.Token(b"bc", "uu")
    learned = (reference.Merge(b, c, 0), reference.Merge(a, b, 0))
    tokenizer = reference.Tokenizer(DIALECTS["gpt2"], (a, b, c, ab, bc), learned)
    assert tokenizer.encode("abc") == [0, 4]


def test_ignore_merges_takes_a_piece_that_is_a_token():
    """No merge leads to the token, and the piece is the token all the same."""
    learned = train_from_counts({"ab": 2}, dialect="gpt2")
    whole = (*learned.tokens, reference.Token(b"abc", "uuu"))
    parts = (learned.dialect, whole, learned.learned)
    plain = reference.Tokenizer(*parts)
    ignoring = reference.Tokenizer(*parts, ignore_merges=True)
    assert plain.encode("abc") == [256, plain.encode("c")[0]]
    assert ignoring.encode("abc") == [257]


def test_special_tokens_are_text_unless_allowed():
    """The leftmost and longest of the allowed ones is cut out."""
    names = ["<s>", "<s><s>"]
    tokenizer = train_from_iterator([], dialect="gpt2", special_tokens=names)
    assert tokenizer.encode("<s><s><s>", allowed_special={"<s>"}) == [256] * 3
    both = tokenizer.encode("<s><s><s>", allowed_special=names)
    assert both == [257, 256]
    assert len(tokenizer.encode("<s>")) == 3
    assert tokenizer.decode(both) == "<s><s><s>"


def test_a_prefix_marks_characters_that_continue_a_piece():
    """``##`` is written once, and never in front of a piece."""
    options = {"dialect": "sennrich", "end_mark": None, "prefix": "##"}
    tokenizer = train_from_counts({"xab": 2, "yab": 2}, **options)
    letters, learned = ["##a", "##b", "x", "y"], ["##ab", "xab", "yab"]
    assert tokenizer.vocabulary == letters + learned
    assert tokenizer.tokenize("xab zab") == ["xab", "z", "##ab"]
    assert tokenizer.decode(tokenizer.encode("yab")) == "yab"


@pytest.mark.parametrize("id_", [-1, 256, 10**30])
def test_ids_outside_the_vocabulary_are_errors(id_):
    """The message names the id and the last that there is."""
    tokenizer = train_from_iterator([], dialect="gpt2")
    with pytest.raises(reference.UnknownTokenError, match=f"{id_}.*last is 255"):
        tokenizer.decode([id_])


def test_character_dialects_refuse_bytes_that_are_no_utf8():
    """The error names the offset of the first bad byte."""
    with pytest.raises(UnicodeDecodeError, match="position 3"):
        train_from_iterator([b"abc\xff"], dialect="sennrich")


def test_lone_surrogates_are_refused():
    """They are no text, and no bytes either."""
    tokenizer = train_from_iterator([], dialect="gpt2")
    with pytest.raises(UnicodeEncodeError):
        tokenizer.encode("\ud800")


# Against other software


def random_words(rng):
    """Make a few words of few letters, many of them runs, each several times."""
    some_letters = "abcde"[: rng.randint(1, 5)]
    found = []
    for _ in range(rng.randint(1, 12)):
        longest, n_runs = rng.choice([1, 1, 6]), range(rng.randint(1, 12))
        runs = [rng.choice(some_letters) * rng.randint(1, longest) for _ in n_runs]
        found += ["".join(runs)] * rng.randint(1, 5)
    return found


def test_smallest_ids_learns_what_hf_tokenizers_learns():
    """Byte-level training on random corpora gives equal merges and ids."""
    tokenizers = pytest.importorskip("tokenizers", reason="compares with tokenizers")
    rng = random.Random(0)
    for _ in range(60):
        corpus = " ".join(random_words(rng))
        min_count = rng.choice([1, 2])
        options = {"dialect": "gpt2", "vocab_size": 300, "min_count": min_count}
        ours = train_from_iterator([corpus], **options)
        theirs = train_hf(tokenizers, corpus, 300, min_count)
        model = json.loads(theirs.to_str())["model"]
        merges = [(hf_name(left), hf_name(right)) for left, right in ours.merges]
        assert merges == [tuple(pair) for pair in model["merges"]]
        assert ours.encode(corpus) == theirs.encode(corpus).ids


def train_hf(tokenizers, text, vocab_size, min_count):
    """Train HF's byte-level BPE on a text."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    byte_level = tokenizers.pre_tokenizers.ByteLevel
    tokenizer.pre_tokenizer = byte_level(add_prefix_space=False)
    options = {"vocab_size": vocab_size, "min_frequency": min_count}
    options |= {"initial_alphabet": byte_level.alphabet(), "show_progress": False}
    trainer = tokenizers.trainers.BpeTrainer(**options)
    tokenizer.train_from_iterator([text], trainer)
    return tokenizer


def hf_name(token):
    """Write a token of letters and spaces as HF does."""
    return token.decode().replace(" ", "Ġ")


TIKTOKEN_NAMES = {"gpt2": "gpt2", "gpt4": "cl100k_base", "gpt4o": "o200k_base"}


@pytest.mark.parametrize("dialect", sorted(TIKTOKEN_NAMES))
@given(text=texts)
def test_model_patterns_split_as_tiktoken_does(dialect, text):
    """Our pattern in our engine gives the pieces of tiktoken's pattern in its engine."""
    tiktoken = pytest.importorskip("tiktoken", reason="compares with tiktoken")
    text = text[:20]
    # Where each part of the text is a token, tiktoken's tokens are its pieces.
    cuts = [len(text[:n].encode()) for n in range(len(text) + 1)]
    data = text.encode()
    parts = {data[i:j] for i in cuts for j in cuts if j - i > 1}
    singles = [bytes([byte]) for byte in range(256)]
    tokens = [*singles, *sorted(parts, key=lambda part: (len(part), part))]
    ranks = {token: rank for rank, token in enumerate(tokens)}
    pattern = tiktoken_pattern(TIKTOKEN_NAMES[dialect])
    parts = {"mergeable_ranks": ranks, "special_tokens": {}}
    encoding = tiktoken.Encoding(dialect, pat_str=pattern, **parts)
    theirs = [tokens[id_].decode() for id_ in encoding.encode_ordinary(text)]
    assert list(split(text, DIALECTS[dialect].split)) == theirs


def tiktoken_pattern(name):
    """Read the pattern of one of tiktoken's encodings, without its vocabulary."""
    public = importlib.import_module("tiktoken_ext.openai_public")
    with pytest.MonkeyPatch.context() as patch:
        for loader in ("load_tiktoken_bpe", "data_gym_to_mergeable_bpe_ranks"):
            patch.setattr(public, loader, lambda *_, **__: {})
        return public.ENCODING_CONSTRUCTORS[name]()["pat_str"]
