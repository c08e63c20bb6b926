"""Corpora to documents: what each kind of file holds, in whatever ranges it is read."""

import bz2
import gzip
import json
import lzma

import pytest
from hypothesis import given, strategies as st

from bytepair import FileError, FormatError, TokenizerError
from bytepair.data import (
    Part,
    ReadOptions,
    Tally,
    _readers as reading,
    list_sources,
    read,
    read_part,
)
from bytepair.data._plan import plan

pa = pytest.importorskip("pyarrow", reason="corpora need pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

COMPRESSIONS = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: pa.compress(data, "zstd", asbytes=True),
}
DOCUMENTS = ["one\nline", "", "zwei — ü\t\"'\\", "end 🙂"]


def documents(source, options=None, tally=None):
    """List the documents of a source, or of a part of one."""
    part = source if isinstance(source, Part) else Part(source)
    batches = read_part(part, options, tally)
    return [text for batch in batches for text in batch.column(0).to_pylist()]


def only(path, **options):
    """Read a file that stands alone."""
    (source,) = list_sources(path)
    tally = Tally()
    found = documents(source, ReadOptions(**options), tally)
    return [text.decode() for text in found], tally


def json_lines(texts):
    """Write texts as lines of JSON."""
    return "".join(json.dumps({"id": 1, "text": text}) + "\n" for text in texts)


def test_a_text_file_is_one_document_or_lines_or_what_separators_part(tmp_path):
    """The three ways to take a text file; nothing behind the last separator is no document."""
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\r\n\ntwo<|x|>three\n<|x|>")
    assert only(path)[0] == ["one\r\n\ntwo<|x|>three\n<|x|>"]
    lines, tally = only(path, lines=True)
    assert lines == ["one", "", "two<|x|>three", "<|x|>"]
    assert (tally.documents, tally.empty, tally.bytes) == (4, 1, 21)
    assert only(path, separator="<|x|>")[0] == ["one\r\n\ntwo", "three\n"]


def test_every_format_gives_the_same_documents(tmp_path):
    """JSON lines, CSV, TSV and Parquet hold the same texts; a null is counted as such."""
    arrow_csv = pytest.importorskip("pyarrow.csv")
    table = pa.table({"id": list(range(4)), "text": DOCUMENTS})
    (tmp_path / "a.jsonl").write_text(json_lines(DOCUMENTS))
    arrow_csv.write_csv(table, tmp_path / "b.csv")
    options = arrow_csv.WriteOptions(delimiter="\t")
    arrow_csv.write_csv(table, tmp_path / "c.tsv", options)
    parquet.write_table(table, tmp_path / "d.parquet", row_group_size=1)
    for source in list_sources(tmp_path):
        tally = Tally()
        found = documents(source, None, tally)
        assert [text.decode() for text in found] == DOCUMENTS, source.path
        assert (tally.documents, tally.null, tally.empty) == (4, 0, 1)


@pytest.mark.parametrize("kind", ["string", "large_string", "binary", "dictionary"])
def test_a_parquet_column_may_be_of_any_text_type_and_hold_nulls(tmp_path, kind):
    """Nulls are empty texts, and are counted apart from them."""
    column = pa.array(["a", None, ""])
    is_dictionary = kind == "dictionary"
    column = column.dictionary_encode() if is_dictionary else column.cast(kind)
    parquet.write_table(pa.table({"text": column}), tmp_path / "a.parquet")
    found, tally = only(tmp_path / "a.parquet")
    assert found == ["a", "", ""]
    assert (tally.documents, tally.null, tally.empty, tally.bytes) == (3, 1, 1, 1)


