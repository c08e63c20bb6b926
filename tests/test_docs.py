"""The documents: what they show is run, and what they list is complete."""

import ast
import doctest
import json
import os
import random
import re
import runpy
import shlex
import statistics
import subprocess
import sys
from pathlib import Path

import click
import pytest
from benchmarks import table
from docs.website.matrix import held, trained
from docs.website.measured import cells_of
from tests.commands import run
from tests.conftest import SHARED

import bytepair
from bytepair import surgery
from bytepair._io import saving
from bytepair.analyze.doctor._codes import CODES
from bytepair.cli.app import app
from bytepair.cli.commands import COMMANDS as ENTRIES

REPOSITORY = Path(__file__).parent.parent
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")

CONTEXT = click.Context(app)
COMMANDS = {name: app.get_command(CONTEXT, name) for name in app.list_commands(CONTEXT)}

PRINTED = sorted((Path(__file__).parent / "vectors" / "examples").glob("*.txt"))


def page(name):
    """Read a page of the documentation."""
    return (REPOSITORY / "docs" / name).read_text(encoding="utf-8")


def blocks(text, language):
    """Give the blocks of code of a page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def last_table(name):
    """Give the rows of the last table of a page, as cells."""
    tables = [part for part in page(name).split("\n\n") if part.startswith("|")]
    rows = [line.strip("|").split("|") for line in tables[-1].splitlines()]
    return [[cell.strip() for cell in row] for row in rows if "---" not in row[0]]


# How-tos whose examples need more than their page has


EXTENDING, PRUNING = page("how-to/extend.md"), page("how-to/prune.md")


def ended(command, folder):
    """Run a program that finds those of this Python, and give what it writes."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "PYTHONUTF8": "1"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    found = subprocess.run(command, cwd=folder, env=env, encoding="utf-8", **pipes)
    assert found.returncode == 0, (command, found.stdout)
    return found.stdout


def extending(folder, monkeypatch):
    """Put into a folder what the how-to of extending begins with; a small tokenizer if GPT-2's is absent."""
    monkeypatch.chdir(folder)
    vocabulary, corpus = SHARED / "vocabularies/gpt2", SHARED / "corpora/persian.txt"
    rng = random.Random(1)
    letters = "ابپتثجچحخدذرزسشعغفقکگلمنوهی"
    words = ["".join(rng.choices(letters, k=rng.randint(2, 6))) for _ in range(400)]
    text = " ".join(rng.choices(words, k=5000))
    if corpus.exists():
        text = corpus.read_text("utf-8")[:100_000]
    Path("persian.txt").write_text(text, "utf-8")
    if vocabulary.exists():
        Path("gpt2").symlink_to(vocabulary)
    else:
        base = bytepair.train_from_iterator(["low lower"], merges=2, dialect="gpt2")
        Path("gpt2").mkdir()
        base.save("gpt2/tokenizer.json")
    return bytepair.Tokenizer.from_file("gpt2").n_vocab


