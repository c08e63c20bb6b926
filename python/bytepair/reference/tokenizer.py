"""All parts together: train a tokenizer, then encode and decode with it.

    text -> normalize -> split -> symbols -> merge -> ids -> bytes -> text

Special tokens are cut out of a text before anything else happens to it.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from itertools import chain
from typing import Any, Literal

import regex

from .count import Counts, count
from .decode import decode_bytes
from .dialects import SUPERWORDS, Dialect, find
from .encode import encode_piece, whole_pieces
from .normalize import normalize
from .split import split, split_once, to_bytes, to_text
from .train import NO_LIMITS, Limits, Merge, Pair, train
from .units import Token, Units, join, special, written


class UnknownTokenError(KeyError):
    """The vocabulary does not have a token or an id."""


@dataclass(frozen=True)
class Tokenizer:
    """A dialect and what was learned in it; ``tokens`` are in the order of their ids.

    ``priorities`` are those of the merges, if they differ from their positions; several
    merges may share one.
    """

    dialect: Dialect
    tokens: tuple[Token, ...]
    learned: tuple[Merge, ...]
    ignore_merges: bool = False
    priorities: tuple[int, ...] | None = None

    @cached_property
    def ids(self) -> dict[Token, int]:
        """Token -> id."""
        return {token: id_ for id_, token in enumerate(self.tokens)}

    @cached_property
    def ranks(self) -> dict[Pair, int]:
        """Pair -> priority of its merge."""
        pairs = [(merge.left, merge.right) for merge in self.learned]
        ranks = self.priorities or range(len(pairs))
        return dict(zip(pairs, ranks, strict=True))

    @cached_property
    def whole(self) -> dict[bytes, Token]:
        """Piece -> the token of the whole piece, if it has one and merges are then ignored."""
        tokens = self.tokens if self.ignore_merges else ()
        return whole_pieces(tokens, self.dialect.units)

    @property
    def special_tokens(self) -> dict[str, int]:
        """Special token -> id, without the token for unknown units."""
        unknown = self.dialect.units.unknown_token
        pairs = [(t.text.decode(), i) for t, i in self.ids.items() if t.form == "s"]
        return {name: id_ for name, id_ in pairs if name != unknown}

    @property
    def vocabulary(self) -> list[Any]:
        """The tokens by id, marks written out: ``bytes``, or ``str`` for characters."""
        return [self._show(token) for token in self.tokens]

    @property
    def merges(self) -> list[tuple[Any, Any]]:
        """The merged pairs in order, written like the vocabulary."""
        show = self._show
        return [(show(left), show(right)) for left, right, _ in self.learned]

    def inspect(self) -> "Tokenizer":
        """Return the object that has ``merge_log``, as ``bytepair.Tokenizer`` does: this one."""
        return self

    @property
    def merge_log(self) -> list[tuple[int, int, int, int]]:
        """The merges in order, as (left id, right id, id, count)."""
        ids = self.ids
        return [
            (ids[left], ids[right], ids[join(left, right)], n_pairs)
            for left, right, n_pairs in self.learned
        ]

    def split(self, text: str | bytes) -> list[Any]:
        """Cut a text into pieces, of the same type as the text."""
        pieces = list(cut_pieces(text, self.dialect))
        return [to_text(piece) for piece in pieces] if isinstance(text, str) else pieces

    def tokenize(self, text: str | bytes) -> list[str]:
        """Return the tokens of a text as text; a unit without a replacement appears as itself.

        Bytes that are not UTF-8 appear as escapes.
        """
        units = self.dialect.units
        pieces = cut_pieces(text, self.dialect)
        tokens = [token for piece in pieces for token in self._encode_piece(piece)]
        shown = [written(token, units) for token in tokens]
        return [token.decode(errors="backslashreplace") for token in shown]

    def encode(
        self, text: str | bytes, *, allowed_special: Collection[str] = ()
    ) -> list[int]:
        """Encode a text to ids; special tokens that are not allowed are plain text."""
        ids = []
        for segment in cut_segments(text, self.dialect.units, allowed_special):
            for token in self._encode_segment(segment):
                if token not in self.ids:
                    message = f"{self._show(token)!r} is not in the vocabulary"
                    raise UnknownTokenError(message)
                ids.append(self.ids[token])
        return ids

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Join the bytes of tokens."""
        return decode_bytes(self._find(ids))

    def decode(self, ids: Iterable[int], *, errors: str = "replace") -> str:
        """Join tokens to text; ``errors`` as in ``bytes.decode``."""
        tokens = [self._undo_replacements(token) for token in self._find(ids)]
        return decode_bytes(tokens).decode(errors=errors)

    def _find(self, ids: Iterable[int]) -> list[Token]:
        """Look up tokens by id."""
        tokens = []
        for id_ in ids:
            if not 0 <= id_ < len(self.tokens):
                message = f"no token has id {id_}; the last is {len(self.tokens) - 1}"
                raise UnknownTokenError(message)
            tokens.append(self.tokens[id_])
        return tokens

    def _undo_replacements(self, token: Token) -> Token:
        """Replace parts of a token of text as decoding does; bytes and special tokens stay."""
        text = token.text
        if not set(token.form) & set("xs"):
            for old, new in self.dialect.after_decoding:
                text = text.replace(old.encode(), new.encode())
        return Token(text, token.form)

    def _encode_segment(self, segment: "Segment") -> Iterator[Token]:
        if segment.is_special:
            yield special(segment.text)
            return
        for piece in segment_pieces(segment, self.dialect):
            yield from self._encode_piece(piece)

    def _encode_piece(self, piece: bytes) -> list[Token]:
        units = self.dialect.units
        return encode_piece(piece, self.ids, self.ranks, units, whole=self.whole)

    def _show(self, token: Token) -> bytes | str:
        text = written(token, self.dialect.units)
        return text if self.dialect.units.kind == "byte" else text.decode()


