"""Counts and shards of a corpus: the same however the work is dealt out, and whole after anything."""

import json
import os
import pickle
import random
import shutil
import signal
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tests.marks import slow_but
from tests.programs import run_python

import bytepair
from bytepair import FileError, TokenizerError, TrainingError, _core

pa = pytest.importorskip("pyarrow", reason="corpora need pyarrow")

from bytepair import scale  # noqa: E402
from bytepair.analyze import behaviour  # noqa: E402
from bytepair.data import (  # noqa: E402
    TokenDataset,
    _readers,
    _shards,
    _work,
    check_dataset,
    read_counts,
)
from bytepair.data._columns import arrays_of, column_of  # noqa: E402
from bytepair.scale import _engine, _local  # noqa: E402

MARK, BEGIN = "<|end|>", "<s>"
WORDS = ["low", "lower", "newest", "wide st", "ﬁne", "é", "a_b", "  ", "\n"]


@pytest.fixture(scope="module")
def texts():
    """Make some documents, one of them empty, one with the text of a special token."""
    chance = random.Random(1)
    made = [" ".join(chance.choices(WORDS, k=30)) for _ in range(200)]
    return [*made[:7], "", *made[7:], f"spelled {MARK} out"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory, texts):
    """Write the documents to two files."""
    folder = tmp_path_factory.mktemp("corpus")
    for name, part in (("a.jsonl", texts[:60]), ("b.jsonl", texts[60:])):
        lines = [json.dumps({"text": text}) + "\n" for text in part]
        (folder / name).write_text("".join(lines))
    return folder


@pytest.fixture(scope="module")
def tokenizer(texts):
    """Train a small tokenizer with a special token."""
    return bytepair.train_from_iterator(texts, vocab_size=300, special_tokens=[MARK])


@pytest.fixture(scope="module")
def with_begin(tokenizer):
    """Give the tokenizer a second special token."""
    return tokenizer.with_special_tokens([BEGIN])


# Counts


@pytest.mark.parametrize("dialect", slow_but(["gpt4o"], ["gpt4o", "letters-digits"]))
@pytest.mark.parametrize("min_piece_count", slow_but([None], [None, 50]))
def test_counts_do_not_depend_on_how_the_work_is_dealt_out(
    tmp_path, corpus, dialect, min_piece_count, monkeypatch
):
    """One process, two, a memory limit, files that were counted alone and merged: the same in memory and in each byte of a file.

    Rare pieces are dropped when all are counted, and told.
    """
    options = {"dialect": dialect, "min_piece_count": min_piece_count}
    expected = scale.count(corpus, **options)
    saved, path = tmp_path / "saved.parquet", tmp_path / "other.parquet"
    expected.save(saved)
    assert read_counts(saved).table.equals(expected.table)
    two = {"processes": 2, "task_bytes": 9000}
    limited = {"memory_limit": 48 << 20}
    for how in ({}, two, {**limited, "threads": 1}, {**two, **limited}):
        found = scale.count(corpus, **options, **how)
        assert found.table.equals(expected.table)
        written = scale.count(corpus, output=path, **options, **how)
        assert path.read_bytes() == saved.read_bytes()
        assert written.n_rows == len(written.table) == len(read_counts(path).table)
        assert found.info == written.info == read_counts(path).info == expected.info
    parts = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for part in parts:
        scale.count(corpus / f"{part.stem}.jsonl", dialect=dialect, output=part)
    if min_piece_count is None:
        assert scale.merge_files(parts).info == expected.info
        # So that all goes through files.
        monkeypatch.setattr("bytepair.data._sums.LEAST_BYTES", 0)
        scale.merge_files(parts, output=path, memory_limit=0)
        assert path.read_bytes() == saved.read_bytes()
        return
    counts = scale.count(corpus, dialect=dialect).table.column("count").to_pylist()
    rare = [count for count in counts if count < 50]
    assert expected.info.dropped_pieces == len(rare) > 0
    assert expected.info.dropped_occurrences == sum(rare)


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_counted(
    tmp_path, corpus
):
    """Its folder is absent; and a corpus that ends in an error leaves what was there."""
    with pytest.raises(FileError, match="absent"):
        scale.count(corpus, output=tmp_path / "absent" / "counts.parquet")
    output = tmp_path / "counts.parquet"
    output.write_text("as it was")
    (tmp_path / "bad.jsonl").write_text("{")
    with pytest.raises(bytepair.FormatError, match=r"bad\.jsonl, line 1"):
        scale.count([corpus, tmp_path / "bad.jsonl"], output=output)
    assert output.read_text() == "as it was"


