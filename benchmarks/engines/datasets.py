"""Hugging Face datasets, mapped by its tokenizers: what most programs do with a corpus.

Batches of 1,000 documents were its fastest. Each process encodes on one thread.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import datasets
import tokenizers

from . import Case


def load(folder: Path, case: Case) -> tokenizers.Tokenizer:
    """Load a ``tokenizer.json``."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    datasets.disable_progress_bars()
    return tokenizers.Tokenizer.from_file(str(folder / "vocabulary.json"))


def corpus(
    tokenizer: tokenizers.Tokenizer, path: Path, folder: Path, n_processes: int
) -> Callable[[], datasets.Dataset]:
    """Encode to lists of 32-bit ids in Arrow files; reading the lines is done before."""
    found = datasets.load_dataset(
        "json", data_files=str(path), split="train", cache_dir=str(folder)
    )
    features = datasets.Features({"ids": datasets.Sequence(datasets.Value("int32"))})

    def encode(batch: dict[str, Any]) -> dict[str, Any]:
        encoded = tokenizer.encode_batch_fast(batch["text"], add_special_tokens=False)
        return {"ids": [encoding.ids for encoding in encoded]}

    return lambda: found.map(
        encode,
        batched=True,
        batch_size=1000,
        num_proc=n_processes if n_processes > 1 else None,
        remove_columns=found.column_names,
        features=features,
        load_from_cache_file=False,
        cache_file_name=str(folder / "ids.arrow"),
    )


def ids_of(result: datasets.Dataset) -> Iterator[Any]:
    """Give the ids of all documents, in order, as arrays."""
    for chunk in result.data.column("ids").chunks:
        yield chunk.flatten().to_numpy()
