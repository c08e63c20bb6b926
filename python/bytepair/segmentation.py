"""Text with its words split into parts, as subword-nmt and fastBPE write it: ``lo@@ w``.

A :class:`Segmenter` reads the codes of either program and has the same results as
``apply-bpe``, with its vocabulary, threshold, glossaries, separator, number of merges and
dropout. :func:`count_words` and :func:`write_vocabulary` do the same as ``get-vocab``, and
:func:`join_words` undoes a segmentation. Only the seeds of dropout differ: they choose
other segmentations than Python's generator does, with the same probabilities.

For ids use :meth:`Segmenter.encode`, which numbers the tokens of the vocabulary, or
:meth:`Tokenizer.from_file` with the codes.
"""

import os
import re
import secrets
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from bytepair._expected import expect
from bytepair._names import refuse_set
from bytepair._ranges import check_range, check_whole

from . import _core
from ._io import recognising
from ._io.files import StrPath, read, write
from ._labels import argument
from ._tokenizer import Tokenizer
from .errors import FormatError, PatternError, TokenizerError, UnknownTokenError

__all__ = ["Segmenter", "count_words", "join_words", "write_vocabulary"]

_WORD = re.compile("[^\n\x0b\f\r\x1c-\x1e \x85\u2028\u2029]*[^\n\r ]")
"""Text between spaces and the line ends of ``str.splitlines``."""

_FORMATS_OF_TOKENIZERS = ("bytepair", "compiled", "huggingface")


class _Chance(NamedTuple):
    """Dropout, as the core takes it."""

    dropout: float
    seed: int


