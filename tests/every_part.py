"""A ``tokenizer.json`` for every kind of part that the format knows."""

import copy

from tests.parity.building import added, charsmap

NAMES = dict.fromkeys("abcBé▁ 123,!ĠÃ©|")
WORDS = ["ab", "▁a", "##b", "<s>", "bc", "[U]"]
VOCAB = {name: place for place, name in enumerate([*NAMES, *WORDS])}
A = {"String": "a"}
BYTE_LEVEL = {"add_prefix_space": True, "trim_offsets": True, "use_regex": True}
METASPACE = {"replacement": "▁", "prepend_scheme": "always", "split": True}
FIRST, SECOND = (
    {"Sequence": {"id": name, "type_id": number}} for number, name in enumerate("AB")
)
TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, FIRST],
    "pair": [FIRST, SECOND],
    "special_tokens": {"<s>": {"id": "<s>", "ids": [VOCAB["<s>"]], "tokens": ["<s>"]}},
}
ROBERTA = {"trim_offsets": True, "add_prefix_space": True}
AROUND = {"sep": ["a", VOCAB["a"]], "cls": ["<s>", VOCAB["<s>"]]}
BERT = {"clean_text": True, "handle_chinese_chars": True, "strip_accents": None}
PADDING = {
    "direction": "Left",
    "pad_to_multiple_of": 3,
    "pad_id": 1,
    "pad_type_id": 0,
    "pad_token": "b",
}
COMPONENTS = {
    "normalizer": [
        {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Lowercase"}]},
        *({"type": name} for name in ("Lowercase", "NFC", "NFD", "NFKC", "NFKD")),
        *({"type": name} for name in ("StripAccents", "Nmt", "ByteLevel")),
        {"type": "Replace", "pattern": A, "content": "b"},
        {"type": "Replace", "pattern": {"Regex": "[ab]"}, "content": "c"},
        {"type": "Prepend", "prepend": "b"},
        {"type": "Strip", "strip_left": True, "strip_right": False},
        *(
            {"type": name, **BERT, "lowercase": True}
            for name in ("BertNormalizer", "Bert")
        ),
        {"type": "Precompiled", "precompiled_charsmap": charsmap()},
    ],
    "pre_tokenizer": [
        {"type": "Sequence", "pretokenizers": [{"type": "Whitespace"}]},
        {"type": "Split", "pattern": A, "behavior": "Removed", "invert": False},
        {"type": "ByteLevel", **BYTE_LEVEL},
        {"type": "Metaspace", **METASPACE},
        *({"type": name} for name in ("Whitespace", "WhitespaceSplit")),
        *({"type": name} for name in ("BertPreTokenizer", "UnicodeScripts")),
        {"type": "Digits", "individual_digits": True},
        {"type": "Punctuation", "behavior": "Contiguous"},
        {"type": "CharDelimiterSplit", "delimiter": "b"},
        {"type": "Delimiter", "delimiter": "b"},
        {"type": "FixedLength", "length": 2},
    ],
    "post_processor": [
        {"type": "Sequence", "processors": [{"type": "ByteLevel", **BYTE_LEVEL}]},
        {"type": "ByteLevel", **BYTE_LEVEL},
        TEMPLATE,
        {"type": "RobertaProcessing", **AROUND, **ROBERTA},
        {"type": "BertProcessing", **AROUND},
    ],
    "decoder": [
        {"type": "Sequence", "decoders": [{"type": "Fuse"}]},
        {"type": "ByteLevel", **BYTE_LEVEL},
        {"type": "Metaspace", **METASPACE},
        {"type": "BPEDecoder", "suffix": "b"},
        {"type": "Replace", "pattern": A, "content": "b"},
        *({"type": name} for name in ("ByteFallback", "Fuse")),
        {"type": "Strip", "content": "a", "start": 1, "stop": 0},
        {"type": "WordPiece", "prefix": "##", "cleanup": True},
        {"type": "CTC", "pad_token": "a", "word_delimiter_token": "|", "cleanup": True},
    ],
    "truncation": [
        {"direction": "Left", "max_length": 3, "strategy": "LongestFirst", "stride": 0}
    ],
    "padding": [
        {"strategy": strategy, **PADDING} for strategy in ("BatchLongest", {"Fixed": 7})
    ],
    "added_tokens": [],
    "model": [],
}
ADDED = {"id": VOCAB["<s>"], **added("<s>", "special lstrip")}
MODEL = {
    "type": "BPE",
    "dropout": None,
    "unk_token": "[U]",
    "fuse_unk": True,
    **dict.fromkeys(("continuing_subword_prefix", "end_of_word_suffix")),
    "byte_fallback": False,
    "ignore_merges": False,
    "vocab": VOCAB,
    "merges": [["a", "b"], ["▁", "a"], ["b", "c"]],
}


def base():
    """Make a file without optional parts."""
    parts = dict.fromkeys(["truncation", "padding", *COMPONENTS])
    parts |= {"added_tokens": [dict(ADDED)], "model": copy.deepcopy(MODEL)}
    return {"version": "1.0", **parts}


def documents():
    """Make a file for each component; the part in which it stands."""
    found = [("file", base(), "")]
    found += [(part, base(), part) for part in ("model", "added_tokens")]
    for part, components in COMPONENTS.items():
        for component in components:
            document = base() | {part: copy.deepcopy(component)}
            strategy = component.get("strategy", "")
            name = component.get("type") or f"{part} {strategy}"
            found.append((f"{part} {name}", document, part))
    return found
