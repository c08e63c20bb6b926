"""``Encoding``, with the methods of tiktoken's, over bytepair's core.

Special tokens are looked for by the core, so a call costs the same however many there are.
What tiktoken tells and the core does not (tokens by their bytes) is made when it is first
asked for.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, TypeAlias, TypeVar

from bytepair import Tokenizer, _core
from bytepair._expected import expect
from bytepair._names import refuse_set
from bytepair._numpy import NDArray, np
from bytepair._ranges import whole
from bytepair.errors import (
    EncodingError,
    SpecialTokenError,
    TokenizerError,
    UnknownTokenError,
)
from bytepair.serving import TokenBytes

from . import unstable
from .load import ranks_file

__all__ = ["Encoding"]

Specials: TypeAlias = Literal["all"] | Collection[str]
AddedTokens: TypeAlias = Literal["find", "text"]
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
        self.name = name
        self.tokenizer = _tokenizer(mergeable_ranks, pat_str, special_tokens)
        self._pat_str = pat_str
        self._mergeable_ranks = mergeable_ranks
        self._special_tokens = special_tokens
        if not explicit_n_vocab:
            return
        n_tokens = sum(token is not None for token in self.tokenizer.vocabulary)
        if {n_tokens, self.n_vocab} != {explicit_n_vocab}:
            message = (
                f"explicit_n_vocab is {explicit_n_vocab}, but there are {n_tokens} tokens "
                f"and ids up to {self.max_token_value}"
            )
            raise _AssertionFailedError(message)

    @classmethod
    def from_tokenizer(cls, tokenizer: Tokenizer, *, name: str = "own") -> "Encoding":
        """Return an encoding with the ids of a tokenizer of bytes."""
        made = cls.__new__(cls)
        made.name, made.tokenizer = name, tokenizer
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep the name of a registered encoding, or else the parts of which it is made."""
        from .registry import ENCODINGS, get_encoding

        if self is ENCODINGS.get(self.name):
            return get_encoding, (self.name,)
        parts = ("name", "tokenizer", "_pat_str", "_special_tokens")
        state = {name: getattr(self, name) for name in parts}
        return object.__new__, (Encoding,), state

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
        return self.encode(text, disallowed_special=(), added_tokens=added_tokens)

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
        return _encoded(
            self.tokenizer.encode, text, added_tokens=added_tokens, **options
        )

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
        return _encoded(
            self.tokenizer.encode_to_numpy, text, added_tokens=added_tokens, **options
        )

    def encode_ordinary_batch(
        self,
        text: Sequence[str],
        *,
        num_threads: int = 8,
        added_tokens: AddedTokens = "find",
    ) -> list[list[int]]:
        """Encode many texts in which special tokens are plain text."""
        return self.encode_batch(
            text,
            num_threads=num_threads,
            disallowed_special=(),
            added_tokens=added_tokens,
        )

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
        refuse_set("texts", text, "the result")
        texts = list(text)
        options = self._specials(allowed_special, disallowed_special, texts)
        return _encoded(
            self.tokenizer.encode_batch,
            texts,
            threads=num_threads,
            added_tokens=added_tokens,
            **options,
        )

    def encode_with_unstable(
        self,
        text: str,
        *,
        allowed_special: Specials = (),
        disallowed_special: Specials = "all",
    ) -> tuple[list[int], list[list[int]]]:
        """Return the tokens that stay if more text comes, and rows of tokens for the rest.

        The rows are those that tiktoken finds, in order; each begins with what is left of
        the text, and may be longer.
        """
        options = self._specials(allowed_special, disallowed_special, (text,))
        text = _without_surrogates(text)
        found = _encoded(self.tokenizer.encode_full, text, **options)
        added = self.tokenizer.added_tokens
        spans = zip(found.ids, found.offsets, strict=True)
        last = max((end for id_, (_, end) in spans if id_ in added), default=0)
        return unstable.rows_after(self, found.ids, text[last:])

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """Look up one token, a special one too; a ``KeyError`` if there is none."""
        written = text_or_bytes
        data = (
            written.encode() if isinstance(written, str) else bytes(memoryview(written))
        )
        id_ = self._mergeable_ranks.get(data)
        if id_ is None:
            text = data.decode(errors="surrogateescape")
            id_ = self._special_tokens.get(text)
        if id_ is None:
            message = f"no token has the text {text_or_bytes!r}"
            raise UnknownTokenError(message)
        return id_

    def _specials(
        self, allowed: Specials, disallowed: Specials, texts: Iterable[str]
    ) -> dict[str, Any]:
        """Return tiktoken's arguments as those of the core.

        What is disallowed by name must not stand in a text, even if it is allowed too or no
        special token.
        """
        for text in texts:
            expect("the text", text, str, "a text")
        options: dict[str, Any] = {}
        if allowed:
            options["allowed_special"] = self._known(allowed)
        if isinstance(disallowed, str) and disallowed == "all":
            options["disallowed_special"] = "all"
        elif disallowed:
            _refuse(set(disallowed), texts)
        return options

    def _known(self, names: Specials) -> Specials:
        """Choose the names that are special tokens; ``"all"`` if these are all of them."""
        if names == "all":
            return "all"
        if isinstance(names, str):
            message = f"special tokens are a set of texts or 'all', not {names!r}"
            raise TypeError(message)
        known = self.special_tokens_set
        chosen = sorted(known.intersection(names))
        return "all" if len(chosen) == len(known) > 0 else chosen

    # Decoding

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """Decode ids; ``errors`` is any that ``bytes.decode`` knows."""
        return self.tokenizer.decode_bytes(tokens).decode("utf-8", errors=errors)

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Join the bytes of tokens."""
        return self.tokenizer.decode_bytes(tokens)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Return the bytes of one token; a ``KeyError`` if there is none."""
        return self.tokenizer.decode_bytes([token])

    def decode_tokens_bytes(self, tokens: Sequence[int]) -> list[bytes]:
        """Return the bytes of each token."""
        return [self.tokenizer.decode_bytes([token]) for token in tokens]

    def decode_with_offsets(self, tokens: Sequence[int]) -> tuple[str, list[int]]:
        """Return the text, and for each token the character in which it starts.

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
        parts = self.decode_bytes_batch(batch, num_threads=num_threads)
        return [part.decode("utf-8", errors=errors) for part in parts]

    def decode_bytes_batch(
        self,
        batch: Iterable[Sequence[int]],
        *,
        num_threads: int = 8,
    ) -> list[bytes]:
        """Decode many lists of ids to bytes, on this thread."""
        if num_threads < 1:
            message = f"num_threads must be at least 1, not {num_threads}"
            raise TokenizerError(message)
        return [self.decode_bytes(tokens) for tokens in batch]

    # What there is

    def token_byte_values(self) -> list[bytes]:
        """List the bytes of all tokens that are not special, in their order."""
        return sorted(self._mergeable_ranks)

    @property
    def max_token_value(self) -> int:
        """The largest id."""
        return self.tokenizer.n_vocab - 1

    @property
    def n_vocab(self) -> int:
        """One more than the largest id."""
        return self.tokenizer.n_vocab

    @property
    def eot_token(self) -> int:
        """The id of ``<|endoftext|>``; a ``KeyError`` if there is none."""
        return self._special_tokens["<|endoftext|>"]

    @cached_property
    def special_tokens_set(self) -> set[str]:
        """The special tokens."""
        return set(self._special_tokens)

    def is_special_token(self, token: int) -> bool:
        """Whether an id is that of a special token."""
        if not hasattr(token, "__index__"):
            message = f"expected an id, not {token!r}"
            raise _AssertionFailedError(message)
        return token in self._special_token_values

    # What programs use although its name is private

    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]:
        """Encode a text as one piece, whatever the pattern."""
        data = text_or_bytes
        return self._whole_text.encode(data.encode() if isinstance(data, str) else data)

    def _encode_bytes(self, text: bytes) -> list[int]:
        """Encode bytes, which need not be UTF-8."""
        return unstable.encode_bytes(self, bytes(memoryview(text)))

    @cached_property
    def _whole_text(self) -> Tokenizer:
        return _tokenizer(self._mergeable_ranks, WHOLE_TEXT, {})

    @cached_property
    def _table(self) -> TokenBytes:
        return TokenBytes(self.tokenizer)

    @cached_property
    def _special_token_values(self) -> set[int]:
        return set(self._special_tokens.values())

    @cached_property
    def _special_tokens(self) -> Mapping[str, int]:
        return dict(self.tokenizer.special_tokens)

    @cached_property
    def _mergeable_ranks(self) -> Mapping[bytes, int]:
        """The ordinary tokens; programs extend an encoding by them."""
        special = self._special_token_values
        return {
            token.encode() if isinstance(token, str) else token: id_
            for id_, token in enumerate(self.tokenizer.vocabulary)
            if token is not None and id_ not in special
        }

    @cached_property
    def _pat_str(self) -> str:
        _, sidecar = _core.write("tiktoken", self.tokenizer)
        return str(json.loads(sidecar)["pattern"])


def _tokenizer(
    ranks: Mapping[bytes, int], pattern: str, special_tokens: Mapping[str, int]
) -> Tokenizer:
    """Make a tokenizer; what the pattern does not match is left out, as tiktoken does."""
    expect("pat_str", pattern, str, "a text")
    expect("mergeable_ranks", ranks, Mapping, "a mapping of bytes to ids")
    expect("special_tokens", special_tokens, Mapping, "a mapping of tokens to ids")
    for token, id_ in special_tokens.items():
        expect("a special token", token, str, "a text")
        number = whole(id_)
        if number is None or number < 0:
            message = f"the id of {token!r} must be a whole number from 0, not {id_!r}"
            raise TypeError(message)
    sidecar = {"pattern": pattern, "special_tokens": dict(special_tokens)}
    data = json.dumps(sidecar).encode()
    return Tokenizer(_core.read_tiktoken_sidecar(ranks_file(ranks), data))


def _refuse(names: Collection[str], texts: Iterable[str]) -> None:
    """Refuse texts in which one of these stands."""
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
    encode: Callable[..., Result],
    given: str | list[str],
    **options: Any,  # noqa: ANN401 -- of any of these methods
) -> Result:
    """Call a method that encodes; lone surrogates become U+FFFD.

    The error of a special token also says how to allow all: here, all are refused by default.
    """
    try:
        try:
            return encode(given, **options)
        except EncodingError:
            if isinstance(given, str):
                return encode(_without_surrogates(given), **options)
            return encode([_without_surrogates(text) for text in given], **options)
    except SpecialTokenError as error:
        message = f"{error}, {HINT}"
        raise SpecialTokenError(message) from error


def _continues(byte: int) -> bool:
    """Whether a byte continues a character."""
    return 0x80 <= byte < 0xC0


def _without_surrogates(text: str) -> str:
    """Join pairs of surrogates; lone ones become U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
