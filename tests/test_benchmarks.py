"""The benchmarks can be run: their definitions hold, and small cases of them work.

Left out: what they measure, and libraries that are not installed.
"""

import json
import random
from pathlib import Path

import pytest
from benchmarks import (
    cases,
    compare,
    mixture,
    report,
    results,
    runner,
    surgery as surgery_of_benchmarks,
    table,
    texts,
)
from tests.programs import run_python

import bytepair
import bytepair.surgery

pytestmark = pytest.mark.slow
ORDERS = ["as tokenizers", "as rustbpe"]
TASKS = {
    *("train", "counts", "linear", "hostile", "imports"),
    *("encode", "latency", "worst", "file", "corpus", "added", "calls", "stats"),
    *("extend", "prune", "serving"),
}


def small(**changes):
    """Take the definition of training, but of a few merges."""
    wanted = cases.definition("train")
    grid = {"patterns": ["gpt2"], "tokens": [300], "files": ["absent.txt"]}
    return {**wanted, "rounds": 2, "threads": [1], "grid": [grid], **changes}


@pytest.fixture
def corpus(tmp_path):
    """Give a file of many words and some lines."""
    path = tmp_path / "corpus.txt"
    letters = "".join(random.Random(1).choices("etaoiné   \n", k=60_000))
    path.write_text(letters)
    return path


@pytest.mark.parametrize("name", cases.names())
def test_definitions_hold(name):
    """Each has a task and says how often and with how many threads."""
    wanted = cases.definition(name)
    assert wanted["rounds"] > 0
    assert wanted["task"] in TASKS
    for order in wanted.get("order", []):
        assert order["engines"][0] == "bytepair"
        assert set(order.get("time_only", [])) < set(order["engines"])
    for grid in wanted.get("grid", []):
        assert set(grid.get("patterns", [])) <= wanted.get("patterns", {}).keys()
        assert "threads" in {**wanted, **grid}
        assert grid.get("engines", ["bytepair"])[0].split()[0] == "bytepair"


def test_a_small_case_runs(corpus, tmp_path):
    """All libraries that are here learn the same from a file, and a table shows them."""
    found = list(cases.cases(small(), [str(corpus)], tmp_path))
    names = [f"gpt2, 300 tokens, {order}, corpus.txt" for order in ORDERS]
    assert [case.name for case in found] == names
    for case in found:
        rows, *problems = runner.run(case)
        assert problems == [[], [], []]
        assert [row.engine for row in rows] == [job["engine"] for job in case.jobs]
        assert {row.n_results for row in rows if row.is_compared} == {44}
        assert all(row.rounds == 2 and row.peak_bytes > 1e6 for row in rows)
        assert len(list(report.table(rows))) == 1 + len(rows)


def test_other_merges_are_not_kept_and_what_takes_too_long_is_stopped(corpus, tmp_path):
    """An engine that learns something else is named; a limit leaves one out, a budget leaves it its first round."""
    case = next(iter(cases.cases(small(), [str(corpus)], tmp_path)))
    ours, *_ = case.jobs
    other = {**ours, "ties": "first_seen", "merges": 20}
    rows, [complaint], *_ = runner.run(case._replace(jobs=[ours, other]))
    assert len(rows) == 1
    assert "merge " in complaint
    case = case._replace(jobs=[ours])
    assert len(runner.run(case._replace(timeout_seconds=0.001)).too_slow) == 1
    assert runner.run(case._replace(budget_seconds=0)).rows[0].rounds == 1


def test_a_mixture_and_a_table_of_counts_can_be_learned_from(corpus, tmp_path):
    """The other kinds of training run too, on small sizes."""
    piece = cases.definition("train-piece") | {"rounds": 1, "threads": [1]}
    piece["grid"][0] |= {"mixed_megabytes": [1, 2], "tokens": [260]}
    rows = measured(piece, corpus, tmp_path)
    assert [row.n_results for row in rows] == [4, 4]
    counts = cases.definition("train-counts") | {"rounds": 1}
    counts["case"][0] |= {"n_pieces": 500, "merges": 10}
    rows = measured(counts, corpus, tmp_path)
    assert [row.n_results for row in rows] == [10]


