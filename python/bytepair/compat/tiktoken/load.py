r"""Files of ranks, from disk and from tiktoken's cache, and back to disk.

The cache is the folder that ``TIKTOKEN_CACHE_DIR`` or ``DATA_GYM_CACHE_DIR`` names, else
``data-gym-cache`` in the folder for temporary files; a file there is named by the SHA-1 of
its address. It is read and never written. Nothing is downloaded: an address that is not in
the cache is an error that says where to put the file.
"""

import base64
import hashlib
from collections.abc import Mapping
from pathlib import Path

from bytepair._io.published import cache_name, cache_path
from bytepair.errors import FileError, FormatError

__all__ = [
    "check_hash",
    "dump_tiktoken_bpe",
    "load_tiktoken_bpe",
    "read_file",
    "read_file_cached",
]

EMPTY_TOKEN = b"="
"""How a token of no bytes is written: what base64 gives for it would be nothing."""


def read_file(blobpath: str) -> bytes:
    """Read a file.

    Raises
    ------
    ValueError
        It cannot be read, or it is an address: nothing is downloaded.
    """
    if "://" in blobpath:
        message = (
            f"{blobpath}: nothing is downloaded; fetch it, and put it into the folder "
            f"that TIKTOKEN_CACHE_DIR names, as {cache_name(blobpath)}"
        )
        raise FileError(message)
    try:
        return Path(blobpath).read_bytes()
    except OSError as error:
        message = f"{blobpath}: {error.strerror or error}"
        raise FileError(message) from error


def check_hash(data: bytes, expected_hash: str) -> bool:
    """Whether the SHA-256 of data is the one expected."""
    return hashlib.sha256(data).hexdigest() == expected_hash


def read_file_cached(blobpath: str, expected_hash: str | None = None) -> bytes:
    """Read a file, or what the cache has for an address. A path is never looked up there.

    Raises
    ------
    ValueError
        It is not there, or does not have the hash.
    """
    cached = cache_path(blobpath) if "://" in blobpath else None
    is_cached = cached is not None and cached.is_file()
    path = str(cached) if is_cached else blobpath
    data = read_file(path)
    if expected_hash is not None and not check_hash(data, expected_hash):
        message = (
            f"{path}: its SHA-256 is not {expected_hash}, so it is not {blobpath} or "
            "was damaged; remove it and fetch it again"
        )
        raise FormatError(message)
    return data


def load_tiktoken_bpe(
    tiktoken_bpe_file: str, expected_hash: str | None = None
) -> dict[bytes, int]:
    """Read ranks by token from a ``.tiktoken`` file.

    Raises
    ------
    ValueError
        It is not there, does not have the hash, or a line is not a token and its rank.
    """
    ranks = {}
    for line in read_file_cached(tiktoken_bpe_file, expected_hash).splitlines():
        if not line:
            continue
        try:
            token, rank = line.split()
            ranks[base64.b64decode(token)] = int(rank)
        except ValueError as error:
            message = (
                f"{tiktoken_bpe_file}: {line!r} is not a token in base64 and its rank"
            )
            raise FormatError(message) from error
    return ranks


def dump_tiktoken_bpe(bpe_ranks: Mapping[bytes, int], tiktoken_bpe_file: str) -> None:
    """Write ranks by token to a ``.tiktoken`` file, in the order of the ranks."""
    Path(tiktoken_bpe_file).write_bytes(ranks_file(bpe_ranks))


def ranks_file(ranks: Mapping[bytes, int]) -> bytes:
    """Return the content of a ``.tiktoken`` file."""
    in_order = sorted(ranks.items(), key=lambda item: item[1])
    return b"".join(
        b"%s %d\n" % (base64.b64encode(token) or EMPTY_TOKEN, rank)
        for token, rank in in_order
    )
