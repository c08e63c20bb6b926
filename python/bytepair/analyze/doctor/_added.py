"""BP301 to BP304: added tokens that hide each other, repeat others, or match in any text."""

from collections import defaultdict
from collections.abc import Iterator

from bytepair._added import AddedToken, found_in_any_text
from bytepair.errors import TokenizerError

from ._finding import Finding, FoundToken
from ._subject import ADDED, BYTE, Subject

__all__ = ["hidden", "in_any_text", "in_plain_text", "same_text"]

AROUND = (("", ""), (" ", " "), ("\n", "\n"), ("a", "a"), (".", "."), ("a ", " a"))


def hidden(subject: Subject) -> Iterator[Finding]:
    """Look for added tokens that are not found in a text that contains them."""
    facts, hints = [], []
    for id_, token in subject.added.items():
        missed = _missed_in(subject, id_, token) if token.content else []
        texts = [text for text in missed if text is not None]
        other = _found_first(subject, token)
        if len(missed) == len(AROUND) and other:
            facts.append(subject.found(id_, f"{other!r} is found first"))
        elif len(missed) == len(AROUND):
            hints.append(subject.found(id_))
        elif texts:
            facts.append(subject.found(id_, f"not in {texts[0]!r}"))
    yield Finding("BP301", tuple(facts))
    limits = f"{len(AROUND)} contexts were tried."
    yield Finding("BP301", tuple(hints), limits)


def _found_first(subject: Subject, token: AddedToken) -> str | None:
    """Return the added token that is certainly found in place of a token that contains it."""
    is_single = any(other.single_word for other in subject.added.values())
    if not token.normalized or is_single or subject.normalizes:
        return None
    raw = [other.content for other in subject.added.values() if not other.normalized]
    inside = (name for name in raw if name in token.content and name != token.content)
    return max(inside, key=len, default=None)


def _missed_in(subject: Subject, id_: int, token: AddedToken) -> list[str | None]:
    """List the contexts in which a token is not found; ``None`` for one that may prevent it.

    A word beside a token that is found as a single word prevents it, and so may other added
    tokens that are found in the context.
    """
    missed: list[str | None] = []
    for before, after in AROUND:
        text = before + token.content + after
        found = _ids_of(subject, text)
        if id_ in found or id_ in _ids_of(subject, subject.normalized(text)):
            continue
        is_prevented = token.single_word or not subject.added.keys().isdisjoint(found)
        missed.append(None if is_prevented or not found else text)
    return missed


def _ids_of(subject: Subject, text: str) -> list[int]:
    try:
        return subject.tokenizer.encode(text, allowed_special="all")
    except TokenizerError:
        return []


def same_text(subject: Subject) -> Iterator[Finding]:
    """Look for tokens with the same text; ``in_plain_text`` checks special tokens."""
    special = set(subject.tokenizer.special_tokens.values())
    by_content = defaultdict(list)
    for id_, (kind, own) in enumerate(subject.tokens):
        if kind < BYTE or (kind == ADDED and id_ not in special):
            by_content[kind % ADDED, own].append(id_)
    found = []
    for ids in by_content.values():
        taken = next((id_ for id_ in ids if id_ in subject.added), ids[0])
        others = (id_ for id_ in ids if id_ != taken)
        found += [subject.found(id_, f"the same as {taken}") for id_ in others]
    yield Finding("BP302", tuple(found))


def in_plain_text(subject: Subject) -> Iterator[Finding]:
    """Look for special tokens whose text is one token even as plain text."""
    found = []
    for name, id_ in subject.tokenizer.special_tokens.items():
        ids = subject.ids_of(name.encode(), added_tokens="text")
        if len(ids) != 1 or subject.is_unknown(ids[0]):
            continue
        if ids[0] == id_:
            found.append(subject.found(id_, "as plain text it is this token"))
        elif subject.written[ids[0]] == name:
            what = f"as plain text it is the ordinary token {ids[0]}"
            found.append(subject.found(id_, what))
    yield Finding("BP303", tuple(found))


def in_any_text(subject: Subject) -> Iterator[Finding]:
    """Look for added tokens that are not special; a single space is left out."""
    found = [
        FoundToken(id_, token.content)
        for id_, token in found_in_any_text(subject.added).items()
        if len(token.content) > 1 or token.content.replace("▁", " ").strip()
    ]
    yield Finding("BP304", tuple(found))
