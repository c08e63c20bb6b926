"""The project itself. It reads files on its own; there is one feed."""

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bytepair

from . import Case, Work

PARTS = ("pattern", "byte_ids", "unmatched", "min_count", "ties", "dialect")
METHODS = ("superwords", "whole_words", "max_words", "forbid", "min_sources", "parity")
OPTIONS = (*PARTS, *METHODS, "separator", "memory_limit")


def trainer(case: Case, path: Path, n_threads: int) -> Callable[[], bytepair.Tokenizer]:
    """Train with the parts of the dialect that the case names."""
    options = {name: case[name] for name in OPTIONS if name in case}
    texts = case.get("groups", path)
    return lambda: bytepair.train(
        texts, merges=case["merges"], threads=n_threads, **options
    )


def counts_trainer(
    case: Case, counts: dict[bytes, int]
) -> Callable[[], bytepair.Tokenizer]:
    """Train on pieces that were counted already."""
    options = {name: case[name] for name in PARTS if name in case}
    return lambda: bytepair.train_from_counts(counts, merges=case["merges"], **options)


def extender(case: Case, target: Path) -> Callable[[], Any]:
    """Extend, and write the file."""
    from bytepair import surgery

    def work() -> Any:  # noqa: ANN401
        options = {"add": case["add"], "threads": case["n_threads"]}
        found = surgery.extend(case["base_file"], case["file"], **options)
        found.tokenizer.save(target)
        return found

    return work


def pruner(case: Case, target: Path) -> Callable[[], Any]:
    """Prune with compact ids, as the peer has them, and write the file."""
    from bytepair import surgery

    def work() -> Any:  # noqa: ANN401
        options = {"to": case["to"], "threads": case["n_threads"]}
        found = surgery.prune(
            case["base_file"], case["file"], numbering="compact", **options
        )
        found.tokenizer.save(target)
        return found

    return work


def prover(found: Any, target: Path) -> Callable[[], Any]:  # noqa: ANN401
    """Write the file again, and prove it."""
    return lambda: found.save(target)


def learned(tokenizer: bytepair.Tokenizer) -> list[tuple[bytes, bytes]]:
    """List the merges."""
    return tokenizer.merges


def load(folder: Path, case: Case) -> bytepair.Tokenizer:
    """Load a ``tokenizer.json``."""
    tokenizer = bytepair.Tokenizer.from_file(folder / "vocabulary.json")
    tokenizer.encode_to_numpy("")  # numpy is imported at the first call
    return tokenizer


def add(tokenizer: bytepair.Tokenizer, contents: list[str]) -> bytepair.Tokenizer:
    """Make a tokenizer with more special tokens."""
    return tokenizer.with_special_tokens(contents)


def with_added(tokenizer: bytepair.Tokenizer, text: str) -> Any:  # noqa: ANN401
    """Encode a text in which special tokens count, to an array."""
    return tokenizer.encode_to_numpy(text, allowed_special="all")


def in_shape(path: Path, case: Case) -> Any:  # noqa: ANN401 -- as of any library
    """Load it with transformers, accelerate it, and add the tokens of the case."""
    from transformers import PreTrainedTokenizerFast

    from bytepair.compat.transformers import accelerate

    tokenizer = accelerate(PreTrainedTokenizerFast(tokenizer_file=str(path)))
    tokenizer.add_tokens(case.get("added", []))
    return tokenizer


def batch(
    tokenizer: bytepair.Tokenizer, output: str, n_threads: int
) -> Callable[[list[str]], Any]:
    """Encode to lists, or to one array for all texts, with special tokens, as the peers do."""
    calls = {"list": tokenizer.encode_batch, "numpy": tokenizer.encode_batch_to_numpy}
    return functools.partial(calls[output], threads=n_threads, allowed_special="all")


def serve(name: str, options: dict[str, Any], texts: list[str]) -> Work:
    """Load a tokenizer, and prepare one of the calls of programs that serve models."""
    from benchmarks.serving import CALLS

    if name == "prompt":
        return Work(in_shape(Path(options["path"]), {}).encode, texts)
    return CALLS[name](bytepair.Tokenizer.from_file(**options), texts)


def one(
    tokenizer: bytepair.Tokenizer, output: str, n_threads: int
) -> Callable[[str], Any]:
    """Encode a text to a list or an array, on one thread by default."""
    calls = {"list": tokenizer.encode, "numpy": tokenizer.encode_to_numpy}
    if n_threads == 1:
        return calls[output]
    return functools.partial(calls[output], threads=n_threads)


def file(
    tokenizer: bytepair.Tokenizer, path: Path, target: Path, n_threads: int
) -> int:
    """Write the ids of a file to another."""
    return tokenizer.encode_file(path, target, threads=n_threads).n_tokens


def corpus(
    tokenizer: bytepair.Tokenizer, path: Path, folder: Path, n_processes: int
) -> Callable[[], Path]:
    """Write shards for Megatron, with one thread in each process."""
    import pyarrow as pa

    from bytepair import scale

    pa.array([""])  # imported before it is timed

    def work() -> Path:
        out = folder / "shards"
        scale.tokenize(
            tokenizer,
            path,
            out,
            format="megatron",
            processes=n_processes,
            threads=1,
            task_bytes=32 << 20,
        )
        return out

    return work


def ids_of(folder: Path) -> Iterator[Any]:
    """Give the ids of all documents, in order, as arrays."""
    from bytepair.data import TokenDataset

    return iter(TokenDataset(folder))
