"""bytepair in the shape of the other libraries.

Views that a vocabulary's own library does not have are left out.
"""

import re
from pathlib import Path
from typing import Any

import bytepair
from bytepair.segmentation import Segmenter

from .libraries import Views
from .ranks import encoding_name

__all__ = ["Ours"]

FIRST_OF_PAIR = {"gpt1": "encoder_bpe_40000.json", "gpt2": "vocab.json"}
OF_HUGGING_FACE = ("huggingface", "gpt1", "gpt2")


class Ours:
    """A vocabulary in bytepair."""

    def __init__(self, path: Path, kind: str) -> None:
        self.name = f"bytepair {bytepair.__version__}"
        self.kind = kind
        self.tokenizer = load(path, kind)
        self.segmenter = Segmenter(path) if kind == "subword-nmt" else None
        self.specials = list(self.tokenizer.special_tokens)
        self.has_full = hasattr(self.tokenizer, "encode_full")

    def vocabulary(self) -> dict[Any, int]:
        """Map written tokens to ids."""
        return self.tokenizer.get_vocab()

    def encode(self, text: str) -> Views:
        """Encode the text alone, as the library that is compared does."""
        if self.segmenter is not None:
            line = re.sub(r"[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", " ", text)
            return {"segmented": self.segmenter.segment(line).split(" ")}
        if self.kind not in OF_HUGGING_FACE:
            views = {"ordinary": self.tokenizer.encode(text)}
            if self.kind == "sentencepiece":
                full = self.tokenizer.encode_full(text, allowed_special=())
                views["tokens"] = full.tokens
            return {**views, **self._offsets(text, ())}
        ids = self.tokenizer.encode(text, allowed_special="all")
        full = self.tokenizer.encode_full(text, allowed_special="all")
        tokens = published(self.tokenizer, full)
        return {"ids": ids, "tokens": tokens, **self._offsets(text, "all")}

    def _offsets(self, text: str, allowed_special: Any) -> Views:
        if not self.has_full:
            return {}
        full = self.tokenizer.encode_full(text, allowed_special=allowed_special)
        return {"offset ids": full.ids, "offsets": pairs(full.offsets)}

    def encode_special(self, text: str) -> Views:
        """Encode with the template, truncation and padding of the file."""
        if self.kind == "tiktoken":
            return {"ids": self.tokenizer.encode(text, allowed_special="all")}
        if self.kind not in OF_HUGGING_FACE:
            return {}
        ids = self.tokenizer.encode(
            text, allowed_special="all", add_special_tokens=True
        )
        return {"ids": ids, **(self._full(text, None) if self.has_full else {})}

    def encode_pair(self, text: str, pair: str) -> Views:
        """Encode two texts."""
        return self._full(text, pair) if self.has_full else {}

    def _full(self, text: str, pair: str | None) -> Views:
        found = self.tokenizer.encode_full(
            text, pair, allowed_special="all", add_special_tokens=True
        )
        views = {
            "ids": list(found.ids),
            "tokens": published(self.tokenizer, found),
            "offsets": pairs(found.offsets),
            "type_ids": list(found.type_ids),
            "special_tokens_mask": [int(flag) for flag in found.special_tokens_mask],
            "attention_mask": [int(flag) for flag in found.attention_mask],
            "sequence_ids": list(found.sequence_ids),
            "overflowing": [list(part.ids) for part in found.overflowing],
        }
        return views if pair is not None else {**views, "full ids": views.pop("ids")}

    def decode(self, ids: list[int]) -> Views:
        """Decode all ways."""
        decode = self.tokenizer.decode
        views = {
            "decode": decode(ids),
            "skip": decode(ids, skip_special_tokens=True),
        }
        if self.kind == "tiktoken":
            views["bytes"] = self.tokenizer.decode_bytes(ids)
        return views


def published(tokenizer: bytepair.Tokenizer, encoding: bytepair.Encoding) -> list[str]:
    """List the tokens of an encoding as Hugging Face's library writes them."""
    rows = zip(tokenizer.inspect().tokens(encoding.ids), encoding.tokens, strict=True)
    return [token.written if str(token) == text else text for token, text in rows]


def pairs(offsets: Any) -> list[tuple[int, int]]:
    """Give offsets as a list of pairs."""
    return [(int(start), int(end)) for start, end in offsets]


def load(path: Path, kind: str) -> bytepair.Tokenizer:
    """Load a vocabulary."""
    if kind in ("gpt1", "gpt2"):
        # The library splits every pair that is not GPT-1's with GPT-2's pattern.
        pattern = "gpt2" if kind == "gpt2" else None
        first = path.parent / FIRST_OF_PAIR[kind]
        return bytepair.Tokenizer.from_file(first, pattern=pattern)
    encoding = encoding_name(path) if kind == "tiktoken" else None
    return bytepair.Tokenizer.from_file(path, encoding=encoding)
