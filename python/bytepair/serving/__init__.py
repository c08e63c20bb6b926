"""For programs that serve and fine-tune models: growing text, segments, sampled ids, and bytes of tokens.

Every answer is exact: it is proven for the text at hand, or refused with the reason.
"""

from bytepair._core import (
    SegmentEncoding,
    Session,
    canonicalize,
    encode_by,
    encode_segments,
    encode_segments_batch,
    first_noncanonical,
    is_canonical,
    splice,
    stable_prefix,
)
from bytepair._patch import Patch

from ._grammars import GrammarVocabulary, grammar_vocabulary
from ._ids import Comparison, align, compare
from ._samples import sample_text
from ._tokens import KINDS, ByteTrie, Healed, TokenBytes, heal

__all__ = [
    "KINDS",
    "ByteTrie",
    "Comparison",
    "GrammarVocabulary",
    "Healed",
    "Patch",
    "SegmentEncoding",
    "Session",
    "TokenBytes",
    "align",
    "canonicalize",
    "compare",
    "encode_by",
    "encode_segments",
    "encode_segments_batch",
    "first_noncanonical",
    "grammar_vocabulary",
    "heal",
    "is_canonical",
    "sample_text",
    "splice",
    "stable_prefix",
]
