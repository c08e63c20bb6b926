"""Counting and tokenizing corpora: whole jobs, and the pure functions that they are made of.

``contract`` holds the functions, which take Arrow and know no engine; ``local`` runs them in
processes. Another engine moves the same record batches through the same functions.
Needs ``pip install 'bytepair[data]'``.
"""

from bytepair.data._work import commit

from ._counting import count, merge_files
from ._tokenizing import TokenizeProgress, tokenize
from .contract import (
    CountSpec,
    ShardSpec,
    count_batches,
    encode_batch,
    merge_counts,
    write_shards,
)

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
