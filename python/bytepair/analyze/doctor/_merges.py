"""BP201 to BP204: bytes without a token, and merges that never have an effect."""

from collections.abc import Iterator

from ._finding import Finding, FoundToken
from ._subject import BYTE, CONTINUES, ENDS, NOT_IN_UTF8, Subject

__all__ = ["early", "missing_bytes", "twice", "without_part"]


def missing_bytes(subject: Subject) -> Iterator[Finding]:
    """Look for bytes without a token."""
    rules = subject.rules
    kinds = [BYTE] if rules["byte_fallback"] else []
    if rules["is_bytes"]:
        kinds = [0]
        kinds += [kind | CONTINUES for kind in kinds if rules["continuing_prefix"]]
        kinds += [kind | ENDS for kind in kinds if rules["end_mark_is_suffix"]]
    there = {(kind, own[0]) for kind, own in subject.tokens if len(own) == 1}
    missing = {
        byte for kind in kinds for byte in range(256) if (kind, byte) not in there
    }
    found = [
        FoundToken(None, f"0x{byte:02X}", subject.fate_of_missing)
        for byte in sorted(missing - NOT_IN_UTF8)
    ]
    yield Finding("BP201", tuple(found))


def early(subject: Subject) -> Iterator[Finding]:
    """Look for tokens whose merges all come before the merges that make one of their parts.

    Files made from SentencePiece pieces list all ways to make a token; some of them are late.
    """
    ranks = _ranks(subject)
    first: dict[int, int] = {}
    for rank, (_, _, id_) in zip(ranks, subject.merges, strict=True):
        first[id_] = min(rank, first.get(id_, rank))
    places: dict[int, int] = {}
    fine = set()
    for place, (left, right, id_) in enumerate(subject.merges):
        rank = ranks[place]
        if max(first.get(left, rank), first.get(right, rank)) > rank:
            places.setdefault(id_, place)
        else:
            fine.add(id_)
    found = [
        _merge(subject, place, "a part is made later")
        for id_, place in places.items()
        if id_ not in fine
    ]
    yield Finding("BP202", tuple(found))


def without_part(subject: Subject) -> Iterator[Finding]:
    """Look for merges of a token that no merges lead to."""
    unmade, _ = subject.unreached
    found = []
    for place, (left, right, _) in enumerate(subject.merges):
        if left in unmade or right in unmade:
            part = subject.written[left if left in unmade else right]
            found.append(_merge(subject, place, f"no merges lead to {part!r}"))
    yield Finding("BP203", tuple(found))


def twice(subject: Subject) -> Iterator[Finding]:
    """Look for merges of a pair that is merged again later."""
    ranks = _ranks(subject)
    last = {merge[:2]: place for place, merge in enumerate(subject.merges)}
    found = [
        _merge(subject, place, f"the merge with rank {ranks[last[merge[:2]]]:,} counts")
        for place, merge in enumerate(subject.merges)
        if place != last[merge[:2]]
    ]
    yield Finding("BP204", tuple(found))


def _merge(subject: Subject, place: int, detail: str) -> FoundToken:
    left, right, id_ = subject.merges[place]
    parts = f"{subject.written[left]} + {subject.written[right]}"
    return FoundToken(id_, parts, f"rank {_ranks(subject)[place]:,}; {detail}")


def _ranks(subject: Subject) -> list[int] | range:
    """Return the rank of each merge: the lowest goes first."""
    return subject.rules["priorities"] or range(len(subject.merges))
