"""BP503 to BP507: words that the pattern cuts, patterns that cut nothing, and texts that do not come back.

The tokenizer is tried on some words and texts. A finding is a fact about these.
"""

import unicodedata
from collections.abc import Callable, Iterator, Mapping

from bytepair import train_from_iterator
from bytepair.analyze._literals import dead_literals
from bytepair.errors import PatternError, TokenizerError

from ._finding import Finding, FoundToken
from ._subject import Subject, probe_texts

__all__ = [
    "altered_texts",
    "idle_patterns",
    "parted_joiners",
    "parted_marks",
    "undecoded_texts",
]

# ruff: noqa: RUF001 -- words in many scripts

WITH_MARKS = {
    "Arabic": "مُحَمَّد",
    "Bengali": "বাংলা",
    "Devanagari": "हिन्दी",
    "Gujarati": "ગુજરાતી",
    "Gurmukhi": "ਪੰਜਾਬੀ",
    "Hebrew": "שָׁלוֹם",
    "Kannada": "ಕನ್ನಡ",
    "Khmer": "ភាសាខ្មែរ",
    "Lao": "ພາສາລາວ",
    "Latin": "m̃ẽ",
    "Malayalam": "മലയാളം",
    "Myanmar": "မြန်မာ",
    "Odia": "ଓଡ଼ିଆ",
    "Sinhala": "සිංහල",
    "Tamil": "தமிழ்",
    "Telugu": "తెలుగు",
    "Thai": "ที่นี่",
    "Tibetan": "བོད་སྐད",
}
WITH_JOINERS = {
    "Persian, ZWNJ": "می\u200cخواهم",
    "Devanagari, ZWJ": "क्\u200dष",
    "Sinhala, ZWJ": "ශ්\u200dරී",
    "Malayalam, ZWJ": "ന്\u200dറെ",
    "emoji, ZWJ": "👩\u200d👩\u200d👧",
    "emoji, skin tone and ZWJ": "👩🏽\u200d🔬",
    "emoji, variation selector": "❤\ufe0f\u200d🔥",
}
JOINERS = "\u200c\u200d"
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
EXAMPLE = "I'll pay 12,345 for it"


def parted_marks(subject: Subject) -> Iterator[Finding]:
    """Look for words in which the pattern separates marks from their letters."""

    def is_parted(_: str, after: str) -> bool:
        return unicodedata.category(after[0]).startswith("M")

    yield Finding("BP503", _parted(subject, WITH_MARKS, is_parted))


def parted_joiners(subject: Subject) -> Iterator[Finding]:
    """Look for words in which the pattern separates joiners from their neighbours."""

    def is_parted(before: str, after: str) -> bool:
        return before[-1] in JOINERS or after[0] in JOINERS

    yield Finding("BP504", _parted(subject, WITH_JOINERS, is_parted))


def _parted(
    subject: Subject, words: Mapping[str, str], is_parted: Callable[[str, str], bool]
) -> tuple[FoundToken, ...]:
    found = []
    for name, word in words.items():
        try:
            pieces = list(filter(None, subject.tokenizer.split(word)))
        except TokenizerError:
            continue
        if any(map(is_parted, pieces, pieces[1:])):
            found.append(FoundToken(None, word, f"{name}: {' | '.join(pieces)}"))
    return tuple(found)


def altered_texts(subject: Subject) -> Iterator[Finding]:
    """Look for texts whose ids change when they are decoded and encoded again.

    A normalizer may lose case or spaces; encoding the result again gives the same ids. Texts
    with unknown units are left out.
    """
    found = []
    for text in SAMPLES:
        try:
            ids = subject.tokenizer.encode(text)
            back = subject.tokenizer.decode(ids)
            is_same = subject.tokenizer.encode(back) == ids
        except TokenizerError:
            continue
        if not is_same and not any(map(subject.is_unknown, ids)):
            found.append(FoundToken(None, text, f"becomes {_shortened(back)!r}"))
    yield Finding("BP505", tuple(found))


def idle_patterns(subject: Subject) -> Iterator[Finding]:
    """Look for split patterns that are plain texts, though they look like regular expressions."""
    found = [
        FoundToken(None, text, _as_pattern(text))
        for text in dead_literals(subject.tokenizer)
    ]
    yield Finding("BP506", tuple(found))


def _as_pattern(text: str) -> str:
    """Say how a text would split an example if it were a regular expression."""
    try:
        splitting = train_from_iterator(["a"], merges=0, pattern=text)
    except PatternError:
        return "not a valid regular expression either"
    return f"as a regular expression: {' | '.join(splitting.split(EXAMPLE))}"


def undecoded_texts(subject: Subject) -> Iterator[Finding]:
    """Look for texts whose tokens have their very bytes, but are decoded to another text."""
    rules = subject.rules
    if not rules["is_bytes"] or rules["end_mark"] or rules["continuing_prefix"]:
        return
    found = []
    for text in probe_texts():
        ids = subject.ids_of(text.encode())
        own = b"".join(subject.tokens[id_][1] for id_ in ids)
        back = subject.tokenizer.decode(ids)
        if own == text.encode() and back != text:
            detail = f"becomes {_shortened(back)!r}"
            found.append(FoundToken(None, _shortened(text), detail))
    found.sort(key=lambda token: len(token.text.encode()))
    yield Finding("BP507", tuple(found))


def _shortened(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
