"""Counting and tokenizing on a real Spark of this machine: the same results, whatever happens."""

import hashlib
import json
import os
import random
import re
import shutil
import signal
import sys
from pathlib import Path

import pytest
from tests.commands import refused, run, run_process

import bytepair
from bytepair import FileError, FormatError, TrainingError

pa = pytest.importorskip("pyarrow", reason="corpora need pyarrow")
pyspark_sql = pytest.importorskip("pyspark.sql", reason="PySpark is not installed")
pytest.importorskip("pandas", reason="PySpark needs pandas")

from tests.full_disks import small_disk  # noqa: E402
from tests.test_scale import MARK, WORDS, written_files  # noqa: E402

from bytepair import scale  # noqa: E402
from bytepair.data import TokenDataset, _shards  # noqa: E402
from bytepair.scale.spark import (  # noqa: E402
    collect_counts,
    spark_count,
    spark_tokenize,
)
from bytepair.scale.spark_engine import SparkEngine  # noqa: E402

if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
    pytest.skip("Spark needs Java, which is not here", allow_module_level=True)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def spark():
    """Begin Spark with two cores, where a task is tried four times."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        settings = {
            "spark.driver.memory": "1g",
            "spark.log.level": "OFF",
            "spark.sql.shuffle.partitions": "3",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
        }
        builder = pyspark_sql.SparkSession.builder.master("local[2,4]")
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        yield session
        session.stop()


@pytest.fixture(scope="module")
def documents():
    """Make documents with a language, one of them null, one empty, one with a mark."""
    chance = random.Random(1)
    made = [" ".join(chance.choices(WORDS, k=30)) for _ in range(200)]
    made[7:7] = [None, "", f"spelled {MARK} out"]
    return [(chance.choice(["de", "en"]), text) for text in made]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory, documents):
    """Write the documents to three files."""
    folder = tmp_path_factory.mktemp("corpus")
    for number in range(3):
        rows = [{"lang": name, "text": text} for name, text in documents[number::3]]
        path = folder / f"{number}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


@pytest.fixture(scope="module")
def tokenizer(documents):
    """Train a small tokenizer with a special token."""
    texts = [text for _name, text in documents if text]
    return bytepair.train_from_iterator(texts, vocab_size=300, special_tokens=[MARK])


def frame(spark, documents, n_partitions):
    """Make a data frame of documents in so many partitions."""
    rows = spark.createDataFrame(documents, "lang string, text string")
    return rows.repartition(n_partitions)


def content(counts):
    """Hash counts: their rows, and what is told of them, without the files' names."""
    digest = hashlib.sha256()
    digest.update(str(counts.table.to_pylist()).encode())
    described = {**vars(counts.info), "sources": []}
    digest.update(json.dumps(described, sort_keys=True).encode())
    return digest.hexdigest()


def die_once(folder, at):
    """Give a kernel that ends its process by force at the first try of a partition."""

    def kernel(batches):
        from pyspark import TaskContext

        for batch in batches:
            context = TaskContext.get()
            if context.partitionId() == at and context.attemptNumber() == 0:
                Path(folder, "died").touch()
                os.kill(os.getpid(), signal.SIGKILL)
            yield batch

    return kernel


# Counts


@pytest.mark.parametrize(
    "options",
    [{}, {"min_piece_count": 30}, {"group": "lang", "min_piece_count": 30}],
)
def test_counts_do_not_depend_on_who_counts(spark, corpus, documents, options):
    """Files and partitions of any number, with shuffled rows: the content that one process gives."""
    prepared = {"dialect": "gpt2", "special_tokens": [MARK]}
    expected = scale.count(corpus, **prepared, **options)
    files = {"engine": SparkEngine(spark), "task_bytes": 9000}
    found = {"files": scale.count(corpus, **files, **prepared, **options)}
    rows_options = dict(options)
    min_piece_count = rows_options.pop("min_piece_count", None)
    shuffled = random.Random(5).sample(documents, len(documents))
    for n_partitions, rows in ((1, documents), (2, documents), (7, shuffled)):
        parts = frame(spark, rows, n_partitions)
        counted = spark_count(parts, **prepared, **rows_options)
        found[n_partitions] = collect_counts(counted, min_piece_count)
    contents = {name: content(counts) for name, counts in found.items()}
    assert contents == dict.fromkeys(found, content(expected))


