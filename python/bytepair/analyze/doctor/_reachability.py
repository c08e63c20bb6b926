"""BP101 to BP103: tokens that no merges lead to, and tokens with part of a character."""

from collections.abc import Iterator

from bytepair import _core

from ._finding import Finding, FoundToken
from ._partial import Partial
from ._subject import ADDED, Subject, bytes_of_name, plain
from ._texts import Texts

__all__ = ["find"]


def find(subject: Subject, texts: Texts) -> Iterator[Finding]:
    """Look for tokens of text that cannot occur, or do not seem to occur."""
    yield from _unspelled(subject)
    yield from _unmade(subject, texts)
    yield from _partial(subject, texts)


def _unspelled(subject: Subject) -> Iterator[Finding]:
    """Look for tokens that are no text, and that nothing else gives: no added token, no role."""
    ids = [
        id_
        for id_, (kind, own) in enumerate(subject.tokens)
        if kind == ADDED
        and id_ not in subject.added
        and (not own or (subject.rules["is_bytes"] and bytes_of_name(own) is None))
    ]
    reasons = _core.why_it_stays(subject.tokenizer, ids)
    found = tuple(
        subject.found(
            id_,
            "a character of its name stands for no byte"
            if subject.tokens[id_][1]
            else "has no text",
        )
        for id_, reason in zip(ids, reasons, strict=True)
        if reason is None
    )
    if found:
        message = "these tokens stand for no text, so no text is ever encoded with them"
        yield Finding("BP101", message, found)


def _unmade(subject: Subject, texts: Texts) -> Iterator[Finding]:
    unmade, unplaced = subject.unreached
    if subject.rules["ignore_merges"]:
        whole = (unmade | unplaced) & texts.not_found
        partial = (unmade | unplaced) & texts.without_completion.keys()
        tokens = _with_parts(subject, whole | partial)
        if tokens:
            message = (
                "no merges lead to these tokens, and they were not found as whole pieces in "
                f"any of {texts.n_contexts} contexts"
            )
            yield Finding("BP101", message, tokens, is_fact=False)
        return
    tokens = _with_parts(subject, unmade | unplaced)
    if tokens:
        message = "no merges lead to these tokens, so no text is ever encoded with them"
        yield Finding("BP101", message, tokens)


def _with_parts(subject: Subject, ids: set[int]) -> tuple[FoundToken, ...]:
    """Describe tokens by the tokens that their units are merged to instead."""
    unplaced = subject.unreached[1]

    def detail(id_: int) -> str:
        if id_ in unplaced:
            return "merged with every possible neighbour"
        if not subject.tokens[id_][1]:
            return "has no text"
        merged = _core.merged_units(subject.tokenizer, [id_])
        if merged is None:
            return "made of units that the vocabulary lacks"
        return "becomes " + " + ".join(repr(plain(subject.written[m])) for m in merged)

    return tuple(subject.found(id_, detail(id_)) for id_ in sorted(ids))


def _partial(subject: Subject, texts: Texts) -> Iterator[Finding]:
    subject.counts["partial"] = len(subject.partial)
    many = [id_ for id_ in subject.partial if len(subject.tokens[id_][1]) > 1]
    if many:
        message = "these tokens of several bytes contain part of a character"
        yield Finding("BP102", message, subject.all_found(many))
    unmade, unplaced = subject.unreached
    lost = {
        id_: n
        for id_, n in sorted(texts.without_completion.items())
        if id_ not in unmade and id_ not in unplaced
    }
    proofs = Partial(subject, texts)
    reasons = {id_: proofs.reason(id_) for id_ in lost}
    facts = tuple(subject.found(id_, why) for id_, why in reasons.items() if why)
    if facts:
        message = "these tokens contain part of a character, and no UTF-8 text is encoded with them"
        yield Finding("BP103", message, facts)
    hints = tuple(
        subject.found(id_, f"{n:,} tried")
        for id_, n in lost.items()
        if not reasons[id_]
    )
    if hints:
        message = (
            "these tokens contain part of a character, and were not found in the texts that "
            "were tried to complete it"
        )
        yield Finding("BP103", message, hints, is_fact=False)
