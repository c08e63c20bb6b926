"""Folders that shards are written to: nothing of others is lost there, and nothing of ours is left.

Kills come before each change of the file system, one after the other: an audit hook counts them in
a process that was forked for it.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys

import pytest
from tests.programs import run_python

import bytepair

pa = pytest.importorskip("pyarrow", reason="corpora need pyarrow")
pytest.importorskip("fcntl", reason="this system has no such locks")

from tests.commands import run_process  # noqa: E402
from tests.engines import OneByOne, stopped  # noqa: E402
from tests.marks import slow_but  # noqa: E402

from bytepair import FileError, TokenizerError, scale  # noqa: E402
from bytepair._io.json import written  # noqa: E402
from bytepair.data import TokenDataset, check_dataset, read_counts  # noqa: E402

OPTIONS = {"task_bytes": 400, "shard_tokens": 150}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Write a corpus of some tasks, each of several shards."""
    folder = tmp_path_factory.mktemp("corpus")
    for name in "ab":
        lines = (json.dumps({"text": f"low {name} lower {n} " * 5}) for n in range(12))
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture(scope="module")
def tokenizer():
    """Train a small tokenizer."""
    return bytepair.train_from_iterator(["low lower lowest " * 5], vocab_size=264)


@pytest.fixture(scope="module")
def whole(tmp_path_factory, corpus, tokenizer):
    """Give the files of an undisturbed run."""
    out = tmp_path_factory.mktemp("whole") / "out"
    scale.tokenize(tokenizer, corpus, out, **OPTIONS)
    return tree(out)


def tree(folder):
    """Map the paths in a folder to what is there: bytes, the target of a link, or nothing."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = str(path.readlink())
        else:
            found[name] = path.read_bytes() if path.is_file() else None
    return found


def interrupted(corpus, tokenizer, out):
    """Leave a folder as a run leaves it that ended after two tasks."""
    with pytest.raises(KeyboardInterrupt):
        stopped(tokenizer, corpus, out, **OPTIONS)
    assert len(list(out.glob("_work/task-*.json"))) == 2


# What is not ours


def put_file(path):
    """Write a file, and the folders that it lies in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("precious")


def put_link(path):
    """Make a link to a folder that holds something."""
    out = next(parent for parent in path.parents if parent.name == "out")
    put_file(out.parent / "elsewhere" / "precious.txt")
    path.symlink_to(out.parent / "elsewhere")


FILES = ("precious.txt", ".precious", "folder/precious.txt", "_work/precious.txt")
FOREIGN = [
    *FILES,
    *("_work", "_work/plan.json", "_work/lock", "_work/bytepair.lock"),
    *("_work/task-00000.json", "_work/deep/er/precious.txt", "shard-00000-000.npy"),
    ".bytepair-x/precious.txt",  # like a temporary folder
]
FOREIGN = [*((path, put_file) for path in FOREIGN), ("_work", put_link)]


@pytest.mark.parametrize(("path", "put"), FOREIGN)
def test_what_others_wrote_is_refused_by_name(tmp_path, corpus, tokenizer, path, put):
    """The message names it, and nothing in the folder or beside it is touched."""
    out = tmp_path / "out"
    out.mkdir()
    put(out / path)
    before = tree(tmp_path)
    named = str(out / path.split("/")[0])
    with pytest.raises(FileError, match="holds something else") as caught:
        scale.tokenize(tokenizer, corpus, out, **OPTIONS)
    assert named in str(caught.value)
    assert tree(tmp_path) == before


LATER = [
    *FILES,
    *("_work/shard-00000-000.npy.abcd", "_work/deep/precious.txt"),
    "_work/task-00099.json/precious.txt",  # a folder like a note
    "shard-00099-000.npy",  # of a task without a note
]
LATER = [(path, put_file) for path in LATER]
LATER += [(path, put_link) for path in ("_work/task-00099.json", "shard-00099-000.npy")]


@pytest.mark.parametrize(("path", "put"), LATER)
def test_what_others_wrote_since_is_refused_by_name(
    tmp_path, corpus, tokenizer, whole, path, put
):
    """A run that goes on says what it found; without it the run ends as it would have."""
    out = tmp_path / "out"
    interrupted(corpus, tokenizer, out)
    put(out / path)
    before = tree(tmp_path)
    with pytest.raises(FileError, match="holds something else"):
        scale.tokenize(tokenizer, corpus, out, **OPTIONS)
    assert tree(tmp_path) == before
    part = out / "/".join(path.split("/")[: 2 if path.startswith("_work") else 1])
    if part.is_symlink() or part.is_file():
        part.unlink()
    else:
        shutil.rmtree(part)
    scale.tokenize(tokenizer, corpus, out, **OPTIONS)
    assert tree(out) == whole


