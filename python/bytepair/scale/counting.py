"""A corpus to counts of pieces: dealt out as tasks, added up.

One process counts all in one table, several count a task each and their counts are merged in
the order of the corpus: the result is the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO

from bytepair.data.counts import (
    Counts,
    CountsInfo,
    preparation_of,
    read_counts,
)
from bytepair.data.grouped import CountTable
from bytepair.data.opening import open_source
from bytepair.data.plan import TASK_BYTES, Task, plan
from bytepair.data.readers import Part, ReadOptions, Tally, read_part
from bytepair.data.sources import list_sources
from bytepair.errors import TokenizerError

from .counter import CountSpec, PieceCounter, jsonable
from .local import run
from .telling import Seldom, Tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from typing_extensions import Unpack

    from bytepair.files import StrPath
    from bytepair.training import DialectOptions

    from .engine import Engine

__all__ = [
    "count",
    "count_by_tasks",
    "count_parts",
    "counted",
    "merge_files",
    "prepared_in",
    "thinned",
    "without",
]


@dataclass(frozen=True)
class _Work:
    """Counts one task into a file: goes through ``pickle`` to another process."""

    spec: CountSpec
    options: ReadOptions
    folder: Path

    def __call__(
        self, numbered: tuple[int, Task], tell: Tell | None = None
    ) -> CountsInfo:
        number, task = numbered
        counts = count_parts(task, self.spec, self.options, None, tell)
        counts.save(self.folder / f"{number}.parquet")
        return counts.info


def count(
    corpus: StrPath | Iterable[StrPath],
    *,
    dialect: str = "gpt4o",
    special_tokens: Iterable[str] = (),
    min_piece_count: int | None = None,
    corpus_format: str | None = None,
    field: str = "text",
    group: str | None = None,
    lines: bool = False,
    separator: str | None = None,
    skip_bad: bool = False,
    processes: int = 1,
    threads: int | None = None,
    memory_limit: int | None = None,
    task_bytes: int = TASK_BYTES,
    progress: Callable[[int, int], object] | None = None,
    engine: Engine | None = None,
    **options: Unpack[DialectOptions],
) -> Counts:
    r"""Count the pieces of a corpus; :func:`bytepair.train_from_counts` learns from them.

    Parameters
    ----------
    corpus, corpus_format, field, lines, separator, skip_bad
        Files and what a document is, as for :func:`bytepair.scale.tokenize`. A text file is
        one document unless ``lines`` or ``separator`` is given, and is read in stretches.
    dialect, special_tokens, options
        How text is prepared, as for :func:`bytepair.train`. Special tokens end pieces and
        are not counted. Where ties are decided by the first occurrence, counts say in which
        order pieces occur.
    group
        Where documents say which group they are of, such as a language: like ``field``.
        Counts are then by group.
    min_piece_count
        Leave out pieces that occur less often, in all groups together; how many is told.
    processes, threads
        How many processes, and threads in each; by default one process and all processors,
        or one thread in each of several processes.
    memory_limit
        About how many bytes counting may take in each process while it reads.
    progress
        Is called about twice a second with the bytes of files that are done, and of all.
    engine
        What counts instead of processes of this machine, such as
        :class:`bytepair.scale.spark.SparkEngine`. Each of its tasks has one thread.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "docs.jsonl")
    >>> _ = path.write_text('{"text": "low lower"}\n{"text": "low"}\n')
    >>> counts = count(path, dialect="subword-nmt")
    >>> counts.table.to_pydict(), counts.info.documents
    ({'piece': [b'low', b'lower'], 'count': [2, 1]}, 2)
    """
    reading = ReadOptions(field, lines, separator, skip_bad, group)
    if threads is None and (processes > 1 or engine is not None):
        threads = 1
    spec = CountSpec(
        dialect,
        dict(options),
        tuple(dict.fromkeys(special_tokens)),
        threads,
        memory_limit,
    )
    prepared_in(spec)  # refuses what cannot be
    if group is not None:
        spec.refuse_groups()
    sources = list_sources(corpus, corpus_format)
    tasks = plan(sources, reading, task_bytes)
    total = sum(source.size for source in sources)
    if engine is not None:
        counts = engine.count(tasks, spec, reading, min_piece_count)
    elif min(processes, len(tasks)) <= 1:
        parts = [part for task in tasks for part in task]
        tell = None if progress is None else Seldom(_share_of(total, progress))
        counts = count_parts(parts, spec, reading, min_piece_count, tell)
    else:
        counts = _count_tasks(
            tasks, spec, reading, min_piece_count, processes, progress
        )
    counts.info.sources = sorted(source.path for source in sources)
    if progress is not None:
        progress(total, total)
    return counts


def _share_of(
    total: int, progress: Callable[[int, int], object]
) -> Callable[[Sequence[int]], object]:
    return lambda begun: progress(min(begun[0], total), total)


def merge_files(paths: Iterable[StrPath]) -> Counts:
    """Add files of counts up, as if their corpora followed each other.

    Raises
    ------
    TrainingError
        They were counted in different ways.
    """
    merged = CountTable()
    info: CountsInfo | None = None
    for number, path in enumerate(paths):
        counts = read_counts(path)
        if info is None:
            info = counts.info
        else:
            info.add(counts.info)
        merged.add(counts.table, number)
    if info is None:
        message = "no file of counts to merge"
        raise TokenizerError(message)
    return Counts(merged.rows(), info)


def _count_tasks(
    tasks: list[Task],
    spec: CountSpec,
    options: ReadOptions,
    min_piece_count: int | None,
    processes: int,
    progress: Callable[[int, int], object] | None,
) -> Counts:
    with TemporaryDirectory() as folder:
        work = _Work(spec, options, Path(folder))
        sizes = [sum(part.size for part in task) for task in tasks]
        done = 0

        def watch(begun: Sequence[int]) -> None:
            if progress is not None:
                progress(min(done + begun[0], sum(sizes)), sum(sizes))

        numbered = list(enumerate(tasks))
        for (number, _task), _info in run(work, numbered, processes, watch):
            done += sizes[number]
        files = [Path(folder) / f"{number}.parquet" for number in range(len(tasks))]
        merged = merge_files(files)
    return thinned(merged, min_piece_count)


def count_by_tasks(
    run: Callable[..., Iterator[tuple[tuple[int, Task], Counts]]],
    tasks: Sequence[Task],
    spec: CountSpec,
    options: ReadOptions,
    min_piece_count: int | None,
) -> Counts:
    """Count tasks by an engine that only runs them; adds up what arrives, in any order."""
    table = CountTable()
    info = CountsInfo(**prepared_in(spec))
    work = partial(_count_task, spec=spec, options=options)
    for (number, _task), counts in run(work, list(enumerate(tasks))):
        table.add(counts.table, number)
        info.add(counts.info)
    info.found_special = dict(sorted(info.found_special.items()))
    info.groups = dict(sorted(info.groups.items()))
    rows = table.rows(with_first=spec.needs_first)
    return thinned(Counts(rows, info), min_piece_count)


def _count_task(
    numbered: tuple[int, Task], spec: CountSpec, options: ReadOptions
) -> Counts:
    return count_parts(numbered[1], spec, options)


def thinned(counts: Counts, min_piece_count: int | None) -> Counts:
    """Leave out pieces that occur less often, and note what was left out."""
    if min_piece_count is None or min_piece_count <= 1:
        return counts
    table = CountTable()
    table.add(counts.table)
    dropped = table.drop_rare(min_piece_count)
    return Counts(table.rows(), without(counts.info, min_piece_count, *dropped))


def without(
    info: CountsInfo,
    min_piece_count: int | None,
    n_pieces: int,
    n_occurrences: int,
    bound: int,
) -> CountsInfo:
    """Note what was left out."""
    is_less = min_piece_count is not None and min_piece_count > 1
    return replace(
        info,
        min_piece_count=min_piece_count if is_less else None,
        dropped_pieces=n_pieces,
        dropped_occurrences=n_occurrences,
        dropped_bound=bound,
    )


def count_parts(
    parts: Iterable[Part],
    spec: CountSpec,
    options: ReadOptions,
    min_piece_count: int | None = None,
    tell: Tell | None = None,
) -> Counts:
    """Count parts of sources that follow each other."""
    counter, tally = PieceCounter(spec), Tally()
    is_whole = not options.lines and options.separator is None
    n_before = 0

    def tell_place(part: Part) -> None:
        if tell is not None:
            tell((n_before + tally.place(part), tally.documents, tally.bytes))

    for part in parts:
        if part.source.format == "text" and is_whole and options.group is None:
            _count_file(counter, part, tally, tell_place)
        else:
            for batch in read_part(part, options, tally):
                counter.add(batch)
                tell_place(part)
        n_before += part.size
    return counted(counter, tally, min_piece_count)


def counted(
    counter: PieceCounter, tally: Tally, min_piece_count: int | None = None
) -> Counts:
    """End the counting, and say what was counted."""
    rows, report = counter.finish(min_piece_count)
    spec = counter.spec
    info = CountsInfo(
        **prepared_in(spec),
        documents=tally.documents,
        null=tally.null,
        empty=tally.empty,
        bad=tally.bad,
        bytes=tally.bytes,
        found_special=dict(sorted(report["special_tokens"].items())),
        groups=dict(sorted(counter.groups.items())),
    )
    dropped = [report[f"dropped_{name}"] for name in ("pieces", "occurrences", "bound")]
    return Counts(rows, without(info, min_piece_count, *dropped))


def prepared_in(spec: CountSpec) -> dict[str, Any]:
    """Name the preparation of counts, and what it is made of."""
    return {
        "preparation": preparation_of(spec.core_dialect, spec.special_tokens),
        "dialect": spec.dialect,
        "options": jsonable(spec.options),
        "special_tokens": sorted(spec.special_tokens),
    }


def _count_file(
    counter: PieceCounter,
    part: Part,
    tally: Tally,
    tell_place: Callable[[Part], None],
) -> None:
    """Count a text file in stretches: it may be longer than memory."""
    with open_source(part.source, tally.watch) as file:
        reader = _Measured(file, lambda: tell_place(part))
        counter.add_stream(reader.read)
    tally.add(Tally(documents=1, empty=int(not reader.n_bytes), bytes=reader.n_bytes))


class _Measured:
    """A stream that counts its bytes, and tells when there are more."""

    def __init__(self, file: BinaryIO, tell: Callable[[], None]) -> None:
        self.file, self.tell, self.n_bytes = file, tell, 0

    def read(self, n_bytes: int) -> bytes:
        self.tell()
        block = self.file.read(n_bytes)
        self.n_bytes += len(block)
        return block
