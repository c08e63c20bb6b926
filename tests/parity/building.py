"""Make ``tokenizer.json`` files from their parts, with vocabularies learned on the spot.

The parts are JSON as Hugging Face writes it; merges are learned by its ``BpeTrainer``
from a small text made of random strings and of Python's own documentation, so that the
files need no data and are the same each time (for one version of ``tokenizers``).
Cost: about a tenth of a second per file.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from . import strings

__all__ = [
    "BYTES",
    "Parts",
    "added",
    "build",
    "charsmap",
    "fields",
    "training_texts",
    "write_file",
]

Json = dict[str, Any]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]

AFFIXES = ("continuing_subword_prefix", "end_of_word_suffix")


class Parts(NamedTuple):
    """What a ``tokenizer.json`` is made of, its vocabulary aside."""

    normalizer: Json | None = None
    pre_tokenizer: Json | None = None
    post_processor: Json | Callable[[dict[str, int]], Json] | None = None
    decoder: Json | None = None
    model: Json = {}  # noqa: RUF012 -- never changed
    added: Sequence[Json] = ()
    in_vocabulary: bool = True
    """Whether the added tokens are tokens of the model too, as special ones mostly are."""
    n_tokens: int = 1500
    truncation: Json | None = None
    padding: Json | None = None


def added(content: str, flags: str = "special") -> Json:
    """Describe an added token; flags are words such as ``"special lstrip"``."""
    names = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return {"content": content, **{name: name in flags.split() for name in names}}


def build(parts: Parts) -> Json:
    """Learn a vocabulary for the parts and put all in one object."""
    import tokenizers

    empty = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": parts.normalizer,
        "pre_tokenizer": parts.pre_tokenizer,
        "post_processor": None,
        "decoder": parts.decoder,
        "model": {"type": "BPE", "vocab": {}, "merges": [], **parts.model},
    }
    tokenizer = tokenizers.Tokenizer.from_str(json.dumps(empty))
    tokenizer.train_from_iterator(training_texts(), _trainer(parts))
    whole: Json = json.loads(tokenizer.to_str())
    whole["model"] |= parts.model
    return _complete(whole, parts)


def _trainer(parts: Parts) -> Any:
    import tokenizers

    first = [token["content"] for token in parts.added] if parts.in_vocabulary else []
    unknown = parts.model.get("unk_token")
    first += [unknown] if unknown and unknown not in first else []
    first += BYTES if parts.model.get("byte_fallback") else []
    is_byte_level = '"ByteLevel"' in json.dumps([parts.normalizer, parts.pre_tokenizer])
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet() if is_byte_level else []
    return tokenizers.trainers.BpeTrainer(
        vocab_size=parts.n_tokens + len(first),
        special_tokens=first,
        initial_alphabet=alphabet,
        limit_alphabet=2000 if is_byte_level else 300,
        show_progress=False,
        **{name: parts.model[name] for name in AFFIXES if parts.model.get(name)},
    )


def _complete(whole: Json, parts: Parts) -> Json:
    """Put in what must know ids."""
    vocabulary = whole["model"]["vocab"]
    n_tokens = max(vocabulary.values(), default=-1) + 1
    ids = {}
    for token in parts.added:
        content = token["content"]
        ids[content] = vocabulary.get(content, n_tokens)
        n_tokens += content not in vocabulary
    tokens = [{"id": ids[token["content"]], **token} for token in parts.added]
    whole["added_tokens"] = sorted(tokens, key=lambda token: token["id"])
    post = parts.post_processor
    whole["post_processor"] = post({**vocabulary, **ids}) if callable(post) else post
    whole["truncation"], whole["padding"] = parts.truncation, parts.padding
    return whole


def write_file(path: Path, whole: Json) -> None:
    """Write one file, if Hugging Face tokenizers reads it."""
    import tokenizers

    content = json.dumps(whole, ensure_ascii=False)
    tokenizers.Tokenizer.from_str(content)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


@cache
def training_texts() -> list[str]:
    """Make a text with something of everything."""
    from pydoc_data import topics

    words = "\n".join(list(topics.topics.values())[::5])[:60_000]
    return [*words.split("\n\n"), *strings.make_strings(7, 1500, ["<s>", "<|end|>"])]


@cache
def charsmap() -> str:
    """Give SentencePiece's map of characters for its rule ``nmt_nfkc``, in base 64."""
    import base64
    import io

    import sentencepiece

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["some text to learn from"] * 3),
        model_writer=model,
        model_type="char",
        vocab_size=20,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    specification = _field(model.getvalue(), 3)
    return base64.b64encode(_field(specification, 2)).decode()


def _field(message: bytes, wanted: int) -> bytes:
    """Find a field of bytes in a protobuf message."""
    found = (value for number, value in fields(message) if number == wanted)
    return next(found, b"")


def fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """Give the numbers and values of the fields of a protobuf message."""
    place = 0
    while place < len(message):
        key, place = _varint(message, place)
        value: Any
        if key & 7 == 2:
            length, place = _varint(message, place)
            value = message[place : place + length]
            place += length
        elif key & 7 == 0:
            value, place = _varint(message, place)
        else:
            length = 4 if key & 7 == 5 else 8
            value, place = message[place : place + length], place + length
        yield key >> 3, value


def _varint(message: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place