def test_files_in_any_order_and_number_of_steps_give_the_same_counts(tmp_path, texts):
    """`merge_files` adds files up, each of one document, and what was added up before."""
    paths = [tmp_path / f"{number}.parquet" for number in range(12)]
    options = {"dialect": "gpt2", "field": "text"}
    for path, text in zip(paths, texts[:12], strict=True):
        (tmp_path / "a.jsonl").write_text(json.dumps({"text": text}))
        scale.count(tmp_path / "a.jsonl", output=path, **options)
    rows = "".join(json.dumps({"text": text}) + "\n" for text in texts[:12])
    (tmp_path / "a.jsonl").write_text(rows)
    random.Random(2).shuffle(paths)
    scale.merge_files(paths[:5], output=tmp_path / "some.parquet")
    found = scale.merge_files([*paths[5:], tmp_path / "some.parquet"])
    assert found.table.equals(scale.count(tmp_path / "a.jsonl", **options).table)


def test_a_whole_text_file_is_counted_as_in_training(tmp_path, texts):
    """Read in stretches, compressed or not, with the result of `train`."""
    path, packed = tmp_path / "a.txt", tmp_path / "a.txt.gz"
    path.write_text("".join(texts) * 20)
    packed.write_bytes(pa.compress(path.read_bytes(), "gzip", asbytes=True))
    expected = bytepair.train(path, merges=30)
    for source in (path, packed):
        counts = scale.count(source)
        assert counts.info.documents == 1
        assert counts.info.bytes == path.stat().st_size
        found = bytepair.train_from_counts(counts, merges=30)
        assert found.to_bytes() == expected.to_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dialect": "llama3"}, "prepares text differently"),
        ({"special_tokens": [MARK]}, "special tokens of the counts are none"),
        ({"ties": "first_seen"}, "first occurrence"),
    ],
)
def test_what_would_be_other_pieces_is_refused(corpus, options, message):
    """Another preparation, other special tokens, and ties by an order that is not known."""
    counts = scale.count(corpus, dialect="gpt2")
    with pytest.raises(TrainingError, match=message):
        bytepair.train_from_counts(counts, merges=3, **options)
    same = {"dialect": "gpt2", "byte_ids": "value"}
    assert len(bytepair.train_from_counts(counts, merges=3, **same).merges) == 3


@pytest.mark.parametrize("half", [(1 << 31) - 1, 1 << 33, 1 << 52, (1 << 53) + 1])
def test_counts_and_sums_beyond_32_and_53_bits_decide_rightly(tmp_path, corpus, half):
    """A pair is counted over all its pieces; one occurrence more than another pair decides, through the file."""
    counts = scale.count(corpus, dialect="byte-stream", ties="smallest_ids")
    pieces = pa.array([b"ab", b"xyq", b"xyr"], pa.large_binary())
    numbers = pa.array([2 * half - 1, half, half], pa.int64())
    counts.table = pa.table({"piece": pieces, "count": numbers})
    counts.save(tmp_path / "counts.parquet")
    trained = bytepair.train(tmp_path / "counts.parquet", merges=2)
    assert trained.merges == [(b"x", b"y"), (b"a", b"b")]


def test_a_file_that_is_no_counts_is_refused(tmp_path):
    """Any other Parquet file is named."""
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"piece": ["a"], "count": [1]}), path)
    with pytest.raises(bytepair.FormatError, match=r"a\.parquet: not counts"):
        read_counts(path)


def test_a_corpus_at_an_address_is_counted_and_tokenized_as_files_are(
    tmp_path, corpus, tokenizer
):
    """A store of objects, in memory, stands for those that fsspec reaches elsewhere."""
    fsspec = pytest.importorskip("fsspec", reason="addresses need fsspec")
    store = fsspec.filesystem("memory")
    for path in corpus.iterdir():
        packed = pa.compress(path.read_bytes(), "gzip", asbytes=True)
        store.pipe(f"/bucket/docs/{path.name}.gz", packed)
    address = "memory://bucket/docs/*.jsonl.gz"
    found, expected = scale.count(address), scale.count(corpus)
    assert found.table.equals(expected.table)
    names = [f"memory://bucket/docs/{name}.jsonl.gz" for name in "ab"]
    assert [source.replace(":///", "://") for source in found.info.sources] == names
    for name, source in (("far", address), ("near", corpus)):
        scale.tokenize(tokenizer, source, tmp_path / name)
    far, near = (TokenDataset(tmp_path / name) for name in ("far", "near"))
    assert [ids.tolist() for ids in far] == [ids.tolist() for ids in near]
    store.rm("/bucket", recursive=True)


