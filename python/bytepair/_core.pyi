"""The compiled core of :mod:`bytepair`."""

import builtins
from collections.abc import Callable, Collection, Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, AnyStr, Generic, Literal, TypeAlias, final, overload

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self, disjoint_base

from bytepair._patch import Patch

__all__ = [
    "CoreSegmenter",
    "Corpus",
    "CountSums",
    "CsvTable",
    "DecodeStream",
    "Dialect",
    "Encoding",
    "Inspection",
    "Lengths",
    "Measure",
    "PieceTable",
    "SegmentEncoding",
    "Session",
    "Token",
    "Tokenizer",
    "Usage",
    "added_tokens",
    "built_on",
    "byte_trie",
    "canonicalize",
    "check_whole_ranks",
    "count_rows_holding",
    "dialect_names",
    "encode_by",
    "encode_file",
    "encode_full_rows",
    "encode_rows",
    "encode_segments",
    "encode_segments_batch",
    "encode_word_rows",
    "encoding_names",
    "extend_with_strings",
    "first_noncanonical",
    "graphemes",
    "half_of_pair",
    "heal",
    "id_of_written",
    "import_numpy",
    "instructions",
    "is_canonical",
    "merge_vocabularies",
    "merged_units",
    "pair_names",
    "pair_settings",
    "pattern_names",
    "prune",
    "read",
    "read_compiled_file",
    "read_encoding",
    "read_gguf",
    "read_gpt1",
    "read_jsonl",
    "read_pair",
    "read_subword_vocabulary",
    "read_tiktoken",
    "read_tiktoken_sidecar",
    "recognise_encodings",
    "recognise_format",
    "remove",
    "shorten",
    "splice",
    "stable_prefix",
    "text_and_ends",
    "token_texts",
    "unicode_scripts",
    "unreached",
    "whole_words",
    "why_in_no_piece",
    "why_it_stays",
    "with_added_tokens",
    "with_lengths",
    "with_missing",
    "with_special_tokens",
    "with_tokens_at",
    "write",
    "write_huggingface_with_changes",
]

_Specials: TypeAlias = Literal["all"] | Collection[str]
_AddedTokens: TypeAlias = Literal["find", "text"]
_Errors: TypeAlias = Literal["replace", "strict", "ignore"]
_Side: TypeAlias = Literal["left", "right"]
_OffsetUnit: TypeAlias = Literal["characters", "bytes"]
_Text: TypeAlias = str | bytes
_Parity: TypeAlias = tuple[list[float] | None, int | None, float, int]
_AddedRow: TypeAlias = tuple[int, str, list[bool]]
_TemplatePieces: TypeAlias = list[tuple[int | None, list[int], int]]
_StringReport: TypeAlias = tuple[str, int | None, list[int], list[int]]
_Ids: TypeAlias = Iterable[int] | NDArray[np.uint32] | NDArray[np.uint16]
_Column: TypeAlias = tuple[NDArray[np.uint8], NDArray[np.int64]]
_PieceRows: TypeAlias = tuple[_Column, NDArray[np.int64], NDArray[np.int64] | None]

