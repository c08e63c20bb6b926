"""Random combinations of everything a BPE ``tokenizer.json`` can hold.

File ``n`` of a seed is always the same: a normalizer (or a row of them), a pre-tokenizer
(or a row), options of the model, added tokens with random flags and overlapping contents,
a post-processor, a decoder, truncation and padding. Combinations that Hugging Face
tokenizers itself does not load are left out. ``building`` learns the vocabularies.
"""

import contextlib
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from . import components, patterns
from .building import Json, Parts, added, build, charsmap, write_file

__all__ = ["make", "write"]

BEHAVIOURS = "Isolated Removed MergedWithPrevious MergedWithNext Contiguous".split()
PATTERNS = [
    *(patterns.LLAMA3, patterns.O200K, patterns.CLIP, patterns.BLOOM),
    *r"\s+ \d{1,3} \w+|[^\w\s]+ (?=[A-Z]) \b \d".split(),
    " ",
    *r"[^\p{L}]+ \p{Lu}\p{Ll}* (?i)the|ß|s ^\s|\s$ \p{M}+ (?<=\d)(?=(\d{3})+$) .".split(),
]
REPLACED = [r"\s+", r"\d", "[aeiou]+", r"^ ", " {2,}", r"(.)\1"]
STRINGS = [" ", "a", "the", ".", "'", "\n", "▁", "  ", "é"]
CONTENTS = (
    "<s>,</s>,<mask>,ab,the, the,th,  ,\n\n,é,É,A,<|end|>,<|end,▁x,Hello,12,日本,'s"
).split(",")
ALL_FLAGS = "single_word lstrip rstrip normalized special".split()

Chance = random.Random


def named(name: str) -> Callable[[], Json]:
    """Make a part that is only a name."""
    return lambda: {"type": name}


def maybe(chance: Chance, share: float = 0.5) -> bool:
    """Choose yes with a share."""
    return chance.random() < share


def scheme(chance: Chance) -> str:
    """Choose where Metaspace puts a mark."""
    return chance.choice(["always", "first", "never"])


def normalizer(chance: Chance) -> Json:
    """Choose one normalizer."""
    makers: list[Callable[[], Json]] = [
        *map(named, "NFC NFD NFKC NFKD Lowercase StripAccents Nmt".split()),
        lambda: {
            "type": "Strip",
            **{key: maybe(chance, 0.6) for key in ("strip_left", "strip_right")},
        },
        lambda: {"type": "Prepend", "prepend": chance.choice(["▁", " ", "ab"])},
        lambda: components.replace(
            chance.choice(STRINGS), chance.choice(["", "▁", " ", "xy", "é"])
        ),
        lambda: {
            "type": "Replace",
            "pattern": {"Regex": chance.choice(REPLACED)},
            "content": chance.choice(["", " ", "0", "--"]),
        },
        lambda: {
            "type": "BertNormalizer",
            "clean_text": maybe(chance),
            "handle_chinese_chars": maybe(chance),
            "strip_accents": chance.choice([None, True, False]),
            "lowercase": maybe(chance),
        },
        lambda: {"type": "Precompiled", "precompiled_charsmap": charsmap()},
        lambda: {"type": "ByteLevel"},
    ]
    return chance.choice(makers)()


def pre_tokenizer(chance: Chance) -> Json:
    """Choose one pre-tokenizer."""
    makers: list[Callable[[], Json]] = [
        lambda: components.byte_level(
            prefix=maybe(chance, 0.3),
            trim=maybe(chance),
            regex=maybe(chance, 0.6),
        ),
        lambda: components.split(
            chance.choice(PATTERNS),
            chance.choice(BEHAVIOURS),
            invert=maybe(chance, 0.4),
        ),
        lambda: {
            "type": "Split",
            "pattern": {"String": chance.choice(STRINGS)},
            "behavior": chance.choice(BEHAVIOURS),
            "invert": maybe(chance, 0.4),
        },
        lambda: components.digits(individual=maybe(chance)),
        lambda: {"type": "Punctuation", "behavior": chance.choice(BEHAVIOURS)},
        *map(
            named,
            "Whitespace WhitespaceSplit BertPreTokenizer UnicodeScripts".split(),
        ),
        lambda: components.metaspace(scheme(chance), split_it=maybe(chance, 0.6)),
        lambda: {
            "type": "Metaspace",
            "replacement": "_",
            "prepend_scheme": scheme(chance),
            "split": True,
        },
        lambda: {"type": "CharDelimiterSplit", "delimiter": chance.choice(" -a")},
        lambda: {"type": "FixedLength", "length": chance.choice([1, 2, 5])},
    ]
    return chance.choice(makers)()


def model(chance: Chance) -> Json:
    """Choose options of the model."""
    options: Json = {}
    if chance.random() < 0.5:
        options |= {"unk_token": "[UNK]", "fuse_unk": maybe(chance)}
    if chance.random() < 0.35:
        options["byte_fallback"] = True
    if chance.random() < 0.2:
        options["continuing_subword_prefix"] = "##"
    if chance.random() < 0.25:
        options["end_of_word_suffix"] = "</w>"
    if chance.random() < 0.2:
        options["ignore_merges"] = True
    return options


