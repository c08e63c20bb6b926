"""Byte-pair encoding for a first reading: train, encode and decode over plain integers.

The ids 0 to 255 are the bytes. Each merge gives the most frequent pair of neighbours
a new id: 256, 257, … That is the whole idea. Left out: splitting text with
a pattern, special tokens, everything else that ``bytepair.reference`` defines. Training
takes time proportional to merges times text, encoding to merges made times text.

The dialect ``byte-stream`` gives the same merges and ids.
"""

from collections import Counter
from itertools import pairwise

Pair = tuple[int, int]


def train(text: str, n_merges: int) -> dict[Pair, int]:
    """Learn up to ``n_merges`` merges: from each pair of ids to the id it becomes.

    Of pairs that are equally frequent, the one that occurs first in the text is merged.

    >>> merges = train("aaabdaaabac", 3)
    >>> merges  # aa, then aaa, then aaab
    {(97, 97): 256, (256, 97): 257, (257, 98): 258}
    """
    ids = list(text.encode())
    merges: dict[Pair, int] = {}
    for _ in range(n_merges):
        counts = Counter(pairwise(ids))  # in the order in which pairs first occur
        if not counts:
            break
        pair = max(counts, key=counts.__getitem__)  # the first of the most frequent
        merges[pair] = 256 + len(merges)
        ids = merge(ids, pair, merges[pair])
    return merges


def merge(ids: list[int], pair: Pair, new_id: int) -> list[int]:
    """Replace each occurrence of ``pair``, from left to right, by ``new_id``.

    >>> merge([97, 97, 97, 98], (97, 97), 256)
    [256, 97, 98]
    """
    merged: list[int] = []
    for id_ in ids:
        if merged and (merged[-1], id_) == pair:
            merged[-1] = new_id
        else:
            merged.append(id_)
    return merged


def encode(text: str, merges: dict[Pair, int]) -> list[int]:
    """Apply the merges to a text, each before those that were learned after it.

    >>> encode("aaab", train("aaabdaaabac", 3))
    [258]
    """
    ids = list(text.encode())
    while known := set(pairwise(ids)) & merges.keys():
        earliest = min(known, key=merges.__getitem__)
        ids = merge(ids, earliest, merges[earliest])
    return ids


def decode(ids: list[int], merges: dict[Pair, int]) -> str:
    """Join the bytes of tokens to a text; bytes that are not UTF-8 become ``�``.

    >>> decode([258, 100], train("aaabdaaabac", 3))
    'aaabd'
    """
    token_bytes = {byte: bytes([byte]) for byte in range(256)}
    for (left, right), new_id in merges.items():
        token_bytes[new_id] = token_bytes[left] + token_bytes[right]
    return b"".join(token_bytes[id_] for id_ in ids).decode(errors="replace")
