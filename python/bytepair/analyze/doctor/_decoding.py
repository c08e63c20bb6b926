"""BP505: text that does not come back from its ids.

A text is encoded, the ids are decoded, and what comes out is encoded again. If the ids differ, the
decoder does not undo what the tokenizer does. A normalizer may lose case or spaces; encoding the
result again gives the same ids. Texts with unknown units are left out. Takes a few encodings.
"""

from collections.abc import Iterator

from bytepair.errors import TokenizerError

from ._finding import Finding, FoundToken
from ._subject import Subject

__all__ = ["find"]

SAMPLES = (
    "low lower",
    "It's 12,345 - or not?",
    "a  b\n\tc",
    "été naïve",
    "да нет",
    "中文字",
    "😀 👩\u200d👩\u200d👧",
)
MOST_SHOWN = 40


def find(subject: Subject) -> Iterator[Finding]:
    """Look for texts that become others when they are encoded and decoded."""
    found = []
    for text in SAMPLES:
        try:
            ids = subject.tokenizer.encode(text)
            if any(map(subject.is_unknown, ids)):
                continue
            back = subject.tokenizer.decode(ids)
            is_same = subject.tokenizer.encode(back) == ids
        except TokenizerError:
            continue
        if not is_same:
            shown = back if len(back) <= MOST_SHOWN else f"{back[:MOST_SHOWN]}…"
            found.append(FoundToken(None, text, f"becomes {shown!r}"))
    if found:
        message = (
            "these texts are others once they are encoded and decoded: the decoder does not undo "
            "what encoding does"
        )
        yield Finding("BP505", message, tuple(found))
