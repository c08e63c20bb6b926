"""The tokenizer as users see it: the compiled core, and where it meets files."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from . import _core, formats
from .files import StrPath, refuse_no_name

__all__ = ["Tokenizer"]


class Tokenizer(_core.CoreTokenizer):
    """Text to token ids and back.

    A tokenizer never changes, may be used by any number of threads, goes through
    ``pickle`` by content, and equals every tokenizer with the same parts. Make one by
    :func:`bytepair.train` or :meth:`from_file`.
    """

    __slots__ = ()

    @classmethod
    def from_file(
        cls,
        path: StrPath,
        *,
        dialect: str | None = None,
        pattern: str | list[str] | None = None,
        special_tokens: Mapping[str, int] | None = None,
    ) -> "Tokenizer":
        """Load a tokenizer.

        Parameters
        ----------
        path
            A ``tokenizer.json``, a ``.bytepair`` file, a ``vocab.json`` with its
            ``merges.txt`` beside it, a ``.tiktoken`` file, or a folder with one of the
            first three.
        dialect, pattern, special_tokens
            For a ``.tiktoken`` file without its sidecar, which holds neither a split
            pattern nor special tokens: the dialect or the pattern that it was made for.

        Raises
        ------
        FileError
            The file cannot be read.
        FormatError
            The file is damaged, or says something that is not understood; the message
            names the field.
        """
        refuse_no_name(path)
        options = formats.TiktokenOptions(dialect, pattern, special_tokens)
        return cls(formats.load(Path(path), options))

    @classmethod
    def from_bytes(cls, data: bytes, *, format: str = "bytepair") -> "Tokenizer":
        """Load a tokenizer from the content of a file: ``bytepair`` or ``huggingface``."""
        return cls(formats.from_bytes(data, format))

    def save(self, path: StrPath, *, format: str | None = None) -> None:
        """Write the tokenizer to a file, whole or not at all.

        The ending of ``path`` says how, or ``format`` does: ``.bytepair`` holds every
        tokenizer; ``.json`` (``huggingface``) is read by Hugging Face tokenizers;
        ``.tiktoken`` is written with a sidecar ``.tiktoken.json`` for the pattern and the
        special tokens; a folder, or ``format="gpt2"``, gets ``vocab.json`` and ``merges.txt``.

        Raises
        ------
        FormatError
            The format cannot express a part of this tokenizer; the message names it.
        FileError
            The file cannot be written.
        """
        refuse_no_name(path)
        formats.save(self, Path(path), format)

    def to_bytes(self, *, format: str = "bytepair") -> bytes:
        """Give the content of a file: ``bytepair`` or ``huggingface``."""
        return formats.to_bytes(self, format)

    def with_special_tokens(
        self, tokens: Iterable[str] | Mapping[str, int]
    ) -> "Tokenizer":
        """Make a tokenizer with more special tokens.

        Names get the next free ids; a mapping says which. Tokens that are there already
        stay as they are.

        >>> import bytepair
        >>> tokenizer = bytepair.train_from_iterator(["hello hello"], vocab_size=258)
        >>> tokenizer.with_special_tokens(["<|user|>"]).special_tokens
        {'<|user|>': 258}
        """
        if isinstance(tokens, str):
            message = "expected a list of tokens or a mapping, not one string"
            raise TypeError(message)
        wanted: list[tuple[str, int | None]]
        if isinstance(tokens, Mapping):
            wanted = list(tokens.items())
        else:
            wanted = [(name, None) for name in tokens]
        return type(self)(self._with_special_tokens(wanted))

    def __len__(self) -> int:
        return self.n_vocab

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _core.CoreTokenizer):
            return NotImplemented
        return self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        escapes = str.maketrans({"\n": "\\n", "\r": "\\r"})
        parts = ((name, text.translate(escapes)) for name, text in self._describe())
        lines = (f"    {name}: {text}" for name, text in parts)
        return "\n".join(("<bytepair.Tokenizer", *lines, ">"))
