"""Merge logs: what is written, what is refused, how they go on, and what is drawn of them."""

import hashlib
import json
from dataclasses import replace

import pytest

import bytepair
from bytepair import surgery
from bytepair._training.merge_log import write_log

TEXTS = ["low lower lowest é日本 " * 20, "newer wider "]
OPTIONS = {"special_tokens": ["<s>"]}


def train(path, **options):
    """Train with a log, and read it."""
    options = {"merges": 20, **OPTIONS, **options}
    tokenizer = bytepair.train_from_iterator(TEXTS, log=path, **options)
    return tokenizer, bytepair.read_log(path)


def without_ids(step):
    """Give a step whatever ids its tokens have."""
    return replace(step, ids=(0, 0, 0))


# What is written


@pytest.mark.parametrize("dialect", bytepair.dialects())
def test_a_log_tells_what_encoding_gives(tmp_path, dialect):
    """Steps are those of the tokenizer, and the tokens left those of the corpus cut there."""
    tokenizer, log = train(tmp_path / "log", dialect=dialect)
    assert [
        (*step.ids, step.count) for step in log.steps
    ] == tokenizer.inspect().merge_log
    sizes = [(log.first_step - 1, log.tokens)]
    sizes += [(step.step, step.tokens) for step in log.steps]
    for n_merges, n_tokens in sizes[::4]:
        cut = surgery.shorten(tokenizer, merges=n_merges)
        assert sum(map(cut.count, TEXTS)) == n_tokens
        assert log.n_alphabet + log.n_names + n_merges == cut.n_vocab
    assert log.curve()[-1] == (tokenizer.n_vocab, log.steps[-1].bytes_per_token)


def test_tokens_are_text_or_the_values_of_their_bytes(tmp_path):
    """A token that is no UTF-8 can be told from one that looks like it."""
    tokenizer, log = train(tmp_path / "log", merges=40)
    lines = (tmp_path / "log").read_text(encoding="utf-8").splitlines()
    written = list(map(json.loads, lines))
    shown = [line["token"] for line in written[1:]]
    as_bytes = [t.encode() if isinstance(t, str) else bytes(t) for t in shown]
    assert as_bytes == tokenizer.vocabulary[256:-1]
    assert {type(token) for token in shown} == {str, list}
    assert [step.token for step in log.steps] == [
        bytes(token) if isinstance(token, list) else token for token in shown
    ]


def test_the_same_training_gives_the_same_log(tmp_path):
    """Neither threads nor the order of texts show in it."""
    contents = set()
    for number, texts in enumerate((TEXTS, TEXTS[::-1])):
        path = tmp_path / str(number)
        bytepair.train_from_iterator(texts, merges=20, log=path, threads=number + 1)
        contents.add(path.read_bytes())
    assert len(contents) == 1


def test_a_log_that_cannot_be_written_is_refused_before_reading(tmp_path):
    """The folder is tried before the corpus, which is not there."""
    with pytest.raises(bytepair.FileError, match="none"):
        bytepair.train("absent.txt", merges=1, log=tmp_path / "none" / "log")
    path = tmp_path / "none" / "log"
    with pytest.raises(bytepair.FileError, match="none"):
        bytepair.train_from_iterator(iter(lambda: 1 / 0, 0), merges=1, log=path)


# Going on


@pytest.mark.parametrize(
    "dialect", ["gpt4o", "sennrich", "unknown-token", "byte-stream"]
)
@pytest.mark.parametrize("n_first", [0, 1, 7])
@pytest.mark.parametrize("special", [[], ["<s>"]], ids=["", "special"])
def test_a_continued_log_is_that_of_training_at_once(
    tmp_path, dialect, n_first, special
):
    """Byte for byte, unless new tokens get their ids behind special and unknown ones."""
    options = {"dialect": dialect, "special_tokens": special}
    _, at_once = train(tmp_path / "at once", **options)
    small, _ = train(tmp_path / "log", **options, merges=n_first)
    large, log = train(tmp_path / "log", **{**options, "dialect": None}, resume=small)
    n_names = log.n_names
    assert n_names == len(special) + (dialect == "unknown-token")
    assert [step.ids for step in log.steps] == [
        merge[:3] for merge in large.inspect().merge_log
    ]
    assert list(map(without_ids, log.steps)) == list(map(without_ids, at_once.steps))
    if not n_names:
        whole = (tmp_path / "at once").read_bytes()
        assert (tmp_path / "log").read_bytes() == whole


