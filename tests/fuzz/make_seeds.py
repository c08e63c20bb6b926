"""Write small files of each format for the fuzzer to start from, as ``seeds/TARGET/NAME``.

Also ``tokenizer.json``, which the target ``encode`` carries inside. Files that a format
cannot express are left out. Cost: a second.
"""

import base64
import contextlib
import gzip
import json
from pathlib import Path

import bytepair
from bytepair._verify import torture

FOLDER = Path(__file__).parent
DIALECTS = [
    "gpt2",
    "gpt4o",
    "sennrich",
    "subword-nmt",
    "unknown-token",
    "sentencepiece",
]
PATTERNS = [
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++|\s+(?!\S)|\s",
    r"[^\r\n\p{L}]?[\p{Lu}\p{M}&&[^\p{Han}]]*(?i:'s)?",
    r"(?<=\d)(?=(\d{3})+$)",
    r"\p{N}{1,3}?|[[:alpha:]]|(?m)^a|\x{41}\h\b",
]
MODELS = [
    {"continuing_subword_prefix": "##"},
    {"end_of_word_suffix": "</w>"},
    {"byte_fallback": True, "ignore_merges": True},
    {"dropout": 0.5, "fuse_unk": False},
]
TEXT, OTHER = (
    {"Sequence": {"id": name, "type_id": number}} for number, name in enumerate("AB")
)
START = {"SpecialToken": {"id": "<s>", "type_id": 0}}
EVERY_PART = {
    "normalizer": [
        {
            "type": "Sequence",
            "normalizers": [{"type": "NFD"}, {"type": "StripAccents"}],
        },
        {"type": "Strip", "strip_left": True, "strip_right": True},
        {"type": "Prepend", "prepend": "\u2581"},
        {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"},
        {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "},
        {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        *({"type": name} for name in ("NFC", "NFKC", "NFKD", "Lowercase", "Nmt")),
    ],
    "pre_tokenizer": [
        {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}]},
        {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first"},
        {"type": "Digits", "individual_digits": True},
        {"type": "Punctuation", "behavior": "Contiguous"},
        {"type": "CharDelimiterSplit", "delimiter": "a"},
        {"type": "FixedLength", "length": 2},
        {
            "type": "Split",
            "pattern": {"Regex": r"a+|\b"},
            "behavior": "MergedWithNext",
            "invert": True,
        },
        *({"type": name} for name in ("Whitespace", "BertPreTokenizer")),
    ],
    "post_processor": [
        {
            "type": "TemplateProcessing",
            "single": [START, TEXT],
            "pair": [START, TEXT, OTHER],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}},
        },
        {"type": "BertProcessing", "sep": ["<s>", 1], "cls": ["<s>", 1]},
    ],
    "decoder": [
        {
            "type": "Sequence",
            "decoders": [
                {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
                {"type": "ByteFallback"},
                {"type": "Fuse"},
                {"type": "Strip", "content": " ", "start": 1, "stop": 0},
            ],
        },
        {"type": "BPEDecoder", "suffix": "</w>"},
        {"type": "WordPiece", "prefix": "##", "cleanup": True},
        {
            "type": "CTC",
            "pad_token": "a",
            "word_delimiter_token": "b",
            "cleanup": True,
        },
        {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always"},
        {"type": "Replace", "pattern": {"Regex": "a+"}, "content": "b"},
    ],
    "truncation": [
        {
            "direction": "Right",
            "max_length": 3,
            "strategy": "LongestFirst",
            "stride": 1,
        }
    ],
    "padding": [
        {
            "strategy": {"Fixed": 8},
            "direction": "Left",
            "pad_to_multiple_of": 3,
            "pad_id": 0,
            "pad_type_id": 0,
            "pad_token": "<unk>",
        }
    ],
}


def main() -> None:
    """Write all seeds."""
    for name in DIALECTS:
        special = ["<|endoftext|>"] if name == "gpt2" else ["<s>", "<|end|>"]
        tokenizer = bytepair.train_from_iterator(
            torture.TEXTS, dialect=name, merges=60, special_tokens=special
        )
        write(name, tokenizer)
    write_others()
    write_every_part()
    for number, pattern in enumerate(PATTERNS):
        data = f"{pattern}\0{torture.TEXTS[7]}{torture.TEXTS[8]}"
        save("split", str(number), data.encode())
    for number, text in enumerate(torture.TEXTS):
        save("encode", str(number), text.encode())


def write(name: str, tokenizer: bytepair.Tokenizer) -> None:
    """Write a tokenizer in every format that holds it."""
    save("native", name, tokenizer.to_bytes())
    save("compiled", name, tokenizer.to_bytes(format="compiled"))
    with contextlib.suppress(bytepair.FormatError):
        data = tokenizer.to_bytes(format="huggingface")
        save("huggingface", name, data)
        if name == "gpt2":
            (FOLDER / "tokenizer.json").write_bytes(data)
    for target in ("tiktoken", "gpt2"):
        folder = FOLDER / "seeds" / ".files" / name
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / ("own.tiktoken" if target == "tiktoken" else "pair")
        with contextlib.suppress(bytepair.FormatError):
            done = bytepair.convert(tokenizer, path, format=target)
            parts = sorted(done.files, key=lambda file: file.name == "merges.txt")
            save(target, name, b"\0".join(part.read_bytes() for part in parts))


def write_every_part() -> None:
    """Write a ``tokenizer.json`` for every kind of part that the format knows."""
    letters = ["<unk>", "<s>", "a", "b", "\u2581", "ab", "##b", "b</w>", "<0x41>"]
    model = {
        "type": "BPE",
        "vocab": {letter: number for number, letter in enumerate(letters)},
        "merges": [["a", "b"]],
        "unk_token": "<unk>",
        "fuse_unk": True,
    }
    special = {"id": 1, "content": "<s>", "special": True, "normalized": False}
    flags = {"lstrip": True, "rstrip": True, "single_word": True}
    whole = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [special | flags],
        "normalizer": None,
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": None,
        "model": model,
    }
    for field, parts in EVERY_PART.items():
        for number, part in enumerate(parts):
            document = {**whole, field: part}
            save("huggingface", f"{field}-{number}", json.dumps(document).encode())
    for number, change in enumerate(MODELS):
        document = {**whole, "model": model | change}
        save("huggingface", f"model-{number}", json.dumps(document).encode())


def write_others() -> None:
    """Write by hand what bytepair reads and never writes."""
    tokens = [bytes([byte]) for byte in range(256)] + [b"th", b"the", b" the"]
    vocabulary = [
        {
            "rank": rank,
            "token_bytes": base64.b64encode(token).decode(),
            "token_str": None,
        }
        for rank, token in enumerate(tokens)
    ]
    config = {
        "pattern": r"[^\r\n\p{L}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s+",
        "num_vocab_tokens": len(tokens),
        "default_vocab_size": len(tokens) + 10,
        "default_num_special_tokens": 10,
        "version": "v3",
    }
    save("tekken", "0", json.dumps({"config": config, "vocab": vocabulary}).encode())
    codes = "#version: 0.2\nt h\nth e</w>\na n</w>\n"
    save("subword_nmt", "0", codes.encode())
    save("subword_nmt", "1", codes.split("\n", 1)[1].encode())
    save("fastbpe", "0", b"t h 120\nth e</w> 90\na n</w> 30\n")
    pieces = {
        piece: number
        for number, piece in enumerate(["t", "h", "e</w>", "th", "the</w>"])
    }
    merges = "#version: 0.2\nt h\nth e</w>\n"
    save("gpt1", "0", f"{json.dumps(pieces)}\0{merges}".encode())
    save("clip", "0", gzip.compress(merges.encode()))
    save("sentencepiece", "0", sentencepiece_model())
    text = b"tokenizer.ggml.model"
    key = len(text).to_bytes(8, "little") + text
    value = (8).to_bytes(4, "little") + (4).to_bytes(8, "little") + b"gpt2"
    counts = (0).to_bytes(8, "little") + (1).to_bytes(8, "little")
    save("gguf", "0", b"GGUF" + (3).to_bytes(4, "little") + counts + key + value)


def sentencepiece_model() -> bytes:
    """Write the protobuf message of a model of type BPE with a few pieces."""
    pieces = [
        (b"<unk>", 2),
        (b"<s>", 3),
        (b"</s>", 3),
        (b"\xe2\x96\x81t", 1),
        (b"t", 1),
        (b"h", 1),
    ]
    message = b""
    for piece, kind in pieces:
        entry = (
            b"\x0a" + bytes([len(piece)]) + piece + b"\x15\0\0\0\0\x18" + bytes([kind])
        )
        message += b"\x0a" + bytes([len(entry)]) + entry
    return message + b"\x12\x02\x18\x02"  # the trainer's model type: BPE


def save(target: str, name: str, data: bytes) -> None:
    """Write one seed."""
    path = FOLDER / "seeds" / target / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


if __name__ == "__main__":
    main()
