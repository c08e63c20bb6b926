"""Texts that show how tokenizers cut: one sentence in several languages, or parts of a corpus.

Only the beginning of a corpus is read: the first text of each file or group that is not blank.
The length of shown texts is limited, so that a page with many tokenizers stays small.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bytepair.analyze._show.cuts import Cut, cut
from bytepair.analyze._stats.measure import file_names
from bytepair.data._readers import (
    Part,
    ReadOptions,
    Tally,
    is_whole_text,
    open_text,
    read_rows,
)
from bytepair.errors import TokenizerError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from bytepair import Tokenizer
    from bytepair.analyze._stats.meter import GroupSums
    from bytepair.data._recognise import Source

__all__ = ["SENTENCES", "Sample", "samples", "texts_of"]

MAX_SAMPLES = 12
MAX_CHARACTERS = 280
"""The largest number of characters of a text that are shown."""
MIN_CHARACTERS = 60
ALL_CHARACTERS = 4000
"""About how many characters are shown in all, for all texts and tokenizers."""
MAX_READ = 1 << 14
"""The number of bytes that are read of a document, if it is a whole file."""
MAX_DOCUMENTS = 50_000
"""The number of documents that are searched for the texts of groups."""


SENTENCES = {
    "English": b"All human beings are born free and equal in dignity and rights.",
    "Spanish": b"Todos los seres humanos nacen libres e iguales en dignidad y derechos.",
    "Russian": "Все люди рождаются свободными и равными в своём достоинстве и правах.".encode(),
    "Arabic": "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق.".encode(),
    "Persian": "تمام افراد بشر آزاد به دنیا می‌آیند و از لحاظ حیثیت و حقوق با هم برابرند.".encode(),
    "Hindi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।".encode(),
    "Thai": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ".encode(),
    "Chinese": "人人生而自由，在尊严和权利上一律平等。".encode(),
    "Japanese": "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。".encode(),
    "Korean": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.".encode(),
    "Numbers, emoji and code": "1234567.89 + 2⁸ ≈ 👩🏽‍🚀🇳🇵\n\tif x[i] != None:  # 2026-11-26\n\t\treturn x[i]".encode(),
}  # fmt: skip
"""The first sentence of the Universal Declaration of Human Rights, and some other text."""


@dataclass(frozen=True)
class Sample:
    """A text, and how each tokenizer cuts it.

    Attributes
    ----------
    title
        Its language, group or file.
    text
        The text.
    cuts
        The cuts of each tokenizer, or the error message if it cannot encode the text.
    """

    title: str
    text: bytes
    cuts: tuple[Cut | str, ...]


def samples(
    tokenizers: Sequence[Tokenizer], texts: Mapping[str, bytes] = SENTENCES
) -> tuple[Sample, ...]:
    """Cut the beginning of each text, by its title, with each tokenizer.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> [sample] = samples([tokenizer], {"English": b"low lower"})
    >>> [cut.n_tokens for cut in sample.cuts]
    [5]
    """
    n_each = ALL_CHARACTERS // max(len(texts) * len(tokenizers), 1)
    most = max(MIN_CHARACTERS, min(MAX_CHARACTERS, n_each))
    shown = []
    for title, content in texts.items():
        text = beginning(content, most)
        cuts = tuple(_cut_or_error(tokenizer, text) for tokenizer in tokenizers)
        shown.append(Sample(title, text, cuts))
    return tuple(shown)


def beginning(text: bytes, n_characters: int) -> bytes:
    r"""Return the beginning of a text, up to a space if there is one near the end.

    >>> (
    ...     beginning(b" \n\nthe cat sat on the mat", 12),
    ...     beginning("中文字".encode(), 2).decode(),
    ... )
    (b'the cat sat', '中文')
    """
    shown = text.lstrip().decode(errors="surrogateescape")
    if len(shown) > n_characters:
        head = shown[: n_characters + 1]
        words = head.rsplit(maxsplit=1)
        ends_well = len(words) == 2 and len(words[0]) > 0.7 * n_characters
        shown = words[0] if ends_well else head[:n_characters]
    return shown.rstrip().encode(errors="surrogateescape")


def _cut_or_error(tokenizer: Tokenizer, text: bytes) -> Cut | str:
    try:
        return cut(tokenizer, text)
    except TokenizerError as error:
        return str(error)


# Samples of a corpus


def texts_of(
    sources: Sequence[Source], options: ReadOptions, groups: Mapping[str, GroupSums]
) -> dict[str, bytes]:
    """Return the first text that is not blank of each file or, with groups, of each large group.

    A group that first occurs late in the corpus has no text.
    """
    if options.group is None:
        names = file_names([source.path for source in sources])
        named = zip(names, sources[:MAX_SAMPLES], strict=False)
        found = {name: _first_of(source, options) for name, source in named}
        return {name: text for name, text in found.items() if text.strip()}
    wanted = sorted(groups, key=lambda name: -groups[name].bytes)[:MAX_SAMPLES]
    first: dict[str, bytes] = {}
    documents = (
        document for source in sources for document in _documents(Part(source), options)
    )
    for name, text in itertools.islice(documents, MAX_DOCUMENTS):
        if name in wanted and text.strip():
            first.setdefault(name, text)
        if len(first) == len(wanted):
            break
    return {name: first[name] for name in wanted if name in first}


def _first_of(source: Source, options: ReadOptions) -> bytes:
    part = Part(source)
    if is_whole_text(source, options):
        with open_text(part, Tally()) as read:
            return read(MAX_READ)
    texts = (text for _name, text in _documents(part, options))
    return next((text for text in texts if text.strip()), b"")


def _documents(part: Part, options: ReadOptions) -> Iterator[tuple[str, bytes]]:
    """Yield the group and the beginning of each document."""
    for rows in read_rows(part, options, Tally()):
        for number in range(len(rows.offsets) - 1):
            name = b"" if rows.groups is None else _row(*rows.groups, number)
            text = _row(rows.data, rows.offsets, number)
            yield name.decode(errors="replace"), text


def _row(data: NDArray[np.uint8], offsets: NDArray[np.int64], number: int) -> bytes:
    """Return the beginning of a row."""
    start, end = int(offsets[number]), int(offsets[number + 1])
    return data[start : min(end, start + MAX_READ)].tobytes()
