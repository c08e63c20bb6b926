"""Adding given tokens to a vocabulary: strings, or the tokens of another tokenizer. All ids stay.

A string that is encoded to two tokens gets a merge of these, behind all others; the core does this
(the rule of two). So the guarantees of an extension hold here too. A string that is encoded to more
needs helpers. Strings are added from the shortest to the longest, those of equal length in the order of
their bytes, so the result does not depend on the order in which they are given. Tokens of another
tokenizer are added in the order of its merges.

Left out: the added tokens of the other tokenizer, its byte-fallback tokens and its unknown token.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol, TypeAlias

from bytepair import _core
from bytepair._labels import argument
from bytepair._plurals import amount
from bytepair._results import Result
from bytepair._tokenizer import Tokenizer
from bytepair.analyze._compare.own_texts import whole_characters
from bytepair.errors import TrainingError

from ._reports import added_line
from ._surgery import Base, Given, Surgery
from ._tokens import names_of

__all__ = ["Addition", "AdditionReport", "add_strings", "merge_vocabularies"]

Found: TypeAlias = Sequence["tuple[str, int | None, list[int], list[int]] | None"]
"""What the core says of each text: the outcome, the id, the parts and the ids of helpers."""


class Adding(Protocol):
    """Adds the same texts to any tokenizer, with helpers or without."""

    def __call__(
        self, one: Tokenizer, *, may_help: bool
    ) -> tuple[_core.Tokenizer, Found]: ...


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
"""How the report describes the texts of each outcome, in its order."""


@dataclass(frozen=True)
class Addition:
    """The outcome for a text.

    Attributes
    ----------
    text
        The string; the token of the other tokenizer, with marks.
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
        besides those of texts before it. Bytes that are not text are written with escapes.
    other_id
        Its id in the other tokenizer.
    """

    text: str
    outcome: str
    id: int | None = None
    parts: tuple[int, ...] = ()
    helpers: tuple[str, ...] = ()
    other_id: int | None = None


@dataclass(frozen=True, repr=False)
class AdditionReport(Result):
    """What :func:`add_strings` or :func:`merge_vocabularies` did.

    Attributes
    ----------
    noun
        What was added: ``"string"`` or ``"token"``.
    rows
        What became of each string, in the order in which they were given; of each text token of the
        other tokenizer, in the order of its ids.
    first_id
        The id of the first new token; the others follow.
    added
        How many tokens were added, helpers among them.
    helpers
        How many of these are helpers.
    helpers_needed
        How many more would be needed for the texts that need them.
    """

    noun: str
    rows: tuple[Addition, ...]
    first_id: int
    added: int
    helpers: int
    helpers_needed: int

    @property
    def outcomes(self) -> dict[str, int]:
        """How many texts have each outcome."""
        found = Counter(row.outcome for row in self.rows)
        return {name: found[name] for name in OUTCOMES if found[name]}

    @property
    def other_ids(self) -> dict[int, int]:
        """The id in the result of each text token of the other tokenizer, if it has one."""
        rows = ((row.other_id, row.id) for row in self.rows)
        return {old: new for old, new in rows if old is not None and new is not None}

    def _texts(self) -> Iterable[str]:
        from ._draw import row_lines

        return (*row_lines(self), *self.lines)

    @property
    def lines(self) -> tuple[str, ...]:
        """The changes and their reasons in lines, for a reader."""
        said: Counter[str] = Counter()
        for outcome, n_texts in self.outcomes.items():
            said[OUTCOMES[outcome]] += n_texts
        texts = ", ".join(f"{n:,} {what}" for what, n in said.items())
        lines = [
            added_line(self.first_id, self.added, self.helpers),
            f"{amount(len(self.rows), self.noun)}: {texts}",
        ]
        if self.helpers_needed:
            lines.append(
                f"{amount(self.helpers_needed, 'helper')} would be needed; "
                f"{argument('allow_helpers', value=True)} adds them"
            )
        return tuple(lines)

    def to_json(self) -> dict[str, Any]:
        """Return the numbers and the rows for JSON."""
        return {**asdict(self), "outcomes": self.outcomes}


def add_strings(
    tokenizer: Given, strings: Iterable[str], *, allow_helpers: bool = False
) -> Surgery[AdditionReport]:
    """Add a token for each string that can have one.

    A text's new encoding is the old one with some neighbours joined.

    Parameters
    ----------
    tokenizer
        The tokenizer, or its path, as for :func:`extend`.
    strings
        Strings that become one token each: whole pieces as :meth:`bytepair.Tokenizer.split` returns
        them, including a leading space. A string that is encoded to two tokens becomes one. The
        shortest are added first, whatever the order of the list. ``report.rows`` tells what became
        of each.
    allow_helpers
        Whether helpers may be added for strings of more than two tokens: a token for each of their
        beginnings. Without this, the report names them.

    >>> import bytepair
    >>> from bytepair import surgery
    >>> base = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> words = surgery.add_strings(base, ["lower", "wi"])
    >>> [(row.text, row.outcome) for row in words.report.rows]
    [('lower', 'needs_helpers'), ('wi', 'added')]

    Raises
    ------
    TrainingError
        The list is empty.
    """
    given = _listed(strings)
    texts = sorted({text for text in given if _is_text(text)}, key=_by_length)
    rows = [Addition(text, "") for text in texts]

    def add(one: Tokenizer, *, may_help: bool) -> tuple[_core.Tokenizer, Found]:
        return _core.extend_with_strings(one, texts, may_help)

    found = _added(Base.of(tokenizer), "string", rows, add, allow_helpers=allow_helpers)
    by_text = {row.text: row for row in found.report.rows}
    report = replace(found.report, rows=tuple(_in_order(given, by_text)))
    return replace(found, report=report)


def merge_vocabularies(
    base: Given, other: Given, *, allow_helpers: bool = False
) -> Surgery[AdditionReport]:
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
        As for :func:`add_strings`.

    >>> import bytepair
    >>> from bytepair import surgery
    >>> base = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> other = bytepair.train_from_iterator(["wide wider"], vocab_size=259)
    >>> found = surgery.merge_vocabularies(base, other)
    >>> print(*found.report.lines, sep="\n")
    3 tokens added, ids 258 to 260; 258 ids unchanged
    259 tokens: 3 added, 256 one token already
    >>> found.tokenizer.tokenize("low wide")
    ['low', ' ', 'wide']

    Raises
    ------
    TokenizerError
        One tokenizer marks the beginning or the end of words and the other does not, or the base
        could encode a piece to a new token that was another before.
    """
    first, second = Base.of(base), Base.of(other).tokenizer
    rest, lost = _without_lost(first.tokenizer, second)
    tokens = second.inspect().tokens()
    rows = [Addition(str(token), "", other_id=token.id) for token in tokens]

    def add(one: Tokenizer, *, may_help: bool) -> tuple[_core.Tokenizer, Found]:
        core, found = _core.merge_vocabularies(one, rest, may_help)
        found += [None] * (len(rows) - len(found))  # the last ids may be lost
        for id_, outcome in lost.items():
            found[id_] = outcome, None, [], []
        return core, found

    return _added(first, "token", rows, add, allow_helpers=allow_helpers)


