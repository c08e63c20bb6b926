"""Ids that a model sampled: canonical ids, text that follows them, and other rows of the same text.

A row of ids is canonical if its text has these ids. Special tokens divide a row, and each stretch of text between them is
encoded as it stands in the row. A special token that a model spelled in other tokens stays text. Rows with an unknown
token are refused, since its text is not known.
"""

from dataclasses import dataclass

from bytepair import _core
from bytepair._core import Patch
from bytepair._expected import expect
from bytepair._numpy import NDArray, np
from bytepair._tokenizer import Tokenizer
from bytepair.errors import TokenizerError

from ._tokens import KINDS, TokenBytes
from ._types import Added, Ids, Specials

__all__ = [
    "Comparison",
    "align",
    "canonicalize",
    "compare",
    "first_noncanonical",
    "is_canonical",
    "splice",
]

SPECIAL = KINDS.index("special")
N_FIRST = 12
"""How many ids show whether decoding strips a space."""


def is_canonical(
    tokenizer: Tokenizer, ids: Ids, *, added_tokens: Added = "find"
) -> bool:
    """Return whether the text of a row of ids has these ids.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> is_canonical(tokenizer, [257, 68]), is_canonical(tokenizer, [256, 86, 68])
    (True, False)

    Raises
    ------
    UnknownTokenError
        No token has one of the ids.
    TokenizerError
        The row has an unknown token, or tokens have no bytes of their own (as for ``TokenBytes``).
    """
    return first_noncanonical(tokenizer, ids, added_tokens=added_tokens) is None


def first_noncanonical(
    tokenizer: Tokenizer, ids: Ids, *, added_tokens: Added = "find"
) -> int | None:
    """Return the index of the first id that the text of a row of ids does not have, or ``None``.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> first_noncanonical(tokenizer, [257, 220, 256, 86])
    2

    Raises the errors of :func:`is_canonical`.
    """
    _check(tokenizer)
    return _core.first_noncanonical(tokenizer, ids, added_tokens=added_tokens)


def canonicalize(
    tokenizer: Tokenizer, ids: Ids, *, added_tokens: Added = "find"
) -> list[int]:
    """Return the ids that the text of a row of ids has, with the special tokens of the row.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> canonicalize(tokenizer, [257, 220, 256, 86])
    [257, 220, 257]

    Raises
    ------
    EncodingError
        The ids have no text, and the dialect needs one; also the errors of :func:`is_canonical`.
    """
    _check(tokenizer)
    return _core.canonicalize(tokenizer, ids, added_tokens=added_tokens)


def splice(
    tokenizer: Tokenizer,
    ids: Ids,
    text: str | bytes,
    *,
    allowed_special: Specials = (),
    disallowed_special: Specials = (),
    added_tokens: Added = "find",
) -> Patch:
    """Return how a row of ids changes when text follows it.

    Ids that the text does not change stay as they were sampled. If the row is canonical, the new row has the ids of the
    whole text. If it is not, ids stay up to the last place where one of them and one of the whole text's ids end. The
    options are about special tokens in ``text``. The cost does not depend on the length of the row, apart from reading a list.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> splice(tokenizer, [256, 86, 220, 75], "ow")
    Patch(keep=3, ids=[257], keep_after=0)

    Raises
    ------
    EncodingError
        The text of the last ids cannot be encoded; also the errors of :func:`is_canonical` and of ``Tokenizer.encode``.
    """
    _check(tokenizer)
    return _core.splice(
        tokenizer,
        ids,
        text,
        allowed_special=allowed_special,
        disallowed_special=disallowed_special,
        added_tokens=added_tokens,
    )


def align(
    tokenizer: Tokenizer, ids: Ids, other: Tokenizer, other_ids: Ids
) -> NDArray[np.int64]:
    """Return the smallest groups of ids of two rows that stand for the same bytes, ``int64[n, 4]``.

    A group ``[start, stop, other_start, stop_other]`` says that ``ids[start:stop]`` and ``other_ids[other_start:stop_other]`` have
    the same text. Special tokens have no bytes: they belong to the group before them. Spaces that a decoder
    strips from the beginning of a text do not count.

    >>> import bytepair
    >>> low = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> none = bytepair.train_from_iterator(["low lower"], vocab_size=256)
    >>> align(low, low.encode("low l"), none, none.encode("low l")).tolist()
    [[0, 1, 0, 3], [1, 2, 3, 4], [2, 3, 4, 5]]

    Raises
    ------
    TokenizerError
        The texts differ; the error has the place in bytes. Also as for ``TokenBytes``.
    """
    (text, ends), (other_text, other_ends) = (
        _text(tokenizer, ids),
        _text(other, other_ids),
    )
    if text != other_text:
        message = (
            f"the rows have different texts, from byte {_common(text, other_text)} on"
        )
        raise TokenizerError(message)
    if not text and len(ends) + len(other_ends):
        return np.array([[0, len(ends), 0, len(other_ends)]])
    borders = np.intersect1d(ends, other_ends)
    stops = np.searchsorted(ends, borders, side="right")
    other_stops = np.searchsorted(other_ends, borders, side="right")
    groups = np.empty((len(borders), 4), dtype=np.int64)
    groups[:, 1], groups[:, 3] = stops, other_stops
    groups[1:, 0], groups[1:, 2] = stops[:-1], other_stops[:-1]
    groups[:1, [0, 2]] = 0
    return groups


