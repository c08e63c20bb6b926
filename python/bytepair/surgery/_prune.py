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
from bytepair._labels import argument
from bytepair._names import refuse_set
from bytepair._numpy import np
from bytepair._plurals import amount
from bytepair._ranges import check_count, check_range
from bytepair._tokenizer import Tokenizer
from bytepair._training.calls import train_from_counts
from bytepair._training.earlier import Earlier
from bytepair._training.progress import reporter
from bytepair._weights import unscaled
from bytepair.errors import TrainingError

from ._corpus import CorpusOptions, given_options, learn
from ._reports import Numbering, Removed, check_choice, n_tokens
from ._surgery import Base, Given, Surgery
from ._tokens import Tokens, resolve

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Unpack

    from bytepair._io.files import StrPath
    from bytepair._training.learning import Learner
    from bytepair._weights import Weight
    from bytepair.data._sources import Corpus

__all__ = ["PruningReport", "prune"]

ALL_BYTES = (1 << 63) - 1


@dataclass(frozen=True, repr=False)
class PruningReport(Removed):
    """What :func:`bytepair.surgery.prune` did.

    Attributes
    ----------
    n_before, n_after
        How many tokens there were, and how many of them are left.
    removed
        The old ids of the removed tokens, in the order of removal.
    counts
        How often each of these occurred in the corpus when it was removed.
    tokens_before, tokens_after
        The tokens of the corpus, encoded by the base and by the result; a special token in a text
        is one.
    """

    counts: tuple[int | float, ...]
    tokens_before: int | float
    tokens_after: int | float

    @property
    def lines(self) -> tuple[str, ...]:
        """The changes and their reasons in lines, for a reader."""
        lines = [
            f"{amount(len(self.removed), 'token')} removed{self._rarity()}",
            self.ids_line(),
        ]
        if self.tokens_before:
            more = 100 * (self.tokens_after / self.tokens_before - 1)
            lines.append(
                f"tokens of the corpus: {self.tokens_before:,} → {self.tokens_after:,}, "
                f"{more:.2f} % more"
            )
        return tuple(lines)

    def _rarity(self) -> str:
        """Describe how often the removed tokens occurred in the corpus."""
        if not self.removed:
            return ""
        n_unused, most = sum(not count for count in self.counts), max(self.counts)
        if not most:
            return ", not in the corpus"
        at_most = f"at most {most:,} {'time' if most == 1 else 'times'}"
        if not n_unused:
            return f", each in the corpus {at_most}"
        return f": {n_unused:,} not in the corpus, the others {at_most}"

    def to_json(self) -> dict[str, Any]:
        """Return all attributes as values of JSON."""
        return {
            **super().to_json(),
            "counts": list(self.counts),
            "corpus_tokens_before": self.tokens_before,
            "corpus_tokens_after": self.tokens_after,
        }


def prune(
    tokenizer: Given,
    corpus: Corpus | Mapping[StrPath, Weight] | None = None,
    *,
    to: int | None = None,
    min_count: int | None = None,
    drop: Tokens | None = None,
    numbering: Numbering = "reserved",
    **options: Unpack[CorpusOptions],
) -> Surgery[PruningReport]:
    r"""Make the vocabulary smaller by removing the tokens that a corpus needs least.

    The rarest token that no other is built on is removed, the newest of equally rare ones. Then the
    counts are updated, and so on. Units, bytes, the unknown token and added tokens stay.

    Parameters
    ----------
    tokenizer
        The tokenizer, or its path, as for :func:`extend`.
    corpus, texts, counts
        What to count tokens in, as for :func:`extend`; give one of these.
    to
        How many tokens to keep, all kinds included.
    min_count
        Remove tokens that occur less often. With ``to``, at least that many tokens are kept.
    drop
        Remove only these: tokens as :func:`remove` takes them. A token stays if another that stays
        is built on it.
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
    given = given_options("prune", corpus, options, CorpusOptions)
    refuse_set("texts", given.get("texts"), "the result")
    _check(to, min_count)
    base = Base.of(tokenizer)
    among = None if drop is None else resolve(base.tokenizer, drop).ids
    counted = Counted()
    counted.count(base.tokenizer, given)
    least = None if min_count is None else counted.scaled(min_count)
    renumbered, removed = _core.prune(
        base.tokenizer, to, counted.table(), least, among, numbering
    )
    n_before = n_tokens(base.tokenizer)
    report = PruningReport(
        removed=tuple(id_ for id_, _ in removed),
        n_before=n_before,
        n_after=n_before - len(removed),
        numbering=numbering,
        counts=tuple(unscaled(count, counted.scale) for _, count in removed),
        tokens_before=counted.n_tokens,
        tokens_after=counted.n_tokens_of(Tokenizer(renumbered[0])),
    )
    return base.reduced(renumbered, report)


def _check(to: int | None, min_count: int | None) -> None:
    """Refuse a request that does not say how many tokens to remove."""
    if to is None and min_count is None:
        ways = f"{argument('to', '')} or {argument('min_count', '')}"
        message = (
            f"give {ways} to say how many tokens to remove; remove() removes given ones"
        )
        raise TrainingError(message)
    if min_count is not None and min_count < 1:
        message = f"{argument('min_count')} must be at least 1, not {min_count}"
        raise TrainingError(message)


class Counted:
    """The pieces of a corpus, how often each occurs, and how many tokens they have.

    ``n_added`` is how often added tokens occur between pieces. Counts of files with weights are larger
    by ``scale``.
    """

    def __init__(self) -> None:
        self.pieces: list[tuple[bytes, int]] = []
        self.n_added = 0
        self.scale = 1
        self.n_tokens: int | float = 0

    def count(self, base: Tokenizer, given: Mapping[str, Any]) -> None:
        """Count the corpus in ``given``, by training that learns nothing."""
        course: list[int | float] = []
        counting = {
            **given,
            "progress": reporter(given.get("progress")),
            "vocab_size": base.n_vocab,
            "on_counted": self._take,
            "on_course": course.extend,
        }
        learn(base, counting)
        self.n_tokens = course[0]

    def _take(self, learner: Learner) -> None:
        self.scale, self.n_added = learner.scale, learner.n_added
        self.pieces = learner.corpus.pieces(ALL_BYTES) or []

    def scaled(self, min_count: int) -> int:
        """Return a number of occurrences in the scale of the counts."""
        check_count(min_count=min_count * self.scale)
        return min_count * self.scale

    def table(self) -> _core.PieceTable:
        """Return the pieces as the core takes them."""
        table = _core.PieceTable()
        offsets = np.zeros(len(self.pieces) + 1, np.int64)
        np.cumsum([len(piece) for piece, _ in self.pieces], out=offsets[1:])
        data = np.frombuffer(b"".join(piece for piece, _ in self.pieces), np.uint8)
        counts = np.array([n for _, n in self.pieces], np.int64)
        table.add(((data, offsets), counts, None))
        return table

    def n_tokens_of(self, tokenizer: Tokenizer) -> int | float:
        """Return how many tokens another tokenizer has for the pieces."""
        course: list[int | float] = []
        train_from_counts(
            dict(self.pieces),
            vocab_size=tokenizer.n_vocab,
            resume=Earlier(tokenizer),
            ties="smallest_ids",
            on_course=course.extend,  # type: ignore[call-arg]
        )
        return unscaled(int(course[0]) + self.n_added, self.scale)