@disjoint_base
class Tokenizer:
    """Text to token ids and back: the compiled base of ``bytepair.Tokenizer``.

    Tokens are ``bytes`` in dialects of bytes and ``str`` in dialects of characters. In all
    methods, ``allowed_special`` names the special tokens that are found in a text: ``"all"``, or
    a collection. Every other special token is plain text, or an error if ``disallowed_special``
    names it. Added tokens that are not special are found in any text, or are an error if
    ``disallowed_special`` names them. With ``added_tokens="text"``, no added token is found,
    whatever its properties: the ids are those of a tokenizer without added tokens. Use it for
    text that is not trusted. ``add_special_tokens=True`` adds the special tokens of the
    tokenizer's template, and applies its truncation and padding.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> tokenizer.decode(tokenizer.encode("lower"))
    'lower'
    """

    def __new__(cls, source: Tokenizer | None = None) -> Self: ...
    def encode(
        self,
        text: str | bytes,
        *,
        allowed_special: _Specials = (),
        disallowed_special: _Specials = (),
        added_tokens: _AddedTokens = "find",
        add_special_tokens: bool = False,
        threads: int | None = 1,
    ) -> list[int]:
        """Encode a text to a list of ids.

        ``threads`` is the number of threads; ``None`` uses all processors. A long text is
        divided among them only at places where this changes no id.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> tokenizer.encode("low lower")
        [257, 220, 257, 68, 81]

        Raises
        ------
        UnknownTokenError
            A unit of the text is outside the alphabet, and no token stands for it.
        SpecialTokenError
            The text contains a disallowed special token.
        EncodingError
            The text is not UTF-8, and the dialect requires it.
        PatternError
            The split pattern takes too many steps on this text.
        """

    def encode_full(
        self,
        text: _Text,
        pair: _Text | None = None,
        *,
        unit: _OffsetUnit = "characters",
        allowed_special: _Specials = (),
        disallowed_special: _Specials = (),
        added_tokens: _AddedTokens = "find",
        add_special_tokens: bool = False,
        fit_length: bool | None = None,
        dropout: float | None = None,
        seed: int | None = None,
    ) -> Encoding:
        """Encode a text, or a pair of texts, to an :class:`Encoding`.

        ``fit_length`` says whether the tokenizer's truncation and padding are applied; the default is
        the value of ``add_special_tokens``. ``dropout`` is the probability with which each merge is
        skipped. The same ``seed`` gives the same ids; without one, each call draws anew.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
        >>> encoding = tokenizer.encode_full("ab", "c")
        >>> encoding.tokens, encoding.offsets, encoding.type_ids
        (['ab', 'c'], [(0, 2), (0, 1)], [0, 1])

        Raises
        ------
        TokenizerError
            The texts cannot be truncated as the tokenizer says, or ``dropout`` is not between 0 and 1;
            also the errors of :meth:`encode`.
        """

    def encode_full_batch(
        self,
        texts: Iterable[_Text | tuple[_Text, _Text]],
        *,
        unit: _OffsetUnit = "characters",
        allowed_special: _Specials = (),
        disallowed_special: _Specials = (),
        added_tokens: _AddedTokens = "find",
        add_special_tokens: bool = False,
        fit_length: bool | None = None,
        dropout: float | None = None,
        seed: int | None = None,
        threads: int | None = None,
    ) -> list[Encoding]:
        """Encode many texts, or tuples of two, as :meth:`encode_full` does.

        ``threads`` is the number of threads; ``None`` uses all processors. Padding without a
        length pads all texts to the longest.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
        >>> batch = tokenizer.encode_full_batch(["ab", ("a", "b")])
        >>> [encoding.ids for encoding in batch]
        [[256], [64, 65]]

        Raises the errors of :meth:`encode_full`; the message has the text's index in the batch.
        """

    @overload
    def encode_to_numpy(
        self,
        text: str | bytes,
        *,
        allowed_special: _Specials = (),
        disallowed_special: _Specials = (),
        added_tokens: _AddedTokens = "find",
        add_special_tokens: bool = False,
        threads: int | None = 1,
        dtype: Literal["uint32"] = "uint32",
    ) -> NDArray[np.uint32]:
        """Encode a text to an array of ids, ``uint32[n]`` or ``uint16[n]``.

        The options are those of :meth:`encode`.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> tokenizer.encode_to_numpy("lower", dtype="uint16")
        array([257,  68,  81], dtype=uint16)

        Raises
        ------
        TokenizerError
            ``dtype="uint16"`` cannot hold all ids of the vocabulary; also the errors of
            :meth:`encode`.
        """

    @overload
    def encode_to_numpy(
        self,
        text: str | bytes,
        *,
        allowed_special: _Specials = (),
        disallowed_special: _Specials = (),
        added_tokens: _AddedTokens = "find",
        add_special_tokens: bool = False,
        threads: int | None = 1,
        dtype: Literal["uint16"],
    ) -> NDArray[np.uint16]: ...
    def encode_batch(
        self,
        texts: Iterable[str | bytes],
        *,
        allowed_special: _Specials = (),
        disallowed_special: _Specials = (),
        added_tokens: _AddedTokens = "find",
        add_special_tokens: bool = False,
        threads: int | None = None,
    ) -> list[list[int]]:
        """Encode many texts, each to a list of ids.

        ``threads`` is the number of threads; ``None`` uses all processors. A text that is much
        longer than the others is divided among several threads.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> tokenizer.encode_batch(["low", "lower"])
        [[257], [257, 68, 81]]

        Raises the errors of :meth:`encode`; the message has the text's index in the batch.
        """

    @overload
    def encode_batch_to_numpy(
        self,
        texts: Iterable[str | bytes],
        *,
        allowed_special: _Specials = (),
        disallowed_special: _Specials = (),
        added_tokens: _AddedTokens = "find",
        add_special_tokens: bool = False,
        threads: int | None = None,
        dtype: Literal["uint16"],
    ) -> tuple[NDArray[np.uint16], NDArray[np.int64]]: ...
    @overload
    def encode_batch_to_numpy(
        self,
        texts: Iterable[str | bytes],
        *,
        allowed_special: _Specials = (),
        disallowed_special: _Specials = (),
        added_tokens: _AddedTokens = "find",
        add_special_tokens: bool = False,
        threads: int | None = None,
        dtype: Literal["uint32"] = "uint32",
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Encode many texts to one array of ids, and the offsets of the texts in it.

        Text ``i`` has the ids ``ids[offsets[i]:offsets[i + 1]]``. The arrays are ``uint32[n]``, or
        ``uint16[n]``, and ``int64[len(texts) + 1]``.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> ids, offsets = tokenizer.encode_batch_to_numpy(["low", "lower"])
        >>> ids.tolist(), offsets.tolist()
        ([257, 257, 68, 81], [0, 1, 4])

        Raises
        ------
        TokenizerError
            ``dtype="uint16"`` cannot hold all ids of the vocabulary; also the errors of
            :meth:`encode_batch`.
        """

    def count(
        self,
        text: str | bytes,
        *,
        allowed_special: _Specials = (),
        disallowed_special: _Specials = (),
        added_tokens: _AddedTokens = "find",
        add_special_tokens: bool = False,
        threads: int | None = 1,
    ) -> int:
        """Count the ids of a text without making a list of them.

        The options are those of :meth:`encode`.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> tokenizer.count("low lower")
        5

        Raises the errors of :meth:`encode`.
        """

    def count_batch(
        self,
        texts: Iterable[str | bytes],
        *,
        allowed_special: _Specials = (),
        disallowed_special: _Specials = (),
        added_tokens: _AddedTokens = "find",
        add_special_tokens: bool = False,
        threads: int | None = None,
    ) -> list[int]:
        """Count the ids of each of many texts.

        ``threads`` is the number of threads; ``None`` uses all processors.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> tokenizer.count_batch(["low", "", "lower"])
        [1, 0, 3]

        Raises the errors of :meth:`encode`; the message has the text's index in the batch.
        """

    def truncate(
        self,
        text: AnyStr,
        max_tokens: int,
        *,
        allowed_special: _Specials = (),
        disallowed_special: _Specials = (),
        added_tokens: _AddedTokens = "find",
    ) -> AnyStr:
        """Truncate a text to at most ``max_tokens`` ids.

        The result is the text of the first ``max_tokens`` ids, up to the end of a whole character.
        If that text alone would have more ids, the result is the text of fewer ids. The rest of the
        text is not encoded.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> tokenizer.truncate("low lower lowest", 2)
        'low '

        Raises the errors of :meth:`encode`.
        """

    def tokenize(
        self,
        text: str | bytes,
        *,
        allowed_special: _Specials = (),
        disallowed_special: _Specials = (),
        added_tokens: _AddedTokens = "find",
        add_special_tokens: bool = False,
    ) -> list[str]:
        """Return the tokens of a text as they are written, including marks.

        A unit outside the alphabet appears as the unknown token if there is one, otherwise as itself
        (with files from SentencePiece, always as itself). An added token appears as in the text, with
        the white space that it strips. Bytes that are not UTF-8 appear as escapes.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> tokenizer.tokenize("low lower")
        ['low', ' ', 'low', 'e', 'r']

        Raises the errors of :meth:`encode`, except for unknown units.
        """

    def split(self, text: str | bytes) -> list[Any]:
        """Split a text into the pieces that no token crosses, after normalization.

        Pieces are ``str`` or ``bytes``, like the text.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> tokenizer.split("low lower")
        ['low', ' lower']

        Raises
        ------
        PatternError
            The split pattern takes too many steps on this text.
        """

    def decode(
        self,
        ids: _Ids,
        *,
        errors: _Errors = "replace",
        skip_special_tokens: bool = False,
    ) -> str:
        """Decode ids to text.

        An end mark becomes one space between words. ``errors`` says what happens to bytes that are
        not UTF-8: ``"replace"`` (by U+FFFD), ``"ignore"`` or ``"strict"``.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> tokenizer.decode([257, 68, 81])
        'lower'

        Raises
        ------
        UnknownTokenError
            No token has one of the ids.
        EncodingError
            The bytes are not UTF-8, and ``errors`` is ``"strict"``.
        """

    def decode_batch(
        self,
        batch: Iterable[_Ids],
        *,
        errors: _Errors = "replace",
        skip_special_tokens: bool = False,
    ) -> list[str]:
        """Decode many lists of ids, each as :meth:`decode` does.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> tokenizer.decode_batch([[257], [257, 68, 81]])
        ['low', 'lower']

        Raises the errors of :meth:`decode`; the message has the list's index in the batch.
        """

    def decode_bytes(self, ids: _Ids) -> bytes:
        """Return the joined bytes of tokens; an end mark becomes a space before the next token.

        The decoder of a file, which may turn ``▁`` into a space, is not applied.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> tokenizer.decode_bytes([257, 68, 81])
        b'lower'

        Raises
        ------
        UnknownTokenError
            No token has one of the ids.
        """

    def token_to_id(self, token: str | bytes) -> int | None:
        """Return the id of a token, as it is written in the vocabulary, or ``None`` if there is none.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> [tokenizer.token_to_id(token) for token in ("low", b"low", "xy")]
        [257, 257, None]
        """

    def get_vocab(self) -> dict[str, int]:
        """Return a mapping of tokens, written as in Hugging Face files (``Ġthe``), to ids.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> vocabulary = tokenizer.get_vocab()
        >>> vocabulary["low"], vocabulary["Ġ"], len(vocabulary)
        (257, 220, 258)
        """

    @property
    def n_vocab(self) -> int:
        """The number of ids: one more than the largest.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> tokenizer.n_vocab
        258
        """

    @property
    def vocabulary(self) -> list[Any]:
        """The tokens by id; ``None`` for an id without a token.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> tokenizer.vocabulary[256:]
        [b'lo', b'low']
        """

    @property
    def merges(self) -> list[tuple[Any, Any]]:
        """The merges in order, each as its two tokens.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> tokenizer.merges
        [(b'l', b'o'), (b'lo', b'w')]
        """

    @property
    def special_tokens(self) -> dict[str, int]:
        """The special tokens and their ids.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(
        ...     ["low lower"], vocab_size=259, special_tokens=["<|end|>"]
        ... )
        >>> tokenizer.special_tokens
        {'<|end|>': 258}
        """

    @property
    def fingerprint(self) -> str:
        """A hash of everything that affects the results of this tokenizer, in hexadecimal.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> again = bytepair.Tokenizer.from_bytes(tokenizer.to_bytes())
        >>> again.fingerprint == tokenizer.fingerprint
        True
        """

    def token_bytes(self, id: int) -> bytes:
        """Return the bytes of a token, as it is written in the vocabulary.

        :class:`bytepair.serving.TokenBytes` has the bytes of text that tokens stand for instead: a space for ``▁``, and
        none for special tokens.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> tokenizer.token_bytes(257)
        b'low'

        Raises
        ------
        UnknownTokenError
            No token has this id.
        """

    def session(
        self,
        text: _Text = "",
        *,
        keep_ids: bool = True,
        allowed_special: _Specials = (),
        disallowed_special: _Specials = (),
        added_tokens: _AddedTokens = "find",
    ) -> Session:
        """Return a :class:`bytepair.serving.Session`: a text that grows and changes, with its ids.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> session = tokenizer.session("low lo")
        >>> session.append("w")
        Patch(keep=2, ids=[257], keep_after=0)

        Raises the errors of :meth:`encode`.
        """

    def inspect(self) -> Inspection:
        """Return an object that shows the parts of the tokenizer, and what it does with a text.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> tokenizer.inspect().merge_log
        [(75, 78, 256, 2), (256, 86, 257, 2)]
        """

@final
class Token:
    """A token of a vocabulary. ``str`` writes it as ``Tokenizer.tokenize`` does.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["a b a b"], vocab_size=257)
    >>> [token] = tokenizer.inspect().tokens([256])
    >>> token.kind, token.bytes, str(token), token.written
    ('text', b' b', ' b', 'Ġb')
    """

    @property
    def id(self) -> int:
        """The id of the token."""

    @property
    def kind(self) -> Literal["text", "byte", "unknown", "added", "none"]:
        """``"text"``, ``"byte"`` (of byte fallback), ``"unknown"``, ``"added"``, or ``"none"`` for an id without a token."""

    @property
    def bytes(self) -> builtins.bytes:
        """The bytes of the token, without marks."""

    @property
    def text(self) -> str:
        """The text of the token without marks, with ``U+FFFD`` for bytes that are not UTF-8."""

    @property
    def continues(self) -> bool:
        """Whether the token continues a piece, in vocabularies that mark this."""

    @property
    def ends(self) -> bool:
        """Whether the token ends a piece, in vocabularies that mark this."""

    @property
    def entry(self) -> Any:
        """The token as in ``Tokenizer.vocabulary``: ``bytes``, or ``str`` in dialects of characters."""

    @property
    def written(self) -> str:
        """The token as Hugging Face files write it, such as ``Ġthe``."""

@final
class Inspection:
    """The parts of a tokenizer, and what it does with a text; returned by ``Tokenizer.inspect``.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> tokenizer.inspect().description["vocabulary"]
    '258 tokens, 2 merges'
    """

    @property
    def merge_log(self) -> list[tuple[int, int, int, int | None]]:
        """The merges in order: left id, right id, result id, and the pair's count when it was merged.

        The count is ``None`` if it is not known, as for most files.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> tokenizer.inspect().merge_log
        [(75, 78, 256, 2), (256, 86, 257, 2)]
        """

    @property
    def description(self) -> dict[str, str]:
        """The parts of the tokenizer in words, by name, as ``print`` shows them."""

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the parts, by name.

        - ``stages``: how each stage of the splitter is executed.
        - ``template``: the templates for one text and for two. A piece has the number of a text or ``None``, the ids of
          special tokens, and a type.
        - ``truncation`` and ``padding``: how texts are truncated and padded, or ``None``.
        - ``is_bytes``, ``end_mark``, ``end_mark_is_suffix``, ``continuing_prefix``, ``unknown``, ``byte_fallback``,
          ``drops_missing``: how a piece becomes units.
        - ``ignore_merges``: whether a piece that is a token becomes that token without merges.
        - ``priorities``: the priorities of the merges, or ``None`` if they are their indices.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> settings = tokenizer.with_truncation(512).inspect().settings
        >>> settings["truncation"]["max_length"], settings["template"][0]
        (512, [(0, [], 0)])
        """

    def tokens(self, ids: _Ids | None = None) -> list[Token]:
        """Return the tokens of these ids, or all tokens by id.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> tokenizer.inspect().tokens([257])
        [<bytepair.Token: 257, 'low'>]

        Raises
        ------
        UnknownTokenError
            No token has one of ``ids``.
        """

    def normalized(self, text: str | bytes) -> str:
        """Return the normalized text. Special tokens are plain text."""

    def course(
        self,
        text: str | bytes,
        *,
        allowed_special: _Specials = (),
        added_tokens: _AddedTokens = "find",
    ) -> list[Any]:
        """Return the steps of encoding a text, as parts. Spans are in bytes.

        A part is ``("added", id, start, end)`` or ``("text", start, end, normalized, parts)``, whose parts are
        added tokens or ``("piece", start, end, text, is_whole, symbols, steps, tokens)``. A symbol has its span in
        the piece, and a token its span in the text.
        """

    def symbols(self, piece: bytes) -> list[tuple[int | None, int, int]]:
        """Return the symbols of a piece before any merge: ids with their spans in the piece.

        The id is ``None`` for a unit that no token stands for.
        """

    def merge_steps(self, ids: _Ids) -> list[tuple[int, int, int, int, int, int]]:
        """Return the merges of a sequence of tokens, in order.

        A merge has the index of its left part, its index in :attr:`merge_log`, its priority, both parts and the result.
        """

