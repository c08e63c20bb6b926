"""Tampered folders of shards, files of counts and merge logs: an error of ours, or equal data.

Each file is cut, emptied, removed, has bytes flipped, and if it is JSON has values of other kinds,
missing, doubled and unknown keys. What is read must be what was written, or a
``TokenizerError`` that names the file.
"""

import contextlib
import hashlib
import json
import random
import shutil

import pytest

import bytepair

pa = pytest.importorskip("pyarrow", reason="corpora need pyarrow")

from tests.commands import run  # noqa: E402
from tests.damage import variants  # noqa: E402
from tests.engines import stopped  # noqa: E402
from tests.marks import slow_but  # noqa: E402

from bytepair import FormatError, TokenizerError, scale  # noqa: E402
from bytepair.data import TokenDataset, check_dataset, is_counts, read_counts  # noqa: E402

VALUES = [None, True, -1, 0, 1, 2**63, 10**400, 1.5, float("nan"), float("inf")]
VALUES += ["", "x", "\ud800", "../x", [], {}, [[]], [1], {"a": 1}, ["a", 0]]


def documents(document):
    """Give texts of JSON that are like a document but for one place."""
    yield from (json.dumps(found).encode() for found in variants(document, VALUES))
    yield from (b"[" * 100_000, b'{"a":' * 100_000, b"1" * 10_000, b"\xef\xbb\xbf{}")


def damaged(data, chance, n_cases):
    """Give what damage makes of a file: cut, longer, flipped, moved."""
    yield from (b"", data + b"\0", data[:-1])
    for _ in range(n_cases):
        place = chance.randrange(len(data))
        flipped = bytearray(data)
        flipped[place] ^= 1 << chance.randrange(8)
        yield from (data[:place], data[:place] + data[place + 1 :], bytes(flipped))
        stop = chance.randrange(place, len(data))
        yield data[:place] + bytes(stop - place) + data[stop:]


class Tally:
    """Counts what became of damage."""

    def __init__(self):
        self.n_equal = self.n_refused = 0

    def read(self, read, expected, name):
        """Read; what is given must be what is expected, and an error must name the file."""
        try:
            found = read()
        except TokenizerError as error:
            message = str(error)
            assert str(name) in message, message
            assert 0 < len(message) < 2000
            self.n_refused += 1
            return
        assert found == expected
        self.n_equal += 1


