"""Faults of a tokenizer: what each is about, its message, and its cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Fault", "listed"]

MOST_NAMED = 5


@dataclass(frozen=True)
class Fault:
    """One way in which a tokenizer does not extend another.

    Attributes
    ----------
    about
        What is wrong: ``"file"``, ``"ids"``, ``"merges"``, ``"added tokens"``,
        ``"parts"``, ``"new tokens"``, ``"texts"`` or ``"tokenizers"``.
    message
        What was found, with the first cases.
    cases
        All cases, each as JSON holds it.
    """

    about: str
    message: str
    cases: tuple[Mapping[str, Any], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Give it as JSON holds it."""
        cases = [dict(case) for case in self.cases]
        return {"about": self.about, "message": self.message, "cases": cases}


def listed(shown: Sequence[str]) -> str:
    """List the first cases, and say how many more there are.

    >>> listed(["a", "b"]), listed([*"abcdefg"])
    ('a, b', 'a, b, c, d, e and 2 more')
    """
    named = ", ".join(shown[:MOST_NAMED])
    n_more = len(shown) - MOST_NAMED
    return f"{named} and {n_more:,} more" if n_more > 0 else named
