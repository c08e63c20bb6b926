"""Extending a vocabulary with tokens learned from a corpus or made for given strings.

Resumed training learns new merges on text that the base has encoded, and appends them behind all
others. The merges for strings (`_strings`) are appended too. Therefore:

- Old ids, merges and added tokens stay. New ids follow the largest one, including those of added
  tokens and of tokens that only the settings beside a file name.
- Encoding first does all that the base does, and then joins some neighbours. So no text gets longer,
  and a text without any new pair keeps its ids.
- Every new token is what its own units are merged to: it was made from them when it was learned.
- The first k additions from a corpus do not depend on how many follow.
- With a scope, only tokens that cannot occur in other text are learned, so other text keeps its ids.

Left out: new units. A character that the base has no token for gets none.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from bytepair._io.beside import added_beside, with_added_beside
from bytepair._plurals import amount
from bytepair._ranges import check_range
from bytepair._tokenizer import Tokenizer
from bytepair._training.calls import train, train_from_counts, train_from_iterator
from bytepair._training.earlier import Earlier
from bytepair._training.progress import Progress, reporter
from bytepair.errors import TokenizerError, TrainingError

from ._extension import ExtensionReport, knee_of
from ._own_texts import own_texts
from ._scopes import Scope, scope_of
from ._strings import StringsReport, extend_by_strings
from ._surgery import Surgery
from ._tokens import names_of, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bytepair._io.files import StrPath
    from bytepair._training.calls import OnProgress
    from bytepair._training.weights import Weight
    from bytepair.data._counts import Counts
    from bytepair.data._sources import Corpus

    from ._scopes import GivenScope

__all__ = ["READING", "base_of", "extend", "learn"]

MOST_IDS = 1 << 32
READING = ("input_format", "field", "lines", "separator", "skip_bad", "memory_limit")
"""Options of :func:`bytepair.train` that only files have."""


@overload
def extend(
    tokenizer: Tokenizer | StrPath,
    corpus: Corpus | Mapping[StrPath, Weight] | None = None,
    *,
    add: int,
    texts: Iterable[str | bytes] | None = None,
    counts: Mapping[str, int] | Mapping[bytes, int] | Counts | StrPath | None = None,
    scope: GivenScope | None = None,
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
) -> Surgery[ExtensionReport]: ...


@overload
def extend(
    tokenizer: Tokenizer | StrPath,
    *,
    strings: Iterable[str],
    allow_helpers: bool = False,
) -> Surgery[StringsReport]: ...


def extend(
    tokenizer: Tokenizer | StrPath,
    corpus: Corpus | Mapping[StrPath, Weight] | None = None,
    *,
    add: int | None = None,
    texts: Iterable[str | bytes] | None = None,
    counts: Mapping[str, int] | Mapping[bytes, int] | Counts | StrPath | None = None,
    strings: Iterable[str] | None = None,
    allow_helpers: bool = False,
    scope: GivenScope | None = None,
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
) -> Surgery[ExtensionReport] | Surgery[StringsReport]:
    """Add tokens to a tokenizer: those that save most tokens of a corpus, or given strings.

    Old ids, merges and added tokens stay as they are. A text's new encoding is the old one with some
    neighbours joined. The first k tokens learned from a corpus do not depend on ``add``, so
    ``report.curve`` shows what each smaller number saves.

    Parameters
    ----------
    tokenizer
        The tokenizer, or its path. With a path, tokens that only ``tokenizer_config.json`` or
        ``added_tokens.json`` beside it names also keep their ids.
    corpus, texts, counts
        What to learn from; give one of these: files as :func:`bytepair.train` takes them, texts, or
        pieces with their counts as :func:`bytepair.train_from_counts` takes them.
    strings
        Strings that become one token each, instead of a corpus: whole pieces as
        :meth:`bytepair.Tokenizer.split` returns them, including a leading space. A string that is
        encoded to two tokens becomes one. The shortest are added first, those of equal length in the
        order of their bytes, whatever the order of the list. ``report.rows`` tells what became of each.
    allow_helpers
        Whether helpers may be added for strings of more than two tokens: a token for each of their
        beginnings. Without this, the report names them.
    add
        How many tokens to learn from a corpus. Fewer are added once no pair occurs ``min_count``
        times; the report says so.
    scope
        Learn only tokens that occur in no text without certain characters, so that all other text
        keeps its ids: the name or the code of a script (``"Devanagari"``, ``"Deva"``), several
        separated by commas or in a list, single characters, and ranges (``"U+0900-U+097F"``,
        ``"a-z"``, ``range(0x900, 0x980)``). Characters are compared after normalization.
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
    >>> texts = ["wide नमस्ते wide नमस्ते"] * 9
    >>> found = surgery.extend(base, texts=texts, add=3, scope="Devanagari")
    >>> found.tokenizer.encode("wide") == base.encode("wide")
    True
    >>> words = surgery.extend(base, strings=["lower", "wi"])
    >>> [(row.text, row.outcome) for row in words.report.rows]
    [('lower', 'needs_helpers'), ('wi', 'added')]

    Raises
    ------
    TrainingError
        There is nothing to learn from, or an option has an invalid value.
    TokenizerError
        The errors of :func:`bytepair.train`, and those of reading the tokenizer.
    TrainingInterrupted
        Ctrl-C; its ``tokenizer`` holds what has been learned so far.
    """
    is_whole = None if whole_characters is False else whole_characters
    options = {
        "min_count": min_count,
        "min_piece_count": min_piece_count,
        "max_token_bytes": max_token_bytes,
        "max_token_chars": max_token_chars,
        "whole_characters": is_whole,
        "threads": threads,
        "progress": progress,
    }
    reading = (input_format, field, lines, separator, skip_bad, memory_limit)
    read = dict(zip(READING, reading, strict=True))
    given = {"corpus": corpus, "texts": texts, "counts": counts, "strings": strings}
    name = _only(given)
    if strings is not None:
        _refuse_for_strings({"add": add, "scope": scope, **options, **read})
        return _extend_by_strings(tokenizer, strings, allow_helpers=allow_helpers)
    if allow_helpers:
        message = "allow_helpers= is for strings=, which are not given"
        raise TrainingError(message)
    corpus_of = _Corpus(name, given[name], _present(read))
    return _extend_by_corpus(tokenizer, corpus_of, add, scope, _present(options))


class _Corpus(NamedTuple):
    """The corpus to learn from, and how its files are read."""

    name: str
    given: Any
    reading: dict[str, Any]


def _only(given: Mapping[str, Any]) -> str:
    """Give the name of what is given."""
    names = [name for name, value in given.items() if value is not None]
    if len(names) != 1:
        found = f"both {' and '.join(names)}" if names else "none of them"
        message = f"give one of corpus, texts=, counts= and strings=, not {found}"
        raise TrainingError(message)
    return names[0]


def _present(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _refuse_for_strings(options: Mapping[str, Any]) -> None:
    """Refuse options of learning, which do not apply to strings."""
    for name in _present(options):
        message = f"{name}= is for learning from a corpus, not for strings="
        raise TrainingError(message)


def _extend_by_strings(
    tokenizer: Tokenizer | StrPath, strings: Iterable[str], *, allow_helpers: bool
) -> Surgery[StringsReport]:
    base, source = base_of(tokenizer)
    extended, report = extend_by_strings(base, strings, allow_helpers=allow_helpers)
    return Surgery(extended, base, tuple(range(base.n_vocab)), report, source)


def _extend_by_corpus(
    tokenizer: Tokenizer | StrPath,
    corpus: _Corpus,
    add: int | None,
    scope: GivenScope | None,
    options: dict[str, Any],
) -> Surgery[ExtensionReport]:
    n_asked = check_add(add)
    within = None if scope is None else scope_of(scope)
    base, source = base_of(tokenizer)
    if base.n_vocab + n_asked > MOST_IDS:
        message = f"add: {base.n_vocab:,} ids and {n_asked:,} more exceed the largest number of ids"
        raise TrainingError(message)
    if within is not None:
        _check_alphabet(base, within)
        options["scope"] = within.ranges
    course: list[int | float] = []
    watch = _Watch(reporter(options.pop("progress", None)))
    learning = {
        **options,
        "vocab_size": base.n_vocab + n_asked,
        "resume": Earlier(base),
        "ties": "smallest_ids",
        "progress": watch,
        "on_course": course.extend,
    }
    extended = learn({corpus.name: corpus.given}, learning, corpus.reading)
    name = within.name if within else None
    report = _report(base, extended, n_asked, course, watch.last, name)
    if corpus.name == "counts":
        _check_pieces(extended, report.within_others)
    return Surgery(extended, base, tuple(range(base.n_vocab)), report, source)


def _check_pieces(extended: Tokenizer, within_others: Iterable[int]) -> None:
    """Refuse pieces that the tokenizer would cut, if what was learned of them can never occur."""
    from ._extends import unreached_of

    never = unreached_of(extended, dict.fromkeys(within_others))
    if not never:
        return
    first = quoted(*names_of(extended, [min(never)]))
    message = (
        f"counts: {amount(len(never), 'new token')} could never occur, such as {first}: the "
        "tokenizer does not cut text into the pieces that were counted; count those that its "
        "split() gives"
    )
    raise TrainingError(message)


def _check_alphabet(base: Tokenizer, scope: Scope) -> None:
    """Refuse a scope whose characters the tokenizer has no tokens for."""
    texts = [token for token in base.vocabulary if token is not None]
    if any(isinstance(text, bytes) or scope.holds_of(text) for text in texts):
        return
    message = (
        f"scope: the tokenizer has no token with a character of {scope.name}, and new "
        "characters cannot be added"
    )
    raise TrainingError(message)


def check_add(add: int | None) -> int:
    """Refuse an invalid number of tokens."""
    check_range(add=add)
    if add is None:
        message = "add must be a whole number, not None"
        raise TypeError(message)
    return add


def base_of(tokenizer: Tokenizer | StrPath) -> tuple[Tokenizer, Path | None]:
    """Give a tokenizer, with the added tokens that only files beside it name, and its path."""
    if isinstance(tokenizer, Tokenizer):
        return tokenizer, None
    if not isinstance(tokenizer, (str, os.PathLike)):
        message = f"expected a tokenizer or its path, not {type(tokenizer).__name__}"
        raise TypeError(message)
    path = Path(tokenizer)
    base = Tokenizer.from_file(path)
    beside = added_beside(path)
    if beside:
        base = Tokenizer(with_added_beside(base, path, beside))
    return base, path


def learn(
    given: Mapping[str, Any], options: dict[str, Any], reading: dict[str, Any]
) -> Tokenizer:
    """Learn from the one corpus in ``given``.

    What training says of ``resume=`` is about the tokenizer: nobody gave that option here.
    """
    try:
        return _learned(given, options, reading)
    except TokenizerError as error:
        option, colon, reason = str(error).partition(": ")
        if option + colon != "resume: ":
            raise
        message = f"the tokenizer {reason}"
        raise type(error)(message) from error


def _learned(
    given: Mapping[str, Any], options: dict[str, Any], reading: dict[str, Any]
) -> Tokenizer:
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
    scope: str | None,
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
        scope=scope,
    )
