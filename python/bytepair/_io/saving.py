"""Write a tokenizer to the files of a format, which is named or follows from the path.

The core makes the bytes; files that belong together appear together. Left out: proving that the
files hold the same tokenizer (``analyze._compare``).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from bytepair import _core
from bytepair._expected import expect
from bytepair.errors import TokenizerError

from .files import write_together
from .recognising import sidecar_of

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

# Formats of one file.
WRITERS = tuple(name for name in FORMATS if name not in ("tiktoken", "gpt2"))


class Change(NamedTuple):
    """A kind of text that gets other ids from a file, with an example."""

    what: str
    text: str

    def __str__(self) -> str:
        r"""Describe the change to users.

        >>> print(Change("texts with two marks", "a\u0316\u0300"))
        texts with two marks, for example 'a\u0316\u0300'
        """
        return f"{self.what}, for example {self.text!a}" if self.text else self.what


def to_bytes(
    tokenizer: _core.Tokenizer, format_name: str, *, ids_may_change: bool = False
) -> bytes:
    """Return the content of the file of a format."""
    data, _changes = _written(tokenizer, format_name, ids_may_change=ids_may_change)
    return data


def _written(
    tokenizer: _core.Tokenizer, format_name: str, *, ids_may_change: bool
) -> tuple[bytes, list[Change]]:
    """Return the content of the file of a format, and the kinds of text that get other ids from it."""
    expect("ids_may_change", ids_may_change, bool, "True or False")
    if format_name not in WRITERS:
        message = (
            f"format must be one of {', '.join(WRITERS)}, not {format_name!r}; "
            "the others need more than one file"
        )
        raise TokenizerError(message)
    if not ids_may_change or format_name != "huggingface":
        (data,) = _core.write(format_name, tokenizer)
        return data, []
    data, changes = _core.write_huggingface_with_changes(tokenizer)
    return data, [Change(*change) for change in changes]


def save(
    tokenizer: _core.Tokenizer,
    path: Path,
    format_name: str | None,
    *,
    ids_may_change: bool = False,
    others: Mapping[Path, bytes] | None = None,
) -> list[Change]:
    """Write a tokenizer in the named format or that of the path, together with other files.

    Either all files appear or none. Return the kinds of text that get other ids from the file;
    there are none unless ``ids_may_change``.
    """
    format_name = format_of(path, format_name)
    changes: list[Change] = []
    if format_name in WRITERS:
        data, changes = _written(tokenizer, format_name, ids_may_change=ids_may_change)
        files = {path: data}
    elif format_name == "tiktoken":
        ranks, sidecar = _core.write("tiktoken", tokenizer)
        files = {sidecar_of(path): sidecar, path: ranks}
    else:
        vocab, merges = _core.write("gpt2", tokenizer)
        files = {path / "vocab.json": vocab, path / "merges.txt": merges}
    write_together({**(others or {}), **files}, makes_folders=format_name == "gpt2")
    return changes


def format_of(
    path: Path, format_name: str | None, *, option: str | None = "format="
) -> str:
    """Return the format of a file to be written: the named one, or that of the extension.

    ``option`` is how users name the format, for error messages; ``None`` if they cannot.

    >>> format_of(Path("own.json"), None)
    'huggingface'

    Raises
    ------
    TokenizerError
        There is no such format, or no format with this extension.
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
        f"{path}: unknown extension {path.suffix!r}; use one of {', '.join(endings)}"
    )
    if option:
        message += f", or pass {option} with one of {', '.join(FORMATS)}"
    raise TokenizerError(message)
