"""Which encoding a model has: tiktoken's tables, as of its version 0.14.

A name is looked up as it is; else the first beginning in the table that fits decides. So
``gpt-4o-mini`` is known and ``o1mini`` is not.
"""

import difflib

from bytepair._io.files import StrPath
from bytepair._io.published import (
    MODEL_PREFIX_TO_ENCODING,
    MODEL_TO_ENCODING,
    encoding_of_model,
)
from bytepair.errors import UnknownTokenError

from .core import Encoding
from .registry import get_encoding

__all__ = [
    "MODEL_PREFIX_TO_ENCODING",
    "MODEL_TO_ENCODING",
    "encoding_for_model",
    "encoding_name_for_model",
]


def encoding_name_for_model(model_name: str) -> str:
    """Name the encoding of a model; a ``KeyError`` if it is not known.

    >>> encoding_name_for_model("gpt-4o-mini"), encoding_name_for_model("gpt-4-turbo")
    ('o200k_base', 'cl100k_base')
    """
    encoding_name = encoding_of_model(model_name)
    if encoding_name is not None:
        return encoding_name
    close = difflib.get_close_matches(model_name, MODEL_TO_ENCODING, n=3)
    hint = f" (is it {' or '.join(map(repr, close))}?)" if close else ""
    message = (
        f"no encoding is known for the model {model_name!r}{hint}; name the encoding "
        "with get_encoding"
    )
    raise UnknownTokenError(message)


def encoding_for_model(model_name: str, *, folder: StrPath | None = None) -> Encoding:
    """Load the encoding of a model, as ``get_encoding`` does.

    Raises
    ------
    KeyError
        The model is not known.
    ValueError
        The file of its encoding is not found.
    """
    return get_encoding(encoding_name_for_model(model_name), folder=folder)
