"""Counting and tokenizing on a real Ray of this machine: the same results, whatever happens."""

import json
import os
import signal
from pathlib import Path

import pytest

import bytepair

pytest.importorskip("pyarrow", reason="corpora need pyarrow")
ray = pytest.importorskip("ray", reason="Ray is not installed")

from bytepair import scale  # noqa: E402
from bytepair.scale.ray_engine import RayEngine  # noqa: E402

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def engine():
    """Begin Ray with two workers and little memory."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(
        num_cpus=2,
        object_store_memory=80 << 20,
        include_dashboard=False,
        configure_logging=False,
        log_to_driver=False,
    )
    yield RayEngine()
    ray.shutdown()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Write some documents of two groups."""
    path = tmp_path_factory.mktemp("corpus") / "docs.jsonl"
    words = ["low lower", "newest", "wide street", ""]
    rows = [{"text": f"{words[n % 4]} {n % 9}", "of": f"{n % 2}"} for n in range(300)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


class KilledOnce(RayEngine):
    """Kills the worker of the second task at its first try."""

    def __init__(self, folder):
        self.folder = folder

    def run(self, work, tasks):
        """Put the killing around the work."""
        flag = Path(self.folder, "died")

        def killing(task):
            if task[0] == 1 and not flag.exists():
                flag.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return work(task)

        return super().run(killing, tasks)


@pytest.mark.parametrize(
    "options",
    [{"dialect": "letters-digits"}, {"min_piece_count": 9}, {"group": "of"}],
)
def test_counts_are_those_of_one_machine(engine, corpus, options):
    """Rows, and all that is told of them, for each rule of ties."""
    expected = scale.count(corpus, **options)
    found = scale.count(corpus, engine=engine, task_bytes=2000, **options)
    assert found.table.equals(expected.table)
    assert found.info == expected.info


def test_a_killed_worker_shows_in_no_result(engine, tmp_path, corpus):
    """Ray does its task again: counts and shards are those of an undisturbed run."""
    tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=260)
    counted = scale.count(corpus, engine=KilledOnce(tmp_path), task_bytes=2000)
    assert (tmp_path / "died").exists()
    assert counted.table.equals(scale.count(corpus).table)
    (tmp_path / "died").unlink()
    for name, chosen in (("local", None), ("ray", KilledOnce(tmp_path))):
        out = tmp_path / name
        scale.tokenize(tokenizer, corpus, out, task_bytes=2000, engine=chosen)
    assert (tmp_path / "died").exists()
    local, other = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}
        for name in ("local", "ray")
    )
    assert local == other
    again = {"old_tokenizer": tokenizer, "engine": engine}
    scale.tokenize(tokenizer, tmp_path / "ray", tmp_path / "again", **again)
    assert all(
        (tmp_path / "again" / name).read_bytes() == data
        for name, data in other.items()
        if name != "manifest.json"
    )


def test_what_a_worker_refuses_is_told_as_on_one_machine(engine, tmp_path):
    """The error names file and line, and has its own class."""
    (tmp_path / "a.jsonl").write_text('{"text": "x"}\n{\n')
    with pytest.raises(bytepair.FormatError, match=r"a\.jsonl, line 2"):
        scale.count(tmp_path, engine=engine)
