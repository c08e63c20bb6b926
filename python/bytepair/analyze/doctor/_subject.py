"""The tokenizer to diagnose, with facts about it that are computed once."""

import json
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from bytepair import Tokenizer, _core
from bytepair._added import found_in_any_text
from bytepair._numpy import np
from bytepair.analyze._behaviour import behaviour_text
from bytepair.analyze._compare import torture
from bytepair.errors import TokenizerError

from ._finding import FoundToken

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bytepair._added import AddedToken

    from ._loaders import Loader
    from ._texts import Texts

    Rows = tuple[NDArray[np.uint32], NDArray[np.int64]]

__all__ = [
    "ADDED",
    "BYTE",
    "CONTINUES",
    "ENDS",
    "HOLE",
    "NOT_IN_UTF8",
    "Added",
    "Subject",
    "is_utf8",
    "plain",
    "probe_texts",
    "read_json",
]

Added: TypeAlias = Literal["find", "text"]

CONTINUES, ENDS = 1, 2
BYTE, UNKNOWN, ADDED, HOLE = 4, 5, 6, 7
"""Kinds of tokens that are not text; kinds of tokens of text are sums of the two marks above."""
KINDS = {"byte": BYTE, "unknown": UNKNOWN, "added": ADDED, "none": HOLE}

N_IN_WORDS = 800
"""The number of characters at the beginning of the fixed text whose words are also compared."""
NOT_IN_UTF8 = {0xC0, 0xC1, *range(0xF5, 0x100)}
"""Bytes that never occur in UTF-8."""