@final
class Lengths:
    """The truncation and padding of one call or of a new tokenizer."""

    def __new__(
        cls,
        *,
        max_length: int | None = None,
        stride: int = 0,
        strategy: str = "longest_first",
        truncation_side: str = "right",
        pad_id: int | None = None,
        pad_token: str = "",
        length: int | None = None,
        multiple_of: int | None = None,
        padding_side: str = "right",
        type_id: int = 0,
    ) -> Self: ...

@final
class Encoding:
    """The ids of one text or two, and lists with one entry for each id.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
    >>> encoding = tokenizer.encode_full("ab ab")
    >>> encoding
    <bytepair.Encoding: 3 ids, 0 overflowing>
    >>> encoding.ids, encoding.word_ids
    ([256, 220, 256], [0, 1, 1])

    An encoding can be copied and pickled. The copy holds the names of its tokens instead of a tokenizer.
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
        overflowing: Sequence[Encoding] = (),
    ) -> Self: ...
    @property
    def ids(self) -> list[int]:
        """The ids.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
        >>> encoding = tokenizer.encode_full("ab ab")
        >>> encoding.ids
        [256, 220, 256]
        """

    @property
    def type_ids(self) -> list[int]:
        """The type of each id, from the template: usually 0 for the first text and 1 for the second.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
        >>> encoding = tokenizer.encode_full("ab ab")
        >>> encoding.type_ids
        [0, 0, 0]
        """

    @property
    def tokens(self) -> list[str]:
        """The tokens as text, as :meth:`Tokenizer.tokenize` writes them.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
        >>> encoding = tokenizer.encode_full("ab ab")
        >>> encoding.tokens
        ['ab', ' ', 'ab']
        """

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """The span of each id in its text: where it begins and ends.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
        >>> encoding = tokenizer.encode_full("ab ab")
        >>> encoding.offsets
        [(0, 2), (2, 3), (3, 5)]
        """

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for each id from the template or the padding, otherwise 0.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
        >>> encoding = tokenizer.encode_full("ab ab")
        >>> encoding.special_tokens_mask
        [0, 0, 0]
        """

    @property
    def attention_mask(self) -> list[int]:
        """0 for each id from the padding, otherwise 1.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
        >>> encoding = tokenizer.encode_full("ab ab")
        >>> encoding.attention_mask
        [1, 1, 1]
        """

    @property
    def word_ids(self) -> list[int | None]:
        """The number of the piece that each id belongs to, or ``None`` if it belongs to no text.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
        >>> encoding = tokenizer.encode_full("ab ab")
        >>> encoding.word_ids
        [0, 1, 1]
        """

    @property
    def sequence_ids(self) -> list[int | None]:
        """The number of the text that each id belongs to, 0 or 1, or ``None`` if it belongs to none.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
        >>> encoding = tokenizer.encode_full("ab ab")
        >>> encoding.sequence_ids
        [0, 0, 0]
        """

    @property
    def overflowing(self) -> list[Encoding]:
        """The parts that truncation cut off, none longer than this encoding.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
        >>> encoding = tokenizer.encode_full("ab ab")
        >>> encoding.overflowing
        []
        """

    @property
    def n_sequences(self) -> int:
        """The number of texts, 1 or 2.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
        >>> encoding = tokenizer.encode_full("ab ab")
        >>> encoding.n_sequences
        1
        """

    @property
    def words(self) -> list[int | None]:
        """An alias of :attr:`word_ids`.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
        >>> encoding = tokenizer.encode_full("ab ab")
        >>> encoding.words
        [0, 1, 1]
        """

    def token_to_sequence(self, token_index: int) -> int | None:
        """Return the number of the text that a token belongs to, 0 or 1, or ``None`` if it belongs to none.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
        >>> encoding = tokenizer.encode_full("ab ab")
        >>> encoding.token_to_sequence(0)
        0
        """

    def token_to_word(self, token_index: int) -> int | None:
        """Return the number of the word that a token belongs to, or ``None`` if it belongs to none.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
        >>> encoding = tokenizer.encode_full("ab ab")
        >>> encoding.token_to_word(2)
        1
        """

    def token_to_chars(self, token_index: int) -> tuple[int, int] | None:
        """Return the span of a token in its text, or ``None`` if it belongs to no text.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
        >>> encoding = tokenizer.encode_full("ab ab")
        >>> encoding.token_to_chars(2)
        (3, 5)
        """

    def word_to_tokens(
        self, word_index: int, sequence_index: int = 0
    ) -> tuple[int, int] | None:
        """Return where the tokens of a word begin and end, or ``None`` if there is no such word.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
        >>> encoding = tokenizer.encode_full("ab ab")
        >>> encoding.word_to_tokens(1)
        (1, 3)
        """

    def word_to_chars(
        self, word_index: int, sequence_index: int = 0
    ) -> tuple[int, int] | None:
        """Return the span of a word in its text, or ``None`` if there is no such word.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
        >>> encoding = tokenizer.encode_full("ab ab")
        >>> encoding.word_to_chars(1)
        (2, 5)
        """

    def char_to_token(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """Return the index of the first token that contains a character, or ``None`` if no token does.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
        >>> encoding = tokenizer.encode_full("ab ab")
        >>> encoding.char_to_token(4)
        2
        """

    def char_to_word(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """Return the number of the word that contains a character, or ``None`` if no word does.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
        >>> encoding = tokenizer.encode_full("ab ab")
        >>> encoding.char_to_word(4)
        1
        """

    def truncate(
        self, max_length: int, stride: int = 0, direction: _Side = "right"
    ) -> None:
        """Truncate this encoding to ``max_length`` ids, and move the rest to :attr:`overflowing`.

        ``direction`` is the end that is cut off. Consecutive parts share ``stride`` ids.

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
        direction: _Side = "right",
        pad_id: int = 0,
        pad_type_id: int = 0,
        pad_token: str = "[PAD]",
    ) -> None:
        """Pad this encoding and its overflowing parts to ``length`` ids.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
        >>> encoding = tokenizer.encode_full("ab ab")
        >>> encoding.pad(5, pad_id=0)
        >>> encoding.ids, encoding.attention_mask
        ([256, 220, 256, 0, 0], [1, 1, 1, 0, 0])
        """

    def set_sequence_id(self, sequence_id: int) -> None:
        """Assign all ids to the text with this number.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
        >>> encoding = tokenizer.encode_full("ab ab")
        >>> encoding.set_sequence_id(1)
        >>> encoding.sequence_ids
        [1, 1, 1]
        """

    @staticmethod
    def merge(encodings: Sequence[Encoding], growing_offsets: bool = True) -> Encoding:
        """Return the concatenation of encodings.

        With ``growing_offsets``, the offsets of each encoding continue where those before it end.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
        >>> parts = [tokenizer.encode_full(text) for text in ("ab", " ab")]
        >>> bytepair.Encoding.merge(parts).offsets
        [(0, 2), (2, 3), (3, 5)]
        """

    def __getnewargs_ex__(self) -> tuple[tuple[list[int]], dict[str, Any]]: ...
    def ids_to_numpy(self) -> NDArray[np.uint32]:
        """Return the ids as an array, ``uint32[n]``.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
        >>> encoding = tokenizer.encode_full("ab ab")
        >>> encoding.ids_to_numpy()
        array([256, 220, 256], dtype=uint32)
        """

    def offsets_to_numpy(self) -> NDArray[np.int64]:
        """Return the offsets as an array, ``int64[n, 2]``.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
        >>> encoding = tokenizer.encode_full("ab ab")
        >>> encoding.offsets_to_numpy().tolist()
        [[0, 2], [2, 3], [3, 5]]
        """

    def __len__(self) -> int: ...

@final
class SegmentEncoding:
    """The ids of a text in segments.

    >>> import bytepair
    >>> from bytepair.serving import encode_segments
    >>> tokenizer = bytepair.train_from_iterator(
    ...     ["low lower"], vocab_size=259, special_tokens=["<s>"]
    ... )
    >>> encoding = encode_segments(tokenizer, [("<s>", True), ("low<s>", False)])
    >>> encoding
    <bytepair.serving.SegmentEncoding: 5 ids, 2 segments>
    >>> encoding.segment_ids.tolist()
    [0, 1, 1, 1, 1]
    """

    def __new__(
        cls,
        ids: list[int],
        ends: list[int],
        offsets: list[tuple[int, int]] | None = None,
    ) -> Self: ...
    @property
    def ids(self) -> list[int]:
        """The ids of all segments.

        >>> from bytepair.serving import SegmentEncoding
        >>> SegmentEncoding([7, 8, 9], [1, 3]).ids
        [7, 8, 9]
        """

    @property
    def segment_ids(self) -> NDArray[np.uint32]:
        """The index of the segment of each id, ``uint32[n]``.

        >>> from bytepair.serving import SegmentEncoding
        >>> SegmentEncoding([7, 8, 9], [1, 3]).segment_ids
        array([0, 1, 1], dtype=uint32)
        """

    @property
    def segment_spans(self) -> NDArray[np.int64]:
        """The first id of each segment and the one after its last, ``int64[n_segments, 2]``.

        >>> from bytepair.serving import SegmentEncoding
        >>> SegmentEncoding([7, 8, 9], [1, 3]).segment_spans.tolist()
        [[0, 1], [1, 3]]
        """

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """The span of each id in the joined text of all segments, in characters.

        >>> from bytepair.serving import SegmentEncoding
        >>> SegmentEncoding([7, 8], [1, 2], [(0, 3), (3, 4)]).offsets
        [(0, 3), (3, 4)]

        Raises
        ------
        TokenizerError
            The segments were encoded without ``offsets=True``.
        """

    def ids_to_numpy(self) -> NDArray[np.uint32]:
        """Return the ids as an array, ``uint32[n]``.

        >>> from bytepair.serving import SegmentEncoding
        >>> SegmentEncoding([7, 8, 9], [1, 3]).ids_to_numpy()
        array([7, 8, 9], dtype=uint32)
        """

    def offsets_to_numpy(self) -> NDArray[np.int64]:
        """Return the offsets as an array, ``int64[n, 2]``.

        >>> from bytepair.serving import SegmentEncoding
        >>> encoding = SegmentEncoding([7, 8], [1, 2], [(0, 3), (3, 4)])
        >>> encoding.offsets_to_numpy().tolist()
        [[0, 3], [3, 4]]

        Raises
        ------
        TokenizerError
            The segments were encoded without ``offsets=True``.
        """

    def __len__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __getnewargs__(
        self,
    ) -> tuple[list[int], list[int], list[tuple[int, int]] | None]: ...

@final
class Session:
    """A text that grows and changes, with its ids, which are always those of the whole text.

    A change costs what encoding the new text and the end of the text before it takes, usually a word, however long the
    whole text is. Where nothing proves a cut for long, as in a run of digits that a pattern takes by threes, it costs that
    run. A session takes about as much memory as its text and four bytes for each id. With ``keep_ids=False``
    it only counts, and keeps the end of its text alone.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> session = tokenizer.session("lo")
    >>> session.append("wer")
    Patch(keep=0, ids=[257, 68, 81], keep_after=0)
    >>> session.ids, len(session)
    (array([257,  68,  81], dtype=uint32), 3)

    Only the options about special tokens apply; special tokens of a template are not added. A tokenizer that cannot
    prove where its texts can be cut encodes the whole text after each change, and :meth:`explain` says why.
    """

    def __new__(
        cls,
        tokenizer: Tokenizer,
        text: _Text = "",
        *,
        keep_ids: bool = True,
        allowed_special: _Specials = (),
        disallowed_special: _Specials = (),
        added_tokens: _AddedTokens = "find",
    ) -> Self: ...
    @property
    def ids(self) -> NDArray[np.uint32]:
        """The ids, ``uint32[n]``.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> tokenizer.session("lower").ids
        array([257,  68,  81], dtype=uint32)

        Raises
        ------
        TokenizerError
            The session keeps no ids.
        """

    @property
    def text(self) -> str:
        """The text, without what waits; bytes that are not UTF-8 are replaced by U+FFFD.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> tokenizer.session("lower").text
        'lower'

        Raises
        ------
        TokenizerError
            The session keeps no ids.
        """

    @property
    def n_stable(self) -> int:
        """The number of ids that no continuation can change. They are the first ones.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> session = tokenizer.session("low lower")
        >>> session.n_stable, len(session)
        (4, 5)
        """

    @property
    def held(self) -> bytes:
        r"""What waits for the next text and has no ids yet: bytes that only begin a character, or the first half of a surrogate
        pair, as ``"surrogatepass"`` encodes it.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> tokenizer.session(b"low\xe2\x80").held
        b'\xe2\x80'
        """

    def append(self, text: _Text) -> Patch:
        r"""Append a text, and return how the ids change.

        Bytes at its end that only begin a character, or the first half of a surrogate pair, wait for the rest:
        :attr:`held` shows them.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> session = tokenizer.session("low lo")
        >>> session.append("w")
        Patch(keep=2, ids=[257], keep_after=0)
        >>> session.append(b"\xe2\x80"), session.held
        (Patch(keep=3, ids=[], keep_after=0), b'\xe2\x80')

        Raises the errors of ``Tokenizer.encode``; the session is then unchanged.
        """

    def update(self, text: _Text) -> Patch:
        """Make the text another one, and return how the ids change. Only what differs is encoded.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> session = tokenizer.session("low low low")
        >>> session.update("low lower low")
        Patch(keep=3, ids=[68, 81], keep_after=2)

        Raises
        ------
        TokenizerError
            The session keeps no ids; also the errors of :meth:`append`.
        """

    def replace(self, start: int, stop: int, text: _Text) -> Patch:
        """Put a text in the place of ``text[start:stop]``, and return how the ids change.

        The places count characters if ``text`` is a ``str``, and bytes if it is ``bytes``. Bytes that only begin a character
        do not wait here.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> session = tokenizer.session("low low low")
        >>> session.replace(4, 7, "lower")
        Patch(keep=3, ids=[68, 81], keep_after=2)
        >>> session.text
        'low lower low'

        Raises
        ------
        TokenizerError
            The places are not in the text, or the session keeps no ids; also the errors of :meth:`append`.
        """

    def finish(self) -> Patch:
        r"""Encode bytes that wait as they are, since nothing follows, and return how the ids change.

        ``session.update(session.text)`` drops them instead.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> session = tokenizer.session(b"low\xe2\x80")
        >>> session.finish()
        Patch(keep=1, ids=[158, 222], keep_after=0)

        Raises
        ------
        EncodingError
            The dialect requires UTF-8, or half of a surrogate pair waits.
        """

    def explain(self) -> str | None:
        """Return why no id can be proven to be stable, or ``None``.

        >>> import bytepair
        >>> own = "(?<=a)b|."
        >>> tokenizer = bytepair.train_from_iterator(["aab"], merges=1, pattern=own)
        >>> tokenizer.session("low").explain()
        'the split pattern needs backtracking'
        """

    def fork(self) -> Self:
        """Return an independent session in the same state. Both share the memory of the text before.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> session = tokenizer.session("low")
        >>> trial = session.fork()
        >>> _ = trial.append("er")
        >>> len(trial), len(session)
        (3, 1)
        """

    def __getnewargs_ex__(self) -> tuple[tuple[Tokenizer], dict[str, Any]]: ...
    def __len__(self) -> int: ...

@final
class DecodeStream(Generic[AnyStr]):
    r"""Decodes ids as they arrive, to whole characters.

    ``stop`` are texts that end the text, and ``stop_ids`` ids that do. Text that could become a stop text is held back, and
    of several stop texts the one that ends first counts, of those the longest. ``stopped`` says which it was; ids after
    it are not used. With ``keep_stop=True`` the stop is part of the text, and the text of a stop id is searched, too. The
    text of ``prompt_ids`` is not given out. With ``errors="bytes"`` a stream gives ``bytes`` as they are, instead of text.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["…"], vocab_size=256)
    >>> stream = bytepair.DecodeStream(tokenizer)
    >>> [stream.push(id) for id in tokenizer.encode("…")]
    ['', '', '…']
    >>> stream = bytepair.DecodeStream(tokenizer, stop=["</t>"])
    >>> stream.push(tokenizer.encode("a<b</")), stream.push(tokenizer.encode("t>c"))
    ('a<b', '')
    >>> stream.stopped, stream.n_used
    ('</t>', 7)

    >>> stream = bytepair.DecodeStream(tokenizer, errors="bytes")
    >>> [stream.push(id) for id in tokenizer.encode("…")]
    [b'\xe2', b'\x80', b'\xa6']

    A pickle stores the tokenizer and all ids so far.
    """

    @overload
    def __new__(
        cls,
        tokenizer: Tokenizer,
        *,
        errors: _Errors = "replace",
        skip_special_tokens: bool = False,
        stop: Sequence[str] = (),
        stop_ids: _Ids | None = None,
        keep_stop: bool = False,
        prompt_ids: _Ids | None = None,
        ids: _Ids | None = None,
        is_finished: bool = False,
    ) -> DecodeStream[str]: ...
    @overload
    def __new__(
        cls,
        tokenizer: Tokenizer,
        *,
        errors: Literal["bytes"],
        skip_special_tokens: bool = False,
        stop: Sequence[str] = (),
        stop_ids: _Ids | None = None,
        keep_stop: bool = False,
        prompt_ids: _Ids | None = None,
        ids: _Ids | None = None,
        is_finished: bool = False,
    ) -> DecodeStream[bytes]: ...
    def __class_getitem__(cls, key: Any) -> Any: ...
    @property
    def stopped(self) -> str | int | None:
        """The stop that ended the text, a text or an id; ``None`` if none did.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> stream = bytepair.DecodeStream(tokenizer, stop_ids=[257])
        >>> stream.push([68, 257, 81]), stream.stopped
        ('e', 257)
        """

    @property
    def n_used(self) -> int:
        """The number of ids that were used, those of the stop included. Ids after a stop are not.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> stream = bytepair.DecodeStream(tokenizer, stop=["w"])
        >>> stream.push([257, 68, 81]), stream.n_used
        ('lo', 1)
        """

    def push(self, ids: int | _Ids) -> AnyStr:
        """Add one id or several, and return the text that they complete.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> stream = bytepair.DecodeStream(tokenizer)
        >>> stream.push([257, 68])
        'lowe'

        Raises
        ------
        UnknownTokenError
            No token has one of the ids.
        EncodingError
            The bytes are not UTF-8, and the stream's ``errors`` is ``"strict"``.
        """

    def finish(self) -> AnyStr:
        r"""Return the rest of the text at its end, such as the bytes of half a character.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["…"], vocab_size=256)
        >>> stream = bytepair.DecodeStream(tokenizer)
        >>> stream.push(tokenizer.encode("…")[0]), stream.finish()
        ('', '\ufffd')

        Raises
        ------
        EncodingError
            The bytes are not UTF-8, and the stream's ``errors`` is ``"strict"``.
        """

    def fork(self) -> Self:
        """Return an independent stream in the same state.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> stream = bytepair.DecodeStream(tokenizer)
        >>> trial = stream.fork()
        >>> trial.push(257), stream.push([68, 81])
        ('low', 'er')
        """

    def __getnewargs_ex__(self) -> tuple[tuple[Tokenizer], dict[str, Any]]: ...

@final
class Dialect:
    """The parts of a tokenizer that are chosen before training."""

    def __new__(cls, name: str, **changes: Any) -> Dialect: ...
    @staticmethod
    def of(tokenizer: Tokenizer, name: str | None, **changes: Any) -> Dialect:
        """Return the dialect with which to resume training from a tokenizer."""

    def tokenizer_of_merges(
        self,
        merges: Sequence[tuple[str | bytes, str | bytes]],
        counts: Sequence[int] = (),
    ) -> Tokenizer:
        """Return a tokenizer with these merges of tokens, written with their marks; ``counts`` has how often each pair occurred."""

    def beyond_words(self, pattern: str | Sequence[str]) -> Dialect:
        """Return this dialect with another pattern, to learn tokens that reach beyond words."""

    def cuts_like(self, tokenizer: Tokenizer) -> bool:
        """Whether a tokenizer cuts text where this dialect does."""

    def with_pattern(self, tokenizer: Tokenizer) -> Tokenizer:
        """Return a tokenizer with the pattern of this dialect; all else stays."""

    def without_names(self, tokenizer: Tokenizer) -> Tokenizer:
        """Return a tokenizer of this dialect with the alphabet and the merges of another, without unknown and special tokens."""

    @property
    def n_bytes(self) -> int:
        """The number of ids of bytes: 256, or 0 where units are characters."""

    @property
    def ties(self) -> str:
        """The rule that chooses between equally frequent pairs."""

    @property
    def stand_in(self) -> str | None:
        """What replaces characters without an id: ``"bytes"``, the unknown token, or ``None``."""

    def check_characters(
        self, limits: tuple[tuple[int, int] | None, int | None]
    ) -> None:
        """Refuse limits of the alphabet that do not apply to this dialect."""

    @property
    def min_count(self) -> int:
        """How often a pair must occur to be merged."""

    def as_in_training(self) -> Dialect:
        """Return the dialect that always normalizes text as this one does in training."""

@final
class PieceTable:
    """Pieces and their counts."""

    def __new__(cls) -> PieceTable: ...
    def add(self, rows: _PieceRows, *, source: int = 0) -> None:
        """Add rows: a column, counts and, if known, the numbers of the first occurrences in a source."""

    def drop_rare_in(self, others: PieceTable, min_count: int) -> tuple[int, int]:
        """Drop the pieces with a count below ``min_count`` in another table, which is empty afterwards. Return how many were
        dropped, and how often they occurred.
        """

@final
class Usage:
    """How often each token is made while texts are encoded, and how often it remains in the result.

    Special tokens are plain text; other added tokens are found.
    """

    def __new__(cls, tokenizer: Tokenizer) -> Usage: ...
    def add_rows(self, column: _Column, *, threads: int | None = None) -> None:
        """Add the rows of a column of texts."""

    def sums(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Return, by id, how often a token was made, and how often it remained."""

