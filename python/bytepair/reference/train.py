"""Counts -> merges: learn the vocabulary.

Start from single symbols; again and again join the pair of neighbours that is
most frequent. This is the whole of byte-pair encoding (Sennrich et al. 2016).
Every step counts all pairs anew, so the cost is merges times the distinct pieces.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import chain, pairwise
from typing import NamedTuple

from .count import Counts
from .split import split_once, to_text
from .unicode import property_ranges, table
from .units import Token, Units, alphabet, join, symbols, written

Pair = tuple[Token, Token]
Word = tuple[list[Token], int]  # a piece as it is now segmented, and its count


class Merge(NamedTuple):
    """One step of training: two tokens that become one, and how often they met."""

    left: Token
    right: Token
    n_pairs: int


@dataclass(frozen=True)
class Limits:
    """Limits of every learned token, without its marks, and of the characters that get ids.

    No token matches one of the patterns ``forbidden`` anywhere, and with ``one_script`` none has
    characters of several scripts. ``veto`` says whether two tokens, with their marks,
    must not be merged. No merge crosses the places in a piece, in bytes, that ``cuts`` gives.
    ``character_coverage`` is a share of all occurrences of characters.
    """

    max_token_bytes: int | None = None
    max_token_chars: int | None = None
    whole_characters: bool = False
    forbidden: tuple[str, ...] = ()
    one_script: bool = False
    veto: Callable[[bytes, bytes], bool] = lambda _left, _right: False
    cuts: Callable[[bytes], Sequence[int]] = lambda _piece: ()
    character_coverage: Fraction | None = None
    max_alphabet: int | None = None


@dataclass(frozen=True)
class Parity:
    """How several groups choose merges in turn; see :func:`most_in_need`.

    ``parallel`` has the counts of one text in the language of each group, ``ratio`` a number for
    each group. ``window`` has a number of choices, and how many times its equal share of
    them a group may make. The first ``global_merges`` merges are chosen by all groups together.
    """

    groups: Sequence[Counts] = ()
    parallel: Sequence[Counts] = ()
    ratio: Sequence[float] | None = None
    window: tuple[int, float] | None = None
    global_merges: int = 0


NO_LIMITS = Limits()
NO_PARITY = Parity()
CHARACTER = (
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
    rb"|[^\x80-\xbf\xc2-\xf4]"
)
PART = (
    rb"[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2}|[\x80-\xbf]{1,3}"
)


def train(
    counts: Counts,
    units: Units,
    *,
    ties: str = "smallest_ids",
    min_count: int = 2,
    n_tokens: int | None = None,
    n_merges: int | None = None,
    limits: Limits = NO_LIMITS,
    begin: Sequence[Merge] = (),
    parts: Callable[[bytes], list[list[Token]]] | None = None,
    parity: Parity = NO_PARITY,
) -> tuple[list[Token], list[Merge]]:
    """Learn until there are ``n_tokens`` tokens or ``n_merges`` merges.

    ``counts`` are those of the whole corpus and of parallel texts. With ``parity``, groups choose the merges.

    Training stops earlier if no pair occurs ``min_count`` times. It may ``begin`` with earlier
    merges, which are made in their order. ``parts`` returns the parts of a piece as tokens of
    these merges; by default, they are its symbols between cuts. Returns the tokens in
    the order of their ids, and the merges. Every merge makes a new token: text
    between two borders that no merge has crossed is segmented as if it were alone,
    so the same units never come from two different pairs.

    >>> tokens, merges = train({b"aaab": (2, 0), b"ab": (1, 1)}, Units())
    >>> [(merge.left.text, merge.right.text, merge.n_pairs) for merge in merges]
    [(b'a', b'a', 4), (b'a', b'b', 3), (b'aa', b'ab', 2)]
    >>> [token.text for token in tokens[256:]]
    [b'aa', b'ab', b'aaab']
    """
    begun = parts or (lambda piece: divided(symbols(piece, units), limits.cuts(piece)))
    groups = [words_of(group, begun) for group in parity.groups or [counts]]
    parallel = [words_of(text, begun) for text in parity.parallel]
    kept = kept_characters(counts, limits)
    letters = [
        letter
        for letter in alphabet([symbols(piece, units) for piece in counts], units)
        if kept is None or not is_character(letter) or character_of(letter) in kept
    ]
    if n_tokens is not None and n_tokens < len(letters):
        message = f"{n_tokens} tokens cannot hold the alphabet of {len(letters)}"
        raise ValueError(message)
    ids = {token: id_ for id_, token in enumerate(letters)}
    initial = [length(words, ids, units) for words in parallel or groups]
    merges = list(begin)
    for left, right, _ in begin:
        ids[join(left, right)] = len(ids)
        if parts is None:
            merge_all([*groups, *parallel], (left, right))
    history: list[int] = []
    while len(ids) != n_tokens and len(merges) != n_merges:
        together = [count_pairs(chain(*groups))]
        apart = [count_pairs(words) for words in groups]
        is_global = len(groups) == 1 or len(merges) < parity.global_merges
        choosing = together if is_global else apart
        for pair_counts in choosing:
            for pair in list(pair_counts):  # a unit without an id is in none
                if not (set(pair) <= ids.keys() and is_allowed(pair, limits, units)):
                    del pair_counts[pair]
        able = [
            place
            for place, pair_counts in enumerate(choosing)
            if max(pair_counts.values(), default=0) >= max(min_count, 1)
        ]
        if not able:
            break
        group = 0
        if not is_global:
            now = [length(words, ids, units) for words in parallel or groups]
            group = most_in_need(able, initial, now, parity, history)
            history.append(group)
        pair = best_pair(choosing[group], ids, units, ties)
        merges.append(Merge(*pair, together[0][pair]))
        ids[join(*pair)] = len(ids)
        merge_all([*groups, *parallel], pair)
    return list(ids), merges


def words_of(counts: Counts, parts: Callable[[bytes], list[list[Token]]]) -> list[Word]:
    """Return the parts of pieces, in the order of their first occurrence.

    >>> words = words_of({b"ab": (2, 0)}, lambda piece: [symbols(piece, Units())])
    >>> [([symbol.text for symbol in word], n_pieces) for word, n_pieces in words]
    [([b'a', b'b'], 2)]
    """
    return [
        (part, n_pieces)
        for piece, (n_pieces, _) in sorted(counts.items(), key=lambda item: item[1][1])
        for part in parts(piece)
    ]


def merge_all(corpora: Iterable[list[Word]], pair: Pair) -> None:
    """Join every occurrence of a pair, in place.

    >>> a, words = Token(b"a", "u"), [([Token(b"a", "u")] * 2, 1)]
    >>> merge_all([words], (a, a))
    >>> [token.text for token in words[0][0]]
    [b'aa']
    """
    for words in corpora:
        words[:] = [(merge(word, pair), n_pieces) for word, n_pieces in words]


def length(words: Iterable[Word], ids: dict[Token, int], units: Units) -> int:
    """Return the number of tokens; one without an id counts as its bytes if they stand for it.

    >>> a, é = Token(b"a", "u"), Token("é".encode(), "u")
    >>> length([([a, é], 3)], {a: 0}, Units())
    6
    """
    return sum(
        n_pieces * (len(token.text) if units.byte_fallback and token not in ids else 1)
        for word, n_pieces in words
        for token in word
    )


def most_in_need(
    groups: Sequence[int],
    initial: Sequence[int],
    now: Sequence[int],
    parity: Parity,
    history: Sequence[int],
) -> int:
    """Return which of some groups chooses: the one with the longest text, or the one that was shortened least.

    A group that chose too often recently waits, unless all do. Of equals, the first chooses.

    >>> most_in_need([0, 1], [9, 9], [4, 6], NO_PARITY, [])
    1
    >>> most_in_need([0, 1], [9, 9], [4, 6], Parity(ratio=[4.0, 1.0]), [])
    0
    >>> most_in_need([0, 1], [9, 9], [4, 6], Parity(window=(2, 1.0)), [1, 1])
    0
    """

    def need(group: int) -> tuple[bool, float]:
        waits = False
        if parity.window is not None:
            n_last, alpha = parity.window
            waits = history[-n_last:].count(group) / n_last > alpha / len(now)
        if parity.ratio is None:
            return waits, -now[group]
        return waits, initial[group] / now[group] / parity.ratio[group]

    return min(groups, key=need)


def kept_characters(counts: Counts, limits: Limits) -> set[str] | None:
    """Return the characters that get ids, or ``None`` if all do.

    They are the most frequent ones, and of equals those with smaller code points, until they
    cover ``character_coverage``, and at most ``max_alphabet``.

    >>> counts = {b"aab": (3, 0), b"cd": (1, 1)}
    >>> sorted(kept_characters(counts, Limits(max_alphabet=3)))
    ['a', 'b', 'c']
    >>> sorted(kept_characters(counts, Limits(character_coverage=Fraction(9, 11))))
    ['a', 'b']
    """
    if limits.character_coverage is None and limits.max_alphabet is None:
        return None
    n_of: Counter[str] = Counter()
    for piece, (n_pieces, _) in counts.items():
        for character in piece.decode():
            n_of[character] += n_pieces
    wanted = (limits.character_coverage or 1) * n_of.total()
    kept: list[str] = []
    for character in sorted(n_of, key=lambda character: (-n_of[character], character)):
        covered = sum(n_of[earlier] for earlier in kept)
        if covered >= wanted or len(kept) == limits.max_alphabet:
            break
        kept.append(character)
    return set(kept)


def is_character(letter: Token) -> bool:
    """Return whether a letter is a character, not a byte for fallback or an end mark of its own.

    >>> is_character(Token(b"a ", "ue")), is_character(Token(b" ", "e"))
    (True, False)
    """
    return letter.form[0] in "u#"


def character_of(letter: Token) -> str:
    """Return the character of a letter, without marks.

    >>> character_of(Token("é ".encode(), "ue"))
    'é'
    """
    return letter.text.decode()[0]


def count_pairs(words: Iterable[Word]) -> Counter[Pair]:
    """Count neighbours, overlapping ones too; pairs are in order of first occurrence.

    >>> a, b = Token(b"a", "u"), Token(b"b", "u")
    >>> count_pairs([([a, a, a, b], 10)]) == {(a, a): 20, (a, b): 10}
    True
    """
    pair_counts: Counter[Pair] = Counter()
    for word, n_pieces in words:
        for pair in pairwise(word):
            pair_counts[pair] += n_pieces
    return pair_counts


def divided(word: list[Token], cuts: Sequence[int]) -> list[list[Token]]:
    """Divide the symbols of a piece where it is cut; each belongs to the part in which it begins.

    >>> word = [Token(b"a", "u"), Token(b"b", "u"), Token(b"c", "u")]
    >>> [len(part) for part in divided(word, [1])]
    [1, 2]
    """
    parts: list[list[Token]] = [[]]
    place = 0
    for symbol in word:
        if place in cuts:
            parts.append([])
        parts[-1].append(symbol)
        place += len(symbol.text) - (symbol.form[-1] == "e")
    return parts


def is_allowed(pair: Pair, limits: Limits, units: Units) -> bool:
    """Return whether a pair may be merged.

    >>> pair = Token(b"a", "u"), Token(b"b", "u")
    >>> is_allowed(pair, Limits(veto=lambda left, right: right == b"b"), Units())
    False
    """
    left, right = (written(token, units) for token in pair)
    return not limits.veto(left, right) and keeps_to(limits, join(*pair), units)


def keeps_to(limits: Limits, token: Token, units: Units) -> bool:
    r"""Return whether a token may be learned.

    An end mark that is a unit of its own is a whole character.

    >>> whole = Limits(whole_characters=True)
    >>> [keeps_to(whole, Token(t, "uu"), Units()) for t in (b"\xe6\x97", b"a\xe6")]
    [True, False]
    >>> keeps_to(Limits(max_token_chars=2), Token("日本x".encode(), "u" * 7), Units())
    False
    """
    text, form = token
    plain = text[:-1] if form[-1] == "e" else text
    n_characters = sum(byte & 0xC0 != 0x80 for byte in plain)
    if limits.max_token_bytes is not None and len(plain) > limits.max_token_bytes:
        return False
    if limits.max_token_chars is not None and n_characters > limits.max_token_chars:
        return False
    shown = to_text(plain)
    for pattern in limits.forbidden:
        if any(is_match for _part, is_match in split_once(shown, pattern)):
            return False
    if limits.one_script and len(scripts(shown)) > 1:
        return False
    if not limits.whole_characters:
        return True
    seen = text if units.end_mark_kind == "unit" else plain
    return re.fullmatch(rb"(?s:(?:%b)*|%b)" % (CHARACTER, PART), seen) is not None


def scripts(text: str) -> set[str]:
    """Return the scripts of a text: Han, Hiragana and Katakana are one, shared characters have none.

    >>> sorted(scripts("日本の a1"))
    ['Han', 'Latin']
    """
    together = {"Hiragana": "Han", "Katakana": "Han"}
    found = {script_of(character) for character in text}
    return {together.get(name, name) for name in found - {"Common", "Inherited", ""}}


@cache
def script_of(character: str) -> str:
    """Return the name of the script of a character, or an empty text if it has none.

    >>> script_of("я")
    'Cyrillic'
    """
    for name in table():
        if name.startswith("Script="):
            ranges = property_ranges(name)
            if any(first <= ord(character) <= last for first, last in ranges):
                return name.removeprefix("Script=")
    return ""


def best_pair(
    pair_counts: Counter[Pair], ids: dict[Token, int], units: Units, ties: str
) -> Pair:
    """Return the most frequent pair; ``ties`` decides which of several.

    ``smallest_ids``: the pair of smaller (left id, right id). ``first_seen``: the
    pair that occurs first in the text. ``largest_text``: the pair of larger
    (left, right) as written; if even that is equal, of larger ids.

    >>> a, b = Token(b"a", "u"), Token(b"b", "u")
    >>> pair_counts = Counter({(b, a): 7, (a, b): 7, (b, b): 7})
    >>> for ties in ("smallest_ids", "first_seen", "largest_text"):
    ...     left, right = best_pair(pair_counts, {a: 0, b: 1}, Units(), ties)
    ...     print(left.text + right.text)
    b'ab'
    b'ba'
    b'bb'
    """
    top = max(pair_counts.values())
    pairs = [pair for pair, n_pairs in pair_counts.items() if n_pairs == top]

    def by_ids(pair: Pair) -> list[int]:
        return [ids[token] for token in pair]

    def by_text(pair: Pair) -> tuple[list[bytes], list[int]]:
        return [written(token, units) for token in pair], by_ids(pair)

    if ties == "smallest_ids":
        return min(pairs, key=by_ids)
    if ties == "largest_text":
        return max(pairs, key=by_text)
    if ties == "first_seen":
        return pairs[0]  # a Counter keeps the order in which keys were added
    message = f"unknown rule for ties {ties!r}"
    raise ValueError(message)


def merge(word: list[Token], pair: Pair) -> list[Token]:
    """Join every occurrence of a pair, from left to right, without overlap.

    >>> a = Token(b"a", "u")
    >>> [token.text for token in merge([a, a, a], (a, a))]
    [b'aa', b'a']
    """
    merged = []
    position = 0
    while position < len(word):
        if tuple(word[position : position + 2]) == pair:
            merged.append(join(*pair))
            position += 2
        else:
            merged.append(word[position])
            position += 1
    return merged
