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
:meth:`Tokenizer.from_file` for an existing tokenizer.
"""

import typing as _typing
from importlib import import_module as _import_module

from . import errors
from ._added import AddedToken
from ._core import (
    DecodeStream,
    Encoding,
    dialect_names as dialects,
    encoding_names as encodings,
    pattern_names as patterns,
)
from ._io.token_files import TokenFile
from ._tokenizer import Tokenizer
from ._training.calls import train, train_from_counts, train_from_iterator
from ._training.merge_log import MergeLog, MergeStep as MergeStep, read_log
from ._training.parity import Parity
from ._training.progress import Progress
from .analyze._compare.converting import convert
from .analyze._compare.verifying import verify
from .errors import (
    EncodingError as EncodingError,
    FileError as FileError,
    FormatError as FormatError,
    MissingLibraryError as MissingLibraryError,
    PatternError as PatternError,
    SpecialTokenError as SpecialTokenError,
    TokenizerError,
    TrainingError as TrainingError,
    TrainingInterrupted,
    UnknownTokenError as UnknownTokenError,
)

__version__ = "0.2.0"

# The names that users need. The other errors, and `MergeStep`, can also be imported from here.
__all__ = [
    "AddedToken",
    "DecodeStream",
    "Encoding",
    "MergeLog",
    "Parity",
    "Progress",
    "TokenFile",
    "Tokenizer",
    "TokenizerError",
    "TrainingInterrupted",
    "convert",
    "dialects",
    "encodings",
    "errors",
    "patterns",
    "read_log",
    "train",
    "train_from_counts",
    "train_from_iterator",
    "verify",
]


_MODULES = (
    "analyze",
    "chat",
    "compat",
    "data",
    "reference",
    "scale",
    "segmentation",
    "serving",
    "surgery",
)
"""Modules that are imported when they are first used."""


def __dir__() -> list[str]:
    """Return the public names, without private modules."""
    return sorted([*__all__, *_MODULES, "__version__"])


if not _typing.TYPE_CHECKING:  # type checkers would accept every name

    def __getattr__(name):  # noqa: ANN001, ANN202 -- as above
        if name in _MODULES:
            return _import_module(f"{__name__}.{name}")
        from ._elsewhere import INSTEAD_IN_MODULE

        message = f"module {__name__!r} has no attribute {name!r}"
        if name in INSTEAD_IN_MODULE:
            message += f"; use {INSTEAD_IN_MODULE[name]}"
        raise AttributeError(message)


# Help, tracebacks and pickle name each class by the module from which users import it.
for _class in (MergeLog, MergeStep, Parity, Progress, TokenFile, Tokenizer):
    _class.__module__ = __name__
del _class
