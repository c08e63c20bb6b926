"""Tokenizers side by side on a corpus: every metric, for all texts and by group.

`meter.py` measures, and `metric_table.py` defines the metrics; this module combines them into
rows. It refuses to compare results of different texts or with different segmenters.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair._expected import (
    all_loaded,
    expect,
    expect_each,
    refuse_unknown,
)
from bytepair._io.recognising import names_of
from bytepair._labels import argument
from bytepair._numpy import np
from bytepair._results import Result
from bytepair.data._optional import load
from bytepair.errors import TokenizerError

from .measure import MeasureOptions, measure_all
from .meter import SEGMENTERS, Measurement, Segmenter
from .metric_table import METRICS, SECTIONS, Measured, Metric, Value
from .metrics import ratio

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from typing_extensions import Unpack

    from bytepair import Tokenizer
    from bytepair.data._sources import Corpus
    from bytepair.views._runs import Line

__all__ = ["MissingRow", "ScriptRow", "Stats", "StatsRow", "stats", "stats_of"]


OF_TYPES = ("whole_types", "whole_types_after_space")
"""The metrics of distinct words."""
NO_SEGMENTER = "no segmenter was given"
SPACED = Segmenter("whitespace", SEGMENTERS["whitespace"], counts_types=False)
"""The default definition of a word. Distinct words, whose counting takes longer, are left out."""
VIEW_WIDTH = 100
"""The width of a printed result, in columns."""


@dataclass(frozen=True)
class StatsRow:
    """A metric of all texts or of a group, for each tokenizer.

    Attributes
    ----------
    metric
        The metric, with its unit and caveat.
    group
        The group, or ``None`` for all texts.
    values
        One value for each tokenizer; ``None`` if it does not exist.
    """

    metric: Metric
    group: str | None
    values: tuple[Value, ...]


@dataclass(frozen=True)
class ScriptRow:
    """Tokens of a script, for each tokenizer.

    Attributes
    ----------
    script
        Its name; ``none`` for tokens without a letter, ``several`` for tokens with letters of
        several scripts.
    tokens
        The number of tokens of each model; tokens with part of a character are left out.
    shares
        Their share of occurrences.
    """

    script: str
    tokens: tuple[int, ...]
    shares: tuple[float | None, ...]


@dataclass(frozen=True)
class MissingRow:
    """A character that some tokenizer has no token for.

    Attributes
    ----------
    text
        The character, as in the texts.
    counts
        Its number of occurrences without a token, for each tokenizer.
    """

    text: bytes
    counts: tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Stats(Result):
    """Metrics of several tokenizers on the same texts.

    Attributes
    ----------
    names
        The names of the tokenizers.
    measurements
        The measurements of each.
    baseline
        The group to compare the others with; ``None`` if the groups are not parallel.

    >>> import bytepair
    >>> from bytepair.analyze import measure_texts, stats_of
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> measured = measure_texts(tokenizer, {"en": ["low lower"], "de": ["neu"]})
    >>> found = stats_of({"mine": measured}, baseline="en")
    >>> found.row("premium", "de").values, found.absent["words"]
    ((0.6,), 'no segmenter was given')
    >>> next(found.records())
    {'tokenizer': 'mine', 'group': None, 'metric': 'documents', 'unit': 'documents', 'value': 2}
    """

    names: tuple[str, ...]
    measurements: tuple[Measurement, ...]
    baseline: str | None = None

    def __post_init__(self) -> None:
        if not self.measurements:
            message = "there is nothing to compare: give a tokenizer"
            raise TokenizerError(message)
        for name, other in zip(self.names, self.measurements, strict=True):
            self._refuse_other_texts(name, other)
        if self.baseline is not None:
            self._refuse_other_groups(self.baseline)

    def _refuse_other_texts(self, name: str, other: Measurement) -> None:
        """Refuse measurements with different segmenters or of different texts."""
        segmenters = [
            measured.segmenter.name if measured.segmenter else "none"
            for measured in (self._first, other)
        ]
        if other.segmenter != self._first.segmenter:
            message = (
                f"{self.names[0]} and {name} were measured with different segmenters, "
                f"{segmenters[0]} and {segmenters[1]}, so they cannot be compared"
            )
            raise TokenizerError(message)
        if _sizes(other) != _sizes(self._first):
            message = (
                f"{self.names[0]} and {name} were measured on different texts, so they cannot be "
                "compared"
            )
            raise TokenizerError(message)

    def _refuse_other_groups(self, baseline: str) -> None:
        """Refuse a comparison of groups that are not parallel."""
        groups = self._first.groups
        option = argument("baseline", baseline)
        if len(groups) < 2:
            message = f"{option} needs at least two groups; give their field with {argument('group', '')}"
            raise TokenizerError(message)
        if baseline not in groups:
            message = f"{option} is not a group; the groups are {', '.join(groups)}"
            raise TokenizerError(message)
        what, numbers = "documents", {n: s.documents for n, s in groups.items()}
        if set(numbers.values()) == {1}:
            what, numbers = "lines", {n: s.lines for n, s in groups.items()}
        least = min(groups, key=numbers.__getitem__)
        most = max(groups, key=numbers.__getitem__)
        if numbers[least] != numbers[most]:
            message = (
                f"{option}: the groups are not parallel: {least!r} has {numbers[least]:,} {what} "
                f"and {most!r} has {numbers[most]:,}"
            )
            raise TokenizerError(message)

    @property
    def _first(self) -> Measurement:
        return self.measurements[0]

    @property
    def groups(self) -> tuple[str, ...]:
        """The names of the groups."""
        return tuple(self._first.groups)

    @property
    def segmenter(self) -> Segmenter | None:
        """The definition of a word."""
        return self._first.segmenter

    @property
    def has_missing(self) -> bool:
        """Whether the texts have characters that no token of a tokenizer stands for."""
        return any(measured.total.n_missing for measured in self.measurements)

    @property
    def absent(self) -> dict[str, str]:
        """The reason for each metric that is left out, by key."""
        reasons = {}
        if self.baseline is None:
            reasons["Groups"] = "no baseline was given"
        if self.segmenter is None:
            reasons["Words"] = NO_SEGMENTER
        absent = {
            metric.key: reason
            for section, reason in reasons.items()
            for metric in SECTIONS[section]
        }
        if self._first.word_types is None:
            absent |= dict.fromkeys(OF_TYPES, NO_SEGMENTER)
        return absent

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the metrics that exist; those of missing characters only if there are such characters."""
        left_out = set(self.absent)
        if not self.has_missing:
            left_out |= {"missing", "missing_share"}
        return tuple(key for key in METRICS if key not in left_out)

    def row(self, key: str, group: str | None = None) -> StatsRow:
        """Return a metric of all texts, or of a group.

        Raises
        ------
        TokenizerError
            The metric or the group does not exist.
        """
        metric = METRICS.get(key)
        if metric is None:
            message = f'metric="{key}" is unknown; the metrics are {", ".join(METRICS)}'
            raise TokenizerError(message)
        if group is not None and group not in self.groups:
            message = (
                f'group="{group}" is unknown; the groups are {", ".join(self.groups)}'
            )
            raise TokenizerError(message)
        is_defined = metric.of_all if group is None else metric.by_group
        if key in self.absent or not is_defined:
            return StatsRow(metric, group, (None,) * len(self.names))
        inputs = (Measured(each, group, self.baseline) for each in self.measurements)
        return StatsRow(metric, group, tuple(map(metric.compute, inputs)))

    def rows(self) -> list[StatsRow]:
        """Return every metric that exists, first for all texts and then for each group."""
        return [
            self.row(key, group)
            for group in (None, *self.groups)
            for key in self.keys
            if (METRICS[key].of_all if group is None else METRICS[key].by_group)
        ]

    def scripts(self) -> list[ScriptRow]:
        """Return the tokens of each script, the most frequent script first."""
        found = [_scripts(measurement) for measurement in self.measurements]
        names = sorted({name for scripts in found for name in scripts})
        rows = [
            ScriptRow(
                name,
                tuple(scripts.get(name, (0, 0))[0] for scripts in found),
                tuple(
                    ratio(scripts.get(name, (0, 0))[1], measurement.total.tokens)
                    for scripts, measurement in zip(
                        found, self.measurements, strict=True
                    )
                ),
            )
            for name in names
        ]
        return sorted(rows, key=lambda row: -max(share or 0 for share in row.shares))

    def missing(self) -> list[MissingRow]:
        """Return the characters that no token stands for, the most frequent first."""
        counters = [measurement.total.missing for measurement in self.measurements]
        texts = sorted({text for counts in counters for text in counts})
        rows = [MissingRow(text, tuple(c[text] for c in counters)) for text in texts]
        return sorted(rows, key=lambda row: -max(row.counts))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as a JSON object.

        Metrics are listed by key; a value that does not exist is ``null``.
        """
        first = self._first
        return {
            "segmenter": _as_dict(first.segmenter),
            "grouped_by": first.grouped_by,
            "baseline": self.baseline,
            "bad_lines": first.bad_lines,
            "tokenizers": [
                self._tokenizer_dict(name, place)
                for place, name in enumerate(self.names)
            ],
            "units": {key: METRICS[key].unit for key in self.keys},
            "absent": self.absent,
        }

    def _tokenizer_dict(self, name: str, place: int) -> dict[str, Any]:
        rows = self.rows()
        return {
            "name": name,
            "fingerprint": self.measurements[place].tokenizer.fingerprint,
            "metrics": {
                row.metric.key: row.values[place] for row in rows if row.group is None
            },
            "groups": {
                group: {
                    row.metric.key: row.values[place]
                    for row in rows
                    if row.group == group
                }
                for group in self.groups
            },
            "scripts": {
                row.script: {"tokens": row.tokens[place], "share": row.shares[place]}
                for row in self.scripts()
            },
            **self._missing_dict(place),
        }

    def _missing_dict(self, place: int) -> dict[str, dict[str, int]]:
        """Return the characters without a token, if any tokenizer has them."""
        if not self.has_missing:
            return {}
        counts = Counter[str]()
        for row in self.missing():
            if row.counts[place]:
                text = row.text.decode(errors="backslashreplace")
                counts[text] += row.counts[place]
        return {"missing": dict(counts)}

    def to_json(self) -> str:
        """Return everything as JSON text."""
        return json.dumps(self.to_dict())

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield a record for each value: tokenizer, group, metric, unit, value.

        The group of all texts is ``None``. Names are UTF-8, with other bytes as escapes.
        """
        for row in self.rows():
            for name, value in zip(self.names, row.values, strict=True):
                yield {
                    "tokenizer": _escaped(name),
                    "group": None if row.group is None else _escaped(row.group),
                    "metric": row.metric.key,
                    "unit": row.metric.unit,
                    "value": value,
                }

    def to_csv(self) -> str:
        """Return the records as CSV; missing values, and the group of all texts, are empty."""
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["tokenizer", "group", "metric", "unit", "value"])
        writer.writerows(record.values() for record in self.records())
        return file.getvalue()

    def to_parquet(self) -> bytes:
        """Return the records as a Parquet file; values are ``float64``. Needs pyarrow."""
        pa, parquet = load("pyarrow"), load("pyarrow.parquet")
        records = list(self.records())
        texts = ("tokenizer", "group", "metric", "unit")
        schema = pa.schema(
            [(name, pa.string()) for name in texts] + [("value", pa.float64())]
        )
        file = io.BytesIO()
        parquet.write_table(pa.Table.from_pylist(records, schema=schema), file)
        return file.getvalue()

    def _lines(self) -> Iterator[Line]:
        from .draw import as_lines

        return as_lines(self, VIEW_WIDTH)


