"""Search for texts that contain a token: alone, in contexts, with incomplete characters completed.

A text proves that its token can occur. Finding none proves nothing, so the number of texts
tried is reported. Each text costs an encoding; most tokens are found with the first.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from bytepair import _core
from bytepair._numpy import np
from bytepair.errors import TokenizerError

from ._subject import Added, Subject, is_utf8

__all__ = ["CONTINUATIONS", "Texts", "completions"]

# ruff: noqa: RUF001 -- a letter that patterns without case take for another

BEFORE = ("", "a", " ", "\n", "0", '"', "'", ".", "A", "é", "中", "a ", "\ue000")
AFTER = ("", "a", " ", "\n", "0", '"', ".", "中", " a", "s", "ll", "ſ", "\ue000")
"""The contexts of a text: letters, spaces, digits, quotes, and a character that no vocabulary
joins with others."""

NOWHERE = "\ue000"
"""A character that few vocabularies have. If units may be left out, it is left out."""

LETTERS = "etaoinsrhldcumfpgwybvkxjqz0!"
N_UNITS = 8
"""The contexts of tokens that cannot begin or end a piece, with the first units of the alphabet."""

COMPLETIONS = (24, 1024, 70_000)
"""The numbers of completions that are tried for each token, in successive stages."""

ROWS_AT_ONCE = 100_000
"""The number of texts that are encoded in one call."""

BYTES_AT_ONCE = 16 << 20
"""The approximate number of bytes that are encoded in one call."""

CONTINUATIONS = bytes(range(0x80, 0xC0))
"""The bytes of a character after its first."""

FIRST_BYTES = (range(0xC2, 0xE0), range(0xE0, 0xF0), range(0xF0, 0xF5))
"""The first bytes of characters of two, three and four bytes."""

MOST_ROWS = 1_000_000
"""The largest number of texts that are tried in a stage, for all tokens together."""


class Texts:
    """Texts that contain the tokens of a vocabulary."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject

    @cached_property
    def whole(self) -> list[int]:
        """The tokens of text that are whole characters."""
        partial = set(self.subject.partial)
        return [id_ for id_ in self.subject.text_ids if id_ not in partial]

    @cached_property
    def not_given_back(self) -> set[int]:
        """The tokens of whole characters whose text alone is not encoded as the token."""
        wrong: set[int] = set()
        texts = zip(self.whole, self._decoded(self.whole), strict=True)
        for some in _batches(texts):
            own, rows = np.array([id_ for id_, _ in some]), [text for _, text in some]
            found, ends = self.subject.encode_rows(rows)
            is_same = np.diff(ends, prepend=0) == 1  # one id, and the right one
            is_same[is_same] = found[ends[is_same] - 1] == own[is_same]
            wrong.update(own[~is_same].tolist())
        return wrong

    @cached_property
    def contexts(self) -> list[tuple[str, str]]:
        """The pairs of texts that are put around a token, the most promising first."""
        pairs = [(before, "") for before in BEFORE]
        rules = self.subject.rules
        if rules["continuing_prefix"] or rules["end_mark"]:
            own = (token.decode(errors="ignore") for _, token in self.subject.tokens)
            units = itertools.islice((text for text in own if len(text) == 1), N_UNITS)
            letters = dict.fromkeys([*LETTERS[:N_UNITS], *units, *LETTERS])
            pairs += [("", after) for after in letters]
            pairs += [(before, "") for before in letters]
            pairs += itertools.product(list(letters)[: 2 * N_UNITS], repeat=2)
        pairs += itertools.product(BEFORE, AFTER)
        can = {text: self._can_encode(text) for pair in pairs for text in pair}
        return [pair for pair in dict.fromkeys(pairs) if can[pair[0]] and can[pair[1]]]

    def _can_encode(self, text: str) -> bool:
        try:
            self.subject.tokenizer.encode(text)
        except TokenizerError:
            return False
        return True

    @cached_property
    def _search(self) -> tuple[set[int], int]:
        """The tokens of whole characters that were not found, and the number of contexts."""
        waiting = self.not_given_back - self._hopeless - self.changed - self.cut
        n_tried = 0
        for n_more in (len(BEFORE), 40, len(self.contexts)):
            last = min(n_tried + n_more, n_tried + MOST_ROWS // (len(waiting) + 1))
            contexts = self.contexts[n_tried:last]
            waiting = waiting - self.having(
                (id_, text)
                for id_ in sorted(waiting)
                for text in self.around(id_, contexts)
            )
            n_tried += len(contexts)
        return waiting - self._beside_characters(waiting), n_tried

    def _beside_characters(self, waiting: set[int]) -> set[int]:
        """Try tokens beside each character that a token begins with, as far as there is room."""
        tokens = (self.subject.tokens[id_][1] for id_ in self.whole)
        characters = list(dict.fromkeys(own.decode()[:1].encode() for own in tokens))
        n_each = MOST_ROWS // (2 * len(waiting) + 1)
        return self.having(
            (id_, text)
            for id_ in sorted(waiting)
            for own in [self.subject.tokens[id_][1]]
            for character in characters[:n_each]
            for text in (own + character, character + own)
        )

    @cached_property
    def changed(self) -> set[int]:
        """The tokens of whole characters that provably no normalized text contains."""
        return {id_ for id_, why in self._proven.items() if why == "changed"}

    @cached_property
    def cut(self) -> set[int]:
        """The other tokens of whole characters, if the pattern provably cuts them always."""
        return {id_ for id_, why in self._proven.items() if why == "cut"}

    @cached_property
    def _proven(self) -> dict[int, str | None]:
        """Why no piece contains a token of whole characters, if this is proven.

        Nothing is proven if units may be left out, since a token may then occur where its text does not.
        """
        if self.subject.may_drop_units:
            return {}
        ids = sorted(self.not_given_back - self._hopeless - self.subject.single_bytes)
        texts = [self.subject.tokens[id_][1] for id_ in ids]
        reasons = _core.why_in_no_piece(self.subject.tokenizer, texts)
        return dict(zip(ids, reasons, strict=True))

    @property
    def not_found(self) -> set[int]:
        """The tokens of whole characters that were not found in any text that was tried.

        Tokens that merges cannot make are left out, unless they may be whole pieces.
        """
        return self._search[0] | self.changed | self.cut

    @property
    def n_contexts(self) -> int:
        """The number of contexts that were tried for each token, including two that repeat its text."""
        return self._search[1] + 2

    @property
    def limits(self) -> str:
        """The extent of the search, as a sentence."""
        return f"{self.n_contexts} contexts were tried."

    @cached_property
    def _hopeless(self) -> set[int]:
        return set() if self.subject.rules["ignore_merges"] else self.subject.lost

    @cached_property
    def without_completion(self) -> dict[int, int]:
        """The tokens with part of a character that were not found, and the number of completions tried.

        Single bytes are left out: they are the alphabet, and some never occur in UTF-8.
        """
        waiting = {
            id_
            for id_ in self.subject.partial
            if len(self.subject.tokens[id_][1]) > 1 and id_ not in self._hopeless
        }
        first = 0
        for n_more in COMPLETIONS:
            last = min(n_more, first + MOST_ROWS // (len(waiting) + 1))
            waiting -= self.having(self._completed(waiting, first, last))
            if first == 0:
                waiting -= self._in_contexts(waiting)
            first = last
        waiting -= self._beside_tokens(waiting)
        return {
            id_: sum(1 for _ in self._completed([id_], 0, first)) for id_ in waiting
        }

    def _completed(
        self, ids: Iterable[int], first: int, last: int
    ) -> Iterator[tuple[int, bytes]]:
        for id_ in ids:
            own = self.subject.tokens[id_][1]
            for text in itertools.islice(completions(own), first, last):
                yield id_, text

    def _in_contexts(self, ids: Iterable[int]) -> set[int]:
        """Try the first completions of tokens in contexts."""
        return self.having(
            (id_, before.encode() + text + after.encode())
            for id_, text in self._completed(ids, 0, COMPLETIONS[0])
            for before, after in self.contexts[:50]
        )

    def _beside_tokens(self, waiting: set[int]) -> set[int]:
        """Try tokens beside those that have the rest of their characters.

        A completion alone may be merged with the token, but not if it is first merged with the
        text after it.
        """
        tokens = [self.subject.tokens[id_][1] for id_ in self.subject.partial]
        after = [own for own in tokens if 0x80 <= own[0] < 0xC0]
        before = [own for own in tokens if not is_utf8(own.lstrip(CONTINUATIONS))]
        n_each = MOST_ROWS // (len(waiting) + 1)

        def around(own: bytes) -> Iterator[bytes]:
            for joined in (*(own + o for o in after), *(o + own for o in before)):
                yield from itertools.islice(completions(joined), 0, 64, 8)

        return self.having(
            (id_, text)
            for id_ in waiting
            for text in itertools.islice(around(self.subject.tokens[id_][1]), n_each)
        )

    def around(self, id_: int, contexts: Iterable[tuple[str, str]]) -> Iterator[bytes]:
        """Yield the texts of a token in contexts."""
        texts = self.spellings(id_)
        for before, after in contexts:
            for text in texts:
                yield before.encode() + text + after.encode()
        for text in texts:
            yield text + text
            yield text + b"a" + text

    def spellings(self, id_: int) -> list[bytes]:
        """Return the texts that a token may stand for: its own, with spaces, and as decoded."""
        own = self.subject.tokens[id_][1]
        [decoded] = self._decoded([id_])
        texts = [own, own.replace("▁".encode(), b" ")]
        if self.subject.may_drop_units and is_utf8(own):
            texts.append(NOWHERE.join(own.decode()).encode())
        return [*dict.fromkeys(text for text in texts if text != decoded), decoded]

    def having(
        self, tried: Iterable[tuple[int, bytes]], added_tokens: Added = "find"
    ) -> set[int]:
        """Return the ids that occur in the encoding of one of their texts."""
        found: set[int] = set()
        for some in _batches(tried):
            some = [pair for pair in some if pair[0] not in found]
            rows = [text for _, text in some]
            ids, ends = self.subject.encode_rows(rows, added_tokens)
            wanted = np.repeat([id_ for id_, _ in some], np.diff(ends, prepend=0))
            found.update(np.unique(wanted[wanted == ids]).tolist())
        return found

    def _decoded(self, ids: Sequence[int]) -> list[bytes]:
        """Decode each token alone. If units are bytes or carry marks, this is its own text."""
        rules = self.subject.rules
        if rules["is_bytes"] or rules["end_mark"] or rules["continuing_prefix"]:
            return [self.subject.tokens[id_][1] for id_ in ids]
        texts = self.subject.tokenizer.decode_batch([[id_] for id_ in ids])
        return [text.encode() for text in texts]


def _batches(
    tried: Iterable[tuple[int, bytes]],
) -> Iterator[list[tuple[int, bytes]]]:
    """Group texts into batches of a limited number and size, so that they fit memory."""
    batch: list[tuple[int, bytes]] = []
    n_bytes = 0
    for pair in tried:
        batch.append(pair)
        n_bytes += len(pair[1])
        if len(batch) == ROWS_AT_ONCE or n_bytes > BYTES_AT_ONCE:
            yield batch
            batch, n_bytes = [], 0
    if batch:
        yield batch


def completions(part: bytes) -> Iterator[bytes]:
    r"""Yield the texts of whole characters that complete bytes at one end or both.

    Bytes that never occur in UTF-8 have none.

    >>> (
    ...     len(list(completions(b"\xc3"))),
    ...     next(completions(b"a\xc3")),
    ...     next(completions(b"\xff"), None),
    ... )
    (64, b'a\xc3\x80', None)
    """
    n_head = len(part) - len(part.lstrip(CONTINUATIONS))
    if n_head == len(part):
        for n_after in range(4 - n_head):
            yield from _characters(part, n_after)
        return
    n_tail = next((n for n in range(4) if is_utf8(part[n_head : len(part) - n])), None)
    if n_head > 3 or n_tail is None:
        return
    tail = part[len(part) - n_tail :]
    middle = part[n_head : len(part) - n_tail]
    lasts = list(_beginning(tail)) if tail else [b""]
    for first in _characters(part[:n_head], 0) if n_head else [b""]:
        for last in lasts:
            yield first + middle + last


def _characters(part: bytes, n_after: int) -> Iterator[bytes]:
    """Yield the characters with these bytes before their last ``n_after``, rare ones last."""
    after = [bytes(rest) for rest in itertools.product(CONTINUATIONS, repeat=n_after)]
    for n_between in range(4 - len(part) - n_after):
        lengths = FIRST_BYTES[len(part) + n_after + n_between - 1]
        between = [CONTINUATIONS] * n_between
        for before in itertools.product(lengths, *between):
            for rest in after:
                text = bytes(before) + part + rest
                if is_utf8(text):
                    yield text


def _beginning(tail: bytes) -> Iterator[bytes]:
    """Yield the characters that begin with these bytes."""
    n_bytes = next((n for n, first in enumerate(FIRST_BYTES, 2) if tail[0] in first), 0)
    for rest in itertools.product(CONTINUATIONS, repeat=max(n_bytes - len(tail), 0)):
        text = tail + bytes(rest)
        if is_utf8(text):
            yield text
