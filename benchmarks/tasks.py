"""What can be measured: each task does one job and yields its phases.

A job is the case it belongs to, with the engine and the number of threads. Loading
libraries, vocabularies and counts is left out; reading a corpus is part of training.
"""

import functools
import hashlib
import itertools
import json
import resource
import subprocess
import sys
import tempfile
import time
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from . import compare, surgery, texts
from .engines import engine
from .measure import EVERYBODY, Cost, Sample, forget_peak, timed

Job = dict[str, Any]
Merges = Iterable[tuple[bytes, ...]]

N_WINDOWS = 64
LOOP_SECONDS = 0.05


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


def hostile(job: Job) -> Iterator[Sample]:
    """Train on words, load a file, or count a text that grows: chosen to cost much."""
    import bytepair

    from . import adversary

    n_bytes = job["n_bytes"]
    if job["kind"] == "words of one hash":
        text = adversary.words_of_one_hash(n_bytes)
        train = functools.partial(bytepair.train_from_iterator, dialect="gpt2")
        own, cost = timed(functools.partial(train, merges=100, threads=1), [text])
        digest = _digest(left + right for left, right in own.merges)
        yield Sample("train", *cost, n_bytes, len(own.merges), digest)
        return
    if job["kind"] == "letters one by one":
        tokenizer = bytepair.train_from_iterator([texts.prose()], merges=500)
        session = tokenizer.session()
        _, cost = timed(_call_all, session.append, ["a"] * n_bytes)
        yield Sample("count", *cost, n_bytes, len(session), "")
        return
    write, name = adversary.FILES[job["kind"]]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        write(path, n_bytes)
        tokenizer, cost = timed(bytepair.Tokenizer.from_file, path)
    yield Sample("load", *cost, n_bytes, tokenizer.n_vocab, tokenizer.fingerprint)
    # Without its last character, so that a long symbol is begun everywhere and found nowhere.
    text = tokenizer.decode(range(tokenizer.n_vocab))[:-1]
    ids, cost = timed(tokenizer.encode_to_numpy, text)
    n_bytes = len(text.encode())
    yield Sample("encode", *cost, n_bytes, len(ids), _digest([ids.tobytes()]))


def encode(job: Job) -> Iterator[Sample]:
    """Encode with a new tokenizer, then new text, then the same text again."""
    module, tokenizer, output = _loaded(job)
    if job["document_bytes"]:
        work = module.batch(tokenizer, output, job["n_threads"])
    else:  # each half is one text
        call = module.one(tokenizer, output, job["n_threads"])
        work = lambda texts: [call(text) for text in texts]  # noqa: E731
    first, second = texts.halves(
        texts.corpus(job["file"]), job["document_bytes"], max_bytes=job["max_bytes"]
    )
    for phase, batch in (("cold", first), ("fresh", second), ("warm", second)):
        result, cost = timed(work, batch)
        ids = _flat(module, result)
        n_bytes = sum(len(text.encode()) for text in batch)
        yield Sample(phase, *cost, n_bytes, len(ids), _digest([ids.tobytes()]))


def worst(job: Job) -> Iterator[Sample]:
    """Encode one made-up text, with a tokenizer that has seen none."""
    module, tokenizer, output = _loaded(job)
    text: str | bytes = texts.made(job["made"], job["n_bytes"])
    if job["made"] != "random bytes":
        text = text.decode()
    result, cost = timed(module.one(tokenizer, output, job["n_threads"]), text)
    ids = _flat(module, [result])
    yield Sample("encode", *cost, job["n_bytes"], len(ids), _digest([ids.tobytes()]))


def latency(job: Job) -> Iterator[Sample]:
    """Encode texts of given lengths, one a call, all of them seen before: time per call.

    The calls of a loop go over several texts. The median of some loops is taken.
    """
    module, tokenizer, output = _loaded(job)
    call = module.one(tokenizer, output, job["n_threads"])
    for n_bytes in job["sizes"]:
        found = texts.windows(texts.corpus(job["file"]), n_bytes, N_WINDOWS)
        ids = _flat(module, [call(text) for text in found])
        digest = _digest([ids.tobytes()])
        cost = _per_call(call, found)
        yield Sample(f"{n_bytes:,} B", *cost, n_bytes, len(ids), digest)


