"""Where a text may yet go on: tiktoken's ``encode_with_unstable`` and ``_encode_bytes``.

The tokens of the last piece of a text may change when more text comes. tiktoken gives the
tokens before it, and for the rest all rows of tokens that it finds by trying every token
that a text could go on with. The rules here are tiktoken's, its guesses about white space
among them.
"""

from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING

from bytepair.errors import EncodingError

if TYPE_CHECKING:
    from .core import Encoding

__all__ = ["encode_bytes", "rows_after"]

SPACES = b" \n\t"


def encode_bytes(encoding: "Encoding", data: bytes) -> list[int]:
    """Encode bytes; what follows the last valid character is one piece."""
    try:
        return encoding.encode_ordinary(data.decode())
    except UnicodeDecodeError as error:
        valid = data[: error.start].decode()
        rest = data[error.start :]
    stable, unstable = _cut(encoding, encoding.encode_ordinary(valid), valid)
    return stable + encoding._encode_single_piece(unstable + rest)


def rows_after(
    encoding: "Encoding", ids: list[int], ordinary_end: str
) -> tuple[list[int], list[list[int]]]:
    """Return the stable ones of the ids of a text, and the rows of ids that may follow, in order.

    ``ordinary_end`` is the text after its last added token.
    """
    stable, unstable = _cut(encoding, ids, ordinary_end)
    if not unstable:
        return stable, []
    rows = {
        *((id_,) for id_ in encoding._table.with_prefix(unstable).tolist()),
        *_straddling(encoding, unstable),
        *_split_before_space(encoding, unstable),
    }
    return stable, sorted(map(list, rows))


def _cut(encoding: "Encoding", ids: list[int], text: str) -> tuple[list[int], bytes]:
    """Cut off the last piece of a text, with white space before it if it begins with some."""
    pieces = encoding.tokenizer.split(text)
    n_last = len(encoding._encode_single_piece(pieces[-1])) if pieces else 0
    n_stable = len(ids) - n_last
    if n_last > 0 and _is_space(encoding, ids[n_stable]):
        while n_stable > 0 and _is_space(encoding, ids[n_stable - 1]):
            n_stable -= 1
    return ids[:n_stable], encoding.decode_bytes(ids[n_stable:])


def _is_space(encoding: "Encoding", id_: int) -> bool:
    token = encoding._table[id_]  # Special tokens have no bytes.
    return bool(token) and not token.strip(SPACES)


def _straddling(encoding: "Encoding", unstable: bytes) -> Iterator[tuple[int, ...]]:
    """Let a token continue each ending, and yield the ids that cover the unstable bytes."""
    table = encoding._table
    for place in range(1, len(unstable)):
        for id_ in table.with_prefix(unstable[place:]).tolist():
            ids = _encoded(encoding, unstable[:place] + table[id_])
            ends = accumulate(len(table[id_]) for id_ in ids)
            n_within = sum(end < len(unstable) for end in ends)
            yield tuple(ids[: n_within + 1])


def _encoded(encoding: "Encoding", data: bytes) -> list[int]:
    try:
        return encoding.tokenizer.encode(data.decode())
    except (UnicodeDecodeError, EncodingError):
        return encoding._encode_single_piece(data)


def _split_before_space(
    encoding: "Encoding", unstable: bytes
) -> Iterator[tuple[int, ...]]:
    r"""Encode the last character alone if it is white space, which may yet be split off.

    So "\n\n" is two pieces once a word follows.
    """
    last = unstable.decode(errors="surrogateescape")[-1:]
    n_before = len(unstable) - len(last.encode(errors="surrogateescape"))
    if n_before > 0 and _is_white_space(last):
        encode = encoding._encode_single_piece
        yield (*encode(unstable[:n_before]), *encode(unstable[n_before:]))


def _is_white_space(text: str) -> bool:
    """Whether a character is white space in Unicode: four others are not."""
    return text.isspace() and text not in "\x1c\x1d\x1e\x1f"