def test_a_killed_worker_does_not_show_in_counts(spark, tmp_path, documents, corpus):
    """Spark does its task again, and no document is counted twice or never."""
    rows = frame(spark, documents, 4)
    rows = rows.mapInArrow(die_once(tmp_path, 1), rows.schema)
    counted = collect_counts(spark_count(rows))
    assert (tmp_path / "died").exists()
    assert content(counted) == content(scale.count(corpus))


def test_ties_by_first_occurrence_need_files(spark, documents, corpus):
    """Rows have no order, so they are refused; files have one, and give the same counts."""
    with pytest.raises(TrainingError, match="rows have no order"):
        spark_count(frame(spark, documents, 2), dialect="letters-digits")
    options = {"dialect": "letters-digits", "task_bytes": 3000}
    found = scale.count(corpus, engine=SparkEngine(spark), **options)
    expected = scale.count(corpus, **options)
    assert found.table.equals(expected.table)
    assert "first" in found.table.schema.names


def test_counts_may_be_stored_by_spark(spark, tmp_path, documents, corpus):
    """A data frame of counts that was written and read again is still counts."""
    counted = spark_count(frame(spark, documents, 2), ties="largest_text")
    counted.write.parquet(str(tmp_path / "counts"))
    stored = spark.read.parquet(str(tmp_path / "counts"))
    expected = scale.count(corpus, ties="largest_text")
    assert content(collect_counts(stored)) == content(expected)


@pytest.mark.parametrize(("is_strict", "min_piece_count"), [(True, 2), (False, None)])
def test_a_sum_beyond_63_bits_is_an_error(spark, is_strict, min_piece_count):
    """Whether Spark is told to wrap such sums or not, and whether rare pieces go."""
    from bytepair.data import Counts
    from bytepair.scale import _rows
    from bytepair.scale._counter import CountSpec
    from bytepair.scale.spark import added_up

    def huge(batches):
        for _batch in batches:
            info = CountSpec().new_info()
            piece = pa.array([b"a"], pa.large_binary())
            table = pa.table({"piece": piece, "count": [1 << 62]})
            yield from _rows.as_rows(Counts(table, info))

    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", is_strict)
    counted = added_up(spark.range(0, 4, 1, 2), huge, CountSpec())
    with pytest.raises(TrainingError, match="63 bits"):
        collect_counts(counted, min_piece_count)
    spark.conf.set("spark.sql.ansi.enabled", before)


# Shards


def test_files_become_the_same_shards_as_on_one_machine(
    spark, tmp_path, corpus, tokenizer
):
    """Byte for byte, the manifest too; a second run does nothing."""
    options = {"task_bytes": 4000, "format": "megatron", "end_of_document": MARK}
    engine = SparkEngine(spark)
    scale.tokenize(tokenizer, corpus, tmp_path / "local", **options)
    scale.tokenize(tokenizer, corpus, tmp_path / "spark", engine=engine, **options)
    assert written_files(tmp_path / "spark") == written_files(tmp_path / "local")
    kept = tmp_path / "spark" / "shard-00000-000.bin"
    before = kept.stat().st_mtime_ns
    scale.tokenize(tokenizer, corpus, tmp_path / "spark", engine=engine, **options)
    assert kept.stat().st_mtime_ns == before


class KilledOnce(SparkEngine):
    """Kills the worker of the second task at its first try, in the middle of writing."""

    def __init__(self, spark, folder):
        super().__init__(spark)
        self.folder = folder

    def run(self, work, tasks):
        """Put the killing around the work."""
        folder = self.folder

        def killing(task):
            append = _shards._FlatShard.append

            def append_once(files, ids, ends):
                append(files, ids, ends)
                if task[0] == 1 and not Path(folder, "died").exists():
                    Path(folder, "died").touch()
                    os.kill(os.getpid(), signal.SIGKILL)

            _shards._FlatShard.append = append_once
            try:
                return work(task)
            finally:
                _shards._FlatShard.append = append

        return super().run(killing, tasks)


