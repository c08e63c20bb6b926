"""Write the pieces in ``publishers.json``: how the publishers' engines split some texts.

Patterns in the flavour ``oniguruma`` are split by Hugging Face's ``tokenizers``
(its ``Split``, all behaviours), those in the flavour ``rust`` by ``tiktoken``.
The stages of named patterns stay as the file has them. Needs both libraries; costs
some seconds.
"""

# ruff: noqa: RUF001 -- the texts are in many scripts

import json
import random
from pathlib import Path

import tiktoken
from tokenizers import PreTokenizedString, Regex, pre_tokenizers

PATH = Path(__file__).with_name("publishers.json")
BEHAVIOURS = ["isolated", "removed", "merged_with_previous", "merged_with_next"]
BEHAVIOURS.append("contiguous")
TEXTS = [
    "I'll we'Re they'VE 'S ſ's 'ſ K'k don’t L'été",
    "a  b\t\tc \n d\r\n\r\n  e\u00a0\u3000f\u2028g \u0085 ",
    "1234567 ١٢٣٤ ²³ Ⅷ ½ 12a34",
    "HTTPServer camelCase ǅ ʰ ªº ß ẞ İ ı ﬁ",
    "e\u0301\u0301 \u0301 Å 각 हिन्दी 🇺🇳🇮 👨‍👩‍👧 \u200d\ufeff",
    "日本語テキスト 中文，标点。(a|b),。c、d۔e،f…g!h?",
    "-----=== /* // */ ../x.py\n\n\n    return {}[]();",
    "<sentinel:12>IMGIMGABCZ\t  x    y \n",
]
ATOMS = [r"a", r"b", r"\s", r"\S", r"\p{L}", r"\d", r"[^b\n]", r".", r"中", r"\w"]
ATOMS += [r"[[:punct:]]", r"[^\W1]", r"(?i:k)", r"1", r"\R", "(?x: a b )", " ", "\n"]
REPEATS = ["", "", "", "*", "+", "?", "*?", "+?", "??", "*+", "++", "{2}", "{1,2}"]
LOOKS = [r"$", r"^", r"(?!\S)", r"(?=a|$)", r"(?=ab)", r"(?<=a)", r"\b", r"\B", r"\A"]
LOOKS += [r"\z", r"\Z", r"(?<!b)", r"(?=(?:1{2})+(?!1))"]


def pattern(choose, depth=2):
    """Make up a pattern."""
    kind = choose.random()
    if depth == 0 or kind < 0.3:
        if choose.random() < 0.25:
            return choose.choice(LOOKS)
        return choose.choice(ATOMS) + choose.choice(REPEATS)
    parts = [pattern(choose, depth - 1) for _ in range(choose.randint(1, 3))]
    return "".join(parts) if kind < 0.6 else f"(?:{'|'.join(parts)})"


def by_tokenizers(stages, text):
    """Split with Hugging Face tokenizers."""
    whole = PreTokenizedString(text)
    for stage in stages:
        regex = Regex(stage["pattern"])
        split = pre_tokenizers.Split(regex, stage["behaviour"], stage["invert"])
        split.pre_tokenize(whole)
    return [piece for piece, _, _ in whole.get_splits()]


def by_tiktoken(source, text):
    """Split with tiktoken: with every part of the text a token, each piece is one token."""
    data = text.encode()
    parts = {bytes([byte]) for byte in range(256)}
    for start in range(len(data)):
        parts |= {data[start:end] for end in range(start + 1, len(data) + 1)}
    ranks = {part: rank for rank, part in enumerate(sorted(parts, key=len))}
    encoding = tiktoken.Encoding(
        "parts", pat_str=source, mergeable_ranks=ranks, special_tokens={}
    )
    ids = encoding.encode_ordinary(text)
    return [encoding.decode_bytes([token]).decode() for token in ids]


def made_up(n_cases):
    """Make up stages that tokenizers takes."""
    choose = random.Random(7)
    found = []
    while len(found) < n_cases:
        stages = [
            {
                "pattern": pattern(choose),
                "flavour": "oniguruma",
                "behaviour": choose.choice(BEHAVIOURS),
                "invert": choose.random() < 0.4,
            }
            for _ in range(choose.randint(1, 2))
        ]
        try:
            by_tokenizers(stages, "a")
        except Exception:
            continue
        found.append(stages)
    return found


def short_texts(n_texts, seed):
    """Make up texts for made-up patterns."""
    choose = random.Random(seed)
    letters = "aaaabbb  11112\n\né中!Kk'_\r"
    return ["".join(choose.choices(letters, k=12)) for _ in range(n_texts)]


def answer(stages, text):
    """Split with the library of the flavour."""
    if stages[0]["flavour"] == "rust":
        return by_tiktoken(stages[0]["pattern"], text)
    return by_tokenizers(stages, text)


def main():
    """Write the file."""
    cases = []
    for case in json.loads(PATH.read_text("utf-8"))["cases"]:
        if "name" in case:
            case["pieces"] = [answer(case["stages"], text) for text in TEXTS]
            cases.append(case)
    for seed, stages in enumerate(made_up(120)):
        texts = short_texts(3, seed)
        pieces = [answer(stages, text) for text in texts]
        cases.append({"stages": stages, "texts": texts, "pieces": pieces})
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    texts = json.dumps(TEXTS, ensure_ascii=False)
    written = f'{{\n"texts": {texts},\n"cases": [\n{lines}\n]\n}}\n'
    PATH.write_text(written, "utf-8")


if __name__ == "__main__":
    main()
