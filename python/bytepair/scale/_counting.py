"""A corpus to counts of pieces: split into tasks, added up on disk.

One process counts everything as one part, several processes count a task each. The counts of a part
are in files, which are added up at the end, in memory that does not grow with the corpus. The result
is the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bytepair._expected import refuse_unknown
from bytepair._io.files import check_writable, refuse_no_name
from bytepair._io.overwriting import refuse_overwriting
from bytepair._io.temporary import TemporaryFolder
from bytepair._names import in_order, refuse_set
from bytepair._ranges import check_count, check_whole
from bytepair._training.limits import longest_within
from bytepair._training.options import DialectOptions
from bytepair.data._counts import Counts, CountsInfo, read_counts, write_counts
from bytepair.data._opening import naming
from bytepair.data._plan import TASK_BYTES, Task, plan
from bytepair.data._readers import (
    Part,
    ReadOptions,
    is_whole_text,
    open_text,
    read_part,
    refuse_idle,
)
from bytepair.data._sources import list_sources, listed, paths_of
from bytepair.data._sums import CountSums
from bytepair.errors import TokenizerError

from . import _local
from ._counter import CountedPart, CountSpec, PieceCounter
from ._engine import Tell, refuse_processes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from typing_extensions import Unpack

    from bytepair._io.files import StrPath
    from bytepair.data._sources import Corpus

    from ._engine import Engine


@dataclass(frozen=True)
class _Work:
    """Counts parts; it is pickled for other processes.

    Counts are written to files in a folder or, without one, returned in memory.
    """

    spec: CountSpec
    options: ReadOptions
    folder: str | None

    def __call__(
        self, numbered: tuple[int, Sequence[Part]], tell: Tell | None = None
    ) -> CountedPart | Counts:
        parts = numbered[1]
        if self.folder is None:
            return count_alone(parts, self.spec, self.options)
        return _count_parts(parts, self.spec, self.options, self.folder, tell)


def count(
    corpus: Corpus,
    *,
    dialect: str = "gpt4o",
    special_tokens: Iterable[str] = (),
    min_piece_count: int | None = None,
    input_format: str | None = None,
    field: str | None = None,
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
    output: StrPath | None = None,
    **options: Unpack[DialectOptions],
) -> Counts:
    r"""Count the pieces of a corpus; :func:`bytepair.train_from_counts` learns from them.

    Parameters
    ----------
    corpus, input_format, field, lines, separator, skip_bad
        Files, and the definition of a document, as for :func:`bytepair.scale.tokenize`. A text file is
        one document unless ``lines`` or ``separator`` is given, and is read in chunks.
    dialect, special_tokens, options
        How text is prepared, as for :func:`bytepair.train`. Special tokens end pieces and
        are not counted. If ties are decided by the first occurrence, counts have the
        order in which pieces occur.
    group
        The field or column with the group of a document, such as its language, written as for
        ``field``. Counts are then by group.
    min_piece_count
        Leave out pieces that occur less often, in all groups together; ``info`` says how many.
    processes, threads
        The number of processes on this machine, and of threads in each; by default one process
        with a thread for each processor, or several processes with one thread each.
    memory_limit
        The approximate number of bytes for counting in each process, and for adding up in this
        one, by default 256 MB. The rest is written to temporary files.
    progress
        A function that is called about twice a second with the number of bytes that are done,
        and of all bytes.
    engine
        The engine that counts instead of processes on this machine, such as
        :class:`bytepair.scale.spark.SparkEngine`. Each of its tasks has one thread.
    output
        A file to write the counts to. The returned counts then read their rows from it when
        they are needed; without it, rows are in memory.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "docs.jsonl")
    >>> _ = path.write_text('{"text": "low lower"}\n{"text": "low"}\n')
    >>> counts = count(path, dialect="subword-nmt")
    >>> counts.table.to_pydict(), counts.info.documents
    ({'piece': [b'low', b'lower'], 'count': [2, 1]}, 2)
    """
    special_tokens = tuple(in_order("special_tokens", special_tokens))
    refuse_unknown("count", options, DialectOptions.__annotations__)
    check_whole(processes=processes, threads=threads, task_bytes=task_bytes)
    refuse_processes(engine, processes)
    longest = longest_within(memory_limit)
    reading = ReadOptions(
        field, lines, separator, skip_bad, group, special_tokens, longest
    )
    if threads is None and (processes > 1 or engine is not None):
        threads = 1
    spec = CountSpec(dialect, dict(options), special_tokens, threads, memory_limit)
    spec.new_info()  # refuses invalid options
    if memory_limit is not None:
        with TemporaryFolder() as folder:
            spec.new_corpus(folder)  # refuses a limit that is too small
    check_count(min_piece_count=min_piece_count or 0)
    if group is not None:
        spec.refuse_groups()
    corpus = listed(corpus)
    refuse_output(output, paths_of(corpus))
    sources = list_sources(corpus, input_format)
    refuse_idle(sources, reading)
    tasks = plan(sources, reading, task_bytes)
    if engine is None and min(processes, len(tasks)) <= 1:  # one table for all of them
        tasks = [tuple(part for task in tasks for part in task)]
    total = sum(source.size for source in sources)
    with TemporaryFolder() as folder:
        sums = CountSums(folder, memory_limit)
        if engine is None:
            run = partial(_local.run, processes=processes)
            work = _Work(spec, reading, folder)
            info = _count_tasks(run, work, tasks, sums, progress)
        elif hasattr(engine, "count"):
            info = engine.count(tasks, spec, reading, min_piece_count, sums)
        else:
            info = _count_tasks(engine.run, _Work(spec, reading, None), tasks, sums)
        info.sources = sorted(source.path for source in sources)
        if progress is not None:
            progress(total, total)
        return settled(sums, info, min_piece_count, output, with_first=spec.needs_first)


def merge_files(
    paths: Iterable[StrPath],
    *,
    memory_limit: int | None = None,
    output: StrPath | None = None,
) -> Counts:
    """Add files of counts up, as if their corpora followed each other.

    ``memory_limit`` and ``output`` are those of :func:`count`.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.txt").write_text("low lower low")
    >>> path = folder / "counts.parquet"
    >>> _ = count(folder / "a.txt", dialect="subword-nmt", output=path)
    >>> merge_files([path, path]).table.to_pydict()["count"]
    [4, 2]

    Raises
    ------
    TrainingError
        They were counted in different ways.
    """
    refuse_set("paths", paths, "the result")
    paths = list(paths)
    refuse_output(output, paths)
    info: CountsInfo | None = None
    with TemporaryFolder() as folder:
        sums = CountSums(folder, memory_limit)
        for number, path in enumerate(paths):
            counts = read_counts(path)
            if info is None:
                info = counts.info
            else:
                info.add(counts.info)
            for batch in counts.batches():
                sums.add(batch, number)
        if info is None:
            message = "no file of counts to merge"
            raise TokenizerError(message)
        return settled(sums, info, None, output)


def refuse_output(output: StrPath | None, inputs: Iterable[StrPath]) -> None:
    """Refuse an output that cannot be written or is also read, before anything is counted."""
    if output is not None:
        refuse_no_name(output)
        refuse_overwriting(inputs, [output])
        check_writable(Path(output).parent)


def _count_tasks(
    run: Callable[..., Iterator[tuple[tuple[int, Task], CountedPart | Counts]]],
    work: _Work,
    tasks: list[Task],
    sums: CountSums,
    progress: Callable[[int, int], object] | None = None,
) -> CountsInfo:
    """Count tasks, and add up their counts in any order."""
    sizes = [sum(part.size for part in task) for task in tasks]
    done = 0

    def watch(begun: Sequence[int]) -> None:
        if progress is not None:
            progress(min(done + begun[0], sum(sizes)), sum(sizes))

    if progress is not None:
        run = partial(run, watch=watch)
    info = work.spec.new_info()
    for (number, _task), part in run(work, list(enumerate(tasks))):
        done += sizes[number]
        if isinstance(part, Counts):
            sums.add(part.table, number)
        else:
            sums.add_runs(part.runs, number)
        info.add(part.info)
    return info


def count_alone(parts: Sequence[Part], spec: CountSpec, options: ReadOptions) -> Counts:
    """Count parts of sources that follow each other; return their rows in memory."""
    with TemporaryFolder() as folder:
        return counts_of(_count_parts(parts, spec, options, folder), spec, folder)


def counts_of(part: CountedPart, spec: CountSpec, folder: str) -> Counts:
    """Return the counts of one part in memory."""
    sums = CountSums(folder, spec.memory_limit)
    sums.add_runs(part.runs)
    return settled(sums, part.info, with_first=spec.needs_first)


def settled(
    sums: CountSums,
    info: CountsInfo,
    min_piece_count: int | None = None,
    output: StrPath | None = None,
    *,
    with_first: bool = True,
) -> Counts:
    """Finish adding up: return all rows in memory, or write them to a file."""
    n_pieces, n_occurrences = sums.finish(min_piece_count, with_first=with_first)
    info.dropped_pieces += n_pieces
    info.dropped_occurrences += n_occurrences
    if min_piece_count is not None and min_piece_count > 1:
        info.min_piece_count = min_piece_count
    if output is None:
        return Counts(sums.table(), info)
    write_counts(output, sums.schema, sums.batches(), info)
    return read_counts(output)


def _count_parts(
    parts: Sequence[Part],
    spec: CountSpec,
    options: ReadOptions,
    folder: str,
    tell: Tell | None = None,
) -> CountedPart:
    """Count parts into files of a folder; a whole text may be larger than memory."""
    counter = PieceCounter(spec, folder)
    tally, n_before = counter.tally, 0
    for part in parts:

        def tell_place(part: Part = part, n_before: int = n_before) -> None:
            if tell is not None:
                tell((n_before + tally.place(part), tally.documents, tally.bytes))

        with naming(part.source.path):
            if is_whole_text(part.source, options):
                with open_text(part, tally, tell_place) as read:
                    counter.add_stream(read)
            else:
                for batch in read_part(part, options, tally):
                    counter.add(batch)
                    tell_place()
        n_before += part.size
    return counter.finish()
