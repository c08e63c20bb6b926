"""Load a tokenizer from a path, with options for what its file leaves out.

The stem of the name only decides between published encodings with the same ranks. The core reads
the formats: from bytes, or from the path if the file is not read whole.
"""

import hashlib
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from bytepair import _core
from bytepair._labels import argument
from bytepair.errors import FileError, FormatError, TokenizerError

from . import published
from .beside import ADDED_TO, added_beside, renamed_specials, with_added_beside
from .files import read
from .naming import named
from .recognising import (
    GPT1_VOCAB,
    NAMES_OF_PAIRS,
    beginning,
    file_in,
    format_at,
    format_of_file,
    format_of_name,
    is_folder,
    pair_of,
    sidecar_of,
    sniff,
)

# Formats of one file, recognised by its content.
READERS = (
    "bytepair",
    "compiled",
    "huggingface",
    "tekken",
    "sentencepiece",
    "clip",
    "subword-nmt",
    "fastbpe",
)

# Extensions that only tokenizers have; below, formats that begin like some texts.
TOKENIZER_ENDINGS = (".bytepair", ".bytepair-compiled", ".tiktoken", ".model", ".gguf")

UNSURE_FORMATS = ("sentencepiece", "clip", "subword-nmt", "fastbpe")

THREE_RANKS = rb"(?:[A-Za-z0-9+/]+=* [0-9]+\r?\n){3}"

# Keys that only a tokenizer.json has. They are at its beginning, so the rest, often many
# megabytes, need not be searched.
_HUGGINGFACE_KEY = re.compile(rb'"(truncation|padding|added_tokens)"\s*:')

_MODEL = re.compile(rb'"model"\s*:\s*\{')


class Options(NamedTuple):
    """Settings that some files leave out, and that a caller can pass."""

    dialect: str | None = None
    pattern: str | list[str] | None = None
    special_tokens: Mapping[str, int] | None = None
    encoding: str | None = None

    def given(self) -> list[str]:
        """Return the names of the options that are set."""
        return [name for name, value in self._asdict().items() if value is not None]


NO_OPTIONS = Options()


def given(
    dialect: str | None,
    pattern: str | list[str] | None,
    special_tokens: Mapping[str, int] | None,
    encoding: str | None,
) -> Options:
    """Return the options of a caller, checked."""
    if not isinstance(special_tokens, (Mapping, type(None))):
        message = (
            "special_tokens must be a mapping from each token to its id, not "
            f"{type(special_tokens).__name__}"
        )
        raise TypeError(message)
    return Options(dialect, pattern, special_tokens, encoding)


# The options that have an effect on each format; on other formats, none has.
ACTING_OPTIONS = {
    "tiktoken": ("dialect", "pattern", "special_tokens", "encoding"),
    "gguf": ("pattern",),
    "gpt2": ("pattern",),
}

# The names of formats in messages, if they differ.
FORMAT_NAMES = {"gpt2": "vocab.json with merges.txt", "gpt1": "GPT-1's files"}

# What to do instead of passing an option that has no effect.
INSTEAD_OF = {
    "dialect": "{}",
    "pattern": "{}",
    "special_tokens": "add tokens to what is loaded: tokenizer.with_special_tokens(...)",
    "encoding": "it is for published files of ranks (.tiktoken)",
}


def load(path: Path, options: Options = NO_OPTIONS) -> _core.Tokenizer:
    """Load the tokenizer at ``path``, a file or a folder, or the published one with this name."""
    if is_folder(path):
        return load_folder(path, options)
    if is_missing(path):
        return _load_published(path, options)
    pair = pair_of(path)
    data = b""
    format_name = format_of_file(path) if pair else format_at(path)
    if format_name is None:
        data = read(path)
        format_name = format_of_name(path, data)
        format_name = format_name or named(path, lambda: sniff(data, path.name))
    named(path, lambda: _refuse_idle(format_name, options))
    if pair is not None:
        return _load_pair(*pair, options.pattern)
    if format_name == "gguf":
        split = _split_by(options.pattern)
        return _from_path(path, lambda path: _core.read_gguf(path, split))
    if format_name == "compiled":
        return _from_path(path, _core.read_compiled_file)
    if format_name == "tiktoken":
        return _load_tiktoken(data, options, path)
    return named(path, lambda: _core.read(format_name, data))


def is_missing(path: Path) -> bool:
    """Whether there is nothing at a path; other errors are reported when it is read."""
    try:
        os.stat(path)  # noqa: PTH116 -- of any length
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


def _load_published(path: Path, options: Options) -> _core.Tokenizer:
    """Load the tokenizer that a cache has under a name, or say how to get it."""
    name = path.as_posix()
    found = published.find(name)
    if found is None:
        parts = ["no such file or folder", published.how_to_get(name)]
        message = f"{path}: {'; '.join(filter(None, parts))}"
        raise FileError(message)
    if options.encoding is None and found.encoding is not None:
        options = options._replace(encoding=found.encoding)
    return named(path, lambda: load(found.path, options))


