"""A corpus to counts of pieces: dealt out as tasks, added up.

One process counts all in one table, several count a task each and their counts are merged in
the order of the corpus: the result is the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO

from bytepair import _core
from bytepair.data.columns import texts_of
from bytepair.data.counts import (
    Counts,
    CountsInfo,
    add_rows,
    preparation_of,
    read_counts,
    rows_of,
)
from bytepair.data.opening import open_source
from bytepair.data.plan import TASK_BYTES, Task, plan
from bytepair.data.readers import Part, ReadOptions, Tally, read_part
from bytepair.data.sources import list_sources
from bytepair.errors import TokenizerError

from .contract import CountSpec
from .local import Seldom, Tell, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from typing_extensions import Unpack

    from bytepair.files import StrPath
    from bytepair.training import DialectOptions

__all__ = ["count", "merge_files"]


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
        counts = _count_parts(task, self.spec, self.options, None, tell)
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
    lines: bool = False,
    separator: str | None = None,
    skip_bad: bool = False,
    processes: int = 1,
    threads: int | None = None,
    memory_limit: int | None = None,
    task_bytes: int = TASK_BYTES,
    progress: Callable[[int, int], object] | None = None,
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
    min_piece_count
        Leave out pieces that occur less often; how many is told.
    processes, threads
        How many processes, and threads in each; by default one process and all processors,
        or one thread in each of several processes.
    memory_limit
        About how many bytes counting may take in each process while it reads.
    progress
        Is called about twice a second with the bytes of files that are done, and of all.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "docs.jsonl")
    >>> _ = path.write_text('{"text": "low lower"}\n{"text": "low"}\n')
    >>> counts = count(path, dialect="subword-nmt")
    >>> counts.table.to_pydict(), counts.info.documents
    ({'piece': [b'low', b'lower'], 'count': [2, 1]}, 2)
    """
    reading = ReadOptions(field, lines, separator, skip_bad)
    if threads is None and processes > 1:
        threads = 1
    spec = CountSpec(
        dialect,
        dict(options),
        tuple(dict.fromkeys(special_tokens)),
        threads,
        memory_limit,
    )
    preparation_of(spec.core_dialect, spec.special_tokens)  # refuses what cannot be
    sources = list_sources(corpus, corpus_format)
    tasks = plan(sources, reading, task_bytes)
    total = sum(source.size for source in sources)
    if min(processes, len(tasks)) <= 1:
        parts = [part for task in tasks for part in task]
        tell = None if progress is None else Seldom(_share_of(total, progress))
        counts = _count_parts(parts, spec, reading, min_piece_count, tell)
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
    merged = _core.PieceTable()
    info: CountsInfo | None = None
    with_first = True
    for number, path in enumerate(paths):
        counts = read_counts(path)
        if info is None:
            info = counts.info
        else:
            info.add(counts.info)
        with_first &= counts.knows_first
        add_rows(merged, counts.table, number)
    if info is None:
        message = "no file of counts to merge"
        raise TokenizerError(message)
    return Counts(rows_of(merged, with_first=with_first), info)


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
            watch([0])
        files = [Path(folder) / f"{number}.parquet" for number in range(len(tasks))]
        merged = merge_files(files)
    if min_piece_count is None or min_piece_count <= 1:
        return merged
    table = _core.PieceTable()
    add_rows(table, merged.table)
    n_pieces, n_occurrences = table.drop_rare(min_piece_count)
    rows = rows_of(table, with_first=merged.knows_first)
    return Counts(rows, _thinned(merged.info, min_piece_count, n_pieces, n_occurrences))


def _count_parts(
    parts: Iterable[Part],
    spec: CountSpec,
    options: ReadOptions,
    min_piece_count: int | None,
    tell: Tell | None,
) -> Counts:
    corpus, tally = spec.new_corpus(), Tally()
    is_whole = not options.lines and options.separator is None
    n_before = 0

    def tell_place(part: Part) -> None:
        if tell is not None:
            tell((n_before + tally.place(part), tally.documents, tally.bytes))

    for part in parts:
        if part.source.format == "text" and is_whole:
            _count_file(corpus, part, tally, tell_place)
        else:
            for batch in read_part(part, options, tally):
                corpus.add_rows(*texts_of(batch))
                tell_place(part)
        n_before += part.size
    report = corpus.finish(min_piece_count or 0)
    rows = rows_of(corpus.take_table(), with_first=spec.needs_first)
    info = CountsInfo(
        preparation=preparation_of(spec.core_dialect, spec.special_tokens),
        dialect=spec.dialect,
        options=_jsonable(spec.options),
        special_tokens=sorted(spec.special_tokens),
        documents=tally.documents,
        null=tally.null,
        empty=tally.empty,
        bad=tally.bad,
        bytes=tally.bytes,
        found_special=dict(sorted(report["special_tokens"].items())),
    )
    n_pieces, n_occurrences = report["dropped_pieces"], report["dropped_occurrences"]
    return Counts(rows, _thinned(info, min_piece_count, n_pieces, n_occurrences))


def _count_file(
    corpus: _core.Corpus, part: Part, tally: Tally, tell_place: Callable[[Part], None]
) -> None:
    """Count a text file in stretches: it may be longer than memory."""
    with open_source(part.source, tally.watch) as file:
        reader = _Measured(file, lambda: tell_place(part))
        corpus.add_stream(reader.read)
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


def _thinned(
    info: CountsInfo, min_piece_count: int | None, n_pieces: int, n_occurrences: int
) -> CountsInfo:
    return replace(
        info,
        min_piece_count=min_piece_count,
        dropped_pieces=n_pieces,
        dropped_occurrences=n_occurrences,
    )


def _jsonable(options: Mapping[str, Any]) -> dict[str, Any]:
    """Give options as JSON gives them back: sequences as lists."""

    def plain(value: Any) -> Any:  # noqa: ANN401 -- whatever an option takes
        if isinstance(value, (list, tuple)):
            return [plain(item) for item in value]
        return value

    return {name: plain(value) for name, value in sorted(options.items())}
