"""The libraries, each behind the same doors, in the module of its name.

``trainer(case, path, feed, n_threads)`` gives a function that learns, beginning with
the file on disk; ``learned(result)`` lists the tokens that the merges made, as bytes.
``encoder(folder, case, variant, n_threads)`` loads a vocabulary and gives a function
from texts to one list or array of ids for each.

A feed is a way to hand a corpus to a library: ``files`` by its own reader, ``lines``,
``whole`` as one text, ``chunks-N`` of N KiB. Libraries are imported by the job that
uses them, so none weighs on another.
"""

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import texts

Case = dict[str, Any]


def engine(label: str) -> tuple[Any, str]:
    """Give the module of an engine such as ``tokenizers chunks-16``, and its variant."""
    name, _, variant = label.partition(" ")
    return importlib.import_module(f"{__name__}.{name}"), variant


def feed_texts(path: Path, feed: str) -> Iterator[str]:
    """Read a corpus as the feed says."""
    with path.open(encoding="utf-8", newline="") as file:
        if feed == "lines":
            yield from file
        elif feed == "whole":
            yield file.read()
        else:
            n_kib = int(feed.removeprefix("chunks-"))
            yield from texts.chunks(file.read(), n_kib << 10)
