"""Segmentation and its neighbours: what subword-nmt's own commands give."""

import codecs
import collections
import io
import json
import math
import random
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from tests import commands
from tests.vectors import make_subword_nmt as vectors
from tests.vectors.make_subword_nmt import LIMITS, LINE_ENDS, OPTIONS, random_lines

import bytepair
from bytepair import FormatError, PatternError, Tokenizer, TokenizerError
from bytepair.segmentation import Segmenter, count_words, join_words, write_vocabulary

CORPORA = ["persian", "chinese", "multilingual", "english-docs", "spanish-novels"]


def subword_nmt(*arguments, data=None):
    """Run a command of subword-nmt, and give what it writes."""
    pytest.importorskip("subword_nmt")
    return vectors.ask(*arguments, data=data)


def run(*arguments, data=b"", code=0):
    """Run a command of bytepair, and give what it writes, of errors the message."""
    found = commands.run(*arguments, stdin=data, code=code)
    return found.stdout_bytes if code == 0 else found.stderr


def beginning(path, n_bytes):
    """Give the beginning of a corpus, as far as it is UTF-8."""
    with path.open("rb") as file:
        return file.read(n_bytes).decode(errors="ignore")


@pytest.fixture
def codes(tmp_path):
    """Learn some codes, whose merges make words of the letters above."""
    path = tmp_path / "codes"
    text = random_lines(1, 5_000, [" "])
    trained = bytepair.train_from_iterator([text], merges=200, dialect="subword-nmt")
    trained.save(path, format="subword-nmt")
    return path


# Stored answers

STORED = json.loads(vectors.PATH.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", LIMITS)
def test_stored_codes_are_learned(tmp_path, name):
    """By the options that mean the same."""
    found = learned(STORED["text"], tmp_path, *LIMITS[name][0])
    assert found.decode() == STORED["codes"][name]


def test_stored_segments_are_written(tmp_path):
    """With every option, from any white space; and the vocabulary, and what is below its threshold."""
    codes, vocabulary = tmp_path / "codes", tmp_path / "vocabulary"
    codes.write_text(STORED["codes"]["all"], encoding="utf-8")
    data = STORED["text"].encode()
    for options, expected in zip(OPTIONS, STORED["segmented"], strict=True):
        found = run("segment", codes, *options, data=data)
        assert found.decode() == expected
    data = STORED["plain text"].encode()
    run("segment", codes, "--write-vocabulary", vocabulary, data=data)
    assert vocabulary.read_text(encoding="utf-8") == STORED["vocabulary"]
    options = ["--vocabulary", vocabulary, "--vocabulary-threshold", vectors.THRESHOLD]
    found = run("segment", codes, *options, data=data)
    assert found.decode() == STORED["above the threshold"]


@pytest.mark.slow
def test_the_stored_answers_are_those_that_subword_nmt_gives(tmp_path):
    """Today's library gives the file."""
    pytest.importorskip("subword_nmt")
    assert vectors.build(tmp_path) == STORED


# Learning


def learned(text, folder, *options):
    """Give the codes that the command learns from a text."""
    path = folder / "corpus.txt"
    path.write_bytes(text.encode())
    run("train", path, "-o", folder / "own", "--dialect", "subword-nmt", *options,
        "--format", "subword-nmt", "-q")  # fmt: skip
    return (folder / "own").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("name", CORPORA)
def test_codes_are_those_that_learn_bpe_learns(shared, tmp_path, name):
    """Byte for byte, from a file of lines."""
    text = beginning(shared(f"corpora/{name}.txt"), 120_000)
    ours = learned(text, tmp_path, "--merges", 400)
    theirs = subword_nmt("learn-bpe", "-i", tmp_path / "corpus.txt", "-s", 400)
    assert ours == theirs
    assert ours.count(b"\n") == 401


@pytest.mark.slow
def test_source_code_gives_the_same_codes_but_for_tabs(shared, tmp_path):
    """Tabs are letters of words; learn-bpe miscounts pairs beside them, and nothing else."""
    text = beginning(shared("corpora/code.txt"), 100_000).replace("\t", "→")
    ours = learned(text, tmp_path, "--merges", 400)
    assert "→→".encode() in ours
    assert ours == subword_nmt("learn-bpe", "-i", tmp_path / "corpus.txt", "-s", 400)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_lines_end_for_the_dialect_where_they_end_for_learn_bpe(tmp_path, seed):
    """Whatever ends a line, and with white space that is part of words."""
    spaces = [" ", "  ", "\n", "\r\n", " \n ", "\xa0", "\u3000", *LINE_ENDS]
    text = random_lines(seed, 3_000, spaces)
    ours = learned(text, tmp_path, "--merges", 60)
    theirs = subword_nmt("learn-bpe", "-i", tmp_path / "corpus.txt", "-s", 60)
    assert ours == theirs
    assert theirs == subword_nmt("learn-bpe", "-s", 60, data=text.encode())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (["--merges", 5000, "--min-count", 40], ["-s", 5000, "--min-frequency", 40]),
        (["--merges", 5000], ["-s", 5000]),
        (["--vocab-size", 600], ["-s", 600, "--total-symbols"]),
    ],
)
def test_limits_are_those_of_learn_bpe(shared, tmp_path, ours, theirs):
    """The least frequency, the end of all pairs, and a number of symbols in all."""
    text = beginning(shared("corpora/tinyshakespeare.txt"), 20_000)
    own = learned(text, tmp_path, *ours)
    assert own == subword_nmt("learn-bpe", "-i", tmp_path / "corpus.txt", *theirs)