def _added(
    base: Base, noun: str, rows: list[Addition], add: Adding, *, allow_helpers: bool
) -> Surgery[AdditionReport]:
    """Add texts, and report what became of them, in the order of the rows."""
    first_id = base.tokenizer.n_vocab
    extended, told = _carried_out(base.tokenizer, rows, add, may_help=allow_helpers)
    told, n_needed = _in_turn(told, first_id), 0
    if any(row.outcome == "needs_helpers" for row in told):
        helped, with_helpers = _carried_out(extended, rows, add, may_help=True)
        told = _with_names(told, with_helpers)
        n_more = helped.n_vocab - extended.n_vocab
        n_needed = n_more - _n_new(with_helpers, extended.n_vocab)
    n_added = extended.n_vocab - first_id
    n_helpers = n_added - _n_new(told, first_id)
    report = AdditionReport(noun, tuple(told), first_id, n_added, n_helpers, n_needed)
    return base.extended(extended, report)


def _carried_out(
    tokenizer: Tokenizer, rows: list[Addition], add: Adding, *, may_help: bool
) -> tuple[Tokenizer, list[Addition]]:
    """Add texts, and fill in what became of each; tokens that are no text are left out."""
    core, found = add(tokenizer, may_help=may_help)
    extended, told = Tokenizer(core), []
    for row, one in zip(rows, found, strict=True):
        if one is not None:
            outcome, id_, parts, ids = one
            helpers = tuple(names_of(extended, ids))
            told.append(
                Addition(row.text, outcome, id_, tuple(parts), helpers, row.other_id)
            )
    return extended, told


