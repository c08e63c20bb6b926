"""``vocab.json`` and ``merges.txt`` with the settings that lie beside them.

The pair says nothing of how text becomes words. ``tokenizer_config.json`` names a class of
transformers; what that class makes of a pair is put together as a ``tokenizer.json``, which the
core reads. ``special_tokens_map.json`` and ``added_tokens.json`` count where the config lists no
``added_tokens_decoder``; without a class, ``config.json``'s ``model_type`` names it.

Left out: settings of calls (lengths, sides, chat templates). Whisper's prefix has no language.
Linear in the size of the files.
"""

import json
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from .errors import FormatError
from .files import read

__all__ = ["has_settings", "tokenizer_json"]

Json = dict[str, Any]

FILES = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")

# Special tokens in the order in which they get ids.
ROLES = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")

FLAGS = ("single_word", "lstrip", "rstrip")

QWEN2_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)

CLIP_PATTERN = (
    r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|"
    r"[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
)

END = "<|endoftext|>"

ROBERTA_SPECIALS = {
    "bos": "<s>",
    "eos": "</s>",
    "unk": "<unk>",
    "sep": "</s>",
    "pad": "<pad>",
    "cls": "<s>",
    "mask": "<mask>",
}

DEBERTA_SPECIALS = {
    "bos": "[CLS]",
    "eos": "[SEP]",
    "unk": "[UNK]",
    "sep": "[SEP]",
    "pad": "[PAD]",
    "cls": "[CLS]",
    "mask": "[MASK]",
}


class Kind(NamedTuple):
    """What a class of transformers adds to a pair."""

    specials: dict[str, str]
    pipeline: str = "bytes"
    template: str = ""
    prefix_space: bool = False
    mask_takes_space: bool = False


GPT2 = Kind({"bos": END, "eos": END, "unk": END})
ROBERTA = Kind(ROBERTA_SPECIALS, template="roberta")

KINDS = {
    "GPT2": GPT2,
    "CodeGen": GPT2._replace(template="none"),
    "Whisper": GPT2._replace(template="whisper"),
    "Qwen2": Kind({"eos": END, "unk": END, "pad": END}, "qwen2"),
    "Roberta": ROBERTA,
    "Bart": ROBERTA,
    "Longformer": ROBERTA,
    "LED": ROBERTA,
    "Blenderbot": Kind(ROBERTA_SPECIALS, prefix_space=True, mask_takes_space=True),
    "Deberta": Kind(DEBERTA_SPECIALS, template="deberta"),
    "CLIP": Kind(
        {"bos": "<|startoftext|>", "eos": END, "unk": END, "pad": END}, "clip", "clip"
    ),
    "OpenAIGPT": Kind({"unk": "<unk>"}, "gpt1"),
}

MODEL_TYPES = {
    "gpt2": "GPT2",
    "codegen": "CodeGen",
    "whisper": "Whisper",
    "qwen2": "Qwen2",
    "qwen3": "Qwen2",
    "roberta": "Roberta",
    "bart": "Bart",
    "longformer": "Longformer",
    "led": "LED",
    "blenderbot": "Blenderbot",
    "deberta": "Deberta",
    "clip": "CLIP",
    "openai-gpt": "OpenAIGPT",
}


def has_settings(folder: Path) -> bool:
    """Whether something lies beside a pair that says how it is meant."""
    if any((folder / name).exists() for name in FILES):
        return True
    return _object(folder / "config.json").get("model_type") in MODEL_TYPES


def tokenizer_json(vocab_path: Path, vocab_file: bytes, merges_file: bytes) -> bytes:
    """Put a pair and what lies beside it together as a ``tokenizer.json``.

    Raises
    ------
    FormatError
        A file is damaged, or the class is not known; the message names it.
    """
    folder = vocab_path.parent
    vocab = _vocabulary(vocab_path, vocab_file)
    merges = _merges(merges_file)
    config = _object(folder / FILES[0])
    kind = KINDS[_class_of(folder, config, vocab)]
    listed, roles = _added(folder, config, kind)
    missing = [name for name in listed if name not in vocab]
    first_free = max(vocab.values(), default=-1) + 1
    ids = {**vocab, **dict(zip(missing, count(first_free), strict=False))}
    suffix = "</w>" if kind.pipeline in ("clip", "gpt1") else ""
    _check_whole(vocab, merges, suffix, listed)
    prefix = config.get("add_prefix_space")
    prefix = kind.prefix_space if prefix is None else prefix
    if not isinstance(prefix, bool):
        message = f"tokenizer_config.json: add_prefix_space is {prefix!r}, no bool"
        raise FormatError(message)
    file = {
        "version": "1.0",
        "added_tokens": [{"id": ids[name], **listed[name]} for name in listed],
        **PIPELINES[kind.pipeline](prefix=prefix),
        "post_processor": _template(kind, config, roles, ids, prefix=prefix),
        "model": {
            "type": "BPE",
            "unk_token": roles["unk"] if suffix else None,
            "continuing_subword_prefix": "",
            "end_of_word_suffix": suffix,
            "fuse_unk": False,
            "vocab": vocab,
            "merges": merges,
        },
    }
    return json.dumps(file).encode()