def calls(job: Job) -> Iterator[Sample]:
    """Call a tokenizer in the shape of transformers for short texts: time per call.

    Results of each call are compared. The median of some loops over several texts is taken.
    """
    module, _ = engine(job["engine"])
    tokenizer = module.in_shape(Path(job["folder"], "vocabulary.json"), job)
    [n_bytes] = job["sizes"]
    found = texts.windows(texts.corpus(job["file"]), n_bytes, N_WINDOWS)
    rows = [tokenizer.encode(text) for text in found]
    tokens = [tokenizer.convert_ids_to_tokens(ids) for ids in rows]
    kinds: dict[str, tuple[Callable[[Any], Any], list[Any]]] = {
        "call": (lambda text: dict(tokenizer(text)), found),
        "encode": (tokenizer.encode, found),
        "tokenize": (tokenizer.tokenize, found),
        "batch of 8": (lambda some: dict(tokenizer(some)), [found[:8], found[8:16]]),
        "decode": (tokenizer.decode, rows),
        "to tokens": (tokenizer.convert_ids_to_tokens, rows),
        "to ids": (tokenizer.convert_tokens_to_ids, tokens),
    }
    for phase, (call, inputs) in kinds.items():
        results = [call(one) for one in inputs]
        digest = _digest([json.dumps(results, sort_keys=True).encode()])
        yield Sample(phase, *_per_call(call, inputs), n_bytes, len(results), digest)