def to_encode(name, text, **changes):
    """Take a definition of encoding, but with one vocabulary, learned from a file."""
    wanted = cases.definition(name) | {"rounds": 1} | changes
    vocabulary = {"name": "trained", "train_on": [str(text)], "train_bytes": 20_000}
    vocabulary |= {"merges": 50, "pattern": r"\s+|\w+|[^\s\w]+"}
    grid = {**wanted["grid"][0], "engines": ["bytepair", "tokenizers", "tiktoken"]}
    return {**wanted, "vocabulary": [vocabulary], "grid": [grid]}


def measured(wanted, text, scratch):
    """Run all cases of a definition, none of which may fail, and give their rows."""
    found = [runner.run(case) for case in cases.cases(wanted, [str(text)], scratch)]
    assert [problems for _, *problems in found] == [[[], [], []]] * len(found)
    return [row for result in found for row in result.rows]


def test_encoders_are_measured_and_compared(corpus, tmp_path):
    """All give the same ids, cold, fresh and warm, and a table says who is faster."""
    wanted = to_encode("encode", corpus, document_bytes=4096)
    rows = measured(wanted, corpus, tmp_path)
    assert {row.engine.split()[0] for row in rows} >= {"bytepair", "tokenizers"}
    assert {row.phase for row in rows} == {"cold", "fresh", "warm"}
    digests = {(row.phase, row.digest) for row in rows if row.phase != "warm"}
    assert len(digests) == 2
    assert len(list(report.table(rows))) == 1 + len(rows)


def test_published_ranks_come_with_their_pattern(corpus, tmp_path, monkeypatch):
    """Engines that must be told the pattern of ranks are, and give the same ids."""
    pytest.importorskip("tiktoken")
    ranks = tmp_path / "vocabularies" / "ranks.tiktoken"
    ranks.parent.mkdir()
    bytepair.train(corpus, merges=20, dialect="gpt4").save(ranks)
    monkeypatch.setattr(texts, "SHARED", tmp_path)
    wanted = to_encode("encode", corpus, document_bytes=4096)
    named = {"name": "ranks", "file": ranks.name, "dialect": "gpt4"}
    rows = measured({**wanted, "vocabulary": [named]}, corpus, tmp_path)
    engines = {row.engine.split()[0] for row in rows}
    assert engines == {"bytepair", "tokenizers", "tiktoken"}


def test_one_text_a_call_is_measured(corpus, tmp_path):
    """A document in one piece, short texts, and made-up ones run too, on more threads."""
    wanted = to_encode("encode-document", corpus)
    rows = measured(wanted, corpus, tmp_path)
    assert {row.n_threads for row in rows} == {1, 2}
    wanted = to_encode("encode-latency", corpus, sizes=[10, 1000])
    rows = measured(wanted, corpus, tmp_path)
    assert {row.phase for row in rows} == {"10 B", "1,000 B"}
    assert all(row.wall.median < 1 for row in rows)
    made = [{"made": "random bytes", "n_bytes": 999, "engines": ["bytepair"]}]
    wanted = to_encode("encode-worst", corpus, made=made)
    rows = measured(wanted, corpus, tmp_path)
    assert [row.n_bytes for row in rows] == [999]


