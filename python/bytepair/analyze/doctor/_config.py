"""BP403 to BP406: files of settings that contradict the tokenizer.

``tokenizer_config.json`` names tokens by id and by role, and the class that transformers
builds; ``config.json`` gives the number of rows of the model. What a class does with a text is asked of the
installed transformers; code in folders is never run.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bytepair._io.beside import read_object
from bytepair._io.temporary import TemporaryFolder
from bytepair._verify import torture
from bytepair.errors import FileError, FormatError

from ._finding import Finding, FoundToken
from ._subject import HOLE, Subject, plain

__all__ = ["Settings", "beside", "find", "read_settings"]


ROLES = (
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
)
"""The settings that name the special tokens which all models may have."""
LISTS_OF_ROLES = ("extra_special_tokens", "additional_special_tokens")
"""The settings that list special tokens without a role, or by roles of the model's own."""
USE_THE_FILE = {"PreTrainedTokenizerFast", "TokenizersBackend"}
"""The classes of transformers that change nothing of a ``tokenizer.json``."""
MOST_DIGITS = 10
"""What has more digits is no id."""


class Settings(NamedTuple):
    """The contents of settings files, and their names."""

    config: Mapping[str, Any] = {}
    model: Mapping[str, Any] = {}
    config_name: str = "tokenizer_config.json"
    model_name: str = "config.json"


def read_settings(paths: list[Path]) -> Settings:
    """Read settings files; their contents show which kind each is.

    Raises
    ------
    FormatError
        A file is not a JSON object, or has no settings.
    FileError
        A file cannot be read, or two are of the same kind.
    """
    found: dict[str, Any] = {}
    for path in paths:
        settings = read_object(path)
        _check(path, settings)
        is_model = "vocab_size" in settings or "text_config" in settings
        is_config = any(
            name in settings
            for name in (
                "tokenizer_class",
                "added_tokens_decoder",
                "chat_template",
                "model_max_length",
                *ROLES,
            )
        )
        if is_model == is_config and not is_config:
            message = (
                f"{path}: neither a tokenizer_config.json nor a model's config.json"
            )
            raise FormatError(message)
        kind = "config" if is_config else "model"
        if kind in found:
            message = f"{path}: the same kind of file as {found[f'{kind}_name']}; give only one"
            raise FileError(message)
        found[kind], found[f"{kind}_name"] = settings, path.name
    return Settings(**found)


def _check(path: Path, settings: Mapping[str, Any]) -> None:
    """Refuse a class that is no name, and roles that are no tokens.

    Raises
    ------
    FormatError
        A value is of another kind; the message names the setting.
    """
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


def find(
    subject: Subject,
    settings: Settings,
    document: dict[str, Any] | None,
    wanted: set[str],
) -> Iterator[Finding]:
    """Compare settings with the tokenizer; ``wanted`` are the codes that are looked for."""
    yield from _listed(subject, settings)
    yield from _roles(subject, settings)
    if document is not None and "BP405" in wanted:
        yield from _class(subject, settings, document)
    yield from _rows(subject, settings)


def _listed(subject: Subject, settings: Settings) -> Iterator[Finding]:
    listed = settings.config.get("added_tokens_decoder")
    other, missing = [], []
    for number, token in listed.items() if isinstance(listed, dict) else ():
        content = _content(token)
        if content is None or not (number.isdecimal() and len(number) <= MOST_DIGITS):
            continue
        says, id_ = int(number), _id_of(subject, content)
        if id_ is None:
            missing.append(FoundToken(None, content, f"with the id {says}"))
        elif id_ != says:
            own = _text_at(subject, says)
            has = "no token has" if own is None else f"{own!r} has"
            other.append(FoundToken(id_, content, f"listed as {says}, which {has}"))
    name = settings.config_name
    if other:
        message = f"these tokens have different ids in {name}"
        yield Finding("BP403", message, tuple(other))
    if missing:
        message = f"these tokens, which {name} lists, are not in the tokenizer"
        yield Finding("BP404", message, tuple(missing))


