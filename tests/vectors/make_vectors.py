"""Write the golden vectors of this folder, computed by the readable reference.

Run it from the repository root after a change of meaning, and read the diff:
``PYTHONPATH=python python tests/vectors/make_vectors.py``. README.md beside it
describes the format.
"""

# ruff: noqa: RUF001 -- the texts are in many scripts

import json
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path

from bytepair import reference
from bytepair.reference import DIALECTS, UnknownTokenError
from bytepair.reference.count import count
from bytepair.reference.normalize import normalize
from bytepair.reference.split import split_once, to_bytes, to_text
from bytepair.reference.tokenizer import cut_pieces
from bytepair.reference.units import written

FOLDER = Path(__file__).parent
INVALID = b"abc\xff\xfe def\xe2\x80"

SPLIT_TEXTS = [
    *(b"", b"a", b" ", b"\n"),
    b"Let's see how this w0rks!",
    b"  two  spaces   and\ttabs\t\tand \n\n line\r\nends \r\n\r\n  ",
    *(b"trailing space ", b"trailing spaces   ", b"a\n  ", b"a \n b\n\n\n  c"),
    b"1 22 333 4444 55555 1,234.5 v2.0",
    b"I'm we're they'LL it'S can't 'tis ''s o'clock 's",
    "I\u2019m \u017f's '\u017f '\u212a".encode(),
    b"camelCase HTTPServer XMLHttpRequest snake_case __init__",
    b"f(x)=x**2; // comment\n\treturn x[0]/y\n",
    b"http://example.org/a/b?c=d&e=f#g",
    b"!!!???... --- ==> /* */\n",
    "Große Straße, ÉCOLE élève, ĲSSEL ǅ ǆ Ǆ ŉ".encode(),
    "e\u0301a\u0308\u0323 \u0301 x\u20dd".encode(),
    "این یک عبارت برای تست می\u200cخواهم ۱۲۳ است.".encode(),
    "हिन्दी में क्\u200dष १२३४".encode(),
    "中文字符，没有空格。漢字かなカナ ㄅ 〇 ｱ 123中".encode(),
    "한국어 텍스트 각 ㄱ".encode(),
    "ภาษาไทย ၁၂၃ ಕನ್ನಡ".encode(),
    "½ ² Ⅳ ① ٣ 𝟘𝟙 ௧".encode(),
    "\u00a0a\u2003b\u2028c\u2029d\u3000e\u0085f\u200bg\ufeffh\u180ei".encode(),
    "😄 👨\u200d👩\u200d👧 🇮🇷🇩🇪 👍🏽 ❤\ufe0f".encode(),
    "\u0000\u0001\u001f\u007f\u0080\ue000\ufffe\U0010ffff".encode(),
    "\u1c89\u1c8a \U0001e5d0 \U00016d40 \u2ffc \u31e4 \U0001cc00".encode(),
    INVALID,
    *(INVALID[:n] for n in range(4, len(INVALID))),
    b"\xffabc \xc3\x28 \xed\xa0\x80 \xf4\x90\x80\x80 \xf0\x9f\x98 \xc0\xaf",
]
SPLIT_PATTERNS = [
    *(r"\w+", r"\W+", r"\d+|\D", r"\s+|\S+", r".", r".+", r"(?s:.+)"),
    *(r"|a", r"a*", r"\n*$|e", r"^.|s$"),
    r"\p{Han}+|\p{Script=Hiragana}+|\p{Katakana}+|\p{Hangul}+",
    *(r"\pL\pM*", r"[^\PL\p{Lu}]+", r"[\p{Nd}\p{Nl}]+|\P{N}", r"[\s\S]{1,3}"),
    r"(?i:S|É|ǆ|k)+",
    r"\p{L}+?|\p{N}{2,3}?",
    r"\s+(?!\S)|\s(?=\p{L})|\p{L}++",
    r"(?:ab|a|bc)+|[a-e]{2}|\.",
    r"[\x00-\x1F]+|[\]\[^-]+|\u00e9",
]