WORDS = st.text(st.sampled_from("ab \t\xa0" + LINE_ENDS), max_size=12)


@given(WORDS)
def test_words_are_those_of_lines_that_python_reads(text):
    """The dialect cuts what is left of lines that are stripped and split."""
    lines = codecs.getreader("utf-8")(io.BytesIO(text.encode()))
    expected = [w for line in lines for w in line.strip("\r\n ").split(" ") if w]
    tokenizer = bytepair.train_from_iterator(["ab"], merges=1, dialect="subword-nmt")
    assert tokenizer.split(text) == expected
    assert [*count_words([text]).items()] == [*collections.Counter(expected).items()]


def test_files_of_an_earlier_version_keep_their_words(tmp_path):
    """A saved tokenizer whose words end at spaces alone loads, and learns on in the dialect that is given."""
    text = "low\nlow lower newest\nnewest widest low low " * 3
    options = {"dialect": "subword-nmt", "pattern": "space"}
    old = bytepair.train_from_iterator([text], merges=9, **options)
    old.save(tmp_path / "old.bytepair")
    loaded = Tokenizer.from_file(tmp_path / "old.bytepair")
    assert loaded == old
    assert loaded.split("low\nlow low") == ["low\nlow", "low"]
    with pytest.raises(bytepair.TrainingError, match="give dialect or ties"):
        bytepair.train_from_iterator([text], merges=14, resume=loaded)
    more = bytepair.train_from_iterator([text], merges=14, resume=loaded, **options)
    expected = bytepair.train_from_iterator([text], merges=14, **options)
    assert more.merges == expected.merges


# Formats


@pytest.mark.parametrize("name", ["subword-nmt", "fastbpe", "compiled", "huggingface"])
def test_train_writes_every_format_that_is_named(tmp_path, name):
    """The option takes the names that Python takes."""
    (tmp_path / "text").write_text("low lower\nlowest low\n")
    run("train", tmp_path / "text", "-o", tmp_path / "own.xyz", "--merges", 4,
        "--dialect", "subword-nmt", "--format", name)  # fmt: skip
    trained = bytepair.train(tmp_path / "text", merges=4, dialect="subword-nmt")
    trained.save(tmp_path / "same", format=name)
    assert (tmp_path / "own.xyz").read_bytes() == (tmp_path / "same").read_bytes()


def test_both_commands_name_the_option_as_it_is_typed(tmp_path):
    """``--format``, with every format; the former name is refused with this one."""
    (tmp_path / "text").write_text("low lower\nlowest low\n")
    train = [
        "train",
        tmp_path / "text",
        "--dialect",
        "subword-nmt",
        "--merges",
        4,
        "-o",
    ]
    message = run(*train, tmp_path / "own.codes", code=1)
    assert "--format" in message
    assert "subword-nmt" in message
    run(*train, tmp_path / "own.bytepair")
    convert = ["convert", tmp_path / "own.bytepair", tmp_path / "own.codes"]
    assert "--format" in run(*convert, code=1)
    leave = "--ids-may-change"
    run(*convert, "--format", "subword-nmt", leave)
    assert (tmp_path / "own.codes").is_file()
    assert "Use --format" in run(*convert, "--to", "subword-nmt", code=2)
    assert "unknown format 'onnx'" in run(*convert, "--format", "onnx", code=1)
    with pytest.raises(TokenizerError, match="format="):
        Tokenizer.from_file(tmp_path / "own.bytepair").save(tmp_path / "own.codes")


