"""Corpora and violence: processes that are killed, and disks that are full, in the middle of real work.

What is compared is always the whole result with that of an undisturbed run, byte for byte.
"""

import contextlib
import functools
import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import bytepair

pa = pytest.importorskip("pyarrow", reason="corpora need pyarrow")

from tests.full_disks import short_files, small_disk  # noqa: E402

from bytepair import scale  # noqa: E402
from bytepair.data import TokenDataset, _shards, _work, read_counts  # noqa: E402

pytestmark = pytest.mark.slow
IS_LINUX = Path("/proc/self/fdinfo").is_dir()
TASK_BYTES = 3 << 20
N_TASKS = 4
LETTERS = str.maketrans("0123456789", "ghijklmnop")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Write some megabytes of made-up documents, so that a task lasts a while."""
    path = tmp_path_factory.mktemp("corpus") / "docs.jsonl"
    chance = random.Random(3)
    words = ["".join(chance.choices("abcdefghiklmnop", k=6)) for _ in range(20_000)]
    with path.open("w") as file:
        while file.tell() < N_TASKS * TASK_BYTES - 10_000:
            text = " ".join(chance.choices(words, k=200))
            file.write(json.dumps({"text": text}) + "\n")
    return path


@pytest.fixture(scope="module")
def tokenizer_path(tmp_path_factory, corpus):
    """Save a small tokenizer."""
    path = tmp_path_factory.mktemp("tokenizer") / "t.bytepair"
    text = corpus.read_text()[:100_000]
    bytepair.train_from_iterator([text], vocab_size=500).save(path)
    return path


OPTIONS = {"task_bytes": TASK_BYTES, "format": "megatron"}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, corpus, tokenizer_path):
    """Give the files that one process writes in a format, undisturbed."""

    @functools.cache
    def written(format_name="megatron"):
        folder = tmp_path_factory.mktemp("undisturbed") / "out"
        options = {**OPTIONS, "format": format_name}
        scale.tokenize(tokenizer_path, corpus, folder, **options)
        return files_of(folder)

    return written


def files_of(folder):
    """Map the names of the files of a folder to their content."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# Killed


def place_in(path, process_id):
    """Say how far a process has read a file, 0 where it has not opened it."""
    with contextlib.suppress(OSError):
        for link in Path(f"/proc/{process_id}/fd").iterdir():
            if link.readlink() == path:
                info = Path(f"/proc/{process_id}/fdinfo/{link.name}").read_text()
                return int(info.split()[1])
    return 0


class Killer(threading.Thread):
    """Kills one process of a pool as soon as it is in the middle of a task."""

    def __init__(self, corpus):
        super().__init__(daemon=True)
        self.corpus, self.killed_at = corpus.resolve(), 0
        self.is_over = threading.Event()

    def run(self):
        """Look, again and again."""
        while not self.is_over.wait(0.0005):
            for process in multiprocessing.active_children():
                place = place_in(self.corpus, process.pid)
                if place % TASK_BYTES:
                    os.kill(process.pid, signal.SIGKILL)
                    self.killed_at = place
                    return

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_error):
        self.is_over.set()
        self.join()


@pytest.mark.skipif(
    not IS_LINUX, reason="this system does not say where files are read"
)
def test_a_worker_that_is_killed_while_it_counts_changes_no_count(corpus):
    """Its task is counted again, once."""
    options = {"dialect": "gpt2", "task_bytes": TASK_BYTES}
    expected = scale.count(corpus, **options)
    with Killer(corpus) as killer:
        found = scale.count(corpus, processes=2, **options)
    assert killer.killed_at > 0
    assert found.table.equals(expected.table)
    assert found.info == expected.info


@pytest.mark.skipif(
    not IS_LINUX, reason="this system does not say where files are read"
)
def test_a_worker_that_is_killed_while_it_tokenizes_changes_no_shard(
    tmp_path, corpus, tokenizer_path, undisturbed
):
    """Its shard is written again, and what it had begun does not stay."""
    with Killer(corpus) as killer:
        scale.tokenize(tokenizer_path, corpus, tmp_path / "out", processes=2, **OPTIONS)
    assert killer.killed_at > 0
    assert files_of(tmp_path / "out") == undisturbed()


RUN = """
import sys
from bytepair import scale
if __name__ == "__main__":
    tokenizer, corpus, out, processes = sys.argv[1:]
    scale.tokenize(tokenizer, corpus, out, processes=int(processes), **{options!r})
"""


@pytest.mark.parametrize("processes", [1, 2])
def test_a_run_that_is_killed_goes_on_to_the_same_bytes(
    tmp_path, corpus, tokenizer_path, undisturbed, processes
):
    """The main process is killed after a task, at whatever it does then."""
    program, out = tmp_path / "run.py", tmp_path / "out"
    program.write_text(RUN.replace("{options!r}", repr(OPTIONS)))
    command = [sys.executable, program, tokenizer_path, corpus, out, str(processes)]
    with subprocess.Popen(command) as process:
        while not list(out.glob(f"{_work.WORK}/task-*.json")):
            assert process.poll() is None
            time.sleep(0.001)
        process.kill()
    if process.returncode != -signal.SIGKILL:
        pytest.skip("it was done before it could be killed")
    noted = {path.name for path in (out / _work.WORK).glob("task-*.json")}
    with pytest.raises(bytepair.FileError, match="not finished"):
        TokenDataset(out)
    time.sleep(0.2)  # its processes end when they see that it is gone
    before = {path.name: path.stat().st_mtime_ns for path in out.glob("shard-*")}
    subprocess.run(command, check=True)
    assert files_of(out) == undisturbed()
    kept = {
        name for name, time in before.items() if (out / name).stat().st_mtime_ns == time
    }
    for number in (name[5:10] for name in noted):
        shard = {
            f"shard-{number}-000{ending}" for ending in _shards.ENDINGS["megatron"]
        }
        # A run that is killed between the two names of a shard begins it again.
        assert shard <= kept or not shard <= before.keys()


