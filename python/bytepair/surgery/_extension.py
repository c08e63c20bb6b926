"""The report of an extension: its numbers, and the curve of tokens against additions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bytepair import _core
from bytepair._plurals import amount
from bytepair._ranges import check_index
from bytepair._results import Result
from bytepair._tokenizer import Tokenizer
from bytepair.errors import TokenizerError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._surgery import Surgery

__all__ = ["ExtensionReport", "first", "knee_of"]


@dataclass(frozen=True, repr=False)
class ExtensionReport(Result):
    """What :func:`bytepair.surgery.extend` did.

    Attributes
    ----------
    asked, added
        How many tokens were asked for, and how many were added.
    first_id
        The id of the first new token; the others follow.
    curve
        By number of added tokens, from 0 on: the tokens of the corpus. Since the first additions do
        not depend on later ones, this also holds for each smaller ``add``.
    knee
        Where the curve bends: the point farthest from the line between its ends, as Kneedle
        defines it. ``None`` if it does not bend.
    n_bytes
        The size of the corpus in bytes.
    best_count_at_stop
        If fewer tokens were added than asked for: how often the most frequent remaining pair occurs.
    within_others
        New tokens whose own text is not encoded with them, since it lacks the rest of a character,
        of a word or of what the pattern looks at. They occur only within longer texts.
    scope
        What the new tokens are limited to, if anything.
    """

    asked: int
    added: int
    first_id: int
    curve: tuple[int | float, ...]
    knee: int | None
    n_bytes: int | float
    best_count_at_stop: int | float | None
    within_others: tuple[int, ...]
    scope: str | None = None

    @property
    def tokens_before(self) -> int | float:
        """The tokens of the corpus, encoded by the base; a special token in a text is one."""
        return self.curve[0]

    @property
    def tokens_after(self) -> int | float:
        """The tokens of the corpus with all new tokens."""
        return self.curve[-1]

    def saved(self, n_added: int) -> float:
        """Give the share of the tokens of the corpus that the first additions save.

        >>> report = ExtensionReport(2, 2, 258, (100, 80, 70), 1, 400, None, ())
        >>> report.saved(1), report.saved(2)
        (0.2, 0.3)

        Raises
        ------
        TokenizerError
            There are fewer additions.
        """
        check_index(n_added=n_added)
        if not 0 <= n_added < len(self.curve):
            message = f"n_added must be between 0 and {len(self.curve) - 1:,}, not {n_added:,}"
            raise TokenizerError(message)
        before = self.tokens_before
        return (before - self.curve[n_added]) / before if before else 0.0

    @property
    def lines(self) -> tuple[str, ...]:
        """What was done and why, for a reader."""
        unchanged = f"{amount(self.first_id, 'id')} unchanged"
        if not self.added:
            return (f"nothing added; {unchanged}", *self._limit(), *self._stop())
        last_id = self.first_id + self.added - 1
        ids = f"{self.first_id:,} to {last_id:,}" if self.added > 1 else f"{last_id:,}"
        noun = "ids" if self.added > 1 else "id"
        lines = [
            f"{amount(self.added, 'token')} added, {noun} {ids}; {unchanged}",
            f"tokens of the corpus: {self.tokens_before:,} → {self.tokens_after:,}, "
            f"{100 * self.saved(self.added):.2f} % less",
        ]
        if self.knee is not None:
            share = 100 * self.saved(self.knee)
            lines.append(f"the curve bends at {self.knee:,} added: {share:.2f} % less")
        if self.within_others:
            lines.append(
                f"{amount(len(self.within_others), 'new token')} only within longer texts"
            )
        return (*lines, *self._limit(), *self._stop())

    def _limit(self) -> list[str]:
        if self.scope is None:
            return []
        return [
            f"limited to {self.scope}: text that has none of its characters, once "
            "normalized, keeps its ids"
        ]

    def _stop(self) -> list[str]:
        if self.added == self.asked:
            return []
        count = self.best_count_at_stop or 0
        found = (
            "no pair is left that may be merged"
            if not count
            else f"the most frequent pair that is left occurs {amount(int(count), 'time')}"
        )
        return [f"fewer than the {self.asked:,} asked for: {found}"]

    def to_json(self) -> dict[str, Any]:
        """Give the numbers as JSON holds them."""
        return {
            "asked": self.asked,
            "added": self.added,
            "first_id": self.first_id,
            "tokens_before": self.tokens_before,
            "tokens_after": self.tokens_after,
            "saved": round(self.saved(self.added), 6),
            "knee": self.knee,
            "bytes": self.n_bytes,
            "best_count_at_stop": self.best_count_at_stop,
            "within_others": list(self.within_others),
            "scope": self.scope,
            "curve": list(self.curve),
        }


def first(surgery: Surgery[Any], k: int) -> Surgery[Any]:
    """Cut an extension to its first tokens; see :meth:`bytepair.surgery.Surgery.first`."""
    check_index(k=k)
    report = surgery.report
    if not isinstance(report, ExtensionReport) or not report.curve:
        message = "first() needs the result of extend() with a corpus"
        raise TokenizerError(message)
    if not 0 <= k <= report.added:
        message = f"k must be between 0 and {report.added:,}, the number of added tokens, not {k:,}"
        raise TokenizerError(message)
    if k == report.added:
        return surgery
    end = report.first_id + k
    later = range(end, report.first_id + report.added)
    # No later token is a part of an earlier one, and the last ids are free then.
    (core, _), *_ = _core.remove(surgery.tokenizer, list(later), "cascade", "holes")
    cut = replace(
        report,
        asked=k,
        added=k,
        curve=report.curve[: k + 1],
        knee=knee_of(report.curve[: k + 1]),
        best_count_at_stop=None,
        within_others=tuple(id_ for id_ in report.within_others if id_ < end),
    )
    return replace(surgery, tokenizer=Tokenizer(core), report=cut)


def knee_of(curve: Sequence[int | float]) -> int | None:
    """Find the point of a falling curve that is farthest below the line between its ends.

    >>> knee_of([100, 60, 50, 45, 41])
    1
    >>> knee_of([100, 90, 80])
    """
    last = len(curve) - 1
    if last < 1:
        return None
    fall = curve[0] - curve[last]

    # Both axes from 0 to 1, and multiplied by their lengths, so that whole numbers stay whole.
    def below(k: int) -> int | float:
        return (curve[0] - curve[k]) * last - k * fall

    best = max(range(last + 1), key=below)
    return best if below(best) > 0 else None