def _with_names(rows: list[Addition], with_helpers: list[Addition]) -> list[Addition]:
    """Name the helpers that would have to be added."""
    return [
        replace(row, helpers=other.helpers) if row.outcome == "needs_helpers" else row
        for row, other in zip(rows, with_helpers, strict=True)
    ]


def _in_turn(rows: list[Addition], first_id: int) -> list[Addition]:
    """Call a text added that was a helper before it was its turn, so that it was known by then."""
    added = {row.id for row in rows if row.outcome == "added"}
    found = []
    for row in rows:
        is_new = row.id is not None and row.id >= first_id
        if row.outcome == "known" and is_new and row.id not in added:
            added.add(row.id)
            row = replace(row, outcome="added")
        found.append(row)
    return found


def _n_new(rows: Iterable[Addition], first_id: int) -> int:
    """Count the new ids of texts. A text that no merge made may have had its id before."""
    return len({row.id for row in rows if row.id is not None and row.id >= first_id})


# Strings


def _listed(strings: Iterable[str]) -> Sequence[str]:
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


def _in_order(given: Iterable[str], rows: dict[str, Addition]) -> Iterable[Addition]:
    """Return the row of each string; one that was given before is repeated."""
    seen: set[str] = set()
    for text in given:
        if text not in rows:
            yield Addition(text, "not_text")
        elif text in seen:
            yield Addition(text, "repeated", rows[text].id)
        else:
            yield rows[text]
        seen.add(text)


# Tokens of another tokenizer


def _without_lost(
    base: Tokenizer, other: Tokenizer
) -> tuple[Tokenizer, dict[int, str]]:
    """Leave out tokens with part of a character beside text that the base always cuts or changes.

    The core judges tokens of whole characters. Those that are built on a token that is left out have
    its text, so that this applies to them as well.
    """
    if not base.inspect().settings["is_bytes"]:  # it has no parts of characters
        return other, {}
    tokens = [token for token in other.inspect().tokens() if token.kind == "text"]
    reasons = _core.why_it_stays(other, [token.id for token in tokens])
    wholes = {
        token.id: whole
        for token, reason in zip(tokens, reasons, strict=True)
        if reason is None
        and (whole := whole_characters(token.bytes))
        and whole != token.bytes
    }
    outcomes = _core.why_in_no_piece(base, list(wholes.values()))
    lost: dict[int, str] = {}
    for outcome in ("changed", "cut"):
        pairs = zip(wholes, outcomes, strict=True)
        named = [id_ for id_, why in pairs if why == outcome and id_ not in lost]
        if named:
            (core, _), gone, _ = _core.remove(other, named, "cascade", "holes")
            other, lost = Tokenizer(core), {**lost, **dict.fromkeys(gone, outcome)}
    return other, lost
