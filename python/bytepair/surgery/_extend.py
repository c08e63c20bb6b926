"""Extending a vocabulary by what a corpus shows.

New merges are learned on what the base makes of the text, by the training that goes on from a
tokenizer, and come behind all others. Therefore:

- Old ids, merges and added tokens stay. New ids come behind the largest, those of added tokens and of
  tokens that only the settings beside a file name included.
- Encoding first does all that the base does, and then joins some neighbours. So no text gets longer,
  and a text in which no new pair occurs keeps its ids.
- Every new token is what its own units are merged to: it was made of them when it was learned.
- The first k additions do not depend on how many follow.

Left out: new units. A character that the base has no token for gets none.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair._io import formats
from bytepair._ranges import check_range
from bytepair._tokenizer import Tokenizer
from bytepair._training.calls import train, train_from_counts, train_from_iterator
from bytepair._training.earlier import Earlier
from bytepair._training.progress import Progress, reporter
from bytepair.errors import TrainingError

from ._extension import ExtensionReport, knee_of
from ._own_texts import own_texts
from ._surgery import Surgery

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bytepair._io.files import StrPath
    from bytepair._training.calls import OnProgress
    from bytepair._training.weights import Weight
    from bytepair.data._counts import Counts
    from bytepair.data._sources import Corpus

__all__ = ["READING", "base_of", "extend", "learn"]

MOST_IDS = 1 << 32
READING = ("input_format", "field", "lines", "separator", "skip_bad", "memory_limit")
"""Options of :func:`bytepair.train` that only files have."""


def extend(
    tokenizer: Tokenizer | StrPath,
    corpus: Corpus | Mapping[StrPath, Weight] | None = None,
    *,
    add: int,
    texts: Iterable[str | bytes] | None = None,
    counts: Mapping[str, int] | Mapping[bytes, int] | Counts | StrPath | None = None,
    min_count: int | None = None,
    min_piece_count: int | None = None,
    max_token_bytes: int | None = None,
    max_token_chars: int | None = None,
    whole_characters: bool = False,
    input_format: str | None = None,
    field: str | None = None,
    lines: bool | None = None,
    separator: str | None = None,
    skip_bad: bool | None = None,
    memory_limit: int | None = None,
    threads: int | None = None,
    progress: OnProgress = None,
) -> Surgery[ExtensionReport]:
    """Add tokens to a tokenizer: those that save most tokens of a corpus, one after the other.

    Old ids, merges and added tokens stay as they are. A text's new encoding is the old one with some
    neighbours joined. The first k added tokens are the same whatever ``add`` is, so that
    ``report.curve`` says what each smaller number saves.

    Parameters
    ----------
    tokenizer
        The tokenizer, or its path. With a path, tokens that only ``tokenizer_config.json`` or
        ``added_tokens.json`` beside it names keep their ids, too.
    corpus, texts, counts
        What to learn from, one of them: files as :func:`bytepair.train` takes them, texts, or
        pieces with their counts as :func:`bytepair.train_from_counts` takes them.
    add
        How many tokens to add. There are fewer if no pair occurs ``min_count`` times any more;
        the report says so.
    min_count
        How often a pair must occur to become a token: 2 if not given.
    min_piece_count, max_token_bytes, max_token_chars, whole_characters
        Which pieces are learned from, and which tokens may be learned; see :func:`bytepair.train`.
    input_format, field, lines, separator, skip_bad, memory_limit
        How the files of ``corpus`` are read; see :func:`bytepair.train`.
    threads, progress
        Those of :func:`bytepair.train`. The result does not depend on ``threads``.

    >>> import bytepair
    >>> from bytepair import surgery
    >>> base = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> found = surgery.extend(base, texts=["wide wider widest"] * 9, add=3)
    >>> [found.tokenizer.decode([id_]) for id_ in range(258, 261)]
    ['de', 'ide', 'wide']
    >>> found.report.curve
    (153, 126, 99, 72)

    Raises
    ------
    TrainingError
        There is nothing to learn from, or an option has a value that makes no sense.
    TokenizerError
        The errors of :func:`bytepair.train`, and those of reading the tokenizer.
    TrainingInterrupted
        Ctrl-C; its ``tokenizer`` holds what was learned by then.
    """
    check_add(add)
    base, source = base_of(tokenizer)
    if base.n_vocab + add > MOST_IDS:
        message = (
            f"add: {base.n_vocab:,} ids and {add:,} more are more than there can be"
        )
        raise TrainingError(message)
    course: list[int | float] = []
    watch = _Watch(reporter(progress))
    options: dict[str, Any] = {
        "vocab_size": base.n_vocab + add,
        "resume": Earlier(base),
        "ties": "smallest_ids",
        "min_count": min_count,
        "min_piece_count": min_piece_count,
        "max_token_bytes": max_token_bytes,
        "max_token_chars": max_token_chars,
        "whole_characters": whole_characters,
        "threads": threads,
        "progress": watch,
        "on_course": course.extend,
    }
    reading = (input_format, field, lines, separator, skip_bad, memory_limit)
    extended = learn(
        {"corpus": corpus, "texts": texts, "counts": counts},
        {name: value for name, value in options.items() if value is not None},
        {n: v for n, v in zip(READING, reading, strict=True) if v is not None},
    )
    report = _report(base, extended, add, course, watch.last)
    return Surgery(extended, base, tuple(range(base.n_vocab)), report, source)


def check_add(add: object) -> None:
    """Refuse a number of tokens that makes no sense."""
    check_range(add=add)  # type: ignore[arg-type]
    if add is None:
        message = "add must be a whole number, not None"
        raise TypeError(message)


def base_of(
    tokenizer: Tokenizer | StrPath, options: Mapping[str, Any] | None = None
) -> tuple[Tokenizer, Path | None]:
    """Give a tokenizer, with the added tokens that only files beside it name, and its path."""
    if isinstance(tokenizer, Tokenizer):
        return tokenizer, None
    if not isinstance(tokenizer, (str, os.PathLike)):
        message = f"expected a tokenizer or its path, not {type(tokenizer).__name__}"
        raise TypeError(message)
    path = Path(tokenizer)
    base = Tokenizer.from_file(path, **(options or {}))
    beside = formats.added_beside(path)
    if beside:
        base = Tokenizer(formats.with_added_beside(base, path, beside))
    return base, path


def learn(
    given: Mapping[str, Any], options: dict[str, Any], reading: dict[str, Any]
) -> Tokenizer:
    """Learn from the one of ``given`` that is given."""
    names = [name for name, value in given.items() if value is not None]
    if len(names) != 1:
        found = f"both {' and '.join(names)}" if names else "none of them"
        message = f"give one of corpus, texts= and counts=, not {found}"
        raise TrainingError(message)
    if names == ["corpus"]:
        return train(given["corpus"], **reading, **options)
    if reading:
        message = f"{next(iter(reading))}= is for files, not for {names[0]}="
        raise TrainingError(message)
    if names == ["texts"]:
        return train_from_iterator(given["texts"], **options)
    return train_from_counts(given["counts"], **options)


class _Watch:
    """Keeps the last report of training, and passes all on."""

    def __init__(self, reporter: Any) -> None:  # noqa: ANN401 -- a function or None
        self.reporter = reporter
        self.last: dict[str, Any] = {}

    def __call__(self, progress: Progress) -> None:
        self.last = progress.report or self.last
        if self.reporter:
            self.reporter(progress)


def _report(
    base: Tokenizer,
    extended: Tokenizer,
    asked: int,
    course: list[int | float],
    learned: Mapping[str, Any],
) -> ExtensionReport:
    new = range(base.n_vocab, extended.n_vocab)
    return ExtensionReport(
        asked=asked,
        added=len(new),
        first_id=base.n_vocab,
        curve=tuple(course),
        knee=knee_of(course),
        n_bytes=learned.get("bytes", 0),
        best_count_at_stop=learned.get("best_count_at_stop"),
        within_others=tuple(i for i, text in own_texts(extended, new) if text is None),
    )
