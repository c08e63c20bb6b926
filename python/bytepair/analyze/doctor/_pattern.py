"""BP503 and BP504: a pattern that separates marks or joiners from their letters.

The pattern is tried on words of many scripts. A finding is a fact about these words.
"""

import unicodedata
from collections.abc import Iterator

from bytepair.errors import TokenizerError

from ._finding import Finding, FoundToken
from ._subject import Subject

__all__ = ["find"]

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


def find(subject: Subject) -> Iterator[Finding]:
    """Check how words with marks and joiners are split."""
    for code, words, is_parted, message in (
        ("BP503", WITH_MARKS, _before_mark, "separates marks from their letters"),
        ("BP504", WITH_JOINERS, _at_joiner, "separates what joiners join"),
    ):
        found = []
        for name, word in words.items():
            try:
                pieces = subject.tokenizer.split(word)
            except TokenizerError:
                continue
            texts = [piece for piece in pieces if piece]
            if any(map(is_parted, texts, texts[1:])):
                found.append(FoundToken(None, word, f"{name}: {' | '.join(texts)}"))
        if found:
            yield Finding(
                code, f"in these words the split pattern {message}", tuple(found)
            )


def _before_mark(_: str, after: str) -> bool:
    return unicodedata.category(after[0]).startswith("M")


def _at_joiner(before: str, after: str) -> bool:
    return before[-1] in JOINERS or after[0] in JOINERS