def test_a_killed_worker_does_not_show_in_shards_of_files(
    spark, tmp_path, corpus, tokenizer
):
    """It dies with a shard half written; the shards are those of an undisturbed run."""
    options = {"task_bytes": 9000, "format": "megatron"}
    scale.tokenize(tokenizer, corpus, tmp_path / "whole", **options)
    engine = KilledOnce(spark, tmp_path)
    scale.tokenize(tokenizer, corpus, tmp_path / "out", engine=engine, **options)
    assert (tmp_path / "died").exists()
    assert written_files(tmp_path / "out") == written_files(tmp_path / "whole")


def test_a_disk_that_is_full_is_told_and_no_shard_of_it_counts(
    spark, tmp_path, corpus, tokenizer
):
    """The error names the disk; with more space the same call ends with the same bytes."""
    options = {"task_bytes": 4000, "format": "megatron", "end_of_document": MARK}
    scale.tokenize(tokenizer, corpus, tmp_path / "local", **options)
    disk = tmp_path / "disk"
    disk.mkdir()
    with small_disk(disk, 24_576) as grow:
        given = (tokenizer, corpus, disk / "out")
        with pytest.raises(FileError, match=str(disk)):
            scale.tokenize(*given, engine=SparkEngine(spark), **options)
        with pytest.raises(FileError):
            TokenDataset(disk / "out")
        grow()
        scale.tokenize(*given, engine=SparkEngine(spark), **options)
        assert written_files(disk / "out") == written_files(tmp_path / "local")


def test_rows_become_shards_with_each_document_once(
    spark, tmp_path, documents, tokenizer
):
    """Also where a worker dies after some rows; nothing of its attempt is left."""
    texts = [text for _name, text in documents if text]
    mark = tokenizer.special_tokens[MARK]
    expected = sorted([*tokenizer.encode(text), mark] for text in texts)
    plain = frame(spark, documents, 3)
    dying = plain.mapInArrow(die_once(tmp_path, 2), plain.schema)
    for name, rows in (("plain", plain), ("dying", dying)):
        out = tmp_path / name
        manifest = spark_tokenize(rows, tokenizer, out, end_of_document=MARK)
        dataset = TokenDataset(out)
        assert sorted(ids.tolist() for ids in dataset) == expected
        totals = manifest["totals"]
        assert (totals["documents"], totals["null"], totals["empty"]) == (203, 1, 1)
        assert totals["with_special_text"] == 1
        listed = {n for t in manifest["tasks"] for s in t["shards"] for n in s["files"]}
        assert {path.name for path in out.iterdir()} == {"manifest.json", *listed}
    assert (tmp_path / "died").exists()
    with pytest.raises(FileError, match="holds a finished dataset"):
        spark_tokenize(plain, tokenizer, tmp_path / "plain", end_of_document=MARK)


def test_rows_and_files_take_added_tokens_as_text(spark, tmp_path):
    """Both give the ids that a call with the same word gives, and count the documents."""
    made = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    made = made.with_added_tokens(["<think>"])
    texts = ["low<think>", "lower", "<think>low"]
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(texts), encoding="utf-8")
    expected = sorted(made.encode(text, added_tokens="text") for text in texts)
    rows = frame(spark, [("x", text) for text in texts], 2)
    option = {"added_tokens": "text"}
    of_rows = spark_tokenize(rows, made, tmp_path / "rows", **option)
    engine = SparkEngine(spark)
    option |= {"lines": True, "engine": engine}
    of_files = scale.tokenize(made, path, tmp_path / "files", **option)
    for name, manifest in (("rows", of_rows), ("files", of_files)):
        found = sorted(ids.tolist() for ids in TokenDataset(tmp_path / name))
        assert found == expected
        assert manifest["totals"]["with_added_text"] == 2
        assert manifest["plan"]["added_tokens"] == "text"


