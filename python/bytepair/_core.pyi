"""The compiled core: what :mod:`bytepair` is made of."""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Literal, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self

Specials: TypeAlias = Literal["all"] | Collection[str]
Errors: TypeAlias = Literal["replace", "strict", "ignore"]
Ids: TypeAlias = Iterable[int] | NDArray[np.uint32]

class CoreTokenizer:
    """Text to token ids and back.

    Tokens are ``bytes`` in byte dialects and ``str`` in dialects of characters. In all
    methods ``allowed_special`` names the special tokens that are recognised in the text,
    ``"all"`` or a collection; every other special token is plain text, or an error if it
    is in ``disallowed_special``. ``add_special_tokens`` puts around the text what the
    tokenizer's template says.
    """

    def __new__(cls, source: CoreTokenizer) -> Self: ...
    def encode(
        self,
        text: str | bytes,
        *,
        allowed_special: Specials = ...,
        disallowed_special: Specials = ...,
        add_special_tokens: bool = False,
    ) -> list[int]:
        """Encode a text to ids.

        Raises
        ------
        UnknownTokenError
            A unit of the text is outside the alphabet, and nothing stands for it.
        SpecialTokenError
            A disallowed special token stands in the text.
        EncodingError
            The text is not UTF-8 where the dialect needs it.
        PatternError
            The split pattern takes too many steps on this text.
        """

    def encode_ordinary(self, text: str | bytes) -> list[int]:
        """Encode a text in which every special token is plain text."""

    def encode_to_numpy(
        self,
        text: str | bytes,
        *,
        allowed_special: Specials = ...,
        disallowed_special: Specials = ...,
        add_special_tokens: bool = False,
    ) -> NDArray[np.uint32]:
        """Encode a text to an array of ids, ``uint32[n]``."""

    def encode_batch(
        self,
        texts: Iterable[str | bytes],
        *,
        allowed_special: Specials = ...,
        disallowed_special: Specials = ...,
        add_special_tokens: bool = False,
        threads: int | None = None,
    ) -> list[list[int]]:
        """Encode many texts on all processors, or on ``threads`` threads.

        An error names the place of the text in the batch.
        """

    def encode_batch_to_numpy(
        self,
        texts: Iterable[str | bytes],
        *,
        allowed_special: Specials = ...,
        disallowed_special: Specials = ...,
        add_special_tokens: bool = False,
        threads: int | None = None,
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Encode many texts to one array of ids and the offsets of the texts in it.

        Text ``i`` has the ids ``ids[offsets[i]:offsets[i + 1]]``; there is one offset more
        than there are texts.
        """

    def count(
        self,
        text: str | bytes,
        *,
        allowed_special: Specials = ...,
        disallowed_special: Specials = ...,
        add_special_tokens: bool = False,
    ) -> int:
        """Count the ids of a text."""

    def tokenize(
        self,
        text: str | bytes,
        *,
        allowed_special: Specials = ...,
        disallowed_special: Specials = ...,
        add_special_tokens: bool = False,
    ) -> list[str]:
        """Show the tokens of a text as they are written, marks included.

        A unit outside the alphabet appears as itself, or as the unknown token where there
        is one. Bytes that are not UTF-8 appear as escapes.
        """

    def split(self, text: str | bytes) -> list[Any]:
        """Cut a text into its pieces, normalized, of the same type as the text."""

    def decode(
        self,
        ids: Ids,
        *,
        errors: Errors = "replace",
        skip_special_tokens: bool = False,
    ) -> str:
        """Decode ids to text.

        An end mark becomes one space between words. ``errors`` says what becomes of bytes
        that are not UTF-8.

        Raises
        ------
        UnknownTokenError
            No token has one of the ids.
        EncodingError
            The bytes are not UTF-8, and ``errors`` is ``"strict"``.
        """

    def decode_bytes(self, ids: Ids) -> bytes:
        """Join the bytes of tokens. An end mark is a space before the next token."""

    def decode_stream(
        self, *, errors: Errors = "replace", skip_special_tokens: bool = False
    ) -> DecodeStream:
        """Begin to decode ids that come one after the other."""

    def token_to_id(self, token: str | bytes) -> int | None:
        """Look up the id of a token as it is written, or ``None``."""

    def id_to_token(self, id: int) -> Any:
        """Look up the token of an id: ``bytes``, or ``str`` in dialects of characters."""

    def get_vocab(self) -> dict[str, int]:
        """Map tokens, as Hugging Face files write them (``Ġthe``), to ids."""

    def token_to_id_hf(self, token: str) -> int | None:
        """Look up the id of a token as Hugging Face files write it, or ``None``."""

    def explain(self) -> list[str]:
        """Say for each stage of the splitter how it is executed."""

    @property
    def n_vocab(self) -> int:
        """The number of ids: one more than the largest."""

    @property
    def vocabulary(self) -> list[Any]:
        """The tokens by id; ``None`` for an id that no token has."""

    @property
    def merges(self) -> list[tuple[Any, Any]]:
        """The merges in order, each as its two tokens."""

    @property
    def merge_log(self) -> list[tuple[int, int, int, int | None]]:
        """The merges in order: left id, right id, id, and the pair's count when chosen."""

    @property
    def special_tokens(self) -> dict[str, int]:
        """The special tokens and their ids."""

    @property
    def fingerprint(self) -> str:
        """A hash of all that decides what this tokenizer does, in hexadecimal."""

    def _describe(self) -> list[tuple[str, str]]: ...
    def _with_special_tokens(
        self, tokens: Sequence[tuple[str, int | None]]
    ) -> CoreTokenizer: ...

@final
class DecodeStream:
    """Ids in, text out, never half a character.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["…"], vocab_size=256)
    >>> stream = tokenizer.decode_stream()
    >>> [stream.push(id) for id in tokenizer.encode("…")]
    ['', '', '…']
    """

    def push(self, ids: int | Ids) -> str:
        """Add one id or several; give the text that is complete by now."""

    def finish(self) -> str:
        """Give what is left when no id follows."""

@final
class Dialect:
    """The parts of a tokenizer that are chosen before training."""

    def __new__(cls, name: str, **changes: Any) -> Dialect: ...

@final
class Corpus:
    """Piece counts while they are gathered, and what is learned from them."""

    def __new__(
        cls,
        dialect: Dialect,
        special_tokens: Sequence[str],
        *,
        separator: str | None = None,
        threads: int | None = None,
    ) -> Corpus: ...
    def add_texts(self, texts: Sequence[str | bytes]) -> None:
        """Count a batch of texts."""

    def add_file(self, path: str, progress: Callable[[int], object] | None) -> None:
        """Count a file, or standard input for ``-``."""

    def add_counts(self, pieces: Sequence[tuple[str | bytes, int]]) -> None:
        """Add pieces that were counted elsewhere."""

    def train(
        self,
        *,
        vocab_size: int | None,
        merges: int | None,
        progress: Callable[[int, int | None, int, int], object] | None,
    ) -> tuple[CoreTokenizer, dict[str, Any]]:
        """Learn merges; give the tokenizer and a report."""

def dialect_names() -> list[str]:
    """List the dialects by name.

    >>> import bytepair
    >>> "gpt4o" in bytepair.dialects()
    True
    """

def pattern_names() -> list[str]:
    """List the split patterns that have a name."""

def read_native(data: bytes) -> CoreTokenizer:
    """Read the content of a ``.bytepair`` file."""

def write_native(tokenizer: CoreTokenizer) -> bytes:
    """Give the content of a ``.bytepair`` file."""

def read_huggingface(data: bytes) -> CoreTokenizer:
    """Read the content of a ``tokenizer.json``."""

def write_huggingface(tokenizer: CoreTokenizer) -> bytes:
    """Give the content of a ``tokenizer.json``."""

def read_gpt2(vocab: bytes, merges: bytes) -> CoreTokenizer:
    """Read the contents of ``vocab.json`` and ``merges.txt``."""

def write_gpt2(tokenizer: CoreTokenizer) -> tuple[bytes, bytes]:
    """Give the contents of ``vocab.json`` and ``merges.txt``."""

def read_tiktoken(
    ranks: bytes, dialect: Dialect, special_tokens: dict[str, int]
) -> CoreTokenizer:
    """Read the content of a ``.tiktoken`` file made for a dialect."""

def read_tiktoken_sidecar(ranks: bytes, sidecar: bytes) -> CoreTokenizer:
    """Read the contents of a ``.tiktoken`` file and of its sidecar."""

def write_tiktoken(tokenizer: CoreTokenizer) -> tuple[bytes, bytes]:
    """Give the contents of a ``.tiktoken`` file and of its sidecar."""
