"""Files to the counts of a learner, each file as often as its weight says.

What is read is what :func:`bytepair.scale.count` reads. A text that lies in a file of this
machine goes to the core by its path; anything else comes block by block from `data.readers`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from bytepair.data._opening import naming
from bytepair.data._readers import (
    Part,
    ReadOptions,
    Tally,
    is_whole_text,
    open_text,
    read_rows,
)
from bytepair.data._recognise import Source, Stream
from bytepair.data._sources import describe, list_sources, refuse_idle

if TYPE_CHECKING:
    from bytepair._io.files import StrPath
    from bytepair.data._sources import Corpus

    from .learning import Learner
    from .weights import Weight

__all__ = ["ReadOptions", "count_files"]

SECONDS_BETWEEN = 0.1
"""The shortest time between two words about how much is read."""


def count_files(
    learner: Learner,
    files: Corpus | Mapping[StrPath, Weight],
    multipliers: list[int],
    input_format: str | None,
    options: ReadOptions,
) -> None:
    """Count the documents of files; a mapping has a multiplier for each of its names.

    Whole texts are cut at the separator by the core, which the learner told of it.
    """
    if files in ([], {}):  # nothing to learn from, as the learner says
        return

    def listed(corpus: Corpus) -> list[Source]:
        return list_sources(corpus, input_format, with_streams=True)

    if isinstance(files, Mapping):
        numbered = zip(files, multipliers, strict=True)
        sources = [(source, n) for name, n in numbered for source in listed(name)]
    else:
        sources = [(source, 1) for source in listed(files)]
    alone = [source for source, _multiplier in sources]
    refuse_idle(alone, options)
    if any(not is_whole_text(source, options) for source in alone):
        learner.hold_blocks()
    options = replace(options, longest=learner.longest_document)
    is_known = not any(isinstance(source, Stream) for source in alone)
    n_total = sum(source.size for source in alone) if is_known else None
    learner.recognised = describe(alone, options)
    counter = _SourceCounter(learner, replace(options, separator=None), n_total)
    for source, multiplier in sources:
        learner.corpus.set_weight(multiplier)
        counter.count(Part(source))


class _SourceCounter:
    """Counts one source after the other, and tells how much is done."""

    def __init__(
        self, learner: Learner, options: ReadOptions, n_total: int | None
    ) -> None:
        self.learner, self.options, self.n_total = learner, options, n_total
        self.tally = learner.tally = Tally()
        self.n_before = 0
        self.told_at = 0.0

    def count(self, part: Part) -> None:
        corpus = self.learner.corpus
        if not is_whole_text(part.source, self.options):
            with naming(part.source.path):
                for rows in read_rows(part, self.options, self.tally):
                    corpus.add_rows((rows.data, rows.offsets))
                    self._tell_now_and_then(part)
        elif part.source.is_stored_text:
            is_told = self.learner.report is not None
            corpus.add_file(part.source.path, self._tell if is_told else None)
        else:
            with naming(part.source.path), open_text(part, self.tally) as read:

                def read_and_tell(most: int) -> bytes:
                    self._tell_now_and_then(part)
                    return read(most)

                corpus.add_stream(read_and_tell)
        self.n_before += part.size

    def _tell(self, n_bytes: int) -> None:
        self.learner.tell_bytes(self.n_before + n_bytes, self.n_total)

    def _tell_now_and_then(self, part: Part) -> None:
        now = time.perf_counter()
        if now - self.told_at >= SECONDS_BETWEEN:
            self.told_at = now
            self._tell(self.tally.place(part))