def test_two_attempts_that_both_end_count_once(tmp_path, documents, tokenizer):
    """Of two attempts of a part, in different orders, one is taken with all of its files."""
    from bytepair.scale import spark as attempts
    from bytepair.scale._writing import ShardSpec

    options = {"format": "megatron", "shard_tokens": 100, "threads": 1}
    spec = ShardSpec(tokenizer, **options)
    texts = [text for _name, text in documents]
    dataset = attempts.begun(tmp_path / "out", spec)
    with dataset.writing():
        done = []
        for order in (texts, texts[::-1]):
            batch = pa.RecordBatch.from_pydict({"text": order})
            done.append(attempts.write_attempt([batch], spec, dataset.folder, 0))
        assert done[0]["shards"] != done[1]["shards"]
        name = "shard-00009-000"  # of a run that was killed, and of somebody else
        files = {f"{name}.bin": {"bytes": 0, "sha256": "0" * 64}}
        shard = {"name": name, "documents": 1, "tokens": 1, "largest_id": 0}
        dataset.note(9, {**done[0], "number": 9, "shards": [{**shard, "files": files}]})
        (tmp_path / "out" / f"{name}.bin").touch()
        (tmp_path / "out" / "shard-00008-000.bin").touch()  # without a note
        attempts.settle(dataset, done[1:])
    expected = [tokenizer.encode(text) for text in texts[::-1] if text]
    assert [ids.tolist() for ids in TokenDataset(tmp_path / "out")] == expected
    assert not (tmp_path / "out" / "shard-00009-000.bin").exists()
    assert (tmp_path / "out" / "shard-00008-000.bin").exists()


def test_what_a_worker_refuses_is_told_as_on_one_machine(spark, tmp_path, tokenizer):
    """A line that is bad names its file and place, and a column that is missing itself."""
    (tmp_path / "a.jsonl").write_text('{"text": "x"}\n{\n')
    with pytest.raises(FormatError, match=r"a\.jsonl, line 2"):
        scale.count(tmp_path, engine=SparkEngine(spark))
    with pytest.raises(FormatError, match="a column of int64, not of texts"):
        spark_tokenize(spark.range(3), tokenizer, tmp_path / "out", column="id")


def test_the_commands_run_on_spark(spark, tmp_path, corpus, tokenizer):
    """`--engine spark` counts and tokenizes as the same command without it does."""
    tokenizer.save(tmp_path / "t.bytepair")
    for engine in ("local", "spark"):
        out, options = tmp_path / engine, ["--engine", engine]
        run("count-pieces", corpus, "-o", out.with_suffix(".parquet"), *options)
        run("shard", tmp_path / "t.bytepair", corpus, "-o", out, *options)
        route = ["--from-ids", tmp_path / "local", "--with", tmp_path / "t.bytepair"]
        again = ["-o", tmp_path / f"{engine} again", *route, *options]
        run("shard", tmp_path / "t.bytepair", *again)
    one, other = tmp_path / "local", tmp_path / "spark"
    assert written_files(one) == written_files(other)
    again = [written_files(tmp_path / f"{name} again") for name in ("local", "spark")]
    assert again[0] == again[1]
    counts = [path.with_suffix(".parquet").read_bytes() for path in (one, other)]
    assert counts[0] == counts[1]
    typed = ["count-pieces", corpus, "-o", tmp_path / "x.parquet"]
    assert "--engine spark" in refused(*typed, "--spark", "spark.x=1")


def test_a_machine_without_java_is_told_what_to_do(tmp_path, corpus):
    """The command ends with one message, not with a trace."""
    typed = ["count-pieces", corpus, "-o", tmp_path / "c.parquet", "--engine", "spark"]
    environment = {**os.environ, "JAVA_HOME": str(tmp_path)}
    ended = run_process(*typed, code=1, env=environment)
    assert "it needs Java 17" in ended.stderr


def test_what_the_how_to_shows_runs(spark, tmp_path, documents, monkeypatch):
    """The Python of the page for clusters ends well, as it stands."""
    page = Path(__file__).parent.parent / "docs" / "how-to" / "spark.md"
    text = page.read_text(encoding="utf-8")
    (program,) = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    frame(spark, documents, 2).write.parquet(str(tmp_path / "corpus"))
    program = program.replace('"corpus"', repr(str(tmp_path / "corpus")))
    program = program.replace('"counted"', repr(str(tmp_path / "counted")))
    names = {"spark": spark}
    exec(compile(program, str(page), "exec"), names)
    assert len(TokenDataset(tmp_path / "tokens")) == 201
    assert names["tokenizer"].merges
