"""A text, and where a tokenizer cuts it.

The tokens of a text need not cover it: a normalizer may remove white space, one character may
become several tokens, and several characters one token. So each token has its span of the
original text, and tokens are grouped until each group has whole characters, as a reader sees
them. A character that no token stands for is a token without an id. Takes time and memory linear
in the text.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, TypeAlias

from bytepair import Tokenizer, _core
from bytepair._expected import loaded
from bytepair._io.files import StrPath
from bytepair._results import Result
from bytepair.analyze._missing import NO_ID, course_of, end_mark

__all__ = ["Cut", "CutToken", "Group", "cut"]

Kind: TypeAlias = Literal["text", "byte", "unknown", "added", "none", "missing"]


@dataclass(frozen=True, slots=True)
class CutToken:
    """A token and its span in a text.

    Attributes
    ----------
    id
        Its id; -1 if it has none.
    start, end
        The span of the text that it stands for, in bytes; empty if the tokenizer inserted it.
    piece
        The number of its piece, from 0 on; an added token counts as a piece.
    kind
        ``"text"``; ``"byte"`` for a byte of a character outside the alphabet;
        ``"unknown"``; ``"added"``; ``"missing"`` for a character that no token stands for, which
        has no id.
    content
        Its bytes, without marks; the name of an unknown or added token; the text of a missing
        character.
    written
        The token as written in published files, such as ``Ġthe``.
    """

    id: int
    start: int
    end: int
    piece: int
    kind: Kind
    content: bytes
    written: str


@dataclass(frozen=True, slots=True)
class Group:
    """Tokens that stand for the same whole characters.

    Attributes
    ----------
    start, end
        The span of the text, in bytes.
    tokens
        Usually one token; several if each has only part of a character; none for text that
        the tokenizer drops.
    begins_piece
        Whether a piece begins with it.
    """

    start: int
    end: int
    tokens: tuple[CutToken, ...]
    begins_piece: bool

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids of its tokens.

        >>> import bytepair
        >>> from bytepair.analyze import cut
        >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
        >>> [group.ids for group in cut(tokenizer, "abé").groups]
        [(256,), (127, 102)]
        """
        return tuple(token.id for token in self.tokens)

    @property
    def is_missing(self) -> bool:
        """Whether it has only characters that no token stands for.

        >>> import bytepair
        >>> from bytepair.analyze import cut
        >>> counts = {"low": 2, "lower": 1}
        >>> codes = bytepair.train_from_counts(counts, merges=2, dialect="sennrich")
        >>> [group.is_missing for group in cut(codes, "löw").groups]
        [False, True, False, False]
        """
        return bool(self.tokens) and all(t.kind == "missing" for t in self.tokens)


@dataclass(frozen=True, repr=False)
class Cut(Result):
    """A text and its tokens.

    Attributes
    ----------
    text
        The original text, in bytes.
    groups
        The tokens in order, grouped into whole characters. The groups cover the text.
    n_pieces
        The number of pieces; an added token counts as a piece.

    >>> import bytepair
    >>> from bytepair.analyze import cut
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> found = cut(tokenizer, "low lower")
    >>> found.n_tokens, found.n_pieces, found.n_characters, found.n_bytes
    (5, 2, 9, 9)
    >>> [found.text[group.start : group.end] for group in found.groups]
    [b'low', b' ', b'low', b'e', b'r']
    """

    text: bytes
    groups: tuple[Group, ...]
    n_pieces: int

    @property
    def tokens(self) -> list[CutToken]:
        """All tokens, in order.

        >>> import bytepair
        >>> from bytepair.analyze import cut
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> [token.written for token in cut(tokenizer, "low lower").tokens]
        ['low', 'Ġ', 'low', 'e', 'r']
        """
        return [token for group in self.groups for token in group.tokens]

    @property
    def n_tokens(self) -> int:
        """The number of tokens.

        >>> import bytepair
        >>> from bytepair.analyze import cut
        >>> tokenizer = bytepair.train_from_iterator(["ab"], vocab_size=256)
        >>> cut(tokenizer, "abc").n_tokens
        3
        """
        return sum(len(group.tokens) for group in self.groups)

    @property
    def n_missing(self) -> int:
        """The number of tokens without an id: characters that no token stands for.

        >>> import bytepair
        >>> from bytepair.analyze import cut
        >>> counts = {"low": 2, "lower": 1}
        >>> codes = bytepair.train_from_counts(counts, merges=2, dialect="sennrich")
        >>> found = cut(codes, "löw")
        >>> found.n_tokens, found.n_missing  # l, ö, w and the end mark
        (4, 1)
        """
        return sum(token.kind == "missing" for token in self.tokens)

    @property
    def n_bytes(self) -> int:
        """The length of the text in bytes.

        >>> import bytepair
        >>> from bytepair.analyze import cut
        >>> tokenizer = bytepair.train_from_iterator(["ab"], vocab_size=256)
        >>> cut(tokenizer, "é").n_bytes
        2
        """
        return len(self.text)

    @property
    def n_characters(self) -> int:
        r"""The length of the text in characters (code points); an invalid byte counts as one.

        >>> import bytepair
        >>> from bytepair.analyze import cut
        >>> tokenizer = bytepair.train_from_iterator(["ab"], vocab_size=256)
        >>> cut(tokenizer, b"\xc3\xa9\xff").n_characters
        2
        """
        return len(self.text.decode(errors="surrogateescape"))

    @property
    def bytes_per_token(self) -> float | None:
        """The mean length of a token, in bytes of the text; ``None`` without tokens.

        >>> import bytepair
        >>> from bytepair.analyze import cut
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> cut(tokenizer, "low lower").bytes_per_token
        1.8
        """
        return self.n_bytes / self.n_tokens if self.n_tokens else None

    def __str__(self) -> str:
        from .draw import Shown

        return str(Shown((self,)))

    def _repr_html_(self) -> str:
        from .draw import Shown

        return Shown((self,))._repr_html_()


