"""``Tokenizer``, the class for users: the compiled core, and the methods for files.

The core encodes, decodes and describes the tokenizer. This module adds paths, formats and
folders. Training is in ``_training``.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from . import _core
from ._added import AddedToken, added_token, added_tokens
from ._elsewhere import NamesElsewhere, without_elsewhere
from ._io import hub, loading, pretrained, saving, token_files
from ._io.files import StrPath, refuse_no_name
from ._names import in_order, refuse_set
from ._template import Template, read_template
from .errors import TokenizerError

if TYPE_CHECKING:
    from .analyze import Trace
    from .analyze._show.draw import Shown

__all__ = ["Tokenizer"]

Side: TypeAlias = Literal["left", "right"]
TruncationStrategy: TypeAlias = Literal["longest_first", "only_first", "only_second"]


class _Named(type):
    """The metaclass, which hides the names of other libraries from ``dir``."""

    def __dir__(cls) -> list[str]:
        return without_elsewhere(cls, super().__dir__())


class Tokenizer(_core.Tokenizer, NamesElsewhere, metaclass=_Named):
    """Text to token ids and back.

    A tokenizer is immutable, can be used by any number of threads, is pickled by content,
    and equals every tokenizer with the same parts. Make one with :func:`bytepair.train` or
    :meth:`from_file`.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> tokenizer.decode(tokenizer.encode("lower"))
    'lower'
    """

    __slots__ = ("_known_added",)

    _known_added: dict[int, AddedToken]

    @classmethod
    def from_file(
        cls,
        path: StrPath,
        *,
        dialect: str | None = None,
        pattern: str | list[str] | None = None,
        special_tokens: Mapping[str, int] | None = None,
        encoding: str | None = None,
        sha256: str | None = None,
    ) -> "Tokenizer":
        """Load a tokenizer from a file, whose content shows its format, or from a folder.

        Parameters
        ----------
        path
            A ``tokenizer.json``, a ``tekken.json``, a ``.bytepair`` file or its compiled
            form, a ``vocab.json`` with its ``merges.txt`` beside it, a ``.tiktoken`` file,
            CLIP's or GPT-1's files, or codes of subword-nmt or fastBPE. In a folder, the first
            of ``tokenizer.json``, ``tekken.json``, ``tokenizer.bytepair``, ``tokenizer.model``,
            ``vocab.json`` with ``merges.txt`` and the files of older models is read. As in
            transformers, tokens that only ``tokenizer_config.json`` (``added_tokens_decoder``)
            or ``added_tokens.json`` of the folder names are added; for the path of a file other
            than ``vocab.json``, they are not. If there is no such file, the path may be the name of
            a published tokenizer that is in the cache of tiktoken or of the Hugging Face Hub, such
            as ``cl100k_base``, ``gpt-4o`` or ``openai/gpt-oss-20b``.
        dialect, pattern, special_tokens
            For a file of ranks without its sidecar, which has neither a split pattern nor
            special tokens: the dialect or the pattern that it was made for, and its special
            tokens. ``pattern`` also replaces the pattern that a ``.gguf`` file, or a
            ``vocab.json`` with its ``merges.txt``, names; if they name none, it is required.
        encoding
            For a published file of ranks that several encodings share: the encoding, such as
            ``o200k_harmony`` or ``whisper_multilingual_v3``.
        sha256
            The SHA-256 that the file must have, in hexadecimal digits; in a folder, the file
            that is read. Files beside it are not hashed.

        >>> import bytepair, pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> tokenizer.save(folder / "tokenizer.bytepair")
        >>> bytepair.Tokenizer.from_file(folder / "tokenizer.bytepair") == tokenizer
        True

        Raises
        ------
        FileError
            The file cannot be read, or has another SHA-256.
        TokenizerError
            An option has no effect on a file of this format.
        FormatError
            The file is damaged or not supported; the message names the field. Or a folder has
            no tokenizer or several, or a file in it gives an added token another id.
        """
        refuse_no_name(path)
        options = loading.given(dialect, pattern, special_tokens, encoding)
        if sha256 is not None:
            loading.check_sha256(Path(path), sha256)
        return cls(loading.load(Path(path), options))

    @classmethod
    def from_bytes(
        cls,
        data: bytes,
        *,
        format: str | None = None,
        dialect: str | None = None,
        pattern: str | list[str] | None = None,
        special_tokens: Mapping[str, int] | None = None,
        encoding: str | None = None,
    ) -> "Tokenizer":
        """Load a tokenizer from the content of a file, which shows its format.

        The other options are those of :meth:`from_file`.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> bytepair.Tokenizer.from_bytes(tokenizer.to_bytes()) == tokenizer
        True

        Raises
        ------
        FormatError
            The content is damaged or not supported.
        TokenizerError
            There is no format with the name ``format``.
        """
        if not isinstance(data, (bytes, bytearray, memoryview)):
            message = f"data must be the bytes of a file, not {type(data).__name__}"
            raise TypeError(message)
        if not isinstance(format, (str, type(None))):
            message = f"format must be the name of a format, not {format!r}"
            raise TypeError(message)
        options = loading.given(dialect, pattern, special_tokens, encoding)
        return cls(loading.from_bytes(bytes(data), format, options))

    @classmethod
    def from_hub(
        cls,
        name: str,
        *,
        revision: str | None = None,
        local_files_only: bool = False,
        dialect: str | None = None,
        pattern: str | list[str] | None = None,
        special_tokens: Mapping[str, int] | None = None,
        encoding: str | None = None,
        sha256: str | None = None,
    ) -> "Tokenizer":
        """Load the tokenizer of a published model, such as ``openai/gpt-oss-20b``.

        A download needs ``pip install bytepair[hub]``; the cache can be read without it. Files
        in the cache are not downloaded again; with ``local_files_only``, no file is downloaded.
        The other options are those of :meth:`from_file`.
        """
        options = loading.given(dialect, pattern, special_tokens, encoding)
        folder = hub.download(
            name, revision=revision, local_files_only=local_files_only
        )
        if sha256 is not None:
            loading.check_sha256(folder, sha256)
        return cls(loading.load_folder(folder, options))

    def save(
        self,
        path: StrPath,
        *,
        format: str | None = None,
        ids_may_change: bool = False,
    ) -> None:
        """Write the tokenizer to a file, whole or not at all.

        ``format``, or the ending of ``path``, chooses the format: ``.bytepair`` can hold every
        tokenizer; ``.json`` (``huggingface``) is read by Hugging Face tokenizers;
        ``.bytepair-compiled`` (``compiled``) loads fastest; ``.tiktoken`` is written with a
        sidecar ``.tiktoken.json`` for the pattern and the special tokens; a folder, or
        ``format="gpt2"``, gets ``vocab.json`` and ``merges.txt``; ``.model``
        (``sentencepiece``) is read by SentencePiece.

        In a ``.json``, the character map of a SentencePiece model normalizes some unusual texts
        differently, which is an error. With ``ids_may_change``, the file is written
        nevertheless; ``bytepair.convert`` proves that all other texts keep their ids.

        >>> import bytepair, pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> tokenizer.save(folder / "own.tiktoken")
        >>> sorted(path.name for path in folder.iterdir())
        ['own.tiktoken', 'own.tiktoken.json']

        Raises
        ------
        FormatError
            The format cannot express a part of this tokenizer; the message names it.
        FileError
            The file cannot be written.
        """
        refuse_no_name(path)
        saving.save(self, Path(path), format, ids_may_change=ids_may_change)

    def save_pretrained(
        self, directory: StrPath, *, ids_may_change: bool = False
    ) -> list[Path]:
        """Write a folder that ``AutoTokenizer.from_pretrained`` of transformers reads.

        The folder gets a ``tokenizer.json`` and a ``tokenizer_config.json``, which names the
        special tokens that this tokenizer puts before and after texts, and those for padding
        and unknown units. Return the paths. Use transformers to set chat templates and other
        roles. ``ids_may_change`` is that of :meth:`save`.

        >>> import bytepair, tempfile
        >>> tokenizer = bytepair.train_from_iterator(
        ...     ["low lower"], vocab_size=258, special_tokens=["<s>"]
        ... )
        >>> folder = tempfile.mkdtemp()
        >>> paths = tokenizer.with_template("<s> $A").save_pretrained(folder)
        >>> [path.name for path in paths]
        ['tokenizer.json', 'tokenizer_config.json']
        >>> '"bos_token": "<s>"' in paths[1].read_text()
        True

        Raises
        ------
        FormatError
            A ``tokenizer.json`` cannot express a part of this tokenizer. Nothing is written.
        FileError
            The folder cannot be written.
        """
        return pretrained.save(self, directory, ids_may_change=ids_may_change)

    def encode_file(
        self,
        path: StrPath,
        output: StrPath,
        *,
        allowed_special: Literal["all"] | Collection[str] = (),
        disallowed_special: Literal["all"] | Collection[str] = (),
        added_tokens: Literal["find", "text"] = "find",
        threads: int | None = None,
        dtype: Literal["uint16", "uint32"] | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> token_files.TokenFile:
        """Encode a file, as one text, to a file of ids, in bounded memory.

        An ``output`` that ends with ``.npy`` is a NumPy file, which ``np.load`` reads or
        maps; any other file has only the numbers, little-endian (``np.fromfile``). The file
        appears when it is complete. Memory is at most about 90 MB for each thread, for files
        of any size. A part of the text that cannot be cut without changing ids
        (``docs/explanation/encoding.md``) is held as a whole; a part of more than 256 MiB is
        an error (``docs/explanation/limits.md``).

        Parameters
        ----------
        path
            A file, or ``-`` for standard input. Bytes need not be UTF-8 if the tokenizer
            works on bytes.
        allowed_special, disallowed_special, added_tokens
            As for :meth:`encode`.
        threads
            The number of threads; by default, that of the processors.
        dtype
            ``"uint16"``, if it can hold all ids of the vocabulary, or ``"uint32"``; by
            default, the smaller type that can.
        progress
            Called now and then with the number of bytes encoded so far.

        >>> import bytepair, pathlib, tempfile
        >>> import numpy as np
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "text.txt").write_text("low lower")
        >>> tokenizer.encode_file(folder / "text.txt", folder / "ids.npy")
        TokenFile(n_tokens=5, n_bytes=9, dtype='uint16')
        >>> tokenizer.decode(np.load(folder / "ids.npy"))
        'low lower'

        Raises
        ------
        FileError
            A file cannot be read or written.
        TokenizerError
            ``dtype`` cannot hold all ids; also the errors of :meth:`encode`, with the name
            of the file.
        """
        return token_files.encode_file(
            self,
            path,
            output,
            allowed_special=allowed_special,
            disallowed_special=disallowed_special,
            added_tokens=added_tokens,
            threads=threads,
            dtype=dtype,
            progress=progress,
        )

    def to_bytes(
        self, *, format: str = "bytepair", ids_may_change: bool = False
    ) -> bytes:
        """Return the content of a file in a format with one file, such as ``huggingface``.

        ``ids_may_change`` is that of :meth:`save`.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> type(tokenizer.to_bytes(format="huggingface"))
        <class 'bytes'>

        Raises
        ------
        FormatError
            The format cannot express a part of this tokenizer; the message names it.
        TokenizerError
            There is no such format, or it has more than one file.
        """
        return saving.to_bytes(self, format, ids_may_change=ids_may_change)

    def with_special_tokens(
        self, tokens: Iterable[str] | Mapping[str, int]
    ) -> "Tokenizer":
        """Return a tokenizer with more special tokens.

        Names get the ids after the largest one, in order; a mapping sets the ids. Existing
        tokens stay as they are.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["hello hello"], vocab_size=258)
        >>> tokenizer.with_special_tokens(["<|user|>"]).special_tokens
        {'<|user|>': 258}
        """
        wanted: list[tuple[str, int | None]]
        if isinstance(tokens, Mapping):
            wanted = list(tokens.items())
        else:
            wanted = [(name, None) for name in in_order("tokens", tokens)]
        return type(self)(_core.with_special_tokens(self, wanted))

    @property
    def added_tokens(self) -> dict[int, AddedToken]:
        """The added tokens by id, including special tokens.

        They are looked up once; each access returns a copy, which may be changed.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(
        ...     ["low lower"], vocab_size=259, special_tokens=["<|end|>"]
        ... )
        >>> tokenizer.added_tokens[258].content
        '<|end|>'
        """
        try:
            return self._known_added.copy()
        except AttributeError:  # the slot is still empty
            self._known_added = added_tokens(self)
        return self._known_added.copy()

    def with_added_tokens(self, tokens: Iterable[str | AddedToken]) -> "Tokenizer":
        """Return a tokenizer with more added tokens.

        A ``str`` is a token that is not special: it is found as a whole in every text, unless a
        call has ``added_tokens="text"``. An :class:`bytepair.AddedToken` has other properties.
        New tokens get the next free ids; a token that is in the vocabulary keeps its id. The
        properties of a token that was added before are replaced.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["hello hello"], vocab_size=258)
        >>> tokenizer = tokenizer.with_added_tokens(["hello hello"])
        >>> tokenizer.encode("hello hello!"), tokenizer.special_tokens
        ([258, 0], {})
        """
        if isinstance(tokens, str):
            message = "expected a list of tokens, not one string"
            raise TypeError(message)
        if not isinstance(tokens, Iterable) or isinstance(tokens, bytes):
            message = f"expected a list of tokens, not {type(tokens).__name__}"
            raise TypeError(message)
        refuse_set("tokens", tokens)
        wanted = [added_token(token) for token in tokens]
        flags = [(token.content, token.flags()) for token in wanted]
        return type(self)(_core.with_added_tokens(self, flags))

    def with_truncation(
        self,
        max_length: int | None,
        *,
        stride: int = 0,
        strategy: TruncationStrategy = "longest_first",
        side: Side = "right",
    ) -> "Tokenizer":
        """Return a tokenizer that truncates texts to a length; ``None`` turns this off.

        Texts are truncated in calls with ``add_special_tokens=True``; special tokens count.
        :meth:`encode_full` returns the rest as ``overflowing``, in parts that share ``stride``
        ids. ``strategy`` says which text of a pair is truncated.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["abc"], vocab_size=256)
        >>> short = tokenizer.with_truncation(3)
        >>> short.decode(short.encode("abcdefg", add_special_tokens=True))
        'abc'
        """
        if max_length is None:
            moved = {
                "stride": stride != 0,
                "strategy": strategy != "longest_first",
                "side": side != "right",
            }
            _refuse_turned_off("max_length", moved)
        lengths = _core.Lengths(
            max_length=max_length,
            stride=stride,
            strategy=strategy,
            truncation_side=side,
        )
        return type(self)(_core.with_lengths(self, truncation=lengths))

    def with_padding(
        self,
        id: int | None,
        *,
        length: int | None = None,
        multiple_of: int | None = None,
        side: Side = "right",
        type_id: int = 0,
    ) -> "Tokenizer":
        """Return a tokenizer that pads texts with an id; ``None`` turns this off.

        Texts are padded in calls with ``add_special_tokens=True``: to ``length``, or to the
        longest text of a batch, and then to a multiple of ``multiple_of``.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["abc"], vocab_size=256)
        >>> tokenizer = tokenizer.with_padding(0)
        >>> batch = tokenizer.encode_batch(["a", "abc"], add_special_tokens=True)
        >>> [tokenizer.decode(ids) for ids in batch]
        ['a!!', 'abc']
        """
        if id is None:
            moved = {
                "length": length is not None,
                "multiple_of": multiple_of is not None,
                "side": side != "right",
                "type_id": type_id != 0,
            }
            _refuse_turned_off("id", moved)
        written = "" if id is None else self.inspect().tokens([id])[0].written
        lengths = _core.Lengths(
            pad_id=id,
            pad_token=written,
            length=length,
            multiple_of=multiple_of,
            padding_side=side,
            type_id=type_id,
        )
        return type(self)(_core.with_lengths(self, padding=lengths))

    def with_template(
        self, single: Template | None, *, pair: Template | None = None
    ) -> "Tokenizer":
        """Return a tokenizer that puts special tokens around texts; ``None`` adds none.

        A template is a text with spaces between its parts, or a list of parts: ``$A`` is the
        text, ``$B`` the second text, and any other part a special token, each followed by
        ``:1`` if its type is 1. In a list, a part can also be the id of a special token, or a
        pair of a part and its type, such as ``("lang:1", 0)``, in which the name is read as it
        is. Without ``pair``, the second text has type 1 and no special tokens.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(
        ...     ["abc"], vocab_size=258, special_tokens=["<s>", "</s>"]
        ... )
        >>> tokenizer = tokenizer.with_template("<s> $A </s>")
        >>> ids = tokenizer.encode("abc", add_special_tokens=True)
        >>> tokenizer.decode(ids)
        '<s>abc</s>'
        >>> tokenizer.with_template([256, "$A", ("</s>", 1)]).inspect().settings[
        ...     "template"
        ... ][0]
        [(None, [256], 0), (0, [], 0), (None, [257], 1)]

        Raises
        ------
        TokenizerError
            A text is missing, occurs twice or does not belong there, or a type is out of range.
        SpecialTokenError
            A special token is not one of this tokenizer, or is ambiguous.
        """
        special = self.special_tokens
        one = read_template("single", "$A" if single is None else single, special)
        two = [*one, (1, [], 1)]
        if pair is not None:
            two = read_template("pair", pair, special)
        return type(self)(_core.with_lengths(self, template=(one, two)))

    def show(
        self,
        text: str | bytes,
        *,
        ids: bool = False,
        bytes: bool = False,
        spaces: bool = False,
        pieces: bool = False,
        allowed_special: Literal["all"] | Collection[str] = (),
        added_tokens: Literal["find", "text"] = "find",
    ) -> "Shown":
        """Show the tokens of a text: in brackets if printed, in colours in a notebook.

        A token that has a part of a character is shown after the whole character. The ids, and
        the options ``allowed_special`` and ``added_tokens``, are those of :meth:`encode`.

        Parameters
        ----------
        text
            The text; bytes need not be UTF-8 if the tokenizer works on bytes.
        ids, bytes
            Whether the id and the bytes of each token are shown below it.
        spaces
            Whether spaces are drawn as ``·``, joiners as ``⁀`` and non-joiners as ``¦``; tabs
            and line ends are always drawn.
        pieces
            Whether a line is drawn where the split pattern cuts.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> tokenizer.show("low, lower")
        6 tokens, 10 characters, 10 bytes, 1.67 bytes per token
        [low][,][ ][low][e][r]

        Raises the errors of :meth:`encode`.
        """
        from .analyze import cut
        from .analyze._show.draw import Shown
        from .analyze._show.layout import Options

        found = cut(
            self, text, allowed_special=allowed_special, added_tokens=added_tokens
        )
        options = Options(ids=ids, bytes=bytes, spaces=spaces, pieces=pieces)
        return Shown([found], options=options)

    def trace(
        self,
        text: str | bytes,
        *,
        allowed_special: Literal["all"] | Collection[str] = (),
        added_tokens: Literal["find", "text"] = "find",
    ) -> "Trace":
        """Show how a text becomes tokens: normalizing, splitting and each merge.

        The result has the data, and prints as lines. The ids and the options are those of
        :meth:`encode`.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> tokenizer.trace("low")
        text        low
        pieces      [low]
        <BLANKLINE>
        piece 1     l o w
                  1 lo w    l + o → lo    rank 0, count 2
                  2 low     lo + w → low  rank 1, count 2
        <BLANKLINE>
                    low  rank 1
                    ├─ lo  rank 0
                    │  ├─ l
                    │  └─ o
                    └─ w
        <BLANKLINE>
        tokens      low
        ids         257

        Raises
        ------
        TokenizerError
            The text is longer than 10,000 characters; also the errors of :meth:`encode`.
        """
        from .analyze import trace

        return trace(
            self, text, allowed_special=allowed_special, added_tokens=added_tokens
        )

    def __dir__(self) -> list[str]:
        """Return the names of attributes, without the names of other libraries."""
        return without_elsewhere(type(self), super().__dir__())

    def __len__(self) -> int:
        return self.n_vocab

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _core.Tokenizer):
            return NotImplemented
        return self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __copy__(self) -> "Tokenizer":
        own = self._attributes()
        if not own:
            return self  # it is immutable
        copied = type(self).__new__(type(self), self)
        copied.__setstate__(own)
        return copied

    def __deepcopy__(self, memo: dict[int, Any]) -> "Tokenizer":
        own = self._attributes()
        if not own:
            return self
        copied = type(self).__new__(type(self), self)
        memo[id(self)] = copied
        copied.__setstate__(deepcopy(own, memo))
        return copied

    def __reduce__(self) -> tuple[Any, ...]:
        made = _unpickled, (type(self), self.to_bytes())
        own = self._attributes()
        return (*made, own) if own else made

    def _attributes(self) -> dict[str, Any]:
        """Return the attributes of a subclass, including those in slots."""
        classes = type(self).__mro__
        names = [n for k in classes[: classes.index(Tokenizer)] for n in _slots_of(k)]
        slots = {name: getattr(self, name) for name in names if hasattr(self, name)}
        return {**slots, **getattr(self, "__dict__", {})}

    def __setstate__(self, own: dict[str, Any]) -> None:
        for name, value in own.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        parts = self.inspect().description
        return f"<bytepair.Tokenizer: {parts['vocabulary']}, {parts['units']}>"

    def __str__(self) -> str:
        escapes = str.maketrans({"\n": "\\n", "\r": "\\r"})
        parts = (
            (name, text.translate(escapes))
            for name, text in self.inspect().description.items()
        )
        lines = (f"    {name}: {text}" for name, text in parts)
        return "\n".join(("<bytepair.Tokenizer", *lines, ">"))

    def _repr_html_(self) -> str:
        from .views._tables import tokenizer_html

        return tokenizer_html(self)


def _unpickled(kind: type[Tokenizer], data: bytes) -> Tokenizer:
    """Return a tokenizer of a class, without calling the ``__init__`` of a subclass."""
    core = loading.from_bytes(data, "bytepair")
    return kind.__new__(kind, core)


def _slots_of(kind: type) -> list[str]:
    """Return the names of the slots of a class, as its objects have them."""
    slots = kind.__dict__.get("__slots__", ())
    names = [slots] if isinstance(slots, str) else list(slots)
    hidden = f"_{kind.__name__.lstrip('_')}"
    return [
        f"{hidden}{name}" if name.startswith("__") and not name.endswith("__") else name
        for name in names
        if name not in ("__dict__", "__weakref__")
    ]


def _refuse_turned_off(subject: str, options: Mapping[str, bool]) -> None:
    """Refuse options of a setting that is turned off."""
    for name, is_given in options.items():
        if is_given:
            message = (
                f"{name}= has no effect if {subject} is None, which turns this off"
            )
            raise TokenizerError(message)
