"""A tokenizer in numbers and rows, without a corpus.

Takes time linear in the vocabulary: about a second for 200,000 tokens.
"""

from __future__ import annotations

import heapq
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from bytepair._expected import loaded
from bytepair._labels import harmless
from bytepair._numpy import np
from bytepair._plurals import amount
from bytepair._results import Result
from bytepair.analyze._behaviour import behaviour_of
from bytepair.analyze._likeness import Likeness, likeness
from bytepair.analyze._stats.tokens import BYTE, UNKNOWN, TokenTable, token_table
from bytepair.views._runs import PART_TITLES, labelled

from .parts import short

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bytepair import Tokenizer
    from bytepair._io.files import StrPath
    from bytepair.views._runs import Line

__all__ = ["KINDS", "LongToken", "Portrait", "facts_of", "portrait"]

N_LONGEST = 20
MAX_ADDED = 24
"""The number of added tokens that are listed."""

KINDS = (
    "letters",
    "letters after a space",
    "digits",
    "punctuation and symbols",
    "white space",
    "mixed",
    "part of a character",
    "byte of another character",
    "added or unknown",
)
"""Kinds of tokens, by their characters: each token is of one kind.

Letters include their marks. A ``mixed`` token has characters of several kinds: letters, digits,
white space and others. A ``part of a character`` is not valid UTF-8 on its own. A ``byte of another
character`` is a token for one byte of a character outside the alphabet.
"""


@dataclass(frozen=True)
class LongToken:
    """One of the longest tokens.

    ``text`` is its text without marks; ``n_characters`` and ``n_bytes`` are its length.
    """

    id: int
    text: str
    n_characters: int
    n_bytes: int


@dataclass(frozen=True, repr=False)
class Portrait(Result):
    """A tokenizer in numbers and rows.

    Attributes
    ----------
    likeness
        The dialects that it resembles.
    n_vocab, n_tokens
        The number of ids, holes included, and of tokens, added tokens included.
    n_merges, n_added
        The number of merges, and of added tokens.
    special_tokens, other_tokens
        Special tokens and other added tokens, with their ids, ordered by id.
    pipeline
        The parts of the tokenizer and their effects, in words.
    loses
        The parts of a text that decoding does not restore, in words; ``nothing`` if it
        restores everything.
    fingerprint
        A hash of everything that determines its results.
    behaviour
        A hash of the ids of one fixed text; ``None`` if the tokenizer refuses it.
    kinds
        The number of tokens of each of :data:`KINDS`, in this order.
    lengths
        The number of tokens of each length in bytes, without added tokens, from short to long.
    scripts
        The number of tokens of the model with letters of each script, the most frequent first;
        ``none`` for tokens without a letter, ``several`` for tokens with several scripts.
    longest
        The tokens with the most characters; added tokens and tokens without letters are left
        out.
    merge_counts
        The number of each merge, from 1 on, and the count of its pair in training; merges
        without a known count are left out (all of them in most published files).

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> found = portrait(tokenizer)
    >>> found.n_vocab, found.n_merges, found.longest[0].text, found.merge_counts
    (258, 2, 'low', ((1, 2), (2, 2)))
    >>> found.lengths
    ((1, 256), (2, 1), (3, 1))
    """

    likeness: Likeness
    n_vocab: int
    n_tokens: int
    n_merges: int
    n_added: int
    special_tokens: tuple[tuple[str, int], ...]
    other_tokens: tuple[tuple[str, int], ...]
    pipeline: tuple[tuple[str, str], ...]
    loses: str
    fingerprint: str
    behaviour: str | None
    kinds: tuple[tuple[str, int], ...]
    lengths: tuple[tuple[int, int], ...]
    scripts: tuple[tuple[str, int], ...]
    longest: tuple[LongToken, ...]
    merge_counts: tuple[tuple[int, int], ...]

    def _lines(self) -> list[Line]:
        return labelled(facts_of(self).items())


