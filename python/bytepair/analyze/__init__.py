"""Numbers and rows about tokenizers and texts: pure functions, which print and draw nothing.

``bytepair.views`` draws what they give, and the commands print it.
"""

from ._compare import Comparison, compare
from ._portrait import Portrait, portrait
from ._report import Report, describe

__all__ = ["Comparison", "Portrait", "Report", "compare", "describe", "portrait"]
