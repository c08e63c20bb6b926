"""BP403, BP404 and BP406: files of settings that contradict the tokenizer.

``tokenizer_config.json`` names tokens by id and by role; ``config.json`` has the number of rows of
the model.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bytepair._io.beside import read_object
from bytepair.errors import FileError, FormatError

from ._finding import Finding, FoundToken
from ._subject import HOLE, Subject

__all__ = ["beside", "read_settings", "rows", "tokens"]


ROLES = (
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
)
"""The settings that name the special tokens that any model may have."""
LISTS_OF_ROLES = ("extra_special_tokens", "additional_special_tokens")
"""The settings that list special tokens without a role, or with roles that only the model has."""
SETTINGS = {
    "tokenizer_class",
    "added_tokens_decoder",
    "chat_template",
    "model_max_length",
    *ROLES,
}
"""A ``tokenizer_config.json`` has at least one of these settings."""
MODEL_SETTINGS = {"model_type", "text_config", "vocab_size"}
"""A ``config.json`` has at least one of these settings."""
MOST_DIGITS = 10
"""A number with more digits is not an id."""


def read_settings(subject: Subject, paths: list[Path]) -> None:
    """Read settings files; their contents show which kind each is.

    Raises
    ------
    FormatError
        A file is not a JSON object, has no settings, or has a setting of the wrong type.
    FileError
        A file cannot be read, or two are of the same kind.
    """
    read: dict[bool, str] = {}
    for path in paths:
        settings = read_object(path)
        _check(path, settings)
        is_config = not SETTINGS.isdisjoint(settings)
        if not is_config and MODEL_SETTINGS.isdisjoint(settings):
            message = (
                f"{path}: neither a tokenizer_config.json nor a model's config.json"
            )
            raise FormatError(message)
        if is_config in read:
            message = (
                f"{path}: the same kind of file as {read[is_config]}; give only one"
            )
            raise FileError(message)
        read[is_config] = path.name
        if is_config:
            subject.config = settings
        else:
            subject.model = settings


def _check(path: Path, settings: Mapping[str, Any]) -> None:
    """Refuse a class that is not a name, and roles that are not tokens."""
    name = settings.get("tokenizer_class")
    if not isinstance(name, (str, type(None))):
        message = f"{path}: tokenizer_class must be a name, not {name!r:.60}"
        raise FormatError(message)
    for role in ROLES:
        token = settings.get(role)
        if token is not None and _content(token) is None and token != "":
            message = f"{path}: {role} must be a token, a text or an object with its content, not {token!r:.60}"
            raise FormatError(message)


def beside(file: Path) -> list[Path]:
    """List the settings files beside a ``tokenizer.json``, or in a folder."""
    if file.is_file() and file.name != "tokenizer.json":
        return []
    folder = file if file.is_dir() else file.parent
    paths = (folder / name for name in ("tokenizer_config.json", "config.json"))
    return [path for path in paths if path.is_file()]


def tokens(subject: Subject) -> Iterator[Finding]:
    """Compare the tokens that settings list, or give a role, with those of the tokenizer."""
    own = {token.content: id_ for id_, token in subject.added.items()}
    other, missing = [], []
    listed = list(_listed(subject))
    for content, says in listed:
        id_ = own.get(content, subject.tokenizer.token_to_id(content))
        if id_ is None:
            missing.append(FoundToken(None, content, f"with the id {says}"))
        elif id_ != says:
            has = _holder(subject, says)
            other.append(FoundToken(id_, content, f"listed as {says}, which {has}"))
    known = {*own, *(content for content, _ in listed)}
    for content, role in _with_roles(subject.config):
        if content not in known and subject.tokenizer.token_to_id(content) is None:
            missing.append(FoundToken(None, content, role))
    yield Finding("BP403", tuple(other))
    yield Finding("BP404", tuple(missing))


def _listed(subject: Subject) -> Iterator[tuple[str, int]]:
    """Yield the tokens that settings list with their ids."""
    listed = subject.config.get("added_tokens_decoder")
    for number, token in listed.items() if isinstance(listed, dict) else ():
        content = _content(token)
        if content and number.isdecimal() and len(number) <= MOST_DIGITS:
            yield content, int(number)


def _with_roles(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the tokens that settings give a role, with its name."""
    named = {role: config.get(role) for role in ROLES}
    for setting in LISTS_OF_ROLES:
        more = config.get(setting)
        more = list(more.values()) if isinstance(more, dict) else more
        for place, token in enumerate(more if isinstance(more, list) else ()):
            named[f"{setting}[{place}]"] = token
    for role, token in named.items():
        content = _content(token)
        if content:
            yield content, role


def _holder(subject: Subject, id_: int) -> str:
    """Return the token that has an id, in words."""
    if id_ >= len(subject.tokens) or subject.tokens[id_][0] == HOLE:
        return "no token has"
    return f"{subject.written[id_]!r} has"


def _content(token: object) -> str | None:
    """Return the text of a token, which settings write as text or as an object; ``None`` for one without."""
    if isinstance(token, Mapping):
        token = token.get("content")
    return token if isinstance(token, str) and token else None


def rows(subject: Subject) -> Iterator[Finding]:
    """Look for tokens whose ids are beyond the rows of the model."""
    inner = subject.model.get("text_config")
    n_rows = subject.model.get("vocab_size")
    if n_rows is None and isinstance(inner, dict):
        n_rows = inner.get("vocab_size")
    if not isinstance(n_rows, int):
        return
    outside = range(n_rows, len(subject.tokens))
    found = [
        subject.found(id_, f"the model has {n_rows:,} rows")
        for id_ in outside
        if subject.tokens[id_][0] != HOLE
    ]
    yield Finding("BP406", tuple(found))
