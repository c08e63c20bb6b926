"""Counting and tokenizing corpora: whole jobs, and the pure functions that they are made of.

``contract`` holds the functions, which take Arrow and know no engine; ``local`` runs them in
processes. Another engine moves the same record batches through the same functions.
Needs ``pip install 'bytepair[data]'``.
"""

from bytepair.data.manifest import commit

from .contract import (
    CountSpec,
    ShardSpec,
    count_batches,
    encode_batch,
    merge_counts,
    write_shards,
)
from .counting import count, merge_files
from .tokenizing import TokenizeProgress, tokenize

__all__ = [
    "CountSpec",
    "ShardSpec",
    "TokenizeProgress",
    "commit",
    "count",
    "count_batches",
    "encode_batch",
    "merge_counts",
    "merge_files",
    "tokenize",
    "write_shards",
]
