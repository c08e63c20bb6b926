"""Text -> pieces: no token crosses a border between pieces.

A stage is a pattern and what happens to text that it does not match:
``"keep"`` makes every longest unmatched run one piece, ``"drop"`` leaves it out.
Each stage splits every piece of the stage before, as if the piece were a text.

Bytes that are not UTF-8 are legal: :func:`to_text` turns each of them into one
character of no class (a lone surrogate), and :func:`to_bytes` turns it back.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Literal

import regex

from .unicode import expand

Stage = tuple[str, Literal["keep", "drop"]]
Behaviour = Literal[
    "isolated", "removed", "merged_with_previous", "merged_with_next", "contiguous"
]


def to_text(data: bytes | str, *, strict: bool = False) -> str:
    r"""Decode UTF-8; an invalid byte becomes one character of no class.

    ``strict`` makes it an error instead, which names the byte's offset.

    >>> to_text(b"caf\xc3\xa9 \xff")
    'café \udcff'
    """
    if isinstance(data, str):
        data = data.encode()  # refuses lone surrogates: they are not text
    return data.decode(errors="strict" if strict else "surrogateescape")


def to_bytes(text: str) -> bytes:
    r"""Undo :func:`to_text`.

    >>> to_bytes("café \udcff")
    b'caf\xc3\xa9 \xff'
    """
    return text.encode(errors="surrogateescape")


def split(text: str, stages: Sequence[Stage]) -> Iterator[str]:
    r"""Split a text by all stages; without a stage the text is one piece.

    >>> list(split("two 22 words", [(r" ?\p{L}+", "keep")]))
    ['two', ' 22', ' words']
    >>> list(split("two 22 words", [(r"\S+", "drop"), (r"\p{N}", "keep")]))
    ['two', '2', '2', 'words']
    """
    if not text:
        return
    if not stages:
        yield text
        return
    (pattern, unmatched), *others = stages
    for piece, is_match in split_once(text, pattern):
        if is_match or unmatched == "keep":
            yield from split(piece, others)


def split_once(text: str, pattern: str) -> Iterator[tuple[str, bool]]:
    r"""Cut a text into the matches of a pattern and the unmatched runs between them.

    At each position the pattern matches or not; an empty match does not count. A
    position without a match belongs to an unmatched run.

    >>> list(split_once("ab--c", r"\p{L}+"))
    [('ab', True), ('--', False), ('c', True)]
    """
    match_at = compiled(pattern).match
    run_start = position = 0
    while position < len(text):
        match = match_at(text, position)
        if match is None or match.end() == position:
            position += 1
            continue
        if run_start < position:
            yield text[run_start:position], False
        yield match[0], True
        run_start = position = match.end()
    if run_start < position:
        yield text[run_start:], False


def delimited(
    parts: Iterable[tuple[str, bool]], behaviour: Behaviour, *, invert: bool = False
) -> list[str]:
    r"""Turn matches and the runs between them into pieces, as Hugging Face's ``Split``.

    Matches are delimiters, with ``invert`` the rest is. An empty match only separates
    two unmatched runs and is never a piece.

    >>> parts = list(split_once("the-final--countdown", "-"))
    >>> delimited(parts, "merged_with_previous")
    ['the-', 'final-', '-', 'countdown']
    >>> delimited(parts, "merged_with_next")
    ['the', '-final', '-', '-countdown']
    >>> delimited(parts, "contiguous")
    ['the', '-', 'final', '--', 'countdown']
    >>> delimited(parts, "removed"), delimited(parts, "removed", invert=True)
    (['the', 'final', 'countdown'], ['-', '-', '-'])
    >>> delimited([("1", False), ("", True), ("234", False)], "merged_with_next")
    ['1', '234']
    """
    marked = [(text, is_match != invert) for text, is_match in parts]
    if behaviour == "removed":
        return [text for text, is_delimiter in marked if text and not is_delimiter]
    from_behind = behaviour == "merged_with_next"
    pieces: list[str] = []
    before = False
    for text, is_delimiter in reversed(marked) if from_behind else marked:
        if behaviour == "contiguous":
            joins = is_delimiter == before
        else:
            joins = behaviour != "isolated" and is_delimiter and not before
        if joins and pieces:
            pieces[-1] = text + pieces[-1] if from_behind else pieces[-1] + text
        else:
            pieces.append(text)
        before = is_delimiter
    kept = [piece for piece in pieces if piece]
    return kept[::-1] if from_behind else kept


@cache
def compiled(pattern: str) -> regex.Pattern[str]:
    r"""Compile a pattern with our own Unicode classes.

    >>> compiled(r"\p{Lu}").match("é") is None
    True
    """
    return regex.compile(expand(pattern), regex.VERSION0)