def test_a_path_of_keys_leads_into_objects_and_structs(tmp_path):
    """``data.body`` is found in JSON and in Parquet, and a JSON pointer in JSON; a missing member is told."""
    rows = [{"data": {"body": "x", "n": 1}}, {"data": {"body": "y", "n": 2}}]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    (tmp_path / "b.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name in ("a.parquet", "b.jsonl"):
        assert only(tmp_path / name, field="data.body")[0] == ["x", "y"]
    (tmp_path / "c.jsonl").write_text('{"a/b": {"c.d": "z"}}')
    assert only(tmp_path / "c.jsonl", field="/a~1b/c.d")[0] == ["z"]
    missing = r"a\.parquet: no member text in the column data"
    with pytest.raises(FormatError, match=missing):
        only(tmp_path / "a.parquet", field="data.text")


@pytest.mark.parametrize("ending", COMPRESSIONS)
def test_compressed_files_are_read_to_the_end_of_all_members(tmp_path, ending):
    """One that is cut off is an error that names it, and so is one of no bytes, or what stands behind the last member."""
    compress = COMPRESSIONS[ending]
    texts = [f"document {number} " * 50 for number in range(2000)]
    parts = json_lines(texts[:1000]), "", json_lines(texts[1000:])
    first, _empty, last = members = [compress(part.encode()) for part in parts]
    whole, path = b"".join(members), tmp_path / f"a.jsonl{ending}"
    path.write_bytes(whole)
    assert only(path)[0] == texts
    for broken in (whole[:-20], first + b"garbage", b"no compressed file", b""):
        path.write_bytes(broken)
        with pytest.raises(FileError, match=rf"a\.jsonl{ending}: "):
            only(path)
    if ending in (".gz", ".xz"):  # zeros may stand behind a member
        path.write_bytes(first + bytes(8) + last + bytes(4))
        assert only(path)[0] == texts


@given(
    lines=st.lists(st.text(alphabet="ab\u00fc\r", max_size=6), max_size=12),
    ends=st.booleans(),
    task_bytes=st.integers(1, 20),
    block_len=st.integers(1, 9),
)
def test_ranges_of_a_file_are_the_file(
    tmp_path_factory, lines, ends, task_bytes, block_len
):
    """However a file of lines is cut into tasks and blocks, each line is read once, in order."""
    path = tmp_path_factory.mktemp("ranges") / "a.txt"
    path.write_bytes(("\n".join(lines) + ("\n" if ends and lines else "")).encode())
    options = ReadOptions(lines=True)
    (source,) = list_sources(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "BLOCK_LEN", block_len)
        tasks = plan([source], options, task_bytes)
        found = [
            text for task in tasks for part in task for text in documents(part, options)
        ]
    expected = path.read_bytes().replace(b"\r\n", b"\n").split(b"\n")
    assert found == expected[: -1 if not expected[-1] else None]


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_a_byte_order_mark_is_no_part_of_a_line(tmp_path, compress):
    """It is left out of lines and of JSON lines; a whole text keeps it, as in training."""
    ending = ".gz" if compress is gzip.compress else ""
    mark, text = b"\xef\xbb\xbf", b'{"text": "a\xef\xbb\xbf"}\r\n\r\n'
    for name in ("a.jsonl", "b.txt"):
        (tmp_path / f"{name}{ending}").write_bytes(compress(mark + text + mark))
    (tmp_path / f"c.txt{ending}").write_bytes(compress(mark))
    names = ("a.jsonl", "b.txt", "c.txt")
    paths = [tmp_path / f"{name}{ending}" for name in names]
    found = [only(path, lines=True, skip_bad=True)[0] for path in paths]
    assert found == [["a\ufeff"], ['{"text": "a\ufeff"}', "", "\ufeff"], []]
    assert only(tmp_path / f"c.txt{ending}")[0] == ["\ufeff"]


@given(st.lists(st.text(alphabet="ab<>", max_size=9)), st.integers(1, 5))
def test_separators_that_lie_on_the_border_of_blocks_are_found(
    tmp_path_factory, texts, length
):
    """Blocks do not show in the documents of a text file."""
    path = tmp_path_factory.mktemp("separated") / "a.txt"
    path.write_text("<>".join(texts))
    (source,) = list_sources(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "BLOCK_LEN", length)
        found = documents(source, ReadOptions(separator="<>"))
    expected = path.read_bytes().split(b"<>")
    assert found == (expected if expected[-1] else expected[:-1])


def test_a_bad_line_is_an_error_with_its_place_or_counted(tmp_path):
    """File and line are named, also where the file is read in ranges; skipping counts."""
    path = tmp_path / "a.jsonl"
    good = '{"text": "good"}\n'
    path.write_text(good * 3 + "{bad\n" + good + '{"other": 1}\n' + good)
    with pytest.raises(FormatError, match=r"a\.jsonl, line 4: "):
        only(path)
    found, tally = only(path, skip_bad=True)
    assert found == ["good"] * 5
    assert tally.bad == 2
    assert "line 6: no field text" in tally.bad_lines[1]
    (source,) = list_sources(path)
    *_, last = plan([source], ReadOptions(), 60)
    tally = Tally()
    documents(last[0], ReadOptions(skip_bad=True), tally)
    (bad_line,) = tally.bad_lines
    assert ", line 6: " in bad_line
    for escape in ("\\ud83d", "\\ude42", "\\ud83dx", "\\ud83d\\u0041"):
        path.write_text(f'{good}{{"text": "{escape}"}}\n', encoding="utf-8")
        with pytest.raises(FormatError, match="line 2: a lone surrogate"):
            only(path)


def test_broken_tables_name_the_file_and_empty_ones_have_no_documents(tmp_path):
    """A row with too many columns, a missing column, and a file that is no Parquet; tables without rows."""
    path = tmp_path / "a.csv"
    path.write_text("id,text\n1,one\n2,two,three\n3,four\n")
    with pytest.raises(FormatError, match=r"a\.csv, line 3: 3 columns, not 2"):
        only(path)
    found, tally = only(path, skip_bad=True)
    assert (found, tally.bad) == (["one", "four"], 1)
    with pytest.raises(FormatError, match=r"a\.csv.*body"):
        only(path, field="body")
    for empty in ("", "id,text\n"):
        path.write_text(empty)
        assert only(path)[0] == []
    path = tmp_path / "b.parquet"
    path.write_bytes(b"no parquet at all")
    with pytest.raises(FormatError, match=r"b\.parquet"):
        only(path)
    parquet.write_table(pa.table({"text": pa.array([], pa.string())}), path)
    assert only(path)[0] == []


def test_sources_are_files_folders_globs_and_addresses_in_order(tmp_path):
    """Hidden files are left out; endings say what is in a file; an address is opened by fsspec."""
    pytest.importorskip("fsspec", reason="addresses need fsspec")
    (tmp_path / "b").mkdir()
    for name in ("b/2.jsonl.gz", "a.txt", ".hidden", "b/1.csv", "c.parquet"):
        (tmp_path / name).write_bytes(
            gzip.compress(b'{"text": "x"}\n') if "gz" in name else b""
        )
    found = list_sources(tmp_path)
    names = [source.path.removeprefix(f"{tmp_path}/") for source in found]
    assert names == ["a.txt", "b/1.csv", "b/2.jsonl.gz", "c.parquet"]
    assert [one.format for one in found] == ["text", "csv", "jsonl", "parquet"]
    assert [one.compression for one in found] == [None, None, "gzip", None]
    (remote,) = list_sources(f"file://{tmp_path}/b/*.gz")
    assert [batch.to_pydict() for batch in read(remote)] == [{"text": [b"x"]}]
    with pytest.raises(FileError, match="no such file"):
        list_sources(tmp_path / "nothing.txt")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileError, match="without files"):
        list_sources(tmp_path / "empty")
    with pytest.raises(TokenizerError, match="format must be"):
        list_sources(tmp_path, "yaml")
