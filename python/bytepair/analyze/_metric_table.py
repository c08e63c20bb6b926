"""The metrics of a tokenizer on a corpus: what each is called, its unit, formula and caveat.

`docs/reference/metrics.md` says the same, and a test compares the two. All are ratios of sums
over all texts, never means of ratios: a long document counts for more than a short one. Nothing
here reads a corpus.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from bytepair._numpy import np

from ._metrics import gini, ratio, renyi_efficiency, shannon_efficiency

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from ._measure import GroupSums, Measurement, WordTypes
    from ._tokens import TokenTable

__all__ = ["METRICS", "SECTIONS", "Metric", "Need", "value"]

Value: TypeAlias = "float | int | None"
Need: TypeAlias = Literal["", "segmenter", "parallel", "baseline"]
"""What a metric needs beside a corpus."""


class Measured(NamedTuple):
    """What a metric is made of: sums over some texts, the vocabulary, and sums of all groups."""

    sums: GroupSums
    tokens: TokenTable
    types: WordTypes | None
    groups: Mapping[str, GroupSums]
    baseline: str | None


@dataclass(frozen=True)
class Metric:
    """A number that a tokenizer has on a corpus.

    Attributes
    ----------
    key
        Its name in JSON and tables.
    title
        What it is called.
    section
        What it belongs to.
    unit
        Its unit; a ``share`` is between 0 and 1.
    formula
        How it is made, in words.
    caveat
        What it does not say.
    compute
        Its value; ``None`` where it does not exist.
    need
        What it needs beside a corpus.
    of_all, by_group
        Whether it exists for all texts, and for those of a group.
    """

    key: str
    title: str
    section: str
    unit: str
    formula: str
    caveat: str
    compute: Callable[[Measured], Value]
    need: Need = ""
    of_all: bool = True
    by_group: bool = True


def value(
    metric: Metric,
    measurement: Measurement,
    group: str | None = None,
    *,
    is_parallel: bool = False,
    baseline: str | None = None,
) -> Value:
    """Give a metric of all texts, or of those of a group; ``None`` where it does not exist."""
    given: dict[Need, bool] = {
        "": True,
        "segmenter": measurement.segmenter is not None,
        "parallel": is_parallel,
        "baseline": is_parallel and baseline is not None,
    }
    is_wanted = metric.of_all if group is None else metric.by_group
    if not (given[metric.need] and is_wanted):
        return None
    return metric.compute(
        Measured(
            measurement.of(group),
            measurement.tokens,
            measurement.word_types,
            measurement.groups,
            baseline,
        )
    )


# What metrics are made of


def _sum(name: str) -> Callable[[Measured], Value]:
    return lambda measured: int(getattr(measured.sums, name))


def _ratio(numerator: str, denominator: str) -> Callable[[Measured], Value]:
    def of_sums(measured: Measured) -> Value:
        sums = measured.sums
        return ratio(getattr(sums, numerator), getattr(sums, denominator))

    return of_sums


def _of_types(name: str) -> Callable[[Measured], Value]:
    def of_types(measured: Measured) -> Value:
        types = measured.types
        return None if types is None else ratio(getattr(types, name), types.types)

    return of_types


def _premium(measured: Measured) -> Value:
    base = measured.groups[str(measured.baseline)]
    return ratio(measured.sums.tokens, base.tokens)


def _costs(measured: Measured) -> list[int]:
    return [sums.tokens for sums in measured.groups.values()]


def _most_to_fewest(measured: Measured) -> Value:
    costs = _costs(measured)
    return ratio(max(costs), min(costs))


def _used(measured: Measured) -> int:
    return int(np.count_nonzero(measured.sums.counts))


def _n_kind(name: str) -> Callable[[Measured], Value]:
    """Count the tokens of the vocabulary that are so."""
    return lambda measured: int(np.count_nonzero(_kind(measured, name)))


def _share_of_kind(name: str) -> Callable[[Measured], Value]:
    """Give the share of occurrences of tokens that are so."""

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
    """Count the model's tokens that occur less often, of those that merges take or of others."""

    def n_rare(measured: Measured) -> Value:
        tokens = measured.tokens
        is_rare = tokens.is_model & (measured.sums.counts < below)
        return int(np.count_nonzero(is_rare & (tokens.is_inner == inner)))

    return n_rare


# The table

SECTIONS = (
    "corpus",
    "compression",
    "words",
    "groups",
    "distribution",
    "vocabulary",
    "tokens",
)
"""In this order metrics are shown."""

_SUM = "A sum, which says nothing without the corpus."
_TEXT = "Of the text as it is given, before a tokenizer changes it."
_COMPRESSION = (
    "Compare it on the same text alone. More compression is not better models: the relation holds "
    "where only the training corpus differs, and not where the algorithm does."
)
_WORDS = "It depends on what a word is: compare it for the same segmenter alone."
_PARALLEL = (
    "It exists for parallel text alone: documents of all groups that say the same. Whether they do "
    "is for you to know; that there are as many of each is checked."
)
_DISTRIBUTION = (
    "It mostly follows the number of tokens. Tokenizers with a higher value and worse models are "
    "known: merges that are dropped at random, or a pattern that cuts marks off, raise it."
)
_VOCABULARY = "It grows with the corpus: compare it on the same text alone."
_RARE = (
    "Counts are those of this corpus, not of the one that the tokenizer or a model was trained on. "
    "An inner token may be rare because a longer one took its place."
)

