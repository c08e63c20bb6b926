"""The folder of a published tokenizer: its settings, its special tokens, its chat templates.

Read are ``tokenizer_config.json``, ``special_tokens_map.json``, ``added_tokens.json``,
``config.json`` for the kind of model, ``chat_template.jinja`` and
``additional_chat_templates/*.jinja``, with the precedence of transformers 5. The older files
of tokens count only where the first lists no ``added_tokens_decoder``.

Written are a ``tokenizer_config.json`` and templates in files of their own. Files of the same
layout that would say something else at the next load are removed; others are not touched.
Tokenizers themselves are read in ``loading``.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bytepair._added import AddedToken, added_token, described_tokens
from bytepair._io.files import read, write_together
from bytepair.errors import FileError, FormatError, TokenizerError

from ._settings import EXTRA, ROLES, check_settings, content, templates_of

__all__ = [
    "Folder",
    "file_of_added",
    "file_of_template",
    "read_folder",
    "read_object",
    "settings_of",
    "with_extra",
    "write_folder",
    "write_templates",
]

CONFIG = "tokenizer_config.json"
TOKENS = "special_tokens_map.json"
ADDED = "added_tokens.json"
MODEL = "config.json"
TEMPLATE = "chat_template.jinja"
TEMPLATES = "additional_chat_templates"


class Folder(NamedTuple):
    """What the files of settings say."""

    config: dict[str, Any]
    model: dict[str, Any]
    tokens: dict[str, Any]
    added: dict[str, Any]
    templates: dict[str, str]


def read_folder(folder: Path) -> Folder:
    """Read the settings of a folder; a missing file has none.

    Raises
    ------
    FormatError
        A file is damaged, or a setting in it means nothing.
    FileError
        A file cannot be read.
    """
    found = Folder(
        read_object(folder / CONFIG),
        read_object(folder / MODEL),
        read_object(folder / TOKENS),
        read_object(folder / ADDED),
        _read_templates(folder),
    )
    check_settings(found.config, folder / CONFIG)
    check_settings(found.tokens, folder / TOKENS)
    model_class = {"tokenizer_class": found.model.get("tokenizer_class")}
    check_settings(model_class, folder / MODEL)
    return found


def read_object(path: Path) -> dict[str, Any]:
    """Read a JSON object; an empty one where there is no file."""
    if not path.exists():
        return {}
    try:
        found = json.loads(read(path))
    except FileError:
        raise
    except (ValueError, RecursionError) as error:
        message = f"{path}: not JSON: {error}"
        raise FormatError(message) from error
    if not isinstance(found, dict):
        message = f"{path}: expected an object"
        raise FormatError(message)
    return found


def file_of_added(folder: Path) -> Path | None:
    """Find the file of settings that lists the added tokens of a folder."""
    listed = "added_tokens_decoder" in read_object(folder / CONFIG)
    path = folder / (CONFIG if listed else ADDED)
    return path if path.exists() else None


def file_of_template(folder: Path, text: str) -> Path | None:
    """Find the file of a folder that holds a chat template, if one does."""
    paths = [folder / TEMPLATE, *sorted((folder / TEMPLATES).glob("*.jinja"))]
    try:
        for path in paths:
            if path.exists() and _read_text(path) == text:
                return path
        config = folder / CONFIG
        found = templates_of(read_object(config).get("chat_template"), config)
    except TokenizerError:  # the files are not those that were loaded
        return None
    own = found.values() if isinstance(found, Mapping) else [found]
    return config if text in own else None


def _read_templates(folder: Path) -> dict[str, str]:
    paths = {path.stem: path for path in sorted((folder / TEMPLATES).glob("*.jinja"))}
    if (folder / TEMPLATE).exists():
        paths = {"default": folder / TEMPLATE, **paths}
    return {name: _read_text(path) for name, path in paths.items()}


def _read_text(path: Path) -> str:
    try:
        text = read(path).decode()
    except UnicodeDecodeError as error:
        message = f"{path}: not UTF-8: {error}"
        raise FormatError(message) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


# Settings


def settings_of(
    folder: Folder,
    passed: Mapping[str, Any],
    *,
    has_json: bool,
    own: Mapping[int, AddedToken],
    path: Path,
) -> dict[str, Any]:
    """Put together the settings of a folder, and those passed, which go first.

    ``added_tokens_decoder`` holds the added tokens that the files of settings list, by id;
    where only older files do, also those of the tokenizer's file (``own``), which go first.
    With a ``tokenizer.json`` (``has_json``), its post-processor goes before
    ``add_bos_token`` and ``add_eos_token`` of the file of settings.
    """
    settings = dict(folder.config)
    if has_json:
        settings.pop("add_bos_token", None)
        settings.pop("add_eos_token", None)
    templates_of(settings.get("chat_template"), path / CONFIG)
    if folder.templates:
        is_one = list(folder.templates) == ["default"]
        one = folder.templates.get("default")
        settings["chat_template"] = one if is_one else folder.templates
    settings = with_extra({**settings, **passed})
    listed = settings.pop("added_tokens_decoder", None)
    if listed is not None:
        return {**settings, "added_tokens_decoder": _listed(listed, path)}
    settings |= _older_tokens(folder, settings, passed)
    older = _older_added(folder, settings, path)
    _check_same_ids(older, own, path)
    return {**settings, "added_tokens_decoder": {**older, **own}}


def with_extra(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Give settings the extra special tokens under the name that they have today."""
    found = dict(settings)
    older, newer = "additional_special_tokens", "extra_special_tokens"
    if older in found and not found.get(newer):
        found[newer] = found.pop(older)
    return found