@pytest.mark.slow
def test_the_examples_of_extending_run(tmp_path, monkeypatch):
    """From a tokenizer and a corpus to a new file and the rows of a matrix, in Python and by the command."""
    np = pytest.importorskip("numpy")
    n_old = extending(tmp_path, monkeypatch)
    np.save("wte.npy", np.random.default_rng(1).normal(size=(n_old, 3)))
    names = {}
    for block in blocks(EXTENDING, "python"):
        block = block.replace("(100, 200, report.added)", "(5, 9, report.added)")
        exec(block, names)
    again = bytepair.Tokenizer.from_file("gpt2-persian.json")
    assert again == names["found"].tokenizer
    assert names["limited"].report.added == 300
    old, new = np.load("wte.npy"), np.load("wte-persian.npy")
    assert len(new) == -(-again.n_vocab // 64) * 64
    assert (new[:n_old] == old).all()
    assert new[n_old : again.n_vocab].all()
    commands = (shlex.split(block)[1:] for block in blocks(EXTENDING, "sh"))
    extend, scope, strings, verify = commands
    run(*("300" if word == "2000" else word for word in extend))
    assert bytepair.Tokenizer.from_file("gpt2-persian.json") == again
    small = bytepair.train_from_iterator(["low lower"], merges=2, dialect="gpt2")
    small.save("small.json")
    Path("words.txt").write_text(" tokenizer\nzzzz\n")
    for command in (scope, strings):
        run(*("small.json" if word == "gpt2" else word for word in command))
    added = bytepair.Tokenizer.from_file("gpt2")
    added.with_added_tokens([bytepair.AddedToken("low")]).save("added.json")
    assert run(*verify, code=1).output.startswith("added.json does not extend gpt2\n")


def pruning(folder, monkeypatch):
    """Put into a folder what the how-to of pruning begins with; a small tokenizer has the tokens that it names."""
    monkeypatch.chdir(folder)
    words = "rawdownload SolidGoldMagikarp\nrawdownloadcloneembedreportprint\n"
    text = "Now is the winter of our discontent made glorious summer. " * 9
    base = bytepair.train_from_iterator([words * 9 + text], merges=90, dialect="gpt2")
    base = base.with_special_tokens(["<|endoftext|>"])
    base.save("gpt2.json")
    bytepair.train_from_iterator([text], merges=9, dialect="gpt2").save("other.json")
    Path("plays.txt").write_text(text, "utf-8")
    return base


def test_the_examples_of_pruning_run(tmp_path, monkeypatch):
    """In Python and by the commands: smaller vocabularies, mended ones, joined ones, and the rows of a matrix."""
    np = pytest.importorskip("numpy")
    base = pruning(tmp_path, monkeypatch)
    np.save("wte.npy", np.random.default_rng(1).normal(size=(base.n_vocab, 3)))
    names = {}
    for block in blocks(PRUNING, "python"):
        exec(block.replace('"gpt2"', '"gpt2.json"'), names)
    pruned, old, new = names["pruned"], np.load("wte.npy"), np.load("wte-plays.npy")
    assert 257 < pruned.tokenizer.n_vocab < base.n_vocab
    assert (len(new) % 64, len(names["long"].report.removed)) == (0, 2)
    for id_, now in enumerate(pruned.id_map):
        assert now < 0 or (new[now] == old[id_]).all()
    mended = bytepair.Tokenizer.from_file("gpt2-mended.json")
    assert mended.vocabulary == names["mended"].tokenizer.vocabulary
    assert mended.merges == names["mended"].tokenizer.merges
    assert (
        names["mended"].report.cascade.following[-1].token
        == "rawdownloadcloneembedreportprint"
    )
    written = []
    for line in (
        "".join(blocks(PRUNING, "sh")).replace(" gpt2 ", " gpt2.json ").splitlines()
    ):
        command, _, target = line.replace("--to 8000", "--to 270").partition(" > ")
        found = run(*shlex.split(command)[1:])
        written.append(found.stderr)
        if target:  # a tokenizer as small as this has no token to remove
            glitch = {"id": base.token_to_id("rawdownload"), "text": "rawdownload"}
            findings = {"findings": [{"code": "BP603", "tokens": [glitch]}]}
            Path(target).write_text(json.dumps(json.loads(found.stdout) | findings))
    assert "270 tokens left, renumbered from 0 to 269" in written[0]
    shown = PRUNING.split("SolidGoldMagikarp'\n```\n\n```text\n")[1].split("```")[0]
    for line, like in zip(written[1].splitlines(), shown.splitlines(), strict=True):
        assert re.sub(r"[0-9, ].*", "", line) == re.sub(r"[0-9, ].*", "", like)
    assert len(written) == 5
    joined = bytepair.Tokenizer.from_file("gpt2-and-other.json")
    assert joined.vocabulary[: base.n_vocab] == base.vocabulary


def test_the_example_of_a_pruned_model_runs(tmp_path, monkeypatch):
    """The rows of both matrices of a model of transformers are those that stay."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    base = pruning(tmp_path, monkeypatch)
    (block,) = blocks(PRUNING, "python torch")
    pruned = surgery.prune(base, texts=["winter"], to=262, numbering="compact")
    kept = [id_ for id_, now in enumerate(pruned.id_map) if now >= 0]
    for is_tied in (True, False):
        sizes = {"n_embd": 4, "n_layer": 1, "n_head": 1, "vocab_size": base.n_vocab + 5}
        config = transformers.GPT2Config(**sizes, tie_word_embeddings=is_tied)
        model = transformers.GPT2LMHeadModel(config)
        sides = (model.get_input_embeddings, model.get_output_embeddings)
        before = [side().weight.detach().clone() for side in sides]
        exec(block, {"model": model, "pruned": pruned})
        for side, matrix in zip(sides, before, strict=True):
            assert torch.equal(side().weight, matrix[kept])


@pytest.mark.parametrize("block", ["torch", "torch untied"])
def test_the_example_of_a_resized_model_runs(block, tmp_path, monkeypatch):
    """The rows of a model of transformers are those of the map, also of one with two matrices."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    n_old = extending(tmp_path, monkeypatch)
    sizes = {"hidden_size": 4, "num_hidden_layers": 1, "intermediate_size": 4}
    sizes |= {"num_attention_heads": 1, "num_key_value_heads": 1}
    sizes["tie_word_embeddings"] = is_tied = block == "torch"
    config = transformers.LlamaConfig(vocab_size=n_old + 7, **sizes)
    model = transformers.LlamaForCausalLM(config).to(torch.bfloat16)
    matrices = model.get_input_embeddings, model.get_output_embeddings
    old = [matrix().weight.detach().float().numpy().copy() for matrix in matrices]
    assert is_tied == (old[0] == old[1]).all()
    found = surgery.extend("gpt2", "persian.txt", add=20)
    (code,) = blocks(EXTENDING, f"python {block}")
    exec(code, {"model": model, "found": found})
    for matrix, before, side in zip(matrices, old, ("input", "output"), strict=True):
        rows = found.embedding_map("mean", side, rows=n_old + 7, multiple_of=64)
        expected = torch.from_numpy(rows @ before).to(torch.bfloat16)
        assert torch.equal(matrix().weight.detach(), expected)
    assert model.config.vocab_size == rows.shape[0]
    ids = torch.tensor([found.tokenizer.encode(" سلام دنیا")])
    assert model(ids).logits.shape == (1, ids.shape[1], rows.shape[0])


def test_the_examples_of_the_stub_run():
    """What the docstrings of the compiled core show is what Python gives."""
    stub = REPOSITORY / "python" / "bytepair" / "_core.pyi"
    runner = doctest.DocTestRunner(verbose=False)
    for node in ast.walk(ast.parse(stub.read_text(encoding="utf-8"))):
        is_documented = isinstance(node, (ast.FunctionDef, ast.ClassDef))
        text = ast.get_docstring(node) if is_documented else None
        if text:
            parser = doctest.DocTestParser()
            runner.run(parser.get_doctest(text, {}, node.name, "_core.pyi", 0))
    assert runner.summarize(verbose=False).failed == 0
    assert runner.tries > 20


def test_the_example_of_corpora_runs(tmp_path):
    """From compressed lines to counts, a tokenizer, shards and windows of them."""
    pa = pytest.importorskip("pyarrow", reason="corpora need pyarrow")
    (example,) = blocks(page("how-to/corpora.md"), "python")
    text = " ".join(f"{place} the cat sat on the mat." for place in range(3000))
    line = json.dumps({"text": text}).encode()
    (tmp_path / "corpus").mkdir()
    for name in ("a", "b"):
        packed = pa.compress(line + b"\n", "zstd", asbytes=True)
        (tmp_path / "corpus" / f"{name}.jsonl.zst").write_bytes(packed)
    shown = "\n    print(bytepair.__name__, len(windows) * len(windows[0]))\n"
    (tmp_path / "example.py").write_text(example.rstrip() + shown)
    name, n_ids = ended([sys.executable, "example.py"], tmp_path).split()
    assert (name, int(n_ids) % 2048) == ("bytepair", 0)
    assert int(n_ids) > 0


HOW_TO = page("how-to/migrate/subword-nmt.md")


def rows_of_commands():
    """Give what is done in two ways in the how-to for users of subword-nmt."""
    lines = [line for line in HOW_TO.splitlines() if line.startswith("| ")][1:]
    cells = [re.split(r"(?<!\\)\|", line.strip("|")) for line in lines]
    return [[cell.strip().replace("\\|", "|") for cell in row] for row in cells]


@pytest.mark.slow
def test_commands_of_subword_nmt_write_what_ours_write(shared, tmp_path):
    """Row by row, each in a folder of its own, with what the rows before wrote."""
    pytest.importorskip("subword_nmt")
    text = shared("corpora/tinyshakespeare.txt").read_text(encoding="utf-8")
    other = shared("corpora/spanish-novels.txt").read_text(encoding="utf-8")
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    for folder in (theirs, ours):
        folder.mkdir()
        (folder / "train.txt").write_text(text[:60_000], encoding="utf-8")
        (folder / "other.txt").write_text(other[:60_000], encoding="utf-8")
        (folder / "test.txt").write_text(text[80_000:90_000] + "12 345\n")
    rows = rows_of_commands()
    assert len(rows) == 10
    for _, first, second in rows:
        ended(["sh", "-c", first.strip("`")], theirs)
        ended(["sh", "-c", second.strip("`")], ours)
        names = sorted(path.name for path in theirs.iterdir())
        assert sorted(path.name for path in ours.iterdir()) == names
        for name in names:
            assert (ours / name).read_bytes() == (theirs / name).read_bytes(), second
    for language, program in (("sh", "sh"), ("python", sys.executable)):
        for block in blocks(HOW_TO, language):
            ended([program, "-c", block], ours)
    assert (ours / "words.bpe").read_bytes() == (ours / "codes.bpe").read_bytes()


# What lists are complete


@pytest.mark.parametrize("name", ["dialects", "formats"])
def test_every_dialect_is_in_the_tables(name):
    """Those of dialects and of formats have each name once."""
    rows = last_table(f"reference/{name}.md")[1:]
    names = [name for row in rows for name in re.findall(r"`([^`]+)`", row[0])]
    assert sorted(names) == sorted(bytepair.dialects())


def test_every_format_is_in_the_list_of_formats():
    """The first table of formats has each name once."""
    names = re.findall(r"^\| `([\w-]+)` \|", page("reference/formats.md"), re.MULTILINE)
    assert tuple(names[: len(saving.FORMATS)]) == saving.FORMATS


@pytest.mark.parametrize(
    "row", last_table("reference/formats.md")[1:], ids=lambda row: row[0]
)
def test_formats_hold_what_the_table_says(row, tmp_path):
    """A tick means that a tokenizer of the dialect comes back with the same ids."""
    names = re.findall(r"`([^`]+)`", row[0])
    cells = last_table("reference/formats.md")[0][1:]
    header = [re.findall(r"`([^`]+)`", cell) for cell in cells]
    for name in names:
        tokenizer = trained(name)
        cells = zip(header, row[1:], strict=True)
        for format_name, cell in [(n, cell) for column, cell in cells for n in column]:
            found = held(tokenizer, format_name, tmp_path / name / format_name)
            assert (found == "ids") == (cell == "✓"), (name, format_name)


def test_every_error_is_in_the_list_of_errors():
    """The table has the classes that are exported, and no other."""
    names = vars(bytepair.errors)
    classes = {name for name in names if name.endswith(("Error", "ted"))}
    listed = {row[0].strip("`") for row in last_table("reference/errors.md")[1:]}
    assert listed == classes - {"TokenizerError"}


def test_the_first_pages_of_the_documentation_list_all_others():
    """A reader finds every page from the home page and those of its sections; findings have a list of their own."""
    docs = REPOSITORY / "docs"
    listed = {
        (first.parent / target).resolve()
        for first in (docs / "index.md", *docs.glob("*/README.md"))
        for target in re.findall(r"\]\(([\w./-]+\.md)\)", first.read_text("utf-8"))
    }
    pages = {path.resolve() for path in docs.glob("**/*.md")}
    assert pages - listed == {docs / "index.md"}


CHART = REPOSITORY / "docs" / "pictures" / "chart.py"
CHART_NAMES = runpy.run_path(str(CHART))


def test_the_chart_shows_what_was_measured():
    """The picture is the one that is drawn from the tables as they are."""
    shown = CHART.with_name("speed.svg").read_text(encoding="utf-8")
    assert shown == CHART_NAMES["chart"](), "run make pictures"


def test_pages_have_the_numbers_that_were_measured():
    """Means and counts are those of the tables, of the results and of the code."""
    performance = page("explanation/performance.md")
    later = performance.split("## Encoding since these tables")[1].split("## ")[0]
    rows = re.findall(r"^\| [\w ]+ \| ([\d./ ]+) \|", later, re.MULTILINE)
    *ratios, means = ([float(ratio) for ratio in row.split("/")] for row in rows)
    found = [statistics.geometric_mean(column) for column in zip(*ratios, strict=True)]
    assert means == [round(mean, 2) for mean in found]
    results = (REPOSITORY / "benchmarks/results").glob("*.json")
    cells = [
        c for path in results for c in cells_of(json.loads(path.read_text("utf-8")))
    ]
    n_behind = sum(cell.ratio < 1 for cell in cells)
    told = [page(f"explanation/{name}") for name in ("performance.md", *table.PAGES)]
    text = " ".join(" ".join([README, *told]).split())
    for claim in (
        f"another library {len(cells)} times",
        f"faster in {n_behind} of these",
        "takes 8 s on two threads of an AMD Zen 5; Hugging Face tokenizers takes 50",
        "32,768 tokens: 7.3 to 8.4 s, 12.3 to 13.7 s of CPU time, 1.05 GB; rustbpe 18.9x",
        "tokenizers 54x, 50x",
        "emoji with o200k (fastokens, 0.63)",
        "base64 1.37 / 1.10 / 0.78",
        f"{len(bytepair.dialects())} dialects",
        f"reads and writes {len(saving.FORMATS)} [formats]",
        f"finds {len(CODES)} kinds",
    ):
        assert claim in text, claim


def test_the_table_of_the_readme_says_what_other_libraries_can_do():
    """Training, other models and the formats that are written are those of the installed libraries."""
    tiktoken = pytest.importorskip("tiktoken")
    tokenizers = pytest.importorskip("tokenizers")
    sentencepiece = pytest.importorskip("sentencepiece")
    table = README.split("## Comparison with other libraries\n\n")[1].split("\n\n")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines()]
    cells = {row[0].strip(): [cell.strip() for cell in row[1:]] for row in rows}
    makers = (tiktoken.Encoding, tokenizers.Tokenizer, bytepair)
    trains = [hasattr(maker, "train") for maker in makers]
    trains.insert(2, hasattr(sentencepiece, "SentencePieceTrainer"))
    assert [cell == "✓" for cell in cells["trains"]] == trains
    for taught in ("trains", "shows how a text becomes tokens, merge by merge"):
        assert cells[taught][0] == "for teaching"
    teaching = pytest.importorskip("tiktoken._educational")
    assert {"bpe_train", "visualise_tokens"} <= set(dir(teaching))
    models = {"Unigram", "WordPiece", "WordLevel"} & set(dir(tokenizers.models))
    assert models == {"Unigram", "WordPiece", "WordLevel"}
    others = cells["other models (Unigram, WordPiece)"]
    assert [cell in ("✓", "Unigram") for cell in others] == [False, True, True, False]
    changes = ("remove_tokens", "prune", "extend", "trace", "resume")
    for theirs in (tiktoken.Encoding, tokenizers.Tokenizer):
        assert not [name for name in changes if hasattr(theirs, name)]
    assert {"prune", "extend"} <= set(dir(surgery))
    assert cells["adds tokens with merges, removes tokens, keeps ids"][-1] == "✓"


