"""The answer of a call: lists by name, and the encodings that they were taken from.

``batch["input_ids"]`` and ``batch.input_ids`` are the same; ``batch.word_ids(0)`` and its
like say what each token of a row stands for, in characters and in words. Words are the
pieces of the text that no merge crosses.

Left out: tensors of other libraries than NumPy and PyTorch.
"""

import importlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from bytepair import _core
from bytepair._numpy import np
from bytepair.errors import TokenizerError

__all__ = ["BatchEncoding", "CharSpan", "TokenSpan", "tensor"]


class CharSpan(NamedTuple):
    """Where characters of a text begin and end."""

    start: int
    end: int


class TokenSpan(NamedTuple):
    """Where tokens of a row begin and end."""

    start: int
    end: int


class BatchEncoding(dict[str, Any]):
    """A mapping whose entries are attributes too."""

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        encoding: _core.Encoding | Sequence[_core.Encoding] | None = None,
        tensor_type: str | None = None,
        prepend_batch_axis: bool = False,  # noqa: FBT001, FBT002 -- transformers' own
        n_sequences: int | None = None,
    ) -> None:
        super().__init__(data or {})
        if isinstance(encoding, _core.Encoding):
            encoding = [encoding]
        self._encodings = encoding
        self._n_sequences = n_sequences
        if tensor_type is not None:
            self.convert_to_tensors(tensor_type, prepend_batch_axis=prepend_batch_axis)

    @property
    def encodings(self) -> list[_core.Encoding] | None:
        """Row by row, what the lists were taken from; ``None`` where there is none."""
        return None if self._encodings is None else list(self._encodings)

    @property
    def data(self) -> dict[str, Any]:
        """The entries; this mapping itself."""
        return self

    @property
    def is_fast(self) -> bool:
        """Whether there are encodings."""
        return self._encodings is not None

    @property
    def n_sequences(self) -> int | None:
        """How many texts a row is made of, 1 or 2; ``None`` where that is not known."""
        if self._n_sequences is not None or not self._encodings:
            return self._n_sequences
        return self._encodings[0].n_sequences

    def __getitem__(self, item: Any) -> Any:  # noqa: ANN401 -- a name, a row, or rows
        """Give an entry by name, the encoding of a row, or those of a slice of rows.

        Where there are no encodings, a slice is one of each entry.
        """
        if isinstance(item, str):
            return super().__getitem__(item)
        if self._encodings is not None:
            return self._encodings[item]
        if isinstance(item, slice):
            return {name: value[item] for name, value in self.items()}
        message = (
            f"{item!r}: this batch was not made by a call; rows have names, or slices"
        )
        raise KeyError(message)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- any entry
        try:
            return super().__getitem__(name)
        except KeyError:
            raise AttributeError(name) from None

    def __reduce__(self) -> tuple[Any, ...]:
        return BatchEncoding, (
            dict(self),
            self.encodings,
            None,
            False,
            self._n_sequences,
        )

    def copy(self) -> "BatchEncoding":
        """Make a batch with the same entries."""
        return BatchEncoding(self, self._encodings, None, False, self._n_sequences)  # noqa: FBT003

    def __or__(self, other: Mapping[str, Any]) -> "BatchEncoding":  # type: ignore[override]
        """Make a batch with more entries; as in transformers, it knows no encodings."""
        return BatchEncoding({**self, **other})

    def to(self, device: object, *, non_blocking: bool = False) -> "BatchEncoding":
        """Move the tensors of a batch to a device.

        Raises
        ------
        ImportError
            PyTorch is not installed, so that nothing can be moved.
        """
        _torch()
        for name, value in self.items():
            if hasattr(value, "to"):
                self[name] = value.to(device, non_blocking=non_blocking)
        return self

    def convert_to_tensors(
        self,
        tensor_type: str | None = None,
        prepend_batch_axis: bool = False,  # noqa: FBT001, FBT002 -- transformers' own
    ) -> "BatchEncoding":
        """Make every entry a tensor: ``"np"``, or ``"pt"`` where torch is installed."""
        if tensor_type is None:
            return self
        kind = str(getattr(tensor_type, "value", tensor_type))
        for name, rows in self.items():
            values = [rows] if prepend_batch_axis else rows
            if not _is_tensor(values, kind):
                self[name] = tensor(values, kind)
        return self

    # What each token of a row stands for

    def _row(self, batch_index: int) -> _core.Encoding:
        if self._encodings is None:
            message = "this batch was not made by a call, so it has no tokens"
            raise TokenizerError(message)
        return self._encodings[batch_index]

    def tokens(self, batch_index: int = 0) -> list[str]:
        """Give the tokens of a row as they are written."""
        return self._row(batch_index).tokens

    def word_ids(self, batch_index: int = 0) -> list[int | None]:
        """Give the word that each token belongs to; ``None`` where it has no text."""
        return self._row(batch_index).word_ids

    def sequence_ids(self, batch_index: int = 0) -> list[int | None]:
        """Give the text that each token belongs to, 0 or 1; ``None`` where it has none."""
        return self._row(batch_index).sequence_ids

    def token_to_sequence(
        self, batch_or_token_index: int, token_index: int | None = None
    ) -> int | None:
        """Tell the text of a token; indices are of row and token, or of a token of row 0."""
        row, token = self._token(batch_or_token_index, token_index)
        return row.token_to_sequence(token)

    def token_to_word(
        self, batch_or_token_index: int, token_index: int | None = None
    ) -> int | None:
        """Tell the word of a token."""
        row, token = self._token(batch_or_token_index, token_index)
        return row.token_to_word(token)

    def token_to_chars(
        self, batch_or_token_index: int, token_index: int | None = None
    ) -> CharSpan | None:
        """Tell the characters of a token; ``None`` for one without text."""
        row, token = self._token(batch_or_token_index, token_index)
        span = row.token_to_chars(token)
        return None if span is None else CharSpan(*span)

    def char_to_token(
        self,
        batch_or_char_index: int,
        char_index: int | None = None,
        sequence_index: int = 0,
    ) -> int | None:
        """Tell the token that a character of a text is in, or the first of several."""
        row, character = self._place(batch_or_char_index, char_index)
        return row.char_to_token(character, sequence_index)

    def char_to_word(
        self,
        batch_or_char_index: int,
        char_index: int | None = None,
        sequence_index: int = 0,
    ) -> int | None:
        """Tell the word that a character of a text is in."""
        row, character = self._place(batch_or_char_index, char_index)
        return row.char_to_word(character, sequence_index)

    def word_to_tokens(
        self,
        batch_or_word_index: int,
        word_index: int | None = None,
        sequence_index: int = 0,
    ) -> TokenSpan | None:
        """Tell the tokens of a word."""
        row, word = self._place(batch_or_word_index, word_index)
        span = row.word_to_tokens(word, sequence_index)
        return None if span is None else TokenSpan(*span)

    def word_to_chars(
        self,
        batch_or_word_index: int,
        word_index: int | None = None,
        sequence_index: int = 0,
    ) -> CharSpan | None:
        """Tell the characters of a word."""
        row, word = self._place(batch_or_word_index, word_index)
        span = row.word_to_chars(word, sequence_index)
        return None if span is None else CharSpan(*span)

    def _place(self, first: int, second: int | None) -> tuple[_core.Encoding, int]:
        """Read the indices of a row and of something in it; one index is of row 0."""
        batch_index, index = (0, first) if second is None else (first, second)
        return self._row(batch_index), index

    def _token(self, first: int, second: int | None) -> tuple[_core.Encoding, int]:
        """Read the indices of a row and of a token in it, which may be counted from its end.

        Raises
        ------
        IndexError
            The row has no such token.
        """
        row, index = self._place(first, second)
        if not -len(row) <= index < len(row):
            message = f"no token {index} in a row of {len(row)}"
            raise IndexError(message)
        return row, index % len(row)


