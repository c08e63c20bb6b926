"""The commands ``count`` and ``tokenize``, and ``train`` on counts."""

import json
import math
import os

import pytest
from tests.commands import refused, run, run_process

import bytepair
from bytepair import FormatError, scale

pytest.importorskip("pyarrow", reason="corpora need pyarrow")

from bytepair.data import TokenDataset


@pytest.fixture
def corpus(tmp_path):
    """Write some documents."""
    path = tmp_path / "docs.jsonl"
    path.write_text('{"body": "low lower lowest"}\n' * 20)
    return path


def test_count_merge_and_train_give_the_tokenizer_of_the_text(tmp_path, corpus):
    """Dialect and special tokens are those of the counting; merged counts are of twice the text."""
    one, two, out = (
        tmp_path / name for name in ("1.parquet", "2.parquet", "t.bytepair")
    )
    options = ["--field", "body", "--dialect", "gpt2", "--special", "<|x|>"]
    command = ["count-pieces", corpus, "-o", one, *options, "--processes", 1]
    counted = run(*command, "--json", "--quiet")
    assert json.loads(counted.stdout)["documents"] == 20
    run("count-pieces", "--merge", one, one, "-o", two)
    trained = run("train", two, "-o", out, "--merges", 5, "--json", "--quiet")
    assert json.loads(trained.stdout)["texts"] == 40
    options = {"dialect": "gpt2", "merges": 5, "special_tokens": ["<|x|>"]}
    expected = bytepair.train_from_iterator(["low lower lowest"] * 40, **options)
    assert bytepair.Tokenizer.from_file(out).to_bytes() == expected.to_bytes()
    command = ["train", one, "-o", out, "--merges", 5]
    assert "count-pieces --merge" in refused(*command, two)
    assert "--document-separator is for text" in refused(
        *command, "--document-separator", "x"
    )


def test_tokenize_writes_a_dataset_and_says_what_it_holds(tmp_path, corpus):
    """The same command again does nothing; a field that is missing is told with its line."""
    tokenizer = bytepair.train_from_iterator(["low low"], vocab_size=258)
    tokenizer.save(tmp_path / "t.bytepair")
    command = ["shard", tmp_path / "t.bytepair", corpus, "--format", "megatron"]
    command += ["--processes", 1, "--json", "-o", tmp_path / "out"]
    assert "docs.jsonl, line 1: no field text" in refused(*command)
    skipped = run(*command, "--skip-bad", "--quiet")
    assert json.loads(skipped.stdout)["bad"] == 20
    command[-1] = tmp_path / "other"
    for _ in range(2):
        assert "20 documents, 320 bytes" in run(*command, "--field", "body").stderr
    found = TokenDataset(tmp_path / "other")
    assert found[19].tolist() == tokenizer.encode("low lower lowest")


def test_tokens_around_documents_are_named_on_the_command_line(tmp_path, corpus):
    """One before and one after each document."""
    tokenizer = bytepair.train_from_iterator(
        ["low low"], vocab_size=260, special_tokens=["<s>", "</s>"]
    )
    tokenizer.save(tmp_path / "t.bytepair")
    command = ["shard", tmp_path / "t.bytepair", corpus, "--field", "body"]
    command += ["--processes", 1, "--check"]
    both = ["--begin-of-document", "<s>", "--end-of-document", "</s>"]
    done = run(*command, "-o", tmp_path / "both", *both)
    assert "20 compared with the corpus, no difference" in done.stderr
    begin, end = tokenizer.special_tokens.values()
    ids = tokenizer.encode("low lower lowest")
    assert TokenDataset(tmp_path / "both")[7].tolist() == [begin, *ids, end]


