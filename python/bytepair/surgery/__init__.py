"""Changes to the vocabulary of a tokenizer, with every kept id in its place.

Each function takes a tokenizer or its path. Most return a :class:`Surgery`: the new tokenizer, the new id of each
old one, a report of what was done and why, and the rows of the new embedding matrix.
"""

from ._combine import MergingReport, OtherToken, merge_vocabularies
from ._embeddings import EmbeddingMap
from ._extend import extend
from ._extends import ExtensionCheck, Fault, verify_extension
from ._extension import ExtensionReport
from ._proof import Proof
from ._prune import PruningReport, prune
from ._remove import (
    Cascade,
    Following,
    RemovalReport,
    Rerouted,
    plan_removal,
    remove,
)
from ._shorten import shorten
from ._strings import StringRow, StringsReport
from ._surgery import Surgery
from ._tokens import Token

__all__ = [
    "Cascade",
    "EmbeddingMap",
    "ExtensionCheck",
    "ExtensionReport",
    "Fault",
    "Following",
    "MergingReport",
    "OtherToken",
    "Proof",
    "PruningReport",
    "RemovalReport",
    "Rerouted",
    "StringRow",
    "StringsReport",
    "Surgery",
    "Token",
    "extend",
    "merge_vocabularies",
    "plan_removal",
    "prune",
    "remove",
    "shorten",
    "verify_extension",
]
