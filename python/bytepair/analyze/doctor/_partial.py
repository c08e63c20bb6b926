"""Proofs that no UTF-8 text is encoded with a token that has part of a character.

Such a token is always beside the rest of its character. There are finitely many texts that
complete it to whole characters, and each piece with the token contains one of them. A completion
is impossible if the normalizer changes it, if the pattern cuts it, or if the token does not stay
as it is beside any token that begins or ends with the rest (``docs/explanation/reachability.md``).
Merges prove nothing in vocabularies with marks or without some bytes. Costs a merge for each
pair of neighbours.
"""

from codecs import getincrementaldecoder
from collections import defaultdict
from functools import cached_property
from itertools import islice

from bytepair import _core

from ._subject import BYTE, NOT_IN_UTF8, Subject, is_utf8
from ._texts import CONTINUATIONS, completions

__all__ = ["Partial"]

MOST_COMPLETIONS = 300_000
"""A token with more completions is not examined."""


class Partial:
    """The neighbours of tokens with part of a character."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.are_intact: dict[tuple[int, int], bool] = {}

    def reason(self, id_: int) -> str | None:
        """Explain why no UTF-8 text is encoded with a token; ``None`` if this is not proven."""
        subject = self.subject
        own = subject.tokens[id_][1]
        texts = list(islice(completions(own), MOST_COMPLETIONS + 1))
        if not texts:
            return "no UTF-8 text has these bytes"
        if len(texts) > MOST_COMPLETIONS or subject.may_drop_units:
            return None
        why = _core.why_in_no_piece(subject.tokenizer, texts)
        left = [text for text, reason in zip(texts, why, strict=True) if not reason]
        if left and not self._has_units_of_bytes:
            return None
        if any(self._is_possible(id_, text) for text in left):
            return None
        numbers = {
            "changed by the normalizer": why.count("changed"),
            "cut by the pattern": why.count("cut"),
            "merged differently": len(left),
        }
        parts = (f"{number:,} {what}" for what, number in numbers.items() if number)
        return f"{len(texts):,} completions: {', '.join(parts)}"

    @cached_property
    def _has_units_of_bytes(self) -> bool:
        """Whether each byte of a text is a unit without marks."""
        rules = self.subject.rules
        has_marks = rules["continuing_prefix"] or rules["end_mark"]
        there = {
            own[0] for kind, own in self.subject.tokens if kind == 0 and len(own) == 1
        }
        return rules["is_bytes"] and not has_marks and len(there | NOT_IN_UTF8) == 256

    @cached_property
    def _neighbours(self) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
        """The tokens that merges make, by their first and by their last byte."""
        unmade, _ = self.subject.unreached
        by_first, by_last = defaultdict(list), defaultdict(list)
        for id_, (kind, own) in enumerate(self.subject.tokens):
            if kind < BYTE and own and id_ not in unmade:
                by_first[own[0]].append(id_)
                by_last[own[-1]].append(id_)
        return by_first, by_last

    def _is_possible(self, id_: int, text: bytes) -> bool:
        """Whether tokens may make up the rest of a completion."""
        own = self.subject.tokens[id_][1]
        return any(
            self._is_followed(id_, text[start + len(own) :])
            and self._is_preceded(id_, text[:start])
            for start in range(len(text) - len(own) + 1)
            if text.startswith(own, start)
        )

    def _is_followed(self, id_: int, rest: bytes) -> bool:
        """Whether a token stays as it is before tokens that begin with these bytes."""
        if not rest:
            return True
        for other in self._neighbours[0].get(rest[0], ()):
            own = self.subject.tokens[other][1]
            goes_on = own.startswith(rest) and _may_begin(own[len(rest) :])
            if (
                (goes_on or rest.startswith(own))
                and self._is_intact(id_, other)
                and self._is_followed(other, rest[len(own) :])
            ):
                return True
        return False

    def _is_preceded(self, id_: int, rest: bytes) -> bool:
        """Whether a token stays as it is after tokens that end with these bytes."""
        if not rest:
            return True
        for other in self._neighbours[1].get(rest[-1], ()):
            own = self.subject.tokens[other][1]
            goes_on = own.endswith(rest) and _may_end(own[: -len(rest)])
            if (
                (goes_on or rest.endswith(own))
                and self._is_intact(other, id_)
                and self._is_preceded(other, rest[: -len(own)])
            ):
                return True
        return False

    def _is_intact(self, left: int, right: int) -> bool:
        """Whether the units of two tokens are merged to these two."""
        pair = left, right
        if pair not in self.are_intact:
            merged = _core.merged_units(self.subject.tokenizer, list(pair))
            self.are_intact[pair] = merged == [left, right]
        return self.are_intact[pair]


def _may_begin(part: bytes) -> bool:
    r"""Whether a text may begin with these bytes.

    >>> _may_begin(b"a\xc3"), _may_begin(b"\xb8"), _may_begin(b"")
    (True, False, True)
    """
    try:
        getincrementaldecoder("utf-8")().decode(part)
    except UnicodeDecodeError:
        return False
    return True


def _may_end(part: bytes) -> bool:
    r"""Whether a text may end with these bytes.

    >>> _may_end(b"\xb8a"), _may_end(b"a\xc3"), _may_end(b"")
    (True, False, True)
    """
    whole = part.lstrip(CONTINUATIONS)
    return len(part) - len(whole) <= 3 and is_utf8(whole)
