"""All that a report shows of tokenizers, side by side: with a corpus, or what needs none.

The corpus is read twice: once by all tokenizers together, once by each for its diagnosis.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair.data._readers import ReadOptions
from bytepair.data._sources import list_sources
from bytepair.errors import TokenizerError

from ._measure import file_names
from ._portrait import Portrait, portrait
from ._samples import SENTENCES, Sample, samples, texts_of
from ._stats import Stats, stats
from .doctor import Diagnosis, beside, diagnose

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bytepair import MergeLog, Tokenizer
    from bytepair._files import StrPath
    from bytepair.data._sources import Corpus

__all__ = ["Curve", "Report", "Subject", "describe"]


class Curve(NamedTuple):
    """What a merge log says: its name, and vocabulary sizes with the bytes per token at each."""

    name: str
    points: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Subject:
    """A tokenizer of a report.

    Attributes
    ----------
    name
        What it is called.
    portrait
        What it is.
    diagnosis
        What is wrong with it, or worth knowing.
    """

    name: str
    portrait: Portrait
    diagnosis: Diagnosis


@dataclass(frozen=True, eq=False)
class Report:
    """All that a report shows.

    Attributes
    ----------
    subjects
        The tokenizers, in the order given.
    samples
        Texts as each of them cuts them.
    stats
        What they make of the corpus; ``None`` without one.
    curves
        How compression grew while merges were learned, by the logs that were given.
    """

    subjects: tuple[Subject, ...]
    samples: tuple[Sample, ...]
    stats: Stats | None = None
    curves: tuple[Curve, ...] = ()


def describe(
    tokenizers: Mapping[str, Tokenizer],
    corpus: Corpus | None = None,
    *,
    files: Mapping[str, StrPath] | None = None,
    logs: Mapping[str, MergeLog] | None = None,
    group: str | None = None,
    by_file: bool = False,
    parallel: bool = False,
    baseline: str | None = None,
    segmenter: str | None = None,
    input_format: str | None = None,
    field: str = "text",
    lines: bool = False,
    separator: str | None = None,
    skip_bad: bool = False,
    progress: Callable[[str, int, int | None], object] | None = None,
) -> Report:
    """Describe tokenizers for a report, each by its name.

    Parameters
    ----------
    corpus
        What they are measured on, as in :func:`bytepair.analyze.stats`, whose options the
        others are. Without it the report holds what needs none.
    files
        The file, or folder, that a tokenizer was loaded from, by name: what else it says is
        compared, as are settings beside it.
    logs
        Merge logs by name, whose curves of compression are shown.
    progress
        Is told what is done, how many bytes of the corpus, and of how many.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> [subject.name for subject in describe({"own": tokenizer}).subjects]
    ['own']

    Raises
    ------
    TokenizerError
        There is no tokenizer, or a file of the corpus cannot be read or encoded.
    """
    if not tokenizers:
        message = "there is nothing to describe: name a tokenizer"
        raise TokenizerError(message)
    reading: dict[str, Any] = {
        "input_format": input_format,
        "field": field,
        "lines": lines,
        "separator": separator,
        "skip_bad": skip_bad,
    }
    told = progress or (lambda _what, _done, _total: None)
    sources = None if corpus is None else list_sources(corpus, input_format)
    found = texts = None
    if sources is not None:
        found = stats(
            tokenizers,
            sources,
            group=group,
            by_file=by_file,
            parallel=parallel,
            baseline=baseline,
            segmenter=segmenter,
            progress=partial(told, "measuring"),
            **reading,
        )
        options = ReadOptions(field, lines, separator, skip_bad, group)
        paths = [source.path for source in sources]
        names = dict(zip(paths, file_names(paths), strict=True))
        texts = texts_of(sources, options, names, _largest(found))
    subjects = []
    for name, tokenizer in tokenizers.items():
        diagnosis = diagnose(
            tokenizer,
            **_files_of((files or {}).get(name)),
            corpus=sources,
            reading=reading,
            progress=partial(told, f"examining {name}"),
        )
        subjects.append(Subject(name, portrait(tokenizer), diagnosis))
    return Report(
        subjects=tuple(subjects),
        samples=samples(
            list(tokenizers.values()), SENTENCES if texts is None else texts
        ),
        stats=found,
        curves=tuple(
            Curve(name, tuple(log.curve())) for name, log in (logs or {}).items()
        ),
    )


def _files_of(path: StrPath | None) -> dict[str, Any]:
    """Give what a diagnosis compares a tokenizer with: its file, and settings beside it."""
    return {} if path is None else {"file": path, "config": beside(Path(path))}


def _largest(found: Stats) -> list[str]:
    """List the groups, those with the most bytes first."""
    groups = found.measurements[0].groups
    return sorted(groups, key=lambda name: -groups[name].bytes)