def located(path: Path) -> Path:
    """Return where the file or folder at a path is, or the published one with this name."""
    found = published.find(path.as_posix()) if is_missing(path) else None
    return path if found is None else found.path


def file_read_at(path: Path) -> Path:
    """Return the file that is read for a path: of a folder, the one that says most about its tokenizer."""
    path = located(path)
    return file_in(path) if is_folder(path) else path


def check_sha256(path: Path, expected: str) -> None:
    """Refuse the file that is read at a path if its SHA-256 is not the expected one."""
    if not re.fullmatch("[0-9A-Fa-f]{64}", str(expected)):
        message = f"sha256 must be 64 hexadecimal digits, not {expected!r:.80}"
        raise TokenizerError(message)
    file = file_read_at(path)
    pair = pair_of(file)
    if pair is not None:
        names = " and ".join(each.name for each in pair)
        message = f"{path}: sha256 is for one file, and this tokenizer has two: {names}"
        raise TokenizerError(message)
    digest = hashlib.sha256()
    try:
        with file.open("rb") as opened:
            while block := opened.read(1 << 20):
                digest.update(block)
    except OSError as error:
        message = f"{file}: {error.strerror or error}"
        raise FileError(message) from error
    if digest.hexdigest() != expected.lower():
        message = (
            f"{file}: its SHA-256 is {digest.hexdigest()}, not {expected.lower()}; "
            "it is another file than the one that was named"
        )
        raise FileError(message)


def needed_options(path: Path, options: Options) -> Options:
    """Return the options that are needed because the file does not say how it splits texts.

    These are all options for ranks that are not published and have no sidecar, and the pattern
    for a GGUF file and for a ``vocab.json`` with ``merges.txt``; none if loading will fail.
    """
    try:
        file = file_read_at(path)
        acting = ACTING_OPTIONS.get(format_of_file(file), ())
    except TokenizerError:
        return NO_OPTIONS
    if "dialect" not in acting:
        return Options(pattern=options.pattern if acting else None)
    is_told = sidecar_of(file).exists() or _core.recognise_encodings(
        read(file), file.stem, {}
    )
    return NO_OPTIONS if is_told else options


def is_tokenizer(path: Path) -> bool:
    """Whether the file or folder at ``path`` is a tokenizer.

    A damaged file counts if its name or its first bytes are those of a tokenizer. In formats that
    look like text, only a file that can be loaded counts.
    """
    try:
        if is_folder(path):
            file_in(path)
            return True
        if not path.is_file():
            return published.find(path.as_posix()) is not None
        if path.suffix in TOKENIZER_ENDINGS or path.name in NAMES_OF_PAIRS:
            return True
        format_name = format_of_file(path)
        if format_name == "tiktoken":
            return bool(re.match(THREE_RANKS, beginning(path, n_bytes=1 << 16)))
        if format_name == "huggingface":  # sniff takes any other object for one, too
            head = beginning(path, n_bytes=1 << 16)
            return bool(_HUGGINGFACE_KEY.search(head) or _MODEL.search(head))
        if format_name in UNSURE_FORMATS:
            # A first line like that of codes is no proof.
            return bool(load(path).merges)
    except (TokenizerError, OSError, ValueError):
        return False
    return True


def _refuse_idle(format_name: str, options: Options) -> None:
    """Refuse options that have no effect."""
    acting = ACTING_OPTIONS.get(format_name, ())
    idle = [name for name in options.given() if name not in acting]
    if idle:
        is_split = "pattern" in acting
        instead = (
            f"use {argument('pattern', '')} instead"
            if is_split
            else "the file says how it splits texts"
        )
        message = (
            f"{argument(idle[0], '')} has no effect on this format "
            f"({FORMAT_NAMES.get(format_name, format_name)}); "
            f"{INSTEAD_OF[idle[0]].format(instead)}"
        )
        raise TokenizerError(message)


def load_folder(folder: Path, options: Options = NO_OPTIONS) -> _core.Tokenizer:
    """Load the file of a folder that says most about its tokenizer, with the tokens beside it.

    The order is that of ``FOLDER_FILES``, then that of ``FOLDER_PATTERNS``.
    """
    path = file_in(folder)
    tokenizer = load(path, options)
    if path.name not in ADDED_TO:
        return tokenizer
    added = added_beside(folder)
    return with_added_beside(tokenizer, folder, added) if added else tokenizer


