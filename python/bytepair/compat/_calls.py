"""Calls of a tokenizer in the shape of transformers: texts to rows, and rows to texts.

Arguments have the names, the order and the defaults that they have there. The lengths that
a file holds are not applied: as in transformers, a call says what it wants. A keyword that
is not known is refused, where transformers says nothing and does nothing.

Costs what the native ``encode`` costs, and a few microseconds; what is known of each token
besides its id is made when it is asked for.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from bytepair import _core
from bytepair.errors import FormatError, TokenizerError, UnknownTokenError

from ._batch import BatchEncoding
from ._lengths import (
    Lengths,
    Side,
    has_many,
    padding_of,
    samples,
    truncation_of,
    word_samples,
)
from ._padding import columns, kind_of_tensors, padded
from ._roles import Roles, check_id
from ._rows import Filling, LaterEncodings, Work, core_lengths, treated

__all__ = ["OF_DECODING", "Calls", "is_row"]

LOGGER = logging.getLogger("transformers.bytepair")
"""Is quiet where a program makes those of transformers quiet."""
TOO_LONG = "sequence-length-is-longer-than-the-specified-maximum"
CLEANS_BYTE_PAIRS = (
    "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output"
)
CLEANED = {
    " .": ".",
    " ?": "?",
    " !": "!",
    " ,": ",",
    " ' ": "'",
    " n't": "n't",
    " 'm": "'m",
    " 's": "'s",
    " 've": "'ve",
    " 're": "'re",
}
"""What :meth:`Calls.clean_up_tokenization` writes in place of what, in this order."""
ACT_ON_TOKENS = {
    "added_tokens",
    "is_split_into_words",
    "split_special_tokens",
    "verbose",
}
OF_DECODING = frozenset(
    {
        "clean_up_tokenization_spaces",
        "spaces_between_special_tokens",
        "use_source_tokenizer",
    }
)
LARGE = int(1e20)
"""A ``model_max_length`` beyond this is no limit."""


class Request(NamedTuple):
    """What a call asks for, besides its texts."""

    add_special_tokens: bool = True
    padding: Any = False
    truncation: Any = None
    max_length: int | None = None
    stride: int = 0
    is_split_into_words: bool = False
    pad_to_multiple_of: int | None = None
    padding_side: Side | None = None
    return_tensors: str | None = None
    return_token_type_ids: bool | None = None
    return_attention_mask: bool | None = None
    return_overflowing_tokens: bool = False
    return_special_tokens_mask: bool = False
    return_offsets_mapping: bool = False
    return_length: bool = False
    verbose: bool = True
    split_special_tokens: bool | None = None
    added_tokens: str | None = None

    def changed(self, options: Mapping[str, Any]) -> "Request":
        """Give the request with more options, and refuse those that no call has."""
        options = dict(options)
        if options.pop("sanitize_control_tokens", False):
            message = (
                "sanitize_control_tokens=True is not supported; encode each message with "
                "added_tokens='text', and put the control tokens between them"
            )
            raise NotImplementedError(message)
        for name in options:
            if name not in self._fields:
                message = f"a call does not take the argument {name!r}"
                raise TypeError(message)
        return self._replace(**options)


class Calls(Roles):
    """A tokenizer that encodes, fills up and decodes."""

    _of_decoding = OF_DECODING

    @cached_property
    def clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output(
        self,
    ) -> bool:
        """The setting of this name."""
        return bool(self.init_kwargs.get(CLEANS_BYTE_PAIRS))

    def __call__(
        self,
        text: Any = None,
        text_pair: Any = None,
        text_target: Any = None,
        text_pair_target: Any = None,
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
        verbose: bool = True,
        tokenizer_kwargs: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> BatchEncoding:
        """Encode a text, a pair of texts, or a batch of either.

        A pair is ``text`` and ``text_pair``, or a tuple or a list of two in a batch.
        ``padding`` is ``True`` (to the longest) or ``"max_length"``; ``truncation`` is
        ``True`` (the longest first), ``"only_first"`` or ``"only_second"``;
        ``return_tensors`` is ``"np"``, or ``"pt"`` where torch is installed. With
        ``is_split_into_words`` a text is a list of words; offsets count from the word.
        ``text_target`` makes ``labels``, cut to ``max_target_length`` if that is given. With
        ``split_special_tokens``, special tokens in the text are plain text, but other added
        tokens are found; with ``added_tokens="text"``, all added tokens in the text are plain
        text. Offsets are in characters. With ``verbose``, a row that is longer than the model takes is logged,
        once, as a warning of the logger ``transformers.bytepair``.

        Raises
        ------
        TokenizerError
            Arguments do not fit together; the message says which.
        TypeError
            An argument is not known.
        """
        request = Request(
            add_special_tokens,
            padding,
            truncation,
            max_length,
            stride,
            is_split_into_words,
            pad_to_multiple_of,
            padding_side,
            return_tensors,
            return_token_type_ids,
            return_attention_mask,
            return_overflowing_tokens,
            return_special_tokens_mask,
            return_offsets_mapping,
            return_length,
            verbose,
        )
        max_target_length = None
        if kwargs or tokenizer_kwargs:
            options = {**(tokenizer_kwargs or {}), **kwargs}
            max_target_length = options.pop("max_target_length", None)
            request = request.changed(options)
        if text_target is None and text is not None:
            self._switch_to_input_mode()
            return self._encoded(text, text_pair, request)
        if text is None and text_target is None:
            message = "pass a text, or text_target, or both"
            raise TokenizerError(message)
        for_target = request
        if max_target_length is not None:
            for_target = request._replace(max_length=max_target_length)
        self._switch_to_target_mode()
        try:
            target = self._encoded(text_target, text_pair_target, for_target)
        finally:
            self._switch_to_input_mode()
        if text is None:
            return target
        found = self._encoded(text, text_pair, request)
        found["labels"] = target["input_ids"]
        return found

    def _switch_to_input_mode(self) -> None:
        """Put around texts what models read; classes with languages have more than one."""

    def _switch_to_target_mode(self) -> None:
        """Put around texts what models write."""

    def _encoded(self, text: Any, text_pair: Any, request: Request) -> BatchEncoding:
        work, lengths = self._work(request)
        is_words = request.is_split_into_words
        is_single = isinstance(text, str) or not has_many(text, is_words=is_words)
        if is_words:
            words = word_samples(text, text_pair)
            encodings = work.word_encodings(words)
            found, encodings = self._columns(encodings, request)
            return self._answer(found, encodings, request, is_single=is_single)
        texts = samples(text, text_pair)
        single = [text for text in texts if isinstance(text, str)]
        if len(single) == len(texts) and self._asks_for_ids(request):
            found = self._columns_of_ids(work.ids(single), lengths, request)
            later = LaterEncodings(lambda: work.encodings(texts), len(texts))
            return self._answer(found, later, request, is_single=is_single)
        found, encodings = self._columns(work.encodings(texts), request)
        return self._answer(found, encodings, request, is_single=is_single)

    def _answer(
        self,
        found: dict[str, Any],
        encodings: Sequence[_core.Encoding],
        request: Request,
        *,
        is_single: bool,
    ) -> BatchEncoding:
        """Make the answer of columns; a single text has no rows, unless they are asked for."""
        if request.verbose and request.max_length is None:
            self._warn_of_length(found["input_ids"])
        has_rows = request.return_overflowing_tokens or request.return_tensors
        if is_single and not has_rows:  # lengths are a list even then
            found = {k: v if k == "length" else v[0] for k, v in found.items()}
        return BatchEncoding(found, encodings, request.return_tensors)

    def _warn_of_length(self, rows: Iterable[Sequence[int]]) -> None:
        """Log once that a row has more ids than the model takes."""
        limit = self.model_max_length
        if limit > LARGE or not limit or self.deprecation_warnings.get(TOO_LONG):
            return
        longest = max(map(len, rows), default=0)
        if longest > limit:
            self.deprecation_warnings[TOO_LONG] = True
            LOGGER.warning(
                "Token indices sequence length is longer than the specified maximum "
                "sequence length for this model (%d > %d); cut it with truncation=True",
                longest,
                limit,
            )

    def _work(self, request: Request) -> tuple[Work, Lengths]:
        """Say how texts become rows, and how long these are."""
        lengths = self._lengths(request)
        filling = None
        if lengths.padding:
            side = lengths.padding_side or self.padding_side
            filling = Filling(
                self.pad_token_id or 0,
                self.pad_token or "",
                self.pad_token_type_id,
                side,
            )
        if lengths.truncation:
            self._check_stride(lengths)
        work = Work(
            self.tokenizer,
            self._treated(request),
            request.add_special_tokens,
            *core_lengths(lengths, filling, self.truncation_side),
        )
        return work, lengths

    def _treated(self, request: Request) -> dict[str, Any]:
        """Say what becomes of tokens that a text contains."""
        is_plain, added = request.split_special_tokens, request.added_tokens
        if is_plain is None:
            is_plain = self.split_special_tokens
        return treated(is_plain, self.added_tokens if added is None else added)

    def _asks_for_ids(self, request: Request) -> bool:
        """Tell whether all that a call wants can be made of the ids of its texts."""
        return not (
            request.return_overflowing_tokens
            or request.return_special_tokens_mask
            or request.return_offsets_mapping
            or self._has("token_type_ids", request.return_token_type_ids)
        )

    def _has(self, name: str, asked: bool | None) -> bool:
        """Tell whether an answer has an entry: if that is asked for, or usual."""
        return name in self.model_input_names if asked is None else asked

    def _columns_of_ids(
        self, rows: list[list[int]], lengths: Lengths, request: Request
    ) -> dict[str, Any]:
        """Make the entries of an answer of the ids of texts, and fill them up."""
        found: dict[str, Any] = {"input_ids": rows}
        if self._has("attention_mask", request.return_attention_mask):
            found["attention_mask"] = [[1] * len(row) for row in rows]
        if lengths.padding:
            found = self._padded(found, rows, lengths)
        if request.return_length:
            found["length"] = [len(row) for row in found["input_ids"]]
        return found

    def _columns(
        self, encodings: list[_core.Encoding], request: Request
    ) -> tuple[dict[str, Any], list[_core.Encoding]]:
        """Make the entries of an answer of encodings; gives the encoding of each row too."""
        owners = list(range(len(encodings)))
        if request.return_overflowing_tokens:
            groups = [[first, *first.overflowing] for first in encodings]
            owners = [i for i, group in enumerate(groups) for _ in group]
            encodings = [row for group in groups for row in group]
        types = self._has("token_type_ids", request.return_token_type_ids)
        attention = self._has("attention_mask", request.return_attention_mask)
        fields = [
            ("input_ids", "ids", True),
            ("token_type_ids", "type_ids", types),
            ("attention_mask", "attention_mask", attention),
            (
                "special_tokens_mask",
                "special_tokens_mask",
                request.return_special_tokens_mask,
            ),
            ("offset_mapping", "offsets", request.return_offsets_mapping),
        ]
        found: dict[str, Any] = {
            name: [getattr(row, field) for row in encodings]
            for name, field, is_wanted in fields
            if is_wanted
        }
        if request.return_length:
            found["length"] = [len(row) for row in encodings]
        if request.return_overflowing_tokens:
            found["overflow_to_sample_mapping"] = owners
        return found, encodings

    def _lengths(self, request: Request) -> Lengths:
        """Say what the arguments of a call mean together."""
        padding, truncation = request.padding, request.truncation
        max_length, multiple_of = request.max_length, request.pad_to_multiple_of
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
                f"max_length is {max_length}, which is not a multiple of pad_to_multiple_of, "
                f"{multiple_of}; texts cannot be both truncated to max_length and padded to a multiple"
            )
            raise TokenizerError(message)
        return Lengths(
            how_to_cut,
            how_to_pad,
            max_length,
            request.stride,
            multiple_of,
            request.padding_side,
        )

    def _check_stride(self, lengths: Lengths) -> None:
        """Refuse a stride that leaves parts without ids of their own."""
        if not lengths.stride or lengths.max_length is None:
            return
        n_special = self.num_special_tokens_to_add()
        limit = lengths.max_length
        if n_special <= limit < n_special + lengths.stride:
            message = (
                f"stride is {lengths.stride}, but max_length {limit} leaves only "
                f"{limit - n_special} ids beside the special tokens"
            )
            raise TokenizerError(message)

    def encode(
        self,
        text: Any,
        text_pair: Any = None,
        add_special_tokens: bool = True,
        padding: bool | str = False,
        truncation: bool | str | None = None,
        max_length: int | None = None,
        stride: int = 0,
        padding_side: Side | None = None,
        return_tensors: str | None = None,
        **kwargs: Any,
    ) -> list[int]:
        """Encode to ids alone; the arguments are those of a call."""
        request = Request(
            add_special_tokens,
            padding,
            truncation,
            max_length,
            stride,
            padding_side=padding_side,
            return_tensors=return_tensors,
            return_token_type_ids=False,
            return_attention_mask=False,
        )
        if kwargs:
            request = request.changed(kwargs)
        found: list[int] = self._encoded(text, text_pair, request)["input_ids"]
        return found

    def tokenize(
        self,
        text: Any,
        pair: Any = None,
        add_special_tokens: bool = False,
        **kwargs: Any,
    ) -> list[str]:
        """Encode to tokens as they are written.

        ``kwargs`` are ``is_split_into_words``, ``split_special_tokens``, ``added_tokens`` and
        ``verbose``; what changes lengths has no effect in transformers, and is refused here.
        """
        for name in kwargs:
            if name not in ACT_ON_TOKENS:
                message = (
                    f"tokenize does not take the argument {name!r}: tokens are neither truncated "
                    "nor padded; pass it to a call, whose result has tokens()"
                )
                raise TypeError(message)
        request = Request(add_special_tokens=add_special_tokens, **kwargs)
        if request.is_split_into_words:
            return self._encoded(text, pair, request).tokens()
        work, _ = self._work(request)
        return list(work.encodings(samples(text, pair)[:1])[0].tokens)

    def pad(
        self,
        encoded_inputs: Any,
        padding: bool | str = True,
        max_length: int | None = None,
        pad_to_multiple_of: int | None = None,
        padding_side: Side | None = None,
        return_attention_mask: bool | None = None,
        return_tensors: str | None = None,
        verbose: bool = True,
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
        request = Request(
            padding=padding,
            truncation="do_not_truncate",
            max_length=max_length,
            pad_to_multiple_of=pad_to_multiple_of,
            padding_side=padding_side,
        )
        lengths = self._lengths(request)
        if lengths.padding:
            has_mask = return_attention_mask
            found = self._padded(found, rows, lengths, name=name, has_mask=has_mask)
        if not is_batch:
            found = {k: column[0] for k, column in found.items()}
        return BatchEncoding(found, tensor_type=kind)

    def _padded(
        self,
        found: Mapping[str, list[Any]],
        rows: list[list[int]],
        lengths: Lengths,
        *,
        name: str = "input_ids",
        has_mask: bool = True,
    ) -> dict[str, list[Any]]:
        """Fill up the columns that belong to rows of ids; ``name`` is that of the ids."""
        longest = max(map(len, rows), default=0)
        goal = lengths.max_length if lengths.padding == "max_length" else longest
        multiple = lengths.multiple_of or 1
        values: dict[str, Any] = {
            name: self.pad_token_id,
            "token_type_ids": self.pad_token_type_id,
            "special_tokens_mask": 1,
            **({"attention_mask": 0} if has_mask else {}),
        }
        side = lengths.padding_side or self.padding_side
        return padded(found, -(-(goal or 0) // multiple) * multiple, values, side=side)

    # Decoding

    def decode(
        self, token_ids: Any, skip_special_tokens: bool = False, **kwargs: Any
    ) -> Any:
        """Decode ids, or a batch of ids, or the ids of a batch.

        ``clean_up_tokenization_spaces`` has no effect, as in transformers 5, unless the
        setting ``clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output``
        is true. ``spaces_between_special_tokens`` and ``use_source_tokenizer`` have none
        either: fast tokenizers put no spaces there, whatever is passed. An id that is past
        the vocabulary has no text.

        Raises
        ------
        TokenizerError
            A number is no id: it is negative, or past 32 bits (an ``OverflowError`` too).
        TypeError
            An argument is not known.
        """
        if kwargs:
            self._check_decoding(kwargs)
        if isinstance(token_ids, Mapping):
            token_ids = token_ids["input_ids"]
        ids = token_ids.tolist() if hasattr(token_ids, "tolist") else token_ids
        if isinstance(ids, int):
            ids = [ids]
        ids = ids if isinstance(ids, list) else list(ids)
        if ids and is_row(ids[0]):
            return [self.decode(some, skip_special_tokens, **kwargs) for some in ids]
        text = self._text(ids, skip_special_tokens=skip_special_tokens)
        cleans = kwargs.get("clean_up_tokenization_spaces")
        if cleans is None:
            cleans = self.clean_up_tokenization_spaces
        return self.clean_up_tokenization(text) if cleans and self._may_clean else text

    def clean_up_tokenization(self, text: str) -> str:
        """Take the space out that stands before punctuation and English endings."""
        for old, new in CLEANED.items():
            text = text.replace(old, new)
        return text

    @property
    def _may_clean(self) -> bool:
        return bool(getattr(self, CLEANS_BYTE_PAIRS))

    def _text(self, ids: list[int], *, skip_special_tokens: bool) -> str:
        """Decode ids; those that no token has give nothing."""
        try:
            return self.tokenizer.decode(ids, skip_special_tokens=skip_special_tokens)
        except UnknownTokenError:
            for id_ in ids:
                check_id(id_)
            ids = [id_ for id_ in ids if id_ in self._tokens]
        return self.tokenizer.decode(ids, skip_special_tokens=skip_special_tokens)

    def _check_decoding(self, options: Mapping[str, Any]) -> None:
        """Refuse an option of decoding that is not known."""
        for name in options:
            if name not in self._of_decoding:
                message = f"decode does not take the argument {name!r}"
                raise TypeError(message)

    def batch_decode(
        self,
        sequences: Any,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        **kwargs: Any,
    ) -> list[str]:
        """Decode many lists of ids; the arguments are those of ``decode``."""
        if kwargs:
            self._check_decoding(kwargs)
        rows = sequences.tolist() if hasattr(sequences, "tolist") else sequences
        if isinstance(rows, Mapping):
            rows = rows["input_ids"]
        cleans = clean_up_tokenization_spaces
        options = {"clean_up_tokenization_spaces": cleans, **kwargs}
        found = self.decode(rows, skip_special_tokens, **options) if len(rows) else []
        return [found] if isinstance(found, str) else found

    def convert_tokens_to_string(self, tokens: Sequence[str]) -> str:
        """Decode tokens as they are written; they need not be in the vocabulary."""
        if isinstance(tokens, str):
            message = f"expected a list of tokens, not the text {tokens!r:.80}"
            raise TypeError(message)
        tokens = list(tokens)
        ids = [self._vocabulary.get(token) for token in tokens]
        known = [id_ for id_ in ids if id_ is not None]
        if len(known) == len(tokens):
            return self.tokenizer.decode(known)
        try:
            return self.tokenizer._text_of_written(tokens)
        except FormatError:  # a dialect that no tokenizer.json can hold
            return "".join(self._runs(tokens))

    def _runs(self, tokens: Sequence[str]) -> Iterable[str]:
        """Decode tokens of the vocabulary; others stand for themselves."""
        known: list[int] = []
        for token in tokens:
            id_ = self._vocabulary.get(token)
            if id_ is None:
                yield self.tokenizer.decode(known) + token
                known = []
            else:
                known.append(id_)
        yield self.tokenizer.decode(known)


def is_row(item: Any) -> bool:
    """Tell a row of ids from an id, which may be an array without dimensions."""
    if isinstance(item, (int, str)):
        return False
    return hasattr(item, "__iter__") and getattr(item, "ndim", 1) > 0