# Applying


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("name", ["bpe.ref", "testcode.v0.1", "bpe_code.v0.2"])
def test_segment_writes_what_apply_bpe_writes(shared, tmp_path, options, name):
    """From a file and from standard input, of published codes."""
    codes = shared(f"vocabularies/subword-nmt/{name}")
    corpus = shared("vectors/subword-nmt/corpus.en")
    theirs = subword_nmt("apply-bpe", "-c", codes, "-i", corpus, *options)
    own = tmp_path / "out"
    run("segment", codes, corpus, "-o", own, *options)
    assert own.read_bytes() == theirs
    assert run("segment", codes, *options, data=corpus.read_bytes()) == theirs


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS)
def test_any_white_space_is_treated_as_apply_bpe_does(codes, options):
    """Lines of every kind, empty ones, and words of white space."""
    for seed in range(3):
        data = random_lines(seed, 2_000, vectors.SPACES).encode()
        theirs = subword_nmt("apply-bpe", "-c", codes, *options, data=data)
        assert run("segment", codes, *options, data=data) == theirs


@pytest.mark.slow
@pytest.mark.parametrize("threshold", [1, 3, 20, 10_000])
def test_parts_below_the_threshold_are_taken_apart_as_there(codes, tmp_path, threshold):
    """With the vocabulary that get-vocab makes of a text."""
    text = random_lines(5, 3_000, [" ", "\n"]).encode()
    vocabulary = tmp_path / "vocabulary"
    segmented = subword_nmt("apply-bpe", "-c", codes, data=text)
    vocabulary.write_bytes(subword_nmt("get-vocab", data=segmented))
    options = ["--vocabulary", vocabulary, "--vocabulary-threshold", threshold]
    theirs = subword_nmt("apply-bpe", "-c", codes, *options, data=text)
    assert run("segment", codes, *options, data=text) == theirs