@dataclass(frozen=True)
class Segment:
    """A part of a text: a special token, or the text between two of them."""

    text: str
    is_special: bool
    is_first: bool


def cut_segments(
    text: str | bytes, units: Units, special_tokens: Collection[str]
) -> Iterator[Segment]:
    """Cut a text at special tokens: the leftmost first, and of several there the longest.

    >>> segments = cut_segments("a<s><s>b", Units(), ["<s>", "<s><s>"])
    >>> [segment.text for segment in segments]
    ['a', '<s><s>', 'b']
    """
    decoded = to_text(text, strict=units.kind == "character")
    longest_first = sorted(special_tokens, key=len, reverse=True)
    pattern = "|".join(regex.escape(name) for name in longest_first)
    parts = regex.split(f"({pattern})", decoded) if pattern else [decoded]
    for number, part in enumerate(parts):
        if part:
            yield Segment(part, is_special=number % 2 == 1, is_first=number == 0)


def segment_pieces(
    segment: Segment, dialect: Dialect, *, training: bool = False
) -> Iterator[bytes]:
    """Normalize and split a segment.

    >>> segment = Segment("Low", is_special=False, is_first=True)
    >>> list(segment_pieces(segment, find("jurafsky-martin")))
    [b'low']
    """
    steps = dialect.normalize
    if dialect.lowercase == "always" or (dialect.lowercase == "training" and training):
        steps = (("lowercase",), *steps)
    text = normalize(segment.text, steps, is_first=segment.is_first)
    return (to_bytes(piece) for piece in split(text, dialect.split))


def cut_pieces(
    text: str | bytes,
    dialect: Dialect,
    *,
    special_tokens: Collection[str] = (),
    training: bool = False,
) -> Iterator[bytes]:
    """Yield the pieces of a text, without special tokens.

    >>> list(cut_pieces("two words<s>", find("gpt2"), special_tokens=["<s>"]))
    [b'two', b' words']
    """
    for segment in cut_segments(text, dialect.units, special_tokens):
        if not segment.is_special:
            yield from segment_pieces(segment, dialect, training=training)


