"""What can be measured: each task does one job and yields its phases.

A job is the case it belongs to, with the engine and the number of threads. Loading
libraries and vocabularies is left out; reading a corpus is part of training.
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

from . import texts
from .engines import engine
from .measure import Sample, timed

Job = dict[str, Any]


def train(job: Job) -> Iterator[Sample]:
    """Learn merges, from the file on disk on."""
    module, feed = engine(job["engine"])
    path = texts.corpus(job["file"])
    work = module.trainer(job, path, feed, job["n_threads"])
    result, times = timed(work)
    tokens = module.learned(result)
    digest = _digest(b"%d:%s" % (len(token), token) for token in tokens)
    yield Sample("train", *times, path.stat().st_size, len(tokens), digest)


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
    own, times = timed(train, [text])
    digest = _digest(left + right for left, right in own.merges)
    yield Sample("train", *times, len(text), len(own.merges), digest)
    for tokenizer, name in ((own, "own"), (english, "English")):
        ids, times = timed(tokenizer.encode_to_numpy, text)
        digest = _digest([ids.tobytes()])
        yield Sample(f"encode ({name})", *times, len(text), len(ids), digest)
        data, times = timed(tokenizer.decode_bytes, ids)
        if data != text:
            message = "decoding does not give the text back"
            raise AssertionError(message)
        yield Sample(f"decode ({name})", *times, len(text), len(ids), _digest([data]))


def encode(job: Job) -> Iterator[Sample]:
    """Encode with a new tokenizer, then new text, then the same text again."""
    module, variant = engine(job["engine"])
    encoder = module.encoder(Path(job["folder"]), job, variant, job["n_threads"])
    found = texts.documents(
        texts.corpus(job["file"]), job["document_bytes"], max_bytes=job["max_bytes"]
    )
    first, second = found[: len(found) // 2], found[len(found) // 2 :]
    for phase, batch in (("cold", first), ("fresh", second), ("warm", second)):
        result, times = timed(encoder, batch)
        ids = _flat(result)
        n_bytes = sum(len(text.encode()) for text in batch)
        yield Sample(phase, *times, n_bytes, len(ids), _digest([ids.tobytes()]))


def imports(job: Job) -> Iterator[Sample]:
    """Start Python and run one statement."""
    command = [sys.executable, "-c", job["engine"]]
    start = functools.partial(subprocess.run, command, check=True)
    start()
    _, times = timed(start, who=resource.RUSAGE_CHILDREN)
    yield Sample("start", *times, 0, 0, "")


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
