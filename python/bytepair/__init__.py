"""bytepair: train, use, inspect, repair and ship byte-pair-encoding tokenizers.

>>> import bytepair
>>> texts = ["the cat sat on the mat, and the bat sat on the hat"]
>>> tokenizer = bytepair.train_from_iterator(texts, vocab_size=270)
>>> tokenizer.tokenize("on the hat")
['on', ' the', ' ', 'h', 'at']
>>> ids = tokenizer.encode("on the hat")
>>> tokenizer.decode(ids)
'on the hat'

Start with :func:`train` for files, :func:`train_from_iterator` for texts, and
:meth:`Tokenizer.from_file` for a tokenizer that is there already.
"""

from ._added import AddedToken
from ._convert import convert
from ._core import DecodeStream, Encoding, TokenCounter
from ._core import dialect_names as dialects
from ._core import encoding_names as encodings
from ._core import pattern_names as patterns
from ._merge_log import MergeLog, MergeStep, read_log
from ._progress import Progress
from ._token_files import TokenFile
from ._tokenizer import Tokenizer
from ._training import train, train_from_counts, train_from_iterator
from ._verify import verify
from .errors import (
    EncodingError,
    FileError,
    FormatError,
    MissingLibraryError,
    PatternError,
    SpecialTokenError,
    TokenizerError,
    TrainingError,
    TrainingInterrupted,
    UnknownTokenError,
)

__version__ = "0.1.0"

__all__ = [
    "AddedToken",
    "DecodeStream",
    "Encoding",
    "EncodingError",
    "FileError",
    "FormatError",
    "MergeLog",
    "MergeStep",
    "MissingLibraryError",
    "PatternError",
    "Progress",
    "SpecialTokenError",
    "TokenCounter",
    "TokenFile",
    "Tokenizer",
    "TokenizerError",
    "TrainingError",
    "TrainingInterrupted",
    "UnknownTokenError",
    "convert",
    "dialects",
    "encodings",
    "patterns",
    "read_log",
    "train",
    "train_from_counts",
    "train_from_iterator",
    "verify",
]


def __dir__() -> list[str]:
    """List what users call, without the modules that it comes from."""
    return sorted([*__all__, "__version__"])


# Classes are known by where users find them: in help, in tracebacks, and to pickle.
for _class in (MergeLog, MergeStep, Progress, TokenFile, Tokenizer):
    _class.__module__ = __name__
del _class
