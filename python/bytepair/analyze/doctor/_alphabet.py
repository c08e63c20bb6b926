"""BP201 to BP204: bytes without a token, and merges that never have an effect."""

from collections import Counter
from collections.abc import Iterator

from ._finding import Finding, FoundToken
from ._subject import BYTE, CONTINUES, ENDS, NOT_IN_UTF8, Subject, plain

__all__ = ["find"]


def find(subject: Subject) -> Iterator[Finding]:
    """Look for missing bytes, and for merges in an impossible order or without effect."""
    yield from _missing_bytes(subject)
    yield from _early(subject)
    yield from _dead(subject)
    yield from _twice(subject)


def _missing_bytes(subject: Subject) -> Iterator[Finding]:
    rules = subject.rules
    if rules["is_bytes"]:
        kinds = [0]
        kinds += [kind | CONTINUES for kind in kinds if rules["continuing_prefix"]]
        kinds += [kind | ENDS for kind in kinds if rules["end_mark_is_suffix"]]
    elif rules["byte_fallback"]:
        kinds = [BYTE]
    else:
        return
    there = {(kind, own[0]) for kind, own in subject.tokens if len(own) == 1}
    missing = sorted(
        {byte for kind in kinds for byte in range(256) if (kind, byte) not in there}
        - NOT_IN_UTF8
    )
    if not missing:
        return
    fate = "are dropped" if rules["drops_missing"] else "are an error"
    if rules["unknown"] is not None:
        fate = f"become {rules['unknown']}"
    if not rules["is_bytes"]:
        fate = f"make their characters as if there were no byte tokens: these {fate}"
    message = f"these bytes of UTF-8 have no token; where a text has them, they {fate}"
    if not rules["is_bytes"]:
        message = (
            "these byte tokens are missing; a character outside the alphabet that needs one "
            f"is not encoded as bytes, and characters without bytes {fate.split(': these ')[1]}"
        )
    yield Finding(
        "BP201", message, tuple(FoundToken(None, f"0x{byte:02X}") for byte in missing)
    )


def _merge(subject: Subject, place: int, detail: str) -> FoundToken:
    left, right, id_ = subject.merges[place]
    parts = " + ".join(plain(subject.written[part]) for part in (left, right))
    return FoundToken(id_, parts, f"rank {subject.ranks[place]:,}{detail}")


def _first_ranks(subject: Subject) -> dict[int, int]:
    """Give the rank of the first merge that makes a token."""
    first: dict[int, int] = {}
    for rank, (_, _, id_) in zip(subject.ranks, subject.merges, strict=True):
        first[id_] = min(rank, first.get(id_, rank))
    return first


def _early(subject: Subject) -> Iterator[Finding]:
    """Look for tokens whose merges all come before the merges that make one of their parts.

    Files made from SentencePiece pieces list all ways to make a token; some of them are late.
    """
    first = _first_ranks(subject)
    early: dict[int, int] = {}
    fine = set()
    ranked = zip(subject.ranks, subject.merges, strict=True)
    for place, (rank, (left, right, id_)) in enumerate(ranked):
        if max(first.get(left, rank), first.get(right, rank)) > rank:
            early.setdefault(id_, place)
        else:
            fine.add(id_)
    found = tuple(
        _merge(subject, place, "; a part is made later")
        for id_, place in early.items()
        if id_ not in fine
    )
    if found:
        message = (
            "these merges, the only ones that make their tokens, come before the merge that "
            "makes one of their parts; training never gives this order"
        )
        yield Finding("BP202", message, found)


def _dead(subject: Subject) -> Iterator[Finding]:
    unmade = subject.unreached[0]
    found = tuple(
        _merge(subject, place, f"; no merges lead to {plain(subject.written[part])!r}")
        for place, (left, right, _) in enumerate(subject.merges)
        for part in [next((p for p in (left, right) if p in unmade), None)]
        if part is not None
    )
    if found:
        message = (
            "these merges have a part that no merges lead to, so they never happen"
        )
        yield Finding("BP203", message, found)


def _twice(subject: Subject) -> Iterator[Finding]:
    counts = Counter((left, right) for left, right, _ in subject.merges)
    if len(counts) == len(subject.merges):
        return
    last = {
        (left, right): place for place, (left, right, _) in enumerate(subject.merges)
    }
    found = tuple(
        _merge(
            subject,
            place,
            f"; the merge with rank {subject.ranks[last[left, right]]:,} counts",
        )
        for place, (left, right, _) in enumerate(subject.merges)
        if place != last[left, right]
    )
    message = "these pairs are merged again later, and the later merge counts"
    yield Finding("BP204", message, found)
