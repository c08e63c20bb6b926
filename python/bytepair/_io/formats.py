"""Which format a file is of, and the files that belong to it.

A file is told by what it holds, not by its name; the name decides only between published
encodings that share a file. The formats themselves are read and written by the core, which
knows bytes alone.
"""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from bytepair import _core
from bytepair._added import added_token, as_id
from bytepair.errors import FileError, FormatError, TokenizerError

from .files import read, write_together

__all__ = [
    "AddedBeside",
    "Change",
    "Options",
    "acting_options",
    "added_beside",
    "format_of",
    "format_of_file",
    "from_bytes",
    "has_ids",
    "is_tokenizer",
    "load",
    "load_folder",
    "needed_options",
    "read_object",
    "save",
    "sniff",
    "to_bytes",
    "with_added_beside",
]

_Loaded = TypeVar("_Loaded")
Reader = Callable[[bytes], _core.CoreTokenizer]
Writer = Callable[[_core.CoreTokenizer], bytes]
WriterWithChanges = Callable[[_core.CoreTokenizer], tuple[bytes, list[tuple[str, str]]]]

# Formats of one file, told by what they hold.
READERS: dict[str, Reader] = {
    "bytepair": _core.read_native,
    "compiled": _core.read_compiled,
    "huggingface": _core.read_huggingface,
    "tekken": _core.read_tekken,
    "sentencepiece": _core.read_sentencepiece,
    "clip": _core.read_clip,
    "subword-nmt": lambda data: _core.read_subword_nmt(data, None),
    "fastbpe": lambda data: _core.read_fastbpe(data, None),
}

# Formats of one file that can be written.
WRITERS: dict[str, Writer] = {
    "bytepair": _core.write_native,
    "compiled": _core.write_compiled,
    "huggingface": _core.write_huggingface,
    "sentencepiece": _core.write_sentencepiece,
    "subword-nmt": _core.write_subword_nmt,
    "fastbpe": _core.write_fastbpe,
}

# Those that normalize some texts otherwise than a few tokenizers do, and say which.
WRITERS_WITH_CHANGES: dict[str, WriterWithChanges] = {
    "huggingface": _core.write_huggingface_with_changes,
    "sentencepiece": _core.write_sentencepiece_with_changes,
}

# Formats that can be written.
FORMATS = (
    "bytepair",
    "compiled",
    "huggingface",
    "tiktoken",
    "gpt2",
    "sentencepiece",
    "subword-nmt",
    "fastbpe",
)

# Formats that are not read as a whole: models are many times larger than memory, and reading a
# compiled tokenizer takes no time but that of memory that is touched.
FORMATS_OF_PATHS = ("gguf", "compiled")

# What is looked for in a folder, best first: the file that says most about its tokenizer.
FOLDER_FILES = (
    "tokenizer.json",
    "tekken.json",
    "tokenizer.bytepair",
    "tokenizer.bytepair-compiled",
    "tokenizer.model",
    "tiktoken.model",
    "vocab.json",
    "encoder.json",
    "encoder_bpe_40000.json",
    "bpe_simple_vocab_16e6.txt.gz",
)

# And besides these, of any name, if there is one such file.
FOLDER_PATTERNS = ("tekken*.json", "*.tiktoken", "*.model", "*.gguf")

# Files that transformers adds the tokens to that its settings name; what others mean by settings
# beside them their readers know.
ADDED_TO = ("tokenizer.json", "tokenizer.model")

# What is fetched of a published model.
HUB_FILES = [
    *FOLDER_FILES,
    "merges.txt",
    "vocab.bpe",
    "vocab_40000.bpe",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "config.json",
    "chat_template.jinja",
    "additional_chat_templates/*.jinja",
    "tekken*.json",
    "*.model",
    "*.tiktoken",
    "*.tiktoken.json",
]

