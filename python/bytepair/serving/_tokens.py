"""The bytes of text that tokens stand for: a table, a trie, covers of a text, and healing of a prompt.

The core makes the table and the trie. Tokens with a prefix are neighbours in the trie's ids, where a binary search finds
them; tokens that a text begins with are looked up by their bytes. Canonical ids are not looked at here, except by ``heal``.
"""

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from bytepair import _core
from bytepair._expected import expect
from bytepair._numpy import NDArray, np
from bytepair._ranges import check_index
from bytepair._tokenizer import Tokenizer
from bytepair.errors import TokenizerError, UnknownTokenError

__all__ = ["KINDS", "ByteTrie", "Healed", "TokenBytes", "heal"]

KINDS = ("text", "byte", "added", "special", "unknown", "none")
"""What a token stands for, in the order of the numbers in ``TokenBytes.kinds``.

``"text"`` and ``"byte"`` (byte fallback) come from merges, ``"added"`` is an added token that is not special. The other
three have no bytes: ``"special"``, ``"unknown"``, and ``"none"`` for an id without a token.

>>> KINDS[0]
'text'
"""


class ByteTrie(NamedTuple):
    """All tokens as a trie over their bytes, in depth-first order; node 0 is the root.

    The children of a node have ascending bytes. The first child of ``node``, if there is one, is ``node + 1``, and the
    child after ``child`` is ``ends[child]``, until ``ends[node]``. The tokens of ``node`` are
    ``ids[starts[node] : starts[node + 1]]``, often none and sometimes several. Those of its whole subtree, which begin
    with the same bytes, are ``ids[starts[node] : starts[ends[node]]]``. Takes 9 bytes for each node, and 4 for each id.

    >>> import bytepair
    >>> from bytepair import serving
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> trie = serving.TokenBytes(tokenizer).trie
    >>> def children(node):
    ...     child = node + 1
    ...     while child < trie.ends[node]:
    ...         yield int(child)
    ...         child = trie.ends[child]
    >>> [node] = [child for child in children(0) if trie.bytes[child] == ord("l")]
    >>> trie.ids[trie.starts[node] : trie.starts[trie.ends[node]]]
    array([ 75, 256, 257], dtype=uint32)
    """

    bytes: NDArray[np.uint8]
    ends: NDArray[np.uint32]
    starts: NDArray[np.uint32]
    ids: NDArray[np.uint32]


