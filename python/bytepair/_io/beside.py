"""Read added tokens from the files beside a tokenizer, and add them to it.

Folders of published models have ``tokenizer_config.json`` and ``added_tokens.json``. Left out: the
settings that the reader of a format reads itself.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bytepair import _core
from bytepair._added import AddedToken, described_tokens
from bytepair.errors import FormatError, TokenizerError

from .files import read
from .naming import named
from .recognising import FOLDER_FILES, file_in, is_folder

# To tokenizers from these files, transformers adds the tokens that the settings list. The readers of
# other formats know the settings beside their files.
ADDED_TO = ("tokenizer.json", "tokenizer.model")


class AddedBeside(NamedTuple):
    """An added token that a file beside a tokenizer lists, with its id.

    ``flags`` say whether it is special, is normalized, strips spaces on its left and on its right,
    and matches only whole words. If the file gives only the id, they apply only if the tokenizer
    does not have the added token itself.
    """

    id: int
    content: str
    flags: tuple[bool, bool, bool, bool, bool]
    is_described: bool


def added_beside(path: Path) -> list[AddedBeside]:
    """Return the added tokens that the files beside a tokenizer of a published folder list.

    They are read from ``added_tokens_decoder`` in ``tokenizer_config.json`` or, if that is
    missing, from ``added_tokens.json``. A file whose name is not one of published folders
    has such tokens only if it is the tokenizer of its folder.

    Raises
    ------
    FormatError
        A file is damaged.
    """
    if not (is_folder(path) or _is_of_folder(path)):
        return []
    folder = path if is_folder(path) else path.parent
    config = _object(folder / "tokenizer_config.json")
    if config.get("added_tokens_decoder") is not None:
        return _added_by_id(folder / "tokenizer_config.json", config)
    return _added_by_name(folder, config)


def _is_of_folder(path: Path) -> bool:
    """Whether a file is the tokenizer of its folder."""
    if path.name in FOLDER_FILES:
        return True
    try:
        return file_in(path.parent) == path
    except FormatError:  # the folder has several tokenizers
        return False


def with_added_beside(
    tokenizer: _core.Tokenizer, path: Path, added: list[AddedBeside]
) -> _core.Tokenizer:
    """Return a tokenizer with the added tokens that files beside it list, as transformers does.

    New tokens get the ids in the files. An existing token keeps its id, and is matched as the files
    say; an added token that they do not describe stays as it is.

    Raises
    ------
    TokenizerError
        A file gives a token another id than it has, or the id of another token.
    """
    tokens = [(token.id, token.content, list(token.flags)) for token in added]
    file = _file_of_added(path) if added else path
    changed = named(file, lambda: _core.with_tokens_at(tokenizer, tokens))
    known = {content: tuple(flags) for _, content, flags in _core.added_tokens(changed)}
    others = [
        (token.content, list(token.flags))
        for token in added
        if token.content not in known
        or (token.is_described and known[token.content] != token.flags)
    ]
    return named(file, lambda: _core.with_added_tokens(changed, others))


def _file_of_added(path: Path) -> Path:
    """Return the path of the file beside a tokenizer that lists its added tokens."""
    folder = path if is_folder(path) else path.parent
    config = folder / "tokenizer_config.json"
    is_there = _object(config).get("added_tokens_decoder") is not None
    return config if is_there else folder / "added_tokens.json"


def _added_by_id(path: Path, config: Mapping[str, Any]) -> list[AddedBeside]:
    added = []
    for id_, token in _described(path, config["added_tokens_decoder"]).items():
        special, normalized, lstrip, rstrip, word = token.flags()
        flags = special, normalized, lstrip, rstrip, word
        added.append(AddedBeside(id_, token.content, flags, is_described=True))
    return sorted(added)


def _described(path: Path, listed: Any) -> dict[int, AddedToken]:  # noqa: ANN401 -- of a file
    try:
        return described_tokens(listed)
    except ValueError as error:
        message = f"{path}: added_tokens_decoder: {error}"
        raise FormatError(message) from error


def _added_by_name(folder: Path, config: Mapping[str, Any]) -> list[AddedBeside]:
    path = folder / "added_tokens.json"
    map_path = folder / "special_tokens_map.json"
    tokens = _object(map_path)
    _check_lists(map_path, tokens)
    _check_lists(folder / "tokenizer_config.json", config)
    special = _special_names({**tokens, **config})
    added = []
    for content, number in _object(path).items():
        is_number = isinstance(number, int) and not isinstance(number, bool)
        if not is_number or not 0 <= number < 1 << 32:
            message = f"{path}: the id of {content!r} is {number!r}"
            raise FormatError(message)
        is_special = content in special
        flags = (is_special, not is_special, False, False, False)
        added.append(AddedBeside(number, content, flags, is_described=False))
    return sorted(added)


LISTS_OF_TOKENS = ("additional_special_tokens", "extra_special_tokens")


def _check_lists(path: Path, settings: Mapping[str, Any]) -> None:
    """Refuse settings that should be lists of tokens but are not."""
    for name in LISTS_OF_TOKENS:
        value = settings.get(name)
        if value is not None and not isinstance(value, (list, dict)):
            message = f"{path}: {name} must be a list of tokens, not {value!r:.80}"
            raise FormatError(message)


def _special_names(settings: Mapping[str, Any]) -> set[str]:
    """Return the tokens to which settings give a role."""
    tokens = [v for name, v in settings.items() if name.endswith("_token")]
    for name in LISTS_OF_TOKENS:
        more = settings.get(name) or []
        tokens += more.values() if isinstance(more, dict) else more
    named = [t.get("content") if isinstance(t, dict) else t for t in tokens]
    return {token for token in named if isinstance(token, str)}


def renamed_specials(path: Path) -> dict[int, str]:
    """Return the special tokens in the ``tokenizer_config.json`` beside a file, by id."""
    config_path = path.with_name("tokenizer_config.json")
    if not config_path.exists():
        return {}
    listed = read_object(config_path).get("added_tokens_decoder") or {}
    tokens = _described(config_path, listed)
    return {id_: token.content for id_, token in tokens.items()}


def _object(path: Path) -> dict[str, Any]:
    """Read a JSON object; return an empty one if there is no file."""
    return read_object(path) if path.exists() else {}


def read_object(path: Path) -> dict[str, Any]:
    """Read a JSON object."""
    try:
        value = _json(path)
    except (ValueError, RecursionError) as error:
        if isinstance(error, TokenizerError):
            raise
        message = f"{path}: not JSON: {error}"
        raise FormatError(message) from error
    if not isinstance(value, dict):
        message = f"{path}: expected a JSON object"
        raise FormatError(message)
    return value


def _json(path: Path) -> Any:  # noqa: ANN401 -- any value of JSON
    """Read a JSON value, and refuse lone surrogates, which Python's reader accepts."""
    value = json.loads(read(path))
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = ord(error.object[error.start])
        message = (
            f"{path}: \\u{half:04x} is a lone surrogate, half of a character, which UTF-8 "
            "cannot hold"
        )
        raise FormatError(message) from error
    return value
