"""Two rows of ids: which of their ids stand for the same bytes, and what differs."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from bytepair import _core
from bytepair._numpy import NDArray, np
from bytepair._tokenizer import Tokenizer
from bytepair.errors import TokenizerError

from ._tokens import TokenBytes

__all__ = ["Comparison", "align", "compare"]

Ids: TypeAlias = Iterable[int] | NDArray[np.uint32] | NDArray[np.uint16]


def align(
    tokenizer: Tokenizer, ids: Ids, other: Tokenizer, other_ids: Ids
) -> NDArray[np.int64]:
    """Return the smallest groups of ids of two rows that stand for the same bytes, ``int64[n, 4]``.

    A group ``[start, stop, other_start, stop_other]`` says that ``ids[start:stop]`` and ``other_ids[other_start:stop_other]`` have
    the same text. Special tokens have no bytes: they belong to the group before them. Spaces that a decoder leaves out at
    the ends of a text do not count.

    >>> import bytepair
    >>> low = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> none = bytepair.train_from_iterator(["low lower"], vocab_size=256)
    >>> align(low, low.encode("low l"), none, none.encode("low l")).tolist()
    [[0, 1, 0, 3], [1, 2, 3, 4], [2, 3, 4, 5]]

    Raises
    ------
    UnknownTokenError
        No token has one of the ids.
    TokenizerError
        The texts differ; the error has the place in bytes. Also as for ``TokenBytes``.
    """
    text, ends = _core.text_and_ends(tokenizer, ids)
    other_text, other_ends = _core.text_and_ends(other, other_ids)
    if text != other_text:
        place = _n_common(text, other_text)
        message = f"the rows have different texts, from byte {place} on"
        raise TokenizerError(message)
    borders = np.union1d(np.intersect1d(ends, other_ends), [len(text)])
    rows = [np.searchsorted(row, borders, side="right") for row in (ends, other_ends)]
    stops = np.stack(rows, axis=1)
    starts = np.vstack([[0, 0], stops[:-1]])
    groups = np.dstack([starts, stops]).reshape(-1, 4)
    return groups[np.any(starts < stops, axis=1)]


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

    Raises
    ------
    UnknownTokenError
        No token has one of the ids.
    TokenizerError
        As for ``TokenBytes``.
    """
    rows = _stretches(tokenizer, ids), _stretches(tokenizer, other_ids)
    n_drifted = 0
    for number, (own, theirs) in enumerate(zip(*rows, strict=False)):
        if own.text != theirs.text:
            place = _n_common(own.text, theirs.text)
            where = f"after index {own.start} in the first row and {theirs.start} in the second"
            return Comparison(f"text differs at byte {place} {where}", n_drifted)
        n_drifted += own.ids != theirs.ids
        if own.special != theirs.special:
            told = f"{own.told()} in the first row, {theirs.told()} in the second"
            return Comparison(f"special token {number}: {told}", n_drifted)
    return Comparison(None, n_drifted)


class _Stretch(NamedTuple):
    """Ids of text, and the special token after them, if one follows."""

    start: int
    ids: list[int]
    text: bytes
    special: list[int]

    def told(self) -> str:
        stop = self.start + len(self.ids)
        return f"{self.special[0]} at index {stop}" if self.special else "none"


def _stretches(tokenizer: Tokenizer, ids: Ids) -> list[_Stretch]:
    row = list(ids)
    text, ends = _core.text_and_ends(tokenizer, row)
    borders = [0, *ends]
    specials = TokenBytes(tokenizer).ids("special")
    places = np.flatnonzero(np.isin(row, specials)).tolist()
    stretches, start = [], 0
    for stop in [*places, len(row)]:
        own = text[borders[start] : borders[stop]]
        stretches.append(_Stretch(start, row[start:stop], own, row[stop : stop + 1]))
        start = stop + 1
    return stretches


def _n_common(text: bytes, other: bytes) -> int:
    """Return the length of the common beginning."""
    same = [byte == theirs for byte, theirs in zip(text, other, strict=False)]
    return [*same, False].index(False)