@final
class CountSums:
    """Sums counts of the parts of a corpus in bounded memory, then returns them in order.

    ``budget`` is the approximate memory in bytes; the rest goes to temporary files in ``folder``.
    """

    def __new__(cls, folder: str, budget: int) -> CountSums: ...
    def add(self, rows: _PieceRows, *, group: int = 0, source: int = 0) -> None:
        """Add rows: a column, counts and, if known, the numbers of the first occurrences in a source."""

    def add_run(self, file: str | Path, *, group: int = 0, source: int = 0) -> None:
        """Add the counts of a file that ``Corpus.finish_runs`` wrote, and take ownership of the file."""

    def finish(
        self, min_count: int, places: Sequence[int], with_first: bool
    ) -> tuple[int, int]:
        """End the summation, drop pieces with a sum below ``min_count``, and return how many were dropped and how often they
        occurred.

        ``places`` holds the place of each group in the order of rows.
        """

    def next_rows(
        self, max_rows: int, max_bytes: int
    ) -> tuple[
        _Column,
        NDArray[np.int64],
        NDArray[np.uint32],
        NDArray[np.uint64],
    ]:
        """Return the next rows, none at the end: pieces, counts, places of groups, and numbers of first occurrences.

        Rows are sorted by count, largest first, then by piece, then by place.
        """

