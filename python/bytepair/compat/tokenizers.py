"""The calls of ``tokenizers.Tokenizer``, over a tokenizer of bytepair.

It is what ``backend_tokenizer`` gives, and shares the tokenizer with its owner: tokens that
are added to one are added to both. By itself it takes the place of the class in
``from tokenizers import Tokenizer`` where that encodes and decodes. Special tokens in the
text count unless ``encode_special_tokens`` is set.

Left out, refused by name: parts that are set one by one, trainers, ``post_process`` and
``pre_tokenize_str``.
"""

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bytepair import Encoding, Tokenizer as Native, _core
from bytepair._added import AddedToken
from bytepair._io.files import StrPath, write, write_together

from ._calls import Calls
from ._lengths import Side
from ._rows import Work, treated
from ._settings import check_added_tokens

__all__ = ["Tokenizer", "write_model"]


class Part:
    """A part of the pipeline, to be read: a type, and settings as attributes.

    They are those of the ``tokenizer.json`` that bytepair writes, which can say in another
    way what the file said that was read.
    """

    def __init__(self, settings: Mapping[str, Any], owner: Calls) -> None:
        self._settings = dict(settings)
        self._owner = owner

    def __getattr__(self, name: str) -> Any:
        settings = self.__dict__.get("_settings", {})
        if name not in settings:
            message = f"{type(self).__name__!r} has no attribute {name!r}"
            raise AttributeError(message)
        return settings[name]

    def __repr__(self) -> str:
        settings = {k: v for k, v in self._settings.items() if k != "type"}
        shown = ", ".join(f"{k}={v!r:.60}" for k, v in settings.items())
        return f"{self._settings['type']}({shown})"


class Normalizer(Part):
    """What changes a text before it is cut."""

    def normalize_str(self, sequence: str) -> str:
        """Change a text, special tokens taken as plain text."""
        return self._owner.tokenizer._normalized(sequence)


class PreTokenizer(Part):
    """What cuts a text into pieces."""

    def pre_tokenize_str(self, sequence: str) -> list[tuple[str, tuple[int, int]]]:
        """Refuse: pieces are cut from normalized text."""
        message = (
            "pre_tokenize_str is not supported; split(text) of a bytepair.Tokenizer gives "
            "the pieces, and word_ids of an encoding say which token is in which"
        )
        raise NotImplementedError(message)


class Model(Part):
    """Tokens and merges."""

    def save(self, folder: StrPath, prefix: str | None = None) -> list[str]:
        """Write ``vocab.json`` and ``merges.txt``."""
        return [str(path) for path in write_model(self._settings, folder, prefix)]


