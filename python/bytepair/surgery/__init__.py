"""Changes to the vocabulary of a tokenizer, with every kept id in its place.

Each function takes a tokenizer or its path. Most return a :class:`Surgery`: the new tokenizer, the new id of each
old one, a report of what was done and why, and the rows of the new embedding matrix.
"""

from bytepair._core import Token
from bytepair.analyze._compare.extension import ExtensionCheck, verify_extension
from bytepair.analyze._compare.faults import Case, Fault

from ._add import Addition, AdditionReport, add_strings, merge_vocabularies
from ._embeddings import EmbeddingMap
from ._extend import ExtensionReport, extend
from ._proof import Proof
from ._prune import PruningReport, prune
from ._remove import (
    Cascade,
    Following,
    RemovalReport,
    Rerouted,
    remove,
)
from ._shorten import shorten
from ._surgery import Surgery

__all__ = [
    "Addition",
    "AdditionReport",
    "Cascade",
    "Case",
    "EmbeddingMap",
    "ExtensionCheck",
    "ExtensionReport",
    "Fault",
    "Following",
    "Proof",
    "PruningReport",
    "RemovalReport",
    "Rerouted",
    "Surgery",
    "Token",
    "add_strings",
    "extend",
    "merge_vocabularies",
    "prune",
    "remove",
    "shorten",
    "verify_extension",
]
