"""An ``Encoding`` with the methods of tiktoken's, over bytepair's core.

The defaults are tiktoken's: a special token in a text is an error unless it is allowed, or
nothing is disallowed. Errors are bytepair's classes, which are ``ValueError`` and, where
tiktoken raises one, ``KeyError``. Lone surrogates become U+FFFD, as there.

Left out: downloads (``get_encoding`` takes a folder or a path) and
``encode_with_unstable``. Published encodings are told by their names.
"""

import base64
import contextlib
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bytepair import Tokenizer, _core
from bytepair.errors import (
    EncodingError,
    FileError,
    SpecialTokenError,
    TokenizerError,
    UnknownTokenError,
)
from bytepair.files import StrPath

__all__ = [
    "Encoding",
    "encoding_for_model",
    "encoding_name_for_model",
    "get_encoding",
    "list_encoding_names",
]

Specials: TypeAlias = Literal["all"] | Collection[str]

FOLDER = "BYTEPAIR_ENCODINGS"
"""The variable that names the folder of ``.tiktoken`` files."""

ENCODING_OF = {
    "gpt-5": "o200k_base",
    "gpt-4.5-": "o200k_base",
    "gpt-4.1": "o200k_base",
    "gpt-4o": "o200k_base",
    "chatgpt-4o-": "o200k_base",
    "ft:gpt-4o": "o200k_base",
    "o1": "o200k_base",
    "o3": "o200k_base",
    "o4-mini": "o200k_base",
    "gpt-oss-": "o200k_harmony",
    "gpt-4": "cl100k_base",
    "gpt-3.5": "cl100k_base",
    "gpt-35-turbo": "cl100k_base",
    "ft:gpt-4": "cl100k_base",
    "ft:gpt-3.5-turbo": "cl100k_base",
    "text-embedding-": "cl100k_base",
    "davinci-002": "cl100k_base",
    "ft:davinci-002": "cl100k_base",
    "ft:babbage-002": "cl100k_base",
    "babbage-002": "cl100k_base",
    "text-davinci-003": "p50k_base",
    "text-davinci-002": "p50k_base",
    "text-davinci-edit-001": "p50k_edit",
    "code-davinci-": "p50k_base",
    "code-cushman-": "p50k_base",
    "davinci-codex": "p50k_base",
    "cushman-codex": "p50k_base",
    "code-davinci-edit-001": "p50k_edit",
    "text-davinci-001": "r50k_base",
    "text-curie-001": "r50k_base",
    "text-babbage-001": "r50k_base",
    "text-ada-001": "r50k_base",
    "text-similarity-": "r50k_base",
    "text-search-": "r50k_base",
    "code-search-": "r50k_base",
    "davinci": "r50k_base",
    "curie": "r50k_base",
    "babbage": "r50k_base",
    "ada": "r50k_base",
    "gpt2": "gpt2",
    "gpt-2": "gpt2",
}
"""Encodings by the beginnings of models' names; the longest that fits decides."""

RANKS_OF = {
    "o200k_harmony": "o200k_base",
    "p50k_edit": "p50k_base",
    "gpt2": "r50k_base",
}
"""Encodings that share the ranks of another; the file of that one will do."""

HINT = "or pass disallowed_special=() to take no text for an error"