class TokenBytes:
    """The bytes of text that each token stands for: what it adds to a text within which it stands.

    ``b"".join(table[id] for id in ids)`` is the decoded text without special and unknown tokens, apart from its ends. Decoders may
    strip spaces at the beginning. An end mark, such as ``</w>``, is a space at the end of its token, which decoders leave
    out after the last token. Special and unknown tokens, and ids without a token, have no bytes.

    ``Tokenizer.token_bytes`` gives a token as it is written in the vocabulary instead, with ``▁`` or ``</w>``, and the
    names of special tokens.

    ``buffer`` has the bytes of all tokens (``uint8``), ``offsets`` where those of each begin (``int64``, one more than
    there are ids), and ``kinds`` what each is, as an index of ``KINDS`` (``uint8``).

    >>> import bytepair
    >>> from bytepair import serving
    >>> tokenizer = bytepair.train_from_iterator(
    ...     ["low lower"], vocab_size=259, special_tokens=["<end>"]
    ... )
    >>> table = serving.TokenBytes(tokenizer)
    >>> len(table), table[257], table[258]
    (259, b'low', b'')
    >>> table.kind(258), table.ids("special")
    ('special', array([258], dtype=uint32))
    >>> table.with_prefix(b"lo")
    array([256, 257], dtype=uint32)

    Raises
    ------
    TokenizerError
        The decoder is a list of steps in which the bytes of a token depend on its neighbours.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        """Make the table of a tokenizer."""
        expect("tokenizer", tokenizer, Tokenizer, "a Tokenizer")
        self.tokenizer = tokenizer
        self.buffer, self.offsets, self.kinds = _core.token_texts(tokenizer)
        self._longest = int(np.diff(self.offsets).max(initial=0))

    def __len__(self) -> int:
        """Return the number of ids."""
        return len(self.kinds)

    def __getitem__(self, id: int) -> bytes:
        """Return the bytes of an id."""
        self._check(id)
        return self.buffer[self.offsets[id] : self.offsets[id + 1]].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        """Iterate over the bytes of all ids."""
        text, ends = self.buffer.tobytes(), self.offsets.tolist()
        return (text[start:end] for start, end in itertools.pairwise(ends))

    def kind(self, id: int) -> str:
        """Return what a token stands for, one of ``KINDS``."""
        self._check(id)
        return KINDS[self.kinds[id]]

    def ids(self, kind: str) -> NDArray[np.uint32]:
        """Return the ids of one of ``KINDS``, ascending.

        Raises
        ------
        TokenizerError
            The kind is unknown.
        """
        if kind not in KINDS:
            message = f"kind must be one of {', '.join(KINDS)}, not {kind!r}"
            raise TokenizerError(message)
        return np.flatnonzero(self.kinds == KINDS.index(kind)).astype(np.uint32)

    @cached_property
    def trie(self) -> ByteTrie:
        """All tokens that have bytes, as a trie."""
        return ByteTrie(*_core.byte_trie(self.tokenizer))

    @cached_property
    def ids_of_bytes(self) -> dict[bytes, list[int]]:
        """All ids by their bytes, for tokens that have bytes."""
        found: dict[bytes, list[int]] = {}
        for id, token in enumerate(self):
            if token:
                found.setdefault(token, []).append(id)
        return found

    def with_prefix(self, prefix: bytes) -> NDArray[np.uint32]:
        """Return the ids of tokens whose bytes begin with a prefix, ascending."""
        expect("prefix", prefix, bytes, "bytes")
        ids = self.trie.ids
        first = bisect_left(ids, prefix, key=self.__getitem__)
        end = bisect_right(ids, prefix, first, key=lambda id: self[id][: len(prefix)])
        return np.sort(ids[first:end])

    def allowed(self, rest: bytes) -> NDArray[np.uint32]:
        """Return the ids that may come next where the text must go on with ``rest``, ascending.

        These are the tokens whose bytes begin with it, and those whose bytes it begins with.

        >>> import bytepair
        >>> from bytepair import serving
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> serving.TokenBytes(tokenizer).allowed(b"lo")
        array([ 75, 256, 257], dtype=uint32)
        """
        expect("rest", rest, bytes, "bytes")
        shorter = self._within(rest).values()
        ids = np.array(list(itertools.chain(*shorter)), np.uint32)
        return np.union1d(ids, self.with_prefix(rest))

    def covers(self, prefix: bytes) -> Iterator[list[int]]:
        """Iterate over all rows of ids whose text begins with a prefix, and does not without their last id.

        Every row of ids whose text begins with the prefix begins with exactly one of them. There may be very many: they
        are made one at a time.

        >>> import bytepair
        >>> from bytepair import serving
        >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
        >>> list(serving.TokenBytes(tokenizer).covers(b"lo"))
        [[256], [257], [75, 78]]
        """
        expect("prefix", prefix, bytes, "bytes")
        n_bytes = len(prefix)
        # By place: the ids that lead to each later one, if a cover goes on from there. Long tokens lead to the end.
        steps: list[dict[int, list[int]]] = [{} for _ in range(n_bytes + 1)]
        for place in reversed(range(n_bytes)):
            rest = prefix[place:]
            found = self._within(rest) | {len(rest): self.with_prefix(rest).tolist()}
            for n, ids in found.items():
                if steps[place + n] or (place + n == n_bytes and ids):
                    steps[place][place + n] = ids
        waiting: list[tuple[int, list[int]]] = [(0, [])]
        while waiting:
            place, row = waiting.pop()
            if place == n_bytes:
                yield row
            for end, ids in steps[place].items():
                waiting += ((end, [*row, id]) for id in reversed(ids))

    def _check(self, id: int) -> None:
        check_index(id=id)
        if not 0 <= id < len(self):
            message = f"no token has the id {id}; the vocabulary has {len(self)} ids, starting at 0"
            raise UnknownTokenError(message)

    def _within(self, text: bytes) -> dict[int, list[int]]:
        """Return the ids of tokens that a text begins with, by their number of bytes, ascending."""
        lengths = range(1, min(len(text), self._longest) + 1)
        found = {n_bytes: self.ids_of_bytes.get(text[:n_bytes]) for n_bytes in lengths}
        return {n_bytes: ids for n_bytes, ids in found.items() if ids}


class Healed(NamedTuple):
    """A prompt whose last tokens are open again.

    ``ids`` stay, whatever follows. ``rest`` are the bytes that the next ids must begin with.
    """

    ids: list[int]
    rest: bytes


def heal(tokenizer: Tokenizer, ids: Sequence[int]) -> Healed:
    """Take back the ids at the end of a prompt that its continuation may change.

    A model was trained on tokens that cross the end of most prompts, and cannot choose them after ``ids``. It can after
    the ids that this function leaves, if its first tokens are restricted to the bytes of the others: see
    ``TokenBytes.allowed``.

    If ``tokenizer.decode(ids)`` has the ids ``ids``, the ids of every text that begins with it begin with those that stay.
    This is proven, not guessed from a number of tokens. Where nothing can be proven, as for patterns with backtracking, all ids after the
    last special token are taken back. Special tokens stay. Takes time linear in the ids.

    >>> import bytepair
    >>> from bytepair import serving
    >>> tokenizer = bytepair.train_from_iterator(
    ...     ["the lower the lower"], vocab_size=262
    ... )
    >>> healed = serving.heal(tokenizer, tokenizer.encode("the low"))
    >>> tokenizer.decode(healed.ids), healed.rest
    ('the', b' low')

    Raises
    ------
    UnknownTokenError
        No token has one of the ids.
    TokenizerError
        The ids end next to an unknown token, whose text is not known; or as for ``TokenBytes``.
    """
    expect("tokenizer", tokenizer, Tokenizer, "a Tokenizer")
    n_kept, rest = _core.heal(tokenizer, ids)
    return Healed([int(id) for id in ids[:n_kept]], rest)
