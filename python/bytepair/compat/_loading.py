"""From a folder to a tokenizer: the file, what its class makes of it, and added tokens.

A class with rules of its own (``classes``) takes the vocabulary of ``tokenizer.json``, or of
``vocab.json`` with ``merges.txt``, and is put together as a ``tokenizer.json`` anew; every
other tokenizer is read as its file says. Added tokens then get the ids that transformers
gives them: their own where the vocabulary has them, else the next.

Costs one more pass over a ``tokenizer.json`` for classes with rules of their own.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from bytepair import Tokenizer, _core
from bytepair._added import AddedToken, added_token, added_tokens
from bytepair._io.files import read
from bytepair.errors import FormatError

from ._classes import OF_MODEL, Class, as_asked, chosen, named
from ._keywords import Loading
from ._pretrained import (
    Folder,
    file_of_added,
    read_folder,
    read_object,
    settings_of,
    with_extra,
)
from ._settings import ROLES, content

__all__ = [
    "Loaded",
    "as_its_class",
    "load",
    "put_together",
    "rebuilt",
    "roles_of",
    "tokens_of",
]


class Loaded(NamedTuple):
    """A tokenizer, its class and its settings."""

    tokenizer: Tokenizer
    kind: Class | None
    settings: dict[str, Any]


def load(
    path: Path, loading: Loading, passed: Mapping[str, Any], *, kind: str | None
) -> Loaded:
    """Load a file or a folder, as the class ``kind`` does, or as the one that it names.

    Raises
    ------
    FormatError
        Files are damaged, or their class is not known here.
    """
    if path.is_file():
        tokenizer = _read(path, path)
        settings = {**_of_model(path, tokenizer), "name_or_path": str(path), **passed}
        return Loaded(tokenizer, _class(kind), settings)
    folder = read_folder(path)
    file = path / _file_name(folder.config)
    found = _class(_chosen(folder, loading, file) if kind is None else kind)
    if found is None or found.pipeline is None:
        return _as_it_is(path, file, folder, found, passed)
    document = _document(path, file)
    symbols = document.pop("symbols", {})
    if symbols and found.name == "NllbTokenizer":
        message = f"{path}: NllbTokenizer gives ids that differ from those of the model; it needs a tokenizer.json"
        raise FormatError(message)
    own = _added_of(document)
    settings = settings_of(folder, passed, has_json=file.is_file(), own=own, path=path)
    settings = _with_defaults(found, {**symbols, **_defaults(found)}, settings, path)
    if found.name == "CodeGenTokenizer" and settings.get("return_token_type_ids"):
        settings.setdefault("model_input_names", [*found.inputs, "token_type_ids"])
    data = rebuilt(document, found, settings)
    tokenizer = Tokenizer.from_bytes(data, format="huggingface")
    settings["added_tokens_decoder"] = added_tokens(tokenizer)
    return Loaded(tokenizer, found, settings)


def _as_it_is(
    path: Path,
    file: Path,
    folder: Folder,
    found: Class | None,
    passed: Mapping[str, Any],
) -> Loaded:
    """Load a folder whose class reads its file as it is."""
    model = _model_of(path)
    tokenizer = _read(file if file.is_file() else path, model)
    own = added_tokens(tokenizer)
    settings = settings_of(folder, passed, has_json=file.is_file(), own=own, path=path)
    settings = _with_defaults(found, _defaults(found), settings, path)
    if model is not None:
        settings = {**_of_model(model, tokenizer), **settings}
        _check_legacy(model, settings)
    return Loaded(tokenizer, found, settings)


def _with_defaults(
    kind: Class | None,
    defaults: Mapping[str, Any],
    settings: Mapping[str, Any],
    path: Path,
) -> dict[str, Any]:
    """Give settings what a class has where they say nothing."""
    found = {**defaults, **settings, "name_or_path": str(path)}
    return found | _as_the_class_has_them(kind, found)


def as_its_class(
    config: Mapping[str, Any],
    model: Mapping[str, Any],
    document: Mapping[str, Any],
    path: Path,
) -> tuple[str, Tokenizer] | None:
    """Make what the class that settings name makes of a ``tokenizer.json``, with its name.

    ``None`` if that class reads the file as it is.

    Raises
    ------
    FormatError
        The class is not known here, or the settings make no sense.
    """
    text = json.dumps(document)
    name = chosen(config, model, is_byte_level=lambda: '"ByteLevel"' in text)
    kind = _class(name)
    if name is None or kind is None or kind.pipeline is None:
        return None
    folder = Folder(dict(config), dict(model), {}, {}, {})
    own = _added_of(document)
    settings = settings_of(folder, {}, has_json=True, own=own, path=path)
    settings = _with_defaults(kind, _defaults(kind), settings, path)
    data = rebuilt(document, kind, settings)
    return name, Tokenizer.from_bytes(data, format="huggingface")


# The files of a folder that has one for each version of transformers.
VERSIONED = re.compile(r"tokenizer\.(\d+(?:\.\d+)*)\.json")
VERSION = 5
"""The version of transformers whose files are read."""


def _file_name(config: Mapping[str, Any]) -> str:
    """Name the file of a tokenizer: of those for some versions the last that is for ours."""
    names = config.get("fast_tokenizer_files") or []
    found = [VERSIONED.fullmatch(str(name)) for name in names]
    versions = {
        tuple(map(int, one[1].split("."))): one[0] for one in found if one is not None
    }
    known = [version for version in sorted(versions) if version[0] <= VERSION]
    return versions[known[-1]] if known else "tokenizer.json"


def put_together(
    kind: Class,
    vocab: Any,  # noqa: ANN401 -- a caller's
    merges: Any,  # noqa: ANN401
    passed: Mapping[str, Any],
) -> Loaded:
    """Make what a class makes of tokens and merges, or of the paths of files that hold them.

    Raises
    ------
    FormatError
        A file is damaged, or a merge does not have two parts.
    FileError
        A file is not there.
    """
    if not isinstance(vocab, Mapping):
        read(Path(vocab))
        vocab = read_object(Path(vocab))
    if isinstance(merges, (str, Path)):
        merges = _merges(Path(merges))
    pairs = [
        one.split(" ") if isinstance(one, str) else list(one) for one in merges or ()
    ]
    for place, pair in enumerate(pairs):
        if len(pair) != 2:
            message = (
                f"merges: number {place} has {len(pair)} parts, not two: {pair!r:.80}"
            )
            raise FormatError(message)
    settings = with_extra({**_defaults(kind), **passed})
    settings |= _as_the_class_has_them(kind, settings)
    data = rebuilt({"model": {"vocab": dict(vocab), "merges": pairs}}, kind, settings)
    tokenizer = Tokenizer.from_bytes(data, format="huggingface")
    listed = {**settings, "added_tokens_decoder": added_tokens(tokenizer)}
    return Loaded(tokenizer, kind, listed)


# What a folder's tokenizer is read from rather than from its tokenizer.model.
BEFORE_MODEL = ("tokenizer.json", "tekken.json", "tokenizer.bytepair")


def _model_of(path: Path) -> Path | None:
    """Find the SentencePiece model that a folder is read from, if it is."""
    others = any((path / name).is_file() for name in BEFORE_MODEL)
    model = path if path.is_file() else path / "tokenizer.model"
    return model if not others and _is_sentencepiece(model) else None


def _read(source: Path, model: Path | None) -> Tokenizer:
    """Read a tokenizer; a character map of a SentencePiece model as transformers does.

    It looks clusters up in the map (``Precompiled``), SentencePiece the longest match.
    """
    tokenizer = Tokenizer.from_file(source)
    if model is None or not _is_sentencepiece(model):
        return tokenizer
    steps = dict(tokenizer._describe())["normalize"]
    if "behind the text" in steps:
        message = (
            f"{model}: transformers puts the space of this model before texts, SentencePiece "
            "behind them (treat_whitespace_as_suffix); bytepair.Tokenizer.from_file reads it as "
            "SentencePiece does"
        )
        raise FormatError(message)
    if "a character map" not in steps:
        return tokenizer
    data = tokenizer.to_bytes(format="huggingface", ids_may_change=True)
    return Tokenizer.from_bytes(data, format="huggingface")


def _of_model(path: Path, tokenizer: Tokenizer) -> dict[str, Any]:
    """Name the special tokens of a SentencePiece model by role; of other files none.

    Control symbols have no role; user-defined ones are not special.
    """
    if not _is_sentencepiece(path):
        return {}
    roles = dict(_core.sentencepiece_roles(read(path)))
    controls = [token for token in _symbols(tokenizer, roles) if token.special]
    named_pieces = {f"{role}_token": piece for role, piece in roles.items()}
    return {**named_pieces, "extra_special_tokens": controls}


def _symbols(tokenizer: Tokenizer, roles: Mapping[str, str]) -> list[AddedToken]:
    """List the control and user-defined symbols of a model, by id."""
    found = added_tokens(tokenizer).values()
    symbols = [token for token in found if token.content != roles.get("unk")]
    return [replace(token, normalized=False) for token in symbols]


def _check_legacy(path: Path, settings: Mapping[str, Any]) -> None:
    """Refuse a setting that changes how spaces become pieces, which a model itself says."""
    if not settings.get("legacy", True):
        message = (
            f"{path}: legacy=False has no effect on a model that is read as it is; "
            "LlamaTokenizer.from_pretrained applies it"
        )
        raise FormatError(message)


def _is_sentencepiece(path: Path) -> bool:
    return path.suffix == ".model" and path.is_file() and read(path).startswith(b"\n")


def _class(kind: str | None) -> Class | None:
    return None if kind is None else named(kind)


def _chosen(folder: Folder, loading: Loading, file: Path) -> str | None:
    if loading.tokenizer_type is not None:
        return _of_type(loading.tokenizer_type)
    model = folder.model
    if loading.config is not None:
        config = loading.config
        names = ("model_type", "tokenizer_class")
        own = config if isinstance(config, Mapping) else vars(config)
        model = {name: own.get(name, getattr(config, name, None)) for name in names}
    if loading.trust_remote_code and folder.config.get("auto_map"):
        message = (
            "trust_remote_code=True: tokenizer_config.json asks to run code from the folder "
            "(auto_map), which bytepair does not run; leave trust_remote_code out"
        )
        raise FormatError(message)
    return chosen(
        folder.config,
        model,
        is_byte_level=lambda: file.is_file() and b'"ByteLevel"' in read(file),
    )


def _of_type(model_type: str) -> str:
    if model_type not in OF_MODEL:
        known = ", ".join(sorted(OF_MODEL))
        message = f"tokenizer_type={model_type!r} is not known; known are {known}"
        raise FormatError(message)
    return OF_MODEL[model_type]


def _as_the_class_has_them(
    kind: Class | None, settings: Mapping[str, Any]
) -> dict[str, AddedToken]:
    """Give tokens that settings name as texts the properties that a class gives its own."""
    listed = (settings.get("added_tokens_decoder") or {}).values()
    known = {content(token) for token in listed}
    found = {}
    for role, token in ({} if kind is None else kind.tokens).items():
        text = settings.get(f"{role}_token")
        if not (isinstance(text, str) and isinstance(token, AddedToken)):
            continue
        if text not in known:
            found[f"{role}_token"] = replace(token, content=text)
    return found


def _defaults(kind: Class | None) -> dict[str, Any]:
    if kind is None:
        return {}
    tokens = {f"{role}_token": token for role, token in kind.tokens.items()}
    return {**tokens, **kind.settings}


def _document(path: Path, file: Path) -> dict[str, Any]:
    """Read what a class takes of files."""
    if file.is_file():
        document = read_object(file)
        model = document.get("model")
        model = model if isinstance(model, dict) else {}
        is_bpe = model.get("type") in (None, "BPE")
        if not is_bpe or not isinstance(model.get("vocab"), dict):
            Tokenizer.from_file(file)  # says what is wrong
            message = f"{file}: model.vocab is not an object of tokens and ids"
            raise FormatError(message)
        return document
    vocab, merges = path / "vocab.json", path / "merges.txt"
    if not (vocab.is_file() and merges.is_file()):
        return _of_another_format(path)
    return {"model": {"vocab": read_object(vocab), "merges": _merges(merges)}}


def _of_another_format(path: Path) -> dict[str, Any]:
    """Take the vocabulary and the merges of a file of another format."""
    tokenizer = Tokenizer.from_file(path)
    try:
        data = tokenizer.to_bytes(format="huggingface", ids_may_change=True)
    except FormatError as error:
        message = (
            f"{path}: the class of this folder makes a tokenizer of its vocabulary, which "
            f"a tokenizer.json cannot hold: {error}. PreTrainedTokenizerFast.from_pretrained "
            "reads the file as it is"
        )
        raise FormatError(message) from error
    model = json.loads(data)["model"]
    own = _model_of(path)
    if own is None:
        return {"model": model}
    model["merges"] = _merges_by_ids(model["vocab"])
    roles = dict(_core.sentencepiece_roles(read(own)))
    symbols = {"extra_special_tokens": _symbols(tokenizer, roles)}
    return {"model": model, "symbols": symbols}


def _merges_by_ids(vocab: Mapping[str, int]) -> list[list[str]]:
    """List all ways to make each token, the smallest ids first.

    So the classes read a SentencePiece model, whose own order is that of the scores.
    """
    merges = []
    for token, _ in sorted(vocab.items(), key=lambda item: item[1]):
        parts = ([token[:place], token[place:]] for place in range(1, len(token)))
        merges += [
            [left, right] for left, right in parts if {left, right} <= vocab.keys()
        ]
    return merges


def _merges(path: Path) -> list[list[str]]:
    lines = read(path).decode().split("\n")  # other ends of lines are parts of tokens
    lines = [line.removesuffix("\r") for line in lines]
    lines = lines[:-1] if lines[-1] == "" else lines
    merges = [line.split(" ") for line in lines if not line.startswith("#version")]
    for number, merge in enumerate(merges, 1):
        if len(merge) != 2:
            message = f"{path}: merge {number} has {len(merge)} parts, not two: {merge}"
            raise FormatError(message)
    return merges


def _added_of(document: Mapping[str, Any]) -> dict[int, AddedToken]:
    listed = document.get("added_tokens") or []
    return {int(token["id"]): added_token(token) for token in listed}


# Special tokens of settings


def roles_of(settings: Mapping[str, Any]) -> dict[str, Any]:
    """List the special tokens by role, those that all models have first.

    A role is the name of a setting: ``bos_token``, or one of the model's own, which need not
    end so.
    """
    extra = settings.get("extra_special_tokens")
    own = settings.get("model_specific_special_tokens") or {}
    named_tokens = {
        **{name: token for name, token in settings.items() if name.endswith("_token")},
        **own,
        **(extra if isinstance(extra, Mapping) else {}),
    }
    roles = {
        name: token
        for name, token in named_tokens.items()
        if content(token) is not None
    }
    first = [role for role in ROLES if role in roles]
    return {role: roles[role] for role in dict.fromkeys([*first, *roles])}


def _texts_by_role(settings: Mapping[str, Any]) -> dict[str, str]:
    return {role: str(content(token)) for role, token in roles_of(settings).items()}


def extra_of(settings: Mapping[str, Any]) -> list[Any]:
    """List the special tokens without a role."""
    found = settings.get("extra_special_tokens", {})
    if isinstance(found, Mapping):  # these have roles
        found = settings.get("additional_special_tokens")
    return list(found or [])


def tokens_of(settings: Mapping[str, Any]) -> list[AddedToken]:
    """List the tokens that settings add to a vocabulary, in the order in which they come.

    First those that files list, by id; then those with a role; then the others. A token that
    is listed has the properties of the list, and is special if it has a role.
    """
    roles = [added_token(token, special=True) for token in roles_of(settings).values()]
    with_role = {token.content for token in roles}
    listed = settings.get("added_tokens_decoder") or {}
    found: dict[str, AddedToken] = {}
    for _, token in sorted(listed.items()):
        token = added_token(token)
        is_special = token.special or token.content in with_role
        found[token.content] = replace(token, special=is_special)
    extra = [
        added_token(token, special=isinstance(token, str))
        for token in extra_of(settings)
    ]
    for token in [*roles, *extra]:
        found.setdefault(token.content, token)
    return list(found.values())


# What a class makes of a file


def rebuilt(
    document: Mapping[str, Any], kind: Class, settings: Mapping[str, Any]
) -> bytes:
    """Write the ``tokenizer.json`` that a class makes of another."""
    if kind.pipeline is None:
        message = f"{kind.name} has no rules of its own; it reads a file as it is"
        raise FormatError(message)
    texts = _texts_by_role(settings)
    characters = {"precompiled_charsmap": _characters(document.get("normalizer"))}
    parts = kind.pipeline({**settings, **texts, **characters})
    source = document["model"]
    ids = dict(source["vocab"])
    tokens = _added_by(kind, settings)
    _number(tokens, ids, _claims(settings, document), settings)
    model = {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
        **parts.model,
        "vocab": source["vocab"],
        "merges": source.get("merges") or [],
    }
    roles = _Roles({k.removesuffix("_token"): text for k, text in texts.items()})
    found = {
        "version": "1.0",
        "truncation": document.get("truncation"),
        "padding": document.get("padding"),
        "added_tokens": [
            {"id": ids[token.content], "content": token.content, **token.properties()}
            for token in tokens
        ],
        "normalizer": parts.normalizer,
        "pre_tokenizer": parts.pre_tokenizer,
        "post_processor": _post_processor(document, kind, roles, ids, settings),
        "decoder": parts.decoder,
        "model": model,
    }
    return json.dumps(found, ensure_ascii=False).encode()


def _characters(normalizer: Any) -> str | None:  # noqa: ANN401 -- JSON
    """Find the map of characters that a normalizer has from a SentencePiece model."""
    if not isinstance(normalizer, Mapping):
        return None
    own = normalizer.get("precompiled_charsmap")
    found = [own, *map(_characters, normalizer.get("normalizers") or [])]
    return next((one for one in found if one), None)


class _Roles(dict[str, str]):
    """Special tokens by role; one that a class needs and is not there is an error."""

    def __missing__(self, role: str) -> str:
        message = (
            f"the class of this folder puts {role}_token around texts; it is not set"
        )
        raise FormatError(message)


def _added_by(kind: Class, settings: Mapping[str, Any]) -> list[AddedToken]:
    tokens = tokens_of(settings)
    if kind.name not in MAKES_SPECIAL:
        return tokens
    named_tokens = [*roles_of(settings).values(), *extra_of(settings)]
    special = {content(token): token for token in named_tokens}
    plain = kind.name == "Qwen2Tokenizer"

    def made_special(token: AddedToken) -> AddedToken:
        named_as = special.get(token.content)
        if named_as is None:
            return token
        if plain or isinstance(named_as, str):
            return AddedToken(token.content, special=True, normalized=False)
        return added_token(named_as, special=True)

    return [made_special(token) for token in tokens]


# Classes that add their special tokens a second time, which makes them plain special ones.
MAKES_SPECIAL = ("Qwen2Tokenizer", "CohereTokenizer")


def _number(
    tokens: list[AddedToken],
    ids: dict[str, int],
    claimed: Mapping[str, int],
    settings: Mapping[str, Any],
) -> None:
    """Give ids to added tokens: those of the vocabulary, else the next."""
    next_id = len(ids)
    for token in tokens:
        if token.content not in ids:
            check_claim(token.content, claimed.get(token.content), next_id, settings)
            ids[token.content] = next_id
        next_id = max(next_id, ids[token.content] + 1)


def _claims(settings: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, int]:
    """List the ids that files of settings give to tokens; those of the document do not count."""
    listed = settings.get("added_tokens_decoder") or {}
    own = {token["content"] for token in document.get("added_tokens") or []}
    claims = {str(content(token)): int(id_) for id_, token in listed.items()}
    return {text: id_ for text, id_ in claims.items() if text not in own}


def check_claim(
    text: str, claimed: int | None, id_: int, settings: Mapping[str, Any]
) -> None:
    """Refuse a new token that is listed with another id than it would get.

    The error names the file of the folder that lists it, where ``settings`` are of a folder.
    """
    if claimed not in (None, id_):
        folder = settings.get("name_or_path")
        file = file_of_added(Path(folder)) if folder else None
        message = (
            f"{f'{file}: ' if file else ''}the added token {text!r} is listed with the id {claimed}, but the vocabulary "
            f"goes up to {id_ - 1}, and transformers would give it {id_}; write a tokenizer.json "
            "that has it"
        )
        raise FormatError(message)


def _post_processor(
    document: Mapping[str, Any],
    kind: Class,
    roles: Mapping[str, str],
    ids: Mapping[str, int],
    settings: Mapping[str, Any],
) -> Any:  # noqa: ANN401 -- JSON
    def id_of(token: str) -> int:
        found = ids.get(token, ids.get(roles.get("unk", "")))
        if found is None:
            message = (
                f"{kind.name} puts {token!r} around texts, but the vocabulary lacks it"
            )
            raise FormatError(message)
        return found

    if kind.template is not None:
        return kind.template(roles, id_of, settings)
    is_asked = "add_bos_token" in settings or "add_eos_token" in settings
    own = document.get("post_processor")
    return as_asked(roles, id_of, settings) if is_asked or own is None else own