class Encoding:
    """A tokenizer in the shape of ``tiktoken.Encoding``.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> encoding = Encoding.from_tokenizer(tokenizer, name="own")
    >>> encoding.decode_tokens_bytes(encoding.encode("lower"))
    [b'low', b'e', b'r']
    """

    def __init__(
        self,
        name: str,
        *,
        pat_str: str,
        mergeable_ranks: Mapping[bytes, int],
        special_tokens: Mapping[str, int],
        explicit_n_vocab: int | None = None,
    ) -> None:
        lines = [
            b"%s %d\n" % (base64.b64encode(token), rank)
            for token, rank in sorted(mergeable_ranks.items(), key=lambda item: item[1])
        ]
        dialect = _core.Dialect("gpt2", pattern=pat_str, pattern_flavour="rust")
        core = _core.read_tiktoken(b"".join(lines), dialect, dict(special_tokens))
        self._set(name, Tokenizer(core), explicit_n_vocab)

    @classmethod
    def from_tokenizer(cls, tokenizer: Tokenizer, *, name: str = "own") -> "Encoding":
        """Give a tokenizer this shape; it must be of bytes."""
        made = cls.__new__(cls)
        made._set(name, tokenizer, None)
        return made

    def _set(
        self, name: str, tokenizer: Tokenizer, explicit_n_vocab: int | None
    ) -> None:
        self.name = name
        self.tokenizer = tokenizer
        self.max_token_value = tokenizer.n_vocab - 1
        n_tokens = sum(token is not None for token in tokenizer.vocabulary)
        is_other = {n_tokens, tokenizer.n_vocab} != {explicit_n_vocab}
        if explicit_n_vocab is not None and is_other:
            message = (
                f"explicit_n_vocab is {explicit_n_vocab}, but there are {n_tokens} tokens "
                f"and ids up to {tokenizer.n_vocab - 1}"
            )
            raise TokenizerError(message)

    def __repr__(self) -> str:
        return f"<Encoding {self.name!r}>"

    # Encoding

    def encode_ordinary(self, text: str) -> list[int]:
        """Encode a text in which special tokens are plain text."""
        try:
            return self.tokenizer.encode_ordinary(text)
        except EncodingError:
            return self.tokenizer.encode_ordinary(_without_surrogates(text))

    def encode(
        self,
        text: str,
        *,
        allowed_special: Specials = (),
        disallowed_special: Specials = "all",
    ) -> list[int]:
        """Encode a text; a special token in it that is not allowed is an error."""
        options = self._specials(allowed_special, disallowed_special, [text])
        with _hints():
            try:
                return self.tokenizer.encode(text, **options)
            except EncodingError:
                return self.tokenizer.encode(_without_surrogates(text), **options)

    def encode_to_numpy(
        self,
        text: str,
        *,
        allowed_special: Specials = (),
        disallowed_special: Specials = "all",
    ) -> NDArray[np.uint32]:
        """Encode a text to an array."""
        options = self._specials(allowed_special, disallowed_special, [text])
        with _hints():
            try:
                return self.tokenizer.encode_to_numpy(text, **options)
            except EncodingError:
                text = _without_surrogates(text)
                return self.tokenizer.encode_to_numpy(text, **options)

    def encode_ordinary_batch(
        self, text: Sequence[str], *, num_threads: int = 8
    ) -> list[list[int]]:
        """Encode many texts in which special tokens are plain text."""
        return self._batch(text, num_threads, {})

    def encode_batch(
        self,
        text: Sequence[str],
        *,
        num_threads: int = 8,
        allowed_special: Specials = (),
        disallowed_special: Specials = "all",
    ) -> list[list[int]]:
        """Encode many texts."""
        options = self._specials(allowed_special, disallowed_special, text)
        with _hints():
            return self._batch(text, num_threads, options)

    def encode_with_unstable(self, text: str, **_: object) -> Any:  # noqa: ANN401
        """Refuse: bytepair does not tell stable ids from others."""
        message = "encode_with_unstable is not offered"
        raise NotImplementedError(message)

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """Look up one token, a special one too; a ``KeyError`` if there is none."""
        written = text_or_bytes
        if isinstance(written, str) and written in self._special_tokens:
            return self._special_tokens[written]
        data = written.encode() if isinstance(written, str) else written
        found = self._mergeable_ranks.get(data)
        if found is None:
            found = self._special_tokens.get(data.decode(errors="replace"))
        if found is None:
            message = f"no token is written {text_or_bytes!r}"
            raise UnknownTokenError(message)
        return found

    def _batch(
        self, texts: Sequence[str], n_threads: int, options: dict[str, Any]
    ) -> list[list[int]]:
        try:
            return self.tokenizer.encode_batch(texts, threads=n_threads, **options)
        except EncodingError:
            texts = [_without_surrogates(text) for text in texts]
            return self.tokenizer.encode_batch(texts, threads=n_threads, **options)

    def _specials(
        self, allowed: Specials, disallowed: Specials, texts: Iterable[str]
    ) -> dict[str, Any]:
        """Give the core what tiktoken's arguments mean.

        What is disallowed by name may be allowed too, or be no special token at all: it
        must not stand in a text all the same.
        """
        known = self.special_tokens_set
        allowed_set = known if allowed == "all" else set(allowed) & known
        if disallowed == "all":
            disallowed_set = known - allowed_set
        else:
            named = set(disallowed)
            disallowed_set = (named & known) - allowed_set
            _refuse(named - disallowed_set, texts)
        return {"allowed_special": allowed_set, "disallowed_special": disallowed_set}

    # Decoding

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """Decode ids; ``errors`` is any that ``bytes.decode`` knows."""
        return self.decode_bytes(tokens).decode("utf-8", errors=errors)

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Join the bytes of tokens."""
        return self.tokenizer.decode_bytes(tokens)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Give the bytes of one token; a ``KeyError`` if there is none."""
        return self.tokenizer.decode_bytes([token])

    def decode_tokens_bytes(self, tokens: Sequence[int]) -> list[bytes]:
        """Give the bytes of each token."""
        return [self.tokenizer.decode_bytes([token]) for token in tokens]

    def decode_with_offsets(self, tokens: Sequence[int]) -> tuple[str, list[int]]:
        """Give the text, and for each token the character in which it starts.

        Raises
        ------
        UnicodeDecodeError
            The tokens make no UTF-8.
        """
        parts = self.decode_tokens_bytes(tokens)
        starts, n_characters = [], 0
        for part in parts:
            is_inside = part[:1] != b"" and _continues(part[0])
            starts.append(max(0, n_characters - is_inside))
            n_characters += sum(not _continues(byte) for byte in part)
        return b"".join(parts).decode("utf-8"), starts

    def decode_batch(
        self,
        batch: Iterable[Sequence[int]],
        *,
        errors: str = "replace",
        num_threads: int = 8,
    ) -> list[str]:
        """Decode many lists of ids."""
        return [self.decode(tokens, errors) for tokens in batch]

    def decode_bytes_batch(
        self,
        batch: Iterable[Sequence[int]],
        *,
        num_threads: int = 8,
    ) -> list[bytes]:
        """Decode many lists of ids to bytes."""
        return [self.decode_bytes(tokens) for tokens in batch]

    # What there is

    def token_byte_values(self) -> list[bytes]:
        """List the bytes of all tokens that are not special, in their order."""
        return sorted(self._mergeable_ranks)

    @property
    def n_vocab(self) -> int:
        """One more than the largest id."""
        return self.max_token_value + 1

    @property
    def eot_token(self) -> int:
        """The id of ``<|endoftext|>``; a ``KeyError`` if there is none."""
        return self._special_tokens["<|endoftext|>"]

    @cached_property
    def special_tokens_set(self) -> set[str]:
        """The special tokens."""
        return set(self._special_tokens)

    def is_special_token(self, token: int) -> bool:
        """Tell whether an id is that of a special token."""
        return token in self._special_ids

    @cached_property
    def _special_ids(self) -> frozenset[int]:
        return frozenset(self._special_tokens.values())

    @cached_property
    def _special_tokens(self) -> dict[str, int]:
        return dict(self.tokenizer.special_tokens)

    @cached_property
    def _mergeable_ranks(self) -> dict[bytes, int]:
        """The ordinary tokens; programs extend an encoding by them."""
        special = self._special_ids
        tokens = enumerate(self.tokenizer.vocabulary)
        return {
            token.encode() if isinstance(token, str) else token: id_
            for id_, token in tokens
            if token is not None and id_ not in special
        }

    @cached_property
    def _pat_str(self) -> str:
        _, sidecar = _core.write_tiktoken(self.tokenizer)
        return str(json.loads(sidecar)["pattern"])


