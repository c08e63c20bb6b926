"""The corpus that tokens are learned from, or counted in: by training that resumes the tokenizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from bytepair._expected import refuse_unknown
from bytepair._training.calls import train, train_from_counts, train_from_iterator
from bytepair._training.earlier import Earlier
from bytepair.errors import TokenizerError, TrainingError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bytepair._io.files import StrPath
    from bytepair._tokenizer import Tokenizer
    from bytepair._training.options import OnProgress
    from bytepair.data._counts import Counts

__all__ = ["CorpusOptions", "given_options", "learn"]

READING = ("input_format", "field", "lines", "separator", "skip_bad", "memory_limit")
"""Options that only files have."""


class CorpusOptions(TypedDict, total=False):
    """A corpus that is no files, and how files are read; see :func:`bytepair.surgery.extend`."""

    texts: Iterable[str | bytes] | None
    counts: Mapping[str, int] | Mapping[bytes, int] | Counts | StrPath | None
    input_format: str | None
    field: str | None
    lines: bool | None
    separator: str | None
    skip_bad: bool | None
    memory_limit: int | None
    threads: int | None
    progress: OnProgress


def given_options(
    function: str, corpus: object, options: Mapping[str, Any], known: type
) -> dict[str, Any]:
    """Return the options that were given, with the corpus; refuse those that a function does not have."""
    refuse_unknown(function, options, known.__annotations__)
    given = {"corpus": corpus, **options}
    return {name: value for name, value in given.items() if value is not None}


def learn(base: Tokenizer, options: Mapping[str, Any]) -> Tokenizer:
    """Learn from the one corpus in ``options``.

    An error of training about ``resume=`` is about the tokenizer, since users of surgery do not give that option.
    """
    resumed = {**options, "resume": Earlier(base), "ties": "smallest_ids"}
    try:
        return _learned(resumed)
    except TokenizerError as error:
        option, colon, reason = str(error).partition(": ")
        if option + colon != "resume: ":
            raise
        message = f"the tokenizer {reason}"
        raise type(error)(message) from error


def _learned(options: dict[str, Any]) -> Tokenizer:
    names = [name for name in ("corpus", "texts", "counts") if name in options]
    if len(names) != 1:
        found = f"both {' and '.join(names)}" if names else "none of them"
        message = f"give one of corpus, texts= and counts=, not {found}"
        raise TrainingError(message)
    given = options.pop(names[0])
    if names == ["corpus"]:
        return train(given, **options)
    for name in READING:
        if name in options:
            message = f"{name}= is for files, not for {names[0]}="
            raise TrainingError(message)
    learned = train_from_iterator if names == ["texts"] else train_from_counts
    return learned(given, **options)
