"""A comparison of tokenizers in a sentence: which needs the fewest tokens, and what it does not keep.

Less than :data:`TIE` is no difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bytepair._labels import harmless
from bytepair._plurals import amount

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .stats import Stats

__all__ = ["Count", "verdict", "verdict_of"]

TIE = 0.01
"""The share of tokens below which two tokenizers need about the same number."""
NOTHING = "nothing"


@dataclass(frozen=True)
class Count:
    """The tokens of a tokenizer on a corpus.

    ``n_missing`` is the number of characters that no token stands for, ``n_unknown`` the number of unknown
    tokens, and ``loses`` what decoding does not restore, in words.
    """

    name: str
    tokens: int
    n_missing: int = 0
    n_unknown: int = 0
    loses: str = NOTHING


def verdict(counts: Sequence[Count]) -> list[str]:
    """Compare the tokens of a corpus, and name what some tokenizers do not keep of it.

    >>> verdict([Count("gpt2", 200), Count("qwen3", 102)])
    ['On this corpus qwen3 needs 49 % fewer tokens than gpt2.']
    >>> verdict([Count("a", 1000), Count("b", 1001), Count("c", 2000, 7)])
    ['On this corpus a and b need the fewest tokens, within 1 % of each other: 50 % fewer than c.', \
'c has no token for 7 characters of it.']
    """
    if len(counts) < 2 or not all(count.tokens for count in counts):
        return []
    return [f"On this corpus {_comparison(counts)}.", *_losses(counts)]


def verdict_of(stats: Stats) -> list[str]:
    """Compare the tokens of measurements."""
    named = zip(map(harmless, stats.names), stats.measurements, strict=True)
    return verdict(
        [
            Count(
                name,
                measured.total.tokens,
                measured.total.n_missing,
                int(measured.total.counts[measured.tokens.is_unknown].sum()),
                measured.tokenizer.inspect().description["loses"],
            )
            for name, measured in named
        ]
    )


def _comparison(counts: Sequence[Count]) -> str:
    ranked = sorted(counts, key=lambda count: count.tokens)
    best, most = ranked[0], ranked[-1]
    equal = [count.name for count in ranked if _fewer(best, count) < TIE]
    names = f"{', '.join(equal[:-1])} and {equal[-1]}" if equal[1:] else best.name
    if best.tokens == most.tokens:
        return f"{names} need the same number of tokens"
    if len(equal) == len(ranked):
        return f"{names} need about the same number of tokens, within 1 %"
    saved = f"{_percent(best, most)} fewer"
    if len(ranked) == 2:
        return f"{best.name} needs {saved} tokens than {most.name}"
    after = ranked[len(equal)]
    others = f"{_percent(best, after)} fewer than {after.name}"
    if after is not most:
        others += f", which is next, and {saved} than {most.name}, which needs the most"
    if len(equal) > 1:
        return f"{names} need the fewest tokens, within 1 % of each other: {others}"
    return f"{names} needs the fewest tokens: {others}"


def _fewer(one: Count, other: Count) -> float:
    return 1 - one.tokens / other.tokens


def _percent(one: Count, other: Count) -> str:
    return f"{min(round(100 * _fewer(one, other)), 99)} %"


def _losses(counts: Sequence[Count]) -> Iterator[str]:
    """Name the characters that have no token, and what some tokenizers lose and others do not."""
    is_same = len({count.loses for count in counts}) == 1
    for count in counts:
        if count.n_missing:
            n_missing = amount(count.n_missing, "character")
            yield f"{count.name} has no token for {n_missing} of it."
        if count.n_unknown:
            unknown = amount(count.n_unknown, "unknown token")
            yield f"{count.name} replaces parts of it by {unknown}."
        elif not count.n_missing and count.loses != NOTHING and not is_same:
            yield f"{count.name} does not restore every text; it loses {count.loses}."