NORMALIZE_STEPS = [
    *([[name]] for name in ("lowercase", "nfc", "nfd", "nfkc", "nfkd")),
    [["nfkc"], ["replace", " ", "▁"]],
    [["lowercase"], ["replace", "aa", "a"], ["prepend", "▁"]],
]
NORMALIZE_TEXTS = [
    "",
    "a b  c",
    "aaaAAAaa",
    "İI ΑΣ ΣΑΣ ǅ ẞ Ⴀ Ꭰ Ａ 𐐀 Ⅷ Ⓐ",
    "ﬁ ² ½ ℌ ｶﾞ Å \u212b e\u0301 \u1e9b\u0323 \u0344",
    "각 \u1100\u1161\u11a8 हिन्दी \u0958 ﷺ",
    "a\u0315\u0300\u05ae\u0062 x\u0323\u0307",
]

WORDS = "low low low low low lower lower newest newest newest newest newest newest "
WORDS += "widest widest widest"
SONG = "\nLay lady lay,\nLay across my big brass bed\nLay lady lay\nLay across my bed\n"
PERSIAN = "این یک عبارت برای تست روش مورد بررسی است.\nدر این مدل سعی در توکنایز کردن"
RUNS = "a aa aaa aaaa aaaaa aaaaaa aaaaaaa aaaaaaaa abab ababab abababab aab aabaab"
MIXED = "Héllo wörld, 123 1234! 中文中文 😄😄 \n\n  indented\n\tcode();  Hello world's "
TIES = "ba ab bb ba ab bb cab bac a_b _a "

PATTERNS = ("gpt2", "gpt4", "gpt4o", "deepseek-v3", "letters-digits")
ORDER = "\n\n \n\n ! !! \x7f\x7f !!"

TRAIN_CASES = [
    # name, dialect, texts, keywords
    ("counts and ties of the paper", "sennrich", [WORDS], {}),
    ("paper, suffix mark", "subword-nmt", [WORDS], {}),
    ("song", "sennrich", [SONG], {}),
    ("song, largest text", "subword-nmt", [SONG], {"min_count": 1}),
    ("course", "jurafsky-martin", ["low " * 5 + "Lowest " * 2 + "NEWER " * 6], {}),
    ("underscores", "jurafsky-martin", ["a_ a_ a a a __ _"], {}),
    (
        *("words end with lines", "subword-nmt"),
        ["low\nlow\r\nlow\rlow er\u2028er \u2028\tlow\tlow\xa0er\n\n  er\x0cer "],
        {"min_count": 1},
    ),
    ("literal suffix", "subword-nmt", ["a</w> a</w> a a b</w> <"], {"min_count": 1}),
    ("persian", "unknown-token", [PERSIAN], {"special_tokens": ["<|endoftext|>"]}),
    ("vocabulary of 40", "unknown-token", [PERSIAN], {"vocab_size": 40}),
    ("no room for merges", "unknown-token", ["ba ab"], {"vocab_size": 3}),
    ("runs, value", "byte-stream", [RUNS], {"merges": 60}),
    ("runs, many texts", "byte-stream", RUNS.split(), {}),
    ("runs, smallest ids", "gpt2", [RUNS], {"min_count": 1}),
    ("runs, largest text", "gpt2", [RUNS], {"min_count": 1, "ties": "largest_text"}),
    ("runs, first seen", "gpt2", [RUNS], {"min_count": 1, "ties": "first_seen"}),
    ("ties, smallest ids", "sennrich", [TIES], {"ties": "smallest_ids"}),
    ("ties, first seen", "sennrich", [TIES], {"ties": "first_seen"}),
    ("ties, largest text", "sennrich", [TIES], {"ties": "largest_text"}),
    ("ties, printable order", "gpt2", [ORDER], {}),
    ("ties, value order", "gpt2", [ORDER], {"byte_ids": "value"}),
    *(("mixed", name, [MIXED * 2], {}) for name in PATTERNS),
    ("mixed", "sentencepiece", [MIXED * 2], {"merges": 30}),
    ("not UTF-8", "letters-digits", [INVALID * 3], {}),
    ("not UTF-8", "byte-stream", [INVALID * 3], {"merges": 12}),
    ("min count 4", "gpt2", [MIXED * 2], {"min_count": 4}),
    ("special tokens", "gpt2", ["ab<s>ab<s><s>ab"], {"special_tokens": ["<s>"]}),
    ("prefix", "sennrich", [WORDS], {"end_mark": None, "prefix": "##"}),
    ("lower case in training", "jurafsky-martin", ["AB ab"], {"lowercase": "training"}),
    ("nothing", "gpt2", [], {}),
    ("nothing", "sennrich", ["  "], {}),
]

