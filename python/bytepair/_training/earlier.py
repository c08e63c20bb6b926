"""What training starts from: a dialect and, where it continues, a tokenizer with every id in use.

A tokenizer that is read from a path also has the ids that only the files beside it name.
Codes of subword-nmt and fastBPE are merges without ids; training numbers them anew.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bytepair import _core
from bytepair._expected import expect
from bytepair._io import loading, recognising
from bytepair._io.beside import added_beside, with_added_beside
from bytepair._io.files import StrPath
from bytepair._labels import argument
from bytepair._names import refuse_set
from bytepair._tokenizer import Tokenizer
from bytepair.errors import TrainingError

from .merge_log import MergeLog
from .options import DialectOptions

__all__ = ["Earlier", "Start", "earlier", "read_earlier", "start_of"]


@dataclass(frozen=True)
class Earlier:
    """A tokenizer to continue from; ``keeps_ids`` is whether its ids stay."""

    tokenizer: Tokenizer
    keeps_ids: bool = True


@dataclass(frozen=True)
class Start:
    """What training starts from.

    ``log`` has the earlier steps if no file has them. ``is_recounted`` is whether these were
    learned from the same text in other pieces. If ``words`` is a tokenizer, only words that are
    one token of it are joined.
    """

    dialect: _core.Dialect
    earlier: Earlier | None = None
    log: MergeLog | None = None
    is_recounted: bool = False
    words: Tokenizer | None = None


def start_of(options: Mapping[str, Any]) -> Start:
    """Return what the options of training start from."""
    name, merges = options.get("dialect"), options.get("initial_merges")
    known = DialectOptions.__annotations__
    parts = {part: options[part] for part in known if part in options}
    before = earlier(options.get("resume"), name, options.get("pattern"))
    if before is not None and merges is not None:
        message = f"give either {argument('resume')} or initial_merges, not both"
        raise TrainingError(message)
    if before is not None:
        return Start(_core.Dialect.of(before.tokenizer, name, **parts), before)
    dialect = _core.Dialect("gpt4o" if name is None else name, **parts)
    if merges is None:
        return Start(dialect)
    refuse_set("initial_merges", merges, "the result")
    expect("initial_merges", merges, Iterable, "a list of pairs of tokens")
    merges = list(merges)
    for place, pair in enumerate(merges):
        is_pair = isinstance(pair, (tuple, list)) and len(pair) == 2
        if not is_pair or not all(isinstance(part, (str, bytes)) for part in pair):
            message = f"initial_merges[{place}] must be a pair of tokens, not {pair!r}"
            raise TypeError(message)
    tokenizer = Tokenizer(dialect.tokenizer_of_merges(merges))
    return Start(dialect, Earlier(tokenizer, keeps_ids=False))


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
