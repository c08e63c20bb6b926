"""The exceptions of bytepair.

::

    ValueError
    └── TokenizerError              anything that bytepair refuses
        ├── PatternError            a split pattern that is invalid or takes too many steps
        ├── EncodingError           text or tokens that are not valid Unicode
        ├── UnknownTokenError       an id or a unit without a token (also a KeyError)
        ├── SpecialTokenError       a special token that is unknown or not allowed
        ├── TrainingError           a corpus or a target from which nothing can be learned
        ├── FormatError             a file that is damaged, not supported, or cannot be written
        ├── FileError               a file that cannot be read or written (also an OSError)
        └── MissingLibraryError     a library that is not installed (also an ImportError)

A message says what was found, where, and what to do about it. An argument of the
wrong type raises a ``TypeError``. Ctrl-C during training raises ``TrainingInterrupted``, a
``KeyboardInterrupt`` with what was learned until then.

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
    """Anything that bytepair refuses; the base class of its errors.

    >>> import bytepair
    >>> try:
    ...     bytepair.train_from_iterator(["text"], vocab_size=300, dialect="gpt5")
    ... except bytepair.TokenizerError as error:
    ...     print(type(error).__name__)
    TokenizerError
    """

    def __str__(self) -> str:
        """Return the message, which ``KeyError`` would put in quotes."""
        return str(self.args[0]) if self.args else ""


class PatternError(TokenizerError):
    """A split pattern that is invalid, or takes too many steps on a text.

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
    """An id without a token, or a unit of text that no token stands for.

    >>> import bytepair
    >>> try:
    ...     bytepair.train_from_iterator(["text"], vocab_size=256).decode([999])
    ... except bytepair.UnknownTokenError as error:
    ...     print(type(error).__name__)
    UnknownTokenError
    """


class SpecialTokenError(TokenizerError):
    """A special token that is unknown, or that is not allowed in a text.

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
    """A corpus or a target from which nothing can be learned.

    >>> import bytepair
    >>> try:
    ...     bytepair.train_from_iterator(["text"], vocab_size=100)
    ... except bytepair.TrainingError as error:
    ...     print(type(error).__name__)
    TrainingError
    """


class FormatError(TokenizerError):
    """A file that is damaged or not supported, or a tokenizer that a format cannot express.

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
        The tokenizer that was learned until then; ``None`` if text was still being read.
    report
        What was read and learned, by name; empty if ``tokenizer`` is ``None``.

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
