"""Texts that show how tokenizers cut: one sentence in several languages, or parts of a corpus.

Only the beginning of a corpus is read: the first text of each file or group that is not blank.
The length of shown texts is limited, so that a page with many tokenizers stays small.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from bytepair.data._readers import (
    Part,
    ReadOptions,
    Tally,
    is_whole_text,
    open_text,
    read_rows,
)
from bytepair.errors import TokenizerError

from ._cuts import Cut, cut

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from bytepair import Tokenizer
    from bytepair.data._recognise import Source

__all__ = ["SENTENCES", "Sample", "Text", "samples", "texts_of"]

MAX_SAMPLES = 12
MAX_CHARACTERS = 280
"""How much of a text is shown, at most."""
MIN_CHARACTERS = 60
ALL_CHARACTERS = 4000
"""How many characters are shown of all texts by all tokenizers together, about."""
MAX_READ = 1 << 14
"""How much of a text that is one file is looked at, in bytes."""
MAX_DOCUMENTS = 50_000
"""In so many documents a group is looked for."""


class Text(NamedTuple):
    """A text with its title, such as its language."""

    title: str
    content: bytes


SENTENCES = tuple(
    Text(title, content.encode())
    for title, content in (
        ("English", "All human beings are born free and equal in dignity and rights."),
        ("Spanish", "Todos los seres humanos nacen libres e iguales en dignidad y derechos."),
        ("Russian", "Все люди рождаются свободными и равными в своём достоинстве и правах."),
        ("Arabic", "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق."),
        ("Persian", "تمام افراد بشر آزاد به دنیا می‌آیند و از لحاظ حیثیت و حقوق با هم برابرند."),
        ("Hindi", "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।"),
        ("Thai", "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ"),
        ("Chinese", "人人生而自由，在尊严和权利上一律平等。"),
        ("Japanese", "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。"),
        ("Korean", "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다."),
        ("Numbers, emoji and code", "1234567.89 + 2⁸ ≈ 👩🏽‍🚀🇳🇵\n\tif x[i] != None:  # 2026-11-26\n\t\treturn x[i]"),
    )
)  # fmt: skip
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
    tokenizers: Sequence[Tokenizer], texts: Sequence[Text] = SENTENCES
) -> tuple[Sample, ...]:
    """Cut the beginning of each text with each tokenizer.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> [sample] = samples([tokenizer], [Text("English", b"low lower")])
    >>> [cut.n_tokens for cut in sample.cuts]
    [5]
    """
    shown = texts[:MAX_SAMPLES]
    n_each = ALL_CHARACTERS // max(len(shown) * len(tokenizers), 1)
    most = max(MIN_CHARACTERS, min(MAX_CHARACTERS, n_each))
    found = []
    for title, content in shown:
        text = beginning(content, most)
        cuts = tuple(_cut_or_error(tokenizer, text) for tokenizer in tokenizers)
        found.append(Sample(title, text, cuts))
    return tuple(found)


def beginning(text: bytes, n_characters: int) -> bytes:
    r"""Give the beginning of a text, up to a space if there is one near the end.

    >>> (
    ...     beginning(b" \n\nthe cat sat on the mat", 12),
    ...     beginning("中文字".encode(), 2).decode(),
    ... )
    (b'the cat sat', '中文')
    """
    found = text.lstrip().decode(errors="surrogateescape")
    if len(found) > n_characters:
        kept = found[: n_characters + 1]
        words = kept.rsplit(maxsplit=1)
        ends_well = len(words) == 2 and len(words[0]) > 0.7 * n_characters
        found = words[0] if ends_well else kept[:n_characters]
    return found.rstrip().encode(errors="surrogateescape")


def _cut_or_error(tokenizer: Tokenizer, text: bytes) -> Cut | str:
    try:
        return cut(tokenizer, text)
    except TokenizerError as error:
        return str(error)


# Samples of a corpus


def texts_of(
    sources: Sequence[Source],
    options: ReadOptions,
    names: Mapping[str, str],
    groups: Sequence[str] = (),
) -> list[Text]:
    """Give the first text of each group (or of each file, without groups) that is not blank.

    ``names`` has titles of files by their paths. A group that begins late has no text.
    """
    if options.group is None:
        found = (
            (names[source.path], _first_of(source, options))
            for source in sources[:MAX_SAMPLES]
        )
        return [Text(title, text) for title, text in found if text.strip()]
    wanted = list(groups[:MAX_SAMPLES])
    first: dict[str, bytes] = {}
    for number, (name, text) in enumerate(_grouped(sources, options)):
        if name in wanted and name not in first and text.strip():
            first[name] = text
        if number >= MAX_DOCUMENTS or len(first) == len(wanted):
            break
    return [Text(name, first[name]) for name in wanted if name in first]


def _first_of(source: Source, options: ReadOptions) -> bytes:
    part = Part(source)
    if is_whole_text(source, options):
        with open_text(part, Tally()) as read:
            return read(MAX_READ)
    texts = (text for _name, text in _documents(part, options))
    return next((text for text in texts if text.strip()), b"")


def _grouped(
    sources: Sequence[Source], options: ReadOptions
) -> Iterator[tuple[str, bytes]]:
    for source in sources:
        yield from _documents(Part(source), options)


def _documents(part: Part, options: ReadOptions) -> Iterator[tuple[str, bytes]]:
    """Give documents with their groups, each cut at a length."""
    for rows in read_rows(part, options, Tally()):
        for number in range(len(rows.offsets) - 1):
            name = b"" if rows.groups is None else _row(*rows.groups, number)
            text = _row(rows.data, rows.offsets, number)
            yield name.decode(errors="replace"), text


def _row(data: NDArray[np.uint8], offsets: NDArray[np.int64], number: int) -> bytes:
    """Give the beginning of a row."""
    start, end = int(offsets[number]), int(offsets[number + 1])
    return data[start : min(end, start + MAX_READ)].tobytes()