TRIED = REPOSITORY / "benchmarks" / "tried"


@pytest.mark.parametrize("path", sorted(TRIED.glob("*.md")), ids=lambda path: path.stem)
def test_rows_of_what_was_tried_are_short(path):
    """A row of the log has three cells of at most 160 characters, so that it can be read."""
    rows = [line for line in path.read_text("utf-8").splitlines() if line[:1] == "|"]
    for row in rows:
        cells = [cell.strip() for cell in row[1:].removesuffix("|").split("|")]
        assert len(cells) == 3, row
        assert max(map(len, cells)) <= 160, row


EXPLAINED = sorted([*TRIED.glob("*.md"), *REPOSITORY.glob("docs/explanation/*.md")])


@pytest.mark.parametrize("page", EXPLAINED, ids=lambda page: page.stem)
def test_code_that_a_page_names_exists(page):
    """Each source file and folder that an explanation points to is there."""
    places = [
        f"/{path.as_posix()}"
        for pattern in ("crates/*/src/**/*", "python/**/*", "benchmarks/*")
        for path in REPOSITORY.glob(pattern)
    ]
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"`([\w/-]+(?:\.rs|\.py|/))`", text):
        end = f"/{name.removesuffix('/')}"
        is_there = (REPOSITORY / name).exists()
        assert is_there or any(place.endswith(end) for place in places), name


