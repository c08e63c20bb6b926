"""``bytepair prune``, ``remove`` and ``extend --from``: what they write, say and refuse."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests.commands import refused, run

import bytepair
from bytepair import _core, surgery

TEXT = "low lower lowest, the widest hats are wider than hats\n" * 9


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Write two tokenizers and a corpus into the working directory."""
    monkeypatch.chdir(tmp_path)
    train = partial(bytepair.train_from_iterator, dialect="gpt4")
    texts = [TEXT, "low lower newest"]
    base = train(texts, merges=24, special_tokens=["<|end|>"])
    base.save("base.json")
    train(["newer wide cats"] * 3, merges=9).save("other.json")
    Path("c.txt").write_text(TEXT)
    return base


def done(*arguments):
    """Run a command that must succeed; give its lines and its JSON."""
    found = run(*arguments, "--json")
    return found.stderr.splitlines(), json.loads(found.stdout)


def names():
    """List the files of the working directory."""
    return sorted(path.name for path in Path().iterdir())


def test_prune_writes_what_the_function_gives(files):
    """The file, the numbers as JSON, and lines for a reader."""
    lines, numbers = done("prune", "base.json", "c.txt", "--to", "270", "-o", "n.json")
    expected = surgery.prune("base.json", "c.txt", to=270)
    again = bytepair.Tokenizer.from_file("n.json")
    assert again.vocabulary == expected.tokenizer.vocabulary
    assert again.merges == expected.tokenizer.merges
    assert numbers.items() >= expected.report.to_json().items()
    assert (numbers["output"], numbers["is_copy"]) == ("n.json", False)
    assert lines[1:4] == list(expected.report.lines)
    assert lines[-1] == "saved: n.json"


def test_remove_takes_a_regular_expression(files):
    """All tokens whose text matches go; nothing else is built on them."""
    options = ["--matching", "^ ?w", "-o", "n.bytepair", "--numbering", "holes"]
    _lines, numbers = done("remove", "base.json", *options)
    gone = [files.vocabulary[id_] for id_ in numbers["removed"]]
    assert gone
    assert all(token.lstrip().startswith(b"w") for token in gone)
    left = bytepair.Tokenizer.from_file("n.bytepair").vocabulary
    merged = [token for token in left if token and len(token) > 1]
    assert not [token for token in merged if token.lstrip().startswith(b"w")]


def test_remove_says_what_is_built_on_a_token_before_it_is_written(files):
    """The cascade comes first; without an output, nothing more is said or written."""
    before = names()
    dry, numbers = done("remove", "base.json", "lo")
    assert names() == before
    plan = surgery.remove(files, "lo").report.cascade
    assert plan.following
    assert dry[: len(plan.lines)] == list(plan.lines)
    assert dry[-1] == "nothing is written"
    assert numbers["output"] is None
    assert [row["id"] for row in numbers["built_on"]] == [f.id for f in plan.following]
    lines, numbers = done("remove", "base.json", "lo", "-o", "n.json")
    assert lines[: len(dry) - 1] == dry[:-1]
    expected = surgery.remove("base.json", "lo")
    assert numbers["removed"] == list(expected.report.removed)
    again = bytepair.Tokenizer.from_file("n.json")
    assert again.vocabulary == expected.tokenizer.vocabulary


def test_remove_takes_texts_ids_and_findings(files):
    """Together, in one call; findings are those of the doctor."""
    Path("empty.txt").write_text("hats " * 400)
    found = run("doctor", "base.json", "--corpus", "empty.txt", "--json")
    Path("found.json").write_text(found.stdout)
    report = json.loads(found.stdout)
    never = [f for f in report["findings"] if f["code"] == "BP601"]
    assert never
    hats, low = files.token_to_id(" hats"), files.token_to_id("low")
    arguments = ["base.json", "Ġhats", "--id", f"{low},{low}"]
    arguments += ["--findings", "found.json"]
    _lines, numbers = done("remove", *arguments, "--select", "BP601")
    named = {row["id"] for row in numbers["named"]}
    assert named == {hats, low} | {t["id"] for f in never for t in f["tokens"]}
    _lines, numbers = done("remove", *arguments)
    assert {row["id"] for row in numbers["named"]} == {hats, low}


def test_remove_takes_bytes_that_are_no_text(files):
    """The shell may give half a character, which Python has as a surrogate; it names a token."""
    base = bytepair.train_from_iterator([" é è ê"] * 3, merges=1, dialect="gpt2")
    base.save("half.json")
    _lines, numbers = done("remove", "half.json", " \udcc3", "-o", "n.json")
    assert numbers["removed"] == [base.token_to_id(b" \xc3")] == [256]
    told = refused("remove", "half.json", "\udcff\udcfe")
    assert "no token is b'\\xff\\xfe'" in told