# What only tokenizers are called, and what begins as some texts do.
TOKENIZER_ENDINGS = (".bytepair", ".bytepair-compiled", ".tiktoken", ".model", ".gguf")
UNSURE_FORMATS = ("sentencepiece", "clip", "subword-nmt", "fastbpe")
THREE_RANKS = rb"(?:[A-Za-z0-9+/]+=* [0-9]+\r?\n){3}"

# Vocabularies that need a file of merges beside them, with its name.
MERGES_OF = dict(_core.pair_names())
NAMES_OF_PAIRS = (*MERGES_OF, *MERGES_OF.values())


class Options(NamedTuple):
    """What some files leave out, and a caller can say."""

    dialect: str | None = None
    pattern: str | list[str] | None = None
    special_tokens: Mapping[str, int] | None = None
    encoding: str | None = None

    def given(self) -> list[str]:
        """Name those that are given."""
        return [name for name, value in self._asdict().items() if value is not None]


NO_OPTIONS = Options()

# Which options act for which format; for all others none does.
ACTING_OPTIONS = {
    "tiktoken": ("dialect", "pattern", "special_tokens", "encoding"),
    "gguf": ("pattern",),
}

# What to do in place of an option that does not act.
INSTEAD_OF = {
    "dialect": "the file says how it splits texts",
    "pattern": "the file says how it splits texts",
    "special_tokens": "add tokens to what is loaded: tokenizer.with_special_tokens(...)",
    "encoding": "it is for published files of ranks (.tiktoken)",
}


def load(path: Path, options: Options = NO_OPTIONS) -> _core.CoreTokenizer:
    """Load whatever lies at ``path``."""
    if _is_folder(path):
        return load_folder(path, options)
    pair = _pair_of(path)
    if pair is not None:
        _refuse_idle(path, "vocab.json with merges.txt", options)
        return _load_pair(*pair)
    format_name = _format_at(path)
    if format_name == "gguf":
        _refuse_idle(path, format_name, options)
        return _named(path, lambda: _load_gguf(path, options.pattern))
    if format_name == "compiled":
        _refuse_idle(path, format_name, options)
        return _named(path, lambda: _from_path(path, _core.read_compiled_file))
    data = read(path)
    if path.suffix == ".tiktoken":
        format_name = "tiktoken"
    else:
        format_name = _named(path, lambda: sniff(data, path.name))
    _refuse_idle(path, format_name, options)
    if format_name == "tiktoken":
        return _load_tiktoken(path, data, options)
    return _named(path, lambda: from_bytes(data, format_name))


def acting_options(path: Path) -> tuple[str, ...]:
    """Name the options that act on what lies at ``path``; none where loading will fail."""
    try:
        found = file_in(path) if _is_folder(path) else path
        return ACTING_OPTIONS.get(format_of_file(found), ())
    except TokenizerError:
        return ()


def needed_options(path: Path, options: Options) -> Options:
    """Keep the options without which the file at ``path`` does not say how it splits.

    These are the dialect and the pattern for ranks that are neither published nor have a
    sidecar, and the pattern for a GGUF file.
    """
    acting = acting_options(path)
    if "dialect" not in acting:
        return Options(pattern=options.pattern if "pattern" in acting else None)
    file = file_in(path) if _is_folder(path) else path
    stem = file.name.removesuffix(file.suffix)
    is_told = sidecar_of(file).exists() or _core.recognise_encoding(read(file), stem)
    return NO_OPTIONS if is_told else options


def format_of_file(path: Path) -> str:
    """Tell the format of a file, of which only the beginning is read."""
    if _pair_of(path) is not None:
        return "gpt2"
    if path.suffix == ".tiktoken":
        return "tiktoken"
    return sniff(_beginning(path, n_bytes=1 << 16), path.name)


