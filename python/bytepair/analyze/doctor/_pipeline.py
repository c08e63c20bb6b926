"""BP104, BP305, BP501 and BP502: tokens that merges make, but that were not found in any text.

Reasons are checked in the order of the pipeline: the normalizer always changes the token's text,
added tokens are found in its place, the pattern cuts it wherever the normalizer does not change
it, or its parts are merged with their neighbours first. Units are left out, since they are the
alphabet with all marks, except for characters that the normalizer changes.
"""

from collections.abc import Iterable, Iterator

from bytepair._added import found_in_any_text
from bytepair.errors import TokenizerError

from ._finding import Finding, FoundToken
from ._subject import Subject

__all__ = ["not_found"]

MOST_SPLIT = 500_000
"""The largest number of texts that are split to find out where tokens are cut."""


def not_found(subject: Subject) -> Iterator[Finding]:
    """Look for such tokens, and for the reasons."""
    texts = subject.texts
    subject.counts["not_given_back"] = len(texts.not_given_back)
    subject.counts["tried_contexts"] = texts.n_contexts
    left = texts.not_found - subject.lost - subject.single_bytes
    changed = texts.changed & left
    yield Finding("BP501", _with_ids(subject, changed))
    left -= changed
    taken = _taken(subject, left)
    inside = {id_: _added_inside(subject, id_) for id_ in sorted(taken)}
    facts = [subject.found(id_, f"contains {n!r}") for id_, n in inside.items() if n]
    yield Finding("BP305", tuple(facts))
    hints = _with_ids(subject, {id_ for id_, name in inside.items() if not name})
    yield Finding("BP305", hints, texts.limits)
    left -= taken
    units = {id_ for id_ in left if len(subject.tokens[id_][1].decode()) <= 1}
    yield Finding("BP502", _with_ids(subject, texts.cut & left - units))
    left -= texts.cut
    yield from _stopped(subject, left, units)


def _stopped(subject: Subject, ids: set[int], units: set[int]) -> Iterator[Finding]:
    """Look for the stage that stops each token in the contexts that were tried."""
    texts = subject.texts
    n_tried = min(texts.n_contexts - 2, max(MOST_SPLIT // (len(ids) + 1), 1))
    stages = {id_: _stage(subject, id_, texts.contexts[:n_tried]) for id_ in ids}
    for code in ("BP501", "BP502", "BP104"):
        found = {id_ for id_, stage in stages.items() if stage == code}
        found -= set() if code == "BP501" else units
        yield Finding(code, _with_ids(subject, found), texts.limits)


def _taken(subject: Subject, ids: set[int]) -> set[int]:
    """Return the tokens that occur in texts if added tokens are treated as text."""
    if not found_in_any_text(subject.added):
        return set()
    texts = subject.texts
    contexts = texts.contexts[: texts.n_contexts - 2]
    tried = ((id_, text) for id_ in ids for text in texts.around(id_, contexts))
    return texts.having(tried, added_tokens="text")


def _added_inside(subject: Subject, id_: int) -> str | None:
    """Return the longest added token that is found wherever this token's text is."""
    text = subject.tokens[id_][1].decode()
    inside = (name for name in subject.always_found if name in text)
    return max(inside, key=len, default=None)


def _stage(subject: Subject, id_: int, contexts: list[tuple[str, str]]) -> str:
    """Return the code for the last stage of the pipeline that a token reaches whole."""
    own = subject.tokens[id_][1]
    code = "BP501"
    for text in subject.texts.around(id_, contexts):
        try:
            if own not in subject.inside.normalized(text).encode():
                continue
            pieces = subject.tokenizer.split(text)
        except TokenizerError:
            continue
        if any(own in piece for piece in pieces):
            return "BP104"
        code = "BP502"
    return code


def _with_ids(subject: Subject, ids: Iterable[int]) -> tuple[FoundToken, ...]:
    """Describe tokens by the ids that their text alone is encoded as."""
    texts = subject.texts
    return tuple(
        subject.found(id_, f"becomes {subject.ids_of(texts.spellings(id_)[-1])}")
        for id_ in sorted(ids)
    )
