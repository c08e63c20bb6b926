"""Sentences that several reports have: which ids are new, which are left, and a few names of many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from bytepair._plurals import amount
from bytepair._results import Result
from bytepair.errors import TokenizerError

if TYPE_CHECKING:
    from bytepair._tokenizer import Tokenizer

__all__ = ["Numbering", "Removed", "added_line", "check_choice", "few", "n_tokens"]

Numbering = Literal["reserved", "holes", "compact"]

MOST_NAMED = 5
"""How many tokens a line names."""


@dataclass(frozen=True, repr=False)
class Removed(Result):
    """What the reports of :func:`remove` and :func:`prune` have in common."""

    removed: tuple[int, ...]
    n_before: int
    n_after: int
    numbering: Numbering

    def ids_line(self) -> str:
        """Describe the ids after the removal."""
        left = f"{amount(self.n_after, 'token')} left"
        if self.numbering == "compact" and self.removed:
            return f"{left}, renumbered from 0 to {self.n_after - 1:,}"
        is_reserving = self.numbering == "reserved" and self.removed
        reserved = (
            "; the free ids are reserved, and only compact numbering makes the vocabulary smaller"
            if is_reserving
            else ""
        )
        return f"{left}, their ids unchanged{reserved}"

    def to_json(self) -> dict[str, Any]:
        """Return all attributes as values of JSON."""
        return {
            "removed": list(self.removed),
            "tokens_before": self.n_before,
            "tokens_left": self.n_after,
            "numbering": self.numbering,
        }


def added_line(first_id: int, n_added: int, n_helpers: int = 0) -> str:
    """Describe the new ids.

    >>> added_line(258, 3, 1), added_line(258, 1)[:20]
    ('3 tokens added (1 helper among them), ids 258 to 260; 258 ids unchanged', '1 token added, id 25')
    """
    unchanged = f"{amount(first_id, 'id')} unchanged"
    if not n_added:
        return f"nothing added; {unchanged}"
    last_id = first_id + n_added - 1
    ids = f"id {last_id:,}" if n_added == 1 else f"ids {first_id:,} to {last_id:,}"
    helpers = f" ({amount(n_helpers, 'helper')} among them)" if n_helpers else ""
    return f"{amount(n_added, 'token')} added{helpers}, {ids}; {unchanged}"


def few(names: list[str]) -> str:
    """List names, or the first ones of many.

    >>> few(list("abcdefg"))
    'a, b, c, d, e and 2 more'
    """
    n_more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {n_more:,} more" * (n_more > 0))


def n_tokens(tokenizer: Tokenizer) -> int:
    """Count the ids that have a token."""
    return sum(token is not None for token in tokenizer.vocabulary)


def check_choice(option: str, value: object, choices: Any) -> None:  # noqa: ANN401
    """Refuse a value that is not a choice of an option."""
    names = get_args(choices)
    if value not in names:
        message = f"{option} must be one of {', '.join(names)}, not {value!r}"
        raise TokenizerError(message)
