"""The options of training, declared once, by the names that users type.

Parts of a dialect are passed on to the core, which checks them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Literal, TypedDict

from .progress import Progress

if TYPE_CHECKING:
    from bytepair._io.files import StrPath
    from bytepair._tokenizer import Tokenizer
    from bytepair._weights import Weight

    from .earlier import Earlier
    from .parity import Parity
    from .vetoes import GivenCuts

__all__ = [
    "DialectOptions",
    "FileOptions",
    "OnProgress",
    "TextOptions",
    "TrainingOptions",
]

OnProgress = bool | Callable[[Progress], object] | None


class DialectOptions(TypedDict, total=False):
    """Parts of a dialect that can be set one by one; see :func:`train`."""

    unit: Literal["byte", "character"]
    byte_ids: Literal["printable", "value"]
    pattern: str | Sequence[str] | None
    pattern_flavour: Literal["rust", "oniguruma"]
    unmatched: Literal["keep", "drop"]
    normalize: str | Sequence[str | tuple[str, ...]]
    lowercase: bool | Literal["always", "training", "never"]
    end_mark: str | None
    end_mark_kind: Literal["unit", "suffix"]
    continuing_prefix: str | None
    unknown_token: str | None
    fuse_unknown: bool
    byte_fallback: bool
    ties: Literal["smallest_ids", "first_seen", "largest_text"]
    min_count: int


class TrainingOptions(DialectOptions, total=False):
    """Options of learning; see :func:`train`."""

    vocab_size: int | None
    merges: int | None
    dialect: str | None
    special_tokens: Iterable[str]
    threads: int | None
    progress: OnProgress
    max_token_bytes: int | None
    max_token_chars: int | None
    whole_characters: bool
    max_words: int | None
    one_script: bool
    forbid: str | Sequence[str] | None
    veto: Callable[[str, str], bool] | None
    cuts: GivenCuts | StrPath | None
    superwords: int | Literal["auto"] | None
    whole_words: bool
    superword_pattern: str | Sequence[str] | None
    parity: Parity | bool | None
    min_piece_count: int | None
    min_sources: int | None
    character_coverage: Weight | None
    max_alphabet: int | None
    resume: Tokenizer | Earlier | StrPath | None
    initial_merges: Iterable[tuple[str | bytes, str | bytes]] | None
    log: StrPath | None


class TextOptions(TrainingOptions, total=False):
    """The options of :func:`train_from_iterator`."""

    separator: str | None
    memory_limit: int | None


class FileOptions(TextOptions, total=False):
    """The options of :func:`train`."""

    input_format: str | None
    field: str | None
    lines: bool
    skip_bad: bool