# Full


@pytest.mark.parametrize("format_name", ["megatron", "npy", "parquet"])
@pytest.mark.parametrize(
    ("limited", "n_bytes"),
    [
        *((small_disk, n_bytes) for n_bytes in (4096, 12_288, 3_300_000)),
        *((short_files, n_bytes) for n_bytes in (100, 1 << 20)),
    ],
)
def test_a_disk_that_is_full_is_told_and_no_shard_of_it_counts(
    tmp_path, corpus, tokenizer_path, undisturbed, format_name, limited, n_bytes
):
    """The error names a file; nothing half counts as done, and with more space it ends well."""
    options = {**OPTIONS, "format": format_name}
    disk = tmp_path / "disk"
    disk.mkdir()
    out = disk / "out"
    with limited(disk, n_bytes) as grow:
        with pytest.raises(bytepair.FileError, match=str(disk)):
            scale.tokenize(tokenizer_path, corpus, out, **options)
        with pytest.raises(bytepair.FileError):
            TokenDataset(out)
        for note in out.glob(f"{_work.WORK}/task-*.json"):
            (shard,) = json.loads(note.read_text())["shards"]
            for name, file in shard["files"].items():
                assert _shards.sha256_of(out / name) == file["sha256"]
        assert list(out.rglob(".bytepair-*")) == []
        grow()
        scale.tokenize(tokenizer_path, corpus, out, **options)
        assert files_of(out) == undisturbed(format_name)


@pytest.mark.parametrize("limited", [small_disk, short_files])
def test_counts_that_find_no_room_are_told(tmp_path, corpus, limited):
    """The error names the file; what was there before stays."""
    counts = scale.count(corpus)
    disk = tmp_path / "disk"
    disk.mkdir()
    with limited(disk, 16_384) as grow:
        with pytest.raises(bytepair.FileError, match=r"counts\.parquet"):
            counts.save(disk / "counts.parquet")
        assert list(disk.iterdir()) == []
        grow()
        counts.save(disk / "counts.parquet")
        assert read_counts(disk / "counts.parquet").table.equals(counts.table)


@pytest.mark.parametrize("limited", [small_disk, short_files])
@pytest.mark.parametrize("processes", [1, 2])
def test_adding_up_that_finds_no_room_is_told(
    tmp_path, corpus, monkeypatch, limited, processes
):
    """The error names the folder of temporary files, which are gone; no file of counts appears."""
    expected = scale.count(corpus)
    disk = tmp_path / "disk"
    disk.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(disk))
    options = {"processes": processes, "task_bytes": TASK_BYTES}
    output = tmp_path / "counts.parquet"
    with limited(disk, 65_536) as grow:
        with pytest.raises(bytepair.FileError, match=str(disk)):
            scale.count(corpus, output=output, **options)
        assert (list(disk.iterdir()), output.exists()) == ([], False)
        grow()
        found = scale.count(corpus, output=output, **options)
        assert found.table.equals(expected.table)
        assert list(disk.iterdir()) == []


MEASURED = """
import sys
from pathlib import Path
import pyarrow.parquet
from bytepair import scale

def peak_bytes():
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) << 10

if __name__ == "__main__":
    options = {"processes": 2, "task_bytes": 3 << 20, "memory_limit": 48 << 20}
    warm = Path(sys.argv[1]).with_name("warm.jsonl")  # loads what libraries load late
    warm.write_text('{"text": "low"}\\n')
    scale.count(warm, output=warm.with_suffix(".parquet"), dialect="gpt2", **options)
    before = peak_bytes()
    scale.count(sys.argv[1], output=sys.argv[2], dialect="gpt2", **options)
    print(peak_bytes() - before)
"""


@pytest.mark.skipif(
    not IS_LINUX, reason="this system does not say how much memory was taken"
)
def test_adding_up_takes_little_more_memory_than_its_limit(tmp_path):
    """A million and a half of distinct pieces, which take 270 MB in memory, within 48 MB and a fifth."""
    corpus, program = tmp_path / "words.jsonl", tmp_path / "run.py"
    numbers = random.Random(5).sample(range(1 << 40), 1_500_000)
    with corpus.open("w") as file:
        for start in range(0, len(numbers), 1000):
            words = numbers[start : start + 1000]
            text = " ".join(format(n, "x").translate(LETTERS) for n in words)
            file.write(json.dumps({"text": text}) + "\n")
    program.write_text(MEASURED)
    command = [sys.executable, program, corpus, tmp_path / "counts.parquet"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert read_counts(tmp_path / "counts.parquet").n_rows > 1_400_000
    assert int(done.stdout) < (48 << 20) * 6 / 5
