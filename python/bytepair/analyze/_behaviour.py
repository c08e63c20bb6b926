"""The behaviour of a tokenizer as 16 hexadecimal digits: a hash of the ids of one fixed text.

Two loaders, versions or files with the same digits encode the text alike. Other digits prove that ids
differ; the same digits prove nothing about texts that the fixed text does not resemble.

The text is published: it never changes. ``behaviour_text`` needs only the standard library, and
all versions of Python give the same text, since they have the characters of Unicode 3.2.
"""

import hashlib
import struct
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache
from os import PathLike
from typing import TYPE_CHECKING

from bytepair._core import Tokenizer as CoreTokenizer
from bytepair._expected import loaded
from bytepair.errors import TokenizerError

if TYPE_CHECKING:
    from bytepair import Tokenizer
    from bytepair._io.files import StrPath

__all__ = ["behaviour", "behaviour_of", "behaviour_text", "digits_of"]

# ruff: noqa: RUF001 -- words in many scripts
BEGINNING = """\
Hello, world! It's 12,345.67 — don't I'M we'll THEY'RE ’s 1234567 x86_64 $3.50 50%
def main(args: list[str]) -> int:
    return {"a": [1, 2], 'b': None}["a"][0] != 0  # camelCase, HTTPServer, snake_case

\t\tif (a && !b) { c += 0xFF; } /* … */ <br/> https://example.org/a?b=c&d#e me@example.org
été naïve Größe señor żółw İstanbul ΣΊΣΥΦΟΣ Привет, мир! שָׁלוֹם עולם مُحَمَّد می\u200cخواهم हिन्दी भाषा
বাংলা ਪੰਜਾਬੀ ગુજરાતી ଓଡ଼ିଆ தமிழ் తెలుగు ಕನ್ನಡ മലയാളം සිංහල ที่นี่ ພາສາລາວ བོད་སྐད မြန်မာ ქართული አማርኛ
ភាសាខ្មែរ 日本語のテキスト。カタカナ 你好，世界！ 한국어 텍스트 ١٢٣ १२३ １２３ ½ ² Ⅷ ﬁ Å A\u030a e\u0301\u0301 K
😀 👩\u200d👩\u200d👧 👍🏽 🇩🇪 ❤\ufe0f 1\ufe0f\u20e3  two   three    four          ten\r\n\r\n \n  \n
"""
JOINTS_IN_A_ROW = (
    " |||\n||| ||| ||'s |||  ||||, ||.||-|| ||\t||12|| |||\n\n||. ||||   ||||_||| ||/||||\r\n||'LL |||"
    "| = |||2024||(||| |||"
)
JOINTS = JOINTS_IN_A_ROW.split("|")
"""What stands between characters, in turn: mostly nothing, so that words arise."""
HAS_SAMPLES = ("CJK UNIFIED", "HANGUL SYLLABLE")
"""The beginnings of the names of characters of which only each 32nd is in the text."""


@cache
def behaviour_text() -> str:
    """Return the fixed text: 64,049 bytes with words, code, numbers, spaces and characters of all scripts.

    After a few lines of text come the named characters of Unicode 3.2 below U+20000, mixed within
    blocks of 256, and some of their names.

    >>> import hashlib
    >>> hashlib.sha256(behaviour_text().encode()).hexdigest()
    'd34797da4ff66ee6e1cab909ac1ff288f1829fae7ef3dde1110f9dff156f8389'
    """
    names = unicodedata.ucd_3_2_0
    parts, n_characters = [BEGINNING], 0
    for place in range(0x20000):
        character = chr(place & ~255 | place * 167 & 255)
        name = names.name(character, "")
        if not name or (place % 32 and name.startswith(HAS_SAMPLES)):
            continue
        parts += character, JOINTS[n_characters % len(JOINTS)]
        if n_characters % 36 == 0:
            cases = name, name.title(), name.lower()
            parts += " ", cases[n_characters // 36 % 3], "\n"
        n_characters += 1
    return "".join(parts)


def behaviour(
    tokenizer: "Tokenizer | StrPath | Callable[[str], Iterable[int]]",
) -> str:
    """Return a hash of the ids of one fixed text, by which any two tokenizers can be compared.

    It is the beginning of the SHA-256 of the ids as little-endian ``uint32``, 16 hexadecimal
    digits. The text has 64,049 bytes in all scripts, and is the same in all versions.

    Parameters
    ----------
    tokenizer
        A tokenizer, its file or folder, or a function that returns the ids of a text without
        adding special tokens, such as ``tiktoken.get_encoding("cl100k_base").encode_ordinary``.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> behaviour(tokenizer) == behaviour(tokenizer.encode)
    True

    Raises
    ------
    TokenizerError
        The tokenizer refuses the text, for instance since its alphabet lacks a character.
    """
    if isinstance(tokenizer, (str, PathLike, CoreTokenizer)) or not callable(tokenizer):
        tokenizer = loaded(tokenizer).encode
    return digits_of(tokenizer(behaviour_text()))


def behaviour_of(tokenizer: "Tokenizer") -> str | None:
    """Return the behaviour of a tokenizer, or ``None`` if it refuses the text.

    >>> import bytepair
    >>> letters = bytepair.train_from_iterator(["low"], dialect="sennrich", merges=1)
    >>> behaviour_of(letters) is None
    True
    """
    try:
        return behaviour(tokenizer)
    except TokenizerError:
        return None


def digits_of(ids: Iterable[int]) -> str:
    """Return the hash of ids.

    >>> digits_of([1, 2])
    '34fb5c825de7ca4a'
    """
    ids = list(ids)
    try:
        packed = struct.pack(f"<{len(ids)}I", *ids)
    except struct.error as error:
        message = f"an id is not a number that uint32 holds: {error}"
        raise TokenizerError(message) from error
    return hashlib.sha256(packed).hexdigest()[:16]