@pytest.mark.slow
def test_the_vocabulary_is_that_of_get_vocab(codes, tmp_path):
    """Written beside the output, or from text that is cut apart already."""
    text = random_lines(6, 3_000, [" ", "\n", "  ", "\r\n"]).encode()
    segmented = run("segment", codes, "--write-vocabulary", tmp_path / "own", data=text)
    theirs = subword_nmt("get-vocab", data=segmented)
    assert (tmp_path / "own").read_bytes() == theirs
    counts = count_words(segmented.decode().splitlines(True))
    write_vocabulary(counts, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == theirs


def test_files_follow_each_other(codes, tmp_path):
    """A file that does not end with a line end gets one before the next."""
    (tmp_path / "a").write_text("abc de")
    (tmp_path / "b").write_text("e\nab")
    found = run("segment", codes, tmp_path / "a", tmp_path / "b").decode()
    assert [join_words(line) for line in found.split("\n")] == ["abc de", "e", "ab"]


@pytest.mark.slow
def test_large_files_are_cut_into_blocks_that_do_not_show(codes, tmp_path):
    """Three megabytes, with lines that are longer than a block, and without a last end."""
    text = random_lines(2, 500_000, [" "]) + "\n"
    text = (text + random_lines(3, 300_000, [" ", "\n"])).rstrip() + " abc"
    (tmp_path / "text").write_text(text)
    whole = Segmenter(codes).segment(text)
    assert run("segment", codes, tmp_path / "text").decode() == whole
    for threads in (1, 3):
        found = Segmenter(codes).segment_lines([text], threads=threads)
        assert "".join(found) == whole


def test_tokenizers_of_the_dialect_segment_as_their_codes_do(codes, tmp_path):
    """One in memory, and one in a file of its own format."""
    text = "abcde  abä\ncde\n"
    tokenizer = Tokenizer.from_file(codes)
    expected = Segmenter(codes).segment(text)
    assert Segmenter(tokenizer).segment(text) == expected
    for name in ("own.bytepair", "own.bytepair-compiled"):
        tokenizer.save(tmp_path / name)
        assert Segmenter(tmp_path / name).segment(text) == expected
    with pytest.raises(FormatError, match="end mark"):
        Segmenter(bytepair.train_from_iterator(["ab"], vocab_size=256))


# Dropout


@pytest.mark.slow
def test_a_seed_repeats_and_no_seed_draws_anew(codes, tmp_path):
    """Whatever the number of threads; the command is the method."""
    text = random_lines(4, 400_000, [" ", "\n"])
    (tmp_path / "text").write_text(text)
    chance = ["--dropout", 0.3]
    command = ["segment", codes, tmp_path / "text", *chance]
    first = run(*command, "--seed", 7)
    for threads in (1, 3):
        found = Segmenter(codes).segment_lines(
            [text], dropout=0.3, seed=7, threads=threads
        )
        assert "".join(found) == first.decode()
    assert first.decode() == Segmenter(codes).segment(text, dropout=0.3, seed=7)
    assert first != run(*command, "--seed", 8)
    assert run(*command) != run(*command)
    segmenter = Segmenter(codes)
    assert segmenter.segment(text, dropout=0.3) != segmenter.segment(text, dropout=0.3)
    assert join_words(first.decode()).split() == text.split()


def test_a_seed_that_nothing_draws_by_is_refused(codes):
    """Also with ``--dropout 0``, which the message does not ask for again."""
    for chance in ([], ["--dropout", 0]):
        message = run("segment", codes, *chance, "--seed", 7, data=b"low", code=1)
        assert "--seed needs --dropout above 0" in message


def test_glossaries_that_match_nothing_change_no_chance(codes):
    """A seed gives the same cuts on both ways through."""
    text = random_lines(4, 300, [" ", "\n"])
    both = Segmenter(codes), Segmenter(codes, glossaries=["zzz"])
    plain, other = (one.segment(text, dropout=0.5, seed=1) for one in both)
    assert other == plain


@pytest.mark.slow
@pytest.mark.parametrize("dropout", [0.1, 0.5, 0.9])
def test_cuts_are_as_probable_as_in_subword_nmt(codes, dropout):
    """Each way to cut a word is as frequent, within four standard deviations."""
    apply_bpe = pytest.importorskip("subword_nmt.apply_bpe")
    with codes.open(encoding="utf-8") as file:
        theirs = apply_bpe.BPE(file)
    n = 20_000
    words = ["abcab", "dede", "aaaa"]
    random.seed(11)
    for word in words:
        ours = Segmenter(codes).segment("\n".join([word] * n), dropout=dropout, seed=3)
        own = collections.Counter(ours.split("\n"))
        others = collections.Counter(theirs.segment(word, dropout) for _ in range(n))
        for cut in {*own, *others}:
            mean = (own[cut] + others[cut]) / 2
            assert abs(own[cut] - others[cut]) <= 4.5 * math.sqrt(2 * max(mean, 4)), cut


def test_dropout_of_one_leaves_characters(codes):
    """And dropout of zero is none."""
    segmenter = Segmenter(codes)
    assert segmenter.segment("abc", dropout=1.0) == "a@@ b@@ c"
    assert segmenter.segment("abcde", dropout=0.0) == segmenter.segment("abcde")


# What is refused


def test_options_act_or_are_refused(codes, tmp_path):
    """Nothing is read or written when they do not fit."""
    for options, named in (
        (["--seed", 1], "--dropout"),
        (["--vocabulary-threshold", 5], "--vocabulary"),
        (["--dropout", 1.5], "--dropout"),
    ):
        code = 2 if options == ["--dropout", 1.5] else 1
        message = run("segment", codes, "-o", tmp_path / "out", *options, code=code)
        assert named in message
    assert not (tmp_path / "out").exists()
    with pytest.raises(TokenizerError, match="vocabulary"):
        Segmenter(codes, threshold=3)
    for dropout in (-0.1, 1.5, math.nan):
        with pytest.raises(TokenizerError, match="from 0 to 1"):
            Segmenter(codes).segment("ab", dropout=dropout)
    with pytest.raises(PatternError, match=r"'\(a'"):
        Segmenter(codes, glossaries=["b", "(a"])


def test_bytes_that_are_no_text_are_named(codes, tmp_path):
    """With the file and the line, and no output is left behind."""
    (tmp_path / "text").write_bytes(b"ab\ncd\xff\n")
    message = run("segment", codes, tmp_path / "text", "-o", tmp_path / "out", code=1)
    assert f"{tmp_path / 'text'}: line 2 is not UTF-8" in message
    assert not (tmp_path / "out").exists()
    missing = Path(tmp_path / "missing")
    assert "no such file" in run("segment", codes, missing, code=1)


def test_a_seed_without_dropout_is_refused():
    """There is nothing that it could decide; with a chance of 0 it may stand, as a schedule gives it."""
    options = {"dialect": "subword-nmt", "merges": 2}
    segmenter = Segmenter(bytepair.train_from_iterator(["low low"], **options))
    with pytest.raises(TokenizerError, match="seed= needs dropout= above 0"):
        segmenter.segment("low", seed=1)
    with pytest.raises(TokenizerError, match="needs dropout= above 0"):
        list(segmenter.segment_lines(["low\n"], seed=1))
    assert segmenter.segment("low", dropout=0.0, seed=1) == segmenter.segment("low")