def tensor(values: Sequence[Any], kind: str) -> Any:  # noqa: ANN401 -- of another library
    """Make a tensor of rows; ids are ``int64[n_rows, length]``.

    Rows that differ in length are an array of arrays for NumPy, and an error for PyTorch.
    """
    if kind == "np" and len(set(_lengths(values))) > 1:
        return np.asarray([np.asarray(row) for row in values], dtype=object)
    if len(set(_lengths(values))) > 1:
        message = (
            "inputs differ in length; use padding=True, truncation=True for a tensor"
        )
        raise TokenizerError(message)
    if kind == "np":
        try:
            found = np.asarray(values)
        except ValueError as error:
            message = f"inputs are nested unevenly and do not make a tensor: {error}"
            raise TokenizerError(message) from error
        return found.astype(np.int64) if found.size == 0 else found
    if kind == "pt":
        return _torch().tensor(values)
    message = f"return_tensors must be 'np' or 'pt', not {kind!r}"
    raise TokenizerError(message)


def _is_tensor(values: Any, kind: str) -> bool:  # noqa: ANN401 -- of any library
    if kind == "np":
        return isinstance(values, np.ndarray)
    return kind == "pt" and bool(_torch().is_tensor(values))


def _torch() -> Any:  # noqa: ANN401 -- may be absent
    try:
        return importlib.import_module("torch")
    except ImportError as error:
        message = (
            "tensors need PyTorch, which is not installed; 'np' gives arrays of NumPy"
        )
        raise ImportError(message) from error


def _lengths(values: Iterable[Any]) -> list[int]:
    return [len(value) for value in values if isinstance(value, (list, tuple))]
