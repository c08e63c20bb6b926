"""Learning a tokenizer: from files, from texts, from counts.

All three gather pieces and their counts, and then learn merges from these alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from . import _core
from .errors import TrainingError
from .files import StrPath, expand
from .progress import Progress, reporter
from .tokenizer import Tokenizer

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["DialectOptions", "train", "train_from_counts", "train_from_iterator"]

OnProgress = bool | Callable[[Progress], object] | None


class DialectOptions(TypedDict, total=False):
    """Parts of a dialect that can be set by hand; see :func:`train`."""

    unit: Literal["byte", "character"]
    byte_ids: Literal["printable", "value"]
    pattern: str | Sequence[str] | None
    pattern_flavour: Literal["rust", "oniguruma"]
    unmatched: Literal["keep", "drop"]
    normalize: str | Sequence[str | tuple[str, ...]]
    lowercase: bool | Literal["always", "training", "never"]
    end_mark: str | None
    end_mark_kind: Literal["unit", "suffix"]
    continuing_prefix: str | None
    unknown_token: str | None
    fuse_unknown: bool
    byte_fallback: bool
    ties: Literal["smallest_ids", "first_seen", "largest_text"]
    min_count: int


def train(
    files: StrPath | Iterable[StrPath],
    *,
    vocab_size: int | None = None,
    merges: int | None = None,
    dialect: str = "gpt4o",
    special_tokens: Iterable[str] = (),
    separator: str | None = None,
    threads: int | None = None,
    progress: OnProgress = None,
    **options: Unpack[DialectOptions],
) -> Tokenizer:
    r"""Train a tokenizer on files.

    Files are read block by block: memory is bounded by the distinct pieces of text,
    not by the size of the corpus. The result does not depend on ``threads``.

    Parameters
    ----------
    files
        A path or glob, or several; ``-`` is standard input. One file is one text.
    vocab_size, merges
        Where to stop; one of them, or neither to go on until no pair occurs
        ``min_count`` times. ``vocab_size`` counts the alphabet, the unknown token and
        the special tokens too.
    dialect
        One of :func:`bytepair.dialects`: how text is normalized and split, what its
        units are, which pair is merged first.
    special_tokens
        They get the last ids. Where they stand in the corpus they end a text and are
        not counted.
    separator
        A text that stands between the texts of one file, such as ``<|endoftext|>``.
    threads
        How many to use; by default as many as there are processors.
    progress
        ``True`` shows a line on the terminal; a function is called with
        :class:`bytepair.Progress` a few times a second and at the end.
    **options
        Parts of the dialect set by hand, see :class:`DialectOptions`:

        ``pattern``
            A regular expression, the name of one (:func:`bytepair.patterns`), or a
            list of either: stages that split one after the other. ``""``: none.
        ``pattern_flavour``
            ``"rust"`` (tiktoken) or ``"oniguruma"`` (Hugging Face).
        ``unmatched``
            ``"keep"`` or ``"drop"`` what the pattern does not match.
        ``normalize``
            Steps: ``"nfc"``, ``"nfkc"``, ``"lowercase"``, ``("replace", old, new)``,
            ``("prepend", text)``, …
        ``lowercase``
            ``"always"``, ``"training"`` or ``"never"``.
        ``unit``, ``byte_ids``
            ``"byte"`` (ids ``"printable"`` or ``"value"``) or ``"character"``.
        ``end_mark``, ``end_mark_kind``, ``continuing_prefix``
            Marks of characters dialects.
        ``unknown_token``, ``fuse_unknown``, ``byte_fallback``
            What becomes of characters outside the alphabet.
        ``ties``, ``min_count``
            Which pair goes first among equals, and how often it must occur.

    Raises
    ------
    TokenizerError
        A :class:`~bytepair.FileError` for a file that cannot be read, an
        :class:`~bytepair.EncodingError` for text that is not UTF-8 in a dialect of
        characters, a :class:`~bytepair.PatternError`, or a
        :class:`~bytepair.TrainingError` where there is nothing to learn from.

    Examples
    --------
    >>> import bytepair, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "corpus.txt").write_text("low lower lowest " * 100)
    >>> tokenizer = bytepair.train(folder / "*.txt", vocab_size=260)
    >>> tokenizer.tokenize("low lower")
    ['low', ' lowe', 'r']
    """
    _check_target(vocab_size, merges)
    paths = expand(files)
    learner = _Learner(dialect, options, special_tokens, separator, threads, progress)
    n_bytes_total = _total_size(paths)
    n_bytes_before = 0
    for path in paths:
        learner.count_file(path, n_bytes_before, n_bytes_total)
        n_bytes_before += _total_size([path]) or 0
    return learner.learn(vocab_size, merges)


def train_from_iterator(
    texts: Iterable[str | bytes],
    *,
    vocab_size: int | None = None,
    merges: int | None = None,
    dialect: str = "gpt4o",
    special_tokens: Iterable[str] = (),
    separator: str | None = None,
    threads: int | None = None,
    progress: OnProgress = None,
    **options: Unpack[DialectOptions],
) -> Tokenizer:
    """Train a tokenizer on texts, each ``str`` or ``bytes``; see :func:`train`.

    >>> import bytepair
    >>> texts = ["newer newer newer", "lower lower"]
    >>> tokenizer = bytepair.train_from_iterator(
    ...     texts, merges=3, dialect="jurafsky-martin"
    ... )
    >>> tokenizer.merges
    [('w', 'e'), ('we', 'r'), ('wer', '_')]
    """
    if isinstance(texts, (str, bytes)):
        message = "expected an iterable of texts, not one text; put it in a list"
        raise TypeError(message)
    _check_target(vocab_size, merges)
    learner = _Learner(dialect, options, special_tokens, separator, threads, progress)
    for batch in _batches(iter(texts)):
        learner.count_texts(batch)
    return learner.learn(vocab_size, merges)


def train_from_counts(
    counts: Mapping[str, int] | Mapping[bytes, int] | Mapping[str | bytes, int],
    *,
    vocab_size: int | None = None,
    merges: int | None = None,
    dialect: str = "gpt4o",
    special_tokens: Iterable[str] = (),
    progress: OnProgress = None,
    **options: Unpack[DialectOptions],
) -> Tokenizer:
    """Train a tokenizer on pieces that were counted already; see :func:`train`.

    ``counts`` gives for each piece how often it occurs. The pieces are taken as they
    are, neither normalized nor split; their order is that of their first occurrence.

    >>> import bytepair
    >>> counts = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    >>> tokenizer = bytepair.train_from_counts(
    ...     counts, merges=3, dialect="unknown-token"
    ... )
    >>> tokenizer.tokenize("thug")
    ['[UNK]', 'hug']
    """
    _check_target(vocab_size, merges)
    learner = _Learner(dialect, options, special_tokens, None, 1, progress)
    learner.add_counts(counts)
    return learner.learn(vocab_size, merges)


class _Learner:
    """The way from text to a tokenizer, with its progress."""

    def __init__(
        self,
        dialect: str,
        options: DialectOptions,
        special_tokens: Iterable[str],
        separator: str | None,
        threads: int | None,
        progress: OnProgress,
    ) -> None:
        if isinstance(special_tokens, str):
            message = "special_tokens must be a list of tokens, not one string"
            raise TypeError(message)
        _check_range(threads=threads)
        self.corpus = _core.Corpus(
            _core.Dialect(dialect, **options),
            list(dict.fromkeys(special_tokens)),
            separator=separator,
            threads=threads,
        )
        self.report = reporter(progress)
        self.start = self.phase_start = time.perf_counter()

    def count_file(self, path: str, n_before: int, n_total: int | None) -> None:
        def on_bytes(n_bytes: int) -> None:
            self._tell("count", n_before + n_bytes, n_total, 0, 0)

        self.corpus.add_file(path, on_bytes if self.report else None)

    def count_texts(self, texts: list[str | bytes]) -> None:
        self.corpus.add_texts(texts)

    def add_counts(self, counts: Mapping[Any, int]) -> None:
        if not isinstance(counts, Mapping):
            message = "counts must be a mapping of pieces to numbers"
            raise TypeError(message)
        self.corpus.add_counts(list(counts.items()))

    def learn(self, vocab_size: int | None, merges: int | None) -> Tokenizer:
        merging = False

        def on_merge(
            done: int, total: int | None, characters: int, tokens: int
        ) -> None:
            nonlocal merging
            if not merging:  # what came before was preparation
                merging, self.phase_start = True, time.perf_counter()
            self._tell("merge", done, total, characters, tokens)

        tokenizer, found = self.corpus.train(
            vocab_size=vocab_size,
            merges=merges,
            progress=on_merge if self.report else None,
        )
        n_merges, sizes = found["merges"], (found["characters"], found["tokens"])
        self._tell("done", n_merges, n_merges, *sizes, report=found)
        return Tokenizer(tokenizer)

    def _tell(
        self,
        phase: Literal["count", "merge", "done"],
        done: int,
        total: int | None,
        characters: int,
        tokens: int,
        report: dict[str, Any] | None = None,
    ) -> None:
        if self.report:
            start = self.start if phase == "done" else self.phase_start
            seconds = time.perf_counter() - start
            step = Progress(
                phase, done, total, characters, tokens, seconds, report or {}
            )
            self.report(step)


def _check_target(vocab_size: int | None, merges: int | None) -> None:
    """Refuse before a corpus is read what would be refused after it."""
    if vocab_size is not None and merges is not None:
        message = "give either vocab_size or merges, not both"
        raise TrainingError(message)
    _check_range(vocab_size=vocab_size, merges=merges)


def _check_range(**numbers: int | None) -> None:
    """Refuse what is no 32-bit number; whether it makes sense the core says."""
    for name, number in numbers.items():
        if number is not None and not 0 <= number < 1 << 32:
            message = f"{name} must be between 0 and {(1 << 32) - 1:,}, not {number:,}"
            raise TrainingError(message)


def _batches(texts: Iterator[str | bytes]) -> Iterator[list[str | bytes]]:
    """Group texts so that threads have enough to do and memory stays bounded."""
    max_texts, max_length = 4096, 4 << 20
    batch: list[str | bytes] = []
    length = 0
    for text in texts:
        batch.append(text)
        length += len(text) if isinstance(text, (str, bytes)) else 0
        if len(batch) == max_texts or length >= max_length:
            yield batch
            batch, length = [], 0
    if batch:
        yield batch


def _total_size(paths: list[str]) -> int | None:
    """Sum the sizes of files in bytes; ``None`` where one is no regular file."""
    if not all(Path(path).is_file() for path in paths):
        return None
    return sum(Path(path).stat().st_size for path in paths)
