"""One class per publisher's library, each with the same few methods.

``encode`` gives the views of a text that the library has: ``ids``, ``tokens`` and
``offsets`` in characters; ``encode_special`` the same with all that is put around a text,
``encode_pair`` for two texts, ``decode`` the text of ids. Views that a library lacks are
absent, and only views that both sides have are compared. ``specials`` are what the
random strings cut in two.

Left out: what the libraries can do with their own objects (training, other modes).
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .ranks import published_encoding

__all__ = ["LIBRARIES", "Library", "Views"]

Views = dict[str, Any]

MAX_PAIR_LEN = 20_000
MAX_TRUNCATED_PAIR_LEN = 200
"""Cut to a length, a pair has an overflowing part for each part of one and part of the other."""


class Library:
    """What the comparison asks of a tokenizer; here nothing, which is all that some libraries know."""

    name = ""
    specials: list[str] = []  # noqa: RUF012 -- set by instances
    max_pair_len = MAX_PAIR_LEN
    """The longest text, in characters, that is compared as a pair."""

    def vocabulary(self) -> dict[Any, int] | None:
        """Map written tokens to ids, or ``None`` if the library does not tell."""
        return None

    def encode(self, text: str) -> Views:
        """Encode the text alone; ``ids`` is always there unless only tokens are known."""
        raise NotImplementedError

    def encode_special(self, text: str) -> Views:
        """Encode with what the library adds, truncates and pads by default."""
        return {}

    def encode_pair(self, text: str, pair: str) -> Views:
        """Encode two texts as one input."""
        return {}

    def decode(self, ids: list[int]) -> Views:
        """Decode, with and without special tokens."""
        return {}


class HuggingFace(Library):
    """A ``tokenizer.json`` in Hugging Face tokenizers."""

    def __init__(self, path: Path) -> None:
        import tokenizers

        self.name = f"tokenizers {tokenizers.__version__}"
        self.full = tokenizers.Tokenizer.from_file(str(path))
        self.plain = tokenizers.Tokenizer.from_file(str(path))
        if self.plain.truncation is not None:
            self.max_pair_len = MAX_TRUNCATED_PAIR_LEN
        self.plain.no_truncation()
        self.plain.no_padding()
        added = self.full.get_added_tokens_decoder().values()
        self.specials = [token.content for token in added]

    def vocabulary(self) -> dict[Any, int] | None:
        """Map written tokens to ids."""
        return dict(self.full.get_vocab(with_added_tokens=True))

    def encode(self, text: str) -> Views:
        """Encode without truncation, padding and template."""
        found = self.plain.encode(text, add_special_tokens=False)
        return {"ids": found.ids, "tokens": found.tokens, "offsets": found.offsets}

    def encode_special(self, text: str) -> Views:
        """Encode as ``Tokenizer.encode`` does by default."""
        return self._views(self.full.encode(text))

    def encode_pair(self, text: str, pair: str) -> Views:
        """Encode a pair as ``Tokenizer.encode`` does by default."""
        return self._views(self.full.encode(text, pair))

    def decode(self, ids: list[int]) -> Views:
        """Decode both ways."""
        return {
            "decode": self.full.decode(ids, skip_special_tokens=False),
            "skip": self.full.decode(ids, skip_special_tokens=True),
        }

    @staticmethod
    def _views(found: Any) -> Views:
        return {
            "ids": found.ids,
            "tokens": found.tokens,
            "offsets": found.offsets,
            "type_ids": found.type_ids,
            "special_tokens_mask": found.special_tokens_mask,
            "attention_mask": found.attention_mask,
            "sequence_ids": found.sequence_ids,
            "overflowing": [part.ids for part in found.overflowing],
        }


class Gpt2Pair(HuggingFace):
    """``vocab.json`` and ``merges.txt`` in Hugging Face tokenizers, as GPT-2's."""

    def __init__(self, path: Path) -> None:
        import tokenizers

        self.name = f"tokenizers {tokenizers.__version__}"
        files = str(path.parent / "vocab.json"), str(path)
        self.full = self.plain = tokenizers.ByteLevelBPETokenizer.from_file(
            *files, trim_offsets=False
        )._tokenizer
        has_end = self.full.token_to_id("<|endoftext|>") is not None
        self.specials = ["<|endoftext|>"] if has_end else []
        self.full.add_special_tokens(self.specials)