def from_bytes(
    data: bytes, format_name: str | None, options: Options = NO_OPTIONS
) -> _core.Tokenizer:
    """Load a tokenizer from the content of a file; recognise the format if it is not named."""
    if format_name is None:
        format_name = sniff(data)
        if format_name == "gguf":
            message = (
                "a GGUF file is read from its path, since it is not kept in memory"
            )
            raise FormatError(message)
    if format_name != "tiktoken" and format_name not in READERS:
        known = ", ".join((*READERS, "tiktoken"))
        message = f"format must be one of {known}, not {format_name!r}"
        raise TokenizerError(message)
    _refuse_idle(format_name, options)
    if format_name == "tiktoken":
        return _load_tiktoken(data, options)
    return _core.read(format_name, data)


def _split_by(pattern: str | list[str] | None) -> _core.Dialect | None:
    """Return a dialect with this pattern, or ``None`` without one."""
    return None if pattern is None else _core.Dialect("gpt2", pattern=pattern)


def _from_path(
    path: Path, reader: Callable[[Path], _core.Tokenizer]
) -> _core.Tokenizer:
    try:
        return named(path, lambda: reader(path))
    except FileError:
        raise
    except OSError as error:
        message = f"{path}: {error.strerror or error}"
        raise FileError(message) from error


def _load_pair(
    vocab_path: Path, merges_path: Path, pattern: str | list[str] | None
) -> _core.Tokenizer:
    vocab, merges = read(vocab_path), read(merges_path)
    folder = vocab_path.parent
    if vocab_path.name == GPT1_VOCAB:
        return named(folder, lambda: _core.read_gpt1(vocab, merges))
    beside = [folder / name for name in _core.pair_settings()]
    settings = {path.name: read(path) for path in beside if path.exists()}
    dialect = _split_by(pattern)
    return named(folder, lambda: _core.read_pair(vocab, merges, settings, dialect))


def _load_tiktoken(
    ranks: bytes, options: Options, path: Path | None = None
) -> _core.Tokenizer:
    """Load ranks, from a file or from bytes without a path."""
    named(path, lambda: _check_together(options))
    stem = "" if path is None else path.stem
    if options.dialect is not None or options.pattern is not None:
        if options.pattern is None:
            named(path, lambda: _core.check_whole_ranks(ranks, stem, has_split=True))
        chosen = _core.Dialect(options.dialect or "gpt2", pattern=options.pattern)
        specials = dict(options.special_tokens or {})
        return named(path, lambda: _core.read_tiktoken(ranks, chosen, specials))
    sidecar = None if path is None else sidecar_of(path)
    if options.encoding is None and sidecar is not None and sidecar.exists():
        described = read(sidecar)
        return named(path, lambda: _core.read_tiktoken_sidecar(ranks, described))
    is_model = path is not None and path.suffix == ".model"
    renamed = renamed_specials(path) if path is not None and is_model else {}
    encoding = options.encoding or named(
        path, lambda: _encoding_of(ranks, renamed, path)
    )
    return named(path, lambda: _core.read_encoding(ranks, encoding, renamed))


def _encoding_of(ranks: bytes, renamed: dict[int, str], path: Path | None) -> str:
    """Return the name of the published encoding with these ranks.

    Raises
    ------
    FormatError
        No published encoding has these ranks, or several have them.
    """
    stem = "" if path is None else path.stem
    encodings = _core.recognise_encodings(ranks, stem, renamed)
    if len(encodings) == 1:
        return encodings[0]
    if encodings:
        names = ", ".join(encodings)
        message = (
            f"several published encodings share these ranks, and differ in special "
            f"tokens: {names}; pass {argument('encoding', '')} with one of these names"
        )
        raise FormatError(message)
    _core.check_whole_ranks(ranks, stem, has_split=False)
    sidecar = ""
    if path is not None:
        sidecar = f"put its sidecar {sidecar_of(path).name} beside it, or "
    message = (
        f"a .tiktoken file does not hold a split pattern, and this is not a published "
        f"one; {sidecar}pass {argument('dialect', '')} or {argument('pattern', '')}"
    )
    raise FormatError(message)


def _check_together(options: Options) -> None:
    """Refuse options that exclude one another, or that need others."""
    if options.encoding is not None and len(options.given()) > 1:
        others = " and ".join(
            argument(n, "") for n in options.given() if n != "encoding"
        )
        message = (
            f"{argument('encoding', '')} says how texts are split and which tokens are special; "
            f"leave out {others}"
        )
        raise TokenizerError(message)
    has_split = options.dialect is not None or options.pattern is not None
    if options.special_tokens is not None and not has_split:
        message = (
            f"{argument('special_tokens', '')} needs {argument('dialect', '')} or "
            f"{argument('pattern', '')}; without these, the special "
            "tokens are those of the sidecar or the published encoding: add more with "
            "tokenizer.with_special_tokens(...)"
        )
        raise TokenizerError(message)