def is_tokenizer(path: Path) -> bool:
    """Tell whether what lies at ``path`` is a tokenizer and no other text or file.

    One that is damaged counts, where its name or its first bytes say that it is one. Of
    formats that are lines of text, those that can be loaded count.
    """
    try:
        if _is_folder(path):
            file_in(path)
            return True
        if not path.is_file():
            return False
        if path.suffix in TOKENIZER_ENDINGS or path.name in NAMES_OF_PAIRS:
            return True
        format_name = format_of_file(path)
        if format_name == "tiktoken":
            return bool(re.match(THREE_RANKS, _beginning(path, n_bytes=1 << 16)))
        if format_name == "huggingface":  # any other object counts as one, too
            beginning = _beginning(path, n_bytes=1 << 16)
            return bool(_HUGGINGFACE_KEY.search(beginning) or _MODEL.search(beginning))
        if format_name in UNSURE_FORMATS:
            load(path)
    except (TokenizerError, OSError, ValueError):
        return False
    return True


def _refuse_idle(path: Path, format_name: str, options: Options) -> None:
    """Refuse options that would change nothing."""
    acting = ACTING_OPTIONS.get(format_name, ())
    idle = [name for name in options.given() if name not in acting]
    if idle:
        message = (
            f"{path}: {idle[0]}= has no effect on this format ({format_name}); "
            f"{INSTEAD_OF[idle[0]]}"
        )
        raise TokenizerError(message)


def load_folder(folder: Path, options: Options = NO_OPTIONS) -> _core.CoreTokenizer:
    """Load the file of a folder that says most about its tokenizer.

    The order is that of ``FOLDER_FILES``; then a single file of another name will do.
    """
    path = file_in(folder)
    tokenizer = load(path, options)
    if path.name not in ADDED_TO:
        return tokenizer
    added = added_beside(folder)
    return with_added_beside(tokenizer, folder, added) if added else tokenizer


def file_in(folder: Path) -> Path:
    """Find the file of a folder that says most about its tokenizer."""
    for name in FOLDER_FILES:
        path = folder / name
        if path.is_file() and (name not in MERGES_OF or _pair_of(path) is not None):
            return path
    for pattern in FOLDER_PATTERNS:
        found = sorted(folder.glob(pattern))
        if len(found) > 1:
            names = ", ".join(path.name for path in found)
            message = f"{folder}: there are several tokenizers, {names}; name the file"
            raise FormatError(message)
        if found:
            return found[0]
    message = (
        f"{folder}: no tokenizer in this folder; looked for {', '.join(FOLDER_FILES)} "
        f"(vocab.json with merges.txt beside it) and {', '.join(FOLDER_PATTERNS)}"
    )
    raise FormatError(message)


class AddedBeside(NamedTuple):
    """An added token that a file beside a tokenizer names, with its id.

    ``flags`` are whether it is special, normalized, strips left and right, and is a word.
    """

    id: int
    content: str
    flags: tuple[bool, bool, bool, bool, bool]


def has_ids(path: Path) -> bool:
    """Tell whether a tokenizer has ids of its own; codes are merges alone."""
    if not path.is_file() or _pair_of(path) is not None:
        return True
    with path.open("rb") as file:
        return sniff(file.read(4096)) not in ("subword-nmt", "fastbpe")


def added_beside(path: Path) -> list[AddedBeside]:
    """List the added tokens that files beside a tokenizer of a published folder name.

    These are ``added_tokens_decoder`` in ``tokenizer_config.json`` or, where that is
    missing, ``added_tokens.json``. Beside a file of another name than published folders
    have, such files belong to something else, unless the folder stands for that file.

    Raises
    ------
    FormatError
        A file is not understood.
    """
    if not (_is_folder(path) or _is_of_folder(path)):
        return []
    folder = path if _is_folder(path) else path.parent
    config = _object(folder / "tokenizer_config.json")
    if config.get("added_tokens_decoder") is not None:
        return _added_by_id(folder / "tokenizer_config.json", config)
    return _added_by_name(folder, config)


def _is_of_folder(path: Path) -> bool:
    """Tell whether a file is the tokenizer of its folder."""
    if path.name in FOLDER_FILES:
        return True
    try:
        return file_in(path.parent) == path
    except FormatError:  # the folder has several tokenizers
        return False