def decoder(chance: Chance) -> Json:
    """Choose one decoder."""
    makers: list[Callable[[], Json]] = [
        lambda: components.DECODE,
        lambda: components.DECODE,
        lambda: {"type": "BPEDecoder", "suffix": "</w>"},
        lambda: components.metaspace(scheme(chance), split_it=True),
        lambda: {"type": "ByteFallback"},
        lambda: {"type": "Fuse"},
        lambda: {
            "type": "Strip",
            "content": chance.choice(" ▁a"),
            "start": chance.randint(0, 2),
            "stop": chance.randint(0, 2),
        },
        lambda: components.replace(
            chance.choice(["▁", "Ġ", "a"]), chance.choice([" ", ""])
        ),
        lambda: {"type": "WordPiece", "prefix": "##", "cleanup": maybe(chance)},
        lambda: {
            "type": "CTC",
            "pad_token": "<s>",
            "word_delimiter_token": "|",
            "cleanup": maybe(chance),
        },
        lambda: components.LLAMA_DECODER,
    ]
    return chance.choice(makers)()


def row(
    chance: Chance, key: str, one: Callable[[Chance], Json], weights: list[float]
) -> Json | None:
    """Choose none, one, or a row of several."""
    n_parts = chance.choices(range(len(weights)), weights)[0]
    parts = [one(chance) for _ in range(n_parts)]
    if n_parts == 0:
        return None
    return parts[0] if n_parts == 1 else components.sequence(key, *parts)


def post_processor(chance: Chance) -> Any:
    """Choose what is put around a text; its tokens are ``<s>`` and ``</s>``."""
    flags = {"trim": maybe(chance), "prefix": maybe(chance)}
    choices = [
        None,
        None,
        components.template("<s>"),
        components.template("<s>", "</s>"),
        components.template("", "</s>", in_pair=False),
        components.roberta("<s>", "</s>", **flags),
        components.bert("<s>", "</s>"),
        components.byte_level(**flags),
        components.byte_level_then(components.template("<s>", "</s>")),
        components.byte_level_then(components.roberta("<s>", "</s>", **flags)),
    ]
    chosen = chance.choice(choices)
    return renaming(chosen) if callable(chosen) and maybe(chance, 0.25) else chosen


def renaming(
    make_it: Callable[[dict[str, int]], Json],
) -> Callable[[dict[str, int]], Json]:
    """Name the special tokens otherwise than the vocabulary does."""

    def rename(ids: dict[str, int]) -> Json:
        text = json.dumps(make_it(ids)).replace("s>", "renamed>")
        return cast("Json", json.loads(text))

    return rename


def truncation(chance: Chance) -> Json | None:
    """Choose truncation, mostly none."""
    if chance.random() < 0.85:
        return None
    strategies = ["LongestFirst", "LongestFirst", "OnlyFirst", "OnlySecond"]
    return {
        "direction": chance.choice(["Left", "Right"]),
        "max_length": chance.choice([8, 20]),
        "strategy": chance.choice(strategies),
        "stride": chance.choice([0, 2]),
    }


def padding(chance: Chance) -> Json | None:
    """Choose padding, mostly none."""
    if chance.random() < 0.85:
        return None
    return {
        "strategy": chance.choice(["BatchLongest", {"Fixed": 24}]),
        "direction": chance.choice(["Left", "Right"]),
        "pad_to_multiple_of": chance.choice([None, 8]),
        "pad_id": 0,
        "pad_type_id": chance.choice([0, 3]),
        "pad_token": "<s>",
    }


def make(seed: int, number: int) -> Parts:
    """Choose all parts of one file."""
    chance = Chance(seed * 1_000_003 + number)
    contents = ["<s>", "</s>", *chance.sample(CONTENTS[2:], k=chance.randint(0, 6))]
    tokens = [
        added(text, " ".join(flag for flag in ALL_FLAGS if maybe(chance, 0.35)))
        for text in contents
    ]
    parts = _all_parts(chance, tokens)
    # Few parts at once, so that what differs says what is wrong.
    if maybe(chance, 0.6):
        kept = ("n_tokens", "in_vocabulary")
        names = (name for name in Parts._fields if name not in kept)
        plain = {n: Parts._field_defaults[n] for n in names if maybe(chance, 0.6)}
        if "added" in plain:  # the post-processor needs two
            plain["added"] = [{**added(name)} for name in ("<s>", "</s>")]
        parts = parts._replace(**plain)
    return parts


def _all_parts(chance: Chance, tokens: list[Json]) -> Parts:
    pre = row(chance, "pretokenizers", pre_tokenizer, [1, 5, 4, 2])
    return Parts(
        normalizer=row(chance, "normalizers", normalizer, [5, 4, 2, 1]),
        pre_tokenizer=pre,
        post_processor=post_processor(chance),
        decoder=row(chance, "decoders", decoder, [1, 5, 2, 2]),
        model=model(chance),
        added=tokens,
        in_vocabulary=maybe(chance),
        n_tokens=chance.choice([300, 600, 1200]),
        truncation=truncation(chance),
        padding=padding(chance),
    )


def write(folder: Path, n_files: int, seed: int) -> None:
    """Write the first files of a seed, as ``NUMBER.json``."""
    for number in range(n_files):
        with contextlib.suppress(Exception):  # whatever tokenizers itself refuses
            whole = build(make(seed, number))
            if not is_ambiguous(whole):
                write_file(folder / f"{seed}-{number:05}.json", whole)


def is_ambiguous(whole: Json) -> bool:
    """Tell whether a normalizer leaves nothing of an added token, or makes two of them equal.

    Hugging Face tokenizers then finds the token at every byte, and fails within characters;
    or finds one of the two, which depends on the order of a hash table.
    """
    import tokenizers

    normalizer = tokenizers.Tokenizer.from_str(json.dumps(whole)).normalizer
    sought = [
        token["content"] for token in whole["added_tokens"] if token["normalized"]
    ]
    if normalizer is None:
        return False
    forms = [normalizer.normalize_str(content) for content in sought]
    return not all(forms) or len(set(forms)) < len(forms)
