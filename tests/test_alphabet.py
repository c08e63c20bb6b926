"""Alphabets that hold only frequent characters: which, what is learned, what becomes of the rest.

The publishers' libraries say which characters stay; the reference says what is learned.
"""

import json
import os
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from tests.commands import refused, run

import bytepair
from bytepair import TokenizerError, TrainingError, UnknownTokenError

reference = pytest.importorskip("bytepair.reference", reason="needs regex")

DIALECTS = ["sennrich", "subword-nmt", "jurafsky-martin", "unknown-token"]
DIALECTS.append("sentencepiece")
CHINESE = Path(os.environ.get("BYTEPAIR_SHARED", "."), "corpora", "chinese.txt")
TEXT = "大家好。大家都好 hello hello halo žluťoučký kůň. 好大 日本 ﬁ x"


def characters_of(tokenizer):
    """List the characters that have ids, marks left out."""
    found = {token.replace("</w>", "") for token in tokenizer.vocabulary}
    return {token for token in found if len(token) == 1}


def ids_or_none(tokenizer, text):
    """Encode a text, if no character of it is an error."""
    try:
        return tokenizer.encode(text)
    except (UnknownTokenError, reference.UnknownTokenError):
        return None


# What is learned


@given(
    texts=st.lists(st.text(alphabet="abcé日 _", max_size=12), min_size=1, max_size=6),
    dialect=st.sampled_from(DIALECTS),
    ties=st.sampled_from(["smallest_ids", "first_seen", "largest_text"]),
    coverage=st.none() | st.fractions(min_value=Fraction(1, 50), max_value=1),
    most=st.none() | st.integers(1, 6),
    fallback=st.booleans(),
)
def test_training_and_encoding_are_those_of_the_reference(
    texts, dialect, ties, coverage, most, fallback
):
    """The same ids, merges and counts; and encoding the corpus gives what training ended with."""
    options = {"dialect": dialect, "ties": ties, "min_count": 1, "merges": 6}
    if dialect == "sennrich":
        options["byte_fallback"] = fallback
    texts = ["a", *texts]
    steps = []
    kept = {"character_coverage": coverage, "max_alphabet": most}
    tell = steps.append
    found = bytepair.train_from_iterator(texts, **options, **kept, progress=tell)
    limits = reference.Limits(**kept)
    expected = reference.train_from_iterator(texts, limits=limits, **options)
    assert found.vocabulary == expected.vocabulary
    assert found.inspect().merge_log == expected.inspect().merge_log
    for text in texts:
        assert ids_or_none(found, text) == ids_or_none(expected, text)
    left_out = steps[-1].report["left_out"]
    assert (left_out is None) == (coverage is None and most is None)


def test_no_token_reaches_over_a_character_that_is_left_out():
    """Its neighbours stay apart in training, as in encoding, where the unknown token stands."""
    texts = ["axb"] * 9 + ["ab", "aabb" * 9]
    options = {"dialect": "unknown-token", "max_alphabet": 2}
    tokenizer = bytepair.train_from_iterator(texts, **options)
    assert tokenizer.tokenize("axb") == ["a", "[UNK]", "b"]
    counts = {"axb": 9, "ab": 1}
    found = bytepair.train_from_counts(counts, min_count=1, **options)
    assert found.inspect().merge_log == [(0, 1, 2, 1)]


def test_what_is_left_out_is_told():
    """Characters, occurrences and their share of the text, weighted as files are."""
    steps = []
    bytepair.train_from_counts(
        {"aab": 3, "cd": 1}, dialect="sennrich", max_alphabet=2, progress=steps.append
    )
    expected = {"characters": 2, "occurrences": 2, "share": 2 / 11, "stand_in": None}
    assert steps[-1].report["left_out"] == expected


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5, 6])
def test_of_equally_frequent_characters_those_of_smaller_code_points_stay(number):
    """Whatever the order of the texts."""
    for texts in (["日 é b a c Z"], ["Z c a b é 日"]):
        options = {"dialect": "unknown-token", "max_alphabet": number, "merges": 0}
        found = bytepair.train_from_iterator(texts, **options)
        assert sorted(characters_of(found)) == list("Zabcé日")[:number]


# As the publishers have it


def texts_of_corpus():
    """Give lines of Chinese, or of a little of everything where there is no corpus."""
    if CHINESE.exists():
        return CHINESE.read_text()[:60_000].split("\n")
    return [TEXT] * 20


