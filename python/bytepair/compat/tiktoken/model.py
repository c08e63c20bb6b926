"""Which encoding a model has: tiktoken's tables, as of its version 0.14.

A name is looked up as it is; else the first beginning in the table that fits decides. So
``gpt-4o-mini`` is known and ``o1mini`` is not.
"""

import difflib

from bytepair._io.files import StrPath
from bytepair.errors import UnknownTokenError

from .core import Encoding
from .registry import get_encoding

__all__ = [
    "MODEL_PREFIX_TO_ENCODING",
    "MODEL_TO_ENCODING",
    "encoding_for_model",
    "encoding_name_for_model",
]

PREFIXES_OF = {
    "o200k_base": """
        o1- o3- o4-mini- gpt-5 gpt-4.5- gpt-4.1- chatgpt-4o- gpt-4o- ft:gpt-4o
    """,
    "cl100k_base": """
        gpt-4- gpt-3.5-turbo- gpt-35-turbo- ft:gpt-4 ft:gpt-3.5-turbo ft:davinci-002
        ft:babbage-002
    """,
    "o200k_harmony": "gpt-oss-",
}
NAMES_OF = {
    "o200k_base": "o1 o3 o4-mini gpt-5 gpt-4.1 gpt-4o",
    "cl100k_base": """
        gpt-4 gpt-3.5-turbo gpt-3.5 gpt-35-turbo davinci-002 babbage-002
        text-embedding-ada-002 text-embedding-3-small text-embedding-3-large
    """,
    "p50k_base": """
        text-davinci-003 text-davinci-002 code-davinci-002 code-davinci-001
        code-cushman-002 code-cushman-001 davinci-codex cushman-codex
    """,
    "p50k_edit": "text-davinci-edit-001 code-davinci-edit-001",
    "r50k_base": """
        text-davinci-001 text-curie-001 text-babbage-001 text-ada-001
        davinci curie babbage ada
        text-similarity-davinci-001 text-similarity-curie-001
        text-similarity-babbage-001 text-similarity-ada-001
        text-search-davinci-doc-001 text-search-curie-doc-001
        text-search-babbage-doc-001 text-search-ada-doc-001
        code-search-babbage-code-001 code-search-ada-code-001
    """,
    "gpt2": "gpt2 gpt-2",
}


def _by_name(names_of: dict[str, str]) -> dict[str, str]:
    return {
        name: encoding for encoding, names in names_of.items() for name in names.split()
    }


MODEL_PREFIX_TO_ENCODING = _by_name(PREFIXES_OF)
"""Encodings by the beginnings of models' names. ``ft:gpt-4o`` goes before ``ft:gpt-4``."""

MODEL_TO_ENCODING = _by_name(NAMES_OF)
"""Encodings by models' names."""


def encoding_name_for_model(model_name: str) -> str:
    """Name the encoding of a model; a ``KeyError`` if it is not known.

    >>> encoding_name_for_model("gpt-4o-mini"), encoding_name_for_model("gpt-4-turbo")
    ('o200k_base', 'cl100k_base')
    """
    if model_name in MODEL_TO_ENCODING:
        return MODEL_TO_ENCODING[model_name]
    for beginning, encoding_name in MODEL_PREFIX_TO_ENCODING.items():
        if model_name.startswith(beginning):
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
