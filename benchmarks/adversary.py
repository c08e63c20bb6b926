"""Inputs that were chosen to cost as much as they can, of about a given number of bytes.

Whoever knows how a table finds its places can choose words, or merges, that all belong
into one; whoever writes a file can let its tokens begin one another. Each generator is
linear, or nearly so, and gives the same in every run.
"""

import itertools
import json
import string
import struct
from pathlib import Path

import numpy as np

FACTOR = np.uint64(0x9E37_79B9_7F4A_7C15)
"""What fixed hashes of short words and of pairs are multiplied by."""

WORD_BITS = 14
"""The highest bits of a hash that chosen words have in common."""

PAIR_BITS = 6
SYMBOL_LEN = 1000
NORMAL, UNKNOWN, SYMBOL = 1, 2, 4


def words_of_one_hash(n_bytes: int) -> bytes:
    """Choose words of seven letters, each behind a space, that begin at one place.

    The hash is a product: half of a word is looked up in the sorted products of the other.
    """
    letters = string.ascii_lowercase.encode()
    first = _numbers(itertools.product(b" ", *[letters] * 3))
    products = first * FACTOR
    order = np.argsort(products)
    products, first = products[order], first[order]
    words: list[bytes] = []
    for second in _numbers(itertools.product(*[letters] * 4)):
        least = -(int(second) * int(FACTOR) << 32) % 2**64
        most = min(least + 2 ** (64 - WORD_BITS), 2**64 - 1)
        ends = np.array([least, most], dtype=np.uint64)
        place, end = np.searchsorted(products, ends)
        words += [
            int(one).to_bytes(4, "little") + int(second).to_bytes(4, "little")
            for one in first[place:end]
        ]
        if 8 * len(words) >= n_bytes:
            break
    return b"".join(words)[:n_bytes]


def _numbers(
    rows: "itertools.product[tuple[int, ...]]",
) -> "np.typing.NDArray[np.uint64]":
    """Read letters as numbers, the first lowest."""
    weights = 256 ** np.arange(4, dtype=np.uint64)
    return (np.array([*rows], dtype=np.uint64) * weights).sum(axis=1, dtype=np.uint64)


def write_merges_of_one_hash(path: Path, n_bytes: int) -> None:
    """Write a ``tokenizer.json`` whose pairs of characters belong into one part of the table."""
    n_merges = n_bytes // 48
    n_characters = int((n_merges * 2**PAIR_BITS) ** 0.5) + 20
    n_bits = np.uint64(int(n_characters + n_merges).bit_length())
    ids = np.arange(n_characters, dtype=np.uint64)
    keys = ((ids[:, None] << n_bits) | ids).ravel()
    hashes = (keys ^ (keys >> np.uint64(29))) * FACTOR
    chosen = keys[hashes >> np.uint64(64 - PAIR_BITS) == 0][:n_merges]
    letters = [chr(0x4E00 + id_) for id_ in range(n_characters)]
    lefts = (chosen >> n_bits).tolist()
    rights = (chosen & ((np.uint64(1) << n_bits) - np.uint64(1))).tolist()
    pairs = [
        [letters[left], letters[right]]
        for left, right in zip(lefts, rights, strict=True)
    ]
    names = [*letters, *map("".join, pairs)]
    vocab = {name: id_ for id_, name in enumerate(names)}
    model = {"type": "BPE", "vocab": vocab, "merges": pairs}
    path.write_text(json.dumps({"version": "1.0", "model": model}, ensure_ascii=False))


def write_nested_pieces(path: Path, n_bytes: int) -> None:
    """Write a SentencePiece model of ``a``, ``aa`` and so on."""
    longest = int((2 * n_bytes) ** 0.5)
    _write_model(path, [("a" * length, NORMAL) for length in range(1, longest)])


def write_one_symbol(path: Path, n_bytes: int) -> None:
    """Write a SentencePiece model with one user-defined symbol of ``ab`` over and over."""
    _write_model(path, [("ab" * (n_bytes // 2), SYMBOL)])


def write_symbols(path: Path, n_bytes: int) -> None:
    """Write a SentencePiece model with long user-defined symbols that end alike."""
    n_symbols = n_bytes // SYMBOL_LEN
    ending = "a" * (SYMBOL_LEN - 10)
    _write_model(
        path, [(f"<{place:08}>{ending}", SYMBOL) for place in range(n_symbols)]
    )


def _write_model(path: Path, pieces: list[tuple[str, int]]) -> None:
    """Write the fields that a model needs: its pieces, and that it merges."""
    letters = [("a", NORMAL), ("b", NORMAL), ("▁", NORMAL)]
    known = dict.fromkeys([("<unk>", UNKNOWN), *letters, *pieces])
    content = bytearray()
    for place, (text, kind) in enumerate(known):
        piece = _field(1, text.encode()) + b"\x15" + struct.pack("<f", -place)
        content += _field(1, piece + b"\x18" + bytes([kind]))
    path.write_bytes(bytes(content) + _field(2, b"\x18\x02"))


def _field(number: int, content: bytes) -> bytes:
    """Write a field of bytes as protocol buffers have it."""
    length, digits = len(content), bytearray()
    while length >= 128:
        digits.append(length % 128 | 128)
        length //= 128
    return bytes([number << 3 | 2, *digits, length]) + content


FILES = {
    "merges of one hash": (write_merges_of_one_hash, "tokenizer.json"),
    "pieces that begin one another": (write_nested_pieces, "nested.model"),
    "one long symbol": (write_one_symbol, "symbol.model"),
    "long symbols that end alike": (write_symbols, "symbols.model"),
}