METRICS: dict[str, Metric] = {
    metric.key: metric
    for metric in (
        Metric(
            "documents",
            "documents",
            "corpus",
            "documents",
            "documents",
            "What a document is, options say.",
            _sum("documents"),
        ),
        Metric(
            "lines",
            "lines",
            "corpus",
            "lines",
            "newlines, and the ends of documents that end with none",
            "An empty document has no line.",
            _sum("lines"),
        ),
        Metric(
            "bytes", "bytes", "corpus", "bytes", "bytes of UTF-8", _TEXT, _sum("bytes")
        ),
        Metric(
            "characters",
            "characters",
            "corpus",
            "characters",
            "bytes that do not continue a character of UTF-8",
            "Code points, not what a reader takes for a character. " + _TEXT,
            _sum("characters"),
        ),
        Metric(
            "tokens",
            "tokens",
            "corpus",
            "tokens",
            "tokens",
            "Without the special tokens that a template puts around a text.",
            _sum("tokens"),
        ),
        Metric(
            "pieces",
            "pieces",
            "corpus",
            "pieces",
            "pieces that the pattern cuts and no merge crosses, an added token being one",
            "Without a pattern all text between two added tokens is one piece.",
            _sum("pieces"),
        ),
        Metric(
            "words",
            "words",
            "corpus",
            "words",
            "matches of the segmenter",
            _WORDS,
            _sum("words"),
            "segmenter",
        ),
        Metric(
            "bytes_per_token",
            "bytes per token",
            "compression",
            "bytes/token",
            "bytes / tokens",
            "Scripts differ in bytes per character, so do not compare languages by it. "
            + _COMPRESSION,
            _ratio("bytes", "tokens"),
        ),
        Metric(
            "characters_per_token",
            "characters per token",
            "compression",
            "characters/token",
            "characters / tokens",
            "Scripts differ in what a character says. " + _COMPRESSION,
            _ratio("characters", "tokens"),
        ),
        Metric(
            "lines_per_token",
            "lines per token",
            "compression",
            "lines/token",
            "lines / tokens",
            "It means something where lines of texts correspond, as in parallel text.",
            _ratio("lines", "tokens"),
        ),
        Metric(
            "tokens_per_line",
            "tokens per line",
            "compression",
            "tokens/line",
            "tokens / lines",
            "It means something where lines of texts correspond, as in parallel text.",
            _ratio("tokens", "lines"),
        ),
        Metric(
            "tokens_per_piece",
            "tokens per piece",
            "compression",
            "tokens/piece",
            "tokens / pieces",
            "At least 1, unless unknown characters are dropped: what is above it is due to the "
            "vocabulary, whatever the pattern. Compare it for the same pattern alone.",
            _ratio("tokens", "pieces"),
        ),
        Metric(
            "tokens_per_word",
            "tokens per word",
            "words",
            "tokens/word",
            "for each word, the tokens that share a byte with it / words",
            "Also called fertility. " + _WORDS,
            _ratio("word_tokens", "words"),
            "segmenter",
        ),
        Metric(
            "pieces_per_word",
            "pieces per word, the floor",
            "words",
            "pieces/word",
            "for each word, the pieces that share a byte with it / words",
            "No vocabulary gets tokens per word below it. A pattern that cuts nothing has a floor of "
            "1. " + _WORDS,
            _ratio("word_pieces", "words"),
            "segmenter",
        ),
        Metric(
            "whole_words",
            "words in one token",
            "words",
            "share",
            "words that share bytes with one token / words",
            "In context: frequent words count for more. A token may hold more than the word. "
            + _WORDS,
            _ratio("whole_words", "words"),
            "segmenter",
        ),
        Metric(
            "continued_words",
            "continued words",
            "words",
            "share",
            "words that share bytes with several tokens / words",
            "With words in one token it makes 1, but for words that a tokenizer drops. "
            + _WORDS,
            _ratio("continued_words", "words"),
            "segmenter",
        ),
        Metric(
            "whole_types",
            "distinct words in one token",
            "words",
            "share",
            "distinct words that are one token when encoded alone / distinct words",
            "Also called STRR. Rare words count as much as frequent ones, so it falls as a corpus "
            "grows. Vocabularies whose words begin with a space have few without one. "
            + _WORDS,
            _of_types("whole"),
            "segmenter",
            by_group=False,
        ),
        Metric(
            "whole_types_after_space",
            "distinct words in one token, after a space",
            "words",
            "share",
            "distinct words that are one token when encoded with a space before them / distinct words",
            "A tokenizer that makes the space a token of its own has none. " + _WORDS,
            _of_types("whole_after_space"),
            "segmenter",
            by_group=False,
        ),
        Metric(
            "premium",
            "premium over the baseline",
            "groups",
            "times",
            "tokens of the group / tokens of the baseline",
            _PARALLEL,
            _premium,
            "baseline",
            of_all=False,
        ),
        Metric(
            "most_to_fewest",
            "largest to smallest group",
            "groups",
            "times",
            "tokens of the group with the most / tokens of the group with the fewest",
            _PARALLEL,
            _most_to_fewest,
            "parallel",
            by_group=False,
        ),
        Metric(
            "gini",
            "Gini coefficient of groups",
            "groups",
            "share",
            "sum of |a - b| over all pairs of groups / (2 x groups^2 x mean), of tokens",
            "0 where all groups need as many tokens; it says nothing of how many these are, and "
            "depends on which groups there are. " + _PARALLEL,
            lambda measured: gini(_costs(measured)),
            "parallel",
            by_group=False,
        ),
        Metric(
            "shannon_efficiency",
            "Shannon efficiency, of types that occur",
            "distribution",
            "share",
            "entropy of tokens in bits / log2 of the number of tokens that occur",
            _DISTRIBUTION,
            lambda measured: shannon_efficiency(measured.sums.counts),
        ),
        Metric(
            "shannon_efficiency_vocabulary",
            "Shannon efficiency, of the vocabulary",
            "distribution",
            "share",
            "entropy of tokens in bits / log2 of the size of the vocabulary",
            _DISTRIBUTION,
            lambda measured: shannon_efficiency(
                measured.sums.counts, measured.tokens.n_tokens
            ),
        ),
        Metric(
            "renyi_efficiency",
            "Rényi efficiency, of types that occur",
            "distribution",
            "share",
            "Rényi's entropy of tokens in bits, of order 2.5 / log2 of the number of tokens that occur",
            "As tokenization-scorer computes it with power=2.5; its default is 3. "
            + _DISTRIBUTION,
            lambda measured: renyi_efficiency(measured.sums.counts),
        ),
        Metric(
            "renyi_efficiency_vocabulary",
            "Rényi efficiency, of the vocabulary",
            "distribution",
            "share",
            "Rényi's entropy of tokens in bits, of order 2.5 / log2 of the size of the vocabulary",
            _DISTRIBUTION,
            lambda measured: renyi_efficiency(
                measured.sums.counts, n_types=measured.tokens.n_tokens
            ),
        ),
        Metric(
            "vocabulary",
            "vocabulary",
            "vocabulary",
            "tokens",
            "ids that have a token, added ones among them",
            "The same whatever the corpus.",
            lambda measured: measured.tokens.n_tokens,
        ),
        Metric(
            "used_tokens",
            "tokens that occur",
            "vocabulary",
            "tokens",
            "tokens that occur",
            _VOCABULARY,
            _used,
        ),
        Metric(
            "used_share",
            "vocabulary used",
            "vocabulary",
            "share",
            "tokens that occur / vocabulary",
            _VOCABULARY,
            lambda measured: ratio(_used(measured), measured.tokens.n_tokens),
        ),
        *(
            Metric(
                f"{key}_{'inner' if inner else 'leaves'}",
                f"{title}, {'inner' if inner else 'leaves'}",
                "vocabulary",
                "tokens",
                f"tokens of the model that {what}, and that {'a' if inner else 'no'} merge takes "
                "as a part",
                _RARE,
                _n_rare(below, inner=inner),
            )
            for key, title, what, below in (
                ("unused", "tokens that never occur", "do not occur", 1),
                ("below_20", "below 20 times", "occur less than 20 times", 20),
                ("below_100", "below 100 times", "occur less than 100 times", 100),
            )
            for inner in (True, False)
        ),
        *(
            metric
            for key, title, what, name, caveat in (
                (
                    "partial",
                    "with part of a character",
                    "whose bytes are not whole characters of UTF-8",
                    "is_partial",
                    "Single bytes of other characters than ASCII are among them.",
                ),
                (
                    "space",
                    "that begin with a space",
                    "that begin with a space, however the vocabulary writes it",
                    "begins_with_space",
                    "A tokenizer that marks the ends of words has none.",
                ),
                (
                    "inner_space",
                    "with white space inside",
                    "with white space between other characters",
                    "has_inner_space",
                    "Tokens with part of a character are not looked into.",
                ),
                (
                    "digit",
                    "with a digit",
                    "with a decimal digit of any script",
                    "has_digit",
                    "Tokens with part of a character are not looked into.",
                ),
            )
            for metric in (
                Metric(
                    f"{key}_tokens",
                    f"tokens {title}",
                    "tokens",
                    "tokens",
                    f"tokens of the model {what}",
                    f"The same whatever the corpus. {caveat}",
                    _n_kind(name),
                ),
                Metric(
                    f"{key}_share",
                    f"occurrences {title}",
                    "tokens",
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
            "tokens",
            "share",
            "occurrences of the unknown token / tokens",
            "One may stand for several characters, or be left out.",
            _share_of_kind("is_unknown"),
        ),
    )
}
"""All metrics by key, in the order in which they are shown."""
