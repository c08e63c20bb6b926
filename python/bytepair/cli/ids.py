"""Ids as bytes and back: text, JSON, raw little-endian numbers and, to read, ``.npy``.

Text is space-separated decimal numbers and JSON is one array, each on one line. Raw
numbers have no lines: a file of them is one sequence. So is a NumPy array: raw numbers
after a header, by which it is recognised.
"""

import ast
import json
import operator
import re
from typing import Any

from bytepair import FormatError, Tokenizer
from bytepair._io.token_files import MAX_UINT16_VOCAB
from bytepair._numpy import NDArray, np
from bytepair._plurals import amount

__all__ = ["check_width", "format_ids", "parse_file", "parse_ids", "told_format"]

Ids = list[int] | NDArray[Any]
"""Ids in a list, or in an array, which takes a tenth of the memory."""

MAGIC = b"\x93NUMPY"
MAX_HEADER_LEN = 10_000
"""The maximum size of the header of an array, in bytes; NumPy has this limit."""
RAW_ENDINGS: dict[str, str | None] = {
    "bin": None,
    "u16": "uint16",
    "uint16": "uint16",
    "u32": "uint32",
    "uint32": "uint32",
}
"""Extensions of raw numbers, and their width; for .bin, the vocabulary determines it."""
UTF_8_MARK = b"\xef\xbb\xbf"
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
IS_UTF_16 = "the input looks like UTF-16; save it as UTF-8, or pass --format uint16 or uint32 if it is raw numbers"
RAW = {"uint16": "<u2", "uint32": "<u4"}


def check_width(tokenizer: Tokenizer, number_format: str) -> None:
    """Refuse a format whose numbers are too small for some ids of a tokenizer."""
    if number_format == "uint16" and tokenizer.n_vocab > MAX_UINT16_VOCAB:
        message = (
            f"the vocabulary has {tokenizer.n_vocab:,} ids, and uint16 holds "
            f"{MAX_UINT16_VOCAB:,}; use --format uint32"
        )
        raise FormatError(message)


def format_ids(ids: NDArray[np.uint32], number_format: str) -> bytes:
    r"""Return a sequence of ids as bytes.

    >>> format_ids(np.array([5, 600], dtype=np.uint32), "text")
    b'5 600\n'
    >>> format_ids(np.array([5, 600], dtype=np.uint32), "uint16")
    b'\x05\x00X\x02'

    Raises
    ------
    FormatError
        An id does not fit, as a padding id outside the vocabulary may not.
    """
    if number_format in RAW:
        width = np.dtype(RAW[number_format])
        if len(ids) and ids.max() > np.iinfo(width).max:
            message = f"the id {ids.max()} does not fit uint16; use --format uint32"
            raise FormatError(message)
        return ids.astype(width).tobytes()
    if number_format == "json":
        return json.dumps(ids.tolist()).encode() + b"\n"
    return " ".join(map(str, ids.tolist())).encode() + b"\n"


def parse_file(data: bytes, number_format: str | None, name: str, n_vocab: int) -> Ids:
    r"""Return the ids in a file: a NumPy array, or by default text.

    Without ``number_format``, a ``.bin`` file contains raw numbers as ``encode`` writes them
    for a vocabulary of this size.

    >>> import io
    >>> file = io.BytesIO()
    >>> np.save(file, np.array([5, 600], dtype=np.uint16))
    >>> parse_file(file.getvalue(), None, "ids.npy", 1000)
    array([  5, 600], dtype=uint16)
    >>> parse_file(b"\x05\0\x58\x02", None, "ids.bin", 1000)
    array([  5, 600], dtype=uint16)
    >>> parse_file(b"5 600", None, "-", 9)
    [5, 600]

    Raises
    ------
    FormatError
        The file is damaged, or does not have the format of its name or ``number_format``.
    """
    if data.startswith(MAGIC):
        return _parse_array(data, number_format)
    if name.endswith(".npy") and (number_format is None or number_format in RAW):
        message = (
            "the name ends in .npy, but this is not a NumPy array; "
            "rename the file if it holds something else"
        )
        raise FormatError(message)
    return parse_ids(data, number_format or told_format(data, name, n_vocab))


