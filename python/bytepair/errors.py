"""What can go wrong, as exceptions.

::

    ValueError
    └── TokenizerError              everything that bytepair refuses
        ├── PatternError            a split pattern that cannot be compiled, or gives up
        ├── EncodingError           text or tokens that are not valid Unicode
        ├── UnknownTokenError       an id or a unit that no token has (a KeyError too)
        ├── SpecialTokenError       a special token where it is not allowed
        ├── TrainingError           a corpus or a target that nothing can be learned from
        ├── FormatError             a file that is damaged, not understood, or cannot be written
        ├── FileError               a file that cannot be read or written (an OSError too)
        └── MissingLibraryError     a library that is not installed (an ImportError too)

A message says what was found, where, and what to do about it. An argument of the
wrong type is a ``TypeError``, as everywhere. Ctrl-C during training is a
``TrainingInterrupted``, a ``KeyboardInterrupt`` that carries what was learned.

>>> import bytepair
>>> try:
...     bytepair.train_from_iterator(["some text"], vocab_size=300, pattern="[a-z")
... except bytepair.TokenizerError as error:
...     print(type(error).__name__)
PatternError
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._tokenizer import Tokenizer

__all__ = [
    "EncodingError",
    "FileError",
    "FormatError",
    "MissingLibraryError",
    "PatternError",
    "SpecialTokenError",
    "TokenizerError",
    "TrainingError",
    "TrainingInterrupted",
    "UnknownTokenError",
]


class TokenizerError(ValueError):
    """Something that bytepair refuses.

    >>> import bytepair
    >>> try:
    ...     bytepair.train_from_iterator(["text"], vocab_size=300, dialect="gpt5")
    ... except bytepair.TokenizerError as error:
    ...     print(type(error).__name__)
    TokenizerError
    """

    def __str__(self) -> str:
        """Give the message, which ``KeyError`` would put in quotes."""
        return str(self.args[0]) if self.args else ""


class PatternError(TokenizerError):
    """A split pattern that cannot be compiled, or a match that takes too many steps.

    >>> import bytepair
    >>> try:
    ...     bytepair.train_from_iterator(["text"], vocab_size=300, pattern="(")
    ... except bytepair.PatternError as error:
    ...     print(type(error).__name__)
    PatternError
    """


class EncodingError(TokenizerError):
    """Text that is not UTF-8, a lone surrogate, or tokens that do not make UTF-8.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["text"], vocab_size=256)
    >>> try:
    ...     tokenizer.decode([tokenizer.token_to_id(bytes([255]))], errors="strict")
    ... except bytepair.EncodingError as error:
    ...     print(type(error).__name__)
    EncodingError
    """


class UnknownTokenError(TokenizerError, KeyError):
    """An id that no token has, or a unit of text that no token stands for.

    >>> import bytepair
    >>> try:
    ...     bytepair.train_from_iterator(["text"], vocab_size=256).decode([999])
    ... except bytepair.UnknownTokenError as error:
    ...     print(type(error).__name__)
    UnknownTokenError
    """


class SpecialTokenError(TokenizerError):
    """A special token that stands in a text where it is not allowed.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(
    ...     ["text"], vocab_size=257, special_tokens=["<s>"]
    ... )
    >>> try:
    ...     tokenizer.encode("<s>", disallowed_special="all")
    ... except bytepair.SpecialTokenError as error:
    ...     print(type(error).__name__)
    SpecialTokenError
    """


class TrainingError(TokenizerError):
    """A corpus or a target that nothing can be learned from.

    >>> import bytepair
    >>> try:
    ...     bytepair.train_from_iterator(["text"], vocab_size=100)
    ... except bytepair.TrainingError as error:
    ...     print(type(error).__name__)
    TrainingError
    """


class FormatError(TokenizerError):
    """A file that is damaged or not understood, or a tokenizer that a format cannot hold.

    >>> import bytepair
    >>> try:
    ...     bytepair.Tokenizer.from_bytes(b"{}")
    ... except bytepair.FormatError as error:
    ...     print(type(error).__name__)
    FormatError
    """


class FileError(TokenizerError, OSError):
    """A file that cannot be read or written.

    >>> import bytepair
    >>> try:
    ...     bytepair.Tokenizer.from_file("missing/tokenizer.json")
    ... except bytepair.FileError as error:
    ...     print(type(error).__name__)
    FileError
    """


class MissingLibraryError(TokenizerError, ImportError):
    """A library that is not installed, or cannot be used.

    >>> from bytepair.data._optional import load
    >>> try:
    ...     load("library_of_nobody")
    ... except MissingLibraryError as error:
    ...     print(error)
    this needs library_of_nobody: pip install 'bytepair[data]'
    """


class TrainingInterrupted(KeyboardInterrupt):
    """Ctrl-C during training.

    Attributes
    ----------
    tokenizer
        What was learned by then, a tokenizer like any other; ``None`` where text was
        still being read.
    report
        What was read and learned, by name; empty where ``tokenizer`` is ``None``.

    >>> TrainingInterrupted("interrupted before anything was learned").tokenizer is None
    True
    """

    def __init__(
        self,
        message: str,
        tokenizer: "Tokenizer | None" = None,
        report: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.tokenizer = tokenizer
        self.report = report or {}