@pytest.mark.parametrize("number", [5, 60, 200])
def test_an_alphabet_is_that_of_the_trainers_of_hugging_face(number):
    """The alphabet and merges of ``limit_alphabet``, where ties allow and words hold what stays.

    There a character that is left out goes out of its word, whose rest closes up; here nothing
    closes up, as nothing does in encoding. So here such characters stand alone.
    """
    tokenizers = pytest.importorskip("tokenizers")
    lines = texts_of_corpus()
    n_of = Counter("".join("".join(lines).split()))
    ranked = sorted(n_of, key=lambda character: (-n_of[character], character))
    number = min(number, len(ranked) - 1)
    while n_of[ranked[number - 1]] == n_of[ranked[number]]:
        number -= 1  # a tie, which is open there
    kept = {*ranked[:number], " "}
    apart = ["".join(c if c in kept else f" {c} " for c in line) for line in lines]
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="[UNK]"))
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    sizes = {"vocab_size": number + 50, "limit_alphabet": number, "min_frequency": 2}
    trainer = tokenizers.trainers.BpeTrainer(**sizes, show_progress=False)
    theirs.train_from_iterator(apart, trainer)
    options = {"dialect": "unknown-token", "pattern": r"\S+", "unmatched": "drop"}
    options |= {"normalize": (), "ties": "smallest_ids", "min_count": 2}
    sizes = {"max_alphabet": number, "vocab_size": number + 51}
    ours = bytepair.train_from_iterator(apart, **options, **sizes)
    model = json.loads(theirs.to_str())["model"]
    assert characters_of(ours) == kept - {" "}
    assert {token for token in model["vocab"] if len(token) == 1} == kept - {" "}
    assert [list(merge) for merge in ours.merges] == model["merges"]


@pytest.mark.parametrize("coverage", [0.98, 0.99, 0.9995, 1.0])
def test_an_alphabet_is_that_of_sentencepiece(tmp_path, coverage):
    """The characters that ``character_coverage`` requires there, and no others."""
    sentencepiece = pytest.importorskip("sentencepiece")
    lines = [line for line in texts_of_corpus() if line.strip()]
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(lines))
    options = {"model_type": "bpe", "vocab_size": 8000, "hard_vocab_limit": False}
    options |= {"normalization_rule_name": "identity", "minloglevel": 2}
    options |= {"remove_extra_whitespaces": False, "max_sentence_length": 1 << 20}
    options |= {"input": str(path), "model_prefix": str(tmp_path / "m")}
    train = sentencepiece.SentencePieceTrainer.train
    train(**options, character_coverage=coverage)
    model = sentencepiece.SentencePieceProcessor(str(tmp_path / "m.model"))
    pieces = {model.id_to_piece(id_) for id_ in range(model.get_piece_size())}
    theirs = {piece for piece in pieces if len(piece) == 1}
    steps = (("prepend", "▁"), ("replace", " ", "▁"))
    options = {"dialect": "sentencepiece", "normalize": steps, "merges": 0}
    options["character_coverage"] = coverage
    ours = bytepair.train_from_iterator(lines, **options)
    alphabet = {token for token in ours.vocabulary if len(token) == 1}
    assert alphabet == theirs


# The command line, and what is refused


def test_the_command_line_leaves_rare_characters_out_and_says_so(tmp_path):
    """Without the option the way out is named; with it the summary says what was left out."""
    path = tmp_path / "corpus.txt"
    path.write_text("".join(map(chr, range(0x4E00, 0x4E00 + 500))) + "大家好" * 3_000)
    out, log = tmp_path / "t.json", tmp_path / "log.jsonl"
    command = ["train", path, "-o", out, "--dialect", "sentencepiece"]
    command += ["--vocab-size", 300]
    told = refused(*command)
    assert "by a character coverage, such as 0.9995" in told
    assert "by the size of the alphabet" in told
    for option in (["--character-coverage", "0.9"], ["--max-alphabet", "4"]):
        done = run(*command, *option, "--log", log)
        (line,) = [x for x in done.stderr.splitlines() if x.startswith("left out")]
        assert "characters, 5." in line
        assert line.endswith("% of the text; they are encoded as bytes")
        stored = bytepair.read_log(log).training
        name = option[0].removeprefix("--").replace("-", "_")
        assert stored[name] == float(option[1])
        assert bytepair.Tokenizer.from_file(out).n_vocab <= 300
    command = ["train", path, "-o", tmp_path / "t.bytepair", "--dialect", "sennrich"]
    told = run(*command, "--max-alphabet", 4, "--merges", 3).stderr
    assert "they cannot be encoded without --byte-fallback" in told


@pytest.mark.parametrize("name", ["character_coverage", "max_alphabet"])
def test_limits_without_a_meaning_are_refused_by_name(name):
    """For bytes, and out of range: before any text."""

    def texts():
        raise AssertionError
        yield

    def train(**options):
        return bytepair.train_from_iterator(texts(), **options)

    for dialect in ("gpt4o", "byte-stream"):
        with pytest.raises(TokenizerError, match=rf"{name}.*bytes"):
            train(dialect=dialect, **{name: 1})
    for wrong in (0, -1, 2**70 if name == "max_alphabet" else 1.5):
        with pytest.raises(TrainingError, match=name):
            train(dialect="sennrich", **{name: wrong})


def test_going_on_keeps_the_alphabet(tmp_path):
    """The same options go on from a tokenizer whose alphabet lacks characters."""
    texts = [TEXT] * 5
    options = {"dialect": "unknown-token", "ties": "smallest_ids"}
    at_once = bytepair.train_from_iterator(texts, merges=9, max_alphabet=9, **options)
    first = bytepair.train_from_iterator(texts, merges=4, max_alphabet=9, **options)
    for again in ({}, {"max_alphabet": 9}):
        again |= {"resume": first, **options}
        later = bytepair.train_from_iterator(texts, merges=9, **again)
        assert later.merges == at_once.merges
        assert later.vocabulary[: first.n_vocab] == first.vocabulary
