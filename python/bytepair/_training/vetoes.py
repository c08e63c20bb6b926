r"""What must not be learned: turns the options of users, forbidden tokens and cuts, into what the core takes.

A token is forbidden if a pattern matches anywhere in its text. Functions of users get text, in which bytes that are
not UTF-8 are lone surrogates, as from :func:`os.fsdecode`.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, TypedDict

from bytepair import _core
from bytepair._expected import expect, expect_each
from bytepair._io.files import read
from bytepair._labels import argument
from bytepair._ranges import check_range
from bytepair.errors import FileError, PatternError, TrainingError

if TYPE_CHECKING:
    from bytepair._io.files import StrPath

__all__ = ["FORBIDDEN", "GivenCuts", "cutting", "vetoes"]

GivenCuts = Callable[[str], Iterable[str]]

SPACES = " ▁"
"""The characters between words; the second stands for a space in SentencePiece."""
MOST_WORDS = 1000
WORD = re.compile(r"[^\s▁]+")
BOM = "\ufeff".encode()
FORBIDDEN = {
    "colon-space": f":[{SPACES}]",
    "letter-digit": r"[\p{L}\p{M}]\p{N}|\p{N}\p{L}",
}
"""Patterns of forbidden tokens by name."""


class Vetoes(TypedDict):
    """Forbidden tokens as the core takes them: patterns, scripts, and a function of two tokens."""

    forbidden: list[str]
    one_script: bool
    veto: Callable[[bytes, bytes], bool] | None


def vetoes(options: Mapping[str, Any], stop: Callable[[], None]) -> Vetoes:
    r"""Return what is forbidden, checked. ``stop`` is called after Ctrl-C in a function of the user.

    >>> vetoes({"max_words": 2, "forbid": "colon-space"}, print)["forbidden"]
    [':[ ▁]', '(?:[^ ▁]+[ ▁]+){2}[^ ▁]']
    """
    given = options.get("forbid")
    expect("forbid", given, (str, Sequence, type(None)), "a pattern, a name, or a list")
    sources = [given] if isinstance(given, str) else given or []
    expect_each("forbid", sources, str, "a pattern or a name")
    for source in sources:
        if not source:
            message = (
                f"{argument('forbid')}: an empty pattern forbids nothing; leave it out"
            )
            raise TrainingError(message)
        try:
            _core.Corpus(_core.Dialect("byte-stream", pattern=source), [], threads=1)
        except PatternError as error:
            message = f"{argument('forbid')}: {error}"
            raise PatternError(message) from error
    forbidden = [FORBIDDEN.get(source, source) for source in sources]
    max_words = options.get("max_words")
    check_range(1, MOST_WORDS, max_words=max_words)
    if max_words is not None:
        forbidden.append(f"(?:[^{SPACES}]+[{SPACES}]+){{{max_words}}}[^{SPACES}]")
    one_script = options.get("one_script", False)
    expect("one_script", one_script, bool, "True or False")
    veto = options.get("veto")
    if veto is not None and not callable(veto):
        message = f"veto must be a function of two tokens, not {veto!r}"
        raise TypeError(message)
    return {
        "forbidden": forbidden,
        "one_script": one_script,
        "veto": partial(_forbids, veto, stop) if veto else None,
    }


def _forbids(
    veto: Callable[[str, str], object],
    stop: Callable[[], None],
    left: bytes,
    right: bytes,
) -> bool:
    try:
        answer = veto(_text(left), _text(right))
    except KeyboardInterrupt:
        # What was learned is returned as soon as this pair is decided.
        stop()
        answer = veto(_text(left), _text(right))
    if not isinstance(answer, bool):
        message = (
            f"veto({_text(left)!r}, {_text(right)!r}) must return True or False, "
            f"not {answer!r}"
        )
        raise TypeError(message)
    return answer


def cutting(
    cuts: GivenCuts | StrPath | None,
) -> Callable[[bytes], list[int]] | None:
    r"""Return a function that takes a piece and returns the offsets of its cuts, in bytes.

    >>> cutting(lambda piece: piece.partition("é"))(b"caf\xc3\xa9s")
    [3, 5]
    """
    if cuts is None:
        return None
    if not callable(cuts):
        if not isinstance(cuts, (str, os.PathLike)):
            message = f"cuts must be a function of a piece or a file, not {cuts!r}"
            raise TypeError(message)
        cuts = _read_cuts(cuts)
    return partial(_offsets, cuts)


def _offsets(cuts: GivenCuts, piece: bytes) -> list[int]:
    text = _text(piece)
    found = cuts(text)
    is_list = isinstance(found, Iterable) and not isinstance(found, str)
    parts = list(found) if is_list else []
    if not all(isinstance(part, str) for part in parts) or "".join(parts) != text:
        message = f"cuts({text!r}) must return the parts of the piece in their order, not {found!r}"
        raise TrainingError(message)
    ends = accumulate(len(part.encode(errors="surrogateescape")) for part in parts)
    return sorted(set(ends) - {0, len(piece)})


def _read_cuts(path: StrPath) -> GivenCuts:
    """Read a file of words, one in each line, with spaces where they are cut.

    The function cuts these words where they are whole words of a piece. A word is a run of characters
    other than white space, without punctuation and symbols at its ends.
    """
    words: dict[str, list[str]] = {}
    for number, line in enumerate(read(path).removeprefix(BOM).splitlines(), 1):
        try:
            parts = line.decode().split()
        except UnicodeDecodeError as error:
            message = f"{os.fspath(path)}: line {number} is not UTF-8"
            raise FileError(message) from error
        if parts and words.setdefault("".join(parts), parts) != parts:
            message = (
                f"{os.fspath(path)}: line {number} cuts {''.join(parts)!r} in another "
                "way than an earlier line; keep one of them"
            )
            raise TrainingError(message)

    def cut(piece: str) -> list[str]:
        ends = [0]
        for found in WORD.finditer(piece):
            start, end = _without_punctuation(piece, *found.span())
            parts = words.get(piece[start:end], [])
            ends += [start + end for end in accumulate(map(len, parts))]
        ends = sorted({*ends, len(piece)})
        return [piece[start:end] for start, end in pairwise(ends)]

    return cut


def _without_punctuation(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span without the punctuation and symbols at its ends.

    >>> _without_punctuation("(«a-b».", 0, 7)
    (2, 5)
    """
    while start < end and unicodedata.category(text[start])[0] in "PS":
        start += 1
    while start < end and unicodedata.category(text[end - 1])[0] in "PS":
        end -= 1
    return start, end


def _text(token: bytes) -> str:
    return token.decode(errors="surrogateescape")