def _class_of(folder: Path, config: Json, vocab: dict[str, int]) -> str:
    """Name the class: by the config, by the model, or by what the vocabulary shows."""
    named = config.get("tokenizer_class")
    if named is not None:
        name = str(named).removesuffix("Fast").removesuffix("Tokenizer")
        if name in KINDS:
            return name
        known = ", ".join(f"{name}Tokenizer" for name in KINDS)
        message = (
            f"tokenizer_config.json: tokenizer_class {named!r} is not known for vocab.json "
            f"with merges.txt; known are {known}. Save it with transformers as a "
            "tokenizer.json and read that"
        )
        raise FormatError(message)
    model_type = _object(folder / "config.json").get("model_type")
    if model_type is not None and model_type in MODEL_TYPES:
        return MODEL_TYPES[model_type]
    if not any(name.endswith("</w>") for name in vocab):
        return "GPT2"
    if "<|startoftext|>" in vocab and "Ġ</w>" in vocab:
        return "CLIP"
    if "<unk>" in vocab and "\n</w>" in vocab:
        return "OpenAIGPT"
    message = (
        "vocab.json marks ends of words with </w>, as CLIP and GPT-1 do, but is neither's; "
        "put a tokenizer_config.json with its tokenizer_class beside it"
    )
    raise FormatError(message)


def _added(
    folder: Path, config: Json, kind: Kind
) -> tuple[dict[str, Json], dict[str, str]]:
    """List added tokens by name in the order of their ids, and special tokens by role."""
    listed: dict[str, Json] = {}
    settings = {**_object(folder / FILES[1]), **config}
    decoder = config.get("added_tokens_decoder")
    if decoder is not None:
        for _, token in sorted(_by_id(decoder)):
            made = _token(token, special=False)
            listed[made["content"]] = made
    else:
        by_id = {number: name for name, number in _object(folder / FILES[2]).items()}
        for _, name in sorted(_by_id(by_id)):
            listed[name] = _token(name, special=False)
    roles = {}
    for role in ROLES:
        value = settings.get(f"{role}_token", kind.specials.get(role))
        if value is None:
            continue
        if role == "mask" and kind.mask_takes_space and isinstance(value, str):
            value = {"content": value, "lstrip": True}
        made = _token(value, special=True)
        roles[role] = made["content"]
        if decoder is None and made["content"] in listed:
            listed[made["content"]] = made
        listed.setdefault(made["content"], made)["special"] = True
    extra = settings.get("extra_special_tokens")
    more = extra if isinstance(extra, list) else []
    for value in [*(settings.get("additional_special_tokens") or []), *more]:
        made = _token(value, special=True)
        listed.setdefault(made["content"], made)["special"] = True
    return listed, roles


def _by_id(decoder: object) -> Iterator[tuple[int, Any]]:
    try:
        for number, token in dict(decoder).items():  # type: ignore[call-overload]
            yield int(number), token
    except (TypeError, ValueError) as error:
        message = f"added tokens are not understood: {error}"
        raise FormatError(message) from error


def _token(value: object, *, special: bool) -> Json:
    given = {"content": value} if isinstance(value, str) else value
    if not isinstance(given, dict) or not isinstance(given.get("content"), str):
        message = f"{value!r} is no added token: neither a text nor one with content"
        raise FormatError(message)
    special = bool(given.get("special", special))
    token: Json = {flag: bool(given.get(flag, False)) for flag in FLAGS}
    token["content"], token["special"] = given["content"], special
    token["normalized"] = bool(given.get("normalized", not special))
    return token


def _byte_level(*, prefix: bool, use_regex: bool = True) -> Json:
    options = {"add_prefix_space": prefix, "trim_offsets": True, "use_regex": use_regex}
    return {"type": "ByteLevel", **options}


def _split(pattern: str, behavior: str, *, invert: bool) -> Json:
    return {
        "type": "Split",
        "pattern": {"Regex": pattern},
        "behavior": behavior,
        "invert": invert,
    }


def _sequence(*cutters: Json) -> Json:
    return {"type": "Sequence", "pretokenizers": list(cutters)}


def _bytes(*, prefix: bool) -> Json:
    return {
        "pre_tokenizer": _byte_level(prefix=prefix),
        "decoder": _byte_level(prefix=True),
    }


def _qwen2(*, prefix: bool) -> Json:
    return {
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": _sequence(
            _split(QWEN2_PATTERN, "Isolated", invert=False),
            _byte_level(prefix=prefix, use_regex=False),
        ),
        "decoder": _byte_level(prefix=True),
    }


