"""Making a vocabulary smaller: the tokens that a corpus needs least are removed one by one.

Only tokens that no other is built on are removed, so that all kept tokens can still be made. Without
its merge, a part of a removed token may join its other neighbour; so texts are encoded again after each
removal, and each choice is made by exact counts.

Units, byte-fallback tokens, the unknown token and added tokens are never removed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bytepair import _core
from bytepair._names import refuse_set
from bytepair._numpy import np
from bytepair._plurals import amount
from bytepair._ranges import check_count, check_range
from bytepair._results import Result
from bytepair._tokenizer import Tokenizer
from bytepair._training.calls import train_from_counts
from bytepair._training.earlier import Earlier
from bytepair._training.progress import reporter
from bytepair._training.weights import unscaled
from bytepair.errors import TrainingError

from ._extend import READING, base_of, learn
from ._remove import Numbering, check_choice, ids_line
from ._surgery import Surgery
from ._tokens import Token, Tokens, resolve, tokens_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from bytepair._io.files import StrPath
    from bytepair._training.calls import OnProgress
    from bytepair._training.learning import Learner
    from bytepair._training.weights import Weight
    from bytepair.data._counts import Counts
    from bytepair.data._sources import Corpus

__all__ = ["PruningReport", "prune"]

ALL_BYTES = (1 << 63) - 1


@dataclass(frozen=True, repr=False)
class PruningReport(Result):
    """What :func:`bytepair.surgery.prune` did.

    Attributes
    ----------
    n_before, n_after
        How many tokens there were, and how many of them are left.
    removed
        The old ids of the removed tokens, in the order of removal.
    counts
        How often each of these occurred in the corpus when it was removed; 0 without a corpus.
    held
        Tokens that ``drop`` names but that stayed, since other kept tokens are built on them.
    tokens_before, tokens_after
        The tokens of the corpus, encoded by the base and by the result; a special token in a text
        is one. ``None`` without a corpus.
    numbering
        What became of the ids.
    """

    n_before: int
    n_after: int
    removed: tuple[int, ...]
    counts: tuple[int | float, ...]
    held: tuple[int, ...]
    tokens_before: int | float | None
    tokens_after: int | float | None
    numbering: Numbering

    @property
    def lines(self) -> tuple[str, ...]:
        """What was done and why, for a reader."""
        lines = [
            f"{amount(len(self.removed), 'token')} removed{self._rarity()}",
            ids_line(self.n_after, self.numbering, len(self.removed)),
        ]
        if self.held:
            stay = "stays" if len(self.held) == 1 else "stay"
            lines.append(
                f"{amount(len(self.held), 'named token')} {stay}: others that stay are built on "
                + ("it" if len(self.held) == 1 else "them")
            )
        if self.tokens_before and self.tokens_after is not None:
            more = 100 * (self.tokens_after / self.tokens_before - 1)
            lines.append(
                f"tokens of the corpus: {self.tokens_before:,} → {self.tokens_after:,}, "
                f"{more:.2f} % more"
            )
        return tuple(lines)

    def _rarity(self) -> str:
        """Say how often the removed tokens occurred in the corpus."""
        if not self.removed or self.tokens_before is None:
            return ""
        n_unused, most = sum(not count for count in self.counts), max(self.counts)
        if not most:
            return ", not in the corpus"
        at_most = f"at most {most:,} {'time' if most == 1 else 'times'}"
        if not n_unused:
            return f", each in the corpus {at_most}"
        return f": {n_unused:,} not in the corpus, the others {at_most}"

    def to_json(self) -> dict[str, Any]:
        """Give everything as JSON holds it."""
        return {
            "tokens_before": self.n_before,
            "tokens_left": self.n_after,
            "removed": list(self.removed),
            "counts": list(self.counts),
            "held": list(self.held),
            "corpus_tokens_before": self.tokens_before,
            "corpus_tokens_after": self.tokens_after,
            "numbering": self.numbering,
        }


def prune(
    tokenizer: Tokenizer | StrPath,
    corpus: Corpus | Mapping[StrPath, Weight] | None = None,
    *,
    to: int | None = None,
    min_count: int | None = None,
    drop: Callable[[Token], object] | Tokens | None = None,
    numbering: Numbering = "reserved",
    texts: Iterable[str | bytes] | None = None,
    counts: Mapping[str, int] | Mapping[bytes, int] | Counts | StrPath | None = None,
    input_format: str | None = None,
    field: str | None = None,
    lines: bool | None = None,
    separator: str | None = None,
    skip_bad: bool | None = None,
    memory_limit: int | None = None,
    threads: int | None = None,
    progress: OnProgress = None,
) -> Surgery[PruningReport]:
    r"""Make the vocabulary smaller by removing the tokens that a corpus needs least, or given ones.

    The rarest token that no other is built on is removed, the newest of equally rare ones. Then the
    counts are updated, and so on. Units, bytes, the unknown token and added tokens stay.

    Parameters
    ----------
    tokenizer
        The tokenizer, or its path, as for :func:`extend`.
    corpus, texts, counts
        What to count tokens in, as for :func:`extend`; give at most one of these. ``to`` and
        ``min_count`` need one.
    to
        How many tokens to keep, all kinds included.
    min_count
        Remove tokens that occur less often. With ``to``, at least that many tokens are kept.
    drop
        Remove only these: tokens as :func:`remove` takes them, or a function that is called with
        each :class:`Token` that may be removed. Without ``to`` and ``min_count``, all of them are
        removed, except those that a kept token is built on; ``report.held`` lists these.
    numbering
        What becomes of the ids, as for :func:`remove`.
    input_format, field, lines, separator, skip_bad, memory_limit, threads, progress
        As for :func:`bytepair.train`. The result does not depend on ``threads``.

    >>> import bytepair
    >>> from bytepair import surgery
    >>> base = bytepair.train_from_iterator(["low lower", "wide wider"], vocab_size=263)
    >>> found = surgery.prune(base, texts=["low lower"], to=259, numbering="compact")
    >>> print(*found.report.lines, sep="\n")
    2 tokens removed, not in the corpus
    259 tokens left, renumbered from 0 to 258
    tokens of the corpus: 5 → 5, 0.00 % more
    >>> found = surgery.prune(base, drop=lambda token: "w" in token.text)
    >>> found.tokenizer.tokenize("low wide")
    ['lo', 'w', ' ', 'w', 'ide']

    Raises
    ------
    TokenizerError
        There are fewer tokens than ``to``, or more that must stay; ``drop`` names a token that must
        stay; an option is missing or invalid.
    TrainingError
        There is nothing to count.
    """
    check_range(to=to)
    check_choice("numbering", numbering, Numbering)
    if min_count is not None:
        check_count(min_count=min_count)
    refuse_set("texts", texts, "the result")
    given = {"corpus": corpus, "texts": texts, "counts": counts}
    has_corpus = any(value is not None for value in given.values())
    reading = (input_format, field, lines, separator, skip_bad, memory_limit)
    reading_options = {
        n: v for n, v in zip(READING, reading, strict=True) if v is not None
    }
    _check(to, min_count, drop, has_corpus=has_corpus)
    base, source = base_of(tokenizer)
    among = None if drop is None else _among(base, drop)
    options: dict[str, Any] = {} if threads is None else {"threads": threads}
    counted = Counted()
    if has_corpus:
        options["progress"] = reporter(progress)
        counted.count(base, given, options, reading_options)
    else:
        _refuse_idle({**reading_options, **options})
    least = None if min_count is None else counted.scaled(min_count)
    (core, id_map), removed = _core.prune(
        base,
        to,
        counted.table(),
        least,
        among,
        numbering,
    )
    result = Tokenizer(core)
    gone = tuple(id_ for id_, _ in removed)
    n_before = sum(token is not None for token in base.vocabulary)
    is_whole = to is None and min_count is None
    held = sorted(set(among or ()) - set(gone)) if is_whole else []
    report = PruningReport(
        n_before=n_before,
        n_after=n_before - len(gone),
        removed=gone,
        counts=tuple(unscaled(count, counted.scale) for _, count in removed),
        held=tuple(held),
        tokens_before=counted.n_tokens,
        tokens_after=counted.n_tokens_of(result) if has_corpus else None,
        numbering=numbering,
    )
    ids = tuple(id_map)
    is_compact = numbering == "compact"
    return Surgery(result, base, ids, report, source, is_compact=is_compact)


def _check(
    to: int | None, min_count: int | None, drop: object, *, has_corpus: bool
) -> None:
    """Refuse a request that does not say which tokens to remove."""
    if to is None and min_count is None and drop is None:
        message = "give to=, min_count= or drop= to say which tokens to remove"
        raise TrainingError(message)
    if min_count is not None and min_count < 1:
        message = f"min_count must be at least 1, not {min_count}"
        raise TrainingError(message)
    name = "to" if to is not None else "min_count" if min_count is not None else None
    if name is not None and not has_corpus:
        message = f"{name}= needs a corpus, texts= or counts=, since it removes the rarest tokens"
        raise TrainingError(message)


def _refuse_idle(options: Mapping[str, Any]) -> None:
    """Refuse corpus options without a corpus."""
    for name in options:
        message = f"{name}= is about a corpus, and none is given"
        raise TrainingError(message)


def _among(base: Tokenizer, drop: Callable[[Token], object] | Tokens) -> list[int]:
    """Give the named tokens that may be removed."""
    if not callable(drop):
        return list(resolve(base, drop, option="drop").ids)
    ids = [id_ for id_, token in enumerate(base.vocabulary) if token is not None]
    added = {id_ for id_, _content, _flags in _core.added_tokens(base)}
    reasons = zip(ids, _core.why_it_stays(base, ids), strict=True)
    free = [id_ for id_, reason in reasons if reason is None and id_ not in added]
    return [token.id for token in tokens_of(base, free) if drop(token)]


class Counted:
    """The pieces of a corpus, how often each occurs, and how many tokens they have.

    ``n_added`` is how often added tokens occur between pieces. Counts of files with weights are larger
    by ``scale``.
    """

    def __init__(self) -> None:
        self.pieces: list[tuple[bytes, int]] = []
        self.n_added = 0
        self.scale = 1
        self.n_tokens: int | float | None = None

    def count(
        self,
        base: Tokenizer,
        given: Mapping[str, Any],
        options: Mapping[str, Any],
        reading: Mapping[str, Any],
    ) -> None:
        """Count the corpus in ``given``, by training that learns nothing."""
        course: list[int | float] = []
        learning = {
            "vocab_size": base.n_vocab,
            "resume": Earlier(base),
            "ties": "smallest_ids",
            "on_counted": self._take,
            "on_course": course.extend,
        }
        learn(given, {**options, **learning}, dict(reading))
        self.n_tokens = course[0]

    def _take(self, learner: Learner) -> None:
        self.scale, self.n_added = learner.scale, learner.n_added
        self.pieces = learner.corpus.pieces(ALL_BYTES) or []

    def scaled(self, min_count: int) -> int:
        """Give a number of occurrences as the counts have it."""
        check_count(min_count=min_count * self.scale)
        return min_count * self.scale

    def table(self) -> _core.PieceTable:
        """Give the pieces as the core takes them."""
        table = _core.PieceTable()
        offsets = np.zeros(len(self.pieces) + 1, np.int64)
        np.cumsum([len(piece) for piece, _ in self.pieces], out=offsets[1:])
        data = np.frombuffer(b"".join(piece for piece, _ in self.pieces), np.uint8)
        counts = np.array([n for _, n in self.pieces], np.int64)
        table.add(((data, offsets), counts, None))
        return table

    def n_tokens_of(self, tokenizer: Tokenizer) -> int | float:
        """Give how many tokens another tokenizer has for the pieces."""
        course: list[int | float] = []
        train_from_counts(
            dict(self.pieces),
            vocab_size=tokenizer.n_vocab,
            resume=Earlier(tokenizer),
            ties="smallest_ids",
            on_course=course.extend,  # type: ignore[call-arg]
        )
        return unscaled(int(course[0]) + self.n_added, self.scale)