def with_added_beside(
    tokenizer: _core.CoreTokenizer, path: Path, added: list[AddedBeside]
) -> _core.CoreTokenizer:
    """Give a tokenizer the added tokens that files beside it name, as transformers does.

    New ones get the ids that stand there. One that is a token already keeps its id, and is
    found as the files say.
    """
    tokens = [(id_, content, list(flags)) for id_, content, flags in added]
    file = _file_of_added(path) if added else path
    changed = _named(file, lambda: tokenizer._with_tokens_at(tokens))
    known = {content: tuple(flags) for _, content, flags in changed._added_tokens}
    others = [
        (content, list(flags))
        for _, content, flags in added
        if known.get(content) != flags
    ]
    return _named(file, lambda: changed._with_added_tokens(others)[0])


def _file_of_added(path: Path) -> Path:
    """Name the file beside a tokenizer that lists its added tokens."""
    folder = path if _is_folder(path) else path.parent
    config = folder / "tokenizer_config.json"
    is_there = _object(config).get("added_tokens_decoder") is not None
    return config if is_there else folder / "added_tokens.json"


def _added_by_id(path: Path, config: Mapping[str, Any]) -> list[AddedBeside]:
    found = []
    try:
        for number, written in config["added_tokens_decoder"].items():
            token = added_token(dict(written))
            special, normalized, lstrip, rstrip, word = token.flags()
            flags = special, normalized, lstrip, rstrip, word
            found.append(AddedBeside(as_id(number), token.content, flags))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        message = f"{path}: added_tokens_decoder is not understood: {error!r}"
        raise FormatError(message) from error
    return sorted(found)


def _added_by_name(folder: Path, config: Mapping[str, Any]) -> list[AddedBeside]:
    path = folder / "added_tokens.json"
    map_path = folder / "special_tokens_map.json"
    tokens = _object(map_path)
    _check_lists(map_path, tokens)
    _check_lists(folder / "tokenizer_config.json", config)
    special = _special_names({**tokens, **config})
    found = []
    for content, number in _object(path).items():
        is_number = isinstance(number, int) and not isinstance(number, bool)
        if not is_number or not 0 <= number < 1 << 32:
            message = f"{path}: the id of {content!r} is {number!r}"
            raise FormatError(message)
        is_special = content in special
        flags = (is_special, not is_special, False, False, False)
        found.append(AddedBeside(number, content, flags))
    return sorted(found)


LISTS_OF_TOKENS = ("additional_special_tokens", "extra_special_tokens")


def _check_lists(path: Path, settings: Mapping[str, Any]) -> None:
    """Refuse settings that should list tokens and do not."""
    for name in LISTS_OF_TOKENS:
        found = settings.get(name)
        if found is not None and not isinstance(found, (list, dict)):
            message = f"{path}: {name} must be a list of tokens, not {found!r:.80}"
            raise FormatError(message)


def _special_names(settings: Mapping[str, Any]) -> set[str]:
    """List the tokens that settings give a role."""
    tokens = [v for name, v in settings.items() if name.endswith("_token")]
    for name in LISTS_OF_TOKENS:
        more = settings.get(name) or []
        tokens += more.values() if isinstance(more, dict) else more
    named = [t.get("content") if isinstance(t, dict) else t for t in tokens]
    return {token for token in named if isinstance(token, str)}


def _object(path: Path) -> dict[str, Any]:
    """Read a JSON object, an empty one where there is no file."""
    return read_object(path) if path.exists() else {}


def read_object(path: Path) -> dict[str, Any]:
    """Read a JSON object."""
    try:
        found = _json(path)
    except (ValueError, RecursionError) as error:
        if isinstance(error, TokenizerError):
            raise
        message = f"{path}: not JSON: {error}"
        raise FormatError(message) from error
    if not isinstance(found, dict):
        message = f"{path}: expected a JSON object"
        raise FormatError(message)
    return found


