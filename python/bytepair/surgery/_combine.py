"""Joining two vocabularies: the first stays as it is, and the tokens of the second are added.

A token of the second that the first encodes to two tokens gets a merge of these, behind all others. So
the guarantees of an extension hold here too. A token that is encoded to more needs helpers.

Left out: the added tokens of the second, its byte-fallback tokens and its unknown token.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bytepair import _core
from bytepair._plurals import amount
from bytepair._results import Result
from bytepair._tokenizer import Tokenizer

from ._extend import base_of
from ._own_texts import whole_characters
from ._surgery import Surgery
from ._tokens import names_of, quoted

if TYPE_CHECKING:
    from bytepair._io.files import StrPath

__all__ = ["MergingReport", "OtherToken", "merge_vocabularies"]

REASONS = {
    "needs_helpers": "would need helper tokens on the way to them",
    "cut": "are cut by the pattern of the base",
    "outside_alphabet": "have units that the base has no token for",
    "name_taken": "are written like other tokens of the base",
    "changed": "are changed by the normalizer of the base",
    "empty": "have no text",
}
"""Why a token of the other tokenizer is missing from the result, by outcome."""

MOST_NAMED = 5


@dataclass(frozen=True)
class OtherToken:
    """A token of the other tokenizer, and what became of it.

    Attributes
    ----------
    id, text
        Its id in the other tokenizer, and its text with marks.
    outcome
        ``"known"``, ``"added"``, ``"needs_helpers"``, ``"cut"`` (the pattern of the base cuts it
        wherever it stands), ``"changed"`` (no text that the base has normalized contains it), ``"outside_alphabet"`` (the base has no token for one of its units) or
        ``"name_taken"`` (another token is written like it, or is on the way).
    new_id
        Its id in the result; ``None`` if it has none.
    parts
        The ids that the base, with all tokens added before it, encoded it to.
    helpers
        The ids of the helpers that were added for it.
    """

    id: int
    text: str
    outcome: str
    new_id: int | None
    parts: tuple[int, ...]
    helpers: tuple[int, ...]


@dataclass(frozen=True, repr=False)
class MergingReport(Result):
    """What :func:`bytepair.surgery.merge_vocabularies` did.

    Attributes
    ----------
    first_id, added
        The id of the first new token, and how many there are; helpers count, too.
    helpers
        The ids of new tokens that the other tokenizer does not have.
    others
        Each text token of the other tokenizer, in the order of its ids there.
    """

    first_id: int
    added: int
    helpers: tuple[int, ...]
    others: tuple[OtherToken, ...]

    @property
    def other_ids(self) -> dict[int, int]:
        """The id in the result of each text token of the other tokenizer, if it has one."""
        found = ((other.id, other.new_id) for other in self.others)
        return {id_: new_id for id_, new_id in found if new_id is not None}

    @property
    def outcomes(self) -> dict[str, int]:
        """How many tokens of the other tokenizer have each outcome."""
        return dict(sorted(Counter(other.outcome for other in self.others).items()))

    @property
    def lines(self) -> tuple[str, ...]:
        """What was done and why, for a reader."""
        outcomes = self.outcomes
        lines = [
            f"{amount(len(self.others), 'token')} of text in the other: "
            f"{outcomes.get('known', 0):,} known, {outcomes.get('added', 0):,} added"
        ]
        if self.added:
            last_id = self.first_id + self.added - 1
            helpers = f", {len(self.helpers):,} of them helpers" if self.helpers else ""
            ids = (
                f"{self.first_id:,} to {last_id:,}"
                if self.added > 1
                else f"{last_id:,}"
            )
            lines.append(
                f"{amount(self.added, 'token')} added, "
                f"{'ids' if self.added > 1 else 'id'} {ids}{helpers}; "
                f"{amount(self.first_id, 'id')} unchanged"
            )
        else:
            lines.append(f"nothing added; {amount(self.first_id, 'id')} unchanged")
        for outcome, reason in REASONS.items():
            names = [o.text for o in self.others if o.outcome == outcome]
            if names:
                shown = ", ".join(map(quoted, names[:MOST_NAMED]))
                more = len(names) - MOST_NAMED
                others = f" and {more:,} more" if more > 0 else ""
                lines.append(f"{len(names):,} {reason}: {shown}{others}")
        return tuple(lines)

    def to_json(self) -> dict[str, Any]:
        """Give everything as JSON holds it."""
        return {
            "first_id": self.first_id,
            "added": self.added,
            "helpers": list(self.helpers),
            "outcomes": self.outcomes,
            "others": [
                {
                    "id": other.id,
                    "token": other.text,
                    "outcome": other.outcome,
                    "new_id": other.new_id,
                    "parts": list(other.parts),
                    "helpers": list(other.helpers),
                }
                for other in self.others
            ],
        }


def merge_vocabularies(
    base: Tokenizer | StrPath,
    other: Tokenizer | StrPath,
    *,
    allow_helpers: bool = False,
) -> Surgery[MergingReport]:
    r"""Add the tokens of another tokenizer to a base whose ids all stay.

    Tokens are added in the order of the other's merges. Each is taken as text, with the marks of the
    base and its character for a space. A text's new encoding is the old one with some neighbours joined.

    Parameters
    ----------
    base
        The tokenizer that stays as it is, or its path, as for :func:`extend`.
    other
        The tokenizer whose tokens are added, or its path. Its added tokens, byte-fallback tokens and
        unknown token are left out.
    allow_helpers
        Whether helpers may be added for tokens that are encoded to more than two tokens: a token for
        each of their beginnings. The report names them.

    >>> import bytepair
    >>> from bytepair import surgery
    >>> base = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> other = bytepair.train_from_iterator(["wide wider"], vocab_size=259)
    >>> found = surgery.merge_vocabularies(base, other)
    >>> print(*found.report.lines, sep="\n")
    259 tokens of text in the other: 256 known, 3 added
    3 tokens added, ids 258 to 260; 258 ids unchanged
    >>> found.tokenizer.tokenize("low wide")
    ['low', ' ', 'wide']

    Raises
    ------
    TokenizerError
        One tokenizer marks the beginning or the end of words and the other does not, or the base
        could encode a piece to a new token that was another before.
    """
    tokenizer, source = base_of(base)
    second, _ = base_of(other)
    rest, lost = _without_lost(tokenizer, second)
    core, rows = _core.merge_vocabularies(tokenizer, rest, allow_helpers)
    rows += [None] * (second.n_vocab - len(rows))  # the last ids may have gone
    for id_, outcome in lost.items():
        rows[id_] = (outcome, None, [], [])
    merged = Tokenizer(core)
    ids = [id_ for id_, row in enumerate(rows) if row is not None]
    names = names_of(second, ids)
    others = tuple(
        OtherToken(id_, name, row[0], row[1], tuple(row[2]), tuple(row[3]))
        for id_, name, row in zip(ids, names, filter(None, rows), strict=True)
    )
    new = range(tokenizer.n_vocab, merged.n_vocab)
    others = _with_helpers_of_other(others, new.start)
    of_other = {one.new_id for one in others}
    helpers = tuple(id_ for id_ in new if id_ not in of_other)
    report = MergingReport(new.start, len(new), helpers, others)
    return Surgery(merged, tokenizer, tuple(range(new.start)), report, source)


def _with_helpers_of_other(
    others: tuple[OtherToken, ...], first_id: int
) -> tuple[OtherToken, ...]:
    """Call a token added that was a helper before it was its turn, so that it was known by then."""
    added = {other.new_id for other in others if other.outcome == "added"}
    found = []
    for other in others:
        is_new = other.new_id is not None and other.new_id >= first_id
        if other.outcome == "known" and is_new and other.new_id not in added:
            added.add(other.new_id)
            other = replace(other, outcome="added")
        found.append(other)
    return tuple(found)


def _without_lost(
    base: Tokenizer, other: Tokenizer
) -> tuple[Tokenizer, dict[int, str]]:
    """Leave out tokens with part of a character beside text that the base always cuts or changes.

    The core judges tokens of whole characters. Those that are built on a token that is left out have
    its text, so that this applies to them as well.
    """
    if not base.inspect().settings["is_bytes"]:  # it has no parts of characters
        return other, {}
    tokens = other.inspect().tokens()
    reasons = _core.why_it_stays(other, [token.id for token in tokens])
    wholes = {
        token.id: whole
        for token, reason in zip(tokens, reasons, strict=True)
        if token.kind == "text"
        and reason is None
        and (whole := whole_characters(token.bytes))
        and whole != token.bytes
    }
    why = _core.why_in_no_piece(base, list(wholes.values()))
    outcomes = dict(zip(wholes, why, strict=True))
    lost: dict[int, str] = {}
    for outcome in ("changed", "cut"):
        named = [id_ for id_ in wholes if outcomes[id_] == outcome and id_ not in lost]
        if named:
            (core, _), gone, _ = _core.remove(other, named, "cascade", "holes")
            other, lost = Tokenizer(core), {**lost, **dict.fromkeys(gone, outcome)}
    return other, lost
