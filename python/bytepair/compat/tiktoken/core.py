"""``Encoding``, with the methods of tiktoken's, over bytepair's core.

Special tokens are looked for by the core, so a call costs the same however many there are.
What tiktoken tells and the core does not (tokens by their bytes) is made when it is first
asked for.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NoReturn, TypeAlias, TypeVar

from bytepair import Tokenizer, _core
from bytepair._names import refuse_set
from bytepair._numpy import NDArray, np
from bytepair.errors import (
    EncodingError,
    SpecialTokenError,
    TokenizerError,
    UnknownTokenError,
)

from . import unstable
from .load import ranks_file
from .unstable import AddedTokens

__all__ = ["CoreBPE", "Encoding", "raise_disallowed_special_token"]

Specials: TypeAlias = Literal["all"] | Collection[str]
Result = TypeVar("Result")

HINT = "or pass disallowed_special=() to allow any text"

WHOLE_TEXT = "(?s:.+)"
"""The pattern for which a text is one piece."""


class _AssertionFailedError(TokenizerError, AssertionError):
    """What tiktoken asserts."""


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
        core = _tokenizer(mergeable_ranks, pat_str, special_tokens)
        self._set(name, core, explicit_n_vocab)
        self.__dict__["_pat_str"] = pat_str
        self.__dict__["_mergeable_ranks"] = mergeable_ranks
        self.__dict__["_special_tokens"] = special_tokens

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
        if not explicit_n_vocab:
            return
        n_tokens = sum(token is not None for token in tokenizer.vocabulary)
        if {n_tokens, tokenizer.n_vocab} != {explicit_n_vocab}:
            message = (
                f"explicit_n_vocab is {explicit_n_vocab}, but there are {n_tokens} tokens "
                f"and ids up to {tokenizer.n_vocab - 1}"
            )
            raise _AssertionFailedError(message)

    def __getstate__(self) -> object:
        """Give the name of a registered encoding, else all that it is made of."""
        from .registry import ENCODINGS

        if self is ENCODINGS.get(self.name):
            return self.name
        return {
            "name": self.name,
            "tokenizer": self.tokenizer,
            "pat_str": self._pat_str,
            "special_tokens": self._special_tokens,
        }

    def __setstate__(self, value: Any) -> None:  # noqa: ANN401
        from .registry import get_encoding

        if isinstance(value, str):
            self.__dict__ = get_encoding(value).__dict__
            return
        self._set(value["name"], value["tokenizer"], None)
        self.__dict__["_pat_str"] = value["pat_str"]
        self.__dict__["_special_tokens"] = value["special_tokens"]

    def __repr__(self) -> str:
        return f"<Encoding {self.name!r}>"

    # Encoding

    def encode_ordinary(
        self, text: str, *, added_tokens: AddedTokens = "find"
    ) -> list[int]:
        """Encode a text in which special tokens are plain text.

        Tokens that were added and are not special are found, which no encoding of tiktoken
        has; with ``added_tokens="text"`` they are plain text too.
        """
        if not isinstance(text, str):
            raise _not_a_text(text)
        encode = self.tokenizer.encode
        try:
            return encode(text, added_tokens=added_tokens)
        except EncodingError:
            return encode(_without_surrogates(text), added_tokens=added_tokens)

    def encode(
        self,
        text: str,
        *,
        allowed_special: Specials = (),
        disallowed_special: Specials = "all",
        added_tokens: AddedTokens = "find",
    ) -> list[int]:
        """Encode a text; a special token in it that is not allowed is an error.

        With ``added_tokens="text"`` no token that was added is found, special or not. What
        ``disallowed_special`` names is an error all the same.
        """
        options = self._specials(allowed_special, disallowed_special, (text,))
        options["added_tokens"] = added_tokens
        return _encoded(self.tokenizer.encode, text, options)

    def encode_to_numpy(
        self,
        text: str,
        *,
        allowed_special: Specials = (),
        disallowed_special: Specials = "all",
        added_tokens: AddedTokens = "find",
    ) -> NDArray[np.uint32]:
        """Encode a text to an array."""
        options = self._specials(allowed_special, disallowed_special, (text,))
        options["added_tokens"] = added_tokens
        return _encoded(self.tokenizer.encode_to_numpy, text, options)

    def encode_ordinary_batch(
        self,
        text: Sequence[str],
        *,
        num_threads: int = 8,
        added_tokens: AddedTokens = "find",
    ) -> list[list[int]]:
        """Encode many texts in which special tokens are plain text."""
        text = _listed(text)
        options = self._specials((), (), text)
        options["added_tokens"] = added_tokens
        return self._batch(text, num_threads, options)

    def encode_batch(
        self,
        text: Sequence[str],
        *,
        num_threads: int = 8,
        allowed_special: Specials = (),
        disallowed_special: Specials = "all",
        added_tokens: AddedTokens = "find",
    ) -> list[list[int]]:
        """Encode many texts."""
        text = _listed(text)
        options = self._specials(allowed_special, disallowed_special, text)
        options["added_tokens"] = added_tokens
        return self._batch(text, num_threads, options)

    def encode_with_unstable(
        self,
        text: str,
        *,
        allowed_special: Specials = (),
        disallowed_special: Specials = "all",
        added_tokens: AddedTokens = "find",
    ) -> tuple[list[int], list[list[int]]]:
        """Give the tokens that stay if more text comes, and rows of tokens for the rest.

        The rows are those that tiktoken finds, in order; each begins with what is left of
        the text, and may be longer. With ``added_tokens="text"`` no added token is in them.
        """
        options = self._specials(allowed_special, disallowed_special, (text,))
        options["added_tokens"] = added_tokens
        text = _without_surrogates(text)
        found_all = _encoded(self.tokenizer.encode_full, text, options)
        ids, places = found_all.ids, found_all.offsets
        if added_tokens == "text":
            return unstable.encode_with_unstable(
                self._of_text, text, ids, text, added_tokens
            )
        found = (
            end
            for id_, (_, end) in zip(reversed(ids), reversed(places), strict=True)
            if id_ in self._added_token_values
        )
        return unstable.encode_with_unstable(self, text, ids, text[next(found, 0) :])

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """Look up one token, a special one too; a ``KeyError`` if there is none."""
        written = text_or_bytes
        data = (
            written.encode() if isinstance(written, str) else bytes(memoryview(written))
        )
        found = self._mergeable_ranks.get(data)
        if found is None and (name := _decoded(data)) is not None:
            found = self._special_tokens.get(name)
        if found is None:
            message = f"no token has the text {text_or_bytes!r}"
            raise UnknownTokenError(message)
        return found

    def _batch(
        self, texts: Sequence[str], n_threads: int, options: dict[str, Any]
    ) -> list[list[int]]:
        options["threads"] = n_threads
        return _encoded(self.tokenizer.encode_batch, texts, options)

    def _specials(
        self, allowed: Specials, disallowed: Specials, texts: Iterable[str]
    ) -> dict[str, Any]:
        """Give the core what tiktoken's arguments mean.

        What is disallowed by name may be allowed too, or be no special token at all: it
        must not stand in a text all the same.
        """
        for text in texts:
            if not isinstance(text, str):
                raise _not_a_text(text)
        options: dict[str, Any] = {}
        if allowed:
            options["allowed_special"] = self._known(allowed)
        if isinstance(disallowed, str) and disallowed == "all":
            options["disallowed_special"] = "all"
        elif disallowed:
            named = set(disallowed)
            known = self.special_tokens_set
            free = known if allowed == "all" else set(allowed)
            options["disallowed_special"] = self._known(named - free)
            by_us = {name for name in named if name in free or name not in known}
            _refuse(by_us, texts)
        return options

    def _known(self, names: Collection[str]) -> Specials:
        """Choose the names that are special tokens; ``"all"`` if these are all of them."""
        if isinstance(names, str):
            if names == "all":
                return "all"
            message = f"special tokens are a set of texts or 'all', not {names!r}"
            raise TypeError(message)
        known = self.special_tokens_set
        chosen = sorted({name for name in names if name in known})
        return "all" if len(chosen) == len(known) > 0 else chosen

    # Decoding

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """Decode ids; ``errors`` is any that ``bytes.decode`` knows."""
        return self.tokenizer.decode_bytes(tokens).decode("utf-8", errors=errors)

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
        """Decode many lists of ids, on this thread."""
        _check_threads(num_threads)
        return [self.decode(tokens, errors) for tokens in batch]

    def decode_bytes_batch(
        self,
        batch: Iterable[Sequence[int]],
        *,
        num_threads: int = 8,
    ) -> list[bytes]:
        """Decode many lists of ids to bytes, on this thread."""
        _check_threads(num_threads)
        return [self.decode_bytes(tokens) for tokens in batch]

    # What there is

    def token_byte_values(self) -> list[bytes]:
        """List the bytes of all tokens that are not special, in their order."""
        return list(self._sorted_tokens)

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
        if not hasattr(token, "__index__"):
            message = f"expected an id, not {token!r}"
            raise _AssertionFailedError(message)
        return token in self._special_token_values

    # What programs use though its name says that they should not

    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]:
        """Encode a text that is one piece, whatever the pattern says."""
        data = text_or_bytes
        return self._whole_text.encode(data.encode() if isinstance(data, str) else data)

    def _encode_only_native_bpe(self, text: str) -> list[int]:
        """Encode a text cut into pieces by the package ``regex``."""
        import regex

        pieces = (found.group() for found in regex.finditer(self._pat_str, text))
        return [id_ for piece in pieces for id_ in self._encode_single_piece(piece)]

    def _encode_bytes(self, text: bytes) -> list[int]:
        """Encode bytes, which need not be UTF-8."""
        return unstable.encode_bytes(self, bytes(memoryview(text)))

    @cached_property
    def _core_bpe(self) -> "CoreBPE":
        return CoreBPE._of(self)

    @cached_property
    def _whole_text(self) -> Tokenizer:
        return _tokenizer(self._mergeable_ranks, WHOLE_TEXT, {})

    @cached_property
    def _of_text(self) -> "Encoding":
        """The same, with the ranks of tokens that text without added tokens gives."""
        made = Encoding.from_tokenizer(self.tokenizer, name=self.name)
        made.__dict__["_mergeable_ranks"] = {
            token: id_
            for token, id_ in self._mergeable_ranks.items()
            if id_ not in self._added_token_values
        }
        return made

    @cached_property
    def _added_token_values(self) -> set[int]:
        return {id_ for id_, _content, _flags in _core.added_tokens(self.tokenizer)}

    @cached_property
    def _sorted_tokens(self) -> list[bytes]:
        return sorted(self._mergeable_ranks)

    @cached_property
    def _special_token_values(self) -> set[int]:
        return set(self._special_tokens.values())

    @cached_property
    def _special_tokens(self) -> dict[str, int]:
        return dict(self.tokenizer.special_tokens)

    @cached_property
    def _mergeable_ranks(self) -> dict[bytes, int]:
        """The ordinary tokens; programs extend an encoding by them."""
        special = self._special_token_values
        tokens = enumerate(self.tokenizer.vocabulary)
        return {
            token.encode() if isinstance(token, str) else token: id_
            for id_, token in tokens
            if token is not None and id_ not in special
        }

    @cached_property
    def _pat_str(self) -> str:
        _, sidecar = _core.write("tiktoken", self.tokenizer)
        return str(json.loads(sidecar)["pattern"])


class CoreBPE:
    """What tiktoken keeps in ``Encoding._core_bpe``, by the names that it has there.

    >>> core = CoreBPE({b"a": 0, b"b": 1, b"ab": 2}, {"<s>": 3}, ".+")
    >>> core.encode("ab<s>a", {"<s>"})
    [2, 3, 0]
    """

    def __init__(
        self,
        encoder: Mapping[bytes, int],
        special_tokens_encoder: Mapping[str, int],
        pattern: str,
    ) -> None:
        self._encoding = Encoding(
            "core",
            pat_str=pattern,
            mergeable_ranks=encoder,
            special_tokens=special_tokens_encoder,
        )

    @classmethod
    def _of(cls, encoding: Encoding) -> "CoreBPE":
        made = cls.__new__(cls)
        made._encoding = encoding
        return made

    def encode_ordinary(
        self, text: str, *, added_tokens: AddedTokens = "find"
    ) -> list[int]:
        """Encode a text in which special tokens are plain text."""
        return self._encoding.encode_ordinary(text, added_tokens=added_tokens)

    def encode(
        self,
        text: str,
        allowed_special: Collection[str],
        *,
        added_tokens: AddedTokens = "find",
    ) -> list[int]:
        """Encode a text; special tokens that are not allowed are plain text."""
        return self._encoding.encode(
            text,
            allowed_special=allowed_special,
            disallowed_special=(),
            added_tokens=added_tokens,
        )

    def encode_to_tiktoken_buffer(
        self,
        text: str,
        allowed_special: Collection[str],
        *,
        added_tokens: AddedTokens = "find",
    ) -> NDArray[np.uint32]:
        """Encode a text to a buffer of numbers of four bytes."""
        return self._encoding.encode_to_numpy(
            text,
            allowed_special=allowed_special,
            disallowed_special=(),
            added_tokens=added_tokens,
        )

    def encode_with_unstable(
        self,
        text: str,
        allowed_special: Collection[str],
        *,
        added_tokens: AddedTokens = "find",
    ) -> tuple[list[int], list[list[int]]]:
        """Do what ``Encoding.encode_with_unstable`` does."""
        return self._encoding.encode_with_unstable(
            text,
            allowed_special=allowed_special,
            disallowed_special=(),
            added_tokens=added_tokens,
        )

    def encode_single_token(self, piece: bytes) -> int:
        """Look up one token, a special one too; a ``KeyError`` if there is none."""
        return self._encoding.encode_single_token(piece)

    def encode_single_piece(self, piece: bytes) -> list[int]:
        """Encode bytes that are one piece."""
        return self._encoding._encode_single_piece(piece)

    def _encode_bytes(self, text: bytes) -> list[int]:
        return self._encoding._encode_bytes(text)

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Join the bytes of tokens."""
        return self._encoding.decode_bytes(tokens)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Give the bytes of one token; a ``KeyError`` if there is none."""
        return self._encoding.decode_single_token_bytes(token)

    def token_byte_values(self) -> list[bytes]:
        """List the bytes of all tokens that are not special, in their order."""
        return self._encoding.token_byte_values()


def raise_disallowed_special_token(token: str) -> NoReturn:
    """Raise the ``ValueError`` of a special token that is not allowed."""
    message = (
        f"the text contains the disallowed special token {token!r}; allow it with "
        f"allowed_special={{{token!r}}} to encode it as a special token, leave it out of "
        f"disallowed_special to encode it as text, {HINT}"
    )
    raise SpecialTokenError(message)


def _tokenizer(
    ranks: Mapping[bytes, int], pattern: str, special_tokens: Mapping[str, int]
) -> Tokenizer:
    """Make a tokenizer; what the pattern does not match is left out, as tiktoken does."""
    if not isinstance(pattern, str):
        message = f"pat_str must be a text, not {pattern!r}"
        raise TypeError(message)
    if not isinstance(ranks, Mapping):
        message = "mergeable_ranks must be a mapping of bytes to ids"
        raise TypeError(message)
    _check_special(special_tokens)
    sidecar = {"pattern": pattern, "special_tokens": dict(special_tokens)}
    data = json.dumps(sidecar).encode()
    return Tokenizer(_core.read_tiktoken_sidecar(ranks_file(ranks), data))


def _check_special(special_tokens: Mapping[str, int]) -> None:
    if not isinstance(special_tokens, Mapping):
        message = "special_tokens must be a mapping of tokens to ids"
        raise TypeError(message)
    for token, id_ in special_tokens.items():
        if not isinstance(token, str):
            message = f"a special token must be a text, not {token!r}"
            raise TypeError(message)
        if isinstance(id_, bool) or not isinstance(id_, int) or id_ < 0:
            message = f"the id of {token!r} must be a whole number from 0, not {id_!r}"
            raise TypeError(message)


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


def _encoded(
    encode: Callable[..., Result], given: Sequence[str], options: dict[str, Any]
) -> Result:
    """Call a method that encodes. Lone surrogates become U+FFFD.

    Where a special token is refused more is said: here, all of them are by default.
    """
    try:
        try:
            return encode(given, **options)
        except EncodingError:
            return encode(_mended(given), **options)
    except SpecialTokenError as error:
        message = f"{error}, {HINT}"
        raise SpecialTokenError(message) from error


def _not_a_text(given: object) -> TypeError:
    return TypeError(f"expected a text, not {type(given).__name__}")


def _mended(given: Sequence[str]) -> Sequence[str]:
    if isinstance(given, str):
        return _without_surrogates(given)
    return [_without_surrogates(text) for text in given]


def _decoded(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _check_threads(n_threads: int) -> None:
    if n_threads < 1:
        message = f"num_threads must be at least 1, not {n_threads}"
        raise TokenizerError(message)


def _listed(texts: Iterable[str]) -> Sequence[str]:
    """Give texts that can be gone over twice."""
    refuse_set("texts", texts, "the result")
    return texts if isinstance(texts, Sequence) else list(texts)


def _continues(byte: int) -> bool:
    """Tell whether a byte goes on with a character."""
    return 0x80 <= byte < 0xC0


def _without_surrogates(text: str) -> str:
    """Join pairs of surrogates; lone ones become U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
