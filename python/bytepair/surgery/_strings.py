"""Extending a vocabulary by given strings, and what became of each.

A string that is encoded to two tokens gets a merge of these, behind all others; the core does this
(the rule of two). Strings are added from the shortest to the longest, those of equal length in the
order of their bytes. So the shorter strings already are tokens when a longer one is added, and the
result does not depend on the order in which they are given.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from bytepair import _core
from bytepair._plurals import amount
from bytepair._results import Result
from bytepair._tokenizer import Tokenizer
from bytepair.errors import TrainingError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["StringRow", "StringsReport", "extend_by_strings"]

OUTCOMES = {
    "added": "added",
    "added_whole": "added",
    "known": "one token already",
    "repeated": "given before",
    "needs_helpers": "in need of helpers",
    "outside_alphabet": "with characters that have no token",
    "changed": "changed by the normalizer",
    "cut": "cut by the split pattern or an added token",
    "name_taken": "written like another token",
    "not_text": "no valid text",
    "empty": "empty",
}
"""How the report describes the strings of each outcome, in its order."""
ADDED = ("added", "added_whole")


@dataclass(frozen=True)
class StringRow:
    """What became of a string.

    Attributes
    ----------
    text
        The string.
    outcome
        ``added``; ``added_whole``, without a merge, if the tokenizer looks up whole pieces;
        ``known``; ``repeated``, if it was given before; ``needs_helpers``; ``outside_alphabet``;
        ``changed``, by the normalizer; ``cut``, by the split pattern or by an added token;
        ``name_taken``, if another token is written like it; ``not_text``; ``empty``.
    id
        Its token, if it has one.
    parts
        The ids that it was encoded to just before it was added.
    helpers
        The helpers that were added for it. If helpers are not allowed: those that it would need
        besides those of shorter strings. Bytes that are not text are written with escapes.
    """

    text: str
    outcome: str
    id: int | None
    parts: tuple[int, ...]
    helpers: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Give the row as JSON holds it."""
        return asdict(self)


@dataclass(frozen=True, repr=False)
class StringsReport(Result):
    """What :func:`bytepair.surgery.extend` did with strings.

    Attributes
    ----------
    rows
        What became of each string, in the order in which they were given.
    first_id
        The id of the first new token; the others follow.
    added
        How many tokens were added, helpers among them.
    helpers
        How many of these are helpers.
    helpers_needed
        How many more would be needed for the strings that need them.
    """

    rows: tuple[StringRow, ...]
    first_id: int
    added: int
    helpers: int
    helpers_needed: int

    @property
    def outcomes(self) -> dict[str, int]:
        """How many strings have each outcome."""
        found = Counter(row.outcome for row in self.rows)
        return {name: found[name] for name in OUTCOMES if found[name]}

    @property
    def lines(self) -> tuple[str, ...]:
        """What was done and why, for a reader."""
        unchanged = f"{amount(self.first_id, 'id')} unchanged"
        last_id = self.first_id + self.added - 1
        ids = (
            f"ids {self.first_id:,} to {last_id:,}"
            if self.added > 1
            else f"id {last_id:,}"
        )
        helpers = f" ({amount(self.helpers, 'helper')} among them)"
        first = (
            f"{amount(self.added, 'token')} added{helpers * bool(self.helpers)}, {ids}"
            if self.added
            else "nothing added"
        )
        said: Counter[str] = Counter()
        for outcome, n_strings in self.outcomes.items():
            said[OUTCOMES[outcome]] += n_strings
        strings = ", ".join(f"{n:,} {what}" for what, n in said.items())
        lines = [
            f"{first}; {unchanged}",
            f"{amount(len(self.rows), 'string')}: {strings}",
        ]
        if self.helpers_needed:
            lines.append(
                f"{amount(self.helpers_needed, 'helper')} would be needed; "
                "allow_helpers=True adds them"
            )
        return tuple(lines)

    def to_json(self) -> dict[str, Any]:
        """Give the numbers and the rows as JSON holds them."""
        return {
            "added": self.added,
            "first_id": self.first_id,
            "helpers": self.helpers,
            "helpers_needed": self.helpers_needed,
            "outcomes": self.outcomes,
            "strings": [row.to_json() for row in self.rows],
        }


def extend_by_strings(
    base: Tokenizer, strings: Iterable[str], *, allow_helpers: bool
) -> tuple[Tokenizer, StringsReport]:
    """Add a token for each string that can have one."""
    given = _listed(strings)
    texts = sorted({text for text in given if _is_text(text)}, key=_by_length)
    core, found = _core.extend_with_strings(base, texts, allow_helpers)
    extended = Tokenizer(core)
    rows: dict[str, StringRow] = {
        text: StringRow(text, outcome, id_, tuple(parts), _written(extended, helpers))
        for text, (outcome, id_, parts, helpers) in zip(texts, found, strict=True)
    }
    n_needed = _name_needed(extended, rows)
    n_added = extended.n_vocab - base.n_vocab
    n_strings = _n_new(found, base.n_vocab)
    report = StringsReport(
        rows=tuple(_in_order(given, rows)),
        first_id=base.n_vocab,
        added=n_added,
        helpers=n_added - n_strings,
        helpers_needed=n_needed,
    )
    return extended, report


def _listed(strings: Iterable[str]) -> list[str]:
    if isinstance(strings, (str, bytes)):
        message = "strings must be a list of strings, not one string"
        raise TypeError(message)
    given = list(strings)
    for place, text in enumerate(given):
        if not isinstance(text, str):
            message = f"strings[{place}] is {type(text).__name__}, not a string"
            raise TypeError(message)
    if not given:
        message = "strings: the list is empty"
        raise TrainingError(message)
    return given


def _by_length(text: str) -> tuple[int, bytes]:
    return len(text.encode()), text.encode()


def _is_text(text: str) -> bool:
    """Whether a string has no half of a surrogate pair, which is no character."""
    return not any("\ud800" <= character < "\ue000" for character in text)


def _n_new(found: Iterable[tuple[str, int | None, Any, Any]], first_id: int) -> int:
    """Count the strings that got a new id. One that no merge made may have had its id before."""
    ids = (id_ for outcome, id_, *_rest in found if outcome in ADDED)
    return sum(id_ is not None and id_ >= first_id for id_ in ids)


def _written(tokenizer: Tokenizer, ids: Sequence[int]) -> tuple[str, ...]:
    """Give tokens as text; bytes that are not text are escaped."""
    return tuple(
        token.bytes.decode(errors="backslashreplace")
        for token in tokenizer.inspect().tokens(ids)
    )


def _name_needed(extended: Tokenizer, rows: dict[str, StringRow]) -> int:
    """Name in each row the helpers that would have to be added; give their number."""
    texts = [row.text for row in rows.values() if row.outcome == "needs_helpers"]
    if not texts:
        return 0
    core, found = _core.extend_with_strings(extended, texts, True)
    helped = Tokenizer(core)
    for text, (*_rest, helpers) in zip(texts, found, strict=True):
        row, names = rows[text], _written(helped, helpers)
        rows[text] = StringRow(text, row.outcome, row.id, row.parts, names)
    return helped.n_vocab - extended.n_vocab - _n_new(found, extended.n_vocab)


def _in_order(given: Iterable[str], rows: dict[str, StringRow]) -> Iterable[StringRow]:
    """Give the row of each string; one that was given before is repeated."""
    seen: set[str] = set()
    for text in given:
        if text not in rows:
            yield StringRow(text, "not_text", None, (), ())
        elif text in seen:
            yield StringRow(text, "repeated", rows[text].id, (), ())
        else:
            yield rows[text]
        seen.add(text)
