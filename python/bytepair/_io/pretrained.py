"""Write the folder that transformers reads: ``tokenizer.json`` and its settings.

The settings name only what the tokenizer itself says: the special token that begins every
text, the one that ends every text, those for unknown units and for padding, and the
lengths. A token is named only if it is special, since transformers makes every token special
that the settings name. Left out: chat templates and other roles; see transformers.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bytepair import _core

from . import saving
from .files import StrPath, refuse_no_name, write_together


def save(
    tokenizer: _core.Tokenizer, directory: StrPath, *, ids_may_change: bool = False
) -> list[Path]:
    """Write both files, and return their paths."""
    refuse_no_name(directory)
    folder = Path(directory)
    data = saving.to_bytes(tokenizer, "huggingface", ids_may_change=ids_may_change)
    settings = settings_of(tokenizer, json.loads(data))
    text = json.dumps(settings, indent=2, ensure_ascii=False)
    files = {
        folder / "tokenizer.json": data,
        folder / "tokenizer_config.json": f"{text}\n".encode(),
    }
    write_together(files, makes_folders=True)
    return list(files)


def settings_of(
    tokenizer: _core.Tokenizer, document: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the settings of a tokenizer whose ``tokenizer.json`` is ``document``."""
    parts = tokenizer.inspect().settings
    padding, truncation = parts["padding"], parts["truncation"]
    tokens = {
        "bos_token": _only_special(tokenizer, before=True),
        "eos_token": _only_special(tokenizer, before=False),
        "unk_token": document["model"].get("unk_token"),
        "pad_token": padding and padding["token"],
    }
    special = tokenizer.special_tokens
    settings: dict[str, Any] = {"tokenizer_class": "PreTrainedTokenizerFast"}
    settings |= {role: token for role, token in tokens.items() if token in special}
    if padding is not None:
        settings["padding_side"] = padding["side"]
        settings["pad_token_type_id"] = padding["type_id"]
    if truncation is not None:
        settings["model_max_length"] = truncation["max_length"]
        settings["truncation_side"] = truncation["side"]
    return {**settings, "clean_up_tokenization_spaces": False}


def _only_special(tokenizer: _core.Tokenizer, *, before: bool) -> str | None:
    """Return the special token before or after a text, if there is exactly one."""
    single, _ = tokenizer.inspect().settings["template"]
    position = next(i for i, (which, _, _) in enumerate(single) if which is not None)
    pieces = single[:position] if before else single[position + 1 :]
    ids = [id_ for _, some, _ in pieces for id_ in some]
    names = {id_: name for name, id_ in tokenizer.special_tokens.items()}
    return names.get(ids[0]) if len(ids) == 1 else None