def test_without_an_earlier_log_steps_begin_where_training_goes_on(tmp_path):
    """The file says so, and can be read; what is written and read again is equal."""
    small, _ = train(tmp_path / "small", merges=7)
    _, whole = train(tmp_path / "whole")
    _, log = train(tmp_path / "log", resume=small)
    assert log.first_step == 8
    assert list(map(without_ids, log.steps)) == list(map(without_ids, whole.steps[7:]))
    assert log.tokens == whole.steps[6].tokens
    assert log.curve() == whole.curve()[7:]
    write_log(tmp_path / "again", log)
    assert bytepair.read_log(tmp_path / "again") == log


def test_a_log_of_something_else_is_not_continued(tmp_path):
    """Another tokenizer's log, or that of another corpus, stays as it is."""
    path = tmp_path / "log"
    small, _ = train(path, merges=7)
    before = path.read_bytes()
    other = surgery.shorten(small, merges=6)
    message = "not the log of the resumed tokenizer"
    with pytest.raises(bytepair.TrainingError, match=message):
        train(path, resume=other)
    options = {"merges": 20, "resume": small, "log": path, **OPTIONS}
    with pytest.raises(bytepair.TrainingError, match="another corpus"):
        bytepair.train_from_iterator([*TEXTS, "more"], **options)
    assert path.read_bytes() == before


def test_counts_that_are_not_known_are_null(tmp_path):
    """A tokenizer.json holds no counts, so those of later steps are not told either."""
    small, _ = train(tmp_path / "small", merges=7)
    small.save(tmp_path / "small.json")
    path = tmp_path / "small.json"
    tokenizer, log = train(tmp_path / "log", resume=path, ties="smallest_ids")
    assert {step.count for step in log.steps} == {None}
    assert log.first_step == 8
    assert tokenizer.merges == train(tmp_path / "whole")[0].merges


# Reading


@pytest.fixture
def lines(tmp_path):
    """Give the lines of a log."""
    train(tmp_path / "good")
    return (tmp_path / "good").read_text(encoding="utf-8").splitlines(keepends=True)


def changed(line, **changes):
    """Change fields of a line; ``None`` takes one away."""
    found = {**json.loads(line), **changes}
    found = {name: value for name, value in found.items() if value is not None}
    return json.dumps(found) + "\n"


WRONG = [
    (1, {"format": "merges"}, "line 1: it is not a header"),
    (1, {"version": 2}, "line 1: it is not a header"),
    (1, {"tokens": 0}, "its sha256 differs"),
    (1, {"sha256": None}, "its sha256 differs"),
    (3, {"ids": [1, 999, 257]}, "its sha256 differs"),
    (3, {"right": "a\ud800"}, "its sha256 differs"),
]


@pytest.mark.parametrize(("number", "changes", "message"), WRONG)
def test_a_log_that_has_changed_is_refused(tmp_path, lines, number, changes, message):
    """Reading refuses what training does not write."""
    lines[number - 1] = changed(lines[number - 1], **changes)
    (tmp_path / "log").write_text("".join(lines), encoding="utf-8")
    with pytest.raises(bytepair.FormatError, match=message):
        bytepair.read_log(tmp_path / "log")


def test_a_file_that_is_cut_off_or_no_log_is_refused(tmp_path, lines):
    """A last line without its end, a line left out, other text, nothing at all."""
    whole = "".join(lines)
    wrong = {whole[:-1]: len(lines), "".join(lines[:4] + lines[5:]): 1}
    wrong |= {"": 1, "[]\n": 1, "text\n": 1, lines[0] + "\n": 1}
    for content, number in wrong.items():
        (tmp_path / "log").write_text(content, encoding="utf-8")
        with pytest.raises(bytepair.FormatError, match=rf"line {number}: "):
            bytepair.read_log(tmp_path / "log")
    with pytest.raises(bytepair.FileError, match="none"):
        bytepair.read_log(tmp_path / "none")


def test_a_log_whose_sum_is_right_and_whose_fields_are_not_is_refused(tmp_path):
    """Whoever writes a log by other means gets the line, and no error of Python's."""
    path = tmp_path / "log"
    bytepair.train_from_iterator(["low lower"], vocab_size=258, log=path)
    header, *steps = path.read_bytes().splitlines(keepends=True)
    fields = json.loads(header)
    del fields["sha256"]
    for number, changed in ((1, {**fields, "corpus": 3}), (2, fields)):
        rows = [b"{}\n", *steps[1:]] if number == 2 else steps
        line = json.dumps(changed, ensure_ascii=False).encode() + b"\n"
        changed["sha256"] = hashlib.sha256(line + b"".join(rows)).hexdigest()
        path.write_bytes(json.dumps(changed).encode() + b"\n" + b"".join(rows))
        with pytest.raises(bytepair.FormatError, match=f"line {number}: its fields"):
            bytepair.read_log(path)
