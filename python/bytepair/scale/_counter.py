"""Documents to counts on disk, in one table or in one for each group.

The core counts; this module distributes documents to its counters by group. It costs a copy of
the documents if a batch has several groups.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bytepair import _core
from bytepair._labels import argument
from bytepair.data._columns import by_group, texts_of
from bytepair.data._counts import CountsInfo, preparation_of
from bytepair.data._optional import load
from bytepair.data._readers import Tally
from bytepair.errors import TokenizerError, TrainingError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import pyarrow as pa


MAX_GROUPS = 4096
"""More groups than this are refused as a mistake: each has a table of its own."""


@dataclass(frozen=True)
class CountSpec:
    """How text is prepared before its pieces are counted.

    ``options`` are parts of the dialect set one by one, as for :func:`bytepair.train`.
    ``memory_limit`` is in bytes, for one call.
    """

    dialect: str = "gpt4o"
    options: Mapping[str, Any] = field(default_factory=dict)
    special_tokens: tuple[str, ...] = ()
    threads: int | None = 1
    memory_limit: int | None = None

    @property
    def core_dialect(self) -> _core.Dialect:
        """The dialect, for the core."""
        return _core.Dialect(self.dialect, **self.options)

    @property
    def needs_first(self) -> bool:
        """Whether ties are decided by where pieces first occur."""
        return self.core_dialect.ties == "first_seen"

    def new_info(self) -> CountsInfo:
        """Return the description of empty counts."""
        return CountsInfo(
            preparation=preparation_of(self.core_dialect, self.special_tokens),
            dialect=self.dialect,
            options=jsonable(self.options),
            special_tokens=list(self.special_tokens),
            found_special=dict.fromkeys(sorted(self.special_tokens), 0),
        )

    def new_corpus(self, folder: str) -> _core.Corpus:
        """Return an empty corpus; counts that exceed the memory limit are written to a folder."""
        corpus = _core.Corpus(
            self.core_dialect, list(self.special_tokens), threads=self.threads
        )
        if self.memory_limit is not None:
            limit = max(self.memory_limit, 0)
            corpus.set_memory_limit(limit, folder, reads_blocks=True)
        return corpus

    def refuse_groups(self) -> None:
        """Refuse settings that do not work with groups."""
        if self.needs_first:
            message = (
                "ties are decided by the first occurrence, which counts by group do not "
                "record; choose another rule (ties)"
            )
            raise TrainingError(message)
        if self.memory_limit is not None:
            message = f"{argument('memory_limit', '')} is for counts without groups; make tasks smaller"
            raise TokenizerError(message)


@dataclass(frozen=True)
class CountedPart:
    """The counts of a part of a corpus: their description, and the files of each group."""

    info: CountsInfo
    runs: Mapping[str | None, list[Path]]


class PieceCounter:
    """Counts batches of documents, with columns ``text`` and optionally ``group``.

    Attributes
    ----------
    tally
        What was read; the reader of the documents updates it.
    groups
        Documents and bytes of each group.
    """

    def __init__(self, spec: CountSpec, folder: str) -> None:
        self.spec, self.folder, self.tally = spec, folder, Tally()
        self.corpora: dict[str | None, _core.Corpus] = {}
        self.groups: dict[str, dict[str, int]] = {}

    def add(self, batch: pa.RecordBatch) -> None:
        """Count a batch."""
        for group, part in by_group(batch):
            if group is not None:
                self._note(group, part)
            self._corpus(group).add_rows(texts_of(part))

    def add_stream(self, read: Callable[[int], bytes]) -> None:
        """Count one document that is read in chunks."""
        self._corpus(None).add_stream(read)

    def finish(self) -> CountedPart:
        """Return the description of the counts, and the files of each group."""
        runs: dict[str | None, list[Path]] = {}
        info = self.spec.new_info()
        for group, corpus in self.corpora.items():
            runs[group], found = corpus.finish_runs(self.folder)
            for token, n_found in found.items():
                info.found_special[token] += n_found
        for name in ("documents", "null", "empty", "bad", "bytes"):
            setattr(info, name, getattr(self.tally, name))
        info.groups = dict(sorted(self.groups.items()))
        return CountedPart(info, runs)

    def _corpus(self, group: str | None) -> _core.Corpus:
        if group not in self.corpora:
            if len(self.corpora) == MAX_GROUPS:
                message = f"more than {MAX_GROUPS:,} groups; is this the right field?"
                raise TokenizerError(message)
            self.corpora[group] = self.spec.new_corpus(self.folder)
        return self.corpora[group]

    def _note(self, group: str, part: pa.RecordBatch) -> None:
        lengths = load("pyarrow.compute").binary_length(part.column("text"))
        noted = self.groups.setdefault(group, {"documents": 0, "bytes": 0})
        noted["documents"] += len(part)
        noted["bytes"] += load("pyarrow.compute").sum(lengths).as_py() or 0


def jsonable(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options after a round trip through JSON: sequences are lists."""
    found: dict[str, Any] = json.loads(json.dumps(options, sort_keys=True))
    return found