# Shards


def written_files(folder):
    """Map the names of a finished dataset's files to their content."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def expected_documents(tokenizer, texts, *, begin=None, end=None):
    """Encode each document alone, between its tokens: the definition of a dataset."""
    before, behind = ([tokenizer.special_tokens[t]] if t else [] for t in (begin, end))
    encoded = [tokenizer.encode(text) for text in texts if text]
    return [[*before, *ids, *behind] for ids in encoded]


BOTH = {"begin_of_document": BEGIN, "end_of_document": MARK}


@pytest.mark.parametrize("format_name", ["npy", "bin", "megatron", "datatrove"])
@pytest.mark.parametrize("shard_tokens", [None, 500])
@pytest.mark.parametrize("begin", [None, BEGIN])
def test_a_dataset_gives_every_document_back(
    tmp_path, corpus, texts, with_begin, format_name, shard_tokens, begin
):
    """In every format, in shards of any size, with a token behind each document or one before it, too.

    Both are of the document: in its length, its end, its windows; an empty document leaves nothing.
    """
    out = tmp_path / "out"
    around = {"begin_of_document": begin, "end_of_document": MARK}
    options = {"format": format_name, "shard_tokens": shard_tokens, **around}
    found = scale.tokenize(with_begin, corpus, out, **options)
    expected = expected_documents(with_begin, texts, begin=begin, end=MARK)
    dataset = TokenDataset(out)
    assert [ids.tolist() for ids in dataset] == expected
    assert dataset.dtype == np.uint16
    assert found["behaviour"] == behaviour(with_begin)
    totals = found["totals"]
    assert totals["documents"] == len(texts) == totals["written_documents"] + 1
    assert totals["tokens"] == sum(map(len, expected)) == dataset.n_tokens
    assert (totals["empty"], totals["with_special_text"]) == (1, 1)
    written = [shard for task in found["tasks"] for shard in task["shards"]]
    assert len(written) == 1 if shard_tokens is None else len(written) > 5
    assert all(shard["tokens"] <= (shard_tokens or 1e9) for shard in written)
    plan = json.loads((out / "manifest.json").read_text())["plan"]
    assert {name: plan[name] for name in around} == around
    counts = {"documents": len(texts), "exact": len(texts) - 1, "empty": 1}
    assert check_dataset(out, with_begin) == counts
    stream = [id_ for ids in expected for id_ in ids]
    windows = TokenDataset(out, window=128)
    again = pickle.loads(pickle.dumps(windows))
    assert np.concatenate(list(again)).tolist() == stream[: len(windows) * 128]
    if format_name == "datatrove":  # where each document ends, in ids, and nothing else
        ends = np.fromfile(sorted(out.glob("*.ds.index"))[0], "<u8").tolist()
        lengths = [len(ids) for ids in expected][: len(ends)]
        assert ends == np.cumsum(lengths).tolist()


@pytest.mark.parametrize("name", ["begin_of_document", "end_of_document"])
def test_a_dataset_is_compared_with_its_corpus(
    tmp_path, corpus, texts, tokenizer, name
):
    """Every document comes back; another id, another corpus and another tokenizer are told."""
    options = {name: MARK, "shard_tokens": 500}
    mine = shutil.copytree(corpus, tmp_path / "corpus")
    out = tmp_path / "out"
    scale.tokenize(tokenizer, mine, out, **options)
    found = check_dataset(out, tokenizer)
    n_texts = len(texts)
    assert found == {"documents": n_texts, "exact": n_texts - 1, "empty": 1}
    with pytest.raises(TokenizerError, match="another tokenizer"):
        check_dataset(out, bytepair.train_from_iterator(texts, vocab_size=280))
    changed = (mine / "b.jsonl").read_text().replace("newest", "oldest", 1)
    (mine / "b.jsonl").write_text(changed)
    with pytest.raises(TokenizerError, match=r"of the corpus, in .*b\.jsonl"):
        check_dataset(out, tokenizer)
    shard = out / "shard-00000-001.npy"
    shard.write_bytes(shard.read_bytes()[:-2] + b"\x00\x00")
    with pytest.raises(FileError, match=r"001\.npy has changed since it was written"):
        check_dataset(out, tokenizer)


def test_what_a_tokenizer_loses_is_compared_by_ids(tmp_path):
    """Lower case does not come back, and text of white space alone has no ids."""
    options = {"merges": 3, "dialect": "jurafsky-martin"}
    tokenizer = bytepair.train_from_iterator(["low lower"], **options)
    (tmp_path / "a.txt").write_text("Low\n \nlow\n\nlower Low\n")
    scale.tokenize(tokenizer, tmp_path / "a.txt", tmp_path / "out", lines=True)
    found = check_dataset(tmp_path / "out", tokenizer)
    assert (found["documents"], found["empty"]) == (5, 2)


@given(
    documents=st.lists(st.text("low erz\u00fc<|nd>\n", max_size=30), max_size=9),
    place=st.sampled_from(["before", "behind", None]),
    width=st.sampled_from([2, 4]),
    threads=st.sampled_from([1, 2]),
)
def test_rows_are_laid_out_as_documents_one_by_one(
    tokenizer, documents, place, width, threads
):
    """The definition: ids of each document alone, a mark where there are any, and the ends."""
    options = {"width": width, "threads": threads}
    mark = [tokenizer.special_tokens[MARK]]
    if place is not None:
        (options[place],) = mark
    column = pa.array([text.encode() for text in documents], pa.large_binary())
    ids, ends = _core.encode_rows(tokenizer, arrays_of(column), **options)
    expected, expected_ends = [], []
    for text in documents:
        own = tokenizer.encode(text)
        own_mark = mark if own else []
        expected += (
            own_mark * (place == "before") + own + own_mark * (place == "behind")
        )
        expected_ends.append(len(expected))
    assert (ids.tolist(), ends.tolist()) == (expected, expected_ends)
    assert ids.itemsize == width


def test_arrays_that_are_held_keep_what_they_hold(tokenizer):
    """Memory is used again only when nobody can see it any more, views and columns included."""
    held = []
    for turn in range(12):
        texts = [f"{turn} {word} low lower " * 9000 for word in WORDS]
        lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
        block = np.frombuffer(lines.encode(), np.uint8)
        (data, offsets), _lines, _null, _bad = _core.read_jsonl(block, ["text"])
        column = column_of(data, offsets)
        ids, ends = _core.encode_rows(tokenizer, arrays_of(column), width=2)
        expected = [ids.copy(), data.copy()]
        if turn % 3:  # some are dropped, and what they held is used again
            held.append((column.slice(1), ids[5:], expected))
        del data, offsets, column, ids, ends
    for column, ids, (expected_ids, expected_data) in held:
        assert np.array_equal(ids, expected_ids[5:])
        assert b"".join(column.to_pylist()) in expected_data.tobytes()


def test_a_mark_may_stand_before_documents_in_parquet(
    tmp_path, corpus, texts, tokenizer
):
    """A row is a document."""
    parquet = pytest.importorskip("pyarrow.parquet")
    options = {"format": "parquet", "begin_of_document": MARK}
    scale.tokenize(tokenizer, corpus, tmp_path / "out", **options)
    (path,) = (tmp_path / "out").glob("*.parquet")
    found = parquet.read_table(path).column("ids").to_pylist()
    assert found == expected_documents(tokenizer, texts, begin=MARK)


@pytest.mark.parametrize("wrong", [50256, True, b"<s>", ["<s>"], 1.0])
def test_tokens_around_documents_are_named_as_texts(
    tmp_path, corpus, with_begin, wrong
):
    """An id, bytes or a list is refused with the argument before a folder is made."""
    for name in BOTH:
        with pytest.raises(TypeError, match=f"{name} must be a token as it is written"):
            scale.tokenize(with_begin, corpus, tmp_path / "out", **{name: wrong})
    assert not (tmp_path / "out").exists()


def test_tokens_around_documents_are_checked_and_go_on_with_a_run(
    tmp_path, corpus, texts, with_begin
):
    """A wrong one is told; other ones for the same folder are refused; a killed run goes on."""
    out = tmp_path / "out"
    options = {"format": "bin", "task_bytes": 9000, **BOTH}
    whole = scale.tokenize(with_begin, corpus, tmp_path / "whole", **options)

    def stop(progress):
        if progress.done_tasks:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scale.tokenize(with_begin, corpus, out, progress=stop, **options)
    other = {**options, "begin_of_document": None}
    with pytest.raises(TokenizerError, match="begin_of_document: '<s>' then, None now"):
        scale.tokenize(with_begin, corpus, out, **other)
    assert scale.tokenize(with_begin, corpus, out, **options) == whole
    assert written_files(out) == written_files(tmp_path / "whole")
    shard = sorted(out.glob("*.bin"))[0]
    changed = np.fromfile(shard, "<u2")
    changed[0] = changed[1]
    shard.write_bytes(changed.tobytes())
    described = json.loads((out / "manifest.json").read_text())
    files = described["tasks"][0]["shards"][0]["files"]
    files[shard.name]["sha256"] = _shards.sha256_of(shard)
    (out / "manifest.json").write_text(json.dumps(described))
    with pytest.raises(TokenizerError, match="document 0 differs from document 0"):
        check_dataset(out, with_begin)


def test_megatron_files_are_laid_out_as_documented(tmp_path, corpus, texts, tokenizer):
    """Header, lengths, byte offsets and document numbers, read as Megatron's reader does."""
    options = {"format": "megatron", "end_of_document": MARK}
    scale.tokenize(tokenizer, corpus, tmp_path / "out", **options)
    (index_path,) = (tmp_path / "out").glob("*.idx")
    index, tokens = index_path.read_bytes(), index_path.with_suffix(".bin").read_bytes()
    *head, n_sequences, n_documents = struct.unpack("<9sQBQQ", index[:34])
    assert head == [b"MMIDIDX\x00\x00", 1, 8]
    lengths = np.frombuffer(index, np.int32, n_sequences, 34)
    pointers = np.frombuffer(index, np.int64, n_sequences, 34 + 4 * n_sequences)
    numbers = np.frombuffer(index, np.int64, n_documents, 34 + 12 * n_sequences)
    assert len(index) == 34 + 12 * n_sequences + 8 * n_documents
    assert numbers.tolist() == list(range(n_sequences + 1))
    pairs = zip(pointers.tolist(), lengths.tolist(), strict=True)
    found = [np.frombuffer(tokens, np.uint16, n, at).tolist() for at, n in pairs]
    assert found == expected_documents(tokenizer, texts, end=MARK)