def test_calls_in_the_shape_of_transformers_are_measured(corpus, tmp_path):
    """All kinds of calls give the same, with added tokens too."""
    pytest.importorskip("transformers", reason="is measured beside transformers")
    wanted = to_encode("calls", corpus, files=[str(corpus)])
    wanted["grid"][0]["engines"] = ["bytepair", "transformers"]
    wanted["vocabulary"][0]["n_added"] = 30
    rows = measured(wanted, corpus, tmp_path)
    kinds = list(dict.fromkeys(row.phase for row in rows))
    assert {"call", "encode", "decode", "to ids"} <= set(kinds)
    for kind in kinds:
        found = [row for row in rows if row.phase == kind]
        assert len(found) == 2
        assert len({row.digest for row in found}) == 1
        assert all(0 < row.wall.median < 1 for row in found)


def test_a_corpus_to_files_is_measured(corpus, tmp_path):
    """The ids in files are those of the texts in memory, from one process and from two; sums have as many."""
    pytest.importorskip("pyarrow", reason="corpora need pyarrow")
    options = {"files": [str(corpus)], "mixed_megabytes": []}
    wanted = to_encode("corpus", corpus, **options)
    wanted["grid"][0]["engines"] = ["bytepair"]
    rows = measured(wanted, corpus, tmp_path)
    found = {(row.n_threads, row.phase) for row in rows}
    assert found == {(1, "bare"), (1, "files"), (2, "files")}
    assert len({(row.n_results, row.digest) for row in rows}) == 1
    wanted = to_encode("stats", corpus, **options)
    wanted["grid"][0] |= {"engines": ["bytepair"], "threads": [1]}
    rows = measured(wanted, corpus, tmp_path)
    assert {row.phase for row in rows} == {"bare", "sums", "words"}
    assert len({(row.n_results, row.digest) for row in rows}) == 1


@pytest.mark.parametrize("contents", ["common beginning", "nested", "long", "one"])
def test_many_added_tokens_are_measured(tmp_path, contents):
    """Loading and adding give both libraries the same ids."""
    pytest.importorskip("tokenizers")
    case = {"name": "few", "contents": contents, "n_tokens": 20}
    wanted = cases.definition("added") | {"rounds": 1, "case": [case]}
    rows = measured(wanted, tmp_path, tmp_path)
    assert {row.phase for row in rows} == {"load", "add", "encode"}
    assert len({row.digest for row in rows}) == 1
    assert list(report.table(rows))


@pytest.mark.parametrize("kind", cases.definition("hostile")["kinds"])
def test_inputs_that_were_chosen_to_cost_much_are_measured(tmp_path, kind):
    """Each can be made, and gives something."""
    pytest.importorskip("numpy")
    wanted = cases.definition("hostile") | {"rounds": 1, "kinds": [kind]}
    rows = measured(wanted | {"megabytes": [0.01]}, tmp_path, tmp_path)
    assert all(row.n_results for row in rows)


def changed(name, corpus, tmp_path, monkeypatch, **options):
    """Run a small case of changing a vocabulary, and give its definition and its rows."""
    pytest.importorskip("tokenizers", reason="judges the files")
    monkeypatch.setattr(texts, "SHARED", tmp_path)
    base = tmp_path / "vocabularies" / "base.json"
    base.parent.mkdir()
    bytepair.train(corpus, merges=60, dialect="gpt2").save(base)
    grid = {"bases": ["base"], "texts": ["text"], "engines": ["bytepair"], **options}
    text = {"name": "text", "file": str(corpus), "letters": "[é ]", "share": 0.01}
    wanted = cases.definition(name) | {"rounds": 1, "grid": [grid], "text": [text]}
    wanted |= {"base": {"base": {"file": "base.json"}}, "document_bytes": 500}
    [few] = cases.cases(wanted, [], tmp_path)
    rows, *problems = runner.run(few)
    assert problems == [[], [], []]
    return wanted, rows, few.jobs[0]


