"""Ids as bytes and back: text, JSON, and raw little-endian numbers.

Text is blank-separated decimal numbers and JSON is one array, each on one line. Raw
numbers have no lines: a file of them is one sequence.
"""

import json
import re

import numpy as np
import numpy.typing as npt

from bytepair import FormatError, Tokenizer
from bytepair.token_files import MAX_UINT16_VOCAB

from .options import NumberFormat

__all__ = ["check_width", "format_ids", "parse_ids"]

RAW = {NumberFormat.UINT16: "<u2", NumberFormat.UINT32: "<u4"}


def check_width(tokenizer: Tokenizer, number_format: NumberFormat) -> None:
    """Refuse a format whose numbers are too small for some ids of a tokenizer."""
    if number_format is NumberFormat.UINT16 and tokenizer.n_vocab > MAX_UINT16_VOCAB:
        message = (
            f"the vocabulary has {tokenizer.n_vocab:,} ids, and uint16 holds "
            f"{MAX_UINT16_VOCAB:,}; use --format uint32"
        )
        raise FormatError(message)


def format_ids(ids: npt.NDArray[np.uint32], number_format: NumberFormat) -> bytes:
    r"""Write a sequence of ids.

    >>> format_ids(np.array([5, 600], dtype=np.uint32), NumberFormat.TEXT)
    b'5 600\n'
    >>> format_ids(np.array([5, 600], dtype=np.uint32), NumberFormat.UINT16)
    b'\x05\x00X\x02'
    """
    if number_format in RAW:
        return ids.astype(RAW[number_format]).tobytes()
    if number_format is NumberFormat.JSON:
        return json.dumps(ids.tolist()).encode() + b"\n"
    return " ".join(map(str, ids.tolist())).encode() + b"\n"


def parse_ids(data: bytes, number_format: NumberFormat) -> list[int]:
    r"""Read a sequence of ids. Whether a tokenizer has them is not asked here.

    >>> parse_ids(b"5 600\n", NumberFormat.TEXT)
    [5, 600]

    Raises
    ------
    FormatError
        Something is not an integer; the message says which place it has.
    """
    if number_format in RAW:
        return _parse_raw(data, RAW[number_format])
    if number_format is NumberFormat.JSON:
        return _parse_json(data)
    return _parse_text(data)


def _parse_raw(data: bytes, dtype: str) -> list[int]:
    width = np.dtype(dtype).itemsize
    if len(data) % width:
        message = (
            f"{len(data):,} bytes are not a whole number of {width}-byte ids; "
            "the input is cut off, or needs another --format"
        )
        raise FormatError(message)
    numbers: list[int] = np.frombuffer(data, dtype).tolist()
    return numbers


def _parse_json(data: bytes) -> list[int]:
    try:
        numbers = json.loads(data)
    except (ValueError, RecursionError) as error:
        message = f"not JSON: {error}"
        raise FormatError(message) from error
    if not isinstance(numbers, list):
        message = f"expected a JSON array of ids, not {json.dumps(numbers)[:40]}"
        raise FormatError(message)
    for place, number in enumerate(numbers):
        if type(number) is not int:
            message = f"item {place} of the array is not an id: {json.dumps(number)[:40]}"
            raise FormatError(message)
    return numbers


def _parse_text(data: bytes) -> list[int]:
    words = data.split()
    is_integer = re.compile(rb"-?[0-9]{1,20}").fullmatch
    for place, word in enumerate(words):
        if not is_integer(word):
            message = (
                f"word {place} of the input is not an id: {word[:40].decode(errors='replace')!r}; "
                "expected decimal numbers separated by blanks"
            )
            raise FormatError(message)
    return list(map(int, words))