def _json(path: Path) -> Any:  # noqa: ANN401 -- any value of JSON
    """Read a value of JSON, whose texts are UTF-8; Python reads halves of characters, too."""
    found = json.loads(read(path))
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = ord(error.object[error.start])
        message = (
            f"{path}: \\u{half:04x} is a lone surrogate, half of a character, which UTF-8 "
            "cannot hold"
        )
        raise FormatError(message) from error
    return found


def from_bytes(data: bytes, format_name: str | None) -> _core.CoreTokenizer:
    """Load from the content of a file, of the format that is named or that it shows."""
    if format_name is None:
        format_name = sniff(data)
        if format_name == "gguf":
            message = (
                "a GGUF file is read from its path, since it is not kept in memory"
            )
            raise FormatError(message)
    if format_name == "tiktoken":
        encoding = _core.recognise_encoding(data, "")
        if encoding is None:
            _core.check_whole_ranks(data, "", has_split=False)
            message = "these ranks do not belong to a published encoding; use from_file with dialect="
            raise FormatError(message)
        return _core.read_encoding(data, encoding, {})
    if format_name not in READERS:
        message = f"format must be one of {', '.join(READERS)}, not {format_name!r}"
        raise TokenizerError(message)
    return READERS[format_name](data)


class Change(NamedTuple):
    """A kind of texts that get other ids from a file, and one of them."""

    what: str
    text: str

    def __str__(self) -> str:
        r"""Say it to a reader.

        >>> print(Change("texts with two marks", "a\u0316\u0300"))
        texts with two marks, for example 'a\u0316\u0300'
        """
        return f"{self.what}, for example {self.text!a}" if self.text else self.what


def to_bytes(
    tokenizer: _core.CoreTokenizer, format_name: str, *, ids_may_change: bool = False
) -> bytes:
    """Give the content of a file."""
    data, _changes = _written(tokenizer, format_name, ids_may_change=ids_may_change)
    return data


def _written(
    tokenizer: _core.CoreTokenizer, format_name: str, *, ids_may_change: bool
) -> tuple[bytes, list[Change]]:
    """Give the content of a file, and which texts get other ids from it."""
    if format_name not in WRITERS:
        message = (
            f"format must be one of {', '.join(WRITERS)}, not {format_name!r}; "
            "the others need more than one file"
        )
        raise TokenizerError(message)
    if not (ids_may_change and format_name in WRITERS_WITH_CHANGES):
        return WRITERS[format_name](tokenizer), []
    data, changes = WRITERS_WITH_CHANGES[format_name](tokenizer)
    return data, [Change(*change) for change in changes]


def sniff(data: bytes, name: str = "") -> str:
    r"""Tell the format of a file by what it holds.

    By its name, merges that need a vocabulary are told from codes of segmenters, which do not.

    >>> (
    ...     sniff(b'{"version": "1.0", "model": {}}'),
    ...     sniff(b"IQ== 0\n"),
    ...     sniff(b"l o 12\n"),
    ... )
    ('huggingface', 'tiktoken', 'fastbpe')

    Raises
    ------
    FormatError
        The file is of no format that is known, or half of a tokenizer; the message says what
        it looks like, or what is missing.
    """
    missing = _core.half_of_pair(name, data)
    if missing is not None:
        message = f"this file {missing}; put both into one folder and load that"
        raise FormatError(message)
    format_name = _core.recognise_format(data)
    if format_name is None:
        raise FormatError(_what_it_looks_like(data))
    return format_name


# A key that only a tokenizer.json has, and has at its beginning: the rest, of many
# megabytes, need not be searched.
_HUGGINGFACE_KEY = re.compile(rb'"(truncation|padding|added_tokens)"\s*:')
_MODEL = re.compile(rb'"model"\s*:\s*\{')


