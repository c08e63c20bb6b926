"""One reader for training, counting and tokenizing: what a file is, and what is learned from it.

Left out: what each kind of file holds in detail (``test_corpora_reading``).
"""

import bz2
import contextlib
import csv
import gzip
import io
import json
import lzma
import pickle
import sqlite3
import tarfile
import wave
import zipfile
from functools import partial

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tests.commands import refused, run, run_process
from tests.programs import run_python

import bytepair
from bytepair import FileError, FormatError, TokenizerError, TrainingError
from bytepair._io.loading import is_tokenizer
from bytepair._io.signatures import signature

pa = pytest.importorskip("pyarrow", reason="counts need pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
from tests.test_corpora_reading import COMPRESSIONS as OF_ENDINGS  # noqa: E402

from bytepair import analyze, scale, surgery  # noqa: E402

TEXTS = [
    "low lower lowest  12 mal\n",
    "",
    "Größe — 大きい ﬁne\tlow",
    "A_b <|end|> low</w> ▁x",
    "low lower\nnewer <|end|>\n",
] * 4
SPECIALS = ["<|z|>", "<|end|>", "<|a|>"]
COMPRESSIONS = {"": bytes, **OF_ENDINGS}


def write_as(path, texts):
    """Write texts in the format that the ending of a path says."""
    kind = path.name.split(".")[1]
    if kind == "parquet":
        parquet.write_table(pa.table({"text": texts}), path)
        return path
    file = io.StringIO()
    if kind == "jsonl":
        file.writelines(json.dumps({"text": text}) + "\n" for text in texts)
    else:
        writer = csv.writer(file, delimiter="\t" if kind == "tsv" else ",")
        writer.writerows([["id", "text"], *([1, text] for text in texts)])
    data = file.getvalue().encode()
    path.write_bytes(COMPRESSIONS.get(path.suffix, bytes)(data))
    return path


# What is learned


@pytest.mark.parametrize("dialect", bytepair.dialects())
def test_training_on_documents_is_training_on_their_counts(tmp_path, dialect):
    """The same file, byte for byte, in every dialect, for special tokens in any order."""
    docs = write_as(tmp_path / "docs.jsonl", TEXTS)
    options = {"dialect": dialect, "special_tokens": SPECIALS}
    direct = bytepair.train(docs, merges=30, **options)
    weighted = bytepair.train({docs: 1}, merges=30, **options)
    scale.count(docs, output=tmp_path / "counts.parquet", **options)
    counted = bytepair.train(tmp_path / "counts.parquet", merges=30)
    expected = bytepair.train_from_iterator(TEXTS, merges=30, **options)
    assert list(counted.special_tokens)[-3:] == SPECIALS
    for found in (direct, weighted, counted):
        assert found.to_bytes() == expected.to_bytes()


@pytest.mark.parametrize(
    "ending",
    ["parquet"] + [k + end for k in ("jsonl", "csv", "tsv") for end in COMPRESSIONS],
)
def test_every_kind_of_file_gives_the_same_tokenizer(tmp_path, ending):
    """Documents in any format and compression teach what they teach from memory."""
    path = write_as(tmp_path / f"docs.{ending}", TEXTS)
    expected = bytepair.train_from_iterator(TEXTS, merges=30)
    assert bytepair.train(path, merges=30).to_bytes() == expected.to_bytes()


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("how", [{}, {"lines": True}, {"separator": "<|end|>"}])
def test_compressed_text_is_text(tmp_path, compression, how):
    """Whole, by lines, and between separators: compression does not show; counts agree."""
    text = "low lower<|end|>lowest\r\nlow low<|end|>\n\nnewer low"
    path = tmp_path / f"a.txt{compression}"
    path.write_bytes(COMPRESSIONS[compression](text.encode()))
    texts = text.split(how.get("separator", "<no separator>"))
    if "lines" in how:
        texts = text.replace("\r", "").split("\n")
    options = {"dialect": "byte-stream", "merges": 20}
    expected = bytepair.train_from_iterator(texts, **options)
    assert bytepair.train(path, **options, **how).to_bytes() == expected.to_bytes()
    counts = scale.count(path, dialect="byte-stream", **how)
    counted = bytepair.train_from_counts(counts, merges=20)
    assert counted.to_bytes() == expected.to_bytes()


@given(
    text=st.text(alphabet="ab\n", max_size=40),
    separator=st.text(alphabet="ab\n", min_size=1, max_size=3),
    specials=st.lists(st.text(alphabet="ab\n", min_size=1, max_size=4), max_size=3),
    block_len=st.integers(1, 9),
)
def test_separators_and_special_tokens_cut_alike_in_counts_and_in_training(
    tmp_path_factory, text, separator, specials, block_len
):
    """Of those that stand at a place the longest counts, wherever a block of the file ends."""
    folder = tmp_path_factory.mktemp("separated")
    path = folder / "a.txt"
    path.write_text("x" + text)
    options = {"dialect": "byte-stream", "special_tokens": specials, "min_count": 1}
    expected = bytepair.train(path, separator=separator, merges=9, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bytepair.data._readers.BLOCK_LEN", block_len)
        counts = scale.count(path, separator=separator, **options)
    counted = bytepair.train_from_counts(counts, merges=9)
    assert counted.to_bytes() == expected.to_bytes()


def test_a_separator_cuts_text_files_alone(tmp_path):
    """In a corpus of text and JSON lines a document of the latter keeps what looks like one."""
    (tmp_path / "a.txt").write_text("ab|cd")
    write_as(tmp_path / "b.jsonl", ["ef|gh"])
    options = {"dialect": "byte-stream", "min_count": 1}
    found = bytepair.train(tmp_path, separator="|", **options)
    expected = bytepair.train_from_iterator(["ab", "cd", "ef|gh"], **options)
    assert found.to_bytes() == expected.to_bytes()
    counts = scale.count(tmp_path, separator="|", dialect="byte-stream")
    counted = bytepair.train_from_counts(counts, min_count=1)
    assert counted.to_bytes() == expected.to_bytes()


def test_weights_folders_and_addresses_are_for_every_kind_of_file(tmp_path):
    """A file of JSON lines counts as often as its weight says; a folder is its files."""
    pytest.importorskip("fsspec", reason="addresses need fsspec")
    one = write_as(tmp_path / "a.jsonl", ["ab ab"])
    two = write_as(tmp_path / "b.csv", ["cd cd cd"])
    texts = ["ab ab"] * 4 + ["cd cd cd"]
    expected = bytepair.train_from_iterator(texts, merges=4).merges
    assert bytepair.train({one: 4, two: 1}, merges=4).merges == expected
    out = tmp_path / "t.bytepair"
    run("train", f"{one}@4", two, "-o", out, "--merges", 4)
    assert bytepair.Tokenizer.from_file(out).merges == expected
    out.unlink()
    both = bytepair.train_from_iterator(["ab ab", "cd cd cd"], merges=4)
    for corpus in (tmp_path, f"file://{tmp_path}", f"file://{tmp_path}/*"):
        assert bytepair.train(corpus, merges=4).to_bytes() == both.to_bytes()


# What a file is


def mistaken(folder):
    """Write files that are not what their names say; give what is said of each."""
    line = b'{"text": "low"}\n'
    table = folder / "table"
    parquet.write_table(pa.table({"text": ["low"]}), table)
    files = {
        "a.txt": (gzip.compress(line), "text", "gzip"),
        "b.md": (bz2.compress(line), "text", "bz2"),
        "c": (lzma.compress(line), "text", "xz"),
        "d.txt": (COMPRESSIONS[".zst"](line), "text", "zstd"),
        "e.txt": (table.read_bytes(), "text", "Parquet"),
        "f.jsonl": (gzip.compress(line), "JSON lines", "gzip"),
        "g.jsonl.gz": (line, "gzip", "text"),
        "h.jsonl.zst": (gzip.compress(line), "zstd", "gzip"),
        "i.jsonl": (b'  [{"text": "low"}]', "JSON lines", "a JSON array"),
        "j.json": (b'{\n "text": "low"\n}', "JSON lines", "one JSON value over"),
        "k.jsonl.bz2": (bz2.compress(b"low lower"), "JSON lines in bz2", "text in bz2"),
        "l.txt.gz": (gzip.compress(gzip.compress(b"low")), "text in gzip", "gzip in"),
        "m.parquet": (line, "Parquet", "text"),
        "n.csv": (table.read_bytes(), "CSV", "Parquet"),
        "o.tsv": (line, "TSV", "JSON"),
        "p.txt": (b"PK\x03\x04low", "text", "a zip archive"),
        "q.jsonl": ("{}".encode("utf-16"), "JSON lines", "UTF-16"),
        "r.jsonl": (b"id,text\n1,low\n", "JSON lines", "text"),
    }
    table.unlink()
    for name, (data, *_said) in files.items():
        (folder / name).write_bytes(data)
    return {folder / name: said for name, (_data, *said) in files.items()}


def test_a_file_that_is_not_what_its_name_says_is_refused_by_all(tmp_path):
    """Name and first bytes are both told, before anything is read of any other file."""
    tokenizer = bytepair.train_from_iterator(["low low"], merges=1)
    good = write_as(tmp_path / "good.jsonl", TEXTS)
    for path, (name_says, bytes_say) in mistaken(tmp_path).items():
        for make in (
            lambda files: bytepair.train(files, merges=1),
            scale.count,
            lambda files: scale.tokenize(tokenizer, files, tmp_path / "out"),
        ):
            with pytest.raises((FileError, FormatError)) as found:
                make([good, path])
            message = str(found.value)
            assert message.startswith(f"{path}: the name says {name_says}, "), message
            assert f"the first bytes look like {bytes_say}" in message, message
            assert "input_format=" in message
        assert not (tmp_path / "out").exists()
    told = refused("train", path, "-o", tmp_path / "t.json", "--merges", 1)
    assert "pass --input-format to set the format" in told
    assert not (tmp_path / "t.json").exists()


def test_input_format_text_reads_bytes_as_they_are(tmp_path):
    """Whatever the file is: compressed bytes, and the syntax of JSON."""
    for path in mistaken(tmp_path):
        expected = bytepair.train_from_iterator([path.read_bytes()], vocab_size=260)
        found = bytepair.train(path, input_format="text", vocab_size=260)
        assert found.to_bytes() == expected.to_bytes()
        counts = scale.count(path, input_format="text")
        counted = bytepair.train_from_counts(counts, vocab_size=260)
        assert counted.to_bytes() == expected.to_bytes()


def test_input_format_is_asked_instead_of_the_name(tmp_path):
    """A named format and the first bytes say how a file is read."""
    path = write_as(tmp_path / "a.jsonl.zst", TEXTS).rename(tmp_path / "mix.txt")
    expected = bytepair.train_from_iterator(TEXTS, merges=9)
    found = bytepair.train(path, input_format="jsonl", merges=9)
    assert found.to_bytes() == expected.to_bytes()
    counts = scale.count(path, input_format="jsonl")
    assert bytepair.train_from_counts(counts, merges=9).merges == expected.merges
    with pytest.raises(TokenizerError, match="input_format must be one of text, jsonl"):
        bytepair.train(path, input_format="yaml")
    out = tmp_path / "counts.parquet"
    run("count-pieces", path, "-o", out, "--input-format", "jsonl", "--processes", 1)


def test_plain_text_of_any_name_is_text(tmp_path):
    """Endings that are not known, none, braces and brackets at the beginning, no bytes."""
    texts = ["low low", "{ low }", "[low] low", '{"text": "low"}', "", "\ufeff low"]
    for number, text in enumerate(texts):
        for ending in ("", ".py", ".log", ".txt", ".jsonlines"):
            (tmp_path / f"{number}{ending}").write_text(text)
    found = bytepair.train(tmp_path, dialect="gpt2", merges=9)
    expected = bytepair.train_from_iterator(texts * 5, dialect="gpt2", merges=9)
    assert found.merges == expected.merges


BEGINNINGS = "BZh9 BZh91AY&SY PAR1 PARE ORC Obj %PDF- %PDF-1.7 ustar PK 7z Rar! GIF89a"
BEGINNINGS += " GIF87a RIFF1234WEBP RIFF1234WAVE OggS MZ BM ID3 fLaC II* MM GGUF ARROW1"
BEGINNINGS += " v3; 1234ftyp {"
WITH_SPACES = ["SQLite format 3", "#version: 0.2", "#version: 0.2\n", '{"a": 1}', "\n"]
WITH_SPACES += ["apples 0\npears 1\nplum 2\n", "\n" * 14, "\nA\nhello", "\n\t\n\t"]


@pytest.mark.parametrize("begin", [*BEGINNINGS.split(), *WITH_SPACES])
def test_no_text_is_refused_for_how_it_begins(tmp_path, begin):
    """The letters of a signature are no proof, in a corpus or where a tokenizer may be."""
    path = tmp_path / "a.txt"
    for text in (begin, f"{begin} is a format, ¡low!", f"{begin} low\n" * 900):
        assert signature(text.encode()) is None
        path.write_bytes(text.encode())
        assert not is_tokenizer(path)
    bytepair.train(path, merges=1)


def test_every_signature_is_that_of_a_real_file(tmp_path):
    """Files as Python and Arrow write them are told from text; each kind has its own name."""
    table = pa.table({"text": ["low"]})
    parquet.write_table(table, tmp_path / "Parquet")
    with pa.ipc.new_file(tmp_path / "Arrow", table.schema) as writer:
        writer.write(table)
    with zipfile.ZipFile(tmp_path / "a zip archive", "w") as file:
        file.write(__file__)
    with tarfile.open(tmp_path / "a tar archive", "w") as file:
        file.add(__file__)
    with (tmp_path / "a numpy array").open("wb") as file:
        np.save(file, np.arange(3))
    with contextlib.closing(sqlite3.connect(tmp_path / "SQLite")) as database:
        database.execute("create table low (text)")
    packed = {
        "gzip": gzip.compress(b""),
        "bz2": bz2.compress(b""),
        "xz": lzma.compress(b""),
        "lzma": lzma.compress(b"low", lzma.FORMAT_ALONE),
        "zstd": pa.compress(b"low", "zstd", asbytes=True),
        "lz4": pa.compress(b"low", "lz4", asbytes=True),
        "UTF-16 or UTF-32": "low".encode("utf-32"),
        "a pickle": pickle.dumps(["low"]),
    }
    with wave.open(str(tmp_path / "sound"), "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        file.writeframes(b"low!")
    for name, data in packed.items():
        (tmp_path / name).write_bytes(data)
    for path in tmp_path.iterdir():
        assert signature(path.read_bytes()) == path.name
        with pytest.raises(FormatError, match=f"the first bytes look like {path.name}"):
            bytepair.train(path, merges=1)


@pytest.mark.parametrize(
    "encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]
)
def test_wide_characters_without_a_byte_order_mark_are_no_text(tmp_path, encoding):
    """Their bytes are mostly zeros, of which training would learn tokens."""
    for name, text in (("a.txt", "low, lower\r\nlow"), ("b.csv", "id,text\n1,low\n")):
        (tmp_path / name).write_bytes(text.encode(encoding))
        with pytest.raises(FormatError, match="look like UTF-16 or UTF-32"):
            bytepair.train(tmp_path / name, merges=1)


HEADS = {
    "a picture": [
        *(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", b"\xff\xd8\xff\xe0\x00\x10JFIF\x00"),
        *(b"GIF89a\x01\x00\x01\x00", b"RIFF\x24\x00\x00\x00WEBPVP8 "),
    ],
    "a video": [b"\x00\x00\x00\x20ftypisom\x00\x00\x02\x00"],
    "a program": [b"\x7fELF\x02\x01\x01\x00"],
    "HDF5": [b"\x89HDF\r\n\x1a\n\x00\x00"],
    "GGUF": [b"GGUF\x03\x00\x00\x00"],
    "safetensors": [b'\x40\x00\x00\x00\x00\x00\x00\x00{"__metadata__"'],
}


@pytest.mark.parametrize("kind", HEADS)
def test_what_else_lies_in_folders_is_no_text(tmp_path, kind):
    """Pictures, models and programs are refused by name, and not learned from."""
    (tmp_path / "a.txt").write_text("low low")
    for head in HEADS[kind]:
        (tmp_path / "b").write_bytes(head)
        with pytest.raises(FormatError, match=f"first bytes look like {kind}"):
            bytepair.train(tmp_path, merges=1)


def test_a_damaged_table_is_named_by_all(tmp_path):
    """A Parquet file without its end is neither counts nor documents."""
    parquet.write_table(pa.table({"text": ["low low"]}), tmp_path / "a.parquet")
    whole = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "a.parquet").write_bytes(whole[:-9])
    for command in ("train", "count-pieces"):
        out = tmp_path / ("t.json" if command == "train" else "c.parquet")
        size = ["--merges", "1"] if command == "train" else []
        told = refused(command, tmp_path / "a.parquet", "-o", out, *size)
        assert "a.parquet: Parquet magic bytes not found" in told


TABLE = pa.BufferOutputStream()
parquet.write_table(pa.table({"text": ["low low"]}), TABLE)
PACKED = gzip.compress(b"low", mtime=0)
STANDARD_INPUTS = [
    ("-", TABLE.getvalue().to_pybytes(), "--input-format parquet", ["low low"]),
    ("-", b"low low\xff", "", [b"low low\xff"]),
    ("-", b'{"t": "low low"}', "--input-format jsonl --field t", ["low low"]),
    (
        "-",
        gzip.compress(b"text\nlow low\n", mtime=0),
        "--input-format csv",
        ["low low"],
    ),
    ("-", PACKED, "--input-format text", [PACKED]),
    ("/dev/stdin", b"low\nlow", "--input-format lines", ["low", "low"]),
]


@pytest.mark.parametrize(("name", "stdin", "options", "texts"), STANDARD_INPUTS)
def test_standard_input_is_read_as_it_is_said_to_be(
    tmp_path, name, stdin, options, texts
):
    """As text without a word; compressed bytes are undone for a named format; a table is kept."""
    out = tmp_path / "t.bytepair"
    command = ["train", name, "-o", out, *options.split(), "--vocab-size", 258, "-q"]
    run_process(*command, stdin=stdin)
    expected = bytepair.train_from_iterator(texts, vocab_size=258)
    assert bytepair.Tokenizer.from_file(out).to_bytes() == expected.to_bytes()


@pytest.mark.parametrize(
    ("typed", "stdin", "message"),
    [
        ("- -", b"low", "named twice"),  # the second would be empty
        ("/dev/stdin --input-format jsonl", b"", ""),
        ("-", PACKED, "the first bytes look like gzip"),
    ],
)
def test_standard_input_that_cannot_be_read_is_refused(tmp_path, typed, stdin, message):
    """As a file of the same bytes is."""
    command = ["train", *typed.split(), "-o", tmp_path / "t.json", "--merges", 1, "-q"]
    assert message in run_process(*command, stdin=stdin, code=1).stderr


# What is told


def test_the_first_line_says_what_was_recognised(tmp_path):
    """By the first step of progress, and before the summary of all three commands."""
    for name in "abc":
        write_as(tmp_path / f"{name}.jsonl.zst", TEXTS)
    line = '3 files, JSON lines in zstd, field "text"'
    files = [tmp_path / f"{name}.jsonl.zst" for name in "abc"]
    steps = []
    bytepair.train(files, merges=3, progress=steps.append).save(tmp_path / "t.bytepair")
    assert [step.corpus for step in steps if step.corpus] == [line]
    assert steps[0].corpus == line
    out = tmp_path / "out"
    for command in (
        ["train", *files, "-o", tmp_path / "t.json", "--merges", 3],
        ["count-pieces", *files, "-o", tmp_path / "c.parquet", "--processes", 1],
        ["shard", tmp_path / "t.bytepair", *files, "-o", out, "--processes", 1],
    ):
        assert run(*command).stderr.splitlines()[0] == line
        assert line not in run(*command, "--quiet").stderr


def test_lines_without_a_text_are_refused_or_left_out_and_told(tmp_path):
    """With file and line; skip_bad counts them in the report and in the summary."""
    path = write_as(tmp_path / "a.jsonl", ["low low"] * 3)
    with path.open("a") as file:
        file.write('{"other": 1}\n')
    told = r"a\.jsonl, line 4: no field text; repair it .*, or name another field with field"
    with pytest.raises(FormatError, match=told):
        bytepair.train(path, merges=1)
    steps = []
    found = bytepair.train(path, merges=1, skip_bad=True, progress=steps.append)
    expected = bytepair.train_from_iterator(["low low"] * 3, merges=1)
    assert found.merges == expected.merges
    assert (steps[-1].report["bad"], steps[-1].report["texts"]) == (1, 3)
    command = ["train", path, "-o", tmp_path / "t.json", "--merges", 1]
    assert "left out: 1 line without a text" in run(*command, "--skip-bad").stderr


def test_text_that_is_not_utf8_names_its_file(tmp_path):
    """Also where it is compressed, or a line."""
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"low\xff"))
    for how in ({}, {"lines": True}):
        with pytest.raises(bytepair.EncodingError, match=r"a\.txt\.gz: .*byte 3"):
            bytepair.train(tmp_path / "a.txt.gz", dialect="sennrich", **how)


@pytest.mark.parametrize(
    ("name", "options", "problem"),
    [
        ("a.jsonl", {"lines": True}, "lines=True is for text"),
        ("a.csv", {"separator": "x"}, "separator= is for text"),
        ("a.txt", {"field": "body"}, "is for JSON lines and tables"),
        ("a.txt", {"field": "text"}, 'field="text" is for JSON lines and tables'),
        ("a.txt", {"skip_bad": True}, "skip_bad=True is for JSON lines, CSV and TSV"),
        ("a.parquet", {"skip_bad": True}, "skip_bad=True is for JSON lines, CSV"),
        ("a.txt", {"lines": True, "separator": "x"}, "either lines or separator"),
        ("a.csv", {"field": "body"}, "no column body; there are id, text"),
    ],
)
def test_an_option_that_no_file_has_a_use_for_is_refused(
    tmp_path, name, options, problem
):
    """By everything that reads a corpus, in the same words."""
    (tmp_path / "a.txt").write_text("low")
    path = tmp_path / name if name == "a.txt" else write_as(tmp_path / name, TEXTS)
    tokenizer = bytepair.train_from_iterator(["low low"], vocab_size=258)
    readers = (
        bytepair.train,
        scale.count,
        partial(scale.tokenize, tokenizer, output=tmp_path / "shards"),
        partial(surgery.extend, tokenizer, add=1),
        partial(surgery.prune, tokenizer, to=257),
        partial(analyze.measure, tokenizer),
        partial(analyze.file_sums, [tokenizer]),
        partial(analyze.stats, [tokenizer]),
        partial(analyze.compare, tokenizer, tokenizer),
        partial(analyze.describe, {"t": tokenizer}),
        lambda path, **options: analyze.diagnose(
            tokenizer, corpus=path, reading=options
        ),
    )
    for read in readers:
        with pytest.raises(TokenizerError, match=problem):
            read(path, **options)


def test_an_option_acts_on_those_files_of_a_corpus_that_it_is_for(tmp_path):
    """In a folder of text and JSON lines no option of either is refused, and each acts."""
    (tmp_path / "a.txt").write_text("low\nlow\n")
    (tmp_path / "b.jsonl").write_text('{"body": "low"}\n{}\n')
    found = scale.count(tmp_path, field="body", skip_bad=True, lines=True)
    assert (found.info.documents, found.info.bad) == (3, 1)
    (tmp_path / "b.jsonl").write_text('{"text": "low"}\n')
    assert scale.count(tmp_path, field="text").info.documents == 2


def test_sums_of_files_refuse_options_of_groups_and_words(tmp_path):
    """Each file is measured as a whole, so nothing is grouped."""
    tokenizer = bytepair.train_from_iterator(["low low"], vocab_size=258)
    options = {"group": "lang", "by_file": True, "segmenter": "letters"}
    for name, value in options.items():
        with pytest.raises(TypeError, match=name):
            analyze.file_sums([tokenizer], tmp_path, **{name: value})


def test_the_field_of_texts_is_text_unless_another_is_named(tmp_path):
    """A manifest of a run names it either way, so that a run that named it goes on without."""
    path = write_as(tmp_path / "a.jsonl", TEXTS)
    tokenizer = bytepair.train_from_iterator(["low low"], vocab_size=258)
    made = scale.tokenize(tokenizer, path, tmp_path / "shards")
    assert made["plan"]["reading"]["field"] == "text"
    again = scale.tokenize(tokenizer, path, tmp_path / "shards", field="text")
    assert again == made


def test_counts_are_trained_on_alone_and_without_options_for_text(tmp_path):
    """In a list of one as without a list; beside text, with a weight or an option: refused."""
    docs = write_as(tmp_path / "docs.jsonl", TEXTS)
    counts = tmp_path / "counts.parquet"
    expected = bytepair.train_from_counts(scale.count(docs, output=counts), merges=9)
    assert bytepair.train([counts], merges=9).to_bytes() == expected.to_bytes()
    for files in ([counts, docs], {counts: 2}, (path for path in (docs, counts))):
        with pytest.raises(TrainingError, match="train on it alone"):
            bytepair.train(files, merges=9)
    for options in ({"lines": True}, {"separator": "x"}, {"input_format": "text"}):
        with pytest.raises(TrainingError, match=f"{next(iter(options))}= is for text"):
            bytepair.train(counts, merges=9, **options)
    with pytest.raises(FormatError, match="counts of pieces, not documents"):
        scale.count(counts)
    merge = ["count-pieces", "--merge", counts, "-o", tmp_path / "two.parquet"]
    typed = "--input-format", "lines"
    assert "--input-format lines has no effect on --merge" in refused(
        *merge, *typed, code=2
    )


# What is needed

WITHOUT_LIBRARIES = """
import sys
for name in ("pyarrow", "fsspec", "zstandard"):
    sys.modules[name] = None
import bytepair
print(bytepair.train(sys.argv[1], merges=9).to_bytes().hex())
"""


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("kind", ["txt", "jsonl", "csv"])
def test_training_asks_for_no_library_that_it_can_do_without(
    tmp_path, kind, compression
):
    """Without Arrow and fsspec: all but zstd and Parquet."""
    path = tmp_path / f"a.{kind}{compression}"
    if kind == "txt":
        path.write_bytes(COMPRESSIONS[compression]("".join(TEXTS).encode()))
    else:
        write_as(path, TEXTS)
    done = run_python(WITHOUT_LIBRARIES, path, code=None)
    if compression == ".zst":
        wanted = "this needs pyarrow: pip install 'bytepair[data]'"
        assert f"{path}: {wanted}" in done.stderr
        return
    texts = ["".join(TEXTS)] if kind == "txt" else TEXTS
    expected = bytepair.train_from_iterator(texts, merges=9).to_bytes().hex()
    assert done.stdout.strip() == expected, done.stderr


@pytest.mark.parametrize("how", ["jsonl", "txt", "csv"])
def test_a_large_compressed_file_is_read_in_little_memory(tmp_path, how):
    """What is held does not grow with the file: 4 MB and 120 MB of documents."""
    pytest.importorskip("resource", reason="this system does not tell what is held")
    text = "low lower lowest " * 60
    line = {"jsonl": f'{{"text": "{text}"}}\n', "txt": text, "csv": f"1,{text}\n"}[how]
    code = (
        "import sys, bytepair, resource\n"
        "bytepair.train(sys.argv[1], merges=3, threads=1)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    peaks = []
    for n_blocks in (4, 120):
        path = tmp_path / f"{n_blocks}.{how}.gz"
        with gzip.open(path, "wb", compresslevel=1) as file:
            file.write(b"id,text\n" if how == "csv" else b"")
            for _ in range(n_blocks):
                file.write(line.encode() * 1000)
        peaks.append(int(run_python(code, path).stdout))
    assert peaks[1] - peaks[0] < 60_000, peaks
