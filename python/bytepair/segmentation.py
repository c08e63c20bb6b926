"""Text with its words cut apart, as subword-nmt and fastBPE write it: ``lo@@ w``.

A :class:`Segmenter` gives, for codes of either program, what that program gives:
``apply_bpe`` with its vocabulary, threshold, glossaries, separator and number of merges.
Dropout is left out. For ids use :meth:`Segmenter.encode`, which goes by the vocabulary, or
:meth:`Tokenizer.from_file` with the codes.
"""

import re
from collections.abc import Iterable, Sequence

from . import _core
from .errors import UnknownTokenError
from .files import StrPath, read

__all__ = ["Segmenter"]


class Segmenter:
    """Cuts words into the parts that merge operations make.

    Parameters
    ----------
    codes
        A file of subword-nmt (version 0.1 or 0.2) or of fastBPE.
    vocabulary
        A file with a token and its count on each line. Parts that it lacks are taken apart
        again. Without it, all parts are allowed.
    threshold
        The least count of a token of the vocabulary.
    glossaries
        Regular expressions, of Python's ``re``, for text that is never cut: a word that
        matches stays whole, and a match inside a word becomes a part.
    separator
        What stands behind every part of a word but the last.
    merges
        How many of the codes are used; all by default.

    Raises
    ------
    FileError, FormatError
        A file cannot be read, or is damaged; the message names the line.
    """

    def __init__(
        self,
        codes: StrPath,
        *,
        vocabulary: StrPath | None = None,
        threshold: int | None = None,
        glossaries: Iterable[str] = (),
        separator: str = "@@",
        merges: int | None = None,
    ) -> None:
        allowed = []
        if vocabulary is not None:
            allowed = _core.read_subword_vocabulary(read(vocabulary), threshold)
        self._ids = {token: number for number, token in enumerate(allowed)}
        self._core = _core.CoreSegmenter(read(codes), merges, separator, allowed)
        self._separator = separator
        self._glossaries = list(glossaries)
        joined = "|".join(self._glossaries)
        self._whole = re.compile(f"^({joined})$") if joined else None

    def segment(self, text: str) -> str:
        """Cut the words of a text apart.

        Words stand between spaces. Each line keeps the spaces around it; runs of spaces
        inside it become one.
        """
        if not self._glossaries:
            return self._core.segment(text)
        return "\n".join(map(self._segment_line, text.split("\n")))

    def segment_words(self, words: Iterable[str]) -> list[str]:
        """Give the parts of words, a separator behind all but the last of each."""
        parts = []
        for word in filter(None, words):
            *first, last = self._parts(word)
            parts += [part + self._separator for part in first]
            parts.append(last)
        return parts

    def encode(self, text: str) -> list[int]:
        """Give the numbers of the parts in the vocabulary, counted from 0.

        Raises
        ------
        UnknownTokenError
            A part is not in the vocabulary, or none was given.
        """
        parts = self.segment_words(
            text.replace("\r", " ").replace("\n", " ").split(" ")
        )
        try:
            return [self._ids[part] for part in parts]
        except KeyError as error:
            message = f"{error.args[0]!r} is not in the vocabulary"
            raise UnknownTokenError(message) from None

    def decode(self, ids: Sequence[int]) -> str:
        """Join the parts with these numbers to text."""
        tokens = list(self._ids)
        text = " ".join(tokens[number] for number in ids)
        return text.replace(f"{self._separator} ", "").removesuffix(self._separator)

    def _segment_line(self, line: str) -> str:
        content = line.strip("\r\n ")
        if not content:
            return line
        start = line.index(content)
        cut = " ".join(self.segment_words(content.split(" ")))
        return line[:start] + cut + line[start + len(content) :]

    def _parts(self, word: str) -> list[str]:
        segments = [word]
        for glossary in self._glossaries:
            segments = [
                part for segment in segments for part in _isolate(segment, glossary)
            ]
        parts: list[str] = []
        for segment in segments:
            is_whole = self._whole is not None and self._whole.match(segment)
            parts += [segment] if is_whole else self._core.parts_of_word(segment)
        return parts


def _isolate(word: str, glossary: str) -> list[str]:
    """Cut a word around what a glossary matches.

    >>> _isolate("1934USABUSA", "USA")
    ['1934', 'USA', 'B', 'USA']
    """
    if re.match(f"^{glossary}$", word) or not re.search(glossary, word):
        return [word]
    *segments, ending = re.split(f"({glossary})", word)
    segments = [segment for segment in segments if segment]
    return [*segments, ending.strip("\r\n ")] if ending else segments
