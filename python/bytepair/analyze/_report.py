"""All that a report shows of tokenizers, side by side."""

from collections.abc import Mapping
from dataclasses import dataclass

from bytepair import Tokenizer

from ._portrait import Portrait, portrait

__all__ = ["Report", "Subject", "describe"]


@dataclass(frozen=True)
class Subject:
    """A tokenizer of a report: what it is called, and what it is."""

    name: str
    portrait: Portrait


@dataclass(frozen=True)
class Report:
    """All that a report shows.

    Attributes
    ----------
    subjects
        The tokenizers, in the order given.
    """

    subjects: tuple[Subject, ...]


def describe(tokenizers: Mapping[str, Tokenizer]) -> Report:
    """Describe tokenizers for a report, each by its name.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> [subject.name for subject in describe({"own": tokenizer}).subjects]
    ['own']
    """
    subjects = (Subject(name, portrait(found)) for name, found in tokenizers.items())
    return Report(tuple(subjects))