def test_extending_is_measured_and_judged(corpus, tmp_path, monkeypatch):
    """By the tokens of held-out documents with the first of the new tokens, each of which can occur."""
    wanted, rows, job = changed("extend", corpus, tmp_path, monkeypatch, add=300)
    found = {row.phase: row.n_results for row in rows}
    assert (found["work"], found["proof"], found["unreachable"]) == (300, 300, 0)
    assert found["held out, the base"] > found["held out, 256"] > 0
    smaller = bytepair.surgery.extend(job["base_file"], job["file"], add=256)
    held = json.loads(Path(job["held_file"]).read_text("utf-8"))
    n_tokens = sum(smaller.tokenizer.count(text) for text in held)
    assert found["held out, 256"] == n_tokens
    path = tmp_path / "extend.json"
    results.write(path, "extend", wanted, rows)
    written = json.loads(path.read_text(encoding="utf-8"))
    [row] = written["rows"]
    assert len(row) == len(written["columns"])
    assert (row[0], row[4:6]) == ("base, text, bytepair", ["300", "0"])
    assert "| base, text, bytepair |" in table.section(written)


def test_pruning_is_measured_and_judged(corpus, tmp_path, monkeypatch):
    """By the tokens that held-out documents then need."""
    wanted, rows, _ = changed("prune", corpus, tmp_path, monkeypatch, to=280)
    found = {row.phase: row.n_results for row in rows}
    assert found["work"] == 280
    assert found["held out, all"] > found["held out, the base"]
    columns, [line] = surgery_of_benchmarks.table(wanted, rows)
    assert (columns[-1], line[4]) == ("more tokens", "280")


def test_what_servers_ask_for_is_measured(corpus, tmp_path, monkeypatch):
    """Each grid runs on a small vocabulary and text, its results are right, and the table has a line for what it measures."""
    pytest.importorskip("transformers", reason="is measured beside it")
    monkeypatch.setattr(texts, "SHARED", tmp_path)
    path = tmp_path / "vocabularies" / "base.json"
    path.parent.mkdir()
    bytepair.train(corpus, merges=60, dialect="gpt2").save(path)
    wanted = cases.definition("serving") | {"rounds": 1}
    wanted["vocabularies"] = {"base": {"path": "base.json"}}
    wanted["texts"] = {"text": {"sources": [str(corpus)], "n_bytes": 20_000}}
    for grid in wanted["grid"]:
        grid |= {"vocabularies": ["base"], "texts": ["text"], "sizes": [2000]}
        grid |= {"n_texts": 2, "rounds": 1}
        grid["engines"] = [name for name in grid["engines"] if "toktier" not in name]
    rows = measured(wanted, corpus, tmp_path)
    phases = {row.phase.removeprefix("base ") for row in rows}
    assert phases == {"median", "p99", "share", "memory"}
    columns, lines = results.TABLES["serving"](wanted, rows)
    assert {len(line) for line in lines} == {len(columns)}
    shown = {line[0].partition(",")[0]: line[1:] for line in lines}
    assert 80 < float(shown["stable_prefix"][0].split()[0]) < 100
    assert shown["is_canonical"][1].startswith("encode_to_numpy ")
    assert shown["is_canonical"][3] == "ratio 0.25"


def row_of(engine, phase, seconds, **changes):
    """Make up a row."""
    times = runner.Times(seconds, seconds, seconds)
    case = {"case": "gpt2, chinese.txt", "n_threads": 1, "rounds": 1, "others": 0.0}
    same = {"peak_bytes": 0, "is_compared": True, "n_results": 1, "digest": ""}
    row = {**case, **same, "engine": engine, "phase": phase, "n_bytes": 10**6}
    return runner.Row(**{**row, "wall": times, "cpu": times, **changes})


