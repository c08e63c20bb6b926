"""A path, and what its file leaves out, to a tokenizer.

The name of a file decides only between published encodings that share one. The core reads the
formats, from bytes or, where a file is not read as a whole, from its path.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from bytepair import _core
from bytepair._labels import argument
from bytepair.errors import FileError, FormatError, TokenizerError

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

# Formats of one file, told by what they hold.
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

# What only tokenizers are called, and what begins as some texts do.
TOKENIZER_ENDINGS = (".bytepair", ".bytepair-compiled", ".tiktoken", ".model", ".gguf")

UNSURE_FORMATS = ("sentencepiece", "clip", "subword-nmt", "fastbpe")

THREE_RANKS = rb"(?:[A-Za-z0-9+/]+=* [0-9]+\r?\n){3}"

# A key that only a tokenizer.json has, and has at its beginning: the rest, of many
# megabytes, need not be searched.
_HUGGINGFACE_KEY = re.compile(rb'"(truncation|padding|added_tokens)"\s*:')

_MODEL = re.compile(rb'"model"\s*:\s*\{')


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


def given(
    dialect: str | None,
    pattern: str | list[str] | None,
    special_tokens: Mapping[str, int] | None,
    encoding: str | None,
) -> Options:
    """Take the options of a caller."""
    if not isinstance(special_tokens, (Mapping, type(None))):
        message = (
            "special_tokens must be a mapping from each token to its id, not "
            f"{type(special_tokens).__name__}"
        )
        raise TypeError(message)
    return Options(dialect, pattern, special_tokens, encoding)


# Which options act for which format; for all others none does.
ACTING_OPTIONS = {
    "tiktoken": ("dialect", "pattern", "special_tokens", "encoding"),
    "gguf": ("pattern",),
    "gpt2": ("pattern",),
}

# How formats are called that have another name here.
FORMAT_NAMES = {"gpt2": "vocab.json with merges.txt", "gpt1": "GPT-1's files"}

# What to do in place of an option that does not act.
INSTEAD_OF = {
    "dialect": "{}",
    "pattern": "{}",
    "special_tokens": "add tokens to what is loaded: tokenizer.with_special_tokens(...)",
    "encoding": "it is for published files of ranks (.tiktoken)",
}


def load(path: Path, options: Options = NO_OPTIONS) -> _core.CoreTokenizer:
    """Load whatever lies at ``path``."""
    if is_folder(path):
        return load_folder(path, options)
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


def needed_options(path: Path, options: Options) -> Options:
    """Keep the options without which the file at ``path`` does not say how it splits.

    These are the dialect and the pattern for ranks that are neither published nor have a
    sidecar, and the pattern for a GGUF file and for a ``vocab.json`` with ``merges.txt``;
    none if loading will fail.
    """
    try:
        file = file_in(path) if is_folder(path) else path
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
    """Whether what lies at ``path`` is a tokenizer and no other text or file.

    One that is damaged counts, where its name or its first bytes say that it is one. Of
    formats that are lines of text, those that can be loaded count.
    """
    try:
        if is_folder(path):
            file_in(path)
            return True
        if not path.is_file():
            return False
        if path.suffix in TOKENIZER_ENDINGS or path.name in NAMES_OF_PAIRS:
            return True
        format_name = format_of_file(path)
        if format_name == "tiktoken":
            return bool(re.match(THREE_RANKS, beginning(path, n_bytes=1 << 16)))
        if format_name == "huggingface":  # any other object counts as one, too
            head = beginning(path, n_bytes=1 << 16)
            return bool(_HUGGINGFACE_KEY.search(head) or _MODEL.search(head))
        if format_name in UNSURE_FORMATS:
            return bool(load(path).merges)  # a line that begins codes is no proof
    except (TokenizerError, OSError, ValueError):
        return False
    return True


def _refuse_idle(format_name: str, options: Options) -> None:
    """Refuse options that would change nothing."""
    acting = ACTING_OPTIONS.get(format_name, ())
    idle = [name for name in options.given() if name not in acting]
    if idle:
        is_split = "pattern" in acting
        instead = (
            f"{argument('pattern', '')} acts"
            if is_split
            else "the file says how it splits texts"
        )
        message = (
            f"{argument(idle[0], '')} has no effect on this format "
            f"({FORMAT_NAMES.get(format_name, format_name)}); "
            f"{INSTEAD_OF[idle[0]].format(instead)}"
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


def from_bytes(
    data: bytes, format_name: str | None, options: Options = NO_OPTIONS
) -> _core.CoreTokenizer:
    """Load from the content of a file, of the format that is named or that it shows."""
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
    """Return a dialect that splits so, if a pattern is given."""
    return None if pattern is None else _core.Dialect("gpt2", pattern=pattern)


def _from_path(
    path: Path, reader: Callable[[Path], _core.CoreTokenizer]
) -> _core.CoreTokenizer:
    try:
        return named(path, lambda: reader(path))
    except FileError:
        raise
    except OSError as error:
        message = f"{path}: {error.strerror or error}"
        raise FileError(message) from error


def _load_pair(
    vocab_path: Path, merges_path: Path, pattern: str | list[str] | None
) -> _core.CoreTokenizer:
    vocab, merges = read(vocab_path), read(merges_path)
    folder = vocab_path.parent
    if vocab_path.name == GPT1_VOCAB:
        return named(folder, lambda: _core.read_gpt1(vocab, merges))
    beside = [folder / name for name in _core.pair_settings()]
    found = {path.name: read(path) for path in beside if path.exists()}
    dialect = _split_by(pattern)
    return named(folder, lambda: _core.read_pair(vocab, merges, found, dialect))


def _load_tiktoken(
    ranks: bytes, options: Options, path: Path | None = None
) -> _core.CoreTokenizer:
    """Load ranks, of a file or by themselves."""
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
    """Name the published encoding of ranks.

    Raises
    ------
    FormatError
        They are of none, or several share them.
    """
    stem = "" if path is None else path.stem
    found = _core.recognise_encodings(ranks, stem, renamed)
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(found)
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
    """Refuse options that would not act beside others, or by themselves."""
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