@final
class Corpus:
    """Counts the pieces of a corpus, then learns merges from the counts."""

    def __new__(
        cls,
        dialect: Dialect,
        special_tokens: Sequence[str],
        *,
        separator: str | None = None,
        threads: int | None = None,
        resume: Tokenizer | None = None,
        keeps_ids: bool = True,
        min_sources: int | None = None,
    ) -> Corpus: ...
    @property
    def n_bytes_read(self) -> int:
        """The number of bytes read from files so far."""

    def set_memory_limit(
        self,
        limit: int,
        folder: str,
        n_corpora: int = 1,
        *,
        reads_blocks: bool = False,
    ) -> None:
        """Limit the memory of counting and learning to ``limit`` bytes; the rest goes to files in ``folder``.

        ``n_corpora`` share the limit.
        ``reads_blocks`` says whether the caller holds blocks of documents meanwhile, which then count too.
        """

    def set_weight(self, multiplier: int) -> None:
        """Count every piece of the following sources ``multiplier`` times."""

    def add_texts(self, texts: Sequence[str | bytes]) -> None:
        """Count a batch of texts."""

    def add_file(self, path: str, progress: Callable[[int], object] | None) -> None:
        """Count a file, or standard input for ``-``."""

    def add_rows(self, column: _Column) -> None:
        """Count the rows of a column of texts. A separator in a row is ordinary text."""

    def add_stream(self, read: Callable[[int], bytes]) -> None:
        """Count one text; ``read(n)`` returns at most ``n`` of its next bytes."""

    def add_table(self, table: PieceTable) -> None:
        """Add the rows of a table, which is empty afterwards."""

    def finish_runs(self, folder: str) -> tuple[list[Path], dict[str, int]]:
        """End the counting, and write the counts to files for ``CountSums``.

        Return the paths of the files, and how often each special token occurred.
        """

    def add_counts(self, pieces: Sequence[tuple[str | bytes, int]]) -> None:
        """Add pieces that were counted elsewhere."""

    def finish(
        self, min_piece_count: int, *, is_thinned: bool = False
    ) -> dict[str, Any]:
        """End the counting, drop rare pieces, and return a report.

        ``is_thinned`` says whether rare pieces were already dropped from an added table.
        """

    def pieces(self, most: int) -> list[tuple[bytes, int]] | None:
        """Return the pieces and their counts after ``finish``, or ``None`` if the pieces have more than ``most`` bytes.

        They are sorted by first occurrence or, if it is not known, by their bytes.
        """

    def n_piece_bytes(self) -> int:
        """Return the number of bytes of all pieces after ``finish``, including repeated pieces."""

    def fingerprint(self) -> str:
        """Return a hash of the pieces and their counts after ``finish``."""

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
        scope: Sequence[tuple[int, int]] | None = None,
        forbidden: Sequence[str] = (),
        one_script: bool = False,
        veto: Callable[[bytes, bytes], bool] | None = None,
        cuts: Callable[[bytes], list[int]] | None = None,
        words: Tokenizer | None = None,
        others: Sequence[Corpus] = (),
        parallel: Sequence[Corpus] = (),
        parity: _Parity | None = None,
    ) -> tuple[Tokenizer, dict[str, Any], tuple[list[int], list[int]] | None]:
        """Learn merges after ``finish``.

        ``characters`` limits the characters that get ids: those that cover a share of the text, a fraction, and at
        most a number of them. ``scope`` has the first and last code points of ranges of characters: only tokens are
        learned that occur in no text without one of these characters. Tokens in which a pattern of ``forbidden`` matches
        are not learned, nor, with ``one_script``, tokens with characters of several scripts. ``veto`` is called with two
        tokens as bytes, and returns whether they must not be merged. ``cuts`` is called with a piece, and returns the offsets
        that no merge crosses. With ``words``, only words that are one token of this tokenizer are joined. ``parity`` has
        ratios, the length of a window, its ``alpha``, and how many of the first merges all groups choose together; the groups
        are this corpus and ``others``, with their ``parallel`` texts. Return the tokenizer, a report and, with
        ``with_course``, the number of tokens in the corpus before the first new merge and after each, and the count of
        each new merge.
        """

    @staticmethod
    def check_parity(
        parity: _Parity,
        n_groups: int,
        n_parallel: int | None,
        merges: int | None,
        is_resumed: bool,
    ) -> None:
        """Refuse settings of parity that do not fit this many groups and parallel texts."""