class Gpt1(HuggingFace):
    """GPT-1's two files, in transformers."""

    def __init__(self, path: Path) -> None:
        import transformers

        self.name = f"transformers {transformers.__version__}"
        vocabulary = json.loads((path.parent / "encoder_bpe_40000.json").read_bytes())
        lines = path.read_text(encoding="utf-8").split("\n")[1:]
        merges = [tuple(line.split()) for line in lines if len(line.split()) == 2]
        self.slow = transformers.OpenAIGPTTokenizer(vocab=vocabulary, merges=merges)
        self.full = self.plain = self.slow._tokenizer
        self.specials = list(self.slow.all_special_tokens)


class Tiktoken(Library):
    """A file of ranks with its publisher's pattern, in tiktoken."""

    def __init__(self, path: Path) -> None:
        import tiktoken

        self.name = f"tiktoken {tiktoken.__version__}"
        self.encoding = tiktoken.Encoding(**published_encoding(path))
        self.specials = sorted(self.encoding.special_tokens_set)[:50]

    def encode(self, text: str) -> Views:
        """Encode with every special token as plain text."""
        return {"ordinary": self.encoding.encode_ordinary(text)}

    def encode_special(self, text: str) -> Views:
        """Encode with all special tokens allowed."""
        return {"ids": self.encoding.encode(text, allowed_special="all")}

    def decode(self, ids: list[int]) -> Views:
        """Decode to text with U+FFFD for what is no UTF-8, and to bytes."""
        return {
            "decode": self.encoding.decode(ids),
            "bytes": self.encoding.decode_bytes(ids),
        }


class SentencePiece(Library):
    """A ``.model`` file in SentencePiece."""

    def __init__(self, path: Path) -> None:
        import sentencepiece

        self.name = f"sentencepiece {sentencepiece.__version__}"
        self.processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
        ids = range(self.processor.get_piece_size())
        self.pieces = {self.processor.id_to_piece(id_): id_ for id_ in ids}
        controls = list(filter(self.processor.is_control, ids))
        first = [id_ for id_ in ids[:300] if not self.processor.is_byte(id_)]
        self.specials = self.processor.id_to_piece(controls + first)

    def vocabulary(self) -> dict[Any, int] | None:
        """Map pieces to ids."""
        return dict(self.pieces)

    def encode(self, text: str) -> Views:
        """Encode by its defaults."""
        found = self.processor.encode(text, return_type="offset_mapping")
        return {
            "ordinary": self.processor.encode(text),
            "tokens": self.processor.encode(text, out_type=str),
            "offsets": [tuple(span) for span in found["offsets"]],
        }

    def decode(self, ids: list[int]) -> Views:
        """Decode by its defaults, in which control tokens are nothing."""
        return {"decode": self.processor.decode(ids)}


class Mistral(Library):
    """A ``tekken.json`` in mistral-common."""

    def __init__(self, path: Path) -> None:
        from importlib.metadata import version

        from mistral_common.tokens.tokenizers.base import SpecialTokenPolicy
        from mistral_common.tokens.tokenizers.tekken import Tekkenizer

        self.name = f"mistral-common {version('mistral_common')}"
        self.tekkenizer = Tekkenizer.from_file(path)
        self.policies = SpecialTokenPolicy
        self.specials = [self.tekkenizer.id_to_piece(id_) for id_ in range(20)]

    def encode(self, text: str) -> Views:
        """Encode; special tokens in the text are plain text."""
        return {"ordinary": self.tekkenizer.encode(text, bos=False, eos=False)}

    def decode(self, ids: list[int]) -> Views:
        """Decode both ways."""
        keep, ignore = self.policies.KEEP, self.policies.IGNORE
        return {
            "decode": self.tekkenizer.decode(ids, keep),
            "skip": self.tekkenizer.decode(ids, ignore),
        }


class SubwordNmt(Library):
    """A codes file in subword-nmt; it knows tokens, not ids."""

    def __init__(self, path: Path) -> None:
        from importlib.metadata import version

        from subword_nmt.apply_bpe import BPE

        self.name = f"subword-nmt {version('subword-nmt')}"
        with path.open(encoding="utf-8") as codes:
            self.bpe = BPE(codes)

    def encode(self, text: str) -> Views:
        """Segment a line; its tokens are what stands between spaces."""
        line = re.sub(r"[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", " ", text)
        return {"segmented": self.bpe.process_line(line).split(" ")}


LIBRARIES: dict[str, Callable[[Path], Library]] = {
    "huggingface": HuggingFace,
    "gpt1": Gpt1,
    "gpt2": Gpt2Pair,
    "tiktoken": Tiktoken,
    "sentencepiece": SentencePiece,
    "tekken": Mistral,
    "subword-nmt": SubwordNmt,
}
