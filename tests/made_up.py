"""Small tokenizers of every dialect, and of parts that no dialect has, for tests of views."""

import base64
import functools
import json
import re

import bytepair
from bytepair import TokenizerError

CORPUS = [
    "low lower lowest newer wide the cat's hat: 12 345\n été 中文字 да low low aaaa aaa",
    "low lower newest widest\té\r\nüber नमस्ते",
]
SPECIAL = ["<|end|>"]
MARKED = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}


def hugging_face(model, **parts):
    """Read a tokenizer.json with these parts."""
    names = ["truncation", "padding", "normalizer", "pre_tokenizer", "post_processor"]
    nothing = [
        "dropout",
        "unk_token",
        "continuing_subword_prefix",
        "end_of_word_suffix",
    ]
    off = dict.fromkeys(["fuse_unk", "byte_fallback", "ignore_merges"], False)
    data = {"version": "1.0", "added_tokens": [], **dict.fromkeys([*names, "decoder"])}
    data["model"] = {"type": "BPE", **dict.fromkeys(nothing), **off, **model}
    return bytepair.Tokenizer.from_bytes(json.dumps({**data, **parts}).encode())


def added(id_, content, **properties):
    """Describe an added token as a tokenizer.json does."""
    names = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return {"id": id_, "content": content, **dict.fromkeys(names, False), **properties}


def vocabulary(*tokens):
    """Give tokens their numbers, from 0 on."""
    return {token: id_ for id_, token in enumerate(tokens)}


def ranks(tmp_path, *tokens):
    """Read ranks of bytes and then of these tokens, in a file as tiktoken has it."""
    rows = enumerate([*(bytes([byte]) for byte in range(256)), *tokens])
    lines = [b"%s %d\n" % (base64.b64encode(row), rank) for rank, row in rows]
    path = tmp_path / "made.tiktoken"
    path.write_bytes(b"".join(lines))
    return bytepair.Tokenizer.from_file(path, pattern="")


def published():
    """Give tokenizers with parts that files have and no dialect has."""
    letters = "abcdelowr"
    merges = [["l", "o"], ["lo", "w"], ["e", "r"], ["a", "a"]]
    made = ["lo", "low", "er", "aa"]
    yield (
        "whole pieces",
        hugging_face(
            {
                "vocab": vocabulary(*letters, *made, "lower"),
                "merges": merges,
                "ignore_merges": True,
            },
            pre_tokenizer={"type": "WhitespaceSplit"},
        ),
    )
    yield (
        "unknown and added",
        hugging_face(
            {
                "vocab": {**vocabulary("<unk>", *letters, *made), "<m>": 20},
                "merges": merges,
                "unk_token": "<unk>",
                "fuse_unk": True,
            },
            added_tokens=[added(20, "<m>", lstrip=True)],
            normalizer={"type": "Lowercase"},
        ),
    )
    marked = ["##" + letter for letter in letters]
    yield (
        "prefix",
        hugging_face(
            {
                "vocab": vocabulary("?", *letters, *marked, "lo", "low", "##er"),
                "merges": [["l", "##o"], ["lo", "##w"], ["##e", "##r"]],
                "unk_token": "?",
                "continuing_subword_prefix": "##",
            },
            pre_tokenizer={"type": "BertPreTokenizer"},
        ),
    )
    fallback = [f"<0x{byte:02X}>" for byte in range(256)]
    yield (
        "fallback",
        hugging_face(
            {
                "vocab": vocabulary("<unk>", *fallback, "▁", *letters, *made, "▁low"),
                "merges": [*merges, ["▁", "low"]],
                "unk_token": "<unk>",
                "fuse_unk": True,
                "byte_fallback": True,
            },
            normalizer={
                "type": "Sequence",
                "normalizers": [{"type": "Prepend", "prepend": "▁"}, MARKED],
            },
        ),
    )
    yield (
        "compatibility forms, dropped spaces, merges of an odd order",
        hugging_face(
            {
                "vocab": vocabulary(*letters, "f", "i", *made, "ow", "lower"),
                "merges": [["lo", "w"], ["o", "w"], ["l", "o"], ["e", "r"], ["a", "a"]],
            },
            normalizer={"type": "NFKC"},
            pre_tokenizer={"type": "WhitespaceSplit"},
        ),
    )


@functools.cache
def every_kind():
    """Give one tokenizer of each dialect, and those of :func:`published`, by name."""
    trained = {
        name: bytepair.train_from_iterator(
            CORPUS, merges=30, dialect=name, special_tokens=SPECIAL
        )
        for name in bytepair.dialects()
    }
    return {**trained, **dict(published())}


def refused_unit(message):
    """Give the unit that an error of encoding names, from the first quotes on, without escapes."""
    [quoted] = re.findall(r'^"((?:[^"\\]|\\.)*)" is not in the alphabet', message)
    named = {"0": "\0", "n": "\n", "r": "\r", "t": "\t"}

    def plain(found):
        code, other = found.groups()
        return chr(int(code, 16)) if code else named.get(other, other)

    return re.sub(r"\\(?:u\{([0-9a-f]+)\}|(.))", plain, quoted)


def encoded(tokenizer, text):
    """Give the ids of a text, or the error instead."""
    try:
        return tokenizer.encode(text, allowed_special="all")
    except TokenizerError as error:
        return str(error)