def test_more_ids_than_lists_of_arrow_can_count_are_refused():
    """Offsets of 32 bits must not wrap."""
    ids, most = np.zeros(3, np.uint32), (1 << 31) - 1
    assert _shards.list_column(ids, np.array([0, 2, 3])).to_pylist() == [[0, 0], [0]]
    with pytest.raises(TokenizerError, match="2,147,483,648 ids in one batch"):
        _shards.list_column(ids, np.array([0, most + 1]))


def test_whatever_ends_a_shard_leaves_no_temporary_file(
    tmp_path, corpus, tokenizer, monkeypatch
):
    """A document that is too long for the format is told when its shard is finished."""
    monkeypatch.setattr(_shards, "MOST_OFFSET", 5)
    with pytest.raises(TokenizerError, match="Megatron cannot hold"):
        scale.tokenize(tokenizer, corpus, tmp_path / "out", format="megatron")
    left = {path.name for path in (tmp_path / "out" / _work.WORK).iterdir()}
    assert left == {"plan.json", _work.LOCK}


def test_a_large_vocabulary_takes_four_bytes(tmp_path, corpus):
    """65,536 ids fit two bytes, one more does not."""
    tokenizer = bytepair.train_from_iterator(["ab"], vocab_size=256)
    for id_, dtype in ((65_535, "<u2"), (65_536, "<u4")):
        with_name = tokenizer.with_special_tokens({MARK: id_})
        out, options = tmp_path / dtype, {"end_of_document": MARK}
        scale.tokenize(with_name, corpus / "a.jsonl", out, **options)
        assert TokenDataset(out)[0].dtype == np.dtype(dtype)
        assert TokenDataset(out)[0][-1] == id_


