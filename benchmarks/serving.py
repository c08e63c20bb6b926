"""What servers, agents and trainers of models ask for: turns of a chat, sampled ids, bytes of tokens, segments.

A case has a kind: ``turns`` of a long chat, a ``prompt`` in the shape of transformers, one ``call`` beside another, the
``trie`` of a vocabulary, and how many ids are ``stable``. An engine is a library with what it does, such as
``bytepair is_canonical``. Each result is checked against encoding the whole text, before it is given.
"""

from __future__ import annotations

import functools
import itertools
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import mixture, texts
from .engines import engine
from .measure import Sample, call_all, digest_of, per_call, timed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .runner import Row

TURN_CHARACTERS = 256
SHOWN = {"median": 0.5, "p99": 0.99}
ENDINGS = ("a", " ", "\n", "\r\n", "1", "'", "é", "中", "\u0301", "  a", "<")
"""What is appended to a text to see that its stable ids stay."""

Definition = dict[str, Any]


def cases(wanted: Definition, scratch: Path) -> Iterator[Definition]:
    """Combine vocabularies, texts and sizes."""
    for grid in wanted["grid"]:
        axes = (grid.get(axis, [""]) for axis in ("vocabularies", "texts", "sizes"))
        for vocabulary, text, size in itertools.product(*axes):
            names = [vocabulary] if vocabulary else grid["all_vocabularies"]
            loaded = {name: _options(wanted["vocabularies"][name]) for name in names}
            sources = grid.get("mixture", [wanted["texts"][text]] if text else [])
            shown = (vocabulary, text, f"{size:,} {grid['unit']}" if size else "")
            yield {
                **grid,
                "name": ", ".join(filter(None, (grid["name"], *shown))),
                "vocabularies": loaded,
                "sources": [*sources, *(found["path"] for found in loaded.values())],
                "size": size,
            }


def _options(vocabulary: Definition) -> Definition:
    """Give the arguments that load a vocabulary."""
    file = texts.SHARED / "vocabularies" / vocabulary["file"]
    return {**vocabulary.get("options", {}), "path": str(file)}


def prepare(case: Definition, scratch: Path) -> None:
    """Write the mixture that is the chat of a case, once."""
    if "mixture" not in case:
        case["file"] = str(texts.corpus(case["sources"][0]))
        return
    path = scratch / f"{case['n_bytes']}.chat"
    if not path.exists():
        mixture.write(
            [texts.corpus(name) for name in case["mixture"]], case["n_bytes"], path
        )
    case["file"] = str(path)


def serving(job: Definition) -> Iterator[Sample]:
    """Do what the kind of a case says."""
    yield from KINDS[job["kind"]](job)


def _turns(job: Definition) -> Iterator[Sample]:
    """Append turns to a long chat, one by one; then encode the whole chat anew, which was encoded once before."""
    module, output = engine(job["engine"])
    text = Path(job["file"]).read_text(encoding="utf-8")
    stop = job["size"] + TURN_CHARACTERS * job["n_turns"]
    turns = [
        text[start : start + TURN_CHARACTERS]
        for start in range(job["size"], stop, TURN_CHARACTERS)
    ]
    session = module.session(*job["vocabularies"].values(), output)
    session.append(text[: job["size"]])
    costs, cost = timed(lambda: [_cost(session.append, turn) for turn in turns])
    session.encode(text[:stop])
    expected, anew = timed(session.encode, text[:stop])
    found = digest_of([session.ids().tobytes()])
    _check(
        found == digest_of([expected.tobytes()]), "the ids are not those of the text"
    )
    result = (TURN_CHARACTERS, len(expected), found)
    for phase, place in SHOWN.items():
        walls, cpus = map(sorted, zip(*costs, strict=True))
        at = int(place * len(costs))
        measured = cost._replace(wall_seconds=walls[at], cpu_seconds=cpus[at])
        yield Sample(phase, *measured, *result)
    yield Sample("anew", *anew, *result)


def _cost(call: Callable[[str], object], text: str) -> tuple[float, float]:
    """Give the wall time and the CPU time of one call, in seconds."""
    cpu, wall = time.process_time_ns(), time.perf_counter_ns()
    call(text)
    end = time.perf_counter_ns()
    return (end - wall) / 1e9, (time.process_time_ns() - cpu) / 1e9


def _call(job: Definition) -> Iterator[Sample]:
    """Call one function for texts, or ids, that were seen before: time per call."""
    from bytepair import serving

    [tokenizer] = map(_loaded, job["vocabularies"].values())
    found = texts.windows(Path(job["file"]), job["size"], job["n_windows"])
    rows = [tokenizer.encode(text) for text in found]
    arrays = [tokenizer.encode_to_numpy(text) for text in found]
    calls: dict[str, tuple[Callable[[Any], Any], list[Any], list[Any]]] = {
        "encode": (tokenizer.encode, found, rows),
        "encode_segments": (
            lambda text: list(serving.encode_segments(tokenizer, [(text, False)]).ids),
            found,
            rows,
        ),
        "encode_to_numpy": (lambda text: tokenizer.encode_to_numpy(text), found, []),
        "is_canonical": (
            lambda ids: serving.is_canonical(tokenizer, ids),
            arrays,
            [True] * len(arrays),
        ),
    }
    call, inputs, expected = calls[job["engine"].partition(" ")[2]]
    results = [call(one) for one in inputs]
    _check(not expected or results == expected, "it gives another result")
    cost = per_call(call, inputs)
    whole = digest_of(ids.tobytes() for ids in arrays)
    yield Sample("call", *cost, job["size"], sum(map(len, rows)), whole)