def stats(
    tokenizers: Mapping[str, Tokenizer] | Sequence[Tokenizer] | Tokenizer,
    corpus: Corpus,
    *,
    baseline: str | None = None,
    **options: Unpack[MeasureOptions],
) -> Stats:
    """Measure a corpus with one or more tokenizers, and compute every metric.

    Parameters
    ----------
    tokenizers
        A tokenizer, several, or several by name; several paths have their short names.
    corpus, options
        As for :func:`measure`, but without ``segmenter`` a word is a run of characters other than
        white space, and distinct words are not counted; with ``segmenter=None``, no words are.
    baseline
        The group to compare the tokens of the others with, if the groups are parallel: their
        documents say the same, in the same order. All groups must have the same number of
        documents or, if each group is one document, of lines.

    Examples
    --------
    >>> import bytepair, pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "corpus.txt")
    >>> _ = file.write_text("low lower newest")
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> found = stats({"mine": tokenizer}, file, segmenter="whitespace")
    >>> found.row("bytes_per_token").values, found.row("pieces_per_word").values
    ((1.3333333333333333,), (1.0,))
    >>> tokenizer.save(file.with_name("own.json"))
    >>> stats([file.with_name("own.json")], file).names
    ('own.json',)
    """
    named = _named(tokenizers)
    known = ["baseline", *MeasureOptions.__annotations__]
    refuse_unknown("stats", options, known)
    options.setdefault("segmenter", SPACED)
    measurements = measure_all(named, corpus, **options)
    found = dict(zip(named, measurements, strict=True))
    return stats_of(found, baseline=baseline)