def test_merging_writes_what_the_function_gives(files):
    """All ids of the first stay, and the report says what became of each token of the second."""
    command = "extend", "base.json", "--from", "other.json"
    lines, numbers = done(*command, "-o", "n.json")
    expected = surgery.merge_vocabularies("base.json", "other.json")
    assert expected.report.lines[0] in lines
    assert numbers["rows"] == json.loads(json.dumps(expected.report.to_json()["rows"]))
    again = bytepair.Tokenizer.from_file("n.json")
    assert again.vocabulary == expected.tokenizer.vocabulary
    assert again.vocabulary[: len(files)] == files.vocabulary
    _lines, numbers = done(*command, "--allow-helpers", "-o", "h.json")
    assert "needs_helpers" not in numbers["outcomes"]


@pytest.mark.parametrize(
    "typed",
    [
        "prune base.json c.txt --to 265 --numbering compact",
        "remove base.json lo --numbering compact",
        "extend base.json --from other.json",
        "extend base.json c.txt --add 5",
    ],
)
def test_every_command_writes_the_rows_of_an_embedding_matrix(typed, files):
    """The file is that of the function."""
    for name in ("rows.npz", "rows.jsonl"):
        done(*typed.split(), "-o", "n.json", "--embedding-map", name)
    new = bytepair.Tokenizer.from_file("n.json")
    with np.load("rows.npz") as arrays:
        n_new, n_old = arrays["shape"]
    assert n_old == len(files)
    least = max(new.n_vocab, 0 if "--numbering" in typed else len(files))
    assert n_new == least
    rows = list(map(json.loads, Path("rows.jsonl").read_text("utf-8").splitlines()))
    assert len(rows) == n_new
    for row in rows[: len(files)]:
        if row["bytes"] and row["token"] in files.get_vocab():
            assert row["old_ids"] == [_core.id_of_written(files, row["token"])]


REFUSED = {
    "--to: 300 tokens are asked for, but there are": "prune c.txt --to 300",
    "--to: 20 tokens are asked for, but": "prune c.txt --to 20",
    "Missing argument 'FILES...'": "prune --to 260",
    "give --to or --min-count to say how many tokens": "prune c.txt --matching low",
    "the corpus is empty": "prune nothing.txt --to 260",
    "no such file": "prune absent.txt --to 260",
    "is not a valid regular expression": "prune c.txt --to 260 --matching (",
    "no token is 'lowlow'": "remove lowlow",
    "no token has the id 9999": "remove --id 9999",
    "'a' (id 64) is a unit of": "remove low --id 64",
    "'b' (id 65) is a unit of the alphabet; these must": "remove a --id 65",
    "--findings: the id 64 is 'b' there": "remove --findings other_ids.json",
    "other_ids.json: the selected findings name no token": "remove --findings other_ids.json --select BP6",
    "'x' is not an id": "remove --id 1,x",
    "is a special token and must stay": "remove <|end|>",
    "name tokens to remove": "remove",
    "--select chooses among findings": "remove low --select BP1",
    "is not what bytepair doctor --json writes": "remove --findings c.json",
    "c.txt is not JSON": "remove --findings c.txt",
    "--from: only one of the two has": "extend --from m.bytepair",
    "must be .npz or .jsonl": "remove low --embedding-map a.npy",
    "--embedding-map folder.npz is a folder": "remove low --embedding-map folder.npz",
    "n.npz is written twice": "remove low -o n.npz --embedding-map n.npz",
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_is_refused_before_anything_is_written(message, files):
    """With options named as they are typed."""
    Path("nothing.txt").write_text("")
    Path("c.json").write_text("[]")
    token = {"id": 64, "text": "b"}
    findings = {"findings": [{"code": "BP101", "tokens": [token]}]}
    Path("other_ids.json").write_text(json.dumps(findings))
    marked = bytepair.train_from_iterator(["low"], merges=1, dialect="sennrich")
    marked.save("m.bytepair")
    Path("folder.npz").mkdir()
    before = names()
    command, *rest = REFUSED[message].split()
    found = run(command, "base.json", "-o", "n.json", *rest, code=None)
    assert found.exit_code in (1, 2)
    assert message in found.stderr
    assert names() == before


@pytest.mark.parametrize("typed", ["prune c.txt --to 260", "remove low"])
def test_a_format_without_special_tokens_is_refused_before_a_corpus_is_read(
    typed, files
):
    """The folder of two files holds no reserved ids; the message names the numberings that it holds."""
    base = bytepair.train_from_iterator([TEXT], merges=24, dialect="gpt2")
    base.save("base.json")
    name, *rest = typed.split()
    told = refused(name, "base.json", *rest, "-o", "folder")
    assert "--numbering holes and --numbering compact need none" in told
    assert not Path("folder").exists()
    done(name, "base.json", *rest, "-o", "folder", "--numbering", "compact")
    names = {path.name for path in Path("folder").iterdir()}
    assert names == {"merges.txt", "vocab.json"}


@pytest.mark.parametrize(
    "typed", ["prune base.json c.txt --to 270", "remove base.json low"]
)
def test_nothing_is_written_without_an_output(typed, files):
    """The command shows what it would do; it refuses a map of rows, and says what replaces ``--dry-run``."""
    before = names()
    command = typed.split()
    assert run(*command).stderr.endswith("nothing is written\n")
    assert "needs --output" in run(*command, "--embedding-map", "a.npz", code=2).stderr
    assert "without --output" in run(*command, "--dry-run", code=2).stderr
    assert names() == before