@dataclass(frozen=True)
class Comparison:
    """What two rows of ids have in common.

    ``difference`` says what differs besides the ids of equal text, or is ``None``. ``n_drifted`` is the number of stretches
    between special tokens that have the same text in other ids.

    >>> Comparison(difference=None, n_drifted=0)
    Comparison(difference=None, n_drifted=0)
    """

    difference: str | None
    n_drifted: int


def compare(tokenizer: Tokenizer, ids: Ids, other_ids: Ids) -> Comparison:
    """Compare two rows of ids, tolerating other ids for the same text but no difference in special tokens.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(
    ...     ["low lower"], vocab_size=259, special_tokens=["<end>"]
    ... )
    >>> compare(tokenizer, [257, 258], [256, 86, 258])
    Comparison(difference=None, n_drifted=1)
    >>> compare(tokenizer, [257, 258], [257]).difference
    'special token 0: 258 at index 1 in the first row, none in the second'

    Raises the errors of ``TokenBytes``.
    """
    table = TokenBytes(tokenizer)
    first, second = (_stretches(table, _array(table, row)) for row in (ids, other_ids))
    n_drifted = 0
    for number, (own, theirs) in enumerate(zip(first, second, strict=False)):
        if own.text != theirs.text:
            place = _common(own.text, theirs.text)
            where = f"after index {own.start} in the first row and {theirs.start} in the second"
            return Comparison(f"text differs at byte {place} {where}", n_drifted)
        n_drifted += own.ids != theirs.ids
        if own.special != theirs.special:
            named = own.told("the first row"), theirs.told("the second")
            return Comparison(f"special token {number}: {', '.join(named)}", n_drifted)
    return Comparison(None, n_drifted)


@dataclass(frozen=True)
class _Stretch:
    """Text in a row, and the special token after it."""

    start: int
    ids: list[int]
    text: bytes
    special: int | None

    def told(self, where: str) -> str:
        if self.special is None:
            return f"none in {where}"
        return f"{self.special} at index {self.start + len(self.ids)} in {where}"


def _stretches(table: TokenBytes, ids: NDArray[np.int64]) -> list[_Stretch]:
    places = np.flatnonzero(table.kinds[ids] == SPECIAL).tolist()
    stretches = []
    for start, stop in zip([-1, *places], [*places, len(ids)], strict=True):
        own = ids[start + 1 : stop]
        text = b"".join(table[id] for id in own.tolist())
        special = int(ids[stop]) if stop < len(ids) else None
        stretches.append(_Stretch(start + 1, own.tolist(), text, special))
    return stretches


def _text(tokenizer: Tokenizer, ids: Ids) -> tuple[bytes, NDArray[np.int64]]:
    """Return the text of a row, and where each id ends in it, without a space that decoding strips."""
    table = TokenBytes(tokenizer)
    row = _array(table, ids)
    lens = table.offsets[row + 1] - table.offsets[row]
    text = b"".join(table[id] for id in row.tolist())
    shown = tokenizer.decode(row[:N_FIRST], skip_special_tokens=True)
    is_stripped = text.startswith(b" ") and not shown.startswith(" ")
    ends = np.maximum(np.cumsum(lens) - is_stripped, 0)
    return text[is_stripped:], ends


def _array(table: TokenBytes, ids: Ids) -> NDArray[np.int64]:
    row = (
        np.fromiter(ids, dtype=np.int64)
        if not isinstance(ids, np.ndarray)
        else ids.astype(np.int64)
    )
    for id in row[(row < 0) | (row >= len(table))][:1].tolist():
        table[id]  # refuses it
    return row


def _common(text: bytes, other: bytes) -> int:
    """Return the length of the common beginning."""
    return next(
        (n for n, (a, b) in enumerate(zip(text, other, strict=False)) if a != b),
        min(len(text), len(other)),
    )


def _check(tokenizer: Tokenizer) -> None:
    expect("tokenizer", tokenizer, Tokenizer, "a Tokenizer")