def stats_of(
    measurements: Mapping[str, Measurement], *, baseline: str | None = None
) -> Stats:
    """Compare measurements of the same texts, by the names of their tokenizers.

    >>> import bytepair
    >>> from bytepair.analyze import measure_texts
    >>> small = bytepair.train_from_iterator(["low lower"], vocab_size=256)
    >>> large = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> named = {"small": small, "large": large}
    >>> found = {name: measure_texts(own, ["lower"]) for name, own in named.items()}
    >>> stats_of(found).row("tokens").values
    (5, 3)

    Raises
    ------
    TokenizerError
        The texts or the segmenters differ, or there is a baseline but the groups are not
        parallel.
    """
    expect("measurements", measurements, Mapping, "a dict of measurements by name")
    names, measured = tuple(measurements), tuple(measurements.values())
    expect_each("measurements", measured, Measurement, "a result of measure()")
    return Stats(names, measured, baseline)


def _named(
    tokenizers: Mapping[str, Tokenizer] | Sequence[Tokenizer] | Tokenizer,
) -> Mapping[str, Tokenizer]:
    """Return tokenizers by name: several paths by their short names, others by number."""
    several = all_loaded(tokenizers)
    if isinstance(several, Mapping):
        return several
    if not isinstance(several, list):
        return {"1": several}
    given = tokenizers if isinstance(tokenizers, (list, tuple)) else []
    names = names_of([Path(one) for one in given if isinstance(one, (str, PathLike))])
    if len({*names}) < len(several):
        names = [str(number + 1) for number in range(len(several))]
    return dict(zip(names, several, strict=True))


