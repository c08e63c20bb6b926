"""BP301 to BP304: added tokens that hide each other, repeat others, or match in any text."""

from collections import defaultdict
from collections.abc import Iterator

from bytepair._added import AddedToken, found_in_any_text
from bytepair.errors import TokenizerError

from ._finding import Finding, FoundToken
from ._subject import ADDED, BYTE, Subject, plain

__all__ = ["find"]

AROUND = (("", ""), (" ", " "), ("\n", "\n"), ("a", "a"), (".", "."), ("a ", " a"))


def find(subject: Subject) -> Iterator[Finding]:
    """Check added tokens, and look for tokens with the same text."""
    yield from _hidden(subject)
    yield from _same(subject)
    yield from _in_plain_text(subject)
    yield from _in_any_text(subject)


def _hidden(subject: Subject) -> Iterator[Finding]:
    raw = [token.content for token in subject.added.values() if not token.normalized]
    is_simple = not any(token.single_word for token in subject.added.values())
    facts, hints, partly = [], [], []
    for id_, token in subject.added.items():
        if not token.content:
            continue
        missed = _missed_in(subject, id_, token)
        if not missed:
            continue
        inside = [
            name for name in raw if name in token.content and name != token.content
        ]
        if len(missed) < len(AROUND):
            others = [text for text in missed if text is not None]
            if others:
                partly.append(subject.found(id_, f"not in {others[0]!r}"))
        elif token.normalized and inside and is_simple and not subject.normalizes:
            facts.append(subject.found(id_, f"{max(inside, key=len)!r} is found first"))
        else:
            hints.append(subject.found(id_))
    if facts:
        message = "these added tokens contain another added token, which is found first"
        yield Finding("BP301", message, tuple(facts))
    if partly:
        message = "these added tokens are found in some texts that have them, and not in others"
        yield Finding("BP301", message, tuple(partly))
    if hints:
        message = f"these added tokens were not found in their own text, in {len(AROUND)} contexts"
        yield Finding("BP301", message, tuple(hints), is_fact=False)


def _missed_in(subject: Subject, id_: int, token: AddedToken) -> list[str | None]:
    """Give the contexts in which a token is not found; ``None`` for one that may prevent it.

    A word beside a token that is found as a single word prevents it, and so may other added
    tokens that are found in the context.
    """
    missed: list[str | None] = []
    for before, behind in AROUND:
        text = before + token.content + behind
        found = _ids_of(subject, text)
        if id_ in found or id_ in _ids_of(subject, _normalized(subject, text)):
            continue
        is_prevented = token.single_word or any(
            other in subject.added for other in found
        )
        missed.append(None if is_prevented or not found else text)
    return missed


def _ids_of(subject: Subject, text: str) -> list[int]:
    try:
        return subject.tokenizer.encode(text, allowed_special="all")
    except TokenizerError:
        return []


def _normalized(subject: Subject, text: str) -> str:
    """Normalize a text, as another text with the same result."""
    try:
        return subject.tokenizer.inspect().normalized(text.encode())
    except TokenizerError:
        return text


def _same(subject: Subject) -> Iterator[Finding]:
    """Look for tokens with the same text; special tokens are checked below."""
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
    if found:
        message = (
            "each of these has the same text as another token, which is used instead"
        )
        yield Finding("BP302", message, tuple(found))


def _in_plain_text(subject: Subject) -> Iterator[Finding]:
    found = []
    for name, id_ in subject.tokenizer.special_tokens.items():
        try:
            ids = subject.tokenizer.encode(name, added_tokens="text")
        except TokenizerError:
            continue
        if len(ids) != 1 or subject.is_unknown(ids[0]):
            continue
        if ids[0] != id_ and plain(subject.written[ids[0]]) != name:
            continue
        what = "this token" if ids[0] == id_ else f"the ordinary token {ids[0]}"
        found.append(subject.found(id_, f"as plain text it is {what}"))
    if found:
        message = (
            "the texts of these special tokens are encoded as a single token even if special "
            "tokens are treated as plain text"
        )
        yield Finding("BP303", message, tuple(found))


def _in_any_text(subject: Subject) -> Iterator[Finding]:
    tokens = found_in_any_text(subject.added)
    found = tuple(
        FoundToken(id_, token.content)
        for id_, token in tokens.items()
        if len(token.content) > 1 or token.content.replace("▁", " ").strip()
    )
    if found:
        message = (
            "these added tokens are not special, so any text that contains one gets its id; "
            'added_tokens="text" prevents that'
        )
        yield Finding("BP304", message, found)
