"""The benchmarks can be run: their definitions hold, and small cases of them work.

Left out: what they measure, and libraries that are not installed.
"""

import random

import pytest
from benchmarks import cases, compare, measure, mixture, report, runner, texts

ORDERS = ["as tokenizers", "as rustbpe"]
KEYS = {"task", "rounds", "threads"}


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
    assert wanted.keys() >= KEYS
    assert wanted["task"] in {"train", "counts", "encode", "linear", "imports"}
    for order in wanted.get("order", []):
        assert order["engines"][0] == "bytepair"
        assert set(order.get("time_only", [])) < set(order["engines"])
    for grid in wanted.get("grid", []):
        assert set(grid["patterns"]) <= wanted["patterns"].keys()


def test_a_small_case_runs(corpus, tmp_path):
    """All libraries that are here learn the same from a file, and a table shows them."""
    found = list(cases.cases(small(), [str(corpus)], tmp_path))
    names = [f"gpt2, 300 tokens, {order}, corpus.txt" for order in ORDERS]
    assert [case.name for case in found] == names
    for case in found:
        rows, complaints, too_slow = runner.run(case)
        assert (complaints, too_slow) == ([], [])
        assert [row.engine for row in rows] == [job["engine"] for job in case.jobs]
        assert {row.n_results for row in rows if row.is_compared} == {44}
        assert all(row.rounds == 2 and row.peak_bytes > 1e6 for row in rows)
        assert len(list(report.compared(rows))) == 1 + len(rows)


def test_other_merges_are_not_kept(corpus, tmp_path):
    """An engine that learns something else is named, with where it parts."""
    case = next(iter(cases.cases(small(rounds=1), [str(corpus)], tmp_path)))
    ours, *_ = case.jobs
    other = {**ours, "ties": "first_seen", "merges": 20}
    rows, complaints, _ = runner.run(case._replace(jobs=[ours, other]))
    assert len(rows) == 1
    assert len(complaints) == 1
    assert "merge " in complaints[0]


def test_what_takes_too_long_is_stopped_and_what_took_long_not_repeated(
    corpus, tmp_path
):
    """A limit leaves an engine out; a budget leaves it its first round."""
    case = next(iter(cases.cases(small(), [str(corpus)], tmp_path)))
    case = case._replace(jobs=case.jobs[:1])
    assert len(runner.run(case._replace(timeout_seconds=0.001)).too_slow) == 1
    assert runner.run(case._replace(budget_seconds=0)).rows[0].rounds == 1


def test_a_mixture_and_a_table_of_counts_can_be_learned_from(corpus, tmp_path):
    """The other kinds of training run too, on small sizes."""
    piece = cases.definition("train-piece") | {"rounds": 1, "threads": [1]}
    piece["grid"][0] |= {"mixed_megabytes": [1, 2], "tokens": [260]}
    rows = [
        row
        for case in cases.cases(piece, [str(corpus)], tmp_path)
        for row in runner.run(case).rows
    ]
    assert [row.n_results for row in rows] == [4, 4]
    assert len(list(report.growth(rows))) == len(list(report.memory(rows))) == 2
    counts = cases.definition("train-counts") | {"rounds": 1}
    counts["case"][0] |= {"n_pieces": 500, "merges": 10}
    [case] = cases.cases(counts, [], tmp_path)
    assert [row.n_results for row in runner.run(case).rows] == [10]


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
    _, small_cost = measure.timed(lambda: None)
    _, cost = measure.timed(lambda: len(bytearray(b"x") * 300_000_000))
    assert cost.peak_bytes > max(300_000_000, small_cost.peak_bytes)
