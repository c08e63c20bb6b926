"""A finished or interrupted folder of shards, or a file of counts, that somebody changed.

Reading it, going on with it and training from it end well or in an error of ours.
"""

import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from .children import command, environment, limited_command, went_wrong
from .jobs import jobs
from .mutations import damaged

__all__ = ["cases"]

READ = (
    "import sys, bytepair\n"
    "from bytepair.data import TokenDataset\n"
    "try:\n"
    "    dataset = TokenDataset(sys.argv[1])\n"
    "    [dataset[n] for n in range(min(len(dataset), 20))]\n"
    "except bytepair.TokenizerError as error:\n"
    "    assert str(error)\n"
)


def tamper(folder: Path, chance: random.Random) -> str:
    """Change, remove or repeat one file; gives what was done."""
    path = chance.choice([path for path in sorted(folder.rglob("*")) if path.is_file()])
    kind = chance.randrange(5)
    if kind == 0:
        path.unlink()
        return f"removed {path.name}"
    if kind == 1:
        shutil.copy(path, path.with_name("copy-" + path.name))
        return f"copied {path.name}"
    data = path.read_bytes()
    path.write_bytes(damaged(data, chance) if data else b"{")
    return f"damaged {path.name}"


def cases(chance: random.Random, folder: Path) -> Iterator[str | None]:
    """Tamper with shards and counts, one change at a time."""
    by_name = {job.name: job for job in jobs(folder, chance)}
    shards, counts = by_name["tokenize"], by_name["count"]
    whole = folder / "whole"
    whole.mkdir()
    for job in (shards, counts):
        subprocess.run(job.command(folder, whole), check=True, env=environment())
    while True:
        copy = folder / "tampered"
        shutil.copytree(whole, copy)
        is_shards = chance.random() < 0.6
        if is_shards:
            what = tamper(copy / shards.out, chance)
            words = chance.choice(
                [
                    [command()[0], "-c", READ, str(copy / shards.out)],
                    shards.command(folder, copy),
                ]
            )
        else:
            path = copy / counts.out
            path.write_bytes(damaged(path.read_bytes(), chance))
            what = "damaged counts"
            words = command(
                "train", path, "-q", "-o", copy / "t.bytepair", "--vocab-size", 300
            )
        problem = went_wrong(limited_command(words))
        shutil.rmtree(copy)
        yield f"{what}: {problem}" if problem else None