def train_from_iterator(
    texts: Iterable[str | bytes],
    *,
    dialect: str | Dialect = "gpt4o",
    vocab_size: int | None = None,
    merges: int | None = None,
    special_tokens: Collection[str] = (),
    limits: Limits = NO_LIMITS,
    min_sources: int = 1,
    **options: object,
) -> Tokenizer:
    """Train on texts; ``options`` replace single parts of the dialect.

    Training stops at ``vocab_size`` tokens, including special ones, at the number of
    ``merges``, or when no pair is frequent enough. Pieces of fewer than ``min_sources`` texts are
    left out.

    >>> texts = ["low low low low low lower lower newest newest newest"]
    >>> tokenizer = train_from_iterator(texts, dialect="sennrich", merges=4)
    >>> tokenizer.merges
    [('l', 'o'), ('lo', 'w'), ('low', '</w>'), ('n', 'e')]
    >>> tokenizer.tokenize("new lows")
    ['ne', 'w', '</w>', 'low', 's', '</w>']
    """
    chosen = choose(dialect, options)
    cut = partial(cut_pieces, special_tokens=special_tokens, training=True)
    by_text = [list(cut(text, chosen)) for text in texts]
    n_texts = Counter(piece for pieces in by_text for piece in set(pieces))
    kept = (piece for piece in chain(*by_text) if n_texts[piece] >= min_sources)
    return learn(count(kept), chosen, vocab_size, merges, special_tokens, limits)


def train_superwords(
    texts: Collection[str | bytes],
    *,
    superwords: int | Literal["auto"],
    superword_pattern: str = SUPERWORDS,
    whole_words: bool = False,
    dialect: str | Dialect = "gpt4o",
    merges: int,
    special_tokens: Collection[str] = (),
    limits: Limits = NO_LIMITS,
    **options: object,
) -> Tokenizer:
    """Train within words for ``superwords`` merges, then on texts that the second pattern splits.

    With ``whole_words``, the second stage joins only words that are one token each. With
    ``"auto"``, it does so too, and the most frequent merges of both stages are kept.

    >>> texts = ["of the best of the rest"] * 2
    >>> train_superwords(texts, superwords=7, merges=9).merges[7:]
    [(b'of', b' the'), (b'of the', b' ')]
    """
    chosen = choose(dialect, options)
    beyond = replace(chosen, split=((superword_pattern, "keep"),))
    cut = partial(cut_pieces, special_tokens=special_tokens, training=True)
    within, across = (
        count(piece for text in texts for piece in cut(text, stage))
        for stage in (chosen, beyond)
    )
    n_first = merges if superwords == "auto" else superwords
    first = learn(within, chosen, None, n_first, special_tokens, limits)
    if superwords != "auto":
        parts = partial(runs_of_words, first) if whole_words else None
        return learn(
            across, beyond, None, merges, special_tokens, limits, first.learned, parts
        )
    least = first.learned[-1].n_pairs + 1 if first.learned else 1
    joined = learn(
        across,
        replace(beyond, min_count=least),
        None,
        2 * len(first.learned),
        special_tokens,
        limits,
        first.learned,
        partial(runs_of_words, first),
    )
    n_merges = len(first.learned)
    kept = compete(joined.learned[:n_merges], joined.learned[n_merges:])
    return learn(across, beyond, None, n_merges, special_tokens, limits, kept)


