"""Texts on which tokenizers usually differ.

White space of every kind, digits, contractions, marks, emoji sequences, scripts without
spaces, control characters, characters that stand for others in vocabularies, and special
tokens, whole and cut. Left out: characters younger than Unicode 3.2, whose classes
depend on a library's version of Unicode; see ``verifying``.
"""

from collections.abc import Iterable

__all__ = ["TEXTS", "around"]

# ruff: noqa: RUF001 -- the texts are in many scripts
TEXTS = [
    "",
    " ",
    "a",
    "\n",
    "Hello, world! The quick brown fox jumps over the lazy dog.",
    "  leading, trailing  \n\n and   inner    spaces \t\ttabs\r\nlines\r\n\r\n \n  \n",
    "a\u00a0b\u3000c\u2028d\u2029e\u0085f\u2009g\u200bh\ufeffi\x0bj\x0ck\x1cl",
    "I'll we'Re they'VE 'S it's don't I'M you'd ’s l’été ‘x’ ' 's '' 'ſ",
    "0 7 12 123 1234 12345 1234567 3.14 1,000 ٣٤٥ ²³ ½ Ⅷ １２ 12a34 a1b2",
    "HTTPServerError camelCase snake_case ǅ ʰ ªº ß İı ﬁ ſ K Å Éé",
    "e\u0301\u0301 \u0301 \u0308x Å A\u030a 각 \u1100\u1161\u11a8 हिन्दी ไทย \u3099か\u3099",
    "日本語テキスト 中文，标点。 한국어 العربية עברית Ελληνικά Русский ქართული",
    "❤ ❤\ufe0f ☃ ☠\ufe0f \u200d\u200c \u200e\u200f\u202a\u202e 1\ufe0f\u20e3",
    "x = {'a': [1, 2], \"b\": None}  # done\n\tif (a != b) { return -1; } /* … */ <br/>",
    "-----====== ... !!! ??? ://../~x @#$%^&*()_+|\\`´¨¸ «» „“ –— †‡ €£¥ ±×÷",
    "\x00\x01\x1f\x7f \ue000 \ufffd \ufffe \\ud800 \xad",
    "_ __ a_b </w> ▁ ▁▁a ## ##a <0x41> <0x0A> [UNK] Ġ Ċ ĠĠ @@ <s> </s> <unk> ￨ <pad>",
    "word" * 60 + " " * 70 + "ab" * 80 + "\n" * 40 + "1" * 50 + "!" * 50,
]


def around(tokens: Iterable[str]) -> list[str]:
    r"""Put special tokens into texts, whole, with spaces around, and cut in two.

    >>> around(["<s>"])[:2]
    ['<s>', 'a<s>b <s> b<s>\n<s>']
    """
    texts = []
    for token in tokens:
        half = len(token) // 2
        texts += [
            token,
            f"a{token}b {token} b{token}\n{token}",
            f" {token}{token}  {token[:half]} {token[half:]} {token[half:]}",
        ]
    return texts