def _roles(subject: Subject, settings: Settings) -> Iterator[Finding]:
    config = settings.config
    named = {role: config.get(role) for role in ROLES}
    for setting in LISTS_OF_ROLES:
        more = config.get(setting)
        more = list(more.values()) if isinstance(more, dict) else more
        named |= {
            f"{setting}[{place}]": token
            for place, token in enumerate(more if isinstance(more, list) else ())
        }
    listed = config.get("added_tokens_decoder")
    known = (
        {_content(token) for token in listed.values()}
        if isinstance(listed, dict)
        else set()
    )
    missing = []
    for role, token in named.items():
        content = _content(token)
        if content is None or content in known or _id_of(subject, content) is not None:
            continue
        missing.append(FoundToken(None, content, role))
    if missing:
        message = (
            f"these tokens, which have a role in {settings.config_name}, are not in the "
            "tokenizer"
        )
        yield Finding("BP404", message, tuple(missing))


def _class(
    subject: Subject, settings: Settings, document: dict[str, Any]
) -> Iterator[Finding]:
    name = settings.config.get("tokenizer_class")
    if not isinstance(name, str) or name in USE_THE_FILE:
        return
    try:
        encode = _encode_of_class(settings, document)
    except ImportError:
        message = f"BP405 was not looked for: to compare with the class {name}, install transformers."
        subject.unchecked.append(message)
        return
    if encode is None:
        return
    differing = []
    for text in torture.TEXTS:
        own, theirs = subject.ids_of(text.encode()), encode(text)
        if own != theirs:
            shown = text if len(text) <= 60 else f"{text[:60]}…"
            detail = f"{len(own)} ids here, {len(theirs)} with {name}"
            differing.append(FoundToken(None, shown, detail))
    if differing:
        message = (
            f"these texts get different ids from the class {name}, which {settings.config_name} "
            "names: it does not split or normalize text as tokenizer.json says"
        )
        yield Finding("BP405", message, tuple(differing))


def _encode_of_class(
    settings: Settings, document: dict[str, Any]
) -> Callable[[str], list[int]] | None:
    """Return what encodes a text, special tokens in it as text, in the class that transformers builds.

    ``None`` for a class that transformers does not have, or cannot build of these files.

    Raises
    ------
    ImportError
        transformers is not installed.
    """
    from transformers import AutoTokenizer

    config = {key: value for key, value in settings.config.items() if key != "auto_map"}
    with TemporaryFolder() as folder:
        for file, content in [
            ("tokenizer.json", document),
            ("tokenizer_config.json", config),
            ("config.json", settings.model),
        ]:
            if content:
                Path(folder, file).write_text(json.dumps(content), encoding="utf-8")
        try:
            tokenizer = AutoTokenizer.from_pretrained(
                folder, trust_remote_code=False, local_files_only=True
            )
        except Exception:  # a class raises what it likes
            return None
    options = {"add_special_tokens": False, "split_special_tokens": True}
    return lambda text: list(tokenizer(text, **options)["input_ids"])


def _rows(subject: Subject, settings: Settings) -> Iterator[Finding]:
    model = settings.model
    inner = model.get("text_config")
    n_rows = model.get("vocab_size")
    if n_rows is None and isinstance(inner, dict):
        n_rows = inner.get("vocab_size")
    if not isinstance(n_rows, int):
        return
    outside = [
        id_
        for id_ in range(n_rows, len(subject.tokens))
        if subject.tokens[id_][0] != HOLE
    ]
    if outside:
        message = (
            "these tokens have no row in the model, which has "
            f"{n_rows:,} rows according to {settings.model_name}"
        )
        yield Finding("BP406", message, subject.all_found(outside))


def _content(token: object) -> str | None:
    """Return the text of a token, which settings write as text or as an object; ``None`` for one without."""
    if isinstance(token, Mapping):
        token = token.get("content")
    return token if isinstance(token, str) and token else None


def _id_of(subject: Subject, content: str) -> int | None:
    for id_, token in subject.added.items():
        if token.content == content:
            return id_
    return subject.tokenizer.token_to_id(content)


def _text_at(subject: Subject, id_: int) -> str | None:
    is_there = id_ < len(subject.tokens) and subject.tokens[id_][0] != HOLE
    return plain(subject.written[id_]) if is_there else None