# Cases that add nothing to encoding, by words of their names.
ONLY_TRAINED = ["ties, ", "nothing", "min count", "words end", "many texts"]
ONLY_TRAINED += ["first seen", "gpt2: mixed", "letters-digits: mixed"]
ENCODE_CASES = [
    ("fused", "unknown-token", ["hug pug hugs"], {"fuse_unknown": True}),
    ("unknown before bytes", "sentencepiece", ["ab ab"], {"unknown_token": "<unk>"}),
    ("longest", "gpt2", ["abab"], {"special_tokens": ["<s>", "<s><s>", "s>b"]}),
]
SUFFIX = {"end_mark": "</w>", "end_mark_kind": "suffix"}
BOTH = {"end_mark": "_", "prefix": "##", "min_count": 3}
UNITS_CASES = [
    ("bytes with a suffix", "gpt2", [WORDS], SUFFIX),
    ("bytes with a prefix and a mark", "gpt2", [WORDS], BOTH),
    ("left out", "sennrich", [WORDS], {"missing": "drop"}),
]
ENCODE_TEXTS = [
    "",
    "lowest newer newest aaaaaaaaa",
    "hug xyz xxhug 中é",
    "a<s>b<s><s>b<s",
    "Lay lady, lay across_ my_ _",
    "ab" * 5 + "a" * 11,
    b"abc\xff\xfe def\xe2\x80",
]


def main():
    """Write all files."""
    for name, text in build().items():
        (FOLDER / name).write_text(text, encoding="ascii")


def build():
    """Compute the text of every file, by its name."""
    split_texts = [data.hex() for data in SPLIT_TEXTS]
    normalize_texts = [to_hex(text) for text in NORMALIZE_TEXTS]
    return {
        "split.json": to_json(split_cases(), texts=split_texts),
        "normalize.json": to_json(normalize_cases(), texts=normalize_texts),
        "train.json": to_json([train_case(*case) for case in TRAIN_CASES]),
        "encode.json": to_json(encode_cases()),
        "units.json": to_json(units_cases()),
    }


def to_json(cases, **shared):
    """Write an object with one case a line."""
    lines = [json.dumps(case, separators=(",", ":")) for case in cases]
    head = "".join(f"{json.dumps(key)}: {json.dumps(shared[key])},\n" for key in shared)
    return "{\n" + head + '"cases": [\n' + ",\n".join(lines) + "\n]\n}\n"


def split_cases():
    """Split every text by every dialect's stages and by single patterns."""
    named = {name: dialect.split for name, dialect in DIALECTS.items()}
    named |= {pattern: ((pattern, "keep"),) for pattern in SPLIT_PATTERNS}
    named |= {f"{p} dropping": ((p, "drop"),) for p in SPLIT_PATTERNS[:8]}
    return [
        {
            "name": name,
            "stages": [list(stage) for stage in stages],
            "pieces": [spans(to_text(data), stages) for data in SPLIT_TEXTS],
        }
        for name, stages in named.items()
    ]


def spans(text, stages, start=0):
    """List the pieces of a text as [start, end) in bytes."""
    if not text:
        return []
    if not stages:
        return [[start, start + len(to_bytes(text))]]
    (pattern, unmatched), *others = stages
    found = []
    for piece, is_match in split_once(text, pattern):
        if is_match or unmatched == "keep":
            found += spans(piece, others, start)
        start += len(to_bytes(piece))
    return found


def normalize_cases():
    """Normalize every text by every list of steps."""
    cases = []
    for steps in NORMALIZE_STEPS:
        found = [to_hex(normalize(text, steps)) for text in NORMALIZE_TEXTS]
        cases.append({"steps": steps, "normalized": found})
    return cases


def train_case(name, dialect, texts, keywords):
    """Train once; the pieces are given too, for a trainer without a splitter."""
    tokenizer = reference.train_from_iterator(texts, dialect=dialect, **keywords)
    specials = keywords.get("special_tokens", ())
    options = {"special_tokens": specials, "training": True}
    cut = (cut_pieces(text, tokenizer.dialect, **options) for text in texts)
    pieces = count(chain.from_iterable(cut))
    return {
        "name": f"{dialect}: {name}",
        "dialect": dialect,
        **parts(tokenizer.dialect),
        "n_merges": keywords.get("merges"),
        "vocab_size": keywords.get("vocab_size"),
        "special_tokens": list(specials),
        "texts": [to_hex(text) for text in texts],
        "pieces": [[piece.hex(), n, first] for piece, (n, first) in pieces.items()],
        **vocabulary(tokenizer),
        "counts": [n_pairs for _, _, _, n_pairs in tokenizer.inspect().merge_log],
    }


