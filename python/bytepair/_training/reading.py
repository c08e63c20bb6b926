"""From files to the counts of a learner, each file multiplied by its weight.

Files are read as by :func:`bytepair.scale.count`. The core reads local text files by their paths; all other
documents come block by block from `data._readers`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bytepair._labels import argument
from bytepair.data._opening import naming
from bytepair.data._readers import (
    Part,
    ReadOptions,
    Tally,
    describe,
    is_whole_text,
    open_text,
    read_rows,
    refuse_idle,
)
from bytepair.data._recognise import Source, Stream
from bytepair.data._sources import list_sources
from bytepair.errors import TrainingError

from .limits import longest_within

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bytepair import _core
    from bytepair._io.files import StrPath
    from bytepair._weights import Weight
    from bytepair.data._sources import Corpus

    from .learning import Learner
    from .options import FileOptions

__all__ = ["count_files", "read_options"]


def read_options(options: FileOptions) -> ReadOptions:
    """Return the options by which documents are read."""
    return ReadOptions(
        field=options.get("field"),
        lines=options.get("lines", False),
        separator=options.get("separator"),
        skip_bad=options.get("skip_bad", False),
    )


def count_files(
    learner: Learner,
    files: Corpus | Mapping[StrPath, Weight],
    multipliers: list[int],
    reading: ReadOptions,
) -> None:
    """Count the documents of files; a mapping has a multiplier for each of its names.

    The core, which knows the separator, cuts text files at it.
    """
    groups = learner.groups
    if files in ([], {}) and not groups.parallel:  # as the learner says
        return

    input_format = learner.options.get("input_format")

    def listed(corpus: Corpus) -> list[Source]:
        return list_sources(corpus, input_format, with_streams=True)

    named: list[Any] = [files]
    if isinstance(files, Iterable) and (multipliers or groups.parity):
        named = list(files)
    named += groups.parallel
    weights = list(multipliers)
    weights += [learner.scale] * (len(named) - len(weights))
    n_groups, is_apart = len(groups.names), groups.parity is not None
    sources = [
        (source, weight, place if is_apart else 0)
        for place, (name, weight) in enumerate(zip(named, weights, strict=True))
        for source in listed([name] if is_apart else name)
    ]
    alone = [source for source, _weight, _place in sources]
    refuse_idle(alone, reading)
    learner.telling.recognised = describe(alone, reading)
    longest = longest_within(learner.memory_limit)
    reading = replace(reading, separator=None, longest=longest)
    are_whole = [is_whole_text(source, reading) for source in alone]
    if not all(are_whole):
        learner.limit_memory(reads_blocks=True)
    is_known = not any(isinstance(source, Stream) for source in alone)
    if learner.options.get("superwords") is not None and not is_known:
        message = f"{argument('superwords')}: text is read twice, and this stream can be read only once; store it in a file"
        raise TrainingError(message)
    n_total = sum(source.size for source in alone) if is_known else None
    learner.tally = tally = Tally()
    n_before = 0

    def tell(n_bytes: int) -> None:
        learner.telling.counted(n_before + n_bytes, n_total)

    for (source, weight, place), is_whole in zip(sources, are_whole, strict=True):
        corpus = learner.corpora[place]
        corpus.set_weight(weight)
        if is_whole and source.is_stored_text and place < n_groups:
            told = tell if learner.telling.report else None
            corpus.add_file(source.path, told)
        else:
            learner.n_lines[place] += _count_blocks(
                corpus, Part(source), reading, tally, tell
            )
        n_before += source.size


def _count_blocks(
    corpus: _core.Corpus,
    part: Part,
    reading: ReadOptions,
    tally: Tally,
    tell: Callable[[int], None],
) -> int:
    """Count a source that is read block by block, and report how many of its bytes are done.

    Return the number of lines, or 0 if lines are texts.
    """
    n_lines, last = 0, b"\n"
    with naming(part.source.path):
        if not is_whole_text(part.source, reading):
            for rows in read_rows(part, reading, tally):
                corpus.add_rows((rows.data, rows.offsets))
                tell(tally.place(part))
            return 0
        with open_text(part, tally) as read:

            def read_and_tell(most: int) -> bytes:
                nonlocal n_lines, last
                tell(tally.place(part))
                data = read(most)
                n_lines += data.count(b"\n")
                last = data or last
                return data

            corpus.add_stream(read_and_tell)
    return n_lines + (not last.endswith(b"\n"))