def _listed(listed: Any, path: Path) -> dict[int, AddedToken]:  # noqa: ANN401 -- of a file
    try:
        return described_tokens(listed)
    except ValueError as error:
        message = f"{path / CONFIG}: added_tokens_decoder: {error}"
        raise FormatError(message) from error


def _older_tokens(
    folder: Folder, settings: Mapping[str, Any], passed: Mapping[str, Any]
) -> dict[str, Any]:
    """Take the special tokens of ``special_tokens_map.json``."""
    found: dict[str, Any] = {}
    for name, token in folder.tokens.items():
        if passed.get(name):
            continue
        if name == "extra_special_tokens" and isinstance(token, list):
            known = settings.get(name) or []
            known = list(known) if isinstance(known, (list, tuple)) else []
            found[name] = known + [one for one in token if one not in known]
        elif name not in EXTRA and isinstance(token, Mapping) and "content" in token:
            found[name] = added_token({**token, "special": True})
        else:
            found[name] = token
    return found


def _older_added(
    folder: Folder, settings: Mapping[str, Any], path: Path
) -> dict[int, AddedToken]:
    """Take the tokens of ``added_tokens.json``; those with a role are special."""
    extra = settings.get("extra_special_tokens") or []
    extra = extra.values() if isinstance(extra, Mapping) else extra
    special = {content(token) for token in extra}
    special |= {content(settings.get(role)) for role in ROLES}
    found = {}
    for text, id_ in folder.added.items():
        if not isinstance(id_, int) or isinstance(id_, bool) or not 0 <= id_ < 1 << 32:
            message = f"{path / ADDED}: {id_!r} is not an id, for {text!r}"
            raise FormatError(message)
        found[id_] = added_token(text, special=text in special)
    return found


def _check_same_ids(
    older: Mapping[int, AddedToken], own: Mapping[int, AddedToken], path: Path
) -> None:
    """Refuse an added token that ``added_tokens.json`` and the tokenizer give different ids."""
    ids = {token.content: id_ for id_, token in own.items()}
    for id_, token in older.items():
        if ids.get(token.content, id_) != id_:
            message = (
                f"{path / ADDED}: {token.content!r} has the id {ids[token.content]} in the "
                f"tokenizer, and not {id_}"
            )
            raise FormatError(message)


# Writing


def write_folder(
    folder: Path,
    prefix: str,
    data: bytes,
    settings: Mapping[str, Any],
    templates: Mapping[str, str],
) -> list[Path]:
    """Write the tokenizer, the settings and the templates, all or none; give the paths.

    What else the layout has there, from before, is removed: it would go first at the next
    load.
    """
    written = {
        folder / f"{prefix}{CONFIG}": _json(settings).encode(),
        **_template_files(folder, prefix, templates),
        folder / f"{prefix}tokenizer.json": data,
    }
    write_together(written, makes_folders=True)
    files = list(written)
    before = [folder / f"{prefix}{name}" for name in (TOKENS, ADDED, TEMPLATE)]
    before += sorted((folder / f"{prefix}{TEMPLATES}").glob("*.jinja"))
    for path in before:
        if path not in files:
            path.unlink(missing_ok=True)
    return files


def write_templates(
    folder: Path, prefix: str, templates: Mapping[str, str]
) -> list[Path]:
    """Write chat templates as files, all or none; give the paths."""
    files = _template_files(folder, prefix, templates)
    write_together(files, makes_folders=True)
    return list(files)


def _template_files(
    folder: Path, prefix: str, templates: Mapping[str, str]
) -> dict[Path, bytes]:
    named = templates.items()
    return {_template_path(folder, prefix, k): text.encode() for k, text in named}


def _json(settings: Mapping[str, Any]) -> str:
    try:
        text = json.dumps(settings, indent=2, sort_keys=True, ensure_ascii=False)
    except TypeError as error:
        message = f"the settings cannot be written as JSON: {error}"
        raise TokenizerError(message) from error
    return f"{text}\n"


def _template_path(folder: Path, prefix: str, name: str) -> Path:
    if name == "default":
        return folder / f"{prefix}{TEMPLATE}"
    path = folder / f"{prefix}{TEMPLATES}" / f"{name}.jinja"
    if path.name != f"{name}.jinja" or not name.strip("."):
        message = f"{name!r} cannot name a chat template: it is not a valid file name"
        raise TokenizerError(message)
    return path