def graphemes(text: str | bytes) -> list[tuple[int, int]]:
    r"""Return the graphemes of a text: the end of each, in bytes, and its width in terminal columns.

    Each byte that is not UTF-8 is a grapheme of its own, with no columns.

    >>> from bytepair import _core
    >>> _core.graphemes("ae\u0301中".encode())
    [(1, 1), (4, 1), (7, 2)]
    """

def import_numpy() -> None:
    """Import numpy once for each process, or raise an error that says why this is not possible."""

def read_jsonl(
    block: NDArray[np.uint8], keys: Sequence[str]
) -> tuple[_Column, int, int, list[tuple[int, int, str]]]:
    """Read texts from lines of JSON; ``keys`` lead from the object of a line to its text.

    Return the bytes and offsets of all texts, the number of lines, the number of texts that are
    ``null``, and for each bad line its number from 0, its offset, and the problem.
    """

@final
class CsvTable:
    """A CSV file, read block by block. Its first record names the columns."""

    def __new__(
        cls, delimiter: str, columns: Sequence[str], *, longest: int | None = None
    ) -> Self: ...
    def read(
        self,
        block: NDArray[np.uint8],
        is_last: bool,
    ) -> tuple[list[_Column], list[tuple[int, str]]]:
        """Read the rows that end in the next block.

        Return the bytes and offsets of each requested column, and for each record with another
        number of values the line on which it begins, from 1, and the problem.
        """

def count_rows_holding(column: _Column, groups: Sequence[Sequence[str]]) -> list[int]:
    """Return, for each group, how many rows of a column of texts contain one of its names."""

def encode_rows(
    tokenizer: Tokenizer,
    column: _Column,
    *,
    before: int | None = None,
    behind: int | None = None,
    width: Literal[2, 4] = 4,
    added_tokens: _AddedTokens = "find",
    threads: int | None = None,
) -> tuple[NDArray[np.uint16] | NDArray[np.uint32], NDArray[np.int64]]:
    """Encode the rows of a column of texts, with special tokens as plain text.

    With ``added_tokens="text"``, all added tokens are plain text. ``before`` and ``behind`` are ids
    that mark the beginning and the end of each row that has ids. Return the ids of all rows, and
    where the ids of each row end.
    """

def with_lengths(
    tokenizer: Tokenizer,
    *,
    template: tuple[_TemplatePieces, _TemplatePieces] | None = None,
    truncation: Lengths | None = None,
    padding: Lengths | None = None,
) -> Tokenizer:
    """Return a tokenizer with other templates for one text and two, another truncation or another padding."""

def shorten(
    tokenizer: Tokenizer, vocab_size: int | None, merges: int | None
) -> Tokenizer:
    """Return a tokenizer with fewer merges: with ``merges``, or with as many as ``vocab_size`` allows."""

def whole_words(
    tokenizer: Tokenizer, pieces: Sequence[str | bytes]
) -> list[list[int | None]]:
    """Return the tokens of pieces: the id of each word that is one token of a tokenizer, ``None`` for all other tokens."""

def with_special_tokens(
    tokenizer: Tokenizer, tokens: Sequence[tuple[str, int | None]]
) -> Tokenizer:
    """Return a tokenizer with more special tokens, each with its id or ``None``."""

def with_added_tokens(
    tokenizer: Tokenizer, tokens: Sequence[tuple[str, Sequence[bool]]]
) -> Tokenizer:
    """Return a tokenizer with more added tokens, each with its properties: ``special``, ``normalized``, ``lstrip``,
    ``rstrip`` and ``single_word``.
    """

def with_tokens_at(
    tokenizer: Tokenizer, tokens: Sequence[tuple[int, str, Sequence[bool]]]
) -> Tokenizer:
    """Return a tokenizer with added tokens at the ids that files such as ``added_tokens.json`` set."""

def added_tokens(tokenizer: Tokenizer) -> list[_AddedRow]:
    """Return the id, the content and the properties of each added token."""

def extend_with_strings(
    tokenizer: Tokenizer, strings: Sequence[str], allow_helpers: bool
) -> tuple[Tokenizer, list[_StringReport]]:
    """Return a tokenizer with tokens for strings, and for each string the outcome, its id, the ids that it was encoded to
    before, and the helpers that were added for it.
    """

def merge_vocabularies(
    tokenizer: Tokenizer, other: Tokenizer, allow_helpers: bool
) -> tuple[Tokenizer, list[_StringReport | None]]:
    """Return a tokenizer with the tokens of another, and for each id of the other a report as for strings, or ``None`` if its
    token is not text.
    """