def cut(
    tokenizer: Tokenizer | StrPath,
    text: str | bytes,
    *,
    allowed_special: Literal["all"] | Collection[str] = (),
    added_tokens: Literal["find", "text"] = "find",
) -> Cut:
    """Cut a text as a tokenizer does.

    The ids and the options are those of :meth:`bytepair.Tokenizer.encode`; the template is
    not applied. A character that ``encode`` refuses, since no token stands for it, is a separate
    token without an id here.

    >>> import bytepair
    >>> from bytepair.analyze import cut
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> [group.ids for group in cut(tokenizer, "lower").groups]
    [(257,), (68,), (81,)]

    Errors are otherwise those of :meth:`bytepair.Tokenizer.encode`.
    """
    tokenizer = loaded(tokenizer)
    parts, missing = course_of(
        tokenizer, text, allowed_special=allowed_special, added_tokens=added_tokens
    )
    data = text.encode() if isinstance(text, str) else bytes(text)
    tokens = _placed(tokenizer, parts, missing, data)
    groups = _grouped(tokens, character_ends(data), len(data))
    n_pieces = sum(1 for _ in _flat(parts))
    return Cut(data, tuple(groups), n_pieces)


def _placed(
    tokenizer: Tokenizer, parts: list[Any], missing: int | None, text: bytes
) -> list[CutToken]:
    """List the tokens of the parts of a text."""
    found = list(_places(parts))
    ids = sorted({id_ for id_, *_ in found} - {missing})
    known = {token.id: token for token in tokenizer.inspect().tokens(ids)}
    tokens = []
    for id_, start, end, piece in found:
        if id_ == missing:
            content = text[start:end]
            written = content.decode(errors="backslashreplace") or end_mark(tokenizer)
            token = CutToken(NO_ID, start, end, piece, "missing", content, written)
        else:
            own = known[id_]
            token = CutToken(id_, start, end, piece, own.kind, own.bytes, own.written)
        tokens.append(token)
    return tokens


def _flat(parts: Iterable[Any]) -> Iterator[Any]:
    """Yield the pieces and added tokens of parts in order."""
    for part in parts:
        if part[0] == "text":
            yield from part[4]
        else:
            yield part


def _places(parts: Iterable[Any]) -> Iterator[tuple[int, int, int, int]]:
    for number, part in enumerate(_flat(parts)):
        tokens = [part[1:4]] if part[0] == "added" else part[7]
        for id_, start, end in tokens:
            yield id_, start, end, number


def character_ends(text: bytes) -> list[int]:
    r"""Return the byte offsets of the ends of the characters of a text, as a reader sees them.

    A line end of two characters counts as two, since tokens may separate them.

    >>> character_ends("ae\u0301\r\n".encode())
    [1, 4, 5, 6]
    """
    ends: list[int] = []
    for end, _width in _core.graphemes(text):
        if end >= 2 and text[end - 2 : end] == b"\r\n":
            ends.append(end - 1)
        ends.append(end)
    return ends


def _grouped(tokens: list[CutToken], ends: list[int], n_bytes: int) -> Iterator[Group]:
    """Group tokens into whole characters; text between tokens becomes groups without tokens."""
    lower, upper = _whole(ends, n_bytes)
    open_groups: list[tuple[int, int, list[CutToken]]] = []
    for token in tokens:
        start, end = lower[token.start], upper[token.end]
        if token.start == token.end and lower[token.start] == token.start:
            end = start
        joined = [[token]]
        while open_groups and open_groups[-1][1] > start:
            first, last, before = open_groups.pop()
            start, end = min(first, start), max(last, end)
            joined.append(before)
        group = joined.pop()
        for following in reversed(joined):
            group += following
        open_groups.append((start, end, group))
    place, piece = 0, -1
    for start, end, group in open_groups:
        if place < start:
            yield Group(place, start, (), begins_piece=False)
        begins = group[0].piece != piece
        yield Group(start, end, tuple(group), begins)
        place, piece = end, group[-1].piece
    if place < n_bytes:
        yield Group(place, n_bytes, (), begins_piece=False)


def _whole(ends: list[int], n_bytes: int) -> tuple[list[int], list[int]]:
    """Return, for each offset, the nearest character border at or before it, and at or after it."""
    lower, upper = [0] * (n_bytes + 1), [n_bytes] * (n_bytes + 1)
    for start, end in pairwise([0, *ends]):
        lower[start:end] = [start] * (end - start)
        upper[start + 1 : end + 1] = [end] * (end - start)
    lower[n_bytes], upper[0] = n_bytes, 0
    return lower, upper