def test_what_comes_while_a_run_ends_stays(tmp_path, corpus, tokenizer):
    """A file that somebody puts into ``_work`` meanwhile is not removed with it."""
    out = tmp_path / "out"

    def put(_progress):
        put_file(out / "_work/precious.txt")

    scale.tokenize(tokenizer, corpus, out, progress=put, engine=OneByOne(), **OPTIONS)
    assert tree(out / "_work") == {"precious.txt": b"precious"}
    assert len(TokenDataset(out)) == 24


def test_a_link_in_place_of_the_folder_is_refused(tmp_path, corpus, tokenizer):
    """Nothing is written where it leads, whether that is there or not."""
    (tmp_path / "real").mkdir()
    for name, target in (("a", "real"), ("b", "absent")):
        (tmp_path / name).symlink_to(tmp_path / target)
        with pytest.raises(FileError, match=f"is a link to .*{target}"):
            scale.tokenize(tokenizer, corpus, tmp_path / name)
    assert tree(tmp_path / "real") == {}
    assert not (tmp_path / "absent").exists()


@contextlib.contextmanager
def read_only(folder):
    """Mount a folder over itself so that nothing in it can be written."""
    if shutil.which("mount") is None:
        pytest.skip("there is no mount")
    bind = ["mount", "--bind", folder, folder]
    if subprocess.run(bind, capture_output=True, check=False).returncode:
        pytest.skip("mounting is not permitted here")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", folder], check=True)
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


def test_a_read_only_folder_is_refused(tmp_path, corpus, tokenizer):
    """Empty, or with half a dataset; a whole one there is read."""
    new, half, done = (tmp_path / name for name in ("new", "half", "done"))
    new.mkdir()
    interrupted(corpus, tokenizer, half)
    manifest = scale.tokenize(tokenizer, corpus, done, **OPTIONS)
    before = tree(tmp_path)
    with read_only(tmp_path):
        for folder in (new, half, tmp_path / "absent"):
            with pytest.raises(FileError, match=f"{folder}: Read-only file system"):
                scale.tokenize(tokenizer, corpus, folder, **OPTIONS)
        assert scale.tokenize(tokenizer, corpus, done, **OPTIONS) == manifest
    assert tree(tmp_path) == before


HOLD = """
import sys, bytepair
from bytepair import scale
tokenizer, corpus, out = sys.argv[1:]
def wait(_progress):
    print("begun", flush=True)
    sys.stdin.read()
class Slow:
    def run(self, work, tasks):
        return ((task, work(task)) for task in tasks)
scale.tokenize(tokenizer, corpus, out, progress=wait, engine=Slow(),
               task_bytes=400, shard_tokens=150)
"""


def test_two_processes_do_not_write_one_folder(tmp_path, corpus, tokenizer, whole):
    """The second is refused while the first is there, and goes on when it was killed."""
    tokenizer.save(tmp_path / "t.bytepair")
    out = tmp_path / "out"
    command = [sys.executable, "-c", HOLD, tmp_path / "t.bytepair", corpus, out]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as process:
        assert process.stdout.readline() == b"begun\n"
        before = tree(out)
        with pytest.raises(FileError, match=f"{out}: another run is writing to it"):
            scale.tokenize(tokenizer, corpus, out, **OPTIONS)
        assert tree(out) == before
        process.kill()
    scale.tokenize(tokenizer, corpus, out, **OPTIONS)
    assert tree(out) == whole


# Killed before each change

SWEEP = """
import os, signal, sys
from pathlib import Path
import bytepair
from bytepair import cli, scale
from bytepair.cli.app import app
import numpy, pyarrow.parquet, bytepair.data, bytepair._core
command, out = sys.argv[1:-1], Path(sys.argv[-1])
bytepair.train_from_iterator(["a"], vocab_size=256).encode_to_numpy("a")
CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.truncate"}

def changes(event, arguments):
    if event == "open":
        path, _mode, flags = arguments
        return bool(flags & (os.O_WRONLY | os.O_RDWR)) and str(out.parent) in str(path)
    return event in CHANGES and str(out.parent) in str(arguments[0])

def run(n_changes):
    left = [n_changes]
    def hook(event, arguments):
        if changes(event, arguments):
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    try:
        sys.addaudithook(hook)
        app([*command], prog_name="bytepair")
    except SystemExit as ended:
        os._exit(ended.code or 0)
    except BaseException as error:
        import traceback
        traceback.print_exc()
        os._exit(3)
    os._exit(0)

def files(folder):
    return {str(p.relative_to(folder)): p.is_file() and p.read_bytes() for p in folder.rglob("*")}

def clear():
    import shutil
    shutil.rmtree(out.parent)
    out.parent.mkdir()

assert run(0) == 0
expected = files(out.parent)
for n_changes in range(1, 1000):
    clear()
    ended = run(n_changes)
    if ended == 0:
        break
    assert ended == signal.SIGKILL, ended
    assert run(0) == 0, n_changes
    found = files(out.parent)
    assert found == expected, (n_changes, set(found) ^ set(expected))
print(n_changes)
"""