def _per_call(call: Callable[[Any], Any], inputs: list[Any]) -> Cost:
    """Give the cost of a call, by the median of some loops over its inputs."""
    _, first = timed(_call_all, call, inputs)
    n_turns = 1 + int(LOOP_SECONDS / max(first.wall_seconds, 1e-6))
    costs = sorted(timed(_call_all, call, inputs * n_turns)[1] for _ in range(5))
    middle, n_calls = costs[len(costs) // 2], len(inputs) * n_turns
    wall, cpu = middle.wall_seconds / n_calls, middle.cpu_seconds / n_calls
    return middle._replace(wall_seconds=wall, cpu_seconds=cpu)


def _call_all(call: Callable[[Any], object], found: list[Any]) -> None:
    deque(map(call, found), maxlen=0)


def serving(job: Job) -> Iterator[Sample]:
    """Time a call of programs that serve models, with each vocabulary; the ids that it gave or read are compared."""
    module, name = engine(job["engine"])
    for vocabulary, options in job["vocabularies"].items():
        work = module.serve(name, options, _served(job))
        if "p99" in job["phases"]:
            costs = _quantiles(work.call, work.inputs)
        else:
            _call_all(work.call, work.inputs)  # they were seen before
            cost = _per_call(work.call, work.inputs)
            costs = dict.fromkeys(job["phases"], cost)
        results = work.ids() if work.ids else map(work.call, work.inputs)
        ids = _flat(module, list(results))
        result = work.size or job["size"], len(ids), _digest([ids.tobytes()])
        for phase, cost in costs.items():
            yield Sample(f"{vocabulary} {phase}", *cost, *result)


def _served(job: Job) -> list[str]:
    """Give texts of a size, or a chat of that many characters and the turns that follow it."""
    path, size, n_texts = Path(job["file"]), job["size"], job["n_texts"]
    if "turn_characters" not in job:
        return texts.windows(path, size, n_texts)
    stops = range(size, size + job["turn_characters"] * n_texts, job["turn_characters"])
    text = path.read_text(encoding="utf-8")
    return [text[start:stop] for start, stop in itertools.pairwise([0, *stops])]


def _quantiles(call: Callable[[Any], Any], inputs: list[Any]) -> dict[str, Cost]:
    """Time each call on its own, and give the median and the 99th percentile of both clocks."""
    costs, cost = timed(lambda: [_alone(call, given) for given in inputs])
    walls, cpus = map(sorted, zip(*costs, strict=True))
    places = {"median": len(inputs) // 2, "p99": len(inputs) * 99 // 100}
    return {
        phase: cost._replace(wall_seconds=walls[place], cpu_seconds=cpus[place])
        for phase, place in places.items()
    }


def _alone(call: Callable[[Any], Any], given: Any) -> tuple[float, float]:  # noqa: ANN401
    """Give the seconds that one call takes, by the wall and of the processor."""
    wall, cpu = time.perf_counter(), time.process_time()
    call(given)
    cpu = time.process_time() - cpu
    return time.perf_counter() - wall, cpu


def file(job: Job) -> Iterator[Sample]:
    """Encode a file to a file of ids; the phase before says what is held when loaded."""
    module, tokenizer, _ = _loaded(job)
    forget_peak()
    _, cost = timed(bool)
    yield Sample("loaded", *cost, 0, 0, "")
    path = Path(job["file"])
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "ids.bin")
        n_ids, cost = timed(module.file, tokenizer, path, target, job["n_threads"])
        digest = _digest(_blocks(target))
    yield Sample("encode", *cost, path.stat().st_size, n_ids, digest)


def corpus(job: Job) -> Iterator[Sample]:
    """Encode a file of JSON lines to files; with one process, our encoder on its texts too.

    With one process all texts are encoded once before, so that both find the same in caches.
    """
    module, tokenizer, _ = _loaded(job)
    path = Path(job["file"])
    n_bytes = path.stat().st_size
    has_bare = hasattr(module, "batch") and job["n_threads"] == 1
    found: list[str] = []
    if has_bare:
        with path.open(encoding="utf-8") as lines:
            found = [json.loads(line)["text"] for line in lines]
        module.batch(tokenizer, "numpy", 1)(found)
    with tempfile.TemporaryDirectory() as folder:
        work = module.corpus(tokenizer, path, Path(folder), job["n_threads"])
        done, cost = timed(work, who=EVERYBODY)
        yield Sample("files", *cost, n_bytes, *_summed(module.ids_of(done)))
    if has_bare:
        (ids, _), cost = timed(module.batch(tokenizer, "numpy", 1), found)
        yield Sample("bare", *cost, n_bytes, *_summed([ids]))


def stats(job: Job) -> Iterator[Sample]:
    """Encode the texts of a file, block by block, and measure the file without words and with.

    All was encoded once before, so that each finds the same in caches. What the encoder gets lies in
    memory already; measuring reads the file too.
    """
    from bytepair.analyze import measure
    from bytepair.data import Part, list_sources
    from bytepair.data._readers import read_rows

    module, tokenizer, _ = _loaded(job)
    path, n_threads = Path(job["file"]), job["n_threads"]
    n_bytes = 0
    blocks: list[list[bytes]] = []
    for rows in read_rows(Part(list_sources(path)[0])):
        content, ends = rows.data.tobytes(), rows.offsets.tolist()
        blocks.append([content[a:b] for a, b in itertools.pairwise(ends)])
        n_bytes += ends[-1] - ends[0]
    call = module.batch(tokenizer, "numpy", n_threads)
    n_ids = sum(len(call(block)[0]) for block in blocks)
    forget_peak()
    _, cost = timed(_call_all, call, blocks)
    yield Sample("bare", *cost, n_bytes, n_ids, str(n_ids))
    blocks.clear()
    for phase, words in (("sums", None), ("words", "whitespace")):
        forget_peak()
        work = functools.partial(measure, segmenter=words, threads=n_threads)
        found, cost = timed(work, tokenizer, path)
        n_found = found.total.tokens
        yield Sample(phase, *cost, n_bytes, n_found, str(n_found))


def extend(job: Job) -> Iterator[Sample]:
    """Add tokens, from the files of a tokenizer and a text to a new file; then judge the file.

    Ours is timed with the proof of the file as well.
    """
    yield from _changed(job, "extender", "prover")


def prune(job: Job) -> Iterator[Sample]:
    """Make a vocabulary smaller, from files to a file; then judge the file."""
    yield from _changed(job, "pruner", "prover")


def _changed(job: Job, name: str, prover: str) -> Iterator[Sample]:
    module, _ = engine(job["engine"])
    n_bytes = Path(job["file"]).stat().st_size
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "new.json")
        work = getattr(module, name)(job, target)
        result, cost = timed(work)
        found = surgery.quality(job, target)
        n_results = found.n_new if "add" in job else surgery.n_tokens(target)
        yield Sample("work", *cost, n_bytes, n_results, "")
        if hasattr(module, prover):
            _, more = timed(
                getattr(module, prover)(result, Path(folder, "proven.json"))
            )
            yield Sample("proof", *more, n_bytes, n_results, "")
    if "add" in job:
        yield Sample("unreachable", *cost, n_bytes, found.n_unreachable, "")
    for which, n_tokens in found.held_out.items():
        yield Sample(f"held out, {which}", *cost, n_bytes, n_tokens, "")