def test_a_check_of_what_cannot_be_checked_is_refused_before_the_work(tmp_path, corpus):
    """Nothing is written; the formats that can be checked are named, and can."""
    tokenizer = bytepair.train_from_iterator(["low low"], vocab_size=258)
    tokenizer.save(tmp_path / "t.bytepair")
    command = ["shard", tmp_path / "t.bytepair", corpus, "--field", "body"]
    command += ["--processes", 1, "--check"]
    told = refused(*command, "-o", tmp_path / "out", "--format", "parquet")
    assert "--check cannot read shards of --format parquet" in told
    assert "npy, bin, megatron, datatrove" in told
    assert not (tmp_path / "out").exists()
    for name in ("npy", "bin", "megatron", "datatrove"):
        run(*command, "-o", tmp_path / name, "--format", name)


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        ("encode own.json notes.txt -o notes.txt", "notes.txt"),
        ("encode own.json notes.txt -o missing/../notes.txt", "notes.txt"),
        ("encode own.json notes.txt -o hard.bin", "notes.txt"),
        ("encode own.json soft.svg -o notes.txt --lines", "notes.txt"),
        ("encode own.json notes.txt -o own.json", "own.json"),
        ("decode own.json ids.txt -o ids.txt", "ids.txt"),
        ("train notes.txt --merges 1 -o notes.txt --format bytepair", "notes.txt"),
        ("train notes.txt@2 --merges 1 -o x.json --log notes.txt", "notes.txt"),
        ("train n*.txt --merges 1 -o notes.txt --format bytepair", "notes.txt"),
        ("segment codes notes.txt -o notes.txt", "notes.txt"),
        ("trace own.json soft.svg -o soft.svg", "soft.svg"),
        ("stats own.json notes.txt -o hard.bin", "notes.txt"),
        ("report own.json notes.txt -o notes.txt", "notes.txt"),
        ("convert own.json own.json", "own.json"),
        ("extend own.json --from own.json -o own.json", "own.json"),
        ("train corp --merges 1 -o corp/own.json", "corp"),
        ("count-pieces corp -o corp/counts.parquet", "corp"),
        ("shard own.json corp -o corp/out", "corp"),
    ],
)
def test_nothing_is_written_over_what_is_read(tmp_path, monkeypatch, arguments, kept):
    """An output that is an input by any path, or lies in a folder of texts, is refused by name."""
    monkeypatch.chdir(tmp_path)
    notes = tmp_path / "notes.txt"
    notes.write_text("low lower\n" * 9)
    (tmp_path / "ids.txt").write_text("1 2")
    (tmp_path / "codes").write_text("#version: 0.2\nl o\n")
    (tmp_path / "corp").mkdir()
    (tmp_path / "corp" / "a.txt").write_text("low")
    os.link(notes, "hard.bin")
    (tmp_path / "soft.svg").symlink_to(notes)
    bytepair.train(notes, merges=1).save("own.json")
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    assert kept in refused(*arguments.split())
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before


def test_python_writes_over_nothing_that_it_reads(tmp_path):
    """Functions refuse what their commands refuse; training may go on in the same file."""
    notes, own = tmp_path / "notes.txt", tmp_path / "own.json"
    notes.write_text("low lower lowest")
    tokenizer = bytepair.train(notes, merges=1)
    tokenizer.save(own)
    for call in (
        lambda: tokenizer.encode_file(notes, notes),
        lambda: bytepair.train(notes, merges=1, log=notes),
        lambda: bytepair.convert(own, own),
        lambda: scale.tokenize(tokenizer, tmp_path, tmp_path / "out"),
        lambda: scale.count(tmp_path, output=tmp_path / "counts.parquet"),
        lambda: scale.merge_files([notes], output=notes),
    ):
        with pytest.raises(bytepair.FileError, match=r"same file|in the folder"):
            call()
    with notes.open("ab") as file, (tmp_path / "new").open("wb") as new:
        run_process("show", own, notes, code=1, capture_output=False, stdout=file)
        long = "low" * 999  # no name of a file
        run_process("count-tokens", own, long, capture_output=False, stdout=new)
    assert notes.read_text() == "low lower lowest"
    run("train", notes, "--merges", 2, "--resume", own, "-o", own)


def test_what_bytepair_wrote_is_no_corpus(tmp_path):
    """Shards and logs in a folder are refused by name, whatever format is asked for."""
    text, folder = tmp_path / "a.txt", tmp_path / "corp"
    text.write_text("low lower")
    tokenizer = bytepair.train(text, merges=1, log=tmp_path / "log.jsonl")
    scale.tokenize(tokenizer, text, folder / "out")
    for options in ({}, {"input_format": "text"}):
        with pytest.raises(FormatError, match=r"manifest\.json: this is a man"):
            scale.count(folder, **options)
    with pytest.raises(bytepair.FormatError, match="a log of merges"):
        bytepair.train(tmp_path / "log.jsonl", merges=1)


def test_one_definition_of_a_line(tmp_path):
    """A line ends with a newline, or it behind a return, and a byte order mark is in none."""
    path = tmp_path / "lines.txt"
    path.write_bytes(b"\xef\xbb\xbflow lower\r\nlow\n\r\nx\ry\r")
    own = tmp_path / "own.json"
    tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    tokenizer.save(own)
    lines = ["low lower", "low", "", "x\ry\r"]
    expected = [" ".join(map(str, tokenizer.encode(line))) for line in lines]
    assert run("encode", own, path, "--lines").stdout.split("\n")[:-1] == expected
    counted = run("count-tokens", own, path, "--input-format", "lines").stdout.split()[
        0
    ]
    assert int(counted) == sum(map(tokenizer.count, lines))


def test_lines_that_python_writes_are_read(tmp_path):
    """A NaN in a field that is not read loses no document; one in place of the text is named."""
    rows = [{"score": number, "text": "low"} for number in (math.nan, -math.inf)]
    path = tmp_path / "docs.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    assert scale.count(path).info.documents == 2
    with pytest.raises(bytepair.FormatError, match="the field score is NaN, not a"):
        scale.count(path, field="score")