def remove(
    tokenizer: Tokenizer,
    ids: Sequence[int],
    mode: str,
    numbering: str,
) -> tuple[
    tuple[Tokenizer, list[int]],
    list[int],
    list[list[int]],
]:
    """Return a tokenizer without some tokens, the new ids by old id (-1 if removed), the ids of all removed tokens, and the
    tokens that are made another way, each with the two tokens that made it and the two that make it now.
    """

def prune(
    tokenizer: Tokenizer,
    to: int | None,
    counts: PieceTable,
    min_count: int | None,
    among: Sequence[int] | None,
    numbering: str,
) -> tuple[tuple[Tokenizer, list[int]], list[tuple[int, int]]]:
    """Return a tokenizer with ``to`` tokens, or without those that occur less than ``min_count`` times, the new ids by old id
    (-1 if removed), and the ids of the removed tokens in the order of removal, each with its count at that time.

    With ``among``, only these tokens are removed.
    """

def why_it_stays(tokenizer: Tokenizer, ids: Sequence[int]) -> list[str | None]:
    """Return, for each id, why its token must stay, or ``None`` if it is not required."""

def built_on(tokenizer: Tokenizer, ids: Sequence[int]) -> list[tuple[int, list[int]]]:
    """Return these tokens and all tokens that are built on them, each with its parts."""

def id_of_written(tokenizer: Tokenizer, token: str) -> int | None:
    """Return the id of a token, as Hugging Face files write it, or ``None`` if there is none.

    >>> import bytepair
    >>> from bytepair import _core
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> _core.id_of_written(tokenizer, "Ġ"), tokenizer.token_to_id(" ")
    (220, 220)
    """

def token_texts(
    tokenizer: Tokenizer,
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint8]]:
    """Return the bytes of text of all tokens, where those of each begin, and the class of each.

    A class is an index of ``bytepair.serving.KINDS``. There is one more offset than tokens.
    """

def byte_trie(
    tokenizer: Tokenizer,
) -> tuple[
    NDArray[np.uint8], NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]
]:
    """Return the trie of all tokens as ``bytepair.serving.ByteTrie`` has it: ``bytes``, ``ends``, ``starts`` and ``ids``."""

def heal(tokenizer: Tokenizer, ids: _Ids) -> tuple[int, bytes]:
    """Return how many ids of a prompt stay, whatever follows, and the bytes of the others."""

def with_missing(tokenizer: Tokenizer) -> tuple[Tokenizer, int] | None:
    """Return a tokenizer with a token for units that no token stands for, and its id, or ``None`` if there are no such units."""

