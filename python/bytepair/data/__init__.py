"""Corpora and what is made of them: files to documents, files of counts, shards of tokens.

Counts, shards, Parquet and addresses need ``pip install 'bytepair[data]'``; reading text, JSON
lines and CSV does not. Counting and tokenizing themselves are in :mod:`bytepair.scale`. How it works and what is exact about it is in
`docs/explanation/corpora.md`.
"""

from ._checking import check_dataset
from ._counts import Counts, CountsInfo, is_counts, read_counts
from ._dataset import TokenDataset
from ._manifest import read_manifest
from ._readers import Part, ReadOptions, Tally, read, read_part
from ._recognise import Source
from ._sources import list_sources

__all__ = [
    "Counts",
    "CountsInfo",
    "Part",
    "ReadOptions",
    "Source",
    "Tally",
    "TokenDataset",
    "check_dataset",
    "is_counts",
    "list_sources",
    "read",
    "read_counts",
    "read_manifest",
    "read_part",
]
