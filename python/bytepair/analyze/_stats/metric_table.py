"""The metrics of a tokenizer on a corpus: name, unit, formula and caveat.

`docs/reference/metrics.md` says the same, and a test compares the two. All are ratios of sums
over all texts, never means of ratios: a long document counts for more than a short one. Nothing
here reads a corpus.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from bytepair._numpy import np

from .metrics import gini, ratio, renyi_efficiency, shannon_efficiency

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from .meter import GroupSums, Measurement
    from .tokens import TokenTable

__all__ = ["METRICS", "SECTIONS", "Measured", "Metric", "Value"]

Value: TypeAlias = "float | int | None"


@dataclass(frozen=True)
class Measured:
    """The input of a metric: a measurement, and the group to compute it for."""

    measurement: Measurement
    group: str | None
    baseline: str | None

    @property
    def sums(self) -> GroupSums:
        """Sums over the texts of the group."""
        return self.measurement.of(self.group)

    @property
    def tokens(self) -> TokenTable:
        """The vocabulary."""
        return self.measurement.tokens


@dataclass(frozen=True)
class Metric:
    """A number that a tokenizer has on a corpus.

    Attributes
    ----------
    key
        The name in JSON and tables.
    title
        The name for readers.
    unit
        The unit; a ``share`` is between 0 and 1.
    formula
        The formula, in words.
    caveat
        The limits of its meaning.
    compute
        Computes its value; ``None`` if it does not exist.
    best
        Whether the most or the fewest is best; empty if neither is.
    of_all, by_group
        Whether it exists for all texts together, and for a group.
    """

    key: str
    title: str
    unit: str
    formula: str
    caveat: str
    compute: Callable[[Measured], Value]
    best: Literal["", "most", "fewest"] = ""
    of_all: bool = True
    by_group: bool = True


# Building blocks of metrics


def _sum(name: str) -> Callable[[Measured], Value]:
    return lambda measured: int(getattr(measured.sums, name))


def _ratio(numerator: str, denominator: str) -> Callable[[Measured], Value]:
    def of_sums(measured: Measured) -> Value:
        sums = measured.sums
        return ratio(getattr(sums, numerator), getattr(sums, denominator))

    return of_sums


def _of_types(name: str) -> Callable[[Measured], Value]:
    def of_types(measured: Measured) -> Value:
        types = measured.measurement.word_types
        return None if types is None else ratio(getattr(types, name), types.types)

    return of_types


def _premium(measured: Measured) -> Value:
    base = measured.measurement.groups[str(measured.baseline)]
    return ratio(measured.sums.tokens, base.tokens)


def _costs(measured: Measured) -> list[int]:
    return [sums.tokens for sums in measured.measurement.groups.values()]


def _most_to_fewest(measured: Measured) -> Value:
    costs = _costs(measured)
    return ratio(max(costs), min(costs))


def _used(measured: Measured) -> int:
    return int(np.count_nonzero(measured.sums.counts))


def _n_kind(name: str) -> Callable[[Measured], Value]:
    """Count the tokens of the vocabulary that are of a kind."""
    return lambda measured: int(np.count_nonzero(_kind(measured, name)))


def _share_of_kind(name: str) -> Callable[[Measured], Value]:
    """Compute the share of occurrences of tokens that are of a kind."""

    def share(measured: Measured) -> Value:
        n_found = int(measured.sums.counts[_kind(measured, name)].sum())
        return ratio(n_found, measured.sums.tokens)

    return share


def _kind(measured: Measured, name: str) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = getattr(measured.tokens, name)
    return (
        found
        if name in ("is_partial", "is_unknown")
        else found & measured.tokens.is_model
    )


def _n_rare(below: int, *, inner: bool) -> Callable[[Measured], Value]:
    """Count the rare tokens of the model: those that a merge uses as a part, or the others."""

    def n_rare(measured: Measured) -> Value:
        tokens = measured.tokens
        is_rare = tokens.is_model & (measured.sums.counts < below)
        return int(np.count_nonzero(is_rare & (tokens.is_inner == inner)))

    return n_rare


# The table

_TEXT = "Counted in the original text, before a tokenizer changes it."
_MISSING = (
    "It is shown only if there are such characters. Each counts as one token without an id, unless "
    "the tokenizer drops it: then it counts as text, but not as a token."
)
_COMPRESSION = (
    "Compare it only on the same text. Higher compression does not mean a better model: the two "
    "are related if only the training corpus differs, but not if the algorithm differs."
)
_WORDS = (
    "It depends on the definition of a word: compare it only for the same segmenter."
)
_PARALLEL = (
    "It is defined only for parallel text, where the documents of all groups say the same. bytepair "
    "checks that all groups have the same number of documents, but not that these say the same."
)
_DISTRIBUTION = (
    "100 % if all these tokens were equally frequent. It mostly follows the number of tokens. A "
    "higher value can go with a worse model: dropping merges at random, or a pattern that cuts off "
    "marks, raises it."
)
_VOCABULARY = "It grows with the corpus: compare it only on the same text."
_RARE = (
    "Counts are from this corpus, not from the training corpus of the tokenizer or a model. A "
    "token that is part of longer ones may be rare because these take its place."
)

SECTIONS: dict[str, tuple[Metric, ...]] = {
    "Corpus": (
        Metric(
            "documents",
            "documents",
            "documents",
            "documents",
            "Options define what a document is.",
            _sum("documents"),
        ),
        Metric(
            "lines",
            "lines",
            "lines",
            "newlines, and ends of documents without a final newline",
            "An empty document has no line.",
            _sum("lines"),
        ),
        Metric("bytes", "bytes", "bytes", "bytes of UTF-8", _TEXT, _sum("bytes")),
        Metric(
            "characters",
            "characters",
            "characters",
            "bytes that do not continue a UTF-8 character",
            "Code points, not characters as a reader sees them. " + _TEXT,
            _sum("characters"),
        ),
        Metric(
            "tokens",
            "tokens",
            "tokens",
            "tokens",
            "Without the special tokens that a template puts around a text.",
            _sum("tokens"),
            best="fewest",
        ),
        Metric(
            "missing",
            "characters without a token",
            "characters",
            "characters that no token represents",
            _MISSING,
            _sum("n_missing"),
            best="fewest",
        ),
        Metric(
            "missing_share",
            "characters without a token, share",
            "share",
            "characters that no token represents / characters",
            _MISSING,
            _ratio("n_missing", "characters"),
            best="fewest",
        ),
        Metric(
            "pieces",
            "pieces",
            "pieces",
            "pieces that the pattern cuts and no merge crosses; an added token is one piece",
            "Without a pattern, all text between two added tokens is one piece.",
            _sum("pieces"),
        ),
    ),
    "Compression": (
        Metric(
            "bytes_per_token",
            "bytes per token",
            "bytes/token",
            "bytes / tokens",
            "Scripts differ in bytes per character, so do not compare languages with it. "
            + _COMPRESSION,
            _ratio("bytes", "tokens"),
            best="most",
        ),
        Metric(
            "characters_per_token",
            "characters per token",
            "characters/token",
            "characters / tokens",
            "Scripts differ in how much a character says. " + _COMPRESSION,
            _ratio("characters", "tokens"),
            best="most",
        ),
        Metric(
            "tokens_per_line",
            "tokens per line",
            "tokens/line",
            "tokens / lines",
            "It is meaningful only if the lines of texts correspond, as in parallel text.",
            _ratio("tokens", "lines"),
            best="fewest",
        ),
        Metric(
            "tokens_per_piece",
            "tokens per piece",
            "tokens/piece",
            "tokens / pieces",
            "At least 1, unless unknown characters are dropped. The part above 1 is due to the "
            "vocabulary, not the pattern. Compare it only for the same pattern.",
            _ratio("tokens", "pieces"),
        ),
    ),
    "Words": (
        Metric(
            "words", "words", "words", "matches of the segmenter", _WORDS, _sum("words")
        ),
        Metric(
            "tokens_per_word",
            "tokens per word",
            "tokens/word",
            "for each word, the tokens that share a byte with it / words",
            "Also called fertility. " + _WORDS,
            _ratio("word_tokens", "words"),
            best="fewest",
        ),
        Metric(
            "pieces_per_word",
            "pieces per word, the lower bound",
            "pieces/word",
            "for each word, the pieces that share a byte with it / words",
            "No vocabulary gets fewer tokens per word with this pattern. It is 1 if the pattern cuts "
            "no word. " + _WORDS,
            _ratio("word_pieces", "words"),
            best="fewest",
        ),
        Metric(
            "whole_words",
            "words in one token",
            "share",
            "words that share bytes with one token / words",
            "Frequent words count for more. The token may contain more than the word. "
            + _WORDS,
            _ratio("whole_words", "words"),
            best="most",
        ),
        Metric(
            "continued_words",
            "words in several tokens",
            "share",
            "words that share bytes with several tokens / words",
            "Together with words in one token it makes 1, except for words that a tokenizer drops. "
            + _WORDS,
            _ratio("continued_words", "words"),
            best="fewest",
        ),
        Metric(
            "whole_types",
            "distinct words in one token",
            "share",
            "distinct words that are one token when encoded alone / distinct words",
            "Also called STRR. Rare words count as much as frequent ones, so it falls as the corpus "
            "grows. It is low for vocabularies in which most words begin with a space. "
            + _WORDS,
            _of_types("whole"),
            best="most",
            by_group=False,
        ),
        Metric(
            "whole_types_after_space",
            "distinct words in one token, after a space",
            "share",
            "distinct words that are one token when encoded with a space before them / distinct words",
            "It is 0 if the tokenizer makes the space a separate token. " + _WORDS,
            _of_types("whole_after_space"),
            best="most",
            by_group=False,
        ),
    ),
    "Groups": (
        Metric(
            "premium",
            "premium over the baseline",
            "times",
            "tokens of the group / tokens of the baseline",
            _PARALLEL,
            _premium,
            best="fewest",
            of_all=False,
        ),
        Metric(
            "most_to_fewest",
            "largest to smallest group",
            "times",
            "tokens of the group with the most / tokens of the group with the fewest",
            _PARALLEL,
            _most_to_fewest,
            best="fewest",
            by_group=False,
        ),
        Metric(
            "gini",
            "Gini coefficient of groups",
            "share",
            "sum of |a - b| over all pairs of groups / (2 x groups^2 x mean), of tokens",
            "0 if all groups need the same number of tokens. It does not depend on that number, "
            "but it does depend on the choice of groups. " + _PARALLEL,
            lambda measured: gini(_costs(measured)),
            best="fewest",
            by_group=False,
        ),
    ),
    "Distribution": (
        Metric(
            "shannon_efficiency",
            "Shannon efficiency, tokens that occur",
            "share",
            "entropy of tokens in bits / log2 of the number of tokens that occur",
            _DISTRIBUTION,
            lambda measured: shannon_efficiency(measured.sums.counts),
        ),
        Metric(
            "shannon_efficiency_vocabulary",
            "Shannon efficiency, whole vocabulary",
            "share",
            "entropy of tokens in bits / log2 of the size of the vocabulary",
            _DISTRIBUTION,
            lambda measured: shannon_efficiency(
                measured.sums.counts, measured.tokens.n_tokens
            ),
        ),
        Metric(
            "renyi_efficiency",
            "Rényi efficiency, tokens that occur",
            "share",
            "Rényi's entropy of tokens in bits, of order 2.5 / log2 of the number of tokens that occur",
            "Equal to the result of tokenization-scorer with power=2.5; its default is 3. "
            + _DISTRIBUTION,
            lambda measured: renyi_efficiency(measured.sums.counts),
        ),
        Metric(
            "renyi_efficiency_vocabulary",
            "Rényi efficiency, whole vocabulary",
            "share",
            "Rényi's entropy of tokens in bits, of order 2.5 / log2 of the size of the vocabulary",
            _DISTRIBUTION,
            lambda measured: renyi_efficiency(
                measured.sums.counts, n_types=measured.tokens.n_tokens
            ),
        ),
    ),
    "Vocabulary": (
        Metric(
            "vocabulary",
            "vocabulary",
            "tokens",
            "ids that have a token, added tokens included",
            "It does not depend on the corpus.",
            lambda measured: measured.tokens.n_tokens,
        ),
        Metric(
            "used_tokens",
            "tokens that occur",
            "tokens",
            "tokens that occur",
            _VOCABULARY,
            _used,
        ),
        Metric(
            "used_share",
            "vocabulary used",
            "share",
            "tokens that occur / vocabulary",
            _VOCABULARY,
            lambda measured: ratio(_used(measured), measured.tokens.n_tokens),
        ),
        *(
            Metric(
                f"{key}_{'inner' if inner else 'leaves'}",
                f"{title}, {'parts of longer ones' if inner else 'parts of none'}",
                "tokens",
                f"tokens of the model that {what} and that {'a' if inner else 'no'} merge uses "
                "as a part",
                _RARE,
                _n_rare(below, inner=inner),
            )
            for key, title, what, below in (
                ("unused", "unused tokens", "do not occur", 1),
                ("below_20", "below 20 times", "occur fewer than 20 times", 20),
                ("below_100", "below 100 times", "occur fewer than 100 times", 100),
            )
            for inner in (True, False)
        ),
    ),
    "Tokens": (
        *(
            metric
            for key, title, what, name, caveat in (
                (
                    "partial",
                    "with part of a character",
                    "whose bytes are not whole UTF-8 characters",
                    "is_partial",
                    "Single bytes of non-ASCII characters are included.",
                ),
                (
                    "space",
                    "that begin with a space",
                    "that begin with a space, however the vocabulary writes it",
                    "begins_with_space",
                    "It is 0 if the tokenizer marks the ends of words.",
                ),
                (
                    "inner_space",
                    "with white space inside",
                    "with white space between other characters",
                    "has_inner_space",
                    "Tokens with part of a character are not counted.",
                ),
                (
                    "digit",
                    "with a digit",
                    "with a decimal digit of any script",
                    "has_digit",
                    "Tokens with part of a character are not counted.",
                ),
            )
            for metric in (
                Metric(
                    f"{key}_tokens",
                    f"tokens {title}",
                    "tokens",
                    f"tokens of the model {what}",
                    f"It does not depend on the corpus. {caveat}",
                    _n_kind(name),
                ),
                Metric(
                    f"{key}_share",
                    f"occurrences {title}",
                    "share",
                    f"occurrences of tokens of the model {what} / tokens",
                    caveat,
                    _share_of_kind(name),
                ),
            )
        ),
        Metric(
            "unknown_share",
            "unknown tokens",
            "share",
            "occurrences of the unknown token / tokens",
            "One unknown token may represent several characters, or be dropped.",
            _share_of_kind("is_unknown"),
            best="fewest",
        ),
    ),
}
"""All metrics by section, in the order in which they are shown."""

METRICS = {metric.key: metric for metrics in SECTIONS.values() for metric in metrics}
"""All metrics by key."""
