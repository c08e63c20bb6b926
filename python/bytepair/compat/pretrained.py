"""The folder that ``save_pretrained`` writes: settings beside a ``tokenizer.json``.

Read are ``tokenizer_config.json``, ``special_tokens_map.json`` and a chat template in a
file of its own; a setting of the first goes before one of the second. Settings that mean
nothing here are kept and written again.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bytepair.errors import FileError, FormatError
from bytepair.files import read, write

__all__ = ["TOKEN_NAMES", "content", "read_settings", "write_settings"]

TOKEN_NAMES = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")
CONFIG = "tokenizer_config.json"
TOKENS = "special_tokens_map.json"


def read_settings(folder: Path) -> dict[str, Any]:
    """Read the settings of a folder; a missing file has none."""
    settings = {**_read_object(folder / TOKENS), **_read_object(folder / CONFIG)}
    template = _read_template(folder)
    if template is not None:
        settings["chat_template"] = template
    return settings


def _read_object(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        found = json.loads(read(path))
    except ValueError as error:
        if isinstance(error, FileError):
            raise
        message = f"{path}: not JSON: {error}"
        raise FormatError(message) from error
    if not isinstance(found, dict):
        message = f"{path}: expected an object"
        raise FormatError(message)
    return found


def _read_template(folder: Path) -> str | None:
    if (folder / "chat_template.jinja").exists():
        return read(folder / "chat_template.jinja").decode()
    found = _read_object(folder / "chat_template.json").get("chat_template")
    return found if isinstance(found, str) else None


def content(token: object) -> str | None:
    """Give the text of a token, which settings write as text or as an object.

    >>> (
    ...     content({"__type": "AddedToken", "content": "<s>"}),
    ...     content("<s>"),
    ...     content(None),
    ... )
    ('<s>', '<s>', None)
    """
    if isinstance(token, Mapping):
        token = token.get("content")
    token = getattr(token, "content", token)
    return token if isinstance(token, str) else None


def write_settings(
    folder: Path, settings: Mapping[str, Any], tokens: Mapping[str, Any]
) -> list[Path]:
    """Write both files of settings."""
    files = {CONFIG: settings, TOKENS: tokens}
    for name, found in files.items():
        text = json.dumps(found, indent=2, sort_keys=True, ensure_ascii=False)
        write(folder / name, f"{text}\n".encode())
    return [folder / name for name in files]