def _what_it_looks_like(data: bytes) -> str:
    known = "a tokenizer.json or a .bytepair file begins with {"
    if not data.strip():
        return f"not a known tokenizer format: the file is empty ({known})"
    if data.lstrip().startswith(b"{"):
        return (
            "not a known tokenizer format: JSON lines are a corpus; name the tokenizer "
            "before the files that it is for"
        )
    from bytepair.data._recognise import CONTENT_LEN, signature

    found = signature(data[:CONTENT_LEN])
    if found is not None:
        return f"not a known tokenizer format: this file looks like {found}"
    return f"not a known tokenizer format: {known}; this file begins with {data[:24]!r}"


def save(
    tokenizer: _core.CoreTokenizer,
    path: Path,
    format_name: str | None,
    *,
    ids_may_change: bool = False,
    others: Mapping[Path, bytes] | None = None,
) -> list[Change]:
    """Write a tokenizer in the format that is named, or that the path means.

    Other files appear together with those of the tokenizer, or none does. Gives the kinds of
    texts that get other ids from the file; none, unless they may.
    """
    format_name = format_of(path, format_name)
    changes: list[Change] = []
    if format_name in WRITERS:
        data, changes = _written(tokenizer, format_name, ids_may_change=ids_may_change)
        files = {path: data}
    elif format_name == "tiktoken":
        ranks, sidecar = _core.write_tiktoken(tokenizer)
        files = {sidecar_of(path): sidecar, path: ranks}
    else:
        vocab, merges = _core.write_gpt2(tokenizer)
        files = {path / "vocab.json": vocab, path / "merges.txt": merges}
    write_together({**(others or {}), **files}, makes_folders=format_name == "gpt2")
    return changes


def sidecar_of(path: Path) -> Path:
    """Name the file beside a ``.tiktoken`` file that holds its pattern.

    >>> sidecar_of(Path("my/own.tiktoken")).name
    'own.tiktoken.json'
    """
    return path.with_name(f"{path.name}.json")


def format_of(path: Path, format_name: str | None, *, option: str = "format=") -> str:
    """Tell the format of a file to be written: the one that is named, or by its ending.

    ``option`` is how users name the format, for the message of the error.

    >>> format_of(Path("own.json"), None)
    'huggingface'

    Raises
    ------
    TokenizerError
        There is no such format, or the ending stands for none.
    """
    if format_name in FORMATS:
        return format_name
    if format_name is not None:
        message = f"unknown format {format_name!r}; {option} takes {', '.join(FORMATS)}"
        raise TokenizerError(message)
    endings = {
        ".bytepair": "bytepair",
        ".bytepair-compiled": "compiled",
        ".json": "huggingface",
        ".tiktoken": "tiktoken",
        ".model": "sentencepiece",
    }
    if path.suffix in endings:
        return endings[path.suffix]
    if path.is_dir() or not path.suffix:
        return "gpt2"
    message = (
        f"{path}: the extension {path.suffix!r} is not that of a known format; use one of "
        f"{', '.join(endings)}, or pass {option} with one of {', '.join(FORMATS)}"
    )
    raise TokenizerError(message)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a name that is too long: reading says so
        return False