def _clip(**_: bool) -> Json:
    spaces = {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "}
    steps = [{"type": "NFC"}, spaces, {"type": "Lowercase"}]
    return {
        "normalizer": {"type": "Sequence", "normalizers": steps},
        "pre_tokenizer": _sequence(
            _split(CLIP_PATTERN, "Removed", invert=True), _byte_level(prefix=False)
        ),
        "decoder": _byte_level(prefix=True),
    }


def _gpt1(**_: bool) -> Json:
    return {
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "decoder": {"type": "BPEDecoder", "suffix": "</w>"},
    }


PIPELINES: dict[str, Callable[..., Json]] = {
    "bytes": _bytes,
    "qwen2": _qwen2,
    "clip": _clip,
    "gpt1": _gpt1,
}


def _template(
    kind: Kind,
    config: Json,
    roles: dict[str, str],
    ids: dict[str, int],
    *,
    prefix: bool,
) -> Json | None:
    if kind.template in ("roberta", "clip"):
        first, last = ("cls", "sep") if kind.template == "roberta" else ("bos", "eos")
        return {
            "type": "RobertaProcessing",
            "sep": [roles[last], ids[roles[last]]],
            "cls": [roles[first], ids[roles[first]]],
            "trim_offsets": kind.template == "roberta",
            "add_prefix_space": prefix and kind.template == "roberta",
        }
    if kind.template == "deberta":
        cls, sep = [roles["cls"]], [roles["sep"]]
        return _around(cls, sep, sep, [], sep, ids)
    if kind.template == "whisper":
        start = ["<|startoftranscript|>"]
        start += [] if config.get("predict_timestamps") else ["<|notimestamps|>"]
        start = [name if name in ids else roles["unk"] for name in start]
        return _around(start, [], [], [], [roles["eos"]], ids, single=[roles["eos"]])
    begin = [roles["bos"]] if config.get("add_bos_token") and "bos" in roles else []
    end = [roles["eos"]] if config.get("add_eos_token") and "eos" in roles else []
    return _around(begin, end, [], begin, end, ids) if begin or end else None


def _around(
    begin: list[str],
    middle: list[str],
    gap: list[str],
    second: list[str],
    end: list[str],
    ids: dict[str, int],
    *,
    single: list[str] | None = None,
) -> Json:
    """Make a template: ``begin A middle``, and ``begin A middle gap second B end``."""

    def tokens(names: list[str], type_id: int) -> list[Json]:
        return [{"SpecialToken": {"id": name, "type_id": type_id}} for name in names]

    def text(name: str, type_id: int) -> list[Json]:
        return [{"Sequence": {"id": name, "type_id": type_id}}]

    opening = tokens(begin, 0) + text("A", 0)
    pair = opening + tokens(middle + gap, 0) + tokens(second, 1) + text("B", 1)
    names = {*begin, *middle, *gap, *second, *end}
    return {
        "type": "TemplateProcessing",
        "single": opening + tokens(middle if single is None else single, 0),
        "pair": pair + tokens(end, 1),
        "special_tokens": {
            name: {"id": name, "ids": [ids[name]], "tokens": [name]}
            for name in sorted(names)
        },
    }


def _check_whole(
    vocab: dict[str, int],
    merges: list[list[str]],
    suffix: str,
    listed: dict[str, Json],
) -> None:
    """Refuse a token that two others make, but no merge does: the file was cut off."""
    made = {left + right for left, right in merges}
    for name in vocab:
        if name in made or name in listed or (name[0:1], name[-1:]) in BRACKETS:
            continue
        if len(name) > MAX_CHECKED_LEN:
            continue
        n_units = len(name.removesuffix(suffix))
        if any(
            name[:cut] in vocab and name[cut:] in vocab for cut in range(1, n_units)
        ):
            message = (
                f"merges.txt: no merge makes the token {name!r}: was the file cut off?"
            )
            raise FormatError(message)


BRACKETS = {("<", ">"), ("[", "]")}

# Looking through a longer name takes the square of its length.
MAX_CHECKED_LEN = 256


def _vocabulary(path: Path, data: bytes) -> dict[str, int]:
    vocab = _parsed(path, data)
    for name, number in vocab.items():
        if type(number) is not int or not 0 <= number < 2**32:
            message = f"{path.name}: {number!r} is no id, of the token {name!r}"
            raise FormatError(message)
    return vocab


def _merges(data: bytes) -> list[list[str]]:
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError as error:
        message = f"merges.txt: not UTF-8: {error}"
        raise FormatError(message) from error
    merges = []
    for number, line in enumerate(lines, 1):
        line = line.removesuffix("\r")
        if not line or (number == 1 and line.startswith("#version")):
            continue
        parts = line.split(" ")
        if len(parts) != 2 or not all(parts):
            message = f"line {number} of merges.txt: not two tokens and a space"
            raise FormatError(message)
        merges.append(parts)
    return merges


def _object(path: Path) -> Json:
    """Read a file of settings; none is an empty one."""
    return _parsed(path, read(path)) if path.exists() else {}


def _parsed(path: Path, data: bytes) -> Json:
    def once(pairs: list[tuple[str, Any]]) -> Json:
        found = dict(pairs)
        if len(found) < len(pairs):
            message = f"{path.name}: a name stands there twice"
            raise FormatError(message)
        return found

    try:
        found = json.loads(data, object_pairs_hook=once)
    except FormatError:
        raise
    except (ValueError, RecursionError) as error:
        message = f"{path.name}: {error}"
        raise FormatError(message) from error
    if not isinstance(found, dict):
        message = f"{path.name}: no JSON object"
        raise FormatError(message)
    return found
