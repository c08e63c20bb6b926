"""For programs that serve and fine-tune models: growing text, segments, sampled ids, and bytes of tokens.

Every answer is exact: it is proven for the text at hand, or refused with the reason.
"""

from bytepair._core import (
    Patch,
    SegmentEncoding,
    Session,
    encode_segments,
    encode_segments_batch,
)

from ._growing import stable_prefix

__all__ = [
    "Patch",
    "SegmentEncoding",
    "Session",
    "encode_segments",
    "encode_segments_batch",
    "stable_prefix",
]
