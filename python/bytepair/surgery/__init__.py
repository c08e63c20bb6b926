"""Changes to the vocabulary of a tokenizer, with every kept id in its place.

Each function takes a tokenizer and gives a :class:`Surgery`: the new tokenizer, where each old id
went, what was done and why, and how the rows of an embedding matrix follow.
"""

from ._embeddings import EmbeddingMap
from ._extend import extend
from ._extension import ExtensionReport
from ._proof import Proof
from ._surgery import Surgery

__all__ = ["EmbeddingMap", "ExtensionReport", "Proof", "Surgery", "extend"]
