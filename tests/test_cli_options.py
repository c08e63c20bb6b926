"""Options of the command line: those that say what a file leaves out, and how messages name all of them.

Commands run in this process. Left out: what each option does in Python (``test_options_of_files``).
"""

import inspect
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import bytepair
from bytepair import Tokenizer, analyze, scale, surgery
from bytepair._training.options import TrainingOptions
from bytepair.analyze._compare.converting import convert
from bytepair.segmentation import Segmenter

click = pytest.importorskip("click", reason="runs the command line")
testing = pytest.importorskip("click.testing", reason="runs the command line")

from bytepair.cli.app import app  # noqa: E402 -- needs click

TEXTS = ["low lower lowest, 123 a1b", "it's 12 low"] * 3
CONTEXT = click.Context(app)
COMMANDS = {name: app.get_command(CONTEXT, name) for name in app.list_commands(CONTEXT)}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write corpora, counts, tokenizers and codes in the working directory."""
    monkeypatch.chdir(tmp_path)
    Path("c.txt").write_text("\n".join(TEXTS))
    lines = [json.dumps({"text": text, "lang": "en"}) for text in TEXTS]
    Path("c.jsonl").write_text("\n".join(lines))
    own = bytepair.train_from_iterator(TEXTS, merges=12, dialect="gpt4")
    for name in ("own.json", "described.tiktoken", "ranks.tiktoken"):
        own.save(name)
    Path("ranks.tiktoken.json").unlink()
    codes = bytepair.train_from_iterator(TEXTS, merges=12, dialect="subword-nmt")
    codes.save("codes", format="subword-nmt")
    scale.count("c.txt", output="counts.parquet", dialect="gpt4")
    scale.count("c.jsonl", output="groups.parquet", dialect="gpt4", group="lang")
    Path("ids.txt").write_text("1 2 3\n")
    return tmp_path


def run(*arguments: str) -> Any:
    """Run a command, and give its outcome."""
    found = testing.CliRunner().invoke(app, list(arguments), input="low\n")
    assert found.exception is None or isinstance(found.exception, SystemExit)
    return found


def output(*arguments: str) -> str:
    """Run a command that must succeed, and give what it writes."""
    found = run(*arguments)
    assert found.exit_code == 0, found.stderr
    return str(found.stdout)


# What a file leaves out


@pytest.mark.parametrize(
    ("typed", "options"),
    [
        (["--dialect", "gpt2"], {"dialect": "gpt2"}),
        (["--pattern", r"\d|\D+"], {"pattern": r"\d|\D+"}),
        (["--pattern", r"\p{N}", "--pattern", "gpt2"], {"pattern": [r"\p{N}", "gpt2"]}),
        (["--pattern", ""], {"pattern": ""}),
        (
            ["--dialect", "gpt4", "--special", "a=b=900", "--special", "low=901"],
            {"dialect": "gpt4", "special_tokens": {"a=b": 900, "low": 901}},
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_a_file_leaves_out_is_given_to_info_and_convert(
    typed: list[str], options: dict[str, Any], files: Path
) -> None:
    """They work with the tokenizer that ``from_file`` gives with these options."""
    expected = Tokenizer.from_file("ranks.tiktoken", **options)
    found = json.loads(output("info", "ranks.tiktoken", "--json", *typed))
    assert found["fingerprint"] == expected.fingerprint
    output("convert", "ranks.tiktoken", "converted.bytepair", *typed)
    assert Tokenizer.from_file("converted.bytepair") == expected


def test_other_commands_say_where_these_options_are(files: Path) -> None:
    """What convert writes needs none."""
    found = run("encode", "ranks.tiktoken", "c.txt")
    assert found.exit_code == 1
    assert "pass --dialect or --pattern of bytepair convert" in found.stderr


def test_an_encoding_is_chosen_among_those_of_a_file(
    shared: Callable[[str], Path],
) -> None:
    """Of two encodings that share their ranks the command takes the one that is named."""
    path = shared("vocabularies/tiktoken/o200k_base.tiktoken")
    found = json.loads(
        output("info", str(path), "--json", "--encoding", "o200k_harmony")
    )
    assert found["special_tokens"]["<|message|>"] == 200008


@pytest.mark.parametrize("command", ["info", "convert"])
def test_an_option_that_does_not_act_is_refused_as_it_is_typed(
    command: str, files: Path
) -> None:
    """No option that says what a file leaves out is passed over."""
    more = {"convert": ["o.bytepair"]}.get(command, [])
    for typed in (
        ["--dialect", "gpt4"],
        ["--pattern", ""],
        ["--special", "<a>=900"],
        ["--encoding", "cl100k_base"],
    ):
        found = run(command, "own.json", *more, *typed)
        assert found.exit_code == 1
        assert f"{typed[0]} has no effect on this format" in found.stderr
    found = run(command, "own.json", *more, "--special", "<a>")
    assert found.exit_code == 2
    assert "TOKEN=ID" in found.stderr


@pytest.mark.parametrize("typed", [["--dialect", "gpt4"], ["--pattern", "cl100k"]])
def test_training_goes_on_from_ranks_in_the_dialect_that_is_given(
    typed: list[str], files: Path
) -> None:
    """Ranks alone do not say how they split; the options of the training do."""
    target = ["c.txt", "-o", "more.bytepair", "--merges", "14"]
    found = run("train", *target, "--resume", "ranks.tiktoken")
    assert found.exit_code == 1
    assert "pass --dialect or --pattern" in found.stderr
    output("train", *target, "--resume", "ranks.tiktoken", *typed)
    expected = bytepair.train("c.txt", merges=14, resume="described.tiktoken")
    assert Tokenizer.from_file("more.bytepair").merges == expected.merges
    options = {typed[0].removeprefix("--"): typed[1]}
    again = bytepair.train("c.txt", merges=14, resume="ranks.tiktoken", **options)  # type: ignore[arg-type]
    assert again.merges == expected.merges


# Options that nothing given has a use for

IDLE = {
    "train c.txt -o o.json --merges 3 --field text": "--field text is for JSON lines",
    "train c.txt -o o.json --merges 3 --skip-bad": "--skip-bad is for JSON lines",
    "train counts.parquet -o o.json --merges 3 --field text": "--field is for text",
    "count-pieces c.txt -o n.parquet --skip-bad": "--skip-bad is for JSON lines",
    "count-pieces c.txt -o n.parquet --field text": "--field text is for JSON lines",
    "shard own.json c.txt -o shards --skip-bad": "--skip-bad is for JSON lines",
    "shard own.json c.txt -o shards --field text": "--field text is for JSON lines",
    "count-tokens own.json c.txt --field text": "--field text is for JSON lines",
    "compare own.json own.json --exit-code --limit 3": "--limit has no effect with --exit",
    "compare own.json own.json --extends --input-format lines": "lines has no effect with --extends",
    "extend own.json c.txt --add 3 -o e.json --field a": "--field a is for JSON",
    "extend own.json counts.parquet --add 3 -o e.json --field text": "--field is for text",
    "prune own.json c.txt --to 260 --field text": "--field text is for JSON",
    "doctor own.json --corpus c.txt --select BP1": "--corpus is for BP601, BP602",
    "doctor own.json --config own.json --select BP1": "--config is for BP403, BP404",
    "doctor own.json --json --limit 3": "--limit has no effect on --json",
    "doctor own.json --explain BP101": "TOKENIZER has no effect with --explain",
    "doctor --explain BP101 --json": "--json has no effect with --explain",
    "doctor --explain BP101 --field text": "--field has no effect with --explain",
    "encode own.json c.txt --add-special-tokens": "--add-special-tokens has no effect",
    "info own.json --json --verbose": "--verbose has no effect on --json",
    **{
        f"count-pieces counts.parquet -o n.parquet --merge {typed}": (
            f"{typed.split()[0]} has no effect on --merge"
        )
        for typed in (
            "--processes 1",
            "--task-size 256MiB",
            "--engine local",
            "--spark a=b",
            "--field text",
            "--skip-bad",
            "--group lang",
        )
    },
}


@pytest.mark.parametrize("typed", IDLE)
def test_an_option_without_a_use_is_refused_as_it_is_typed(
    typed: str, files: Path
) -> None:
    """Also one that says the default: no input of the command has a use for it."""
    before = set(files.rglob("*"))
    found = run(*typed.split())
    assert found.exit_code in (1, 2)
    assert IDLE[typed] in found.stderr
    assert set(files.rglob("*")) == before


# Names of options in messages


def python_names() -> set[str]:
    """List the arguments of everything that commands call."""
    called = [
        Tokenizer.from_file,
        Tokenizer.encode,
        Tokenizer.encode_file,
        Tokenizer.save,
        Segmenter.__init__,
        Segmenter.segment_lines,
        bytepair.train,
        scale.count,
        scale.tokenize,
        scale.merge_files,
        convert,
        surgery.extend,
        surgery.prune,
        surgery.remove,
        surgery.add_strings,
        surgery.merge_vocabularies,
        surgery.Surgery.embedding_map,
        *(call for call in vars(analyze).values() if inspect.isfunction(call)),
    ]
    names = {name for call in called for name in inspect.signature(call).parameters}
    names |= set(TrainingOptions.__annotations__) | {"normalize"}
    return names - {"self", "options"}


def as_in_python() -> re.Pattern[str]:
    """Match an argument that is named as in Python, but no part of a path."""
    names = python_names()
    assigned = "|".join(sorted(names))
    alone = "|".join(sorted(name for name in names if "_" in name))
    return re.compile(rf"(?<![-\w.])({assigned})=|(?<![-\w./])({alone})\b")


BASES = {
    "train": [
        ["c.txt", "-o", "o.json", "--merges", "3"],
        ["counts.parquet", "-o", "o.json", "--merges", "3"],
        ["groups.parquet", "-o", "o.json", "--merges", "3"],
        ["c.jsonl", "-o", "o.model", "--merges", "30", "--resume", "own.json"],
        ["c.txt", "-o", "o.x", "--merges", "3"],
    ],
    "encode": [["own.json"], ["ranks.tiktoken"], ["described.tiktoken"]],
    "decode": [["own.json", "ids.txt"], ["ranks.tiktoken", "ids.txt"]],
    "count-pieces": [
        ["c.txt", "-o", "n.parquet", "--processes", "1"],
        ["counts.parquet", "-o", "n.parquet", "--merge"],
    ],
    "shard": [
        ["own.json", "c.txt", "-o", "shards", "--processes", "1"],
        ["ranks.tiktoken", "c.jsonl", "-o", "others", "--processes", "1"],
    ],
    "segment": [["codes"], ["own.json"], ["ranks.tiktoken"]],
    "info": [["own.json"], ["ranks.tiktoken"], ["described.tiktoken"]],
    "extend": [
        ["own.json", "c.txt", "--add", "3", "-o", "e.json"],
        ["ranks.tiktoken", "c.jsonl", "--add", "3", "-o", "e.bytepair"],
        ["own.json", "counts.parquet", "--add", "3", "-o", "e.x"],
        ["own.json", "--from", "described.tiktoken", "-o", "e.json"],
    ],
    "prune": [
        ["own.json", "c.txt", "--to", "260", "-o", "e.json"],
        ["ranks.tiktoken", "c.jsonl", "--min-count", "2", "-o", "e.bytepair"],
        ["own.json", "c.txt", "--to", "260", "--matching", "low", "-o", "e.tiktoken"],
    ],
    "remove": [
        ["own.json", "low", "-o", "e.json"],
        ["ranks.tiktoken", "--id", "257", "-o", "e.bytepair"],
        ["own.json", "--findings", "ids.txt", "-o", "e.x"],
    ],
    "convert": [["own.json", "o.x"], ["own.json", "o.model"], ["ranks.tiktoken", "o"]],
    "report": [
        ["own.json", "-o", "r.html"],
        ["ranks.tiktoken", "c.jsonl", "-o", "r.html"],
    ],
    "playground": [["-o", "p.html"], ["own.json", "-o", "p.html"]],
    "show": [["own.json", "--text", "low 12"], ["ranks.tiktoken", "low"]],
    "trace": [["own.json", "lower"], ["ranks.tiktoken", "low"]],
    "stats": [["own.json", "c.txt"], ["ranks.tiktoken", "own.json", "c.jsonl"]],
    "count-tokens": [["own.json", "c.txt"], ["ranks.tiktoken", "c.jsonl"]],
    "doctor": [["own.json"], ["ranks.tiktoken"]],
    "compare": [
        ["own.json", "described.tiktoken"],
        ["ranks.tiktoken", "own.json", "c.txt"],
        ["own.json", "own.json", "c.jsonl"],
        ["own.json", "own.json", "--exit-code"],
        ["own.json", "ranks.tiktoken", "--extends"],
    ],
}

# Values of options that are texts; others get a name that nothing has.
VALUES = {
    "dialect": ["no-such", "gpt2", "sentencepiece"],
    "pattern": ["(", "cl100k", ""],
    "normalize": ["no-such", "nfc", ""],
    "special": ["<a>", "<a>=900"],
    "encoding": ["no-such", "cl100k_base"],
    "memory_limit": ["0", "x"],
    "task_size": ["0", "x", "1MB"],
    "group": ["lang", "no-such"],
    "separator": ["", "x"],
    "unknown_token": ["", "<unk>"],
    "glossaries": ["("],
    "max_growth": ["0%", "x"],
    "max_changed_texts": ["0", "0%", "x"],
}


def values(option: Any) -> list[list[str]]:
    """List values for an option, most of them bad."""
    if option.is_flag:
        return [[]]
    if isinstance(option.type, click.Choice):
        return [[value] for value in option.type.choices]
    numbers = {"N": ["0", "1", "-1", "x", str(10**25)], "SHARE": ["0", "-1", "nan"]}
    texts = VALUES.get(option.name, ["no-such"])
    return [[value] for value in numbers.get(option.metavar, texts)]


def cases(command: str, *, is_whole: bool) -> Iterator[list[str]]:
    """Add each option with each of its values to each base of a command; or the first with the first."""
    options = [
        option
        for option in COMMANDS[command].params
        if option.opts[0].startswith("--") and option.name not in ("help", "engine")
    ]
    for base in BASES[command] if is_whole else BASES[command][:1]:
        yield base
        for option in options:
            for value in values(option) if is_whole else values(option)[:1]:
                yield [*base, option.opts[0], *value]


@pytest.mark.parametrize(
    "is_whole", [False, pytest.param(True, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("command", sorted(BASES))
def test_messages_name_options_as_they_are_typed(
    command: str, is_whole: bool, files: Path
) -> None:
    """No message names an argument of Python, whatever option is idle or has a bad value."""
    refused = 0
    for arguments in cases(command, is_whole=is_whole):
        found = run(command, *arguments)
        message = " ".join(found.stderr.replace("│", " ").split())
        refused += found.exit_code != 0
        assert not as_in_python().search(message), (arguments, message)
    assert refused or not is_whole


RENAMED = {
    "--groups: 'no-such' asked for": "train groups.parquet -o o.json --merges 3 --groups no-such",
    "--dropout': 2.0 is not in the range 0<=x<=1": "segment codes --dropout 2",
    '--encoding: "no-such" is not known': "info ranks.tiktoken --encoding no-such",
    "has another --normalize than": "train c.txt -o o.json --merges 30 --resume own.json --normalize nfc",
}


@pytest.mark.parametrize("message", RENAMED)
def test_options_that_python_calls_otherwise_have_their_names(
    message: str, files: Path
) -> None:
    """Messages of functions name the option, also where its value or its argument has another name."""
    found = run(*RENAMED[message].split())
    assert found.exit_code != 0
    assert message in found.stderr


def test_every_command_is_walked() -> None:
    """A new command gets its bases above; ``demo`` has nothing to refuse."""
    assert {*BASES, "demo"} == set(COMMANDS)


# Input that is not what the command takes it for


def test_raw_ids_are_read_as_encode_writes_them(files: Path) -> None:
    """Without a format, ``decode`` gives the text of every file that ``encode`` wrote."""
    text = Path("c.txt").read_text()
    large = bytepair.train_from_iterator(TEXTS, merges=12, dialect="gpt4")
    large.with_special_tokens({"<far>": 70_000}).save("large.bytepair")
    for tokenizer in ("own.json", "large.bytepair"):
        for name in ("ids.bin", "ids.npy", "ids.txt"):
            output("encode", tokenizer, "c.txt", "-o", name)
            assert output("decode", tokenizer, name) == text
    output("encode", "own.json", "c.txt", "-o", "ids.u32", "--format", "uint32")
    assert output("decode", "own.json", "ids.u32") == text
    output("encode", "own.json", "c.txt", "-o", "ids.u16", "--format", "uint16")
    assert output("decode", "own.json", "ids.u16") == text


@pytest.mark.parametrize(
    ("name", "written", "advice"),
    [
        ("ids.bin", "uint32", "--format uint16 or --format uint32"),
        ("ids.bin", "text", "--format text"),
        ("ids.bin", "json", "--format text, json"),
        ("ids", "uint16", "--format uint16 or --format uint32"),
        ("ids.txt", "uint32", "--format uint16 or --format uint32"),
        ("ids", "json", "--format json"),
    ],
)
def test_ids_that_could_be_misread_are_refused_with_what_to_type(
    name: str, written: str, advice: str, files: Path
) -> None:
    """A file that says something else than it holds is no text of wrong ids."""
    output("encode", "own.json", "c.txt", "-o", name, "--format", written)
    found = run("decode", "own.json", name)
    assert found.exit_code == 1
    assert advice in found.stderr
    typed = ["--format", written]
    assert output("decode", "own.json", name, *typed) == Path("c.txt").read_text()


TOKENIZERS = {
    "t.bytepair": "a .bytepair tokenizer",
    "t.bytepair-compiled": "a compiled tokenizer",
    "ranks.tiktoken": "ranks of a tokenizer",
    "codes": "merges of a tokenizer",
    "ids.npy": "a numpy array",
}


@pytest.mark.parametrize("name", TOKENIZERS)
def test_a_file_that_is_no_text_is_refused_by_name(name: str, files: Path) -> None:
    """Neither training nor counting nor encoding takes a tokenizer or an array for text."""
    own = Tokenizer.from_file("own.json")
    for path in ("t.bytepair", "t.bytepair-compiled"):
        own.save(path)
    output("encode", "own.json", "c.txt", "-o", "ids.npy")
    for command in (
        ["train", name, "-o", "o.json", "--merges", "2"],
        ["count-pieces", name, "-o", "o.parquet"],
        ["shard", "own.json", name, "-o", "shards"],
        ["encode", "own.json", name],
        ["segment", "codes", name],
    ):
        found = run(*command)
        assert found.exit_code == 1, command
        assert f"like {TOKENIZERS[name]}" in found.stderr, command
    typed = ["--input-format", "text", "--dialect", "byte-stream"]
    output("train", name, "-o", "o.bytepair", "--merges", "2", *typed)
    data = Path(name).read_bytes()
    found = testing.CliRunner().invoke(app, ["encode", "own.json"], input=data)
    assert own.decode_bytes(list(map(int, found.stdout.split()))) == data


@pytest.mark.parametrize("name", ["c.jsonl", "ids.npy", "counts.parquet", "c.txt"])
def test_a_corpus_is_no_tokenizer(name: str, files: Path) -> None:
    """Loading one says what the file looks like."""
    output("encode", "own.json", "c.txt", "-o", "ids.npy")
    found = run("info", name)
    assert found.exit_code == 1
    assert "not a known tokenizer format: " in found.stderr
    told = "JSON lines are a corpus; name the tokenizer"
    looks = {"c.jsonl": told, "ids.npy": "numpy", "counts.parquet": "Parquet"}
    assert looks.get(name, "begins with") in found.stderr


@pytest.mark.parametrize("ending", ["br", "lz4", "7z", "zip", "rar", "Z", "tar.gz"])
def test_a_compression_that_nothing_reads_is_refused_by_its_ending(
    ending: str, files: Path
) -> None:
    """Brotli has no signature; the name says it, and what to do."""
    path = f"c.txt.{ending}"
    Path(path).write_bytes(b"\x0b\x02\x80low\x03")
    for command in (
        ["train", path, "-o", "o.json", "--merges", "2"],
        ["count-pieces", path, "-o", "o.parquet"],
        ["encode", "own.json", path],
    ):
        found = run(*command)
        assert found.exit_code == 1, command
        assert "unpack it first" in found.stderr or "looks like" in found.stderr


# Going on after Ctrl-C


@pytest.mark.parametrize(
    ("target", "options"),
    [
        (["-o", 'a b\'s "c".json'], []),
        (["-o", "-o.json"], ["--ties", "largest_text"]),
        (["-o", "--resume.bytepair"], ["--dialect", "sennrich"]),
        (["-o", "tab\tand line\n.json"], ["--field", "text"]),
        (["-o", "$HOME.tiktoken"], ["--special", "<end>", "--pattern", "gpt2"]),
        (["-o", "x", "--format", "gpt2"], ["--dialect", "gpt2"]),
        (["-o", "x.y", "--format", "fastbpe"], ["--dialect", "subword-nmt"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_what_is_said_after_ctrl_c_works_as_it_is_pasted(
    target: list[str],
    options: list[str],
    files: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A shell reads the hint as the path that was written, and training ends as without a break."""
    train = bytepair.train

    def interrupted(corpus: Any, **wanted: Any) -> None:
        part = train(corpus, **{**wanted, "merges": 4})
        message = "interrupted"
        raise bytepair.TrainingInterrupted(message, part)

    source = "c.jsonl" if "--field" in options else "c.txt"
    command = ["train", source, *target, *options, "--merges", "9"]
    output(*command)
    path = target[1]
    whole = Tokenizer.from_file(path)
    monkeypatch.setattr(bytepair, "train", interrupted)
    found = run(*command)
    assert found.exit_code == 130
    hint = re.search(r"with (--resume .*)", found.stderr)
    assert hint
    shown = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {hint[1]}"],
        capture_output=True,
        check=True,
    )
    pasted = shown.stdout.decode().removesuffix("\0").split("\0")
    assert pasted == ["--resume", path]
    monkeypatch.setattr(bytepair, "train", train)
    output(*command, *pasted)
    assert Tokenizer.from_file(path).merges == whole.merges


@pytest.mark.parametrize("name", ["field", "field=a", "min_count", "separator must be"])
def test_a_missing_file_keeps_its_name(name):
    """A file with the name of an option is told of as it was typed."""
    result = testing.CliRunner().invoke(
        app, ["train", name, "--merges", "1", "--steps"]
    )
    assert result.stderr == f"bytepair: {name}: no such file\n"