def told_format(data: bytes, name: str, n_vocab: int) -> str:
    r"""Return the format of ids, from the extension of the name and the bytes.

    >>> told_format(b"5 600", "-", 1000), told_format(b"\5\0\0\0", "a.bin", 100_000)
    ('text', 'uint32')

    Raises
    ------
    FormatError
        Several formats are possible; the message says what to type.
    """
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    is_textual = re.fullmatch(rb"[-+0-9\s,\[\]]*", data) is not None
    if ending not in RAW_ENDINGS:
        is_marked = data.startswith((UTF_8_MARK, *UTF_16_MARKS))
        if is_textual or is_marked or re.fullmatch(rb"[\t-\r -~]*", data):
            return "text"
        message = (
            "the input is raw numbers, not text; set their width with "
            "--format uint16 or --format uint32"
        )
        raise FormatError(message)
    if is_textual and data:
        message = (
            f"the extension .{ending} means raw numbers, but the input looks like text; "
            "pass --format text, json, uint16 or uint32"
        )
        raise FormatError(message)
    width = RAW_ENDINGS[ending]
    if width is not None:
        return width
    if n_vocab > MAX_UINT16_VOCAB:
        return "uint32"
    if data and len(data) % 4 == 0 and not any(data[2::4]) and not any(data[3::4]):
        message = (
            "the raw numbers can be uint16, with every second one 0, or uint32; "
            "pass --format uint16 or --format uint32"
        )
        raise FormatError(message)
    return "uint16"


def parse_ids(data: bytes, number_format: str) -> Ids:
    r"""Return a sequence of ids, without checking that a tokenizer has them.

    >>> parse_ids(b"5 600\n", "text")
    [5, 600]

    Raises
    ------
    FormatError
        Something is not an integer; the message has its position.
    """
    if number_format in RAW:
        return _parse_raw(data, RAW[number_format])
    if number_format == "json":
        return _parse_json(data)
    return _parse_text(data)


def _header(data: bytes) -> tuple[np.dtype[Any], tuple[int, ...], int]:
    """Return the type, the shape and the length of the header of an array."""
    start = 10 if data[len(MAGIC) :].startswith(b"\x01") else 12
    end = start + int.from_bytes(data[len(MAGIC) + 2 : start], "little")
    if not start < end <= min(len(data), MAX_HEADER_LEN):
        message = f"it ends at byte {end:,}, according to its length"
        raise ValueError(message)
    found = ast.literal_eval(data[start:end].decode("latin-1").strip())
    shape = tuple(map(operator.index, found["shape"]))
    return np.dtype(found["descr"]), shape, end


def _parse_array(data: bytes, number_format: str | None) -> Ids:
    try:
        dtype, shape, start = _header(data)
    except (ValueError, TypeError, SyntaxError, LookupError, RecursionError) as error:
        message = f"a NumPy array with a damaged header: {error}"
        raise FormatError(message) from error
    if dtype not in {np.dtype(np.uint16), np.dtype(np.uint32)} or len(shape) != 1:
        message = (
            f"a NumPy array of {dtype} with {amount(len(shape), 'dimension')}; "
            "expected uint16 or uint32 with one dimension"
        )
        raise FormatError(message)
    if number_format is not None and number_format != dtype.name:
        message = f"a NumPy array of {dtype}, not {number_format}; leave out --format"
        raise FormatError(message)
    numbers = data[start:]
    if len(numbers) != shape[0] * dtype.itemsize:
        message = (
            f"a NumPy array of {amount(shape[0], 'id')} with {amount(len(numbers), 'byte')} of them, "
            f"not {shape[0] * dtype.itemsize:,}; the file is cut off or damaged"
        )
        raise FormatError(message)
    return _in_memory_order(np.frombuffer(numbers, dtype))


def _parse_raw(data: bytes, dtype: str) -> Ids:
    width = np.dtype(dtype).itemsize
    if len(data) % width:
        message = (
            f"{len(data):,} bytes are not a whole number of {width}-byte ids; "
            "the input is cut off, or needs another --format"
        )
        raise FormatError(message)
    return _in_memory_order(np.frombuffer(data, dtype))


def _in_memory_order(ids: NDArray[Any]) -> NDArray[Any]:
    """Return numbers in the byte order of this machine."""
    return ids.astype(ids.dtype.newbyteorder("="), copy=False)


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
            message = (
                f"item {place} of the array is not an id: {json.dumps(number)[:40]}"
            )
            raise FormatError(message)
    return numbers


def _parse_text(data: bytes) -> list[int]:
    words = data.removeprefix(UTF_8_MARK).split()
    is_integer = re.compile(rb"-?[0-9]{1,20}").fullmatch
    for place, word in enumerate(words):
        if not is_integer(word):
            message = (
                f"word {place} of the input is not an id: {word[:40].decode(errors='replace')!r}; "
                f"expected decimal numbers separated by white space{_other_format(data)}"
            )
            raise FormatError(message)
    return list(map(int, words))


def _other_format(data: bytes) -> str:
    """Return what to type if the input is not numbers as text."""
    if data.startswith(UTF_16_MARKS):
        return f"; {IS_UTF_16}"
    if data.lstrip().startswith(b"["):
        return "; for a JSON array pass --format json"
    if re.search(rb"[^\t-\r -~]", data):
        return "; for raw numbers pass --format uint16 or --format uint32"
    return ""