def compete(within: Sequence[Merge], beyond: Sequence[Merge]) -> list[Merge]:
    """Return as many merges as ``within`` has, each the more frequent of the next ones of both lists.

    The one within words comes first if both are equally frequent, or if a token of the other does not exist yet.
    """
    made = {join(merge.left, merge.right) for merge in within}
    within, beyond, kept = list(within), list(beyond), []
    for _ in range(len(within)):
        parts = set(beyond[0][:2]) if beyond else set()
        if beyond and not (parts & made) and beyond[0].n_pairs > within[0].n_pairs:
            kept.append(beyond.pop(0))
        else:
            kept.append(within.pop(0))
            made.discard(join(kept[-1].left, kept[-1].right))
    return kept


def runs_of_words(tokenizer: Tokenizer, piece: bytes) -> list[list[Token]]:
    """Return the runs of words in a piece that have a letter and are one token each.

    >>> first = train_from_iterator(["of the a"] * 2, merges=9)
    >>> [len(run) for run in runs_of_words(first, b"of the a, the")]
    [3, 1]
    """
    known, ranks = tokenizer.ids, tokenizer.ranks
    runs: list[list[Token]] = [[]]
    for word in split(to_text(piece), tokenizer.dialect.split):
        tokens = encode_piece(to_bytes(word), known, ranks, tokenizer.dialect.units)
        has_letter = any(is_match for _, is_match in split_once(word, r"\p{L}"))
        if len(tokens) == 1 and has_letter:
            runs[-1] += tokens
        else:
            runs.append([])
    return [run for run in runs if run]


def train_from_counts(
    counts: Mapping[str | bytes, int],
    *,
    dialect: str | Dialect = "gpt4o",
    vocab_size: int | None = None,
    merges: int | None = None,
    special_tokens: Collection[str] = (),
    limits: Limits = NO_LIMITS,
    **options: object,
) -> Tokenizer:
    """Train on counted pieces, in the order of their first occurrence.

    A piece with a count of 0 does not occur.

    >>> counts = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    >>> tokenizer = train_from_counts(counts, dialect="unknown-token", merges=3)
    >>> tokenizer.tokenize("thug")
    ['[UNK]', 'hug']
    """
    placed = {
        to_bytes(to_text(piece)): (n_pieces, position)
        for position, (piece, n_pieces) in enumerate(counts.items())
        if n_pieces
    }
    chosen = choose(dialect, options)
    return learn(placed, chosen, vocab_size, merges, special_tokens, limits)


def choose(dialect: str | Dialect, options: Mapping[str, object]) -> Dialect:
    """Return a dialect with some of its parts or units replaced.

    >>> choose("gpt2", {"min_count": 5, "byte_ids": "value"}).units.byte_ids
    'value'
    """
    chosen = find(dialect) if isinstance(dialect, str) else dialect
    names = {field.name for field in fields(Units)}
    changed = {name: value for name, value in options.items() if name in names}
    parts = {name: value for name, value in options.items() if name not in names}
    units = replace(chosen.units, **changed)  # type: ignore[arg-type]
    return replace(chosen, units=units, **parts)  # type: ignore[arg-type]


def learn(
    counts: Counts,
    dialect: Dialect,
    vocab_size: int | None,
    n_merges: int | None,
    special_tokens: Collection[str],
    limits: Limits = NO_LIMITS,
    begin: Sequence[Merge] = (),
    parts: Callable[[bytes], list[list[Token]]] | None = None,
) -> Tokenizer:
    """Train, and put the unknown token and the special tokens after the others."""
    if isinstance(special_tokens, (set, frozenset)):
        message = "special_tokens is a set, whose order changes, and the ids with it"
        raise TypeError(message)
    unknown = dialect.units.unknown_token
    names = dict.fromkeys([*([unknown] if unknown else []), *special_tokens])
    tokens, learned = train(
        counts,
        dialect.units,
        ties=dialect.ties,
        min_count=dialect.min_count,
        n_tokens=None if vocab_size is None else vocab_size - len(names),
        n_merges=n_merges,
        limits=limits,
        begin=begin,
        parts=parts,
    )
    tokens += [special(name) for name in names]
    return Tokenizer(dialect, tuple(tokens), tuple(learned))
