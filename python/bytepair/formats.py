"""Which format a path means, and the files that belong to it.

The formats themselves are read and written by the core, which knows bytes alone.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from . import _core
from .errors import FormatError, TokenizerError
from .files import read, write

__all__ = ["TiktokenOptions", "format_of", "from_bytes", "load", "save", "to_bytes"]

FORMATS = ("bytepair", "huggingface", "tiktoken", "gpt2")


class TiktokenOptions(NamedTuple):
    """What a ``.tiktoken`` file does not hold."""

    dialect: str | None = None
    pattern: str | list[str] | None = None
    special_tokens: Mapping[str, int] | None = None


def load(path: Path, options: TiktokenOptions) -> _core.CoreTokenizer:
    """Load whatever lies at ``path``."""
    if _is_folder(path):
        return _load_folder(path)
    if path.suffix == ".tiktoken":
        return _load_tiktoken(path, options)
    if path.name == "vocab.json" and (path.parent / "merges.txt").exists():
        return _load_gpt2(path.parent)
    data = read(path)
    return _named(path, lambda: _from_json(data))


def from_bytes(data: bytes, format_name: str) -> _core.CoreTokenizer:
    """Load from the content of a file."""
    _check_one_file(format_name)
    if format_name == "bytepair":
        return _core.read_native(data)
    return _core.read_huggingface(data)


def to_bytes(tokenizer: _core.CoreTokenizer, format_name: str) -> bytes:
    """Give the content of a file."""
    _check_one_file(format_name)
    if format_name == "bytepair":
        return _core.write_native(tokenizer)
    return _core.write_huggingface(tokenizer)


def _check_one_file(format_name: str) -> None:
    if format_name not in ("bytepair", "huggingface"):
        message = (
            f"format must be bytepair or huggingface, not {format_name!r}; "
            "the others are more than one file"
        )
        raise TokenizerError(message)


def save(tokenizer: _core.CoreTokenizer, path: Path, format_name: str | None) -> None:
    """Write a tokenizer in the format that is named, or that the path means."""
    format_name = format_of(path, format_name)
    if format_name in ("bytepair", "huggingface"):
        write(path, to_bytes(tokenizer, format_name))
    elif format_name == "tiktoken":
        ranks, sidecar = _core.write_tiktoken(tokenizer)
        write(sidecar_of(path), sidecar)
        write(path, ranks)
    elif format_name == "gpt2":
        vocab, merges = _core.write_gpt2(tokenizer)
        path.mkdir(parents=True, exist_ok=True)
        write(path / "vocab.json", vocab)
        write(path / "merges.txt", merges)
    else:
        message = f"unknown format {format_name!r}; known are {', '.join(FORMATS)}"
        raise TokenizerError(message)


def sidecar_of(path: Path) -> Path:
    """Name the file beside a ``.tiktoken`` file that holds its pattern.

    >>> sidecar_of(Path("my/own.tiktoken")).name
    'own.tiktoken.json'
    """
    return path.with_name(f"{path.name}.json")


def format_of(path: Path, format_name: str | None) -> str:
    """Tell the format of a file to be written: the one that is named, or by its ending.

    >>> format_of(Path("own.json"), None)
    'huggingface'
    """
    if format_name is not None:
        return format_name
    endings = {".bytepair": "bytepair", ".json": "huggingface", ".tiktoken": "tiktoken"}
    if path.suffix in endings:
        return endings[path.suffix]
    if path.is_dir() or not path.suffix:
        return "gpt2"
    message = (
        f"{path}: the ending {path.suffix!r} says no format; use .bytepair, .json or "
        f".tiktoken, or name the format: {', '.join(FORMATS)}"
    )
    raise TokenizerError(message)


def _from_json(data: bytes) -> _core.CoreTokenizer:
    """Read either of the two formats that are one JSON file."""
    if data[:64].lstrip()[:1] != b"{":
        message = (
            "no tokenizer that is known here: a tokenizer.json or a .bytepair file begins "
            "with {; other formats are told by their names, .tiktoken and vocab.json"
        )
        raise FormatError(message)
    is_native = b'"bytepair"' in data[:200]
    return _core.read_native(data) if is_native else _core.read_huggingface(data)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a name that is too long: reading says so
        return False


def _load_folder(path: Path) -> _core.CoreTokenizer:
    for name in ("tokenizer.json", "tokenizer.bytepair"):
        if (path / name).exists():
            return load(path / name, TiktokenOptions())
    if (path / "vocab.json").exists() and (path / "merges.txt").exists():
        return _load_gpt2(path)
    message = (
        f"{path}: no tokenizer.json, and no vocab.json with merges.txt, in this folder"
    )
    raise FormatError(message)


def _load_gpt2(folder: Path) -> _core.CoreTokenizer:
    vocab, merges = read(folder / "vocab.json"), read(folder / "merges.txt")
    return _named(folder, lambda: _core.read_gpt2(vocab, merges))


def _load_tiktoken(path: Path, options: TiktokenOptions) -> _core.CoreTokenizer:
    ranks = read(path)
    sidecar = sidecar_of(path)
    chosen = _core.Dialect(options.dialect or "gpt2", pattern=options.pattern)
    specials = dict(options.special_tokens or {})
    if options.dialect is None and options.pattern is None:
        if not sidecar.exists():
            message = (
                f"{path}: a .tiktoken file holds no split pattern; put its sidecar "
                f"{sidecar.name} beside it, or pass dialect= or pattern="
            )
            raise FormatError(message)
        described = read(sidecar)
        return _named(path, lambda: _core.read_tiktoken_sidecar(ranks, described))
    return _named(path, lambda: _core.read_tiktoken(ranks, chosen, specials))


def _named(
    path: Path, load_it: Callable[[], _core.CoreTokenizer]
) -> _core.CoreTokenizer:
    """Load, and put the name of the file before the message of an error."""
    try:
        return load_it()
    except TokenizerError as error:
        message = f"{path}: {error}"
        raise type(error)(message) from error