def _summed(arrays: Iterable[Any]) -> tuple[int, str]:
    """Give the number of ids, and their digest, however they are stored."""
    n_ids, digest = 0, hashlib.blake2b(digest_size=8)
    for ids in arrays:
        n_ids += len(ids)
        digest.update(ids.astype("<u4").tobytes())
    return n_ids, digest.hexdigest()


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as content:
        while block := content.read(1 << 20):
            yield block


def added(job: Job) -> Iterator[Sample]:
    """Load a file with many added tokens, add them to a tokenizer, encode a text with some."""
    module, _ = engine(job["engine"])
    contents = texts.added_contents(job["contents"], job["n_tokens"])
    n_bytes = sum(map(len, contents))
    text = f" x {contents[0]}{contents[-1]} y"
    with tempfile.TemporaryDirectory() as folder:
        few, many = Path(folder, "few"), Path(folder, "many")
        for path, listed in ((few, []), (many, contents)):
            path.mkdir()
            texts.write_bytes_with_added(path / "vocabulary.json", listed)
        loaded, cost = timed(module.load, many, job)
        yield Sample(
            "load", *cost, n_bytes, *_summed([module.with_added(loaded, text)])
        )
        base = module.load(few, job)
        more, cost = timed(module.add, base, contents)
        yield Sample("add", *cost, n_bytes, *_summed([module.with_added(more, text)]))
        ids, cost = timed(module.with_added, more, text)
        yield Sample("encode", *cost, len(text), *_summed([ids]))


def _loaded(job: Job) -> tuple[Any, Any, str]:
    """Load the vocabulary of a job: the module of its engine, a tokenizer, the output."""
    module, output = engine(job["engine"])
    return module, module.load(Path(job["folder"]), job), output


def imports(job: Job) -> Iterator[Sample]:
    """Start Python and run one statement."""
    command = [sys.executable, "-c", job["engine"]]
    start = functools.partial(subprocess.run, command, check=True)
    start()
    _, cost = timed(start, who=resource.RUSAGE_CHILDREN)
    yield Sample("start", *cost, 0, 0, "")


def _flat(module: Any, result: Any) -> "array[int]":  # noqa: ANN401
    """Join the ids of all texts, or take them from ``(ids, offsets)``."""
    if isinstance(result, tuple):
        return array("I", result[0].tobytes())
    joined: array[int] = array("I")
    for ids in result if isinstance(result, list) else [module.flat(result)]:
        if isinstance(ids, list):
            joined.extend(ids)
        else:
            joined.frombytes(ids.astype("uint32").tobytes())
    return joined


def _digest(parts: Iterable[bytes]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()
