"""Encode a text file to a file of ids, and choose the width of its numbers.

The core reads, encodes and writes. Left out: reading a file of ids, which NumPy does.
"""

import os
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Literal, NamedTuple

from bytepair import _core
from bytepair.errors import TokenizerError

from .files import StrPath, refuse_no_name, writing_elsewhere
from .overwriting import refuse_overwriting

MAX_UINT16_VOCAB = 1 << 16
"""The largest vocabulary whose ids fit 16 bits."""


class TokenFile(NamedTuple):
    """The size and the type of a file of ids.

    >>> TokenFile(n_tokens=5, n_bytes=9, dtype="uint16").n_tokens
    5
    """

    n_tokens: int
    """The number of ids."""
    n_bytes: int
    """The number of bytes of text."""
    dtype: str
    """The type of the numbers, by its NumPy name; they are little-endian."""


def encode_file(
    tokenizer: _core.Tokenizer,
    path: StrPath,
    output: StrPath,
    *,
    allowed_special: Literal["all"] | Collection[str] = (),
    disallowed_special: Literal["all"] | Collection[str] = (),
    added_tokens: Literal["find", "text"] = "find",
    threads: int | None = None,
    dtype: str | None = None,
    progress: Callable[[int], object] | None = None,
) -> TokenFile:
    """Encode a file to a file of ids; see :meth:`bytepair.Tokenizer.encode_file`."""
    refuse_no_name(path)
    refuse_no_name(output)
    if dtype is None:
        dtype = "uint16" if tokenizer.n_vocab <= MAX_UINT16_VOCAB else "uint32"
    if dtype not in {"uint16", "uint32"}:
        message = f"dtype must be 'uint16' or 'uint32', not {dtype!r}"
        raise TokenizerError(message)
    refuse_overwriting([path], [output])
    with writing_elsewhere(output) as target:
        n_tokens, n_bytes = _core.encode_file(
            tokenizer,
            (os.fspath(path), os.fspath(target), _shown(output)),
            is_wide=dtype == "uint32",
            has_header=Path(output).suffix == ".npy",
            allowed_special=allowed_special,
            disallowed_special=disallowed_special,
            added_tokens=added_tokens,
            threads=threads,
            progress=progress,
        )
    return TokenFile(n_tokens, n_bytes, dtype)


def _shown(path: StrPath) -> str:
    """Return a path as text for messages; its bytes may not be UTF-8."""
    return os.fspath(path).encode(errors="backslashreplace").decode()
