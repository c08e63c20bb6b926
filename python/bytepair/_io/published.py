"""Find published tokenizers by name in the caches of this machine: ``cl100k_base``, ``gpt-4o``, ``Qwen/Qwen3-8B``.

A name is that of an encoding of tiktoken, of a model with such an encoding (tiktoken's tables, as of its
version 0.14), or of a model on the Hugging Face Hub. Nothing is downloaded (``hub`` does that).
"""

import difflib
import hashlib
import os
import re
import tempfile
from pathlib import Path
from typing import NamedTuple

from . import hub
from .files import StrPath

FOLDER = "BYTEPAIR_ENCODINGS"
"""The variable that names the folder of ``.tiktoken`` files."""
STORE = "https://openaipublic.blob.core.windows.net/encodings"
RANKS = {
    "gpt2": "r50k_base",
    "r50k_base": "r50k_base",
    "p50k_base": "p50k_base",
    "p50k_edit": "p50k_base",
    "cl100k_base": "cl100k_base",
    "o200k_base": "o200k_base",
    "o200k_harmony": "o200k_base",
}
"""The published encodings, and the names of their files of ranks."""
CACHE_VARIABLES = ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")
HUB_NAME = re.compile(
    r"(?!.*\.(json|txt|gz|model|tiktoken|bytepair|gguf)$)\w[\w.-]*/\w[\w.-]*"
)
"""The name of an organization and of its model, unless it looks like the path of a file."""
EXAMPLES = "gpt-4o, cl100k_base or openai/gpt-oss-20b"

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


class Published(NamedTuple):
    """The file or folder of a published tokenizer, and the encoding if its file has several."""

    path: Path
    encoding: str | None = None


def find(name: str) -> Published | None:
    """Return where this machine has a published tokenizer; ``None`` if no cache has it."""
    encoding = _encoding_of(name)
    if encoding is not None:
        paths = paths_of(encoding, os.environ.get(FOLDER), with_cache=True)
        path = next((path for path in paths if path.is_file()), None)
        if path is not None:
            return Published(path, "r50k_base" if encoding == "gpt2" else encoding)
    if not HUB_NAME.fullmatch(name):
        return None
    folder = hub.snapshot(hub.cache_folder(), name, "main")
    return None if folder is None else Published(folder)


def how_to_get(name: str) -> str:
    """Return what to do if no file has this name and :func:`find` finds nothing; ``""`` if it is a path."""
    encoding = _encoding_of(name)
    if encoding is not None:
        address = address_of(encoding)
        file = address.rpartition("/")[2]
        return (
            f"it is the name of a published {'encoding' if name == encoding else 'model'}: "
            f"fetch {address}, and name that file, or set {FOLDER} to the folder with {file}"
        )
    if HUB_NAME.fullmatch(name):
        return (
            f"if it is a model on the Hugging Face Hub, the cache {hub.cache_folder()} does not have it: "
            f"to fetch it, pip install 'bytepair[hub]'; in Python, call Tokenizer.from_hub({name!r})"
        )
    if "/" in name or Path(name).suffix[1:2].isalpha():  # unlike llama3.1
        return ""
    encoding = encoding_of_model(name)
    if encoding is not None and not any(map(str.isspace, name)):
        return (
            f"models of OpenAI with such names have the encoding {encoding}; name that"
        )
    close = difflib.get_close_matches(name.lower(), {**RANKS, **MODEL_TO_ENCODING}, n=3)
    if close:
        return f"did you mean {' or '.join(close)}?"
    return f"published tokenizers have names such as {EXAMPLES}"


def _encoding_of(name: str) -> str | None:
    """Return the encoding that a name means, if it is exactly that of an encoding or a model with a digit.

    A name that only begins like that of a model, such as ``gpt-4o-own``, may be the path of another
    tokenizer, and a word such as ``ada``, once a model, may be a text.
    """
    if name in RANKS:
        return name
    return None if name.isalpha() else MODEL_TO_ENCODING.get(name)


def encoding_of_model(name: str) -> str | None:
    """Return the encoding of a model of OpenAI; ``None`` if the name is not known.

    >>> encoding_of_model("gpt-4o-mini"), encoding_of_model("gpt-4-turbo")
    ('o200k_base', 'cl100k_base')
    """
    if name in MODEL_TO_ENCODING:
        return MODEL_TO_ENCODING[name]
    prefixes = MODEL_PREFIX_TO_ENCODING.items()
    return next((e for prefix, e in prefixes if name.startswith(prefix)), None)


def paths_of(
    encoding: str, folder: StrPath | None, *, with_cache: bool = False
) -> list[Path]:
    """List where a folder, and tiktoken's cache, may have the file of an encoding."""
    names = dict.fromkeys([encoding, RANKS.get(encoding, encoding)])
    paths = [Path(folder, f"{name}.tiktoken") for name in names] if folder else []
    cached = cache_path(address_of(encoding)) if with_cache else None
    return [*paths, *([cached] if cached else [])]


def address_of(encoding: str) -> str:
    """Return the address of the file of an encoding."""
    return f"{STORE}/{RANKS[encoding]}.tiktoken"


def cache_path(address: str) -> Path | None:
    """Return where tiktoken's cache has an address; ``None`` if caching is turned off."""
    named = (os.environ[name] for name in CACHE_VARIABLES if name in os.environ)
    folder = next(named, None)
    if folder is None:
        folder = os.path.join(tempfile.gettempdir(), "data-gym-cache")  # noqa: PTH118
    return Path(folder, cache_name(address)) if folder else None


def cache_name(address: str) -> str:
    """Return the name of an address in tiktoken's cache."""
    return hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest()