def test_a_run_is_written_in_few_numbers(tmp_path):
    """Results hold our speed, and of each peer that did as much the ratio of its time to ours."""
    rows = [
        row_of("bytepair numpy", "fresh", 0.5),
        row_of("gigatoken numpy", "fresh", 1.25),
        row_of("fastokens numpy", "fresh", 1.5),
        row_of("tokenizers numpy", "fresh", 9.0, n_bytes=10),
        row_of("gigatoken list", "fresh", 1.0),
    ]
    path = tmp_path / "encode.json"
    path.write_text('{"title": "Encoding", "notes": ["of another run"]}')
    results.write(path, "encode", {"task": "encode"}, rows)
    written = json.loads(path.read_text(encoding="utf-8"))
    assert (written["title"], "notes" in written) == ("Encoding", False)
    [cell] = written["cells"]
    assert (cell["ours"], cell["unit"]) == (2.0, "MB/s")
    assert cell["ratios"] == {"gigatoken": 2.5, "fastokens": 3.0}
    [cell] = results.cells("train", rows[:2])
    assert (cell["ours"], cell["unit"]) == (0.5, "s")
    assert cell["ratios"] == {"gigatoken": 2.5}


MADE_UP = {
    "benchmark": "encode",
    "title": "Encoding",
    "date": "2001-02-03",
    "machine": "a machine",
    "conditions": "made up",
    "notes": ["A note."],
}
CELL = {"output": "numpy", "threads": 1, "unit": "MB/s"}
MADE_UP["cells"] = [
    {**CELL, "case": f"gpt2, {text}", "phase": phase, "ours": speed}
    | {"ratios": {"gigatoken": ratio, "fastokens": 100}}
    for text, phase, speed, ratio in (
        ("code.txt", "cold", 111, 1.5),
        ("code.txt", "fresh", 222, 1.49),
        ("chinese.txt", "cold", 33.5, 0.99),
        ("chinese.txt", "fresh", 44.5, 4),
    )
]


def test_tables_have_what_the_results_have():
    """Each number of a file of results stands in the table, in bold where it misses its bar."""
    lines = table.section(MADE_UP).splitlines()
    assert lines[0] == "## Encoding"
    assert "2001-02-03, a machine, made up." in lines
    assert [line for line in lines if line.startswith("| gpt2")] == [
        "| gpt2, code | 111 / 222 | 1.50 / **1.49** |",
        "| gpt2, Chinese | 33.5 / 44.5 | **0.99** / 4.00 |",
    ]
    missed = "A peer is ahead in 1 of 4 cells; 2 miss their bar: 1 cold, 1 fresh."
    assert missed in lines
    assert lines[-1] == "A note."
    cells = [cell for cell in MADE_UP["cells"] if cell["phase"] == "cold"]
    lines = table.section({**MADE_UP, "cells": cells}).splitlines()
    assert "| gpt2, Chinese | 33.5 MB/s | 0.99x | 100x |" in lines
    plain = {"title": "By hand", "columns": ["", "ms"], "rows": [["load", "1.5"]]}
    assert "| load | 1.5 |" in table.section(plain).splitlines()


def test_a_page_keeps_what_is_around_its_tables(tmp_path):
    """Only what is between the markers is written; a page without them is refused."""
    page = f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n"
    written = table.filled(page, "new\n")
    assert written == f"before\n{table.BEGIN}\n\nnew\n\n{table.END}\nafter\n"
    assert table.filled(written, "new\n") == written
    for broken in ("", page + page, f"{table.END}\n{table.BEGIN}\n"):
        with pytest.raises(SystemExit, match="the page must have this line"):
            table.filled(broken, "new\n")
    for name, listed in table.PAGES.items():
        (tmp_path / name).write_text(page, encoding="utf-8")
        for result in listed:
            (tmp_path / f"{result}.json").write_text(json.dumps(MADE_UP))
    words = ["--results", str(tmp_path), "--pages", str(tmp_path)]
    assert [table.main([*words, "--check"]), table.main(words)] == [1, 0]
    assert table.main([*words, "--check"]) == 0
    assert "| gpt2, code | 111 / 222 |" in (tmp_path / name).read_text("utf-8")