def test_processes_do_not_show_in_a_dataset(tmp_path, corpus, tokenizer):
    """The same files, byte for byte, and the same manifest."""
    for name, processes in (("one", 1), ("two", 2)):
        options = {"task_bytes": 9000, "processes": processes}
        scale.tokenize(tokenizer, corpus, tmp_path / name, **options)
    assert written_files(tmp_path / "one") == written_files(tmp_path / "two")
    assert len(written_files(tmp_path / "one")) > 5


@pytest.mark.parametrize("processes", slow_but([1], [1, 2]))
def test_progress_is_told_within_tasks(
    tmp_path, corpus, tokenizer, monkeypatch, processes
):
    """It grows to the size of the corpus, for both jobs, compressed or not."""
    for module in (_local, _engine):
        monkeypatch.setattr(module, "WATCH_SECONDS", 0.0)
    monkeypatch.setattr(_readers, "BLOCK_LEN", 2000)
    for path in corpus.iterdir():
        packed = pa.compress(path.read_bytes(), "gzip", asbytes=True)
        (tmp_path / f"{path.name}.gz").write_bytes(packed)
    sources = [*corpus.iterdir(), *tmp_path.iterdir()]
    total = sum(path.stat().st_size for path in sources)
    told, counted = [], []
    options = {"processes": processes, "task_bytes": 20_000}
    out = tmp_path / "out"
    done = scale.tokenize(tokenizer, sources, out, progress=told.append, **options)
    scale.count(sources, progress=lambda *step: counted.append(step), **options)
    steps = [step.done_bytes for step in told]
    assert steps == sorted(steps)
    assert (steps[-1], told[-1].total_bytes) == (total, total)
    assert told[-1].tokens == done["totals"]["tokens"]
    assert told[-1].done_tasks == told[-1].total_tasks == len(done["tasks"])
    assert counted[-1] == (total, total)
    assert counted == sorted(counted)
    if processes == 1:  # blocks are seen for certain
        assert len(set(steps)) > told[-1].total_tasks
        assert len({step for step, _total in counted}) > told[-1].total_tasks


