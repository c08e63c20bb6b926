"""``bytepair extend``, and ``verify`` of what it writes: what they write, say and refuse."""

import json
from pathlib import Path

import pytest
from tests import commands

import bytepair
from bytepair import surgery

TEXT = "low lower lowest, the widest hats are wider than hats\n" * 9


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Write a tokenizer and a corpus into the working directory."""
    monkeypatch.chdir(tmp_path)
    base = bytepair.train_from_iterator(
        ["low lower"], merges=3, dialect="gpt4", special_tokens=["<|end|>"]
    )
    base.save("base.json")
    Path("c.txt").write_text(TEXT)
    return base


def run(*arguments, code=0):
    """Run the command."""
    return commands.run("extend", *arguments, code=code)


def test_it_writes_what_the_function_gives(files):
    """The file, the numbers as JSON, and lines for a reader with the curve above."""
    found = run("base.json", "c.txt", "--add", "12", "-o", "new.json", "--json")
    expected = surgery.extend("base.json", "c.txt", add=12)
    again = bytepair.Tokenizer.from_file("new.json")
    assert again.vocabulary == expected.tokenizer.vocabulary
    assert again.merges == expected.tokenizer.merges
    numbers = json.loads(found.stdout)
    assert numbers.items() >= expected.report.to_json().items()
    assert numbers["curve"][-1] == numbers["tokens_after"]
    assert (numbers["output"], numbers["is_copy"]) == ("new.json", False)
    lines = found.stderr.splitlines()
    assert lines[1].split()[:3] == ["0", "added", f"{expected.report.tokens_before:,}"]
    assert "12 tokens added, ids 259 to 270; 259 ids unchanged" in lines
    assert lines[-1] == "saved: new.json"
    assert [line[0] for line in lines if "◆" in line] == ["t", "◆"]


def test_options_act(files):
    """Limits of tokens, of counts and of documents; --quiet says nothing."""
    limited = ["--max-token-bytes", "2", "--min-count", "20", "--input-format", "lines"]
    found = run("base.json", "c.txt", "--add", "50", "-o", "n.bytepair", "-q", *limited)
    assert found.output == ""
    limits = {"max_token_bytes": 2, "min_count": 20, "lines": True}
    expected = surgery.extend("base.json", "c.txt", add=50, **limits)
    assert 0 < expected.report.added < 50
    assert bytepair.Tokenizer.from_file("n.bytepair") == expected.tokenizer


def test_nothing_added_is_a_copy(files):
    """The file has the same bytes, and the command says so."""
    base = Path("base.json")
    base.write_text(json.dumps(json.loads(base.read_text()), indent=3))
    found = run("base.json", "c.txt", "--add", "0", "-o", "same.json")
    assert Path("same.json").read_bytes() == base.read_bytes()
    assert "the same bytes as the file of the base" in found.stderr


LEARN = "base.json c.txt --add 1 -o n.json"
STRINGS = "base.json --strings c.txt -o n.json"
ABSENT = "base.json absent.txt --add 1 -o"
REFUSED = {
    "--add': must be at least 0": "base.json c.txt --add -1 -o n.json",
    "--add is missing": "base.json c.txt -o n.json",
    "Missing option '-o' / '--output'": "base.json c.txt --add 1",
    "--strings or --from; none is given": "base.json --add 1 -o n.json",
    "--strings or --from; several are given": "base.json c.txt --strings c.txt -o n.json",
    "--add is for learning": f"{STRINGS} --add 1",
    "--min-count is for learning": f"{STRINGS} --min-count 3",
    "--field is for learning from a corpus, and has no effect on --strings": f"{STRINGS} --field text",
    "--scope is for learning": f"{STRINGS} --scope Thai",
    "--max-token-bytes is for learning": f"{STRINGS} --max-token-bytes 3",
    "--add is for learning from a corpus, and has": "base.json --from base.json --add 1 -o n.json",
    "--allow-helpers is for --strings": f"{LEARN} --allow-helpers",
    "words.txt: No such file": "base.json --strings words.txt -o n.json",
    "'Tai', but": f"{LEARN} --scope Tai",
    "has any of its characters": f"{LEARN} --scope Thai",
    "cannot express": f"{ABSENT} n.model",
    "extension '.x'": f"{ABSENT} n.x",
    "no such file": f"{ABSENT} n.json",
    "No such file": f"{ABSENT} no/n.json",
    "standard output": "base.json c.txt --add 1 -o -",
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_is_refused_before_anything_is_written(message, files):
    """Also before the corpus is read, where the output is at fault."""
    found = run(*REFUSED[message].split(), code=None)
    assert found.exit_code in (1, 2)
    assert message in found.stderr
    assert sorted(path.name for path in Path().iterdir()) == ["base.json", "c.txt"]


def verified(*arguments, code=0):
    """Run the command that says yes or no."""
    question = () if "--extends" in arguments else ("--exit-code",)
    return commands.run("compare", *arguments, *question, code=code)


def test_compare_tells_whether_a_file_extends_another(files):
    """The exit code says it, lines say why not, and --json has every case."""
    run("base.json", "c.txt", "--add", "9", "-o", "new.json", "-q")
    found = verified("base.json", "new.json", "c.txt", "--extends")
    assert found.stderr == ""
    first, second, *lines = found.stdout.splitlines()
    assert first == "new.json extends base.json"
    assert second == "as in the base: 259 ids, 2 merges, 1 added token"
    n_before = len(files.encode(TEXT))
    n_after = len(bytepair.Tokenizer.from_file("new.json").encode(TEXT))
    assert f"1 text: {n_before:,} → {n_after:,} tokens, only joined" in lines
    back = "--extends", "new.json", "base.json"
    numbers = json.loads(verified(*back, "--json", code=1).stdout)
    check = surgery.verify_extension("new.json", "base.json")
    assert numbers == json.loads(json.dumps(check.to_json()))
    cases = numbers["faults"][0]["cases"]
    assert [case["base"] for case in cases] == [*range(259, 268)]
    lines = verified(*back, code=1).stdout.splitlines()
    assert lines == ["base.json does not extend new.json", *check.lines]


def test_compare_tells_of_a_file_that_cannot_be_read_which_of_both_it_is(files):
    """A base that is no tokenizer is an error; a new file that is none extends nothing."""
    Path("broken.json").write_text("{}")
    lines = verified("--extends", "base.json", "broken.json", code=1).stdout
    assert lines.startswith("broken.json does not extend base.json\nfile: broken")
    found = verified("--extends", "broken.json", "base.json", code=1)
    assert found.stdout == ""
    assert "broken.json" in found.stderr


def test_compare_writes_a_difference_as_json(files):
    """Or that there is none."""
    files.with_special_tokens(["<|other|>"]).save("other.json")
    found = verified("base.json", "base.json", "--json").stdout
    assert json.loads(found) == {"same": True, "difference": None}
    found = verified("base.json", "other.json", "--json", code=1).stdout
    difference = bytepair.verify("base.json", "other.json")._asdict()
    assert json.loads(found) == {"same": False, "difference": difference}


def test_a_scope_leaves_other_text_alone(files):
    """Scripts and characters, repeated or with commas between them."""
    Path("c.txt").write_text("नमस्ते दुनिया! hats”” hats””\n" * 9, "utf-8")
    scope = ["--scope", "Devanagari,U+0964", "--scope", "Thai"]
    found = run("base.json", "c.txt", "--add", "12", "-o", "n.json", "--json", *scope)
    scope = ["Devanagari", "Thai", "।"]
    expected = surgery.extend("base.json", "c.txt", add=12, scope=scope)
    again = bytepair.Tokenizer.from_file("n.json")
    assert again.vocabulary == expected.tokenizer.vocabulary
    name = "Devanagari and Thai and 1 character"
    assert json.loads(found.stdout)["scope"] == name
    assert f"limited to {name}: " in found.stderr
    assert again.encode("hats”” hats") == files.encode("hats”” hats")


def test_strings_come_from_the_lines_of_a_file(files):
    """Spaces count, line ends and a mark at the beginning do not; what has no token is listed."""
    lines = ["\ufeffwi", " hat", "hat\r", "", "zyx", "wide hat", "lo"]
    Path("w.txt").write_bytes("\n".join(lines).encode() + b"\nb\xff\n")
    found = run("base.json", "--strings", "w.txt", "-o", "n.json", "--json")
    strings = ["wi", " hat", "hat", "", "zyx", "wide hat", "lo", "b\udcff"]
    expected = surgery.add_strings("base.json", strings)
    again = bytepair.Tokenizer.from_file("n.json")
    assert again.vocabulary == expected.tokenizer.vocabulary
    written = json.loads(found.stdout)
    assert [row["text"] for row in written["rows"]] == strings
    assert written["outcomes"] == expected.report.outcomes
    errors = found.stderr.splitlines()
    assert errors[:5] == [
        "' hat': needs helpers that others need, too",
        "'hat': needs helpers, 'ha'",
        "'': empty",
        "'zyx': needs helpers, 'zy'",
        "'wide hat': cut",
    ]
    assert "--allow-helpers adds them" in found.stderr
    options = "--allow-helpers", "-o", "m.json", "-q"
    assert run("base.json", "--strings", "w.txt", *options).output == ""
    helped = bytepair.Tokenizer.from_file("m.json")
    assert [len(helped.encode(text)) for text in (" hat", "hat", "zyx")] == [1, 1, 1]
