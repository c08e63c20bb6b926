"""Random strings that love boundaries, each made from its own seed.

A string is a row of fragments: runs of white space, digits, contractions, combining marks,
emoji sequences, Hangul jamo, direction marks, characters of any category of Unicode,
characters that stand for bytes or spaces in vocabularies, and the special tokens of the
vocabulary under test, whole, cut in two and with spaces around. String ``n`` of a seed is
always the same, so one number names a failure.

Left out: lone surrogates, which are no text; their escapes are in.
Cost: about 20 microseconds per string.
"""

import random
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cache

__all__ = ["make_string", "make_strings"]

Maker = Callable[[random.Random, Sequence[str]], str]

SPACES = [
    *" \t\n\r\v\f\x1c\x1d\x1e\x1f\x85\xa0\u1680\u180e\u2028\u2029\u202f\u205f\u3000\ufeff",
    *(chr(point) for point in range(0x2000, 0x200F)),
]
COMMON_SPACES = [" ", " ", "  ", "\n", "\r\n", "\t", "   ", "\n\n", " \n", "\n "]
DIGITS = "0 7 12 123 1234 1234567 ٣ ९९ ² ½ Ⅷ １ 𝟗 ①".split(" ")
QUOTES = ["'", "’", "ʼ", "‘", "`", "＇", "′"]
CONTRACTED = "s t re ve m ll d S T RE Ve M lL D ſ x nt".split(" ")
MARKS = [
    *"\u0301\u0300\u0308\u0327\u0323\u0345\u3099\u309a\u094d\u093f\u0e31\u0e47\u20e3\u0338"
]
EMOJI = "👨‍👩‍👧 🏃‍♂️ 🇺🇳 🇺 ❤️ ❤ 👍🏽 🏴‍☠️ 🧑🏿‍🚀 1️⃣ \u200d \ufe0f 🤝".split(" ")
JAMO = [*"ᄀ하ᅵᆨᇂ", "각", "힣", "각", "가", "ㄱ", "ힰ", "ꥠ"]
DIRECTIONS = [
    *"\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u061c"
]
ODD = (
    "\ufffd \0 \x01 \x7f \ue000 \ufffe \uffff \U0010ffff \\ud800 \\udfff \xad "
    "\u200b \u2060 \U000e0041"
).split(" ")
LOOKALIKES = (
    "Ġ Ċ ĉ Ā ▁ ▁▁ Ń <0x41> <0x0A> <0xE2> </w> @@ ## Ġthe ▁the <unk> [UNK] <s> "
    "</s> [MASK] <|endoftext|> <pad> _"
).split(" ")
FOLDING = [
    *"ſKÅİıßẞǅǆﬁŉΐςΣσÉéñçÑÇœŒÆøØđĐłŁ",
    *"e\u0301 A\u030a ﾞ ㌔ Ⅳ … ﷺ ™ ㍿ 🄰 º".split(" "),
]
SCRIPTS = (
    "日本語 テキスト ひらがな 中文， 。 한국어 हिन्दी ไทย العربية עברית Ελλάδα Привет தமிழ் ქართ አማ "
    "ខ្មែរ བོད ᠮᠣ"
).split(" ")
LATIN = (
    "a,b,z,A,I,the, the,hello,Hello,WORLD,camelCase,HTTPServer,don,we,ab,abc,er,ing,"
    "tion,l"
).split(",")
SIGNS = [
    *'!"#$%&()*+,-./:;<=>?@[\\]^_{|}~§±×÷€£¥°·«»¿¡†–—„',
    *"... -- == /* */ :// !! ?! .\n ]) })\n".split(" "),
]


def make_strings(seed: int, n_strings: int, specials: Sequence[str]) -> Iterator[str]:
    """Make the first strings of a seed."""
    for number in range(n_strings):
        yield make_string(seed, number, specials)


def make_string(seed: int, number: int, specials: Sequence[str] = ()) -> str:
    """Make one string, from an empty one to some hundred characters."""
    chance = random.Random(seed * 1_000_003 + number)
    if chance.random() < 0.02:
        return _long_run(chance, specials)
    n_fragments = min(int(chance.expovariate(0.18)), 40)
    favourites = chance.sample(MAKERS, k=chance.randint(1, len(MAKERS)))
    return "".join(
        chance.choice(favourites)(chance, specials) for _ in range(n_fragments)
    )


def _pick(fragments: Sequence[str]) -> Maker:
    def make(chance: random.Random, _: Sequence[str]) -> str:
        return chance.choice(fragments)

    return make


def _run_of_spaces(chance: random.Random, _: Sequence[str]) -> str:
    kinds = chance.choices(SPACES, k=chance.randint(1, 3))
    return "".join(chance.choice(kinds) for _ in range(chance.randint(1, 6)))


def _digits(chance: random.Random, _: Sequence[str]) -> str:
    return "".join(chance.choices(DIGITS, k=chance.randint(1, 4)))


def _contraction(chance: random.Random, _: Sequence[str]) -> str:
    before = chance.choice(["", " ", "I", "we", "é", "1", "\n", "'"])
    return before + chance.choice(QUOTES) + chance.choice(CONTRACTED)


def _marked(chance: random.Random, _: Sequence[str]) -> str:
    base = chance.choice(["", " ", *LATIN[:6], "日", "각", "1", "'", "\n"])
    return base + "".join(chance.choices(MARKS, k=chance.randint(1, 4)))


def _anything(chance: random.Random, _: Sequence[str]) -> str:
    category = chance.choice(list(by_category()))
    return chance.choice(by_category()[category])


def _any_point(chance: random.Random, _: Sequence[str]) -> str:
    point = chance.choice(
        [chance.randrange(0xD800), chance.randrange(0xE000, 0x110000)]
    )
    return chr(point)


def _special(chance: random.Random, specials: Sequence[str]) -> str:
    if not specials:
        return chance.choice(LOOKALIKES)
    token = chance.choice(specials)
    place = chance.randint(0, len(token))
    ways = [
        token,
        token,
        f" {token}",
        f"{token} ",
        f"  {token}  ",
        token[:place],
        token[place:],
    ]
    ways += [
        f"{token[:place]} {token[place:]}",
        token + token,
        token.upper(),
        f"a{token}",
        f"{token}a",
    ]
    return chance.choice(ways)


def _long_run(chance: random.Random, specials: Sequence[str]) -> str:
    unit = "".join(
        chance.choice(MAKERS)(chance, specials) for _ in range(chance.randint(1, 2))
    )
    return (unit * 400)[: chance.randint(20, 600)]


@cache
def by_category() -> dict[str, list[str]]:
    """Group the characters that UTF-8 can write by general category, unassigned ones too."""
    found: dict[str, list[str]] = {}
    for point in range(0x110000):
        if not 0xD800 <= point < 0xE000:
            found.setdefault(unicodedata.category(chr(point)), []).append(chr(point))
    return {category: found[category] for category in sorted(found)}


MAKERS: list[Maker] = [
    _run_of_spaces,
    _digits,
    _contraction,
    _marked,
    _anything,
    _any_point,
    _special,
    _special,
    *map(
        _pick, [COMMON_SPACES, COMMON_SPACES, EMOJI, JAMO, DIRECTIONS, ODD, LOOKALIKES]
    ),
    *map(_pick, [FOLDING, SCRIPTS, LATIN, LATIN, LATIN, SIGNS, SIGNS]),
]
