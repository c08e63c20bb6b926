"""The commands ``count`` and ``tokenize``, and ``train`` on counts."""

import json

import pytest
from typer.testing import CliRunner

import bytepair
from bytepair.cli.app import app

pytest.importorskip("pyarrow", reason="corpora need pyarrow")

from bytepair.data import TokenDataset


def run(*arguments):
    """Run a command in this process, and give its exit code and output."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def corpus(tmp_path):
    """Write some documents."""
    path = tmp_path / "docs.jsonl"
    path.write_text('{"body": "low lower lowest"}\n' * 20)
    return path


def test_count_merge_and_train_give_the_tokenizer_of_the_text(tmp_path, corpus):
    """Dialect and special tokens are those of the counting; merged counts are of twice the text."""
    one, two, out = (
        tmp_path / name for name in ("one.parquet", "two.parquet", "t.bytepair")
    )
    options = [
        "--field",
        "body",
        "--dialect",
        "gpt2",
        "--special",
        "<|x|>",
        "--processes",
        1,
    ]
    counted = run("count-pieces", corpus, "-o", one, *options, "--json", "--quiet")
    assert counted.exit_code == 0, counted.output
    assert json.loads(counted.stdout)["documents"] == 20
    assert run("count-pieces", "--merge", one, one, "-o", two).exit_code == 0
    trained = run("train", two, "-o", out, "--merges", 5, "--json", "--quiet")
    assert trained.exit_code == 0, trained.output
    assert json.loads(trained.stdout)["texts"] == 40
    texts = ["low lower lowest"] * 40
    expected = bytepair.train_from_iterator(
        texts, dialect="gpt2", merges=5, special_tokens=["<|x|>"]
    )
    assert bytepair.Tokenizer.from_file(out).to_bytes() == expected.to_bytes()
    several = run("train", one, two, "-o", out, "--merges", 5)
    assert (several.exit_code, "count-pieces --merge" in several.stderr) == (1, True)
    separated = run("train", one, "-o", out, "--merges", 5, "--separator", "x")
    assert (separated.exit_code, "--separator is for text" in separated.stderr) == (
        1,
        True,
    )


def test_tokenize_writes_a_dataset_and_says_what_it_holds(tmp_path, corpus):
    """The same command again does nothing; a field that is missing is told with its line."""
    tokenizer = bytepair.train_from_iterator(["low low"], vocab_size=258)
    tokenizer.save(tmp_path / "t.bytepair")
    command = ["shard", tmp_path / "t.bytepair", corpus, "-o", tmp_path / "out"]
    command += ["--format", "megatron", "--processes", 1, "--json"]
    missing = run(*command)
    assert missing.exit_code == 1
    assert "docs.jsonl, line 1: no field text" in missing.stderr
    skipped = run(*command, "--skip-bad", "--quiet")
    assert json.loads(skipped.stdout)["bad"] == 20
    command[4] = tmp_path / "other"
    for _ in range(2):
        done = run(*command, "--field", "body")
        assert done.exit_code == 0, done.output
        assert "20 documents, 320 bytes" in done.stderr
    found = TokenDataset(tmp_path / "other")
    assert found[19].tolist() == tokenizer.encode("low lower lowest")


def test_tokens_around_documents_are_named_on_the_command_line(tmp_path, corpus):
    """One before and one behind; --mark-at is the earlier way, and not beside the new one."""
    tokenizer = bytepair.train_from_iterator(
        ["low low"], vocab_size=260, special_tokens=["<s>", "</s>"]
    )
    tokenizer.save(tmp_path / "t.bytepair")
    command = ["shard", tmp_path / "t.bytepair", corpus, "--field", "body"]
    command += ["--processes", 1, "--check"]
    both = ["--begin-of-document", "<s>", "--end-of-document", "</s>"]
    done = run(*command, "-o", tmp_path / "both", *both)
    assert done.exit_code == 0, done.output
    assert "20 compared with the corpus, no difference" in done.stderr
    begin, end = tokenizer.special_tokens.values()
    ids = tokenizer.encode("low lower lowest")
    assert TokenDataset(tmp_path / "both")[7].tolist() == [begin, *ids, end]
    earlier = ["--end-of-document", "<s>", "--mark-at", "begin"]
    assert run(*command, "-o", tmp_path / "one", *earlier).exit_code == 0
    assert TokenDataset(tmp_path / "one")[7].tolist() == [begin, *ids]
    mixed = run(*command, "-o", tmp_path / "mixed", *both, "--mark-at", "begin")
    assert mixed.exit_code == 1
    assert "leave it out to give both --begin-of-document" in mixed.stderr
    assert not (tmp_path / "mixed").exists()


def test_a_check_of_what_cannot_be_checked_is_refused_before_the_work(tmp_path, corpus):
    """Nothing is written; the formats that can be checked are named, and can."""
    bytepair.train_from_iterator(["low low"], vocab_size=258).save(
        tmp_path / "t.bytepair"
    )
    command = ["shard", tmp_path / "t.bytepair", corpus, "--field", "body"]
    command += ["--processes", 1, "--check"]
    refused = run(*command, "-o", tmp_path / "out", "--format", "parquet")
    assert refused.exit_code == 1
    assert "--check cannot read shards of --format parquet" in refused.stderr
    assert "npy, bin, megatron, datatrove" in refused.stderr
    assert not (tmp_path / "out").exists()
    for name in ("npy", "bin", "megatron", "datatrove"):
        done = run(*command, "-o", tmp_path / name, "--format", name)
        assert done.exit_code == 0, done.stderr