def test_the_pages_have_the_tables_of_the_results():
    """Nobody changed a table by hand, nor the results without writing them again; no result is left out."""
    assert table.main(["--check"]) == 0
    listed = [name for names in table.PAGES.values() for name in names]
    assert sorted(listed) == sorted(path.stem for path in table.FOLDER.glob("*.json"))


def test_a_peer_that_fails_is_named(corpus, tmp_path):
    """It has no rows, and is no error of ours."""
    wanted = to_encode("encode", corpus)
    [case] = cases.cases(wanted, [str(corpus)], tmp_path)
    jobs = [job for job in case.jobs if job["engine"] == "bytepair list"][:1]
    broken = {**jobs[0], "engine": "tiktoken list", "folder": "absent"}
    found = runner.run(case._replace(jobs=[*jobs, broken]))
    assert found.complaints == []
    assert len(found.refused) == 1
    assert "tiktoken list, 1 threads: " in found.refused[0]


def test_merges_are_compared_until_no_pair_is_left(tmp_path):
    """What a library makes up beyond the last pair is no difference; all else is."""

    def written(name, merges):
        path = tmp_path / name
        path.write_bytes(b"\n".join(compare.lines(merges, "pairs")))
        return path

    two = written("two", [(b"a", b"b"), (b" ", b"\n")])
    three = written("three", [(b"a", b"b"), (b" ", b"\n"), (b"c", b"")])
    other = written("other", [(b"a", b"b"), (b"\xff", b"c")])
    assert compare.difference(two, two, 2) == ""
    assert compare.difference(two, three, 3) == ""
    assert compare.difference(two, three, 2) == "merge 3 is 'c' + '', not missing"
    assert compare.difference(three, two, 3).startswith("merge 3 is missing")
    expected = "merge 2 is '\\\\xff' + 'c', not ' ' + '\\n'"
    assert compare.difference(two, other, 2) == expected
    assert compare.lines([(b"a", b"b")], "tokens") == compare.lines([(b"ab",)], "pairs")


def test_a_mixture_goes_on_with_other_letters(tmp_path):
    """It is as long as asked for, the same each time, and no turn repeats another."""
    source = tmp_path / "source.txt"
    source.write_text("the Zebra's 12 été, да 中文\n" * 20)
    size = source.stat().st_size
    targets = [tmp_path / "one", tmp_path / "two"]
    for target in targets:
        mixture.write([source], 50 * size, target)
    data = targets[0].read_bytes()
    assert data == targets[1].read_bytes()
    assert 49 * size < len(data) <= 50 * size
    assert data.startswith(source.read_bytes())
    lines = set(data.decode().splitlines())
    assert len(lines) == 50
    assert all("'" in line and " 12 " in line for line in lines)


def test_documents_come_back(tmp_path):
    """Documents in a file, with separators between, are the text; what is no UTF-8 is replaced."""
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(b"one\n" * 3000 + b"\xff\nlast")
    texts.write_documents(source, 1000, target)
    found = list(texts.read_documents(target, texts.SEPARATOR))
    assert "".join(found) == "one\n" * 3000 + "\ufffd\nlast"
    assert all(len(document) <= 1004 for document in found)
    assert len(found) > 10


def test_made_up_counts_are_the_same_each_time():
    """They are distinct, of falling frequency."""
    counts = texts.counted_pieces(3000)
    assert counts == texts.counted_pieces(3000)
    assert len(counts) == 3000
    assert list(counts.values()) == sorted(counts.values(), reverse=True)


def test_memory_is_what_the_process_held_at_most():
    """A block that is gone when the work ends counts."""
    # In a process of its own: what other tests held may be there to take.
    program = """
from benchmarks import measure

_, small_cost = measure.timed(lambda: None)
_, cost = measure.timed(lambda: len(bytearray(b"x") * 300_000_000))
print(cost.peak_bytes > max(300_000_000, small_cost.peak_bytes))
"""
    folder = Path(__file__).parent.parent
    assert run_python(program, cwd=folder).stdout == "True\n"
