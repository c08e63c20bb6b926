"""Write small files of each format for the fuzzer to start from, as ``seeds/TARGET/NAME``: ``python -m tests.fuzz.make_seeds``.

Also ``tokenizer.json``, which the target ``encode`` carries inside. Files that a format
cannot express are left out. Cost: a second.
"""

import base64
import contextlib
import gzip
import json
from pathlib import Path

from tests.every_part import MODEL, base, documents

import bytepair
from bytepair.analyze._compare import torture

FOLDER = Path(__file__).parent
DIALECTS = "gpt2 gpt4o sennrich subword-nmt unknown-token sentencepiece".split()
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
    """Write a ``tokenizer.json`` for every kind of part that the format knows, without large maps of characters."""
    whole = [document for _, document, _ in documents()]
    whole += [{**base(), "model": {**MODEL, **change}} for change in MODELS]
    for number, document in enumerate(whole):
        data = json.dumps(document).encode()
        if b"precompiled_charsmap" not in data:
            save("huggingface", f"part-{number}", data)


def write_others() -> None:
    """Write by hand what bytepair reads and never writes."""
    tokens = [bytes([byte]) for byte in range(256)] + [b"th", b"the", b" the"]
    texts = (base64.b64encode(token).decode() for token in tokens)
    vocabulary = [
        {"rank": rank, "token_bytes": text, "token_str": None}
        for rank, text in enumerate(texts)
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
    pieces = {"t": 0, "h": 1, "e</w>": 2, "th": 3, "the</w>": 4}
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
    kinds = {b"<unk>": 2, b"<s>": 3, b"</s>": 3}
    kinds |= {b"\xe2\x96\x81t": 1, b"t": 1, b"h": 1}
    message = b""
    for piece, kind in kinds.items():
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