def test_a_process_that_was_forked_reads_a_dataset_too(tmp_path, corpus, tokenizer):
    """It reads what was mapped before, and its reading moves nothing in its parent."""
    scale.tokenize(tokenizer, corpus, tmp_path / "out", shard_tokens=500)
    program = """
import os, sys
from bytepair.data import TokenDataset
for window in (None, 64):
    dataset = TokenDataset(sys.argv[1], window=window)
    expected = [ids.tolist() for ids in dataset]
    child = os.fork()
    if child == 0:
        same = [ids.tolist() for ids in reversed(list(dataset))] == expected[::-1]
        os._exit(0 if same else 1)
    assert [ids.tolist() for ids in dataset] == expected
    assert os.waitpid(child, 0)[1] == 0
    assert dataset[-1].tolist() == expected[-1] and len(dataset) == len(expected) > 5
"""
    run_python(program, tmp_path / "out")


def test_a_run_that_was_killed_is_continued(tmp_path, corpus, tokenizer):
    """The main process is killed between and within tasks; the rest is done, the same."""
    tokenizer.save(tmp_path / "tok.bytepair")
    options = {"task_bytes": 9000, "format": "megatron"}
    scale.tokenize(tokenizer, corpus, tmp_path / "whole", **options)
    program = f"""
import os, signal, bytepair
from bytepair import scale
from bytepair.data import _shards
finish = _shards._Shard.finish
def finish_two(shard, done=[]):
    done.append(1)
    if len(done) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return finish(shard)
_shards._Shard.finish = finish_two
scale.tokenize({str(tmp_path / "tok.bytepair")!r}, {str(corpus)!r},
               {str(tmp_path / "out")!r}, **{options!r})
"""
    run_python(program, code=-signal.SIGKILL)
    work = tmp_path / "out" / _work.WORK
    assert len(list(work.glob("task-*.json"))) == 2
    kept = tmp_path / "out" / "shard-00000-000.bin"
    damaged = tmp_path / "out" / "shard-00001-000.bin"
    before = kept.stat().st_mtime_ns
    damaged.write_bytes(damaged.read_bytes()[:-2] + b"\x00\x00")
    scale.tokenize(tokenizer, corpus, tmp_path / "out", **options)
    assert kept.stat().st_mtime_ns == before
    assert written_files(tmp_path / "out") == written_files(tmp_path / "whole")
    assert not work.exists()


