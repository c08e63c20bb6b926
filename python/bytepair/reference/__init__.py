"""Byte-pair encoding in plain Python: short enough to read in one sitting.

The fast core must agree with this code. It is for reading, not for use: it is slow, and
it imports nothing but the standard library and ``regex``. If byte-pair encoding is new to
you, begin with ``tiny``, one short file over plain integers. Then read in this order:

1. ``units``      what a token is, and which symbols a piece starts from
2. ``count``      pieces and how often they occur
3. ``train``      learn merges: the whole idea of byte-pair encoding
4. ``encode``     apply merges to new text
5. ``decode``     tokens back to bytes
6. ``split``      cut a text into pieces
7. ``unicode``    what the character classes in a pattern mean
8. ``normalize``  changes to a text before splitting
9. ``dialects``   each kind of tokenizer as a choice of these parts
10. ``tokenizer`` all parts together

>>> tokenizer = train_from_iterator(["aaabdaaabac"], dialect="byte-stream", merges=3)
>>> tokenizer.merges
[(b'a', b'a'), (b'aa', b'a'), (b'aaa', b'b')]
>>> tokenizer.encode("aaab")
[258]
>>> tokenizer.decode([258, 100])
'aaabd'
"""

try:
    import regex  # noqa: F401 -- imported by modules of this package
except ModuleNotFoundError as error:
    from bytepair.errors import MissingLibraryError

    message = "the reference needs regex: pip install 'bytepair[reference]'"
    raise MissingLibraryError(message) from error

from .dialects import DIALECTS, Dialect
from .tokenizer import (
    Tokenizer,
    UnknownTokenError,
    train_from_counts,
    train_from_iterator,
)
from .train import Limits, Merge
from .units import Token, Units

__all__ = [
    "DIALECTS",
    "Dialect",
    "Limits",
    "Merge",
    "Token",
    "Tokenizer",
    "Units",
    "UnknownTokenError",
    "train_from_counts",
    "train_from_iterator",
]
