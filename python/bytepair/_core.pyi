"""The compiled core: what :mod:`bytepair` is made of."""

from collections.abc import Callable, Collection, Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, AnyStr, Literal, TypeAlias, final, overload

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self

Specials: TypeAlias = Literal["all"] | Collection[str]
Errors: TypeAlias = Literal["replace", "strict", "ignore"]
Side: TypeAlias = Literal["left", "right"]
OffsetUnit: TypeAlias = Literal["characters", "bytes"]
Text: TypeAlias = str | bytes
TemplatePieces: TypeAlias = list[tuple[int | None, list[int], int]]
Ids: TypeAlias = Iterable[int] | NDArray[np.uint32] | NDArray[np.uint16]

class CoreTokenizer:
    """Text to token ids and back.

    Tokens are ``bytes`` in byte dialects and ``str`` in dialects of characters. In all
    methods ``allowed_special`` names the special tokens that are recognised in the text,
    ``"all"`` or a collection; every other special token is plain text, or an error if it
    is in ``disallowed_special``. ``add_special_tokens`` puts around the text what the
    tokenizer's template says, and applies its truncation and padding.
    """

    def __new__(cls, source: CoreTokenizer | None = None) -> Self: ...
    def encode(
        self,
        text: str | bytes,
        *,
        allowed_special: Specials = ...,
        disallowed_special: Specials = ...,
        add_special_tokens: bool = False,
        threads: int | None = ...,
    ) -> list[int]:
        """Encode a text to ids, on one thread, on ``threads``, or on all processors (``None``).

        A long text is cut where that changes no id; one that can be cut nowhere takes one
        thread.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> text = "low lower " * 100_000
        >>> tokenizer.encode(text, threads=None) == tokenizer.encode(text)
        True

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

    def encode_with_offsets(
        self,
        text: Text,
        *,
        unit: OffsetUnit = "characters",
        allowed_special: Specials = ...,
        disallowed_special: Specials = ...,
        add_special_tokens: bool = False,
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """Encode a text to ids, with the span of the text that each stands for.

        Spans are those of the text as it was given, before any change. A token that is a
        part of a character spans all of it, in characters; in bytes, the part. A special
        token of the template has the span ``(0, 0)``.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
        >>> tokenizer.encode_with_offsets("abé")[1]
        [(0, 2), (2, 3), (2, 3)]
        >>> tokenizer.encode_with_offsets("abé", unit="bytes")[1]
        [(0, 2), (2, 3), (3, 4)]
        """

    def encode_full(
        self,
        text: Text,
        pair: Text | None = None,
        *,
        unit: OffsetUnit = "characters",
        allowed_special: Specials = ...,
        disallowed_special: Specials = ...,
        add_special_tokens: bool = False,
        fit_length: bool | None = None,
        dropout: float | None = None,
        seed: int = 0,
    ) -> Encoding:
        """Encode a text, or two, with all that is known of each id.

        ``fit_length`` says whether the tokenizer's truncation and padding are applied; as a
        rule they are if ``add_special_tokens`` is. ``dropout`` is the probability that a
        merge is left out, by a chance that ``seed`` decides.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
        >>> encoding = tokenizer.encode_full("ab", "c")
        >>> encoding.tokens, encoding.offsets, encoding.type_ids
        (['ab', 'c'], [(0, 2), (0, 1)], [0, 1])

        Raises
        ------
        TokenizerError
            The texts cannot be cut as the truncation says.
        """

    def encode_full_batch(
        self,
        texts: Iterable[Text | tuple[Text, Text]],
        *,
        unit: OffsetUnit = "characters",
        allowed_special: Specials = ...,
        disallowed_special: Specials = ...,
        add_special_tokens: bool = False,
        fit_length: bool | None = None,
        dropout: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> list[Encoding]:
        """Encode many texts, or tuples of two, as :meth:`encode_full` does.

        Padding without a length fills all up to the longest.
        """

    def encode_ordinary(self, text: str | bytes) -> list[int]:
        """Encode a text in which every special token is plain text."""

    @overload
    def encode_to_numpy(
        self,
        text: str | bytes,
        *,
        allowed_special: Specials = ...,
        disallowed_special: Specials = ...,
        add_special_tokens: bool = False,
        threads: int | None = ...,
        dtype: Literal["uint32"] = "uint32",
    ) -> NDArray[np.uint32]:
        """Encode a text to an array of ids, ``uint32[n]`` or ``uint16[n]``.

        Raises
        ------
        TokenizerError
            ``dtype="uint16"`` does not hold all ids of the vocabulary.
        """

    @overload
    def encode_to_numpy(
        self,
        text: str | bytes,
        *,
        allowed_special: Specials = ...,
        disallowed_special: Specials = ...,
        add_special_tokens: bool = False,
        threads: int | None = ...,
        dtype: Literal["uint16"],
    ) -> NDArray[np.uint16]: ...
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

        One that is much longer than the others is cut for several threads. An error names the place of the text in the batch.
        """

    @overload
    def encode_batch_to_numpy(
        self,
        texts: Iterable[str | bytes],
        *,
        allowed_special: Specials = ...,
        disallowed_special: Specials = ...,
        add_special_tokens: bool = False,
        threads: int | None = None,
        dtype: Literal["uint16"],
    ) -> tuple[NDArray[np.uint16], NDArray[np.int64]]: ...
    @overload
    def encode_batch_to_numpy(
        self,
        texts: Iterable[str | bytes],
        *,
        allowed_special: Specials = ...,
        disallowed_special: Specials = ...,
        add_special_tokens: bool = False,
        threads: int | None = None,
        dtype: Literal["uint32"] = "uint32",
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
        threads: int | None = ...,
    ) -> int:
        """Count the ids of a text, without making them.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> tokenizer.count("low lower") == len(tokenizer.encode("low lower"))
        True
        """

    def count_batch(
        self,
        texts: Iterable[str | bytes],
        *,
        allowed_special: Specials = ...,
        disallowed_special: Specials = ...,
        add_special_tokens: bool = False,
        threads: int | None = None,
    ) -> list[int]:
        """Count the ids of many texts on all processors, or on ``threads`` threads.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> tokenizer.count_batch(["low", "", "lower"])
        [1, 0, 3]
        """

    def truncate(
        self,
        text: AnyStr,
        max_tokens: int,
        *,
        allowed_special: Specials = ...,
        disallowed_special: Specials = ...,
    ) -> AnyStr:
        """Cut a text so that it has at most ``max_tokens`` ids.

        Kept is the text of the first ``max_tokens`` ids, up to the end of a whole
        character; or, where that text alone would have more ids, of fewer. The text behind
        it is not encoded.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> tokenizer.truncate("low lower lowest", 2)
        'low '
        """

    def counter(
        self, *, allowed_special: Specials = ..., disallowed_special: Specials = ...
    ) -> TokenCounter:
        """Begin to count the ids of a text that comes part by part."""

    def _encode_file(
        self,
        names: tuple[str, str, str],
        *,
        is_wide: bool,
        has_header: bool,
        allowed_special: Specials,
        disallowed_special: Specials,
        threads: int | None,
        progress: Callable[[int], object] | None = None,
        stretch_len: int | None = None,
    ) -> tuple[int, int]: ...
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
        is one (in what came from SentencePiece, always as itself); an added token as it stands in the text, with the white space that belongs
        to it. Bytes that are not UTF-8 appear as escapes.
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

    def decode_batch(
        self,
        batch: Iterable[Ids],
        *,
        errors: Errors = "replace",
        skip_special_tokens: bool = False,
    ) -> list[str]:
        """Decode many lists of ids, each as :meth:`decode` does.

        An error names the place of the list in the batch.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> tokenizer.decode_batch(tokenizer.encode_batch(["low", "lower"]))
        ['low', 'lower']
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
        """Say for each stage of the splitter, or several done at once, how it is executed."""

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

    @property
    def truncation(self) -> dict[str, Any] | None:
        """How texts are cut to a length, or ``None``."""

    @property
    def padding(self) -> dict[str, Any] | None:
        """How texts are filled up to a length, or ``None``."""

    @property
    def template(self) -> tuple[TemplatePieces, TemplatePieces]:
        """What stands around one text and around two.

        Each piece has the number of a text or ``None``, the ids of special tokens, and a
        type.
        """

    def _with_truncation(
        self,
        max_length: int | None,
        *,
        stride: int = 0,
        strategy: str = ...,
        side: str = ...,
    ) -> CoreTokenizer: ...
    def _with_padding(
        self,
        id: int | None,
        *,
        length: int | None = None,
        multiple_of: int | None = None,
        side: str = ...,
        type_id: int = 0,
    ) -> CoreTokenizer: ...
    def _with_template(
        self, single: TemplatePieces, pair: TemplatePieces
    ) -> CoreTokenizer: ...
    def _describe(self) -> list[tuple[str, str]]: ...
    def _truncated(
        self, vocab_size: int | None, merges: int | None
    ) -> CoreTokenizer: ...
    def _with_special_tokens(
        self, tokens: Sequence[tuple[str, int | None]]
    ) -> CoreTokenizer: ...
    def _with_added_tokens(
        self, tokens: Sequence[tuple[str, Sequence[bool]]]
    ) -> tuple[CoreTokenizer, int]: ...
    @property
    def _added_tokens(self) -> list[tuple[int, str, list[bool]]]: ...
    def _row(
        self,
        text: str,
        lengths: Lengths,
        *,
        allowed_special: Specials = ...,
        add_special_tokens: bool = False,
    ) -> list[int]: ...
    def _rows(
        self,
        texts: Iterable[str],
        lengths: Lengths,
        *,
        allowed_special: Specials = ...,
        add_special_tokens: bool = False,
    ) -> list[list[int]]: ...
    def _full_rows(
        self,
        texts: Iterable[str | tuple[str, str]],
        lengths: Lengths,
        *,
        allowed_special: Specials = ...,
        add_special_tokens: bool = False,
    ) -> list[Encoding]: ...
    def _word_rows(
        self,
        texts: Sequence[tuple[list[str], list[str] | None]],
        lengths: Lengths,
        *,
        allowed_special: Specials = ...,
        add_special_tokens: bool = False,
    ) -> list[Encoding]: ...
    def _text_of_written(self, tokens: Sequence[str]) -> str: ...
    def _normalized(self, text: str) -> str: ...

@final
class Lengths:
    """How the rows of one call are cut and filled up, in place of what its tokenizer says."""

    def __new__(
        cls,
        *,
        max_length: int | None = None,
        stride: int = 0,
        strategy: str = "longest_first",
        truncation_side: str = "right",
        pad_id: int | None = None,
        pad_token: str = ...,
        pad_length: int | None = None,
        multiple_of: int | None = None,
        padding_side: str = "right",
        pad_type_id: int = 0,
    ) -> Self: ...

@final
class Encoding:
    """One text or two, encoded: lists with one entry for each id.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
    >>> encoding = tokenizer.encode_full("ab ab")
    >>> encoding.ids, encoding.word_ids
    ([256, 220, 256], [0, 1, 1])

    It can be copied and pickled; then it holds the names of its tokens, and no tokenizer.
    """

    def __new__(
        cls,
        ids: Sequence[int],
        *,
        tokens: Sequence[str],
        type_ids: Sequence[int],
        offsets: Sequence[tuple[int, int]],
        special_tokens_mask: Sequence[int],
        attention_mask: Sequence[int],
        word_ids: Sequence[int | None],
        sequence_ids: Sequence[int | None],
        overflowing: Sequence[Encoding] = ...,
    ) -> Self: ...
    @property
    def ids(self) -> list[int]:
        """The ids."""

    @property
    def type_ids(self) -> list[int]:
        """The type of each id, by the template."""

    @property
    def tokens(self) -> list[str]:
        """The tokens, as Hugging Face files write them (``Ġthe``)."""

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """What each id stands for in its text: where that begins and ends."""

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for each id of the template or of the padding, else 0."""

    @property
    def attention_mask(self) -> list[int]:
        """0 for each id of the padding, else 1."""

    @property
    def word_ids(self) -> list[int | None]:
        """The piece of its text that each id belongs to; ``None`` where it has no text."""

    @property
    def sequence_ids(self) -> list[int | None]:
        """The text of each id, 0 or 1; ``None`` where it has no text."""

    @property
    def overflowing(self) -> list[Encoding]:
        """What truncation cut off, in parts of the same length."""

    @property
    def n_sequences(self) -> int:
        """The number of texts, 1 or 2."""

    @property
    def words(self) -> list[int | None]:
        """The same as ``word_ids``."""

    def token_to_sequence(self, token_index: int) -> int | None:
        """Tell the text of a token, 0 or 1; ``None`` where it has none."""

    def token_to_word(self, token_index: int) -> int | None:
        """Tell the word of a token."""

    def token_to_chars(self, token_index: int) -> tuple[int, int] | None:
        """Tell the characters of a token; ``None`` where it has no text."""

    def word_to_tokens(
        self, word_index: int, sequence_index: int = 0
    ) -> tuple[int, int] | None:
        """Tell where the tokens of a word begin and end."""

    def word_to_chars(
        self, word_index: int, sequence_index: int = 0
    ) -> tuple[int, int] | None:
        """Tell where the characters of a word begin and end."""

    def char_to_token(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """Tell the token that a character is in, or the first of several.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
        >>> encoding = tokenizer.encode_full("ab ab")
        >>> (
        ...     encoding.char_to_token(4),
        ...     encoding.char_to_word(4),
        ...     encoding.word_to_chars(1),
        ... )
        (2, 1, (2, 5))
        """

    def char_to_word(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """Tell the word that a character is in."""

    def truncate(
        self, max_length: int, stride: int = 0, direction: Side = "right"
    ) -> None:
        """Cut this encoding to a length; the rest becomes ``overflowing``.

        ``direction`` names the end that is cut off. Parts share ``stride`` ids.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
        >>> encoding = tokenizer.encode_full("ab ab")
        >>> encoding.truncate(2)
        >>> encoding.ids, [part.ids for part in encoding.overflowing]
        ([256, 220], [[256]])

        Raises
        ------
        TokenizerError
            ``stride`` is not below ``max_length``.
        """

    def pad(
        self,
        length: int,
        direction: Side = "right",
        pad_id: int = 0,
        pad_type_id: int = 0,
        pad_token: str = "[PAD]",
    ) -> None:
        """Fill this encoding up to a length, and its overflowing parts."""

    def set_sequence_id(self, sequence_id: int) -> None:
        """Say that all ids belong to the text of this number."""

    @staticmethod
    def merge(encodings: Sequence[Encoding], growing_offsets: bool = True) -> Encoding:
        """Join encodings, one behind the other.

        With ``growing_offsets``, the offsets of each go on where those before end.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
        >>> parts = [tokenizer.encode_full(text) for text in ("ab", " ab")]
        >>> bytepair.Encoding.merge(parts).offsets
        [(0, 2), (2, 3), (3, 5)]
        """

    def __getnewargs_ex__(self) -> tuple[tuple[list[int]], dict[str, Any]]: ...
    def ids_to_numpy(self) -> NDArray[np.uint32]:
        """Give the ids as an array, ``uint32[n]``."""

    def offsets_to_numpy(self) -> NDArray[np.int64]:
        """Give the offsets as an array, ``int64[n, 2]``."""

    def __len__(self) -> int: ...

@final
class TokenCounter:
    """The number of ids of a text that grows, exact after each part.

    Counts what was appended anew, and the end of the text before, as a rule a word. A
    tokenizer that can cut nowhere counts all again.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> counter = tokenizer.counter()
    >>> [counter.append(part) for part in ["l", "ow", " low", "er"]]
    [1, 1, 3, 5]
    >>> trial = counter.copy()
    >>> trial.append(" and more"), counter.total
    (14, 5)
    """

    @property
    def total(self) -> int:
        """The number of ids of all that was appended."""

    def append(self, text: str | bytes) -> int:
        """Append a text; give the number of ids of all by now.

        A text that :meth:`Tokenizer.encode` would refuse at the end of all before is refused
        here, and the counter stays as it was.
        """

    def copy(self) -> Self:
        """Give a counter that goes on from here by itself."""

    def __copy__(self) -> Self: ...

@final
class DecodeStream:
    """Ids in, text out, never half a character.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["…"], vocab_size=256)
    >>> stream = tokenizer.decode_stream()
    >>> [stream.push(id) for id in tokenizer.encode("…")]
    ['', '', '…']

    It can be copied, which shares the tokenizer, and pickled, which holds the tokenizer and
    all ids so far.
    """

    def __new__(
        cls,
        tokenizer: CoreTokenizer,
        *,
        errors: Errors = "replace",
        skip_special_tokens: bool = False,
        ids: Ids | None = None,
        is_finished: bool = False,
    ) -> Self:
        """Begin behind ``ids``, whose text is not given."""

    def push(self, ids: int | Ids) -> str:
        """Add one id or several; give the text that is complete by now."""

    def finish(self) -> str:
        """Give what is left when no id follows."""

    def copy(self) -> Self:
        """Give a stream that goes on from here by itself."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: Any, /) -> Self: ...
    def __getnewargs_ex__(self) -> tuple[tuple[CoreTokenizer], dict[str, Any]]: ...

@final
class Dialect:
    """The parts of a tokenizer that are chosen before training."""

    def __new__(cls, name: str, **changes: Any) -> Dialect: ...
    @staticmethod
    def of(tokenizer: CoreTokenizer, name: str | None, **changes: Any) -> Dialect:
        """Give the dialect to go on with from a tokenizer."""

    @property
    def ties(self) -> str:
        """Which pair goes first among equals."""

    @property
    def stand_in(self) -> str | None:
        """What stands for characters without an id: ``"bytes"``, a token, or nothing."""

    def check_characters(
        self,
        limits: tuple[tuple[int, int] | None, int | None],
        is_continued: bool,
    ) -> None:
        """Refuse limits of the alphabet that have no meaning in this dialect."""

    @property
    def min_count(self) -> int:
        """How often a pair must occur."""

    def as_in_training(self) -> Dialect:
        """Give the dialect that always changes text as this one does in training."""

@final
class PieceTable:
    """Pieces and their counts, as rows: the bytes of all, where each begins, its count."""

    def __new__(cls) -> PieceTable: ...
    def add(
        self,
        data: NDArray[np.uint8],
        offsets: NDArray[np.int64],
        counts: NDArray[np.int64],
        *,
        firsts: NDArray[np.int64] | None = None,
        source: int = 0,
    ) -> None:
        """Add rows; ``firsts`` is the order in which they first occur in a source."""

    def neighbours(self) -> NDArray[np.int64]:
        """Say how often each byte stands before another or, last of 257, before an end."""

@final
class CountSums:
    """Adds counts of the parts of a corpus up in bounded memory, then gives them in order."""

    def __new__(cls, folder: str, budget: int) -> CountSums:
        """Take about ``budget`` bytes of memory, and files in a folder for what is more."""

    def add(
        self,
        data: NDArray[np.uint8],
        offsets: NDArray[np.int64],
        counts: NDArray[np.int64],
        *,
        group: int = 0,
        source: int = 0,
        firsts: NDArray[np.int64] | None = None,
    ) -> None:
        """Add rows; ``firsts`` is the order in which they first occur in a source."""

    def add_run(self, file: str | Path, *, group: int = 0, source: int = 0) -> None:
        """Add what `Corpus.finish_runs` left in a file, and take the file over."""

    def finish(
        self, min_count: int, places: Sequence[int], with_first: bool
    ) -> tuple[int, int, int]:
        """Leave out rows with smaller sums; say how many rows and occurrences.

        The third number is at least how often any pair of tokens occurs in them. ``places``
        are those of the groups in the order of rows.
        """

    def next_rows(
        self, max_rows: int, max_bytes: int
    ) -> tuple[
        tuple[NDArray[np.uint8], NDArray[np.int64]],
        NDArray[np.int64],
        NDArray[np.uint32],
        NDArray[np.uint64],
    ]:
        """Give the next rows, none at the end: pieces, counts, places of groups, firsts.

        Rows are in the order of counts, largest first, then of pieces, then of places.
        """

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
        resume: CoreTokenizer | None = None,
    ) -> Corpus: ...
    @property
    def n_bytes_read(self) -> int:
        """The bytes that were read from files so far."""

    def set_memory_limit(self, limit: int, folder: str) -> None:
        """Keep what counting needs within so many bytes, the rest in a folder."""

    def set_weight(self, multiplier: int) -> None:
        """Let every piece of what follows count so many times."""

    def add_texts(self, texts: Sequence[str | bytes]) -> None:
        """Count a batch of texts."""

    def add_file(self, path: str, progress: Callable[[int], object] | None) -> None:
        """Count a file, or standard input for ``-``."""

    def add_rows(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        """Count the rows of a column of texts, each whole: a separator is text there."""

    def add_stream(self, read: Callable[[int], bytes]) -> None:
        """Count one text; ``read`` gives at most so many of its next bytes."""

    def add_table(self, table: PieceTable) -> None:
        """Add the rows of a table, which is empty afterwards."""

    def set_dropped_before(self, bound: int) -> None:
        """Say that rare pieces are left out of what is added as a table.

        No pair occurred in them more often than ``bound``.
        """

    def finish_runs(self, folder: str) -> tuple[list[Path], dict[str, int]]:
        """End the counting, and leave what was counted in files, for `CountSums`.

        Gives their names, and how often each special token was found.
        """

    def add_counts(self, pieces: Sequence[tuple[str | bytes, int]]) -> None:
        """Add pieces that were counted elsewhere."""

    def finish(self, min_piece_count: int) -> dict[str, Any]:
        """End the counting, leave out rare pieces, and tell what was counted."""

    def n_piece_bytes(self) -> int:
        """After ``finish``: the bytes of all pieces, repeated ones too."""

    def fingerprint(self) -> str:
        """After ``finish``: a name for the pieces and their counts."""

    def train(
        self,
        *,
        vocab_size: int | None,
        merges: int | None,
        scale: int,
        limits: tuple[int | None, int | None, bool],
        with_course: bool,
        progress: Callable[[int, int | None, int], object] | None,
        characters: tuple[tuple[int, int] | None, int | None] = (None, None),
    ) -> tuple[CoreTokenizer, dict[str, Any], tuple[list[int], list[int]] | None]:
        """After ``finish``: learn merges.

        ``characters`` says which get ids: those that cover a share of the text, a fraction,
        and at most so many. Gives the tokenizer, a report, and the course if it is wanted: the tokens of the
        corpus before the first new merge and after each, and the count of each.
        """

def read_jsonl(
    block: NDArray[np.uint8], keys: Sequence[str]
) -> tuple[
    tuple[NDArray[np.uint8], NDArray[np.int64]], int, int, list[tuple[int, int, str]]
]:
    """Read the texts that keys lead to in lines of JSON.

    Gives the bytes of all texts and their offsets, the number of lines, of texts that are
    ``null``, and for each bad line its place, where it begins, and the problem.
    """

class CsvTable:
    """A file of CSV, read block by block; its first record names the columns."""

    def __new__(cls, delimiter: str, columns: Sequence[str]) -> Self: ...
    def read(
        self,
        block: NDArray[np.uint8],
        is_last: bool,
    ) -> tuple[
        list[tuple[NDArray[np.uint8], NDArray[np.int64]]], list[tuple[int, str]]
    ]:
        """Read the rows that end in the next block.

        Gives the bytes and offsets of each column that was asked for, and for each record of
        another length the line on which it begins, and the problem.
        """

def count_rows_holding(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], names: Sequence[str]
) -> int:
    """Count the rows of a column of texts that hold one of the names."""

def encode_rows(
    tokenizer: CoreTokenizer,
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    *,
    before: int | None = None,
    behind: int | None = None,
    width: Literal[2, 4] = 4,
    threads: int | None = None,
) -> tuple[NDArray[np.uint16] | NDArray[np.uint32], NDArray[np.int64]]:
    """Encode the rows of a column of texts, special tokens being plain text.

    ``before`` or ``behind`` is an id that marks each row that has ids. Gives the ids of
    all rows, and where those of each row end.
    """

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

def read_gguf(path: str | PathLike[str]) -> CoreTokenizer:
    """Read the tokenizer at the beginning of a ``.gguf`` file."""

def read_sentencepiece(data: bytes) -> CoreTokenizer:
    """Read the content of a SentencePiece ``.model``."""

def write_sentencepiece(tokenizer: CoreTokenizer) -> bytes:
    """Give the content of a SentencePiece ``.model``."""

def pair_settings() -> list[str]:
    """Name the files that say how ``vocab.json`` and ``merges.txt`` are meant."""

def read_pair(vocab: bytes, merges: bytes, settings: dict[str, bytes]) -> CoreTokenizer:
    """Read the contents of ``vocab.json`` and ``merges.txt``, and of settings by name."""

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

def read_encoding(ranks: bytes, name: str, renamed: dict[int, str]) -> CoreTokenizer:
    """Read a file of ranks as a published encoding."""

def recognise_encoding(ranks: bytes, file_name: str) -> str | None:
    """Name the published encoding that a file of ranks belongs to."""

def encoding_names() -> list[str]:
    """List the published encodings by name."""

def read_tekken(data: bytes) -> CoreTokenizer:
    """Read the content of a ``tekken.json``."""

def read_gpt1(vocab: bytes, merges: bytes) -> CoreTokenizer:
    """Read the contents of ``encoder_bpe_40000.json`` and ``vocab_40000.bpe``."""

def read_clip(data: bytes) -> CoreTokenizer:
    """Read the content of a ``bpe_simple_vocab_16e6.txt.gz``."""

def read_compiled(data: bytes) -> CoreTokenizer:
    """Read a compiled tokenizer."""

def read_compiled_file(path: str | PathLike[str]) -> CoreTokenizer:
    """Read a compiled tokenizer from a file."""

def write_compiled(tokenizer: CoreTokenizer) -> bytes:
    """Give the compiled form of a tokenizer."""

def read_subword_nmt(data: bytes, n_merges: int | None) -> CoreTokenizer:
    """Read codes of subword-nmt."""

def write_subword_nmt(tokenizer: CoreTokenizer) -> bytes:
    """Give the codes of a tokenizer for subword-nmt."""

def read_fastbpe(data: bytes, n_merges: int | None) -> CoreTokenizer:
    """Read codes of fastBPE."""

def write_fastbpe(tokenizer: CoreTokenizer) -> bytes:
    """Give the codes of a tokenizer for fastBPE."""

def read_subword_vocabulary(data: bytes, threshold: int | None) -> list[str]:
    """List the tokens that occur at least ``threshold`` times."""

@final
class CoreSegmenter:
    """Words cut apart."""

    def __new__(
        cls, codes: bytes, n_merges: int | None, separator: str, allowed: list[str]
    ) -> CoreSegmenter: ...
    def segment(
        self,
        text: str,
        *,
        dropout: float = 0.0,
        seed: int = 0,
        first_line: int = 0,
        splits_lines: bool = False,
    ) -> str:
        """Cut the words of a text apart, line by line.

        Lines end with line feeds, or where ``str.splitlines`` ends them.
        """

    def parts_of_word(
        self,
        word: str,
        *,
        dropout: float = 0.0,
        seed: int = 0,
        line: int = 0,
        place: int = 0,
    ) -> list[str]:
        """Give the parts of a word, without separators; ``place`` is its place in the line."""