def encode_cases():
    """Encode with trained vocabularies, and with some that no training makes."""
    rows = [trained(*case) for case in (*TRAIN_CASES, *ENCODE_CASES)]
    by_name = {name: rest for name, *rest in rows}
    is_encoded = {name: not any(w in name for w in ONLY_TRAINED) for name in by_name}
    cases = [encode_case(name, *by_name[name]) for name in by_name if is_encoded[name]]
    for name in ("gpt2: runs, smallest ids", "sennrich: song", "gpt4: mixed"):
        dialect, tokenizer, texts = by_name[name]
        half = replace(tokenizer, learned=tokenizer.learned[::2])
        for change, changed in (
            ("merges backwards", replace(tokenizer, learned=tokenizer.learned[::-1])),
            ("half the merges", half),
            ("half, ignore", replace(half, ignore_merges=True)),
        ):
            cases.append(encode_case(f"{name}, {change}", dialect, changed, texts))
    return cases


def trained(name, dialect, texts, keywords):
    """Train once; give the whole name, the dialect, the tokenizer and the texts."""
    tokenizer = reference.train_from_iterator(texts, dialect=dialect, **keywords)
    return f"{dialect}: {name}", dialect, tokenizer, texts


def units_cases():
    """Encode with bytes that carry marks, units left out, and shared priorities."""
    cases = [encode_case(*trained(*case)) for case in UNITS_CASES]
    names = ("runs, smallest ids", "song", "paper, suffix mark")
    for case in (case for case in TRAIN_CASES if case[0] in names):
        name, dialect, tokenizer, texts = trained(*case)
        shared = replace(tokenizer, priorities=priorities(len(tokenizer.learned)))
        cases.append(encode_case(f"{name}, shared", dialect, shared, texts))
        whole = replace(shared, ignore_merges=True)
        cases.append(encode_case(f"{name}, whole", dialect, whole, texts))
    return cases


def priorities(n_merges):
    """Give every third merge a priority of its own, and share those of the others."""
    return tuple(place if place % 3 == 0 else place % 7 for place in range(n_merges))


def encode_case(name, dialect, tokenizer, texts):
    """Encode the training texts and some more, all special tokens allowed."""
    inputs = [*texts[:2], *ENCODE_TEXTS]
    return {
        "name": name,
        "dialect": dialect,
        **parts(tokenizer.dialect),
        "ignore_merges": tokenizer.ignore_merges,
        "special_tokens": list(tokenizer.special_tokens),
        **vocabulary(tokenizer),
        **({"priorities": tokenizer.priorities} if tokenizer.priorities else {}),
        "inputs": [encode_input(tokenizer, text) for text in inputs],
    }


def encode_input(tokenizer, text):
    """Encode one text, or name the error."""
    encoded = {"text": to_hex(text), "error": None, "ids": None, "decoded": None}
    try:
        ids = tokenizer.encode(text, allowed_special=list(tokenizer.special_tokens))
    except UnknownTokenError:
        return {**encoded, "error": "unknown token"}
    except UnicodeDecodeError as error:
        return {**encoded, "error": f"not UTF-8 at {error.start}"}
    return {**encoded, "ids": ids, "decoded": tokenizer.decode_bytes(ids).hex()}


def parts(dialect):
    """List a dialect's parts, but for ``normalize`` and ``split``."""
    units = asdict(dialect.units)
    if units["missing"] == "error":
        del units["missing"]
    others = ("lowercase", "ties", "min_count")
    return {**units, **{name: getattr(dialect, name) for name in others}}


def vocabulary(tokenizer):
    """List tokens as [written, text, form], those of 256 bytes left out, and merges."""
    units = tokenizer.dialect.units
    first_id = 256 if units.kind == "byte" or units.byte_fallback else 0
    tokens = tokenizer.tokens[first_id:]
    return {
        "first_id": first_id,
        "tokens": [[written(t, units).hex(), t.text.hex(), t.form] for t in tokens],
        "merges": [
            [left, right, new] for left, right, new, _ in tokenizer.inspect().merge_log
        ],
    }


def to_hex(text):
    """Write a text or bytes in hexadecimal."""
    return (text.encode() if isinstance(text, str) else text).hex()


if __name__ == "__main__":
    main()
