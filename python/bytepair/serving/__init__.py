"""For programs that serve and fine-tune models: growing text, segments, sampled ids, and bytes of tokens.

Every answer is exact: it is proven for the text at hand, or refused with the reason.
"""

from bytepair._core import Patch, Session, encode_by

from ._growing import stable_prefix

__all__ = ["Patch", "Session", "encode_by", "stable_prefix"]