class PostProcessor(Part):
    """What puts special tokens around texts."""

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Count the special tokens that are put around a text, or a pair."""
        return self._owner.num_special_tokens_to_add(is_pair)


class Decoder(Part):
    """What turns written tokens into text."""

    def decode(self, tokens: Sequence[str]) -> str:
        """Decode tokens as they are written."""
        return self._owner.convert_tokens_to_string(tokens)


class _PartOf:
    """A part by its name in the file; ``None`` where there is none. It cannot be set."""

    def __init__(self, name: str, kind: type[Part]) -> None:
        self.name = name
        self.kind = kind

    def __get__(self, owner: "Tokenizer | None", _: object) -> Any:
        if owner is None:
            return self
        settings = json.loads(owner.to_str())[self.name]
        return None if settings is None else self.kind(settings, owner._owner)

    def __set__(self, owner: "Tokenizer", value: object) -> None:
        message = (
            f"{self.name} cannot be set: a tokenizer of bytepair never changes; change "
            "the JSON of to_str(), and load that with from_str()"
        )
        raise NotImplementedError(message)


class Tokenizer:
    """A tokenizer in the shape of ``tokenizers.Tokenizer``.

    >>> import bytepair
    >>> own = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> tokenizer = Tokenizer(own)
    >>> tokenizer.encode("lower").ids, tokenizer.decode([257, 68, 81])
    ([257, 68, 81], 'lower')
    """

    model = _PartOf("model", Model)
    normalizer = _PartOf("normalizer", Normalizer)
    pre_tokenizer = _PartOf("pre_tokenizer", PreTokenizer)
    post_processor = _PartOf("post_processor", PostProcessor)
    decoder = _PartOf("decoder", Decoder)

    def __init__(self, tokenizer: Native | Calls) -> None:
        self._padding: dict[str, Any] | None = None
        self._truncation: dict[str, Any] | None = None
        if isinstance(tokenizer, Calls):
            self._owner = tokenizer
        else:
            self._owner = Calls(tokenizer, {})
            self._take_lengths_of(tokenizer)

    def _take_lengths_of(self, tokenizer: Native) -> None:
        """Cut and fill up as the file says."""
        if tokenizer.truncation is not None:
            found = dict(tokenizer.truncation)
            self.enable_truncation(direction=found.pop("side"), **found)
        if tokenizer.padding is not None:
            found = dict(tokenizer.padding)
            self.enable_padding(
                direction=found["side"],
                pad_id=found["id"],
                pad_type_id=found["type_id"],
                pad_token=found["token"],
                length=found["length"],
                pad_to_multiple_of=found["multiple_of"],
            )

    def __repr__(self) -> str:
        return f"bytepair.compat.tokenizers.Tokenizer({self.tokenizer!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (
            Tokenizer,
            (self._owner,),
            {
                "_padding": self._padding,
                "_truncation": self._truncation,
            },
        )

    @property
    def tokenizer(self) -> Native:
        """The tokenizer beneath, as it is now."""
        return self._owner.tokenizer

    # Files

    @staticmethod
    def from_file(path: StrPath) -> "Tokenizer":
        """Load a file of any format that bytepair reads."""
        return Tokenizer(Native.from_file(path))

    @staticmethod
    def from_str(json: str) -> "Tokenizer":
        """Load the text of a ``tokenizer.json``."""
        return Tokenizer(Native.from_bytes(json.encode(), format="huggingface"))

    @staticmethod
    def from_buffer(buffer: bytes) -> "Tokenizer":
        """Load the content of a ``tokenizer.json``."""
        return Tokenizer(Native.from_bytes(buffer, format="huggingface"))

    @staticmethod
    def from_pretrained(
        identifier: str, revision: str = "main", token: str | None = None
    ) -> "Tokenizer":
        """Load a published model by name; see ``bytepair.Tokenizer.from_hub``."""
        if token is not None:
            message = "token= is not supported; huggingface_hub reads HF_TOKEN"
            raise NotImplementedError(message)
        return Tokenizer(Native.from_hub(identifier, revision=revision))

    def to_str(self, pretty: bool = False) -> str:
        """Give the text of a ``tokenizer.json``."""
        text = self.tokenizer.to_bytes(format="huggingface").decode()
        if not pretty:
            return text
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)

    def save(self, path: StrPath, pretty: bool = True) -> None:
        """Write a ``tokenizer.json``."""
        write(Path(path), self.to_str(pretty).encode())

    # Encoding

    def encode(
        self,
        sequence: Any,
        pair: Any = None,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> Encoding:
        """Encode a text, or two; words where ``is_pretokenized``."""
        one = sequence if pair is None else (sequence, pair)
        return self._encodings([one], is_pretokenized, add_special_tokens)[0]

    def encode_batch(
        self,
        input: Sequence[Any],
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> list[Encoding]:
        """Encode many texts, or tuples of two."""
        return self._encodings(input, is_pretokenized, add_special_tokens)

    encode_batch_fast = encode_batch

    def _encodings(
        self, inputs: Sequence[Any], is_words: bool, add_special_tokens: bool
    ) -> list[Encoding]:
        lengths = self._lengths()
        work = Work(
            self.tokenizer,
            treated(self.encode_special_tokens, self.added_tokens),
            add_special_tokens,
            lengths,
            lengths,
        )
        if is_words:
            return work.word_encodings([_words(one) for one in inputs])
        return work.encodings(inputs)

    def _lengths(self) -> _core.Lengths:
        options: dict[str, Any] = {}
        if self._truncation is not None:
            options |= self._truncation
            options["truncation_side"] = options.pop("direction")
        if self._padding is not None:
            padding = self._padding
            options |= {
                "pad_id": padding["pad_id"],
                "pad_token": padding["pad_token"],
                "pad_type_id": padding["pad_type_id"],
                "pad_length": padding["length"],
                "multiple_of": padding["pad_to_multiple_of"],
                "padding_side": padding["direction"],
            }
        return _core.Lengths(**options)

    @property
    def encode_special_tokens(self) -> bool:
        """Whether special tokens in the text are plain text."""
        return self._owner.split_special_tokens

    @encode_special_tokens.setter
    def encode_special_tokens(self, value: bool) -> None:
        self._owner.split_special_tokens = value

    @property
    def added_tokens(self) -> str:
        """``"text"`` where no added token is found in a text, special or not; else ``"find"``.

        ``encode_special_tokens`` leaves tokens that are not special to be found.
        """
        return self._owner.added_tokens

    @added_tokens.setter
    def added_tokens(self, value: str) -> None:
        check_added_tokens(value)
        self._owner.added_tokens = value

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Count the special tokens that are put around a text, or a pair."""
        return self._owner.num_special_tokens_to_add(is_pair)

    def post_process(
        self,
        encoding: Encoding,
        pair: Encoding | None = None,
        add_special_tokens: bool = True,
    ) -> Encoding:
        """Refuse: encodings are put together where they are made."""
        message = "post_process is not supported; encode(text, pair) joins both"
        raise NotImplementedError(message)

    # Lengths

    def enable_truncation(
        self,
        max_length: int,
        stride: int = 0,
        strategy: str = "longest_first",
        direction: Side = "right",
    ) -> None:
        """Cut what is encoded from now on to a length."""
        self._truncation = {
            "max_length": max_length,
            "stride": stride,
            "strategy": strategy,
            "direction": direction,
        }

    def no_truncation(self) -> None:
        """Cut nothing from now on."""
        self._truncation = None

    @property
    def truncation(self) -> dict[str, Any] | None:
        """How texts are cut, or ``None``."""
        return self._truncation and dict(self._truncation)

    def enable_padding(
        self,
        direction: Side = "right",
        pad_id: int = 0,
        pad_type_id: int = 0,
        pad_token: str = "[PAD]",
        length: int | None = None,
        pad_to_multiple_of: int | None = None,
    ) -> None:
        """Fill up what is encoded from now on: to a length, or to the longest of a batch."""
        self._padding = {
            "length": length,
            "pad_to_multiple_of": pad_to_multiple_of,
            "pad_id": pad_id,
            "pad_token": pad_token,
            "pad_type_id": pad_type_id,
            "direction": direction,
        }

    def no_padding(self) -> None:
        """Fill nothing up from now on."""
        self._padding = None

    @property
    def padding(self) -> dict[str, Any] | None:
        """How texts are filled up, or ``None``."""
        return self._padding and dict(self._padding)

    # Decoding

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        """Decode ids; those that no token has give nothing."""
        return self._owner._text(list(ids), skip_special_tokens=skip_special_tokens)

    def decode_batch(
        self, sequences: Iterable[Sequence[int]], skip_special_tokens: bool = True
    ) -> list[str]:
        """Decode many lists of ids."""
        return [self.decode(ids, skip_special_tokens) for ids in sequences]

    # Tokens

    def token_to_id(self, token: str) -> int | None:
        """Look up the id of a token as it is written."""
        return self._owner._vocabulary.get(token)

    def id_to_token(self, id: int) -> str | None:
        """Look up how a token is written; ``None`` for an id that no token has."""
        return self._owner._tokens.get(id)

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        """Map tokens as they are written to ids."""
        if with_added_tokens:
            return self._owner.get_vocab()
        vocab: dict[str, int] = json.loads(self.to_str())["model"]["vocab"]
        return vocab

    def get_vocab_size(self, with_added_tokens: bool = True) -> int:
        """Count the tokens, or those that are not added to the model's."""
        return len(self._owner) if with_added_tokens else self._owner.vocab_size

    def get_added_tokens_decoder(self) -> dict[int, AddedToken]:
        """List the added tokens by id."""
        return self._owner.added_tokens_decoder

    def add_tokens(self, tokens: Sequence[Any]) -> int:
        """Add tokens that always count; tells how many were new."""
        return self._owner.add_tokens(list(tokens))

    def add_special_tokens(self, tokens: Sequence[Any]) -> int:
        """Add special tokens; tells how many were new."""
        return self._owner.add_tokens(list(tokens), special_tokens=True)

    # Training

    def train(self, files: Sequence[str], trainer: Any = None) -> None:
        """Refuse: a tokenizer never changes."""
        raise NotImplementedError(TRAINING)

    def train_from_iterator(
        self, iterator: Iterable[Any], trainer: Any = None, length: int | None = None
    ) -> None:
        """Refuse: a tokenizer never changes."""
        raise NotImplementedError(TRAINING)

    # The same for programs that wait for several things at once

    async def async_encode(
        self,
        sequence: Any,
        pair: Any = None,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> Encoding:
        """Encode in another thread."""
        return await asyncio.to_thread(
            self.encode, sequence, pair, is_pretokenized, add_special_tokens
        )

    async def async_encode_batch(
        self,
        input: Sequence[Any],
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> list[Encoding]:
        """Encode many texts in another thread."""
        return await asyncio.to_thread(
            self.encode_batch, input, is_pretokenized, add_special_tokens
        )

    async_encode_batch_fast = async_encode_batch

    async def async_decode_batch(
        self, sequences: Iterable[Sequence[int]], skip_special_tokens: bool = True
    ) -> list[str]:
        """Decode many lists of ids in another thread."""
        return await asyncio.to_thread(
            self.decode_batch, sequences, skip_special_tokens
        )


def write_model(
    model: Mapping[str, Any], folder: StrPath, prefix: str | None
) -> list[Path]:
    """Write the tokens and merges of a ``tokenizer.json``, and give the paths."""
    lines = "".join(
        f"{one if isinstance(one, str) else ' '.join(one)}\n" for one in model["merges"]
    )
    before = f"{prefix}-" if prefix else ""
    files = {
        Path(folder) / f"{before}vocab.json": json.dumps(
            model["vocab"], ensure_ascii=False
        ),
        Path(folder) / f"{before}merges.txt": f"#version: 0.2\n{lines}",
    }
    write_together({path: text.encode() for path, text in files.items()})
    return list(files)


TRAINING = (
    "trainers of tokenizers are not supported; bytepair.train(files, vocab_size=...) trains a "
    "tokenizer, and train_new_from_iterator one with the parts of another"
)


def _words(one: Any) -> tuple[list[str], list[str] | None]:
    """Read the words of a text, or of two."""
    if len(one) == 2 and not any(isinstance(part, str) for part in one):
        return list(one[0]), list(one[1])
    return list(one), None
