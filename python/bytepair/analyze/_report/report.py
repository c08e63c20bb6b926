"""The content of a report about tokenizers, side by side, with or without a corpus.

The corpus is read once for all tokenizers together, and once for the diagnosis of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair._expected import all_loaded, expect
from bytepair._results import Result
from bytepair.analyze._stats.stats import Stats, stats
from bytepair.analyze.doctor import Diagnosis, beside, diagnose
from bytepair.data._readers import ReadOptions
from bytepair.data._sources import list_sources
from bytepair.errors import TokenizerError

from .portrait import Portrait, portrait
from .samples import SENTENCES, Sample, samples, texts_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from bytepair import MergeLog, Tokenizer
    from bytepair._io.files import StrPath
    from bytepair.data._sources import Corpus

__all__ = ["Curve", "Report", "Subject", "describe"]


class Curve(NamedTuple):
    """The curve of a merge log: its name, and the bytes per token at each vocabulary size."""

    name: str
    points: tuple[tuple[int, float], ...]


@dataclass(frozen=True, repr=False)
class Subject(Result):
    """A tokenizer of a report.

    Attributes
    ----------
    name
        Its name.
    portrait
        Its description in numbers and rows.
    diagnosis
        Its faults, and facts worth knowing.
    """

    name: str
    portrait: Portrait
    diagnosis: Diagnosis


@dataclass(frozen=True, eq=False, repr=False)
class Report(Result):
    """The content of a report.

    Attributes
    ----------
    subjects
        The tokenizers, in the order of the argument.
    samples
        Texts, and how each tokenizer cuts them.
    stats
        Metrics on the corpus; ``None`` without one.
    curves
        The growth of compression during training, one curve for each merge log.
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
    baseline: str | None = None,
    segmenter: str | None = None,
    input_format: str | None = None,
    field: str | None = None,
    lines: bool = False,
    separator: str | None = None,
    skip_bad: bool = False,
    progress: Callable[[str, int, int | None], object] | None = None,
) -> Report:
    """Describe tokenizers for a report, each by its name.

    Parameters
    ----------
    tokenizers
        The tokenizers by name.
    corpus
        The texts for metrics, as in :func:`bytepair.analyze.stats`, which also explains the
        other options. Without it, the report has only the parts that need no corpus.
    files
        The file or folder of each tokenizer, by name, to compare its ids and the settings
        beside it.
    logs
        Merge logs by name, to show their compression curves.
    progress
        Called with the name of the step, the bytes done, and the size of the corpus, if it is known.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> [subject.name for subject in describe({"own": tokenizer}).subjects]
    ['own']

    Raises
    ------
    TokenizerError
        There is no tokenizer, or a file of the corpus cannot be read or encoded.
    """
    expect("tokenizers", tokenizers, Mapping, "a dict of tokenizers by name")
    for name, value in (("files", files), ("logs", logs)):
        expect(name, value, (Mapping, type(None)), "a dict by the names of tokenizers")
    tokenizers = all_loaded(tokenizers)
    if not tokenizers:
        message = "there is nothing to describe: give a tokenizer"
        raise TokenizerError(message)
    reading: dict[str, Any] = {
        "input_format": input_format,
        "field": field,
        "lines": lines,
        "separator": separator,
        "skip_bad": skip_bad,
    }
    measuring: dict[str, Any] = {
        "group": group,
        "by_file": by_file,
        "baseline": baseline,
        **({} if segmenter is None else {"segmenter": segmenter}),
    }
    report = progress or (lambda _what, _done, _total: None)
    sources = measured = None
    texts = SENTENCES
    if corpus is None:
        _refuse_idle({**measuring, **reading})
    else:
        sources = list_sources(corpus, input_format)
        tell = partial(report, "measuring")
        measured = stats(tokenizers, sources, progress=tell, **measuring, **reading)
        options = ReadOptions(field, lines, separator, skip_bad, group)
        texts = texts_of(sources, options, measured.measurements[0].groups)
    subjects = []
    for name, tokenizer in tokenizers.items():
        diagnosis = diagnose(
            tokenizer,
            **_files_of((files or {}).get(name)),
            corpus=sources,
            reading=reading,
            progress=partial(report, f"examining {name}"),
        )
        subjects.append(Subject(name, portrait(tokenizer), diagnosis))
    curves = (Curve(name, tuple(log.curve())) for name, log in (logs or {}).items())
    shown = samples(list(tokenizers.values()), texts)
    return Report(tuple(subjects), shown, measured, tuple(curves))


def _refuse_idle(options: Mapping[str, object]) -> None:
    """Refuse options of a corpus if there is none."""
    for name, value in options.items():
        if value not in (None, False):
            message = f"{name}= needs a corpus, and none is given"
            raise TokenizerError(message)


def _files_of(path: StrPath | None) -> dict[str, Any]:
    """Return the file and the settings that a diagnosis compares a tokenizer with."""
    return {} if path is None else {"file": path, "config": beside(Path(path))}