@pytest.mark.parametrize(
    "job", slow_but(["encode"], ["shard", "count-pieces", "train", "encode", "convert"])
)
def test_a_kill_before_each_change_leaves_nothing_after_the_next_run(
    tmp_path, corpus, tokenizer, job
):
    """The same command again gives the same files, and no others."""
    path, lines = tmp_path / "t.bytepair", corpus / "a.jsonl"
    tokenizer.save(path)
    out = tmp_path / "made" / "out"
    out.parent.mkdir()
    train = "--merges", "5", "--quiet", "-o", f"{out}.json", "--log", f"{out}.log"
    commands = {
        "shard": [path, lines, "--quiet", "--shard-tokens", "300", "-o", out],
        "count-pieces": [lines, "--quiet", "-o", out.with_suffix(".parquet")],
        "train": [lines, *train],
        "encode": [path, lines, "-o", f"{out}.npy"],
        "convert": [path, f"{out}.tiktoken"],
    }
    assert int(run_python(SWEEP, job, *commands[job], out).stdout.split()[-1]) > 3


# What is kept is what was written


def changed_notes(out):
    """Give a note of a run that was interrupted, and what it might be after damage."""
    path = out / "_work/task-00001.json"
    note = json.loads(path.read_bytes())
    other = json.loads((out / "_work/task-00000.json").read_bytes())
    shards, files = note["shards"], note["shards"][0]["files"]
    name = next(iter(files))
    yield "another task", other
    left = [shards[:number] + shards[number + 1 :] for number in range(len(shards))]
    lost = [[{**shards[0], key: None}] for key in shards[0]]
    values = [None, 1, "x", [], {}, {name: {}}, {name: {"bytes": 1, "sha256": 2}}]
    broken = [[{**shards[0], "files": value}] for value in values]
    for found in ([], *left, other["shards"], *lost, *broken):
        yield "shards", {**note, "shards": found}
    tally = {**note["tally"], "documents": 1}
    changed = {"number": 0, "plan": "0" * 64, "sum": "0" * 64, "tally": tally}
    for key, value in {**changed, "parts": note["parts"][:-1]}.items():
        yield f"another {key}", {**note, key: value}
    for lost in ("plan", "sum"):
        yield f"no {lost}", {key: note[key] for key in note if key != lost}
    for value in (None, 1, "x", [], {}, [[]], {"number": 1}):
        yield f"{value}", value


def test_what_is_not_what_was_written_is_done_again(tmp_path, corpus, tokenizer, whole):
    """Other notes, and shards that were removed, cut or changed: an undisturbed run's dataset."""
    half, out = tmp_path / "half", tmp_path / "out"
    interrupted(corpus, tokenizer, half)
    note = "_work/task-00001.json"
    cases = [(note, case, written(value)) for case, value in changed_notes(half)]
    cases += [(note, "cut", (half / note).read_bytes()[:200])]
    cases += [(note, "empty", b""), (note, "deep", b"[" * 100_000)]
    names = sorted(path.name for path in half.glob("shard-*"))
    for name in names[1::5]:
        data = (half / name).read_bytes()
        cases += [
            *((name, "removed", None), (name, "cut", data[:-1]), (name, "empty", b"")),
            (name, "longer", data + b"\0"),
            (name, "another byte", data[:-1] + bytes([data[-1] ^ 1])),
            (name, "another shard's", whole[names[0]]),
        ]
    for name, case, data in cases:
        shutil.copytree(half, out)
        (out / name).unlink()
        if data is not None:
            (out / name).write_bytes(data)
        scale.tokenize(tokenizer, corpus, out, **OPTIONS)
        assert tree(out) == whole, (name, case)
        shutil.rmtree(out)


def test_notes_of_another_plan_are_not_taken_over(tmp_path, corpus, tokenizer, whole):
    """Where the plan was removed, what was done under it is done again, or refused."""
    other = bytepair.train_from_iterator(["wider newer " * 5], vocab_size=264)
    out = tmp_path / "out"
    interrupted(corpus, other, out)
    with pytest.raises(TokenizerError, match="tokenizer: "):
        scale.tokenize(tokenizer, corpus, out, **OPTIONS)
    (out / "_work/plan.json").write_text('{"version": 2, "sources": 1}')
    with pytest.raises(TokenizerError, match="sources: 1 then"):
        scale.tokenize(tokenizer, corpus, out, **OPTIONS)
    (out / "_work/plan.json").unlink()
    scale.tokenize(tokenizer, corpus, out, **OPTIONS)
    assert tree(out) == whole


