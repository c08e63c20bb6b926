"""Whether the ids of a text are those of the base with some neighbours joined.

The ids of both are laid out along the text: where a new id ends, an old one must also end, and a new id
that stands for one old id is that id. Lengths are those of the tokens' bytes, or of the parts from which
merges make a new token, so that normalized text, marks and unknown units need no special case.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from bytepair._plurals import amount
from bytepair.errors import TokenizerError

from .faults import Case, Fault
from .pairing import token_names
from .shrinking import shrink

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from bytepair._tokenizer import Tokenizer

    from .pairing import Pairing

__all__ = ["NO_TEXTS", "Joined", "Joining"]

Allowed: TypeAlias = Literal["all"] | list[str]

MAX_SHOWN = 12
"""At most this many tokens are shown."""
MAX_LEN = 4096
"""At most this many characters of a text are kept."""


@dataclass(frozen=True)
class Joined:
    """The ids of texts that were compared."""

    n_texts: int
    tokens_before: int
    tokens_after: int


NO_TEXTS = Joined(0, 0, 0)


@dataclass
class Joining:
    """Compares texts, one after the other; ids of both tokenizers mean the same.

    Special tokens of the base are found in texts; new ones are not.
    """

    pairing: Pairing
    n_texts: int = 0
    wrong: list[tuple[str, str]] = field(default_factory=list)
    """What is wrong, with a text."""

    def __post_init__(self) -> None:
        base, new = self.pairing.tokenizers
        known, now = base.special_tokens, new.special_tokens
        shared: Allowed = [token for token in known if token in now]
        self.allowed_new: Allowed = "all" if now.keys() <= known.keys() else shared
        self.before, self.after = _lengths(self.pairing)
        self.old_of = np.array(self.pairing.old_of, np.int64)

    def add(self, texts: Iterable[str]) -> Joined:
        """Compare texts, and count them and their tokens."""
        n_texts, before, after = 0, 0, 0
        for text in texts:
            n_texts += 1
            rows = self._rows(text)
            why = self._why(text, rows)
            if why:
                self.wrong.append((why, text))
            if rows[0] is not None and rows[1] is not None:
                before += len(rows[0])
                after += len(rows[1])
        self.n_texts += n_texts
        return Joined(n_texts, before, after)

    def faults(self) -> Iterator[Fault]:
        """Yield the faults, with the first text made small."""
        if not self.wrong:
            return
        why, text = self.wrong[0]
        small = shrink(text, lambda part: self._why(part, self._rows(part)) == why)
        before, after = (
            "none"
            if row is None
            else ", ".join(token_names(one, row.tolist()[:MAX_SHOWN]))
            for one, row in zip(self.pairing.tokenizers, self._rows(small), strict=True)
        )
        message = (
            f"{why} in {len(self.wrong):,} of {amount(self.n_texts, 'text')}, such as "
            f"{small!r}: {after}; in the base {before}"
        )
        others = (Case(text[:MAX_LEN], None, why) for why, text in self.wrong[1:])
        yield Fault("texts", message, (Case(small, before, after), *others))

    def _rows(self, text: str) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
        return (
            _encoded(self.pairing.tokenizers[0], text, "all"),
            _encoded(self.pairing.tokenizers[1], text, self.allowed_new),
        )

    def _why(
        self, text: str, rows: tuple[NDArray[Any] | None, NDArray[Any] | None]
    ) -> str:
        """Describe what is wrong with a text; nothing if the base refuses it."""
        old, new = rows
        if old is None:
            return ""
        if new is None:
            return "no ids"
        if not self._is_joined(old, new):
            return "other ids than joined old ones"
        # If normalizing or decoding loses something, less of it may be lost now.
        base, other = self.pairing.tokenizers
        if base.decode(old) == text and other.decode(new) != text:
            return "other decoded text"
        return ""

    def _is_joined(self, old: NDArray[Any], new: NDArray[Any]) -> bool:
        if len(old) == len(new):
            return bool((self.old_of[new] == old).all())
        old_ends, new_ends = self.before[old].cumsum(), self.after[new].cumsum()
        if len(new) > len(old) or not len(new) or old_ends[-1] != new_ends[-1]:
            return False
        # For each new id, the last old one that ends where it ends.
        places = np.searchsorted(old_ends, new_ends, side="right") - 1
        if (places < 0).any() or (old_ends[places] != new_ends).any():
            return False
        n_parts = np.diff(places, prepend=-1)
        alone = n_parts == 1
        return bool((self.old_of[new[alone]] == old[places[alone]]).all())


def _encoded(tokenizer: Tokenizer, text: str, allowed: Allowed) -> NDArray[Any] | None:
    try:
        ids = tokenizer.encode_to_numpy(text, allowed_special=allowed)
    except TokenizerError:
        return None
    return ids.astype(np.int64)


def _lengths(pairing: Pairing) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the length of each token of both in a text."""
    before, after = (
        np.array([len(token.bytes) for token in one.inspect().tokens()], np.int64)
        for one in pairing.tokenizers
    )
    for id_, old in enumerate(pairing.old_of):
        if old >= 0 and id_ != old:
            after[id_] = before[old]
    waiting = set(pairing.new_ids)
    for left, right, made, _count in pairing.tokenizers[1].inspect().merge_log:
        if made in waiting and left not in waiting and right not in waiting:
            after[made] = after[left] + after[right]
            waiting.remove(made)
    return before, after
