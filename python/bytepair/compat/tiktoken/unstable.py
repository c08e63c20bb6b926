"""Where a text may yet go on: tiktoken's ``encode_with_unstable`` and ``_encode_bytes``.

The tokens of the last piece of a text may change when more text comes. tiktoken gives the
tokens before it, and for the rest all rows of tokens that it finds by trying every token
that a text could go on with. The rules here are tiktoken's, its guesses about white space
among them.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from bytepair.errors import EncodingError

if TYPE_CHECKING:
    from .core import Encoding

__all__ = ["AddedTokens", "encode_bytes", "encode_with_unstable"]

AddedTokens: TypeAlias = Literal["find", "text"]
SPACES = b" \n\t"


def encode_bytes(encoding: "Encoding", data: bytes) -> list[int]:
    """Encode bytes; behind the last valid character all is one piece."""
    try:
        return encoding.encode_ordinary(data.decode())
    except UnicodeDecodeError as error:
        valid = data[: error.start].decode()
        rest = data[error.start :]
    ids = encoding.encode_ordinary(valid)
    stable, unstable = _cut(encoding, ids, _n_of_last_piece(encoding, valid))
    return stable + encoding._encode_single_piece(unstable + rest)


def encode_with_unstable(
    encoding: "Encoding",
    text: str,
    ids: list[int],
    ordinary_end: str,
    added_tokens: AddedTokens = "find",
) -> tuple[list[int], list[list[int]]]:
    """Give the stable tokens, and the rows of tokens that the text may go on with.

    ``ids`` are those of the text, ``ordinary_end`` is what stands behind the last added
    token that was found. Rows are in order.
    """
    n_last = _n_of_last_piece(encoding, ordinary_end)
    if n_last == 0:
        return ids, []
    stable, unstable = _cut(encoding, ids, n_last)
    if not unstable:
        return stable, []
    found: set[tuple[int, ...]] = {
        (encoding._mergeable_ranks[token],) for token in _beginning(encoding, unstable)
    }
    found.update(_straddling(encoding, unstable, added_tokens))
    if split := _split_before_space(encoding, unstable):
        found.add(split)
    return stable, sorted(map(list, found))


def _n_of_last_piece(encoding: "Encoding", text: str) -> int:
    """Count the tokens of the last piece of a text without special tokens."""
    pieces = encoding.tokenizer.split(text)
    if not pieces:
        return 0
    last = pieces[-1]
    data = last.encode() if isinstance(last, str) else last
    return len(encoding._encode_single_piece(data))


def _cut(encoding: "Encoding", ids: list[int], n_last: int) -> tuple[list[int], bytes]:
    """Cut off the last piece, with white space before it if it begins with some."""
    n_stable = len(ids) - n_last
    if n_last > 0 and _is_space(encoding, ids[n_stable]):
        while n_stable > 0 and _is_space(encoding, ids[n_stable - 1]):
            n_stable -= 1
    return ids[:n_stable], encoding.decode_bytes(ids[n_stable:])


def _is_space(encoding: "Encoding", id_: int) -> bool:
    if encoding.is_special_token(id_):
        return False
    return not encoding.decode_single_token_bytes(id_).strip(SPACES)


def _beginning(encoding: "Encoding", start: bytes) -> Iterator[bytes]:
    """Give the tokens that begin so."""
    tokens = encoding._sorted_tokens
    place = bisect_left(tokens, start)
    while place < len(tokens) and tokens[place].startswith(start):
        yield tokens[place]
        place += 1


def _straddling(
    encoding: "Encoding", unstable: bytes, added_tokens: AddedTokens
) -> Iterator[tuple[int, ...]]:
    """Let a token go on with each ending, and encode what that gives as far as needed."""
    for place in range(1, len(unstable)):
        for token in _beginning(encoding, unstable[place:]):
            longer = unstable[:place] + token
            ids = _encoded(encoding, longer, added_tokens)
            yield _covering(encoding, ids, len(unstable))


def _encoded(encoding: "Encoding", data: bytes, added_tokens: AddedTokens) -> list[int]:
    encode = encoding.tokenizer.encode
    try:
        return encode(data.decode(), added_tokens=added_tokens)
    except (UnicodeDecodeError, EncodingError):
        return encoding._encode_single_piece(data)


def _covering(
    encoding: "Encoding", ids: Sequence[int], n_bytes: int
) -> tuple[int, ...]:
    """Take the tokens that cover so many bytes."""
    n_covered = 0
    for n_taken, id_ in enumerate(ids, 1):
        n_covered += len(encoding.decode_single_token_bytes(id_))
        if n_covered >= n_bytes:
            return tuple(ids[:n_taken])
    return tuple(ids)


def _split_before_space(encoding: "Encoding", unstable: bytes) -> tuple[int, ...]:
    r"""Encode the last character alone if it is white space, which may yet be split off.

    So "\n\n" is two pieces once a word follows.
    """
    try:
        last = unstable.decode()[-1:]
    except UnicodeDecodeError:
        last = unstable[-4:].decode(errors="ignore")[-1:]
        last = last if unstable.endswith(last.encode()) else ""
    n_before = len(unstable) - len(last.encode())
    if n_before == 0 or not _is_white_space(last):
        return ()
    parts = unstable[:n_before], unstable[n_before:]
    return tuple(id_ for part in parts for id_ in encoding._encode_single_piece(part))


def _is_white_space(text: str) -> bool:
    """Tell whether a character is white space in Unicode: four others are not."""
    return text.isspace() and text not in "\x1c\x1d\x1e\x1f"
