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
    counted = run("count", corpus, "-o", one, *options, "--json", "--quiet")
    assert counted.exit_code == 0, counted.output
    assert json.loads(counted.stdout)["documents"] == 20
    assert run("count", "--merge", one, one, "-o", two).exit_code == 0
    trained = run("train", two, "-o", out, "--merges", 5, "--json", "--quiet")
    assert trained.exit_code == 0, trained.output
    assert json.loads(trained.stdout)["texts"] == 40
    texts = ["low lower lowest"] * 40
    expected = bytepair.train_from_iterator(
        texts, dialect="gpt2", merges=5, special_tokens=["<|x|>"]
    )
    assert bytepair.Tokenizer.from_file(out).to_bytes() == expected.to_bytes()
    several = run("train", one, two, "-o", out, "--merges", 5)
    assert (several.exit_code, "count --merge" in several.stderr) == (1, True)
    separated = run("train", one, "-o", out, "--merges", 5, "--separator", "x")
    assert (separated.exit_code, "--separator is for text" in separated.stderr) == (
        1,
        True,
    )


def test_tokenize_writes_a_dataset_and_says_what_it_holds(tmp_path, corpus):
    """The same command again does nothing; a field that is missing is told with its line."""
    tokenizer = bytepair.train_from_iterator(["low low"], vocab_size=258)
    tokenizer.save(tmp_path / "t.bytepair")
    command = ["tokenize", tmp_path / "t.bytepair", corpus, "-o", tmp_path / "out"]
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