class Segmenter:
    r"""Splits words into the parts that merges make.

    Parameters
    ----------
    codes
        A file of subword-nmt (version 0.1 or 0.2) or of fastBPE; or a tokenizer, or the
        file of one, that can be written as such codes.
    vocabulary
        A file with a token and its count on each line. Parts that it lacks are split
        again. Without it, all parts are allowed.
    threshold
        The smallest count with which a token of the vocabulary is allowed.
    glossaries
        Regular expressions, of Python's ``re``, for text that is never split: a word that
        matches stays whole, and a match inside a word becomes a part.
    separator
        The text after each part of a word except the last.
    merges
        The number of merges to use; all by default.

    Raises
    ------
    FileError, FormatError
        A file cannot be read, or is damaged; the message names the line.
    PatternError
        A glossary is not a regular expression.
    TokenizerError
        ``threshold`` is set without a ``vocabulary``.

    Examples
    --------
    >>> import bytepair
    >>> words = ["low low low lower newest newest"]
    >>> tokenizer = bytepair.train_from_iterator(words, dialect="subword-nmt", merges=3)
    >>> Segmenter(tokenizer).segment("lower  low\n")
    'lo@@ we@@ r low\n'
    """

    def __init__(
        self,
        codes: StrPath | Tokenizer,
        *,
        vocabulary: StrPath | None = None,
        threshold: int | None = None,
        glossaries: Iterable[str] = (),
        separator: str = "@@",
        merges: int | None = None,
    ) -> None:
        check_range(threshold=threshold, merges=merges)
        if threshold is not None and vocabulary is None:
            message = f"{argument('threshold')} needs {argument('vocabulary')}"
            raise TokenizerError(message)
        allowed = []
        if vocabulary is not None:
            from .data._lists import read_list

            data = read_list(vocabulary).removeprefix(b"\xef\xbb\xbf")
            allowed = _core.read_subword_vocabulary(data, threshold)
        self._ids = {token: number for number, token in enumerate(allowed)}
        self._core = _core.CoreSegmenter(_codes_of(codes), merges, separator, allowed)
        self._separator = separator
        refuse_set("glossaries", glossaries, "the result")
        self._glossaries = list(glossaries)
        self._whole = _any_of(self._glossaries)

    def segment(
        self, text: str, *, dropout: float | None = None, seed: int | None = None
    ) -> str:
        r"""Return a text with its words split into parts.

        Words are separated by spaces, and lines end with ``\n``. Each line keeps its
        leading and trailing spaces; a run of spaces inside it becomes one space.

        ``dropout`` is the probability with which each pair is left out in each step of
        merging. With a ``seed`` the result is always the same; without, it is random.

        >>> import bytepair
        >>> words = ["low low low lower newest newest"]
        >>> tokenizer = bytepair.train_from_iterator(
        ...     words, dialect="subword-nmt", merges=3
        ... )
        >>> Segmenter(tokenizer).segment("low", dropout=1.0)
        'l@@ o@@ w'

        Raises
        ------
        TokenizerError
            ``dropout`` is not from 0 to 1, or there is a ``seed`` without it.
        """
        chance = _chance(dropout, seed)
        if not self._glossaries:
            return self._core.segment(text, **chance._asdict())
        return self._segment_lines(re.findall("[^\n]*\n|[^\n]+", text), chance, 0)

    def segment_lines(
        self,
        texts: Iterable[str],
        *,
        dropout: float | None = None,
        seed: int | None = None,
        threads: int | None = None,
    ) -> Iterator[str]:
        r"""Yield texts with their words split, as ``subword-nmt apply-bpe`` does for a file.

        Each text is one or more whole lines, which end where ``str.splitlines`` ends
        them. Results are in the order of the texts. ``threads`` (by default one for each
        processor) work best on texts of about a megabyte; a few texts are in memory at a
        time. The result of a ``seed`` depends neither on threads nor on the size of texts.

        >>> import bytepair
        >>> words = ["low low low lower newest newest"]
        >>> tokenizer = bytepair.train_from_iterator(
        ...     words, dialect="subword-nmt", merges=3
        ... )
        >>> list(Segmenter(tokenizer).segment_lines(["lower\n", "low\rlower\n"]))
        ['lo@@ we@@ r\n', 'low\rlo@@ we@@ r\n']

        Raises
        ------
        TokenizerError
            ``dropout`` is not from 0 to 1, or there is a ``seed`` without it.
        """
        refuse_set("texts", texts, "the result")
        chance = _chance(dropout, seed)
        check_range(threads=threads)
        n_threads = threads or os.cpu_count() or 1
        numbered = _numbered(texts)
        with ThreadPoolExecutor(n_threads) as pool:
            waiting: deque[Future[str]] = deque()
            submit = (
                pool.submit(self._segment_block, text, chance, first_line)
                for first_line, text in numbered
            )
            waiting.extend(islice(submit, 2 * n_threads))
            while waiting:
                yield waiting.popleft().result()
                waiting.extend(islice(submit, 1))

    def segment_words(self, words: Iterable[str]) -> list[str]:
        """Return the parts of words, with the separator after each part but the last of a word.

        >>> import bytepair
        >>> words = ["low low low lower newest newest"]
        >>> tokenizer = bytepair.train_from_iterator(
        ...     words, dialect="subword-nmt", merges=3
        ... )
        >>> Segmenter(tokenizer, separator="+").segment_words(["lower", "low"])
        ['lo+', 'we+', 'r', 'low']
        """
        refuse_set("words", words, "the result")
        return self._separated(words, _Chance(0.0, 0), 0)

    def encode(self, text: str) -> list[int]:
        r"""Return the numbers of the parts in the vocabulary, counted from 0.

        >>> import bytepair, pathlib, tempfile
        >>> tokenizer = bytepair.train_from_iterator(
        ...     ["low low"], dialect="subword-nmt", merges=1
        ... )
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "vocabulary"
        >>> _ = path.write_text("l@@ 2\now 2\n")
        >>> segmenter = Segmenter(tokenizer, vocabulary=path)
        >>> segmenter.encode("low"), segmenter.decode([0, 1])
        ([0, 1], 'low')

        Raises
        ------
        UnknownTokenError
            A part is not in the vocabulary, or there is no vocabulary.
        """
        parts = self.segment_words(_WORD.findall(text))
        try:
            return [self._ids[part] for part in parts]
        except KeyError as error:
            message = f"{error.args[0]!r} is not in the vocabulary"
            raise UnknownTokenError(message) from None

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of the parts with these numbers; the inverse of :meth:`encode`."""
        tokens = list(self._ids)
        return join_words(
            " ".join(tokens[number] for number in ids), separator=self._separator
        )

    def __repr__(self) -> str:
        limits = f", a vocabulary of {len(self._ids):,} tokens" if self._ids else ""
        return (
            f"<bytepair.segmentation.Segmenter: separator {self._separator!r}{limits}>"
        )

    def _segment_block(self, text: str, chance: _Chance, first_line: int) -> str:
        if self._glossaries:
            return self._segment_lines(
                text.splitlines(keepends=True), chance, first_line
            )
        return self._core.segment(
            text, **chance._asdict(), first_line=first_line, splits_lines=True
        )

    def _segment_lines(self, lines: list[str], chance: _Chance, first_line: int) -> str:
        numbered = enumerate(lines, first_line)
        return "".join(self._segment_line(line, chance, n) for n, line in numbered)

    def _segment_line(self, line: str, chance: _Chance, number: int) -> str:
        content = line.strip("\r\n ")
        if not content:
            return line
        start = line.index(content)
        cut = " ".join(self._separated(content.split(" "), chance, number))
        return line[:start] + cut + line[start + len(content) :]

    def _separated(self, words: Iterable[str], chance: _Chance, line: int) -> list[str]:
        parts = []
        n_segments = 0
        for word in filter(None, words):
            segments = self._isolated(word)
            word_parts = [
                part
                for place, segment in enumerate(segments, n_segments)
                for part in self._parts(segment, chance, line, place)
            ]
            n_segments += len(segments)
            parts += [part + self._separator for part in word_parts[:-1]]
            parts.append(word_parts[-1])
        return parts

    def _isolated(self, word: str) -> list[str]:
        segments = [word]
        for glossary in self._glossaries:
            segments = [
                part for segment in segments for part in _isolate(segment, glossary)
            ]
        return segments

    def _parts(self, segment: str, chance: _Chance, line: int, place: int) -> list[str]:
        if self._whole is not None and self._whole.match(segment):
            return [segment]
        return self._core.parts_of_word(
            segment, **chance._asdict(), line=line, place=place
        )


def join_words(text: str, *, separator: str = "@@") -> str:
    r"""Return a segmented text with its words joined again.

    >>> join_words("low@@ er new@@ est\nlo@@\n")
    'lower newest\nlo\n'
    """
    return re.sub(f"{re.escape(separator)}( |(?=\r?\n|$))", "", text)


def count_words(texts: Iterable[str]) -> Counter[str]:
    r"""Count the words or parts between spaces and line ends, as ``get-vocab`` does.

    >>> count_words(["low low\n", "lo@@ w\n"])
    Counter({'low': 2, 'lo@@': 1, 'w': 1})
    """
    refuse_set("texts", texts, "the result")
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(_WORD.findall(text))
    return counts


def write_vocabulary(counts: Counter[str], path: StrPath) -> None:
    """Write a token and its count on each line, as ``get-vocab`` does.

    The most frequent tokens are first; equally frequent ones are in the order of counting.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "vocabulary"
    >>> write_vocabulary(count_words(["lo@@ w low low"]), path)
    >>> print(path.read_text(), end="")
    low 2
    lo@@ 1
    w 1

    Raises
    ------
    FileError
        The file cannot be written.
    """
    expect("counts", counts, Counter, "the result of count_words()")
    write(path, vocabulary_bytes(counts))


def vocabulary_bytes(counts: Counter[str]) -> bytes:
    """Return the content of the file that :func:`write_vocabulary` writes."""
    lines = [f"{token} {count}\n" for token, count in counts.most_common()]
    return "".join(lines).encode()


def _codes_of(source: StrPath | Tokenizer) -> bytes:
    """Return the content of a file of codes; a tokenizer is written as codes."""
    if isinstance(source, Tokenizer):
        return source.to_bytes(format="subword-nmt")
    if Path(source).is_dir():
        return _codes_of(Tokenizer.from_file(source))
    data = read(source)
    try:
        is_tokenizer = recognising.sniff(data) in _FORMATS_OF_TOKENIZERS
    except FormatError:  # the reader of codes says what is wrong
        is_tokenizer = False
    return _codes_of(Tokenizer.from_file(source)) if is_tokenizer else data


def _any_of(glossaries: list[str]) -> re.Pattern[str] | None:
    """Return a pattern for words that a glossary matches as a whole."""
    for glossary in glossaries:
        _refuse_no_pattern(glossary)
    return re.compile(f"^({'|'.join(glossaries)})$") if glossaries else None


def _refuse_no_pattern(glossary: str) -> None:
    try:
        re.compile(f"^({glossary})$")
    except re.error as error:
        message = f"the glossary {glossary!r} is not a regular expression: {error.msg}"
        raise PatternError(message) from error


def _chance(dropout: float | None, seed: int | None) -> _Chance:
    if dropout is None and seed is not None:
        message = f"{argument('seed', '')} needs {argument('dropout', '')} above 0"
        raise TokenizerError(message)
    check_whole(seed=seed)
    dropout = 0.0 if dropout is None else dropout
    if isinstance(dropout, bool):
        message = f"dropout must be a number, not {dropout}"
        raise TypeError(message)
    if not 0 <= dropout <= 1:
        message = f"{argument('dropout')} is a probability from 0 to 1, not {dropout}"
        raise TokenizerError(message)
    chosen = secrets.randbits(64) if seed is None else seed % 2**64
    return _Chance(dropout, chosen)


def _numbered(texts: Iterable[str]) -> Iterator[tuple[int, str]]:
    r"""Pair texts with the number of their first line.

    >>> list(_numbered(["one\n", "two\rthree\n", "four"]))
    [(0, 'one\n'), (1, 'two\rthree\n'), (3, 'four')]
    """
    n_lines = 0
    for text in texts:
        yield n_lines, text
        n_lines += len(text.splitlines())


def _isolate(word: str, glossary: str) -> list[str]:
    """Split a word around the matches of a glossary.

    >>> _isolate("1934USABUSA", "USA")
    ['1934', 'USA', 'B', 'USA']
    """
    if re.match(f"^{glossary}$", word) or not re.search(glossary, word):
        return [word]
    *segments, ending = re.split(f"({glossary})", word)
    segments = [segment for segment in segments if segment]
    return [*segments, ending.strip("\r\n ")] if ending else segments
