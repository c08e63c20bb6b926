"""What can be measured: each task does one job and yields its phases.

A job is the case it belongs to, with the engine and the number of threads. Loading
libraries, vocabularies and counts is left out; reading a corpus is part of training.
"""

import functools
import hashlib
import resource
import subprocess
import sys
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from . import compare, texts
from .engines import engine
from .measure import Cost, Sample, timed

Job = dict[str, Any]
Merges = Iterable[tuple[bytes, ...]]


def train(job: Job) -> Iterator[Sample]:
    """Learn merges, from the file on disk on."""
    module, _ = engine(job["engine"])
    path = Path(job["file"])
    work = module.trainer(job, path, job["n_threads"])
    result, cost = timed(work)
    yield _learned(job, module.learned(result), cost, path.stat().st_size)


def counts(job: Job) -> Iterator[Sample]:
    """Learn merges from a table of made-up pieces and their counts."""
    module, _ = engine(job["engine"])
    table = texts.counted_pieces(job["n_pieces"])
    result, cost = timed(module.counts_trainer(job, table))
    yield _learned(job, module.learned(result), cost, sum(map(len, table)))


def _learned(job: Job, merges: Merges, cost: Cost, n_bytes: int) -> Sample:
    """Write the merges where they are looked for, and sum them up."""
    lines = compare.lines(merges, job["compare"])
    if "learned" in job:
        Path(job["learned"]).write_bytes(b"\n".join(lines))
    return Sample("train", *cost, n_bytes, len(lines), _digest(lines))


def linear(job: Job) -> Iterator[Sample]:
    """Train on a made-up text, encode and decode it.

    It is encoded by what was learned from it, and by a tokenizer of English.
    """
    import bytepair

    text = texts.made(job["text"], job["n_bytes"])
    options = {"merges": job["merges"], "dialect": job["dialect"], "threads": 1}
    train = functools.partial(bytepair.train_from_iterator, **options)
    english = train([texts.prose()])
    english.encode_to_numpy("")  # numpy is imported at the first call
    own, cost = timed(train, [text])
    digest = _digest(left + right for left, right in own.merges)
    yield Sample("train", *cost, len(text), len(own.merges), digest)
    for tokenizer, name in ((own, "own"), (english, "English")):
        ids, cost = timed(tokenizer.encode_to_numpy, text)
        digest = _digest([ids.tobytes()])
        yield Sample(f"encode ({name})", *cost, len(text), len(ids), digest)
        data, cost = timed(tokenizer.decode_bytes, ids)
        if data != text:
            message = "decoding does not give the text back"
            raise AssertionError(message)
        yield Sample(f"decode ({name})", *cost, len(text), len(ids), _digest([data]))


def encode(job: Job) -> Iterator[Sample]:
    """Encode with a new tokenizer, then new text, then the same text again."""
    module, variant = engine(job["engine"])
    encoder = module.encoder(Path(job["folder"]), job, variant, job["n_threads"])
    found = texts.documents(
        texts.corpus(job["file"]), job["document_bytes"], max_bytes=job["max_bytes"]
    )
    first, second = found[: len(found) // 2], found[len(found) // 2 :]
    for phase, batch in (("cold", first), ("fresh", second), ("warm", second)):
        result, cost = timed(encoder, batch)
        ids = _flat(result)
        n_bytes = sum(len(text.encode()) for text in batch)
        yield Sample(phase, *cost, n_bytes, len(ids), _digest([ids.tobytes()]))


def imports(job: Job) -> Iterator[Sample]:
    """Start Python and run one statement."""
    command = [sys.executable, "-c", job["engine"]]
    start = functools.partial(subprocess.run, command, check=True)
    start()
    _, cost = timed(start, who=resource.RUSAGE_CHILDREN)
    yield Sample("start", *cost, 0, 0, "")


def _flat(result: Iterable[Any]) -> "array[int]":
    """Join the ids of all texts, or take them from ``(ids, offsets)``."""
    if isinstance(result, tuple):
        return array("I", result[0].tobytes())
    joined: array[int] = array("I")
    for ids in result:
        joined.extend(ids)
    return joined


def _digest(parts: Iterable[bytes]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()
