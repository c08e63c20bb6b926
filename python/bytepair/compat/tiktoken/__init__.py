"""The shape of tiktoken: change ``import tiktoken`` and go on.

- ``Encoding``, ``get_encoding``, ``encoding_for_model``, ``encoding_name_for_model`` and
  ``list_encoding_names`` are here, as they are in tiktoken.
- ``core``, ``load``, ``model`` and ``registry`` are modules with the names that programs
  import from there.

Ids, defaults and errors are tiktoken's: a special token in a text is an error unless it is
allowed, or nothing is disallowed. Errors are bytepair's classes, which are ``ValueError``
and, where tiktoken raises one, ``KeyError``. Lone surrogates become U+FFFD, as there.

Nothing is downloaded. Published encodings are found in a folder of ``.tiktoken`` files and
in tiktoken's own cache; see ``get_encoding``.
"""

from bytepair import __version__

from .core import Encoding
from .model import encoding_for_model, encoding_name_for_model
from .registry import get_encoding, list_encoding_names

__all__ = [
    "Encoding",
    "__version__",
    "encoding_for_model",
    "encoding_name_for_model",
    "get_encoding",
    "list_encoding_names",
]
