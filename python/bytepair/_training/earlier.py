"""A tokenizer to continue training from, with every id that is in use.

A tokenizer that is read from a path also has the ids that only the files beside it name.
Codes of subword-nmt and fastBPE are merges without ids; training numbers them anew.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bytepair import _core
from bytepair._io import loading, recognising
from bytepair._io.beside import added_beside, with_added_beside
from bytepair._io.files import StrPath
from bytepair._tokenizer import Tokenizer

__all__ = ["Earlier", "earlier", "read_earlier"]


@dataclass(frozen=True)
class Earlier:
    """A tokenizer to continue from; ``keeps_ids`` is whether its ids stay."""

    tokenizer: Tokenizer
    keeps_ids: bool = True


def earlier(
    resume: Any,  # noqa: ANN401 -- what a user gives
    dialect: str | None = None,
    pattern: Any = None,  # noqa: ANN401
) -> Earlier | None:
    """Return the tokenizer of ``resume=``: none, one, or the one at a path."""
    if resume is None or isinstance(resume, Earlier):
        return resume
    if isinstance(resume, Tokenizer):
        return Earlier(resume)
    if isinstance(resume, _core.Tokenizer):
        return Earlier(Tokenizer(resume))
    return read_earlier(resume, dialect=dialect, pattern=pattern)


def read_earlier(
    path: StrPath,
    *,
    dialect: str | None = None,
    pattern: Any = None,  # noqa: ANN401 -- what a user gives
) -> Earlier:
    """Read a tokenizer, together with the added tokens that only files beside it name.

    ``dialect`` and ``pattern`` are those of the training; they also apply to a file
    without a split pattern.

    Raises
    ------
    FormatError
        A file is damaged, or one beside it gives an id to another token.
    FileError
        A file cannot be read.
    """
    given = loading.Options(dialect, pattern)
    options = loading.needed_options(Path(path), given)
    tokenizer = Tokenizer.from_file(path, **options._asdict())
    if not recognising.has_ids(Path(path)):
        return Earlier(tokenizer, keeps_ids=False)
    beside = added_beside(Path(path))
    if beside:
        tokenizer = Tokenizer(with_added_beside(tokenizer, Path(path), beside))
    return Earlier(tokenizer)