def _beginning(path: Path, n_bytes: int = 8) -> bytes:
    """Give the beginning of a file, nothing of a pipe: what is read of that is gone."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb", buffering=0) as file:
            return file.read(n_bytes)
    except OSError:  # reading says what is wrong
        return b""


def _format_at(path: Path) -> str | None:
    """Tell a format that is not read as a whole."""
    name = _core.recognise_format(_beginning(path))
    return name if name in FORMATS_OF_PATHS else None


def _load_gguf(path: Path, pattern: str | list[str] | None) -> _core.CoreTokenizer:
    dialect = None if pattern is None else _core.Dialect("gpt2", pattern=pattern)
    return _from_path(path, lambda path: _core.read_gguf(path, dialect))


def _from_path(
    path: Path, reader: Callable[[Path], _core.CoreTokenizer]
) -> _core.CoreTokenizer:
    try:
        return reader(path)
    except OSError as error:
        message = f"{path}: {error.strerror or error}"
        raise FileError(message) from error


def _pair_of(path: Path) -> tuple[Path, Path] | None:
    """Find the vocabulary and the merges that a path is one of."""
    for vocab_name, merges_name in MERGES_OF.items():
        vocab, merges = path.with_name(vocab_name), path.with_name(merges_name)
        if path in (vocab, merges) and vocab.exists() and merges.exists():
            return vocab, merges
    return None


def _load_pair(vocab_path: Path, merges_path: Path) -> _core.CoreTokenizer:
    vocab, merges = read(vocab_path), read(merges_path)
    folder = vocab_path.parent
    if vocab_path.name == "encoder_bpe_40000.json":
        return _named(folder, lambda: _core.read_gpt1(vocab, merges))
    beside = [folder / name for name in _core.pair_settings()]
    found = {path.name: read(path) for path in beside if path.exists()}
    return _named(folder, lambda: _core.read_pair(vocab, merges, found))


def _load_tiktoken(path: Path, ranks: bytes, options: Options) -> _core.CoreTokenizer:
    _check_together(path, options)
    stem = path.name.removesuffix(path.suffix)
    if options.dialect is not None or options.pattern is not None:
        if options.pattern is None:
            _named(path, lambda: _core.check_whole_ranks(ranks, stem, has_split=True))
        chosen = _core.Dialect(options.dialect or "gpt2", pattern=options.pattern)
        specials = dict(options.special_tokens or {})
        return _named(path, lambda: _core.read_tiktoken(ranks, chosen, specials))
    sidecar = sidecar_of(path)
    if options.encoding is None and sidecar.exists():
        described = read(sidecar)
        return _named(path, lambda: _core.read_tiktoken_sidecar(ranks, described))
    encoding = options.encoding or _core.recognise_encoding(ranks, stem)
    if encoding is None:
        _named(path, lambda: _core.check_whole_ranks(ranks, stem, has_split=False))
        message = (
            f"{path}: a .tiktoken file does not hold a split pattern, and this is not "
            f"a published one; put its sidecar {sidecar.name} beside it, or pass dialect= or "
            "pattern="
        )
        raise FormatError(message)
    renamed = _renamed_specials(path) if path.suffix == ".model" else {}
    return _named(path, lambda: _core.read_encoding(ranks, encoding, renamed))


def _check_together(path: Path, options: Options) -> None:
    """Refuse options that would not act beside others, or by themselves."""
    splits = [name for name in ("dialect", "pattern") if name in options.given()]
    if options.encoding is not None and len(options.given()) > 1:
        others = " and ".join(f"{n}=" for n in options.given() if n != "encoding")
        message = (
            f"{path}: encoding= says how texts are split and which tokens are special; "
            f"leave out {others}"
        )
        raise TokenizerError(message)
    if options.special_tokens is None:
        return
    if not isinstance(options.special_tokens, Mapping):
        message = (
            "special_tokens must be a mapping from each token to its id, not "
            f"{type(options.special_tokens).__name__}"
        )
        raise TypeError(message)
    if not splits:
        message = (
            f"{path}: special_tokens= needs dialect= or pattern=; without these, the special "
            "tokens are those of the sidecar or the published encoding: add more with "
            "tokenizer.with_special_tokens(...)"
        )
        raise TokenizerError(message)


def _renamed_specials(path: Path) -> dict[int, str]:
    """Read the special tokens that a ``tokenizer_config.json`` beside the file names."""
    config_path = path.with_name("tokenizer_config.json")
    if not config_path.exists():
        return {}
    try:
        config = _json(config_path)
        listed = config.get("added_tokens_decoder", {})
        return {int(number): str(token["content"]) for number, token in listed.items()}
    except TokenizerError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        message = f"{config_path}: added_tokens_decoder is not understood: {error!r}"
        raise FormatError(message) from error


def _named(path: Path, load_it: Callable[[], _Loaded]) -> _Loaded:
    """Load, and put the name of the file before the message of an error."""
    try:
        return load_it()
    except TokenizerError as error:
        message = f"{path}: {error}"
        raise type(error)(message) from error
