"""BP104, BP305, BP501 and BP502: tokens that merges make, but that were not found in any text.

The reason is looked for in the order of the pipeline: the normalizer always changes the
token's text, added tokens are found in its place, the pattern cuts it wherever the normalizer
leaves it unchanged, or its neighbours are merged with its parts first. Units are left out,
since they are the alphabet with all marks, except for characters that the normalizer changes.
"""

from collections.abc import Iterator

from bytepair._added import found_in_any_text
from bytepair.errors import TokenizerError

from ._finding import Finding, FoundToken
from ._subject import Subject
from ._texts import Texts

__all__ = ["find"]

MOST_SPLIT = 500_000
"""At most so many texts are split to see where tokens are cut."""


def find(subject: Subject, texts: Texts) -> Iterator[Finding]:
    """Look for such tokens, and for the reason."""
    subject.counts["not_given_back"] = len(texts.not_given_back)
    subject.counts["tried_contexts"] = texts.n_contexts
    unmade, unplaced = subject.unreached
    lost = sorted(texts.not_found - unmade - unplaced - subject.single_bytes)
    changed = texts.changed & set(lost)
    if changed:
        message = "the normalizer changes the text of these tokens in every context"
        yield Finding("BP501", message, _with_ids(subject, texts, changed))
    lost = [id_ for id_ in lost if id_ not in changed]
    taken = _taken(texts, lost)
    yield from _hidden(subject, texts, taken)
    lost = [id_ for id_ in lost if id_ not in taken]
    units = {id_ for id_ in lost if len(subject.tokens[id_][1].decode()) <= 1}
    cut = texts.cut & set(lost)
    if cut - units:
        message = "the split pattern cuts these tokens in every context"
        yield Finding("BP502", message, _with_ids(subject, texts, cut - units))
    yield from _tried(subject, texts, [id_ for id_ in lost if id_ not in cut], units)


def _tried(
    subject: Subject, texts: Texts, ids: list[int], units: set[int]
) -> Iterator[Finding]:
    """Say what keeps tokens out in the contexts that were tried."""
    n_tried = min(texts.n_contexts - 2, max(MOST_SPLIT // (len(ids) + 1), 1))
    contexts = texts.contexts[:n_tried]
    stages = {id_: _stage(subject, texts, id_, contexts) for id_ in ids}
    tried = f"{n_tried + 2} contexts"
    for code, message in (
        ("BP501", f"the normalizer changes the text of these tokens in all {tried}"),
        ("BP502", f"the split pattern cuts these tokens in all {tried}"),
        ("BP104", f"these tokens were not found in any of {texts.n_contexts} contexts"),
    ):
        found = {id_ for id_, stage in stages.items() if stage == code}
        found -= set() if code == "BP501" else units
        if found:
            tokens = _with_ids(subject, texts, found)
            yield Finding(code, message, tokens, is_fact=False)


def _hidden(subject: Subject, texts: Texts, taken: set[int]) -> Iterator[Finding]:
    """Say which added tokens are found in place of tokens, and whether that is certain."""
    always = {
        id_: name
        for id_ in sorted(taken)
        for name in [_inside(subject, subject.tokens[id_][1].decode())]
        if name is not None
    }
    if always:
        message = (
            "these tokens contain added tokens, which are found instead of them in every "
            "text; without added tokens, these tokens occur"
        )
        tokens = tuple(
            subject.found(id_, f"contains {name!r}") for id_, name in always.items()
        )
        yield Finding("BP305", message, tokens)
    if taken - always.keys():
        message = (
            "added tokens are found instead of these tokens in all of "
            f"{texts.n_contexts} contexts; without added tokens, these tokens occur"
        )
        tokens = _with_ids(subject, texts, taken - always.keys())
        yield Finding("BP305", message, tokens, is_fact=False)


def _inside(subject: Subject, text: str) -> str | None:
    """Give an added token that is found wherever this text is, or a part of it is taken."""
    inside = (name for name in subject.always_found if name in text)
    return max(inside, key=len, default=None)


def _taken(texts: Texts, ids: list[int]) -> set[int]:
    """Choose the tokens that occur in texts if no added tokens are found."""
    if not found_in_any_text(texts.subject.added):
        return set()
    contexts = texts.contexts[: texts.n_contexts - 2]
    tried = ((id_, text) for id_ in ids for text in texts.around(id_, contexts))
    return texts.having(tried, added_tokens="text")


def _stage(
    subject: Subject, texts: Texts, id_: int, contexts: list[tuple[str, str]]
) -> str:
    """Name the finding for the last stage of the pipeline that a token reaches whole."""
    own = subject.tokens[id_][1]
    code = "BP501"
    for text in texts.around(id_, contexts):
        try:
            normalized = subject.tokenizer.inspect().normalized(text).encode()
            if own not in normalized:
                continue
            pieces = subject.tokenizer.split(text)
        except TokenizerError:
            continue
        if any(own in piece for piece in pieces):
            return "BP104"
        code = "BP502"
    return code


def _with_ids(subject: Subject, texts: Texts, ids: set[int]) -> tuple[FoundToken, ...]:
    """Describe tokens by the ids that their text alone is encoded as."""
    return tuple(
        subject.found(id_, f"becomes {subject.ids_of(texts.spellings(id_)[-1])}")
        for id_ in sorted(ids)
    )
