"""Texts to rows of ids: ids alone where a call asks for no more, else encodings.

What is known of each id besides the id itself takes several times as long as the ids. So a
call gets the ids, and a promise: encodings that are made when one is asked for, by the same
tokenizer with the same options. A tokenizer never changes, so these are the encodings that
the call would have made.

Left out: what the arguments of a call mean together, which ``lengths`` says.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, overload

from bytepair import Tokenizer, _core

from ._lengths import Lengths, Sample, WordSample

__all__ = ["LaterEncodings", "Work", "treated"]

NO_LENGTHS = _core.Lengths()


class LaterEncodings(Sequence[_core.Encoding]):
    """The encodings of a call, made when the first is asked for."""

    def __init__(self, make: Callable[[], list[_core.Encoding]], n_rows: int) -> None:
        self._make = make
        self._n_rows = n_rows
        self._made: list[_core.Encoding] | None = None

    @property
    def made(self) -> list[_core.Encoding]:
        """All of them."""
        if self._made is None:
            self._made = self._make()
        return self._made

    @overload
    def __getitem__(self, index: int) -> _core.Encoding: ...
    @overload
    def __getitem__(self, index: slice) -> list[_core.Encoding]: ...
    def __getitem__(self, index: Any) -> Any:
        return self.made[index]

    def __iter__(self) -> Iterator[_core.Encoding]:
        return iter(self.made)

    def __len__(self) -> int:
        return self._n_rows


class Work(NamedTuple):
    """How the texts of a call become rows."""

    tokenizer: Tokenizer
    treated: Mapping[str, Any]
    """What becomes of tokens that a text contains, as options of ``encode``."""
    add_special_tokens: bool
    cut: _core.Lengths
    """Cuts, and fills nothing up."""
    cut_and_filled: _core.Lengths

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Encode texts to ids, cut but not filled up."""
        options = {**self.treated, "add_special_tokens": self.add_special_tokens}
        if len(texts) == 1:
            return [self.tokenizer._row(texts[0], self.cut, **options)]
        return self.tokenizer._rows(texts, self.cut, **options)

    def encodings(self, texts: Sequence[Sample]) -> list[_core.Encoding]:
        """Encode texts, or pairs of them, with all that is known of each id."""
        return self.tokenizer._full_rows(
            texts,
            self.cut_and_filled,
            **self.treated,
            add_special_tokens=self.add_special_tokens,
        )

    def word_encodings(self, words: Sequence[WordSample]) -> list[_core.Encoding]:
        """Encode texts in words, or pairs of them."""
        return self.tokenizer._word_rows(
            words,
            self.cut_and_filled,
            **self.treated,
            add_special_tokens=self.add_special_tokens,
        )


def treated(is_plain: bool | None, added_tokens: Any) -> dict[str, Any]:
    """Say what becomes of tokens that a text contains, as options of ``encode``.

    Without special tokens other added tokens are still found; as text none is.

    >>> treated(True, "find"), treated(False, "text")
    ({'allowed_special': (), 'added_tokens': 'find'}, {'allowed_special': (), 'added_tokens': 'text'})
    """
    finds_special = added_tokens == "find" and not is_plain
    return {
        "allowed_special": "all" if finds_special else (),
        "added_tokens": added_tokens,
    }


class Filling(NamedTuple):
    """What fills rows up."""

    id: int
    token: str
    type_id: int
    side: str


def core_lengths(
    lengths: Lengths, filling: Filling | None, truncation_side: str
) -> tuple[_core.Lengths, _core.Lengths]:
    """Give the lengths of a call to the core: those that cut, and those that fill up too."""
    if lengths.truncation is None and filling is None:
        return NO_LENGTHS, NO_LENGTHS
    cutting: dict[str, Any] = {}
    if lengths.truncation is not None:
        cutting = {
            "max_length": lengths.max_length,
            "stride": lengths.stride,
            "strategy": lengths.truncation,
            "truncation_side": truncation_side,
        }
    cut = _core.Lengths(**cutting)
    if filling is None:
        return cut, cut
    is_fixed = lengths.padding == "max_length"
    filled = _core.Lengths(
        **cutting,
        pad_id=filling.id,
        pad_token=filling.token,
        pad_type_id=filling.type_id,
        pad_length=lengths.max_length if is_fixed else None,
        multiple_of=lengths.multiple_of,
        padding_side=filling.side,
    )
    return cut, filled
