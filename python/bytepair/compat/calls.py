"""Calls of a tokenizer in the shape of transformers: texts to rows, and rows to texts.

A call derives a tokenizer with the lengths that it asks for, which compiles nothing, and
the core does the rest: ``encode_full_batch``. The lengths that a file holds are not
applied: as in transformers, a call says what it wants.

Left out: tensors of rows that differ in length.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from bytepair import Tokenizer, _core
from bytepair.errors import TokenizerError, UnknownTokenError

from .batch import BatchEncoding
from .lengths import (
    Lengths,
    Side,
    has_many,
    padding_of,
    samples,
    truncation_of,
    word_samples,
)
from .padding import columns, kind_of_tensors, padded
from .roles import Roles

__all__ = ["Calls"]

LARGE = int(1e20)
"""A ``model_max_length`` beyond this is no limit."""


class Calls(Roles):
    """A tokenizer that encodes, fills up and decodes."""

    def __call__(
        self,
        text: Any = None,  # noqa: ANN401 -- a text, a pair, words, or a batch
        text_pair: Any = None,  # noqa: ANN401
        text_target: Any = None,  # noqa: ANN401
        text_pair_target: Any = None,  # noqa: ANN401
        *,
        max_length: int | None = None,
        max_target_length: int | None = None,
        tokenizer_kwargs: Mapping[str, Any] | None = None,
        **options: Any,  # noqa: ANN401 -- those of ``_encoded``
    ) -> BatchEncoding:
        """Encode a text, a pair of texts, or a batch of either.

        A pair is ``text`` and ``text_pair``, or a tuple or a list of two in a batch.
        ``padding`` is ``True`` (to the longest) or ``"max_length"``; ``truncation`` is
        ``True`` (the longest first), ``"only_first"`` or ``"only_second"``;
        ``return_tensors`` is ``"np"``, or ``"pt"`` where torch is installed. With
        ``is_split_into_words`` a text is a list of words; offsets count from the word.
        ``text_target`` makes ``labels``. Offsets are in characters. ``verbose`` is there for
        the shape: nothing is printed.

        Raises
        ------
        TokenizerError
            Arguments do not fit together; the message says which.
        """
        options = {**options, **(tokenizer_kwargs or {})}
        max_length = options.pop("max_length", max_length)
        if text is None and text_target is None:
            message = "pass a text, or text_target, or both"
            raise TokenizerError(message)
        target_length = max_length if max_target_length is None else max_target_length
        if text is None:
            return self._encoded(
                text_target, text_pair_target, max_length=target_length, **options
            )
        found = self._encoded(text, text_pair, max_length=max_length, **options)
        if text_target is not None:
            target = self._encoded(
                text_target, text_pair_target, max_length=target_length, **options
            )
            found["labels"] = target["input_ids"]
        return found

    def _encoded(
        self,
        text: Any,  # noqa: ANN401 -- what a caller passed
        text_pair: Any,  # noqa: ANN401
        *,
        add_special_tokens: bool = True,
        padding: bool | str = False,
        truncation: bool | str | None = None,
        max_length: int | None = None,
        stride: int = 0,
        is_split_into_words: bool = False,
        pad_to_multiple_of: int | None = None,
        padding_side: Side | None = None,
        return_tensors: str | None = None,
        return_token_type_ids: bool | None = None,
        return_attention_mask: bool | None = None,
        return_overflowing_tokens: bool = False,
        return_special_tokens_mask: bool = False,
        return_offsets_mapping: bool = False,
        return_length: bool = False,
        split_special_tokens: bool | None = None,
        verbose: bool = True,
    ) -> BatchEncoding:
        if split_special_tokens is None:
            split_special_tokens = self.split_special_tokens
        lengths = self._lengths(
            padding, truncation, max_length, stride, pad_to_multiple_of, padding_side
        )
        encodings = self._rows(
            text,
            text_pair,
            lengths,
            is_words=is_split_into_words,
            is_plain=split_special_tokens,
            add_special_tokens=add_special_tokens,
        )
        owners = list(range(len(encodings)))
        if return_overflowing_tokens:
            groups = [[first, *first.overflowing] for first in encodings]
            owners = [i for i, group in enumerate(groups) for _ in group]
            encodings = [row for group in groups for row in group]
        wanted = self._wanted(
            return_token_type_ids,
            return_attention_mask,
            return_special_tokens_mask,
            return_offsets_mapping,
        )
        found: dict[str, Any] = {
            name: [getattr(row, field) for row in encodings] for name, field in wanted
        }
        if return_length:
            found["length"] = [len(row) for row in encodings]
        if return_overflowing_tokens:
            found["overflow_to_sample_mapping"] = owners
        is_batch = has_many(text, is_words=is_split_into_words)
        is_single = not (is_batch or return_overflowing_tokens or return_tensors)
        if is_single:  # lengths are a list even then
            found = {k: v if k == "length" else v[0] for k, v in found.items()}
        return BatchEncoding(found, encodings, return_tensors)

    def _rows(
        self,
        text: Any,  # noqa: ANN401 -- what a caller passed
        text_pair: Any,  # noqa: ANN401
        lengths: Lengths,
        *,
        is_words: bool,
        is_plain: bool,
        add_special_tokens: bool,
    ) -> list[_core.Encoding]:
        """Encode texts, or lists of words, to the lengths that a call asks for."""
        options: dict[str, Any] = {
            "allowed_special": () if is_plain else "all",
            "add_special_tokens": add_special_tokens,
            "fit_length": True,
        }
        if is_words:
            words = word_samples(text, text_pair)
            return self._fitted(lengths)._encode_words_batch(words, **options)
        texts = samples(text, text_pair)
        return self._fitted(lengths).encode_full_batch(texts, **options)

    def _wanted(
        self,
        type_ids: bool | None,  # noqa: FBT001
        attention: bool | None,  # noqa: FBT001
        special: bool,  # noqa: FBT001
        offsets: bool,  # noqa: FBT001
    ) -> list[tuple[str, str]]:
        """List the entries of an answer, and which list of an encoding each is."""

        def is_asked(name: str, asked: bool | None) -> bool:  # noqa: FBT001
            return name in self.model_input_names if asked is None else asked

        entries = [
            ("input_ids", "ids", True),
            ("token_type_ids", "type_ids", is_asked("token_type_ids", type_ids)),
            ("attention_mask", "attention_mask", is_asked("attention_mask", attention)),
            ("special_tokens_mask", "special_tokens_mask", special),
            ("offset_mapping", "offsets", offsets),
        ]
        return [(name, field) for name, field, is_wanted in entries if is_wanted]

    def _lengths(
        self,
        padding: bool | str,  # noqa: FBT001 -- transformers' own
        truncation: bool | str | None,  # noqa: FBT001
        max_length: int | None,
        stride: int,
        multiple_of: int | None,
        padding_side: Side | None,
    ) -> Lengths:
        """Say what the arguments of a call mean together."""
        if max_length is not None and padding is False and truncation is None:
            truncation = True
        how_to_pad, how_to_cut = padding_of(padding), truncation_of(truncation)
        if max_length is None and self.model_max_length > LARGE:
            how_to_cut = None
            how_to_pad = None if how_to_pad == "max_length" else how_to_pad
        elif max_length is None and (how_to_cut or how_to_pad == "max_length"):
            max_length = self.model_max_length
        if how_to_pad and self.pad_token_id is None:
            message = "no padding token; set pad_token, for instance to eos_token"
            raise TokenizerError(message)
        is_cut_and_filled = how_to_pad and how_to_cut
        if (
            is_cut_and_filled
            and max_length
            and multiple_of
            and max_length % multiple_of
        ):
            message = (
                f"max_length is {max_length}, which is no multiple of pad_to_multiple_of, "
                f"{multiple_of}; texts cannot be cut to the one and filled up to the other"
            )
            raise TokenizerError(message)
        return Lengths(
            how_to_cut, how_to_pad, max_length, stride, multiple_of, padding_side
        )

    def _check_stride(self, lengths: Lengths) -> None:
        """Refuse a stride that leaves parts without ids of their own."""
        n_special = self.num_special_tokens_to_add()
        limit = lengths.max_length
        if (
            lengths.truncation
            and limit is not None
            and n_special <= limit < n_special + lengths.stride
        ):
            message = (
                f"stride is {lengths.stride}, but of max_length {limit} only "
                f"{limit - n_special} ids are left beside special tokens"
            )
            raise TokenizerError(message)

    def _fitted(self, lengths: Lengths) -> Tokenizer:
        """Derive the tokenizer that cuts and fills as a call asks for."""
        strategy: Any = lengths.truncation
        self._check_stride(lengths)
        tokenizer = self.tokenizer.with_truncation(
            lengths.max_length if strategy else None,
            stride=lengths.stride,
            strategy=strategy or "longest_first",
            side=self.truncation_side,
        )
        return tokenizer.with_padding(
            self.pad_token_id if lengths.padding else None,
            length=lengths.max_length if lengths.padding == "max_length" else None,
            multiple_of=lengths.multiple_of,
            side=lengths.padding_side or self.padding_side,
            type_id=self.pad_token_type_id,
        )

    def encode(
        self,
        text: str,
        text_pair: str | None = None,
        **options: Any,  # noqa: ANN401 -- those of a call
    ) -> list[int]:
        """Encode to ids alone."""
        found: list[int] = self(text, text_pair, **options)["input_ids"]
        return found

    def tokenize(
        self,
        text: str,
        pair: str | None = None,
        *,
        add_special_tokens: bool = False,
        **options: Any,  # noqa: ANN401 -- those of a call
    ) -> list[str]:
        """Encode to tokens as they are written; a text alone, as they stand there."""
        if pair is None and not add_special_tokens and not options:
            found = self.tokenizer.encode_full(text, allowed_special="all")
            return list(found.tokens)
        ids = self.encode(text, pair, add_special_tokens=add_special_tokens, **options)
        return [self._tokens[id_] for id_ in ids]

    def pad(
        self,
        encoded_inputs: Any,  # noqa: ANN401 -- rows or columns
        padding: bool | str = True,  # noqa: FBT001, FBT002 -- transformers' own
        max_length: int | None = None,
        pad_to_multiple_of: int | None = None,
        padding_side: Side | None = None,
        return_attention_mask: bool | None = None,  # noqa: FBT001
        return_tensors: str | None = None,
        verbose: bool = True,  # noqa: FBT001, FBT002
    ) -> BatchEncoding:
        """Fill up rows that are encoded already: a batch, or a list of answers.

        Columns other than ids, types and masks stay as they are. Rows that are arrays give
        arrays.

        Raises
        ------
        TokenizerError
            There are no ids, or no padding token, or columns differ in length.
        """
        name = self.model_input_names[0]
        kind = return_tensors or kind_of_tensors(encoded_inputs, name)
        found = columns(encoded_inputs)
        if name not in found:
            message = f"expected rows with {name}, found {sorted(found)}"
            raise TokenizerError(message)
        if not found[name]:
            masks: dict[str, Any] = (
                {"attention_mask": []} if return_attention_mask else {}
            )
            return BatchEncoding({**found, **masks})
        if return_attention_mask is None:
            return_attention_mask = "attention_mask" in self.model_input_names
        is_batch = isinstance(found[name][0], (list, tuple))
        if not is_batch:
            found = {k: [row] for k, row in found.items()}
        rows: list[list[int]] = found[name]
        if any(len(column) != len(rows) for column in found.values()):
            sizes = {k: len(column) for k, column in found.items()}
            message = f"columns differ in length: {sizes}"
            raise TokenizerError(message)
        if return_attention_mask and "attention_mask" not in found:
            found["attention_mask"] = [[1] * len(row) for row in rows]
        lengths = self._lengths(
            padding, "do_not_truncate", max_length, 0, pad_to_multiple_of, padding_side
        )
        if lengths.padding:
            longest = max(map(len, rows))
            goal = lengths.max_length if lengths.padding == "max_length" else longest
            multiple = pad_to_multiple_of or 1
            values: dict[str, Any] = {
                name: self.pad_token_id,
                "token_type_ids": self.pad_token_type_id,
                "special_tokens_mask": 1,
                **({"attention_mask": 0} if return_attention_mask else {}),
            }
            side = padding_side or self.padding_side
            found = padded(
                found, -(-(goal or 0) // multiple) * multiple, values, side=side
            )
        if not is_batch:
            found = {k: column[0] for k, column in found.items()}
        return BatchEncoding(found, tensor_type=kind)

    # Decoding

    def decode(
        self,
        token_ids: Any,  # noqa: ANN401 -- ids of many kinds
        skip_special_tokens: bool = False,  # noqa: FBT001, FBT002 -- transformers' own
        *,
        clean_up_tokenization_spaces: bool | None = None,
    ) -> Any:  # noqa: ANN401 -- one text, or several
        """Decode ids, or a batch of ids.

        ``clean_up_tokenization_spaces`` is there for the shape: it would take spaces out of
        texts of byte-pair encodings, and has no effect, as in transformers 5.
        """
        ids = token_ids.tolist() if hasattr(token_ids, "tolist") else token_ids
        if isinstance(ids, int):
            ids = [ids]
        ids = list(ids)
        if ids and not isinstance(ids[0], int):
            return [
                self.decode(some, skip_special_tokens=skip_special_tokens)
                for some in ids
            ]
        try:
            return self.tokenizer.decode(ids, skip_special_tokens=skip_special_tokens)
        except UnknownTokenError:  # of such an id transformers makes nothing
            ids = [id_ for id_ in ids if id_ in self._tokens]
        return self.tokenizer.decode(ids, skip_special_tokens=skip_special_tokens)

    def batch_decode(
        self,
        sequences: Any,  # noqa: ANN401 -- lists or arrays
        skip_special_tokens: bool = False,  # noqa: FBT001, FBT002 -- transformers' own
        *,
        clean_up_tokenization_spaces: bool | None = None,
    ) -> list[str]:
        """Decode many lists of ids."""
        return [
            self.decode(ids, skip_special_tokens=skip_special_tokens)
            for ids in sequences
        ]

    def convert_tokens_to_string(self, tokens: Sequence[str]) -> str:
        """Decode tokens as they are written.

        Raises
        ------
        UnknownTokenError
            One of them is not in the vocabulary.
        """
        missing = [token for token in tokens if token not in self._vocabulary]
        if missing:
            message = f"{missing[0]!r} is no token of this tokenizer"
            raise UnknownTokenError(message)
        return str(self.decode([self._vocabulary[token] for token in tokens]))