def test_a_shard_that_finds_no_room_does_not_count(tmp_path, corpus, tokenizer):
    """The error names it, and no note is left; with more room the same call ends as on an empty disk."""
    disks = pytest.importorskip("tests.full_disks", reason="limits files")
    scale.tokenize(tokenizer, corpus, tmp_path / "whole")
    with disks.short_files(tmp_path, 1000) as grow:
        with pytest.raises(FileError, match=f"{tmp_path / 'out'}.*shard-00000-000: "):
            scale.tokenize(tokenizer, corpus, tmp_path / "out")
        left = {path.name for path in (tmp_path / "out" / _work.WORK).iterdir()}
        assert left == {"plan.json", _work.LOCK}
        with pytest.raises(FileError, match="not finished"):
            TokenDataset(tmp_path / "out")
        grow()
        scale.tokenize(tokenizer, corpus, tmp_path / "out")
    assert written_files(tmp_path / "out") == written_files(tmp_path / "whole")


def test_a_finished_dataset_is_left_alone(tmp_path, corpus, tokenizer):
    """The same call again writes nothing; a shard that is missing is told."""
    done = scale.tokenize(tokenizer, corpus, tmp_path / "out")
    paths = list((tmp_path / "out").iterdir())
    before = [path.stat().st_mtime_ns for path in paths]
    assert scale.tokenize(tokenizer, corpus, tmp_path / "out") == done
    assert [path.stat().st_mtime_ns for path in paths] == before
    (tmp_path / "out" / "shard-00000-000.npy").unlink()
    with pytest.raises(FileError, match="is missing"):
        scale.tokenize(tokenizer, corpus, tmp_path / "out")


def test_other_settings_for_a_folder_are_refused(tmp_path, corpus, texts, tokenizer):
    """Another tokenizer, other sources, another format, and a folder of something else."""
    scale.tokenize(tokenizer, corpus, tmp_path / "out")
    other = bytepair.train_from_iterator(texts, vocab_size=290, special_tokens=[MARK])
    with pytest.raises(TokenizerError, match="tokenizer: "):
        scale.tokenize(other, corpus, tmp_path / "out")
    with pytest.raises(TokenizerError, match="sources: 2 then, 1 now"):
        scale.tokenize(tokenizer, corpus / "a.jsonl", tmp_path / "out")
    with pytest.raises(TokenizerError, match="format: 'npy' then, 'bin' now"):
        scale.tokenize(tokenizer, corpus, tmp_path / "out", format="bin")
    with pytest.raises(FileError, match="which is read as a corpus"):
        scale.tokenize(tokenizer, corpus, corpus)


def test_bad_lines_end_a_run_that_goes_on_when_they_may_be_skipped(
    tmp_path, corpus, tokenizer
):
    """What was done before is kept."""
    (tmp_path / "c.jsonl").write_text('{"text": "x"}\n{\n')
    names = [corpus, tmp_path / "c.jsonl"]
    options = {"task_bytes": 9000}
    with pytest.raises(bytepair.FormatError, match=r"c\.jsonl, line 2"):
        scale.tokenize(tokenizer, names, tmp_path / "out", **options)
    kept = tmp_path / "out" / "shard-00000-000.npy"
    before = kept.stat().st_mtime_ns
    done = scale.tokenize(tokenizer, names, tmp_path / "out", skip_bad=True, **options)
    assert done["totals"]["bad"] == 1
    assert kept.stat().st_mtime_ns == before


# Processes


def die_once(task):
    """End this process by force at the first try of task 1."""
    number, folder = task
    flag = Path(folder) / "died"
    if number == 1 and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * 10


def always_die(_task):
    """End this process by force."""
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_a_process_that_is_killed_is_replaced(tmp_path):
    """Each task has one result; endless killing is an error."""
    tasks = [(number, str(tmp_path)) for number in range(4)]
    found = sorted(result for _task, result in _local.run(die_once, tasks, 2))
    assert found == [0, 10, 20, 30]
    with pytest.raises(TokenizerError, match="killed 4 times in a row"):
        list(_local.run(always_die, tasks, 2))
