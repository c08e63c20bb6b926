"""Pages that compare bytepair with other libraries: each row of their tables holds.

A page trains a small tokenizer in its ``pycon`` blocks. Blocks of Python behind the comment
``<!-- theirs -->`` load it with the other library. Both columns of a table are then evaluated
in the names that the blocks leave: they are equal, or each gives what stands behind ``→``.
Left out: what the blocks print, which ``test_pages.py`` compares.
"""

import doctest
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
HUGGING_FACE = "how-to/migrate/hugging-face.md"
LIBRARIES = {
    "how-to/migrate/tiktoken.md": ["tiktoken"],
    "how-to/migrate/hugging-face.md": ["tokenizers", "transformers"],
    "how-to/migrate/sentencepiece.md": ["sentencepiece"],
    "how-to/migrate/minbpe.md": ["minbpe"],
    "explanation/divergences.md": ["tokenizers", "tiktoken"],
}
N_ROWS = {
    "how-to/migrate/tiktoken.md": 27,
    "how-to/migrate/hugging-face.md": 31,
    "how-to/migrate/sentencepiece.md": 19,
    "how-to/migrate/minbpe.md": 11,
    "explanation/divergences.md": 6,
}


def rows_of(name):
    """List the rows of a page's tables that have code in their last two columns."""
    text = (DOCS / name).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    cells = [re.split(r"(?<!\\)\|", line.strip("|")) for line in lines]
    rows = [[cell.strip().replace("\\|", "|") for cell in row] for row in cells]
    return [row[1:] for row in rows if len(row) == 3 and row[2].startswith("`")]


def blocks_of(name):
    """Write a page's files; give its session and the blocks for the other library, in their order."""
    text = (DOCS / name).read_text(encoding="utf-8")
    files = r"^<!-- file: (\S+) -->\n```text\n(.*?)^```$"
    for file, content in re.findall(files, text, re.DOTALL | re.MULTILINE):
        Path(file).write_text(content, encoding="utf-8")
    ours = re.findall(r"^```pycon\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    theirs = r"^<!-- theirs -->\n```python\n(.*?)^```$"
    return ours, re.findall(theirs, text, re.DOTALL | re.MULTILINE)


def run(session, names):
    """Run what a session types, but for the errors that it shows."""
    for example in doctest.DocTestParser().get_examples(session):
        if example.exc_msg is None:
            exec(example.source, names)


def answer(cell, names):
    """Evaluate a cell, and tell what it says that it gives."""
    spans = re.findall(r"`([^`]+)`", cell)
    try:
        found = eval(spans[0], names)
    except Exception as error:
        found = error
    return found, spans[1] if "→" in cell else None


def is_as_said(found, said):
    """Tell whether a value is written so, or an error is of the class so named."""
    if isinstance(found, Exception):
        return said in {kind.__name__ for kind in type(found).__mro__}
    return repr(found) == said


@pytest.mark.parametrize("name", LIBRARIES)
def test_our_column_runs(name, tmp_path, monkeypatch):
    """Each call of bytepair ends well, or gives what the row says."""
    monkeypatch.chdir(tmp_path)
    names = {}
    run(blocks_of(name)[0][0], names)
    rows = rows_of(name)
    assert len(rows) == N_ROWS[name]
    for _, ours in rows:
        found, said = answer(ours, names)
        is_right = not isinstance(found, Exception) if said is None else None
        assert is_right or is_as_said(found, said), (ours, found)


@pytest.mark.slow
@pytest.mark.parametrize("name", LIBRARIES)
def test_both_columns_agree(name, tmp_path, monkeypatch):
    """Each call of the other library gives what ours gives, or what the row says."""
    for library in LIBRARIES[name]:
        pytest.importorskip(library)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")  # tiktoken keeps copies of any path
    monkeypatch.chdir(tmp_path)
    names = {}
    sessions, theirs = blocks_of(name)
    run(sessions[0], names)
    assert theirs
    for block in theirs:
        exec(block, names)
    for left, right in rows_of(name):
        found, said = answer(left, names)
        if said is not None:
            assert is_as_said(found, said), (left, found)
            continue
        assert not isinstance(found, Exception), (left, found)
        assert found == answer(right, names)[0], (left, right)


@pytest.mark.slow
def test_changed_tokenizers_agree(tmp_path, monkeypatch):
    """Each row of two columns changes both tokenizers alike, one after the other."""
    pytest.importorskip("transformers")
    monkeypatch.chdir(tmp_path)
    sessions, theirs = blocks_of(HUGGING_FACE)
    names = {}
    run(sessions[0], names)
    exec(theirs[0], names)
    text = (DOCS / HUGGING_FACE).read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(theirs\..*)` \| `(.*)` \|$", text, re.MULTILINE)
    assert len(rows) == 5
    texts = ["low <pad> foo<end> lowest newer", "low"]
    options = {"allowed_special": "all", "add_special_tokens": True}
    for left, right in rows:
        exec(left, names)
        exec(right, names)
        expected = [row.ids for row in names["theirs"].encode_batch(texts)]
        assert names["tokenizer"].encode_batch(texts, **options) == expected, right
    assert [len(ids) for ids in expected] == [8, 8]


def test_every_page_is_tested():
    """No how-to of moving is left out; that of subword-nmt compares commands, in `test_docs.py`."""
    moving = DOCS.glob("how-to/migrate/*.md")
    pages = {path.relative_to(DOCS).as_posix() for path in moving}
    pages -= {"how-to/migrate/subword-nmt.md"}
    assert pages <= LIBRARIES.keys() == N_ROWS.keys()