def get_encoding(encoding_name: str, *, folder: StrPath | None = None) -> Encoding:
    """Load a published encoding by its name, or any by its path.

    ``NAME.tiktoken`` is looked for in ``folder``, or in the folder that the environment
    variable ``BYTEPAIR_ENCODINGS`` names. Nothing is downloaded.

    Raises
    ------
    ValueError
        There is no such file.
    """
    path = Path(encoding_name)
    if path.suffix or path.exists():
        return Encoding.from_tokenizer(Tokenizer.from_file(path), name=path.stem)
    where = folder if folder is not None else os.environ.get(FOLDER)
    if where is None:
        message = (
            f"{encoding_name}: pass folder=, or name in the variable {FOLDER} the folder "
            f"with {encoding_name}.tiktoken; nothing is downloaded"
        )
        raise FileError(message)
    path = Path(where) / f"{encoding_name}.tiktoken"
    shared = Path(where) / f"{RANKS_OF.get(encoding_name, encoding_name)}.tiktoken"
    if path.exists() or not shared.exists():
        return Encoding.from_tokenizer(Tokenizer.from_file(path), name=encoding_name)
    tokenizer = Tokenizer.from_file(shared, encoding=encoding_name)
    return Encoding.from_tokenizer(tokenizer, name=encoding_name)


def encoding_name_for_model(model_name: str) -> str:
    """Name the encoding of a model; a ``KeyError`` if it is not known.

    >>> encoding_name_for_model("gpt-4o-mini"), encoding_name_for_model("gpt-4-turbo")
    ('o200k_base', 'cl100k_base')
    """
    beginnings = [start for start in ENCODING_OF if model_name.startswith(start)]
    if not beginnings:
        message = f"no encoding is known for the model {model_name!r}; use get_encoding"
        raise UnknownTokenError(message)
    return ENCODING_OF[max(beginnings, key=len)]


def encoding_for_model(model_name: str, *, folder: StrPath | None = None) -> Encoding:
    """Load the encoding of a model from a folder, as ``get_encoding`` does."""
    return get_encoding(encoding_name_for_model(model_name), folder=folder)


def list_encoding_names() -> list[str]:
    """List the names of published encodings.

    >>> "o200k_base" in list_encoding_names()
    True
    """
    return sorted(set(ENCODING_OF.values()))


def _refuse(names: Collection[str], texts: Iterable[str]) -> None:
    """Refuse texts in which one of these stands."""
    if not names:
        return
    for text in texts:
        found = [(text.find(name), name) for name in names if name in text]
        if found:
            place, name = min(found)
            message = (
                f"the text contains the disallowed {name!r} at character {place}; leave it "
                f"out of disallowed_special to encode it, {HINT}"
            )
            raise SpecialTokenError(message)


@contextlib.contextmanager
def _hints() -> Iterator[None]:
    """Say more where a special token is refused: here, all of them are by default."""
    try:
        yield
    except SpecialTokenError as error:
        message = f"{error}, {HINT}"
        raise SpecialTokenError(message) from error


def _continues(byte: int) -> bool:
    """Tell whether a byte goes on with a character."""
    return 0x80 <= byte < 0xC0


def _without_surrogates(text: str) -> str:
    """Join pairs of surrogates; lone ones become U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