@pytest.fixture(scope="module")
def tokenizer():
    """Train a small tokenizer."""
    return bytepair.train_from_iterator(
        ["low lower lowest " * 5], vocab_size=265, special_tokens=["<s>"]
    )


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Write a small corpus."""
    path = tmp_path_factory.mktemp("corpus") / "docs.jsonl"
    lines = (
        json.dumps({"text": f"low lower {n}", "lang": "ab"[n % 2]}) for n in range(20)
    )
    path.write_text("\n".join(lines) + "\n")
    return path


# Folders of shards


def everything(folder):
    """Read a dataset, with sums."""
    dataset = TokenDataset(folder, check_sums=True)
    windows = TokenDataset(folder, window=7, check_sums=True)
    return [ids.tolist() for ids in dataset], [ids.tolist() for ids in windows]


@pytest.mark.parametrize(
    "format_name", slow_but(["bin"], ["npy", "bin", "megatron", "datatrove"])
)
def test_shards_that_were_tampered_with(tmp_path, corpus, tokenizer, format_name):
    """Each file of a dataset, as bytes and as JSON."""
    out = tmp_path / "out"
    options = {"format": format_name, "shard_tokens": 60, "end_of_document": "<s>"}
    scale.tokenize(tokenizer, corpus, out, **options)
    expected, tally = everything(out), Tally()
    chance = random.Random(format_name)
    for path in sorted(out.iterdir())[:5]:
        data = path.read_bytes()
        for case in damaged(data, chance, 25):
            path.write_bytes(case)
            name = out if path.name == "manifest.json" else path
            tally.read(lambda: everything(out), expected, name)
        path.unlink()
        tally.read(lambda: everything(out), expected, out)
        path.write_bytes(data)
    path = out / "manifest.json"
    data = path.read_bytes()
    for case in documents(json.loads(data)):
        path.write_bytes(case)
        tally.read(lambda: everything(out), expected, out)
    path.write_bytes(data)
    assert everything(out) == expected
    assert tally.n_equal + tally.n_refused > 1500
    assert tally.n_refused > 1000


def test_finished_datasets_that_were_tampered_with(tmp_path, corpus, tokenizer):
    """The same call again and the check against the corpus: the same manifest and ids, or an error."""
    out = tmp_path / "out"
    scale.tokenize(tokenizer, corpus, out)
    expected, tally = check_dataset(out, tokenizer), Tally()
    path = out / "manifest.json"
    data = path.read_bytes()
    for number, case in enumerate(documents(json.loads(data))):
        path.write_bytes(case)
        if number % 3 == 0:
            tally.read(lambda: check_dataset(out, tokenizer), expected, "")
        tally.read(lambda: bool(scale.tokenize(tokenizer, corpus, out)), True, "")
    assert tally.n_refused > 300


@pytest.mark.slow
def test_work_that_was_tampered_with(tmp_path, corpus, tokenizer):
    """Plans and notes: what is resumed is the dataset of an undisturbed run, or refused."""
    whole, half = tmp_path / "whole", tmp_path / "half"
    options = {"task_bytes": 300, "shard_tokens": 60}
    scale.tokenize(tokenizer, corpus, whole, **options)
    expected = {path.name: path.read_bytes() for path in whole.iterdir()}

    with pytest.raises(KeyboardInterrupt):
        stopped(tokenizer, corpus, half, **options)
    out = tmp_path / "out"

    def resumed():
        scale.tokenize(tokenizer, corpus, out, **options)
        return {path.name: path.read_bytes() for path in out.iterdir()}

    tally, chance = Tally(), random.Random(1)
    for name in ("plan.json", "task-00001.json", "bytepair.lock"):
        data = (half / "_work" / name).read_bytes()
        cases = list(damaged(data, chance, 10))
        if name.endswith(".json"):
            found = list(documents(json.loads(data)))
            cases += chance.sample(found, min(len(found), 60))
        for case in [None, *cases]:
            shutil.copytree(half, out)
            (out / "_work" / name).unlink()
            if case is not None:
                (out / "_work" / name).write_bytes(case)
            tally.read(resumed, expected, out)
            shutil.rmtree(out)
    assert tally.n_equal > 60
    assert tally.n_refused > 60


# Files of counts


def counted(path):
    """Read a file of counts, and learn from it."""
    is_counts(path)
    counts = read_counts(path)
    tokenizer = bytepair.train_from_counts(counts, merges=3)
    return counts.table.to_pydict(), counts.info, counts.n_rows, tokenizer.vocabulary


KINDS = {
    "plain": {"dialect": "gpt2"},
    "first": {"dialect": "subword-nmt"},
    "groups": {"dialect": "gpt2", "group": "lang"},
}


@pytest.mark.parametrize("kind", slow_but(["first"], KINDS))
def test_counts_that_were_tampered_with(tmp_path, corpus, kind):
    """Bytes of the file, and what stands in its metadata."""
    path = tmp_path / "counts.parquet"
    scale.count(corpus, output=path, **KINDS[kind])
    expected, tally = counted(path), Tally()
    data = path.read_bytes()
    chance = random.Random(kind)
    for case in damaged(data, chance, 150):
        if case[:4] != data[:4]:
            continue
        path.write_bytes(case)
        tally.read(lambda: counted(path), expected, path)
    path.write_bytes(data)
    table = pa.parquet.read_table(path)
    described = json.loads(table.schema.metadata[b"bytepair.counts"])
    stored = pa.parquet.read_metadata(path).metadata
    totals = {b"bytepair.totals": stored[b"bytepair.totals"]}
    for number, case in enumerate(documents(described)):
        for key in (b"bytepair.counts", b"bytepair.totals"):
            metadata = {**table.schema.metadata, **totals, key: case}
            if number % 2:  # so that the sum of what is described fits
                metadata[b"bytepair.totals"] = totals_of(table, metadata)
            pa.parquet.write_table(table.replace_schema_metadata(metadata), path)
            with contextlib.suppress(TokenizerError):
                counted(path)
                continue
            tally.n_refused += 1
    assert tally.n_refused > 500
    pa.parquet.write_table(table, path)
    with pytest.raises(FormatError, match=r"no bytepair\.totals"):
        counted(path)


def totals_of(table, metadata):
    """Give the totals that a file of these rows would have."""
    counts = table.column("count").to_pylist() if "count" in table.schema.names else []
    described = hashlib.sha256(metadata[b"bytepair.counts"]).hexdigest()
    occurrences = str(sum(count or 0 for count in counts))
    totals = {"rows": len(table), "occurrences": occurrences, "described": described}
    return json.dumps(totals).encode()


WRONG_TABLES = [
    {"piece": [b"a", None], "count": [2, 1]},
    *({"piece": [b"a", b"b"], "count": [2, count]} for count in (None, 0, -1)),
    *({"piece": [b"a"], "count": [2], more: ["x"]} for more in ("other", "group")),
    *({"piece": [b"a"]}, {"count": [1]}),
]


@pytest.mark.parametrize("columns", WRONG_TABLES, ids=str)
def test_rows_that_no_counting_gives_are_refused(tmp_path, corpus, columns):
    """The message names the file."""
    path = tmp_path / "counts.parquet"
    scale.count(corpus, output=path, dialect="gpt2")
    metadata = pa.parquet.read_table(path).schema.metadata
    kinds = {"piece": pa.large_binary(), "count": pa.int64()}
    schema = [(key, kinds.get(key, pa.large_string())) for key in columns]
    schema = pa.schema(schema, metadata)
    table = pa.table(columns, schema=schema)
    metadata = {**metadata, b"bytepair.totals": totals_of(table, metadata)}
    pa.parquet.write_table(table.replace_schema_metadata(metadata), path)
    with pytest.raises(TokenizerError, match=r"counts\.parquet: "):
        bytepair.train_from_counts(read_counts(path), merges=0)


# Merge logs


def test_merge_logs_that_were_tampered_with(tmp_path):
    """Bytes of the file, and each line as JSON."""
    path = tmp_path / "log.jsonl"
    bytepair.train_from_iterator(["low lower lowest é"], merges=6, log=path)
    log, tally = bytepair.read_log(path), Tally()
    data = path.read_bytes()
    lines = data.splitlines()

    def steps():
        return [(step.ids, step.step) for step in bytepair.read_log(path).steps]

    expected = [(step.ids, step.step) for step in log.steps]
    for number in (0, 1, 3):
        for case in documents(json.loads(lines[number])):
            changed_lines = [*lines[:number], case, *lines[number + 1 :]]
            path.write_bytes(b"\n".join(changed_lines) + b"\n")
            tally.read(steps, expected, path)
    for case in damaged(data, random.Random(2), 100):
        path.write_bytes(case)
        tally.read(steps, expected, path)
    assert tally.n_refused > 300


# The command line


def test_commands_on_tampered_files_end_in_one_line(tmp_path, corpus, tokenizer):
    """There is no traceback, and the exit code is 1."""
    tokenizer.save(tmp_path / "t.bytepair")
    out, counts, log = (tmp_path / name for name in ("out", "c.parquet", "log"))
    scale.tokenize(tokenizer, corpus, out)
    scale.count(corpus, output=counts)
    bytepair.train([corpus], merges=3, log=log)
    manifest = json.loads((out / "manifest.json").read_bytes())
    manifest["tasks"][0]["shards"] = 1
    (out / "manifest.json").write_text(json.dumps(manifest))
    counts.write_bytes(counts.read_bytes()[:-30] + bytes(22) + b"PAR1    "[:8])
    log.write_bytes(b"[" * 100_000 + b"\n")
    commands = [
        ["shard", tmp_path / "t.bytepair", corpus, "-o", out, "--check"],
        ["train", counts, "--merges", "3", "-o", tmp_path / "new.json"],
        ["count-pieces", "--merge", counts, counts, "-o", tmp_path / "new.parquet"],
        ["report", tmp_path / "t.bytepair", "--log", log, "-o", tmp_path / "r.html"],
    ]
    for command in commands:
        told = run(*command, code=1).stderr
        assert told.splitlines()[-1].startswith("bytepair: ")