def portrait(tokenizer: Tokenizer | StrPath) -> Portrait:
    """Describe a tokenizer in numbers and rows.

    >>> import bytepair
    >>> portrait(bytepair.train_from_iterator(["ab"], vocab_size=256)).n_tokens
    256
    """
    tokenizer = loaded(tokenizer)
    parts = tokenizer.inspect().description
    loses = parts.pop("loses", "nothing")
    table = token_table(tokenizer)
    added = tokenizer.added_tokens
    specials = sorted(tokenizer.special_tokens.items(), key=lambda item: item[1])
    special_ids = {id_ for _name, id_ in specials}
    others = [(t.content, id_) for id_, t in added.items() if id_ not in special_ids]
    numbered = zip(table.texts, table.kinds.tolist(), strict=True)
    own = {
        id_: (content, kind)
        for id_, (content, kind) in enumerate(numbered)
        if kind < UNKNOWN and id_ not in added
    }
    kinds = Counter(
        "byte of another character" if kind == BYTE else kind_of(content)
        for content, kind in own.values()
    )
    kinds["added or unknown"] = table.n_tokens - len(own)
    lengths = Counter(len(content) for content, _ in own.values())
    log = enumerate(tokenizer.inspect().merge_log, start=1)
    return Portrait(
        likeness=likeness(tokenizer),
        n_vocab=tokenizer.n_vocab,
        n_tokens=table.n_tokens,
        n_merges=len(tokenizer.inspect().merge_log),
        n_added=len(added),
        special_tokens=tuple(specials),
        other_tokens=tuple(sorted(others, key=lambda item: item[1])),
        pipeline=tuple(parts.items()),
        loses=loses,
        fingerprint=tokenizer.fingerprint,
        behaviour=behaviour_of(tokenizer),
        kinds=tuple((kind, kinds[kind]) for kind in KINDS),
        lengths=tuple(sorted(lengths.items())),
        scripts=_scripts_of(table),
        longest=_longest(own),
        merge_counts=tuple(
            (step, count) for step, (*_, count) in log if count is not None
        ),
    )


def kind_of(content: bytes) -> str:
    r"""Return the kind of a token: one of :data:`KINDS`.

    >>> [
    ...     kind_of(content)
    ...     for content in (b"the", b" the", b"42", b"\xc3", b"\n\n", b"it's")
    ... ]
    ['letters', 'letters after a space', 'digits', 'part of a character', 'white space', 'mixed']
    """
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return "part of a character"
    if not text.strip():
        return "white space"
    body = text.removeprefix(" ")
    classes = {_class_of(character) for character in body}
    if classes == {"letters"}:
        return "letters" if body == text else "letters after a space"
    return classes.pop() if len(classes) == 1 else "mixed"


@lru_cache(maxsize=1 << 16)
def _class_of(character: str) -> str:
    if character.isspace():
        return "white space"
    first = unicodedata.category(character)[0]
    return {"L": "letters", "M": "letters", "N": "digits"}.get(
        first, "punctuation and symbols"
    )


def _scripts_of(table: TokenTable) -> tuple[tuple[str, int], ...]:
    """Count the tokens of the model by script, without tokens with part of a character."""
    is_counted = table.is_model & ~table.is_partial
    counts = np.bincount(table.scripts[is_counted], minlength=len(table.script_names))
    rows = zip(table.script_names, counts.tolist(), strict=True)
    return tuple(
        sorted((row for row in rows if row[1]), key=lambda row: (-row[1], row[0]))
    )


def _longest(own: Mapping[int, tuple[bytes, int]]) -> tuple[LongToken, ...]:
    """List the tokens with the most characters; of equally long tokens, the first.

    Tokens without a letter are left out: most repeat one character, as in ``-----``.
    """
    texts = ((id_, own[id_][0].decode(errors="replace")) for id_ in own)
    ranked = ((-len(text), id_) for id_, text in texts if any(map(str.isalpha, text)))
    return tuple(
        LongToken(id_, content.decode(errors="backslashreplace"), -n_less, len(content))
        for n_less, id_ in heapq.nsmallest(N_LONGEST, ranked)
        for content, _ in [own[id_]]
    )


def facts_of(portrait: Portrait) -> dict[str, str]:
    """Return the facts of a tokenizer by their titles."""
    likeness = portrait.likeness
    sizes = [
        amount(portrait.n_tokens, "token"),
        amount(portrait.n_merges, "merge"),
        amount(portrait.n_added, "added token"),
    ]
    if n_holes := portrait.n_vocab - portrait.n_tokens:
        sizes.append(f"{amount(n_holes, 'id')} that no token has")
    facts = {
        "dialect": f"like {likeness}"
        if likeness.names
        else "like none of the built-in ones",
        "size": ", ".join(sizes),
        "special tokens": _listed(portrait.special_tokens),
        "other added tokens": _listed(portrait.other_tokens),
        "loses": portrait.loses,
        "fingerprint": portrait.fingerprint,
        "behaviour": portrait.behaviour or "none: the text is refused",
        **{
            name: harmless(text)
            for name, text in portrait.pipeline
            if name not in ("vocabulary", "added tokens")
        },
    }
    return {PART_TITLES.get(title, title): text for title, text in facts.items()}


def _listed(tokens: Sequence[tuple[str, int]]) -> str:
    """List tokens with their ids."""
    listed = [f"{short(name)} {id_:,}" for name, id_ in tokens[:MAX_ADDED]]
    if len(tokens) > MAX_ADDED:
        listed.append(f"{len(tokens) - MAX_ADDED:,} more")
    return ", ".join(listed) or "none"
