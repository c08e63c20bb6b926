"""Temporary folders: gone at the end, and after a kill with the next process that needs one."""

import ast
import json
import os
import signal
import stat
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import bytepair
from bytepair._io import files, locks, temporary
from bytepair._io.temporary import TemporaryFolder

PACKAGE = Path(bytepair.__file__).parent
KILLED = """
import os, signal
import pyarrow, bytepair, bytepair.scale as scale, bytepair._training.learning as learning
import bytepair.data._sums as sums, bytepair.scale._counting as counting
import bytepair.scale._rows as rows
from bytepair._io.temporary import TemporaryFolder
def end(*_args, **_named):
    os.kill(os.getpid(), signal.SIGKILL)
"""
# Where the process is killed, and what it does until then.
WAYS = {
    "a folder": (
        "kept = TemporaryFolder(); os.mkdir(kept.name + '/more')",
        "for name in ('/rows', '/more/rows'): open(kept.name + name, 'w').close()\n"
        "end()",
    ),
    "count": ("counting.settled = end", "scale.count({corpus!r}, dialect='gpt2')"),
    "count by processes": (
        "counting.settled = end\nif __name__ == '__main__':",
        "    scale.count({corpus!r}, dialect='gpt2', task_bytes=100_000, processes=2)",
    ),
    "train": (
        "learning.Learner.learn = end",
        "bytepair.train({corpus!r}, vocab_size=300, memory_limit=64 << 20, threads=1)",
    ),
    "rows": (
        "sums.CountSums.finish = end",
        "batch = pyarrow.RecordBatch.from_pydict({{'text': ['low low', 'low']}})\n"
        "list(rows.count_documents([batch], rows.CountSpec('gpt2')))",
    ),
}


@pytest.fixture
def corpus(tmp_path):
    """Write some documents."""
    path = tmp_path / "docs.jsonl"
    lines = (json.dumps({"text": f"low lower {n:x}"}) for n in range(20_000))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def run(program, folder, path):
    """Run a program whose folder for temporary files is this one."""
    path.write_text(program, encoding="utf-8")
    environment = {**os.environ, "TMPDIR": str(folder)}
    return subprocess.run([sys.executable, path], env=environment, check=False)


@pytest.mark.parametrize("way", WAYS)
def test_a_killed_process_leaves_nothing_for_longer_than_the_next(
    tmp_path, corpus, way
):
    """Files of rows that it held go with the next process that makes a folder."""
    pytest.importorskip("pyarrow")
    folder = tmp_path / "tmp"
    folder.mkdir()
    where, what = WAYS[way]
    program = f"{KILLED}{where}\n{what.format(corpus=str(corpus))}"
    done = run(program, folder, tmp_path / "program.py")
    assert done.returncode == -signal.SIGKILL
    assert list(folder.iterdir())
    after = "from bytepair._io.temporary import TemporaryFolder\nwith TemporaryFolder(): pass"
    assert run(after, folder, tmp_path / "after.py").returncode == 0
    assert list(folder.iterdir()) == []


@pytest.fixture
def alone(tmp_path, monkeypatch):
    """Give a folder for temporary files that nobody has looked at."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    temporary._remove_abandoned.cache_clear()
    yield tmp_path
    temporary._remove_abandoned.cache_clear()


def test_only_what_is_ours_is_removed(alone):
    """Another name, a file, a link, and what is held stay as they are."""
    names = [f"bytepair-temporary-{n:016x}" for n in range(4)]
    for name in ("bytepair-notes", "bytepair-0123456789abcdef", *names[:2]):
        (alone / name).mkdir()
        (alone / name / "rows").touch()
    (alone / names[2]).symlink_to(alone / "bytepair-notes")
    held = os.open(alone / names[1], os.O_RDONLY)
    assert locks.lock(held)
    before = {path.name for path in alone.iterdir()}
    with TemporaryFolder() as folder:
        own = Path(folder).name
        found = {path.name for path in alone.iterdir()}
    os.close(held)
    assert found == {*before, own} - {names[0]}
    assert {path.name for path in alone.iterdir()} == before - {names[0]}
    assert (alone / "bytepair-notes" / "rows").exists()


def test_a_folder_is_only_for_its_user_and_goes_with_its_object(alone):
    """Also where nobody removes it by name."""
    folder = TemporaryFolder()
    path = Path(folder.name)
    (path / "more").mkdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    del folder
    assert list(alone.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_leaves_the_folder(alone):
    """It ends like any other, and the folder is not its own."""
    program = (
        "import os, sys\nfrom bytepair._io.temporary import TemporaryFolder\n"
        "folder = TemporaryFolder()\n"
        "number = os.fork()\nif number == 0: sys.exit()\nos.waitpid(number, 0)\n"
        "assert os.path.isdir(folder.name)"
    )
    assert run(program, alone, alone / "program.py").returncode == 0
    assert [path.name for path in alone.iterdir()] == ["program.py"]


def test_a_folder_that_cannot_be_made_is_an_error(alone, monkeypatch):
    """It names the folder for temporary files."""
    monkeypatch.setattr("tempfile.tempdir", str(alone / "none"))
    with pytest.raises(bytepair.FileError, match="none"):
        TemporaryFolder()


def test_nothing_else_makes_temporary_files_with_names():
    """A name outlives its process; what has none, or is in a folder of ours, does not."""
    for path in PACKAGE.rglob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        calls = [node.func for node in nodes if isinstance(node, ast.Call)]
        names = {getattr(call, "attr", getattr(call, "id", "")) for call in calls}
        named = {"TemporaryDirectory", "NamedTemporaryFile", "mkdtemp", "mkstemp"}
        assert not names & named, path


def test_a_folder_that_is_taken_for_abandoned_at_once_is_made_again(
    alone, tmp_path, monkeypatch
):
    """Another process may remove it between the moments at which it is made and locked."""
    made = []
    open_folder = locks.open_folder

    def taken(path, *, is_late=False):
        made.append(path)
        handle = open_folder(path) if is_late else None
        if len(made) % 2:
            path.rmdir()
        return handle or open_folder(path)

    for opener in (taken, partial(taken, is_late=True)):
        monkeypatch.setattr(locks, "open_folder", opener)
        made.clear()
        with files.folder_beside(tmp_path / "own.json") as folder:
            assert folder == made[-1]
            assert folder.is_dir()
        assert len(made) == 2
        assert list(tmp_path.iterdir()) == []
        with TemporaryFolder() as name:
            assert len(made) == 4
            assert Path(name).is_dir()
    with pytest.raises(bytepair.FileError, match="none"):
        files.folder_beside(tmp_path / "none" / "own.json").__enter__()
