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
        └── FileError               a file that cannot be read or written (an OSError too)

A message says what was found, where, and what to do about it. An argument of the
wrong type is a ``TypeError``, as everywhere. Ctrl-C during training is a
``TrainingInterrupted``, a ``KeyboardInterrupt`` that carries what was learned.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .tokenizer import Tokenizer

__all__ = [
    "EncodingError",
    "FileError",
    "FormatError",
    "PatternError",
    "SpecialTokenError",
    "TokenizerError",
    "TrainingError",
    "TrainingInterrupted",
    "UnknownTokenError",
]


class TokenizerError(ValueError):
    """Something that bytepair refuses."""

    def __str__(self) -> str:
        """Give the message, which ``KeyError`` would put in quotes."""
        return str(self.args[0]) if self.args else ""


class PatternError(TokenizerError):
    """A split pattern that cannot be compiled, or a match that takes too many steps."""


class EncodingError(TokenizerError):
    """Text that is not UTF-8, a lone surrogate, or tokens that do not make UTF-8."""


class UnknownTokenError(TokenizerError, KeyError):
    """An id that no token has, or a unit of text that no token stands for."""


class SpecialTokenError(TokenizerError):
    """A special token that stands in a text where it is not allowed."""


class TrainingError(TokenizerError):
    """A corpus or a target that nothing can be learned from."""


class FormatError(TokenizerError):
    """A file that is damaged or not understood, or a tokenizer that a format cannot hold."""


class FileError(TokenizerError, OSError):
    """A file that cannot be read or written."""


class TrainingInterrupted(KeyboardInterrupt):
    """Ctrl-C during training.

    Attributes
    ----------
    tokenizer
        What was learned by then, a tokenizer like any other; ``None`` where text was
        still being read.
    report
        What was read and learned, by name; empty where ``tokenizer`` is ``None``.
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