def unreached(tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """Return the tokens that merging their own units does not make, and the tokens that it makes, but that no neighbours
    leave whole.
    """

def merged_units(tokenizer: Tokenizer, ids: Sequence[int]) -> list[int] | None:
    """Return the ids that the units of consecutive text tokens are merged to, or ``None`` if a unit is not in the vocabulary or
    a token is not text.
    """

def why_in_no_piece(
    tokenizer: Tokenizer, texts: Sequence[bytes]
) -> list[Literal["changed", "cut"] | None]:
    """Return, for each text, why no piece can contain it: ``"changed"`` if the normalizer always changes it, ``"cut"`` if the
    split pattern always cuts it, or ``None`` if neither is proven.
    """

def encode_full_rows(
    tokenizer: Tokenizer,
    texts: Iterable[str | tuple[str, str]],
    lengths: Lengths,
    *,
    allowed_special: _Specials = (),
    added_tokens: _AddedTokens = "find",
    add_special_tokens: bool = False,
) -> list[Encoding]:
    """Encode texts, or pairs of them, as Hugging Face's library does, with the truncation and padding of the call."""

def encode_segments(
    tokenizer: Tokenizer, segments: Iterable[tuple[Any, ...]], *, offsets: bool = False
) -> SegmentEncoding:
    """Encode segments of a text, each on its own, and join their ids.

    A segment is a tuple ``(text, trusted)``; further items of a tuple are ignored. If ``trusted`` is true, all special
    and added tokens are found in the text, as by ``encode(text, allowed_special="all")``. If it is false, none is, as by
    ``encode(text, added_tokens="text")``. If it is a collection of names, only these tokens are found, and all others are
    text. No token crosses the border of two segments. With ``offsets``, the result also has the span of each id in the
    joined text, in characters.

    >>> import bytepair
    >>> from bytepair.serving import encode_segments
    >>> tokenizer = bytepair.train_from_iterator(
    ...     ["low lower"], vocab_size=260, special_tokens=["<s>", "<e>"]
    ... )
    >>> encode_segments(tokenizer, [("<s>low", True), ("<s>", False)]).ids
    [258, 257, 27, 82, 29]
    >>> encode_segments(tokenizer, [("<s><e>", {"<e>"})], offsets=True).offsets
    [(0, 1), (1, 2), (2, 3), (3, 6)]

    Raises
    ------
    SpecialTokenError
        A name in ``trusted`` is neither a special nor an added token.

    Also raises the errors of :meth:`Tokenizer.encode`. Every message has the index of the segment.
    """

def encode_segments_batch(
    tokenizer: Tokenizer,
    batch: Iterable[Iterable[tuple[Any, ...]]],
    *,
    offsets: bool = False,
    threads: int | None = None,
) -> list[SegmentEncoding]:
    """Encode many texts in segments, each as :func:`encode_segments` does.

    ``threads`` is the number of threads; ``None`` uses all processors.

    >>> import bytepair
    >>> from bytepair.serving import encode_segments_batch
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> batch = encode_segments_batch(tokenizer, [[("low", True)], []])
    >>> [encoding.ids for encoding in batch]
    [[257], []]

    Raises the errors of :func:`encode_segments`; the message also has the text's index in the batch.
    """

def encode_word_rows(
    tokenizer: Tokenizer,
    texts: Sequence[tuple[list[str], list[str] | None]],
    lengths: Lengths,
    *,
    allowed_special: _Specials = (),
    added_tokens: _AddedTokens = "find",
    add_special_tokens: bool = False,
) -> list[Encoding]:
    """Encode texts that are lists of words, or pairs of them, as Hugging Face's library does, with the truncation and padding
    of the call.
    """

def encode_file(
    tokenizer: Tokenizer,
    names: tuple[str, str, str],
    *,
    is_wide: bool,
    has_header: bool,
    allowed_special: _Specials,
    disallowed_special: _Specials,
    added_tokens: _AddedTokens,
    threads: int | None,
    progress: Callable[[int], object] | None = None,
    stretch_len: int | None = None,
    max_uncut: int | None = None,
) -> tuple[int, int]:
    """Encode a file to a file, and return the numbers of ids and bytes.

    ``names`` are the paths of the input (``-`` for standard input), of the existing file to write to, and of the output for
    messages.
    """

@final
class Measure:
    """Sums over the texts that a tokenizer encodes, by group.

    ``words`` is a pattern that matches words; without it, no words are counted. ``missing`` is the id of the token for
    missing units; with it, the units that it stands for are counted.
    """

    def __new__(
        cls,
        tokenizer: Tokenizer,
        *,
        words: str | None = None,
        added_tokens: _AddedTokens = "find",
        threads: int | None = None,
        missing: int | None = None,
    ) -> Measure: ...
    def add_rows(self, column: _Column, groups: _Column | None = None) -> None:
        """Add the rows of a column of texts; ``groups`` is a column with the group of each."""

    def add_stream(
        self, read: Callable[[int], bytes], group: bytes | None = None
    ) -> None:
        """Add a text that is read in parts: ``read(n)`` returns at most ``n`` bytes, and none at the end."""

    @property
    def groups(self) -> list[bytes]:
        """The names of the groups, in the order in which they first occurred."""

    def sums(self, group: int) -> tuple[list[int], list[int]]:
        """Return the sums of a group: the numbers of texts, bytes, characters, lines, tokens and pieces; and the numbers of
        words, of their tokens and pieces, of words with one token, and of words with several.
        """

    def counts(self, group: int) -> NDArray[np.int64]:
        """Return how often each id occurs in a group."""

    def missing(self, group: int) -> list[tuple[bytes, int]]:
        """Return the units that the token for missing units stands for in a group, sorted, and how often each occurs."""

def unicode_scripts() -> list[tuple[str, list[tuple[int, int]]]]:
    """Return the name of each Unicode script, with the first and last code points of its ranges."""

def dialect_names() -> list[str]:
    """Return the names of the dialects.

    >>> import bytepair
    >>> "gpt4o" in bytepair.dialects()
    True
    """

def pattern_names() -> list[str]:
    """Return the names of the split patterns, for ``pattern=``.

    >>> import bytepair
    >>> "cl100k" in bytepair.patterns()
    True
    """

def read(format: str, data: bytes) -> Tokenizer:
    """Read the content of a file, in a format that has one file and needs no options."""

def write(format: str, tokenizer: Tokenizer) -> list[bytes]:
    """Return the contents of the files of a format: two for ``gpt2`` and ``tiktoken``, otherwise one."""

def write_huggingface_with_changes(
    tokenizer: Tokenizer,
) -> tuple[bytes, list[tuple[str, str]]]:
    """Return the content of a ``tokenizer.json``, and the kinds of texts whose ids it changes, each with an example."""

def read_gguf(path: str | PathLike[str], dialect: Dialect | None = None) -> Tokenizer:
    """Read the tokenizer at the beginning of a ``.gguf`` file; the splitter of ``dialect`` replaces its own."""

def half_of_pair(name: str, data: bytes) -> str | None:
    """Return what a file lacks if it is half of a tokenizer, or ``None`` for any other file."""

def pair_names() -> list[tuple[str, str]]:
    """Return the names of the vocabulary files that need a file of merges, each with the name of that file."""

def pair_settings() -> list[str]:
    """Return the names of the files with settings for ``vocab.json`` and ``merges.txt``."""

def read_pair(
    vocab: bytes,
    merges: bytes,
    settings: dict[str, bytes],
    dialect: Dialect | None = None,
) -> Tokenizer:
    """Read the contents of ``vocab.json``, ``merges.txt``, and the files with settings by name; the splitter of ``dialect``
    replaces their own.
    """

def read_tiktoken(
    ranks: bytes, dialect: Dialect, special_tokens: dict[str, int]
) -> Tokenizer:
    """Read the content of a ``.tiktoken`` file that was made for a dialect."""

def read_tiktoken_sidecar(ranks: bytes, sidecar: bytes) -> Tokenizer:
    """Read the contents of a ``.tiktoken`` file and of its sidecar."""

def read_encoding(ranks: bytes, name: str, renamed: dict[int, str]) -> Tokenizer:
    """Read a file of ranks as a published encoding."""

def recognise_encodings(
    ranks: bytes, file_name: str, renamed: dict[int, str]
) -> list[str]:
    """Return the names of the published encodings that a file of ranks may belong to; several may share it."""

def recognise_format(data: bytes) -> str | None:
    """Return the name of the format of a file, by its content, or ``None`` if the format is unknown."""

def check_whole_ranks(ranks: bytes, file_name: str, has_split: bool) -> None:
    """Raise an error if ranks are only a part of a published file."""

def instructions() -> str:
    """Return the name of the best vector instructions in use.

    The environment variable ``BYTEPAIR_INSTRUCTIONS`` limits them, for tests and benchmarks.

    >>> from bytepair import _core
    >>> _core.instructions() in {"portable", "ssse3", "avx2", "avx512", "neon"}
    True
    """

def encoding_names() -> list[str]:
    """Return the names of the published encodings that ``Tokenizer.from_file`` recognises.

    >>> import bytepair
    >>> "o200k_base" in bytepair.encodings()
    True
    """

def read_gpt1(vocab: bytes, merges: bytes) -> Tokenizer:
    """Read the contents of ``encoder_bpe_40000.json`` and ``vocab_40000.bpe``."""

def read_compiled_file(path: str | PathLike[str]) -> Tokenizer:
    """Read a compiled tokenizer from a file."""

def read_subword_vocabulary(data: bytes, threshold: int | None) -> list[str]:
    """Return the tokens of a subword-nmt vocabulary that occur at least ``threshold`` times."""

@final
class CoreSegmenter:
    """Cuts words into the parts that merges make."""

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
        """Segment the words of a text, line by line.

        Lines end at line feeds, or with ``splits_lines`` where ``str.splitlines`` ends them.
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
        """Return the parts of a word, without separators; ``place`` is the position of the word in its line."""

def is_canonical(
    tokenizer: Tokenizer, ids: _Ids, *, added_tokens: _AddedTokens = "find"
) -> bool:
    """Return whether the text of a row of ids has these ids.

    Special tokens divide a row, and each stretch of text between them is encoded as it stands in the row. A special
    token that a model spelled in other tokens stays text. With ``added_tokens="text"``, all added tokens divide a row, as
    in a row whose text was encoded with this option. Where decoding writes end marks as text, as CLIP's decoder does, no
    row is canonical. Takes about twice as long as encoding the text.

    >>> import bytepair
    >>> from bytepair.serving import is_canonical
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> is_canonical(tokenizer, [257, 68]), is_canonical(tokenizer, [256, 86, 68])
    (True, False)

    Raises
    ------
    UnknownTokenError
        No token has one of the ids.
    TokenizerError
        The row has an unknown token, whose text is not known; or tokens have no bytes of their own, as for
        ``TokenBytes``.
    """

def first_noncanonical(
    tokenizer: Tokenizer, ids: _Ids, *, added_tokens: _AddedTokens = "find"
) -> int | None:
    """Return the index of the first id that the text of a row of ids does not have, or ``None``.

    >>> import bytepair
    >>> from bytepair.serving import first_noncanonical
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> first_noncanonical(tokenizer, [257, 220, 256, 86])
    2

    Raises the errors of :func:`is_canonical`.
    """

def canonicalize(
    tokenizer: Tokenizer, ids: _Ids, *, added_tokens: _AddedTokens = "find"
) -> list[int]:
    """Return the ids that the text of a row of ids has, with the special tokens of the row.

    >>> import bytepair
    >>> from bytepair.serving import canonicalize
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> canonicalize(tokenizer, [257, 220, 256, 86])
    [257, 220, 257]

    Raises
    ------
    EncodingError
        The ids have no text, and the dialect needs one; also the errors of :func:`is_canonical`.
    """

def splice(
    tokenizer: Tokenizer,
    ids: _Ids,
    text: _Text,
    *,
    allowed_special: _Specials = (),
    disallowed_special: _Specials = (),
    added_tokens: _AddedTokens = "find",
) -> Patch:
    """Return how a row of ids changes when text follows it.

    Ids that the text does not change stay as they were sampled. If the row is canonical, the new row has the ids of the
    whole text. If it is not, ids stay up to the last place where one of them and one of the whole text's ids end. The
    options are about special tokens in ``text``: they are found there alone, so their ``lstrip`` and ``single_word`` do not
    look at the row. The cost does not depend on the length of the row, apart from reading it.

    >>> import bytepair
    >>> from bytepair.serving import splice
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> splice(tokenizer, [256, 86, 220, 75], "ow")
    Patch(keep=3, ids=[257], keep_after=0)

    Raises
    ------
    EncodingError
        The text of the last ids cannot be encoded; also the errors of :func:`is_canonical` and of ``Tokenizer.encode``.
    """

def stable_prefix(
    tokenizer: Tokenizer,
    text: _Text,
    *,
    allowed_special: _Specials = (),
    disallowed_special: _Specials = (),
    added_tokens: _AddedTokens = "find",
) -> int:
    """Return how many of the first ids of a text stay, whatever text is appended.

    This is proven from the split pattern, the normalizer and the merges, so it is 0 where they prove nothing;
    ``tokenizer.session().explain()`` says why.

    >>> import bytepair
    >>> from bytepair.serving import stable_prefix
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> stable_prefix(tokenizer, "low low")
    1

    Raises the errors of ``Tokenizer.encode``.
    """

def text_and_ends(tokenizer: Tokenizer, ids: _Ids) -> tuple[bytes, list[int]]:
    """Return the text of a row without its special tokens, and where each id ends in it, in bytes."""

def encode_by(
    tokenizer: Tokenizer,
    text: _Text,
    method: Literal["dropout", "stochastok", "uniform", "fewest", "longest"],
    *,
    rate: float | None = None,
    seed: int | None = None,
    allowed_special: _Specials = (),
    disallowed_special: _Specials = (),
    added_tokens: _AddedTokens = "find",
) -> list[int]:
    """Return the ids of a text by another rule than all its merges.

    Added tokens and pieces are those of ``encode``, and so are the bytes of all ids together. These methods are random,
    and a ``seed`` makes them repeatable:

    - ``"dropout"`` leaves out each merge with the probability ``rate``, 0.1 by default (BPE-dropout);
    - ``"stochastok"`` splits tokens of the encoding, as many times as ``rate`` times their number, 0.1 by default
      (StochasTok): each time a token is drawn, and replaced by two with the same bytes, if any two have them;
    - ``"uniform"`` draws, for each piece, among all ways to make it of tokens, each as likely as any other.

    These are not:

    - ``"fewest"`` makes each piece of as few tokens as possible; out of several ways, it takes that with the longest
      first token, then with the longest second one, and so on;
    - ``"longest"`` takes the longest token that a piece begins with, and goes on behind it.

    No method makes an added token or the unknown token of parts of a text.

    >>> import bytepair
    >>> from bytepair.serving import encode_by
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> tokenizer.encode("low"), encode_by(tokenizer, "low", "uniform", seed=6)
    ([257], [256, 86])

    Raises the errors of ``Tokenizer.encode``, and:

    Raises
    ------
    TokenizerError
        No method has this name, ``rate`` is not from 0 to 1, or ``rate`` or ``seed`` has no effect.
    """
