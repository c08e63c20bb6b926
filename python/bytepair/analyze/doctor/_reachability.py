"""BP101 to BP103: tokens that no merges lead to, and tokens with part of a character."""

from collections.abc import Iterator

from bytepair import _core

from ._finding import Finding
from ._partial import Partial
from ._subject import ADDED, Subject

__all__ = ["incomplete", "textless", "unmade", "without_completion"]

SPELLED = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x144)}
"""The characters that stand for bytes in the names of tokens."""


def textless(subject: Subject) -> Iterator[Finding]:
    """Look for tokens without text that are not added tokens and have no role."""
    ids = [
        id_
        for id_, (kind, name) in enumerate(subject.tokens)
        if kind == ADDED and id_ not in subject.added
        if not name or (subject.rules["is_bytes"] and not _is_spelled(name))
    ]
    reasons = zip(ids, _core.why_it_stays(subject.tokenizer, ids), strict=True)
    found = [
        subject.found(
            id_,
            "a character of its name stands for no byte"
            if subject.tokens[id_][1]
            else "has no text",
        )
        for id_, reason in reasons
        if reason is None
    ]
    yield Finding("BP101", tuple(found))


def _is_spelled(name: bytes) -> bool:
    return {ord(letter) for letter in name.decode(errors="replace")} <= SPELLED


def unmade(subject: Subject) -> Iterator[Finding]:
    """Look for tokens whose units merge into others."""
    ids, limits = subject.lost, ""
    if subject.rules["ignore_merges"]:
        texts = subject.texts
        ids = ids & (texts.not_found | texts.without_completion.keys())
        limits = texts.limits
    found = tuple(subject.found(id_, _instead(subject, id_)) for id_ in sorted(ids))
    yield Finding("BP101", found, limits)


def _instead(subject: Subject, id_: int) -> str:
    """Return what the units of a token become, in words."""
    if id_ in subject.unreached[1]:
        return "merged with every possible neighbour"
    if not subject.tokens[id_][1]:
        return "has no text"
    merged = _core.merged_units(subject.tokenizer, [id_])
    if merged is None:
        return "made of units that the vocabulary lacks"
    return "becomes " + " + ".join(repr(subject.written[part]) for part in merged)


def incomplete(subject: Subject) -> Iterator[Finding]:
    """Look for tokens of several bytes with part of a character."""
    subject.counts["partial"] = len(subject.partial)
    ids = [id_ for id_ in subject.partial if len(subject.tokens[id_][1]) > 1]
    yield Finding("BP102", subject.all_found(ids))


def without_completion(subject: Subject) -> Iterator[Finding]:
    """Look for tokens with part of a character that occur in no UTF-8 text."""
    proofs = Partial(subject)
    facts, hints = [], []
    for id_, n_tried in sorted(subject.texts.without_completion.items()):
        if id_ in subject.lost:
            continue
        reason = proofs.reason(id_)
        if reason:
            facts.append(subject.found(id_, reason))
        else:
            hints.append(subject.found(id_, f"{n_tried:,} tried"))
    yield Finding("BP103", tuple(facts))
    yield Finding(
        "BP103", tuple(hints), "The detail says how many completions were tried."
    )