# Names


@pytest.mark.parametrize("format_name", ["npy", "megatron", "parquet"])
def test_sources_whose_names_are_not_utf8(tmp_path, corpus, tokenizer, format_name):
    """What was interrupted goes on, what is finished is read and compared with its corpus."""
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    shutil.copytree(corpus, folder)
    (folder / "a.jsonl").rename(folder / os.fsdecode(b"\xff\xfe.jsonl"))
    out = tmp_path / os.fsdecode(b"out\xe9")
    options = {**OPTIONS, "format": format_name}
    for place in (out, tmp_path / "again"):
        with pytest.raises(KeyboardInterrupt):
            stopped(tokenizer, folder, place, **options)
        done = scale.tokenize(tokenizer, folder, place, **options)
        assert scale.tokenize(tokenizer, folder, place, **options) == done
    assert tree(out) == tree(tmp_path / "again")
    if format_name != "parquet":
        assert len(TokenDataset(out)) == 24
        assert check_dataset(out, tokenizer)["exact"] == 24
    counts = scale.count(folder, dialect="gpt2", output=out / "counts.parquet")
    again = read_counts(out / "counts.parquet")
    assert again.info == counts.info
    assert again.table.equals(counts.table)
    bytepair.train_from_counts(again, merges=3)


@pytest.mark.parametrize("unit", [b"nn", b"\xff\xc3"], ids=["letters", "no UTF-8"])
def test_names_as_long_as_the_system_takes(tmp_path, corpus, tokenizer, unit):
    """What one command can write, all can: names of 255 bytes, of UTF-8 and not."""
    lines = corpus / "a.jsonl"

    def named(ending):
        return tmp_path / (os.fsdecode(unit * ((254 - len(ending)) // 2)) + ending)

    path = named(".bytepair")
    bytepair.train([lines], merges=5, log=named(".log")).save(path)
    again = bytepair.Tokenizer.from_file(path)
    assert bytepair.read_log(named(".log")).steps
    bytepair.convert(again, named(".json"))
    converted = bytepair.Tokenizer.from_file(named(".json"))
    assert converted.vocabulary == again.vocabulary
    for ending in (".npy", ".bin"):
        again.encode_file(lines, named(ending))
    scale.count(lines, output=named(".parquet"))
    assert read_counts(named(".parquet")).n_rows
    scale.tokenize(again, lines, named(".out"))
    assert len(TokenDataset(named(".out"))) == 12
    for command, ending in (("train", ".model.json"), ("encode", ".2.npy")):
        source = ["--merges", 5] if command == "train" else [path]
        run_process(command, *source, lines, "-o", named(ending))
        assert named(ending).exists()
    assert not list(tmp_path.glob(".*"))


UMASK = """
import os, sys
from pathlib import Path
os.umask(0o027)
def refuse(_mask):
    raise AssertionError("the umask is of the whole process")
os.umask = refuse
import bytepair
from bytepair import scale
lines, out = Path(sys.argv[1]), Path(sys.argv[2])
(out / "own.json").write_text("")
(out / "own.json").chmod(0o600)
(out / "own.tiktoken").touch(0o604)
(out / "own.tiktoken").chmod(0o604)
tokenizer = bytepair.train([lines], merges=5, log=out / "log")
tokenizer.save(out / "own.json")
tokenizer.save(out / "own.bytepair")
bytepair.convert(tokenizer, out / "own.tiktoken")
bytepair.convert(tokenizer, out / "new.tiktoken")
tokenizer.encode_file(lines, out / "ids.npy")
scale.count(lines, output=out / "counts.parquet")
scale.tokenize(tokenizer, lines, out / "npy")
scale.tokenize(tokenizer, lines, out / "parquet", format="parquet")
for path in sorted(out.rglob("*")):
    print(path.name, oct(path.stat().st_mode & 0o777))
"""


def test_modes_are_those_that_the_umask_gives(tmp_path, corpus):
    """Without asking for the umask, which is the process's; a file that was there keeps its own."""
    told = run_python(UMASK, corpus / "a.jsonl", tmp_path).stdout
    modes = dict(line.split() for line in told.splitlines())
    kept = {"own.json": "0o600", "own.tiktoken": "0o604"}
    folders = {"npy": "0o750", "parquet": "0o750"}
    assert modes == {**dict.fromkeys(modes, "0o640"), **kept, **folders}
    assert len(modes) > 12
