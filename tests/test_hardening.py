"""A short form of ``make harden``: a few cases of each check that needs no minutes."""

import random

import pytest
from hardening import disks, folders, kills, mutations, tampering, threads
from hardening.running import run

pytest.importorskip("pyarrow", reason="counts and shards")

SECONDS = {
    "mutations": 4,
    "kills": 8,
    "disks": 8,
    "tampering": 8,
    "threads": 3,
    "folders": 3,
}

CHECKS = {
    "mutations": mutations.cases,
    "kills": kills.cases,
    "disks": disks.cases,
    "tampering": tampering.cases,
    "folders": folders.cases,
    "threads": threads.cases,
}


@pytest.mark.parametrize("name", CHECKS)
def test_bad_days_end_well(name, tmp_path):
    """Damage, kills, full disks, tampering and threads give an error of ours or the same."""
    outcome = run(name, CHECKS[name], SECONDS[name], seed=7, folder=tmp_path)
    if outcome.skipped:
        pytest.skip(outcome.skipped)
    assert outcome.failures == []
    assert outcome.n_cases > 0


def test_a_failure_is_counted_and_named(tmp_path):
    """A case that goes wrong is reported with its number, and five of them end a check."""

    def cases(_chance, _folder):
        while True:
            yield None
            yield "broken"

    outcome = run("made up", cases, 60, 0, tmp_path)
    assert outcome.n_cases == 10
    assert outcome.failures[0] == "case 2: broken"
    assert str(outcome).endswith("5 FAILED")


def test_the_same_seed_damages_alike():
    """A case can be tried again."""
    data = bytes(range(256)) * 4
    once, again = (
        [mutations.damaged(data, chance) for _ in range(50)]
        for chance in (random.Random(3), random.Random(3))
    )
    assert once == again
