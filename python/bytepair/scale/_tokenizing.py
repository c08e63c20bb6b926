"""A corpus to a folder of shards: tasks are planned, run, resumed and committed.

The work of a task is `scale._writing.write_shards`. The same call continues an interrupted run.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bytepair._expected import loaded
from bytepair._io.files import StrPath, refuse_no_name
from bytepair._io.overwriting import refuse_overwriting
from bytepair._labels import argument
from bytepair._ranges import check_whole
from bytepair.analyze._behaviour import behaviour_of
from bytepair.data._plan import TASK_BYTES, Task, plan
from bytepair.data._readers import Part, ReadOptions, Tally, read_part, refuse_idle
from bytepair.data._sources import list_sources, listed, paths_of
from bytepair.data._work import Dataset, commit
from bytepair.errors import TokenizerError

from . import _local
from ._decoding import OldReading, OldShards
from ._engine import refuse_processes
from ._writing import ShardSpec, write_shards

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

    from bytepair import Tokenizer
    from bytepair.data._shards import ShardFormat
    from bytepair.data._sources import Corpus

    from ._engine import Engine, Tell


@dataclass(frozen=True)
class TokenizeProgress:
    """What is done so far: tasks, bytes of their files, documents and tokens.

    All but ``done_tasks`` includes the finished part of running tasks. ``done_bytes`` and
    ``total_bytes`` are bytes of files as they are stored; an earlier run did ``resumed_bytes``
    of them.
    """

    done_tasks: int
    total_tasks: int
    done_bytes: int
    total_bytes: int
    resumed_bytes: int
    documents: int
    tokens: int
    seconds: float

    @property
    def seconds_left(self) -> float | None:
        """The remaining time at the speed so far, or ``None`` at the start."""
        n_new = self.done_bytes - self.resumed_bytes
        if n_new <= 0:
            return None
        return self.seconds * (self.total_bytes - self.done_bytes) / n_new


@dataclass(frozen=True)
class _Work:
    """Does one task; it is pickled for other processes."""

    spec: ShardSpec
    options: ReadOptions
    dataset: Dataset
    old: OldShards | None = None

    def __call__(
        self, numbered: tuple[int, Task], tell: Tell | None = None
    ) -> dict[str, Any]:
        number, task = numbered
        reading = (
            _Reading(task, self.options, Tally())
            if self.old is None
            else OldReading(number, task, self.old)
        )

        def watch(n_tokens: int) -> None:
            if tell is not None:
                tell((reading.done_bytes(), reading.tally.documents, n_tokens))

        def described(written: dict[str, Any]) -> dict[str, Any]:
            tally = asdict(reading.tally)
            return {"parts": parts_of(task), "tally": tally, **written}

        def note(written: dict[str, Any]) -> None:
            self.dataset.note(number, described(written))

        name, folder = f"shard-{number:05}", self.dataset.folder
        try:
            return described(
                write_shards(reading, self.spec, folder, name, watch, note)
            )
        except TokenizerError as error:
            message = reading.named(error)
            if message == str(error):
                raise
            raise type(error)(message) from error


def parts_of(task: Task) -> list[dict[str, Any]]:
    """Return what a task reads, as in notes and manifests."""
    return [
        {"path": part.source.path, "start": part.start, "stop": part.stop}
        for part in task
    ]


class _Reading:
    """The batches of a task, and the source that is being read."""

    def __init__(self, task: Task, options: ReadOptions, tally: Tally) -> None:
        self.task, self.options, self.tally = task, options, tally
        self.part: Part | None = None
        self.bytes_before = 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for part in self.task:
            self.part = part
            yield from read_part(part, self.options, self.tally)
            self.bytes_before += part.size

    def done_bytes(self) -> int:
        """Return how much of the task is read, in bytes as they are stored."""
        place = 0 if self.part is None else self.tally.place(self.part)
        return self.bytes_before + place

    def named(self, error: TokenizerError) -> str:
        """Return the message of an error, with the source that is being read."""
        path = "" if self.part is None else self.part.source.path
        return str(error) if path in str(error) else f"while tokenizing {path}: {error}"


def tokenize(
    tokenizer: Tokenizer | StrPath,
    corpus: Corpus,
    output: StrPath,
    *,
    format: ShardFormat = "npy",
    begin_of_document: str | None = None,
    end_of_document: str | None = None,
    added_tokens: Literal["find", "text"] = "find",
    shard_tokens: int | None = None,
    input_format: str | None = None,
    field: str | None = None,
    lines: bool = False,
    separator: str | None = None,
    skip_bad: bool = False,
    processes: int = 1,
    threads: int | None = None,
    task_bytes: int = TASK_BYTES,
    progress: Callable[[TokenizeProgress], object] | None = None,
    engine: Engine | None = None,
    old_tokenizer: Tokenizer | StrPath | None = None,
) -> dict[str, Any]:
    r"""Tokenize a corpus to shards in a folder, and return the manifest.

    The same call continues an interrupted run, and does nothing after a finished one. The shards
    do not depend on ``processes`` and ``threads``. The text of a special token in a document stays
    text, and such documents are counted; so are those with the text of other added tokens, which
    are found unless ``added_tokens="text"``.

    Parameters
    ----------
    tokenizer
        A tokenizer, or its path.
    corpus
        Files, folders, globs, and addresses that fsspec opens.
    output
        A new or empty folder, or that of an earlier run with the same settings.
    format
        ``"npy"``, ``"bin"``, ``"megatron"``, ``"datatrove"`` or ``"parquet"``; see
        :mod:`bytepair.data._shards`.
    begin_of_document, end_of_document
        Tokens before and after each document that has tokens, such as ``"<s>"`` and
        ``"</s>"``; either or both.
    added_tokens
        ``"text"`` for documents that are not trusted: no added token is found in them, special or
        not, and the only ones in the shards are those around documents.
    shard_tokens
        A shard ends before the document that would make it longer; by default each task
        writes one shard.
    input_format, field, lines, separator, skip_bad
        The definition of a document; see :class:`bytepair.data.ReadOptions`. Names and first bytes say
        what files are, and must agree; ``input_format`` (``"text"``, ``"jsonl"``,
        ``"parquet"``, ``"csv"``, ``"tsv"``) says it instead of the names, and ``"text"`` takes
        the bytes of files as they are.
    processes, threads
        The number of processes on this machine, and of threads in each; by default one process
        with a thread for each processor, or several processes with one thread each.
    task_bytes
        The bytes of files in one task, the unit that is repeated after an interruption.
    progress
        A function that is called with :class:`TokenizeProgress` when a task is done and, without
        an engine, about twice a second.
    engine
        The engine that does the work instead of processes on this machine, such as
        :class:`bytepair.scale.spark.SparkEngine`; all its machines must
        share the files and the folder.
    old_tokenizer
        Read finished shards instead of a corpus: ``corpus`` is then the folder of a dataset, and
        this is the tokenizer that wrote it. Its documents are written in the ids of ``tokenizer``.
        If the old tokenizer loses nothing, the result is that of the old corpus. What it loses
        is in ``from_ids`` in the plan of the manifest. Shards in Parquet are not read.

    Raises
    ------
    TokenizerError
        The folder holds a dataset with other settings, reading or encoding failed, or the text of
        a document of the old shards is not certain.
    FileError
        A file cannot be read or written, for instance because the disk is full.

    Examples
    --------
    >>> import bytepair, pathlib, tempfile
    >>> from bytepair.data import TokenDataset
    >>> from bytepair.scale import tokenize
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "docs.jsonl").write_text('{"text": "low"}\n{"text": "lower"}\n')
    >>> tokenizer = bytepair.train_from_iterator(["low low"], vocab_size=258)
    >>> manifest = tokenize(tokenizer, folder / "docs.jsonl", folder / "tokens")
    >>> manifest["totals"]["documents"], manifest["totals"]["tokens"]
    (2, 4)
    >>> TokenDataset(folder / "tokens")[1].tolist()
    [257, 68, 81]
    >>> other = bytepair.train_from_iterator(["lower lower"], vocab_size=260)
    >>> _ = tokenize(other, folder / "tokens", folder / "new", old_tokenizer=tokenizer)
    >>> TokenDataset(folder / "new")[1].tolist()
    [259]
    """
    refuse_no_name(output)
    options = ReadOptions(field, lines, separator, skip_bad)
    check_whole(
        shard_tokens=shard_tokens,
        processes=processes,
        threads=threads,
        task_bytes=task_bytes,
    )
    refuse_processes(engine, processes)
    spec = ShardSpec(
        loaded(tokenizer),
        format,
        begin_of_document,
        end_of_document,
        shard_tokens,
        1 if threads is None and (processes > 1 or engine) else threads,
        added_tokens,
    )
    corpus = listed(corpus)
    refuse_overwriting(paths_of(corpus), [output])
    # A task without bad lines is done whether or not they are skipped.
    reading = {"field": options.text_field, "lines": lines, "separator": separator}
    old = None
    if old_tokenizer is None:
        sources = list_sources(corpus, input_format)
        refuse_idle(sources, options)
        origin = {
            "task_bytes": task_bytes,
            "reading": reading,
            "sources": [asdict(source) for source in sources],
        }
    else:
        if input_format is not None or task_bytes != TASK_BYTES:
            names = f"{argument('input_format')} and {argument('task_bytes')}"
            message = f"{names} have no effect on shards; leave them out"
            raise TokenizerError(message)
        refuse_idle([], options)
        options = ReadOptions(skip_bad=True)  # what was skipped is not read again
        old = OldShards(paths_of(corpus), loaded(old_tokenizer), spec.threads)
        origin = old.origin
    dataset = Dataset(
        Path(output), {**spec.plan, **origin}, behaviour_of(spec.tokenizer)
    )
    finished = dataset.finished()
    if finished is not None:
        return finished
    tasks = old.tasks if old else plan(sources, options, task_bytes)
    with dataset.writing():
        run = engine.run if engine else partial(_local.run, processes=processes)
        work = _Work(spec, options, dataset, old)
        done = _do(work, tasks, run, progress, is_watched=engine is None)
        return commit(dataset, done)


def _do(
    work: _Work,
    tasks: list[Task],
    run: Callable[..., Iterator[tuple[tuple[int, Task], dict[str, Any]]]],
    progress: Callable[[TokenizeProgress], object] | None,
    *,
    is_watched: bool,
) -> list[dict[str, Any]]:
    """Do the remaining tasks; return what each task wrote."""
    start = time.perf_counter()
    sizes = [sum(part.size for part in task) for task in tasks]
    done: dict[int, dict[str, Any]] = {}
    for number, task in enumerate(tasks):
        noted = work.dataset.noted(number, parts_of(task))
        if noted and (work.options.skip_bad or not noted["tally"]["bad"]):
            done[number] = noted
    resumed_bytes = sum(sizes[number] for number in done)

    def tell(begun: Sequence[int] = (0, 0, 0)) -> None:
        if progress is not None:
            shards = [shard for task in done.values() for shard in task["shards"]]
            n_bytes, n_documents, n_tokens = begun
            progress(
                TokenizeProgress(
                    done_tasks=len(done),
                    total_tasks=len(tasks),
                    done_bytes=sum(sizes[number] for number in done) + n_bytes,
                    total_bytes=sum(sizes),
                    resumed_bytes=resumed_bytes,
                    documents=sum(shard["documents"] for shard in shards) + n_documents,
                    tokens=sum(shard["tokens"] for shard in shards) + n_tokens,
                    seconds=time.perf_counter() - start,
                )
            )

    left = [(number, task) for number, task in enumerate(tasks) if number not in done]
    if is_watched and progress is not None:
        run = partial(run, watch=tell)
    for (number, _task), result in run(work, left):
        done[number] = result
        if not is_watched:
            tell()
    return [done[number] for number in range(len(tasks))]