class Subject:
    """A tokenizer, its file, and the settings beside it."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        file: Path | None = None,
        *,
        is_folder: bool = False,
        tell: Callable[[str], object] = str,
    ) -> None:
        self.tokenizer, self.file, self.is_folder = tokenizer, file, is_folder
        self.tell = tell
        """Called with what is done next, in words."""
        self.inside = tokenizer.inspect()
        self.config: dict[str, Any] = {}
        """The content of ``tokenizer_config.json``."""
        self.model: dict[str, Any] = {}
        """The content of the model's ``config.json``."""
        self.counts: dict[str, int] = {"ids": tokenizer.n_vocab}
        self.unchecked: list[str] = []
        """The checks that are not possible, as sentences."""
        self.loaders: list[Loader] = []

    @cached_property
    def texts(self) -> "Texts":
        """The search for texts that contain a token."""
        from ._texts import Texts

        return Texts(self)

    @cached_property
    def document(self) -> dict[str, Any] | None:
        """The content of a ``tokenizer.json``; ``None`` for files of other formats."""
        if self.file is None or self.file.suffix != ".json":
            return None
        found = read_json(self.file)
        return found if isinstance(found.get("model"), dict) else None

    @cached_property
    def tokens(self) -> list[tuple[int, bytes]]:
        """The kind and the bytes of each token, without marks."""
        return [(_kind(token), token.bytes) for token in self.inside.tokens()]

    @cached_property
    def written(self) -> list[str]:
        """The tokens as written in the vocabulary, with marks and escapes."""
        return list(map(plain, self.tokenizer.vocabulary))

    @cached_property
    def rules(self) -> dict[str, Any]:
        """The rules by which text becomes units."""
        return self.inside.settings

    @property
    def fate_of_missing(self) -> str:
        """What happens to units outside the alphabet."""
        if self.rules["unknown"] is not None:
            return f"becomes {self.rules['unknown']}"
        return "is dropped" if self.rules["drops_missing"] else "is an error"

    def is_unknown(self, id_: int) -> bool:
        """Whether a token stands for units outside the alphabet."""
        is_named = self.written[id_] == self.rules["unknown"]
        return self.tokens[id_][0] == UNKNOWN or is_named

    @cached_property
    def added(self) -> "dict[int, AddedToken]":
        """The added tokens by id."""
        return self.tokenizer.added_tokens

    @cached_property
    def always_found(self) -> list[str]:
        """Added tokens that are found in the text of pieces, unless another overlaps them.

        Empty if one is found only as a single word, since it may prevent others, or if the text
        in which they are found is changed afterwards.
        """
        found = list(found_in_any_text(self.added).values())
        is_single = any(token.single_word for token in found)
        if not found or is_single or self.may_drop_units or self._changes_segments:
            return []
        return [
            token.content
            for token in found
            if not self.normalizes
            or (token.normalized and self.normalized(token.content) == token.content)
        ]

    def normalized(self, text: str) -> str:
        """Normalize a text; a text that is refused is returned unchanged."""
        try:
            return self.inside.normalized(text.encode())
        except TokenizerError:
            return text

    @cached_property
    def _parts(self) -> dict[str, Any]:
        return json.loads(self.tokenizer.to_bytes(format="bytepair"))  # type: ignore[no-any-return]

    @property
    def normalizes(self) -> bool:
        """Whether text is normalized before added tokens are looked for in it again."""
        return bool(self._parts["normalizer"])

    @property
    def _changes_segments(self) -> bool:
        """Whether the text between added tokens is changed afterwards."""
        return any(round_["change"] for round_ in self._parts["rounds"])

    @cached_property
    def text_ids(self) -> list[int]:
        """The ids of the tokens of text that are not also added tokens."""
        tokens = enumerate(self.tokens)
        return [
            id_ for id_, (kind, _) in tokens if kind < BYTE and id_ not in self.added
        ]

    @cached_property
    def single_bytes(self) -> set[int]:
        """The ids of single-byte tokens, if units are bytes."""
        if not self.rules["is_bytes"]:
            return set()
        return {id_ for id_ in self.text_ids if len(self.tokens[id_][1]) == 1}

    @cached_property
    def may_drop_units(self) -> bool:
        """Whether units of some UTF-8 text are left out, so that others become neighbours."""
        if not self.rules["drops_missing"]:
            return False
        there = {own[0] for kind, own in self.tokens if kind < BYTE and len(own) == 1}
        return not self.rules["is_bytes"] or len(there | NOT_IN_UTF8) < 256

    @cached_property
    def partial(self) -> list[int]:
        """The ids of tokens of text with part of a character, single bytes included."""
        return [id_ for id_ in self.text_ids if not is_utf8(self.tokens[id_][1])]

    @cached_property
    def unreached(self) -> tuple[set[int], set[int]]:
        """The tokens of text that merges do not make, and those that occur in no piece."""
        unmade, unplaced = _core.unreached(self.tokenizer)
        return set(unmade) - self.added.keys(), set(unplaced) - self.added.keys()

    @property
    def lost(self) -> set[int]:
        """The tokens of text that never occur in an encoding, unless they are whole pieces."""
        return set.union(*self.unreached)

    @cached_property
    def merges(self) -> list[tuple[int, int, int]]:
        """The merges in order: left id, right id, id."""
        return [(left, right, id_) for left, right, id_, _ in self.inside.merge_log]

    def found(self, id_: int, detail: str = "") -> FoundToken:
        """Describe a token of the vocabulary."""
        return FoundToken(id_, self.written[id_], detail)

    def all_found(self, ids: Iterable[int]) -> tuple[FoundToken, ...]:
        """Describe tokens, in the order of their ids."""
        return tuple(map(self.found, sorted(ids)))

    def encode_rows(
        self, rows: Sequence[bytes], added_tokens: Added = "find"
    ) -> "Rows":
        """Encode texts, with special tokens as text; texts that cannot be encoded have no ids."""
        offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        texts = np.frombuffer(b"".join(rows), np.uint8), offsets
        try:
            ids, ends = _core.encode_rows(
                self.tokenizer, texts, added_tokens=added_tokens
            )
        except TokenizerError:
            found = [self.ids_of(row, added_tokens) for row in rows]
            ends = np.cumsum([len(row) for row in found], dtype=np.int64)
            ids = np.array([id_ for row in found for id_ in row])
        return ids.astype(np.uint32, copy=False), ends

    def ids_of(self, text: bytes, added_tokens: Added = "find") -> list[int]:
        """Encode a text, with special tokens as text; without ids if the text is refused."""
        try:
            return self.tokenizer.encode(text, added_tokens=added_tokens)
        except TokenizerError:
            return []


def _kind(token: _core.Token) -> int:
    return KINDS.get(token.kind, token.continues * CONTINUES + token.ends * ENDS)


def read_json(file: Path) -> dict[str, Any]:
    """Read a JSON object; empty if the file does not contain one."""
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def probe_texts() -> list[str]:
    """Return texts to try, each once: difficult ones, and words and lines of the fixed text."""
    text = behaviour_text()
    words = text[:N_IN_WORDS].split(" ")
    return list(dict.fromkeys([*torture.TEXTS, *words, *text.splitlines()]))


def is_utf8(text: bytes) -> bool:
    """Return whether bytes are whole characters."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def plain(token: str | bytes | None) -> str:
    r"""Write a token as text, with escapes for bytes that are not part of a character.

    >>> plain(b"caf\xc3\xa9"), plain(b"\xc3"), plain(None)
    ('café', '\\xc3', '')
    """
    if isinstance(token, bytes):
        return token.decode(errors="backslashreplace")
    return token or ""
