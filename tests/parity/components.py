"""The components of a ``tokenizer.json``, as JSON.

One function for each kind, with the options that published files set; those that need ids of
tokens give a function of the ids. Left out: kinds without options, which are written in place.
"""

from collections.abc import Callable
from typing import Any

from .building import Json


def sequence(kind: str, *parts: Json) -> Json:
    """Put parts in a row; ``kind`` is the name of the list in the file."""
    return {"type": "Sequence", kind: list(parts)}


def split(pattern: str, behaviour: str = "Isolated", *, invert: bool = False) -> Json:
    """Split at the matches of a regular expression."""
    return {
        "type": "Split",
        "pattern": {"Regex": pattern},
        "behavior": behaviour,
        "invert": invert,
    }


def byte_level(*, prefix: bool = False, trim: bool = True, regex: bool = False) -> Json:
    """Be ByteLevel, which is pre-tokenizer, post-processor and decoder."""
    return {
        "type": "ByteLevel",
        "add_prefix_space": prefix,
        "trim_offsets": trim,
        "use_regex": regex,
    }


def replace(pattern: str, content: str) -> Json:
    """Replace a string."""
    return {"type": "Replace", "pattern": {"String": pattern}, "content": content}


def digits(*, individual: bool) -> Json:
    """Split off digits."""
    return {"type": "Digits", "individual_digits": individual}


def metaspace(scheme: str, *, split_it: bool) -> Json:
    """Be Metaspace, as it is written today."""
    return {
        "type": "Metaspace",
        "replacement": "▁",
        "prepend_scheme": scheme,
        "split": split_it,
    }


def template(
    before: str = "", after: str = "", *, in_pair: bool = True
) -> Callable[[dict[str, int]], Json]:
    """Put tokens before and after each text."""

    def pieces(which: str, type_id: int) -> list[Json]:
        def special(name: str) -> list[Json]:
            return [
                {"SpecialToken": {"id": token, "type_id": type_id}}
                for token in name.split()
            ]

        return [
            *special(before),
            {"Sequence": {"id": which, "type_id": type_id}},
            *special(after),
        ]

    def make(ids: dict[str, int]) -> Json:
        names = {*before.split(), *after.split()}
        second = (
            pieces("B", 1) if in_pair else [{"Sequence": {"id": "B", "type_id": 1}}]
        )
        return {
            "type": "TemplateProcessing",
            "single": pieces("A", 0),
            "pair": pieces("A", 0) + second,
            "special_tokens": {
                name: {"id": name, "ids": [ids[name]], "tokens": [name]}
                for name in names
            },
        }

    return make


def byte_level_then(*others: Any) -> Callable[[dict[str, int]], Json]:
    """Run ByteLevel's post-processor, then others."""

    def make(ids: dict[str, int]) -> Json:
        made = [other(ids) if callable(other) else other for other in others]
        return sequence(
            "processors", byte_level(prefix=True, trim=False, regex=True), *made
        )

    return make


def roberta(
    cls: str, sep: str, *, trim: bool, prefix: bool
) -> Callable[[dict[str, int]], Json]:
    """Be RobertaProcessing."""

    def make(ids: dict[str, int]) -> Json:
        return {
            "type": "RobertaProcessing",
            "sep": [sep, ids[sep]],
            "cls": [cls, ids[cls]],
            "trim_offsets": trim,
            "add_prefix_space": prefix,
        }

    return make


def bert(cls: str, sep: str) -> Callable[[dict[str, int]], Json]:
    """Be BertProcessing."""
    return lambda ids: {
        "type": "BertProcessing",
        "sep": [sep, ids[sep]],
        "cls": [cls, ids[cls]],
    }


def cut(*parts: Json) -> Json:
    """Put pre-tokenizers in a row."""
    return sequence("pretokenizers", *parts)


DECODE = byte_level(prefix=True, regex=True)
BYTE_FALLBACK = {"unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True}
SPACES_BACK = [replace("▁", " "), {"type": "ByteFallback"}, {"type": "Fuse"}]
STRIP_ONE = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
LLAMA_DECODER = sequence("decoders", *SPACES_BACK, STRIP_ONE)
LLAMA_NORMALIZER = sequence(
    "normalizers", {"type": "Prepend", "prepend": "▁"}, replace(" ", "▁")
)
NFC: Json = {"type": "NFC"}