def test_every_page_of_the_log_is_listed():
    """The log's first page links to each other one."""
    listed = re.findall(r"\]\(([\w-]+\.md)\)", (TRIED / "README.md").read_text("utf-8"))
    assert {*listed, "README.md"} == {path.name for path in TRIED.glob("*.md")}


def test_every_make_target_is_explained():
    """The table of targets has those that the Makefile describes, and no other."""
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    described = set(re.findall(r"^(\w+):.*##", makefile, re.MULTILINE)) - {"help"}
    text = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `make (\w+)`", text, re.MULTILINE)) == described


# The command line


@pytest.mark.parametrize("name", COMMANDS)
def test_every_argument_has_help(name):
    """A command and each of its arguments and options say what they do."""
    command = COMMANDS[name]
    assert command.help
    assert [param.name for param in command.params if not param.help] == []


def test_every_command_is_in_the_list_of_commands():
    """The tables of commands have each command once, in the group that the help has."""
    found = {}
    for part in page("reference/commands.md").split("\n## ")[1:]:
        for name in re.findall(r"^\| `bytepair ([\w-]+)", part, re.MULTILINE):
            assert name not in found
            found[name] = part.partition("\n")[0]
    assert found == {entry.name: entry.group for entry in ENTRIES}


# Examples


@pytest.mark.parametrize("printed", PRINTED, ids=lambda path: path.stem)
def test_examples_print_what_is_expected(printed, tmp_path):
    """Each example runs as it stands and shows what it is there to show, and nothing else."""
    path = REPOSITORY / "docs" / "examples" / f"{printed.stem}.py"
    found = ended([sys.executable, path], tmp_path)
    assert found == printed.read_text("utf-8")


def test_every_example_is_expected():
    """No example is left out, and none is missing."""
    examples = (REPOSITORY / "docs" / "examples").glob("*.py")
    assert {path.stem for path in examples} == {path.stem for path in PRINTED}