def _as_dict(segmenter: Segmenter | None) -> dict[str, str] | None:
    if segmenter is None:
        return None
    return {"name": segmenter.name, "pattern": segmenter.pattern}


def _escaped(name: str) -> str:
    r"""Write bytes of a name that are not UTF-8, such as those of a file, as escapes.

    >>> _escaped(b"caf\xe9.txt".decode(errors="surrogateescape"))
    'caf\\udce9.txt'
    """
    return name.encode(errors="backslashreplace").decode()


def _sizes(measurement: Measurement) -> dict[str | None, tuple[int, ...]]:
    """Return the sizes of all texts and of each group."""
    names = (None, *measurement.groups)
    sums = {name: measurement.of(name) for name in names}
    return {
        group: (s.documents, s.bytes, s.characters, s.lines)
        for group, s in sums.items()
    }


def _scripts(measurement: Measurement) -> dict[str, tuple[int, int]]:
    """Return the number of the model's tokens of each script, and of their occurrences."""
    table, counts = measurement.tokens, measurement.total.counts
    is_known = table.is_model & ~table.is_partial
    n_names = len(table.script_names)
    n_tokens = np.bincount(table.scripts[is_known], minlength=n_names)
    n_found = np.zeros(n_names, np.int64)
    np.add.at(n_found, table.scripts[is_known], counts[is_known])
    numbers = zip(table.script_names, n_tokens.tolist(), n_found.tolist(), strict=True)
    return {name: (n, found) for name, n, found in numbers if n}
