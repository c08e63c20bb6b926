"""BP601 to BP604: tokens that a corpus never uses or nearly always merges, and missing characters.

One pass over the corpus counts exactly how often each token is formed and how often it is kept.
A text file that is a single document is held in memory.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bytepair import _core
from bytepair._numpy import np
from bytepair._plurals import amount
from bytepair.analyze._missing import Encoder, named

from ._finding import Finding, FoundToken, TokenUsage
from ._subject import Subject, plain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Progress = Callable[[int, int], object]

__all__ = ["Used", "count", "find"]

MOST_KEPT = 0.01
"""A token that is kept at most this share of the times that it is formed is intermediate."""

RARE = 1e-7
"""A token below this share of the corpus is rare: one in ten million."""

LATE = 2 / 3
"""A token of text is late if at least this share of them has lower ids."""

LONG = 0.9
"""A token of text is long if it has more characters than this share of them."""

LEAST_EACH = 20
"""A corpus with fewer tokens per token of the vocabulary is too small to judge rare ones."""

MOST_CONTAINING = 3


@dataclass(frozen=True)
class Used:
    """How often each token was formed and kept, and each character without a token occurred."""

    formed: "NDArray[np.uint64]"
    kept: "NDArray[np.uint64]"
    missing: Counter[bytes]

    def found(self, subject: Subject, id_: int, detail: str) -> FoundToken:
        """Describe a token with its counts."""
        usage = TokenUsage(int(self.formed[id_]), int(self.kept[id_]))
        return FoundToken(id_, subject.written[id_], detail, usage)


def count(
    subject: Subject,
    corpus: Any,  # noqa: ANN401 -- what `list_sources` takes
    reading: Mapping[str, Any],
    progress: "Progress | None" = None,
) -> Used:
    """Count the tokens of a corpus, both those that are formed and those that are kept.

    ``reading`` has the options of :func:`bytepair.train` that define a document.
    """
    from bytepair.data._readers import Part, ReadOptions, Tally, read_rows, refuse_idle
    from bytepair.data._sources import list_sources

    reading = dict(reading)
    sources = list_sources(corpus, reading.pop("input_format", None))
    options = ReadOptions(**reading)
    refuse_idle(sources, options)
    encoder = Encoder.of(subject.tokenizer)
    usage, measure, tally = _core.Usage(encoder.tokenizer), _measure(encoder), Tally()
    total, n_before = sum(source.size for source in sources), 0
    for source in sources:
        part = Part(source)
        for rows in read_rows(part, options, tally):
            column = (rows.data, rows.offsets)
            usage.add_rows(column)
            if measure is not None and encoder.may_miss(column[0]):
                measure.add_rows(column)
            if progress is not None:
                progress(n_before + tally.place(part), total)
        n_before += source.size
    formed, kept = usage.sums()
    n_ids = subject.tokenizer.n_vocab
    counts = measure.missing(0) if measure is not None and measure.groups else []
    missing = named(subject.tokenizer, counts)
    return Used(formed[:n_ids], kept[:n_ids], missing)


def _measure(encoder: Encoder) -> _core.Measure | None:
    """Return a measure of the characters that no token stands for; ``None`` if there cannot be any."""
    tokenizer, missing = encoder.finder or (encoder.tokenizer, encoder.missing)
    return None if missing is None else _core.Measure(tokenizer, missing=missing)


def find(subject: Subject, used: Used) -> Iterator[Finding]:
    """Look for tokens that the corpus does not use, or hardly uses."""
    subject.counts["corpus_tokens"] = int(used.kept.sum())
    ids = [id_ for id_ in subject.text_ids if len(subject.tokens[id_][1]) > 1]
    never = [id_ for id_ in ids if not used.formed[id_]]
    yield Finding("BP601", subject.all_found(never))
    yield Finding("BP602", _intermediate(subject, used, ids))
    limits = "Only a test with the model can prove it."
    yield Finding("BP603", _glitches(subject, used, ids), limits)
    yield Finding("BP604", _missing(subject, used.missing))


def _intermediate(
    subject: Subject, used: Used, ids: list[int]
) -> tuple[FoundToken, ...]:
    """Describe tokens that are formed but hardly kept, by their share, the most formed first."""
    formed, kept = used.formed.tolist(), used.kept.tolist()
    found = [id_ for id_ in ids if formed[id_] and kept[id_] <= MOST_KEPT * formed[id_]]
    found.sort(key=lambda id_: (kept[id_] / formed[id_], -formed[id_]))

    def detail(id_: int) -> str:
        share = f" ({100 * kept[id_] / formed[id_]:.3f} %)" if kept[id_] else ""
        return f"formed {amount(formed[id_], 'time')}, kept {amount(kept[id_], 'time')}{share}"

    return tuple(used.found(subject, id_, detail(id_)) for id_ in found)


def _glitches(subject: Subject, used: Used, ids: list[int]) -> tuple[FoundToken, ...]:
    """Choose tokens that were learned late, are long, and are rare here."""
    n_tokens = subject.counts["corpus_tokens"]
    if not ids or n_tokens < LEAST_EACH * len(subject.tokens):
        return ()
    lengths = [len(subject.written[id_]) for id_ in ids]
    longest = np.quantile(lengths, LONG)
    first_late = ids[int(len(ids) * LATE)]
    found = [
        id_
        for id_, length in zip(ids, lengths, strict=True)
        if id_ >= first_late and length >= longest and used.kept[id_] <= n_tokens * RARE
    ]
    wanted, containing = set(found), defaultdict[int, list[str]](list)
    for left, right, id_ in subject.merges:
        for part in {left, right} & wanted:
            containing[part].append(repr(subject.written[id_]))

    def detail(id_: int) -> str:
        names = ", ".join(containing[id_][:MOST_CONTAINING])
        part = f"; part of {names}" if names else ""
        return f"kept {amount(int(used.kept[id_]), 'time')}{part}"

    return tuple(used.found(subject, id_, detail(id_)) for id_ in found)


def _missing(subject: Subject, missing: Counter[bytes]) -> tuple[FoundToken, ...]:
    """Describe the characters that no token stands for, the most frequent first."""
    order = sorted(missing, key=lambda text: (-missing[text], text))
    fate = subject.fate_of_missing
    return tuple(
        FoundToken(None, plain(text), f"{amount(missing[text], 'time')}; {fate}")
        for text in order
    )
