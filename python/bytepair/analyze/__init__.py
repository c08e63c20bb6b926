"""Numbers and rows about tokenizers and texts: pure functions, which print and draw nothing.

``bytepair.views`` draws what they give, and the commands print it.
"""

from ._compare import Comparison, compare

__all__ = ["Comparison", "compare"]