def _prompt(job: Definition) -> Iterator[Sample]:
    """Encode prompts that were seen before with a tokenizer of transformers, accelerated or as it is: time per call."""
    from transformers import PreTrainedTokenizerFast

    [options] = job["vocabularies"].values()
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=options["path"])
    if job["engine"] == "bytepair":
        from bytepair.compat.transformers import accelerate

        accelerate(tokenizer, fallback=False)
    found = texts.windows(Path(job["file"]), job["size"], job["n_windows"])
    whole = json.dumps(list(map(tokenizer.encode, found))).encode()
    cost = per_call(tokenizer.encode, found)
    yield Sample("call", *cost, job["size"], len(found), digest_of([whole]))


def _trie(job: Definition) -> Iterator[Sample]:
    """Make the byte trie of a vocabulary, and look tokens up in it."""
    from bytepair import serving

    [tokenizer] = map(_loaded, job["vocabularies"].values())
    serving.TokenBytes(tokenizer)  # imports are not timed

    def make() -> Any:  # noqa: ANN401
        made = serving.TokenBytes(tokenizer)
        return made, made.trie

    (table, trie), cost = timed(make)
    for id_ in range(0, len(table), 997):
        is_there = not table[id_] or id_ in table.with_prefix(table[id_])
        _check(is_there, f"the id {id_} is not found by its bytes")
    n_bytes = sum(array.nbytes for array in trie)
    found = digest_of(array.tobytes() for array in trie)
    yield Sample("trie", *cost, n_bytes, len(table), found)


def _stable(job: Definition) -> Iterator[Sample]:
    """Count the ids that no continuation of a text can change, in all vocabularies, and see that they stay."""
    from bytepair import serving

    found = texts.windows(Path(job["file"]), job["size"], job["n_windows"])
    for name, options in job["vocabularies"].items():
        tokenizer = _loaded(options)
        rows = [tokenizer.encode_to_numpy(text) for text in found]
        count = functools.partial(serving.stable_prefix, tokenizer)
        _, cost = timed(call_all, count, found)
        counts = list(map(count, found))
        for text, ids, n_stable in zip(found, rows, counts, strict=True):
            for ending in ENDINGS:
                longer = tokenizer.encode_to_numpy(text + ending)[:n_stable]
                _check(
                    longer.tolist() == ids[:n_stable].tolist(), f"{name}: {ending!r}"
                )
        n_bytes = sum(len(text.encode()) for text in found)
        whole = digest_of(ids.tobytes() for ids in rows)
        yield Sample(name, *cost, n_bytes, sum(counts), whole)
        yield Sample(f"{name}, all", *cost, n_bytes, sum(map(len, rows)), whole)


KINDS = {
    "call": _call,
    "prompt": _prompt,
    "stable": _stable,
    "trie": _trie,
    "turns": _turns,
}


def _loaded(options: Definition) -> Any:  # noqa: ANN401
    import bytepair

    return bytepair.Tokenizer.from_file(**options)


def _check(is_right: bool, problem: str) -> None:  # noqa: FBT001
    if not is_right:
        raise AssertionError(problem)


# Tables


def table(wanted: Definition, rows: list[Row]) -> tuple[list[str], list[list[str]]]:
    """Give the columns and rows of a table, by CPU time: a line for each phase of a case, with what was measured beside it."""
    bounds = {grid["name"]: grid["bounds"] for grid in wanted["grid"]}
    lines = []
    for case, found in itertools.groupby(rows, key=lambda row: row.case):
        phases: dict[str, list[Row]] = {}
        for row in found:
            phases.setdefault(row.phase, []).append(row)
        bound = bounds[case.partition(",")[0]]
        if "share" in bound:
            lines.append([case, *_shares(phases), bound["share"]])
            continue
        for phase in filter(
            phases.__contains__, ("median", "p99", "anew", "call", "trie")
        ):
            several = len(phases) > 1
            name = f"{case}: {phase}" if several else case
            lines.append([name, *_beside(phases[phase]), bound.get(phase, "")])
    return ["", "bytepair", "beside it", "times as long", "bound"], lines


def _beside(rows: list[Row]) -> list[str]:
    """Write what ours takes, what others take, and how many times as long that is."""
    ours, *others = rows
    size = f", {ours.n_bytes / 1e6:.1f} MB" if ours.phase == "trie" else ""
    names = (f"{row.engine} {_time(row.cpu.median)}" for row in others)
    ratios = (_short(row.cpu.median / ours.cpu.median) for row in others)
    return [_time(ours.cpu.median) + size, "; ".join(names), "; ".join(ratios)]


def _shares(phases: dict[str, list[Row]]) -> list[str]:
    """Write the least share of stable ids, and of which vocabulary it is."""
    n_of = {phase: rows[0].n_results for phase, rows in phases.items()}
    shares = {
        name: n_of[name] / n_of[f"{name}, all"]
        for name in n_of
        if f"{name}, all" in n_of
    }
    least = min(shares, key=lambda name: shares[name])
    return [
        f"{100 * shares[least]:.3f} %",
        f"{least}, least of {len(shares)} files",
        "",
    ]


def _time(seconds: float) -> str:
    if seconds >= 0.001:
        return f"{_short(seconds * 1e3)} ms"
    return f"{_short(seconds * 1e6)} µs"


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
