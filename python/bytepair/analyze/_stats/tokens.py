"""Properties of the tokens of a vocabulary, as arrays by id.

Takes time linear in the vocabulary and about a hundred bytes per token. A space counts as a
space however the vocabulary writes it (``Ġ``, ``▁``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from bytepair import _core
from bytepair._numpy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["NO_SCRIPT", "SEVERAL_SCRIPTS", "TokenTable", "token_table"]

TEXT, BYTE, UNKNOWN, ADDED, HOLE = range(5)
"""Kinds of tokens."""
KINDS = {"text": TEXT, "byte": BYTE, "unknown": UNKNOWN, "added": ADDED, "none": HOLE}
"""The kinds, by their names in the core."""
SPACE_MARK = "▁".encode()
NO_SCRIPT, SEVERAL_SCRIPTS = "none", "several"
"""Names for tokens without a letter, and for tokens with letters of several scripts."""
SHARED_SCRIPTS = ("Common", "Inherited")
N_CODE_POINTS = 0x110000


@dataclass(frozen=True, eq=False)
class TokenTable:
    """The properties of each token, by id.

    Attributes
    ----------
    texts
        The bytes of each token, with spaces as spaces; empty for an id without a token.
    kinds
        0 for tokens of text, 1 for single bytes, 2 for the unknown token, 3 for tokens that are
        only added tokens, 4 for ids without a token.
    is_model, is_unknown
        Whether a token belongs to the model (text or a single byte), and whether it is the
        unknown token.
    is_partial
        Whether the bytes of a model token are not whole characters.
    begins_with_space, has_inner_space
        Whether a token begins with a space (U+0020), and whether it has white space between
        other characters.
    has_digit
        Whether a token has a decimal digit of any script.
    is_inner
        Whether a merge uses the token as a part.
    script_names, scripts
        The names of scripts, and the index of each token's script. It is ``none`` for a token
        without a letter, and ``several`` for a token with letters of several scripts.
    """

    texts: tuple[bytes, ...]
    kinds: NDArray[np.uint8]
    is_partial: NDArray[np.bool_]
    begins_with_space: NDArray[np.bool_]
    has_inner_space: NDArray[np.bool_]
    has_digit: NDArray[np.bool_]
    is_inner: NDArray[np.bool_]
    script_names: tuple[str, ...]
    scripts: NDArray[np.int64]

    @property
    def is_model(self) -> NDArray[np.bool_]:
        """Whether each token is text or a single byte."""
        is_model: NDArray[np.bool_] = self.kinds <= BYTE
        return is_model

    @property
    def is_unknown(self) -> NDArray[np.bool_]:
        """Whether each token is the unknown token."""
        is_unknown: NDArray[np.bool_] = self.kinds == UNKNOWN
        return is_unknown

    @property
    def n_tokens(self) -> int:
        """The number of ids that have a token."""
        return int(np.count_nonzero(self.kinds != HOLE))


def token_table(tokenizer: _core.Tokenizer) -> TokenTable:
    """Compute the properties of each token of a vocabulary.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["low lower é"], vocab_size=258)
    >>> table = token_table(tokenizer)
    >>> table.n_tokens, int(table.is_partial.sum()), table.texts[257]
    (258, 128, b'low')
    """
    tokens = tokenizer.inspect().tokens()
    kinds = np.array([KINDS[token.kind] for token in tokens], np.uint8)
    texts = [token.bytes for token in tokens]
    if _writes_spaces_as_marks(tokenizer):
        texts = [text.replace(SPACE_MARK, b" ") for text in texts]
    is_model = kinds <= BYTE
    decoded = [_decoded(text) for text in texts]
    is_whole = np.array([text is not None for text in decoded], np.bool_)
    characters = ["" if text is None else text for text in decoded]
    begins, inner, digits = _spaces_and_digits(texts, characters)
    names, scripts = _scripts(characters)
    return TokenTable(
        texts=tuple(texts),
        kinds=kinds,
        is_partial=is_model & ~is_whole,
        begins_with_space=begins,
        has_inner_space=inner,
        has_digit=digits,
        is_inner=_inner(tokenizer),
        script_names=names,
        scripts=scripts,
    )


def _writes_spaces_as_marks(tokenizer: _core.Tokenizer) -> bool:
    """Return whether a tokenizer turns spaces into U+2581."""
    pieces = tokenizer.split("a b")
    written = [p.encode() if isinstance(p, str) else p for p in pieces]
    return any(SPACE_MARK in piece for piece in written)


def _decoded(text: bytes) -> str | None:
    try:
        return text.decode()
    except UnicodeDecodeError:
        return None


def _inner(tokenizer: _core.Tokenizer) -> NDArray[np.bool_]:
    is_inner = np.zeros(tokenizer.n_vocab, np.bool_)
    merges = tokenizer.inspect().merge_log
    parts = [part for left, right, *_ in merges for part in (left, right)]
    is_inner[np.array(parts, np.int64)] = True
    return is_inner


def _spaces_and_digits(
    texts: list[bytes], characters: list[str]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    begins = np.array([text.startswith(b" ") for text in texts], np.bool_)
    words = [len(text.split()) > 1 for text in characters]
    digits = [any(map(str.isdecimal, text)) for text in characters]
    return begins, np.array(words, np.bool_), np.array(digits, np.bool_)


@lru_cache(maxsize=1)
def _script_of_each() -> tuple[tuple[str, ...], NDArray[np.uint8]]:
    """Return the names of all scripts, and the index of the script of each code point, 0 for none."""
    names = [NO_SCRIPT]
    places = np.zeros(N_CODE_POINTS, np.uint8)
    for name, ranges in _core.unicode_scripts():
        if name in SHARED_SCRIPTS:
            continue
        for first, last in ranges:
            places[first : last + 1] = len(names)
        names.append(name)
    return (*names, SEVERAL_SCRIPTS), places


def _scripts(characters: list[str]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the names of scripts, and the index of each token's script."""
    names, places = _script_of_each()
    joined = np.frombuffer("".join(characters).encode("utf-32-le"), np.uint32)
    lengths = np.array([len(text) for text in characters], np.int64)
    owners = np.repeat(np.arange(len(characters)), lengths)
    scripts = places[joined].astype(np.int64)
    owners, scripts = owners[scripts > 0], scripts[scripts > 0]
    smallest = np.full(len(characters), len(names), np.int64)
    largest = np.zeros(len(characters), np.int64)
    np.minimum.at(smallest, owners, scripts)
    np.maximum.at(largest, owners, scripts)
    several = (largest > 0) & (smallest != largest)
    return names, np.where(several, len(names) - 1, largest)
