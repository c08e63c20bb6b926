"""BP601 to BP604: tokens that a corpus never uses or nearly always merges, and missing characters.

One pass over the corpus counts exactly how often each token is formed and how often it is kept.
A text file that is a single document is held in memory.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
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

__all__ = ["count", "find"]

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


class Used:
    """How often each token was formed, how often it was kept, and what no token stood for."""

    def __init__(
        self,
        formed: "NDArray[np.uint64]",
        kept: "NDArray[np.uint64]",
        missing: Counter[bytes],
    ) -> None:
        self.formed, self.kept, self.missing = formed, kept, missing
        self.n_tokens = int(kept.sum())

    def of(self, id_: int) -> TokenUsage:
        """Give both counts of a token."""
        return TokenUsage(int(self.formed[id_]), int(self.kept[id_]))


def count(
    subject: Subject,
    corpus: Any,  # noqa: ANN401 -- what `list_sources` takes
    reading: dict[str, Any],
    progress: "Progress | None" = None,
) -> Used:
    """Count the tokens of a corpus, both those that are formed and those that are kept.

    ``reading`` has the options of :func:`bytepair.train` that define a document.
    """
    from bytepair.data._readers import Part, ReadOptions, Tally, read_rows
    from bytepair.data._sources import list_sources, refuse_idle

    reading = dict(reading)
    sources = list_sources(corpus, reading.pop("input_format", None))
    options = ReadOptions(**reading)
    refuse_idle(sources, options)
    encoder = Encoder.of(subject.tokenizer)
    usage, finding, tally = _core.Usage(encoder.tokenizer), _finding(encoder), Tally()
    total, n_before = sum(source.size for source in sources), 0
    for source in sources:
        part = Part(source)
        for rows in read_rows(part, options, tally):
            column = (rows.data, rows.offsets)
            usage.add_rows(column)
            if finding is not None and encoder.may_miss(column[0]):
                finding.add_rows(column)
            if progress is not None:
                progress(n_before + tally.place(part), total)
        n_before += source.size
    formed, kept = usage.sums()
    n_ids = subject.tokenizer.n_vocab
    counts = finding.missing(0) if finding is not None and finding.groups else []
    missing = named(subject.tokenizer, counts)
    return Used(formed[:n_ids], kept[:n_ids], missing)


def _finding(encoder: Encoder) -> _core.Measure | None:
    """Give what finds characters that no token stands for, if there may be any."""
    if encoder.finder is not None:
        tokenizer, missing = encoder.finder
        return _core.Measure(tokenizer, missing=missing)
    if encoder.missing is not None:
        return _core.Measure(encoder.tokenizer, missing=encoder.missing)
    return None


def find(subject: Subject, used: Used) -> Iterator[Finding]:
    """Look for tokens that the corpus does not use, or hardly uses."""
    subject.counts["corpus_tokens"] = used.n_tokens
    corpus = f"{used.n_tokens:,} tokens of this corpus"
    ids = [id_ for id_ in subject.text_ids if len(subject.tokens[id_][1]) > 1]
    never = [id_ for id_ in ids if not used.formed[id_]]
    if never:
        message = f"these tokens are never formed in encoding the {corpus}"
        yield Finding("BP601", message, subject.all_found(never))
    tokens = _intermediate(subject, used, ids)
    if tokens:
        n_never = sum(not token.usage.kept for token in tokens if token.usage)
        message = (
            f"these tokens are formed when the {corpus} is encoded, but kept at most "
            f"{100 * MOST_KEPT:g} % of the times; {n_never:,} of them are always merged "
            "further"
        )
        yield Finding("BP602", message, tokens)
    yield from _glitches(subject, used, ids)
    if used.missing:
        yield _missing(subject, used.missing)


def _missing(subject: Subject, missing: Counter[bytes]) -> Finding:
    """Name the characters that no token stands for, the most frequent first."""
    order = sorted(missing, key=lambda text: (-missing[text], text))
    tokens = tuple(
        FoundToken(None, plain(text), amount(missing[text], "time")) for text in order
    )
    fate = (
        "they are dropped"
        if subject.rules["drops_missing"]
        else "texts that contain them cannot be encoded"
    )
    message = f"no token represents these characters of this corpus; {fate}"
    return Finding("BP604", message, tokens)


def _intermediate(
    subject: Subject, used: Used, ids: list[int]
) -> tuple[FoundToken, ...]:
    """Describe tokens that are formed but hardly kept, by their share, the most formed first."""
    found = []
    for id_ in ids:
        usage = used.of(id_)
        if usage.formed and usage.kept_share <= MOST_KEPT:
            detail = (
                f"formed {amount(usage.formed, 'time')}, kept {amount(usage.kept, 'time')}"
                + (f" ({100 * usage.kept_share:.3f} %)" if usage.kept else "")
            )
            found.append((usage, subject.found(id_, detail, usage)))
    found.sort(key=lambda entry: (entry[0].kept_share, -entry[0].formed))
    return tuple(token for _, token in found)


def _glitches(subject: Subject, used: Used, ids: list[int]) -> Iterator[Finding]:
    """Choose tokens that were learned late, are long, and are rare here."""
    if not ids or used.n_tokens < LEAST_EACH * len(subject.tokens):
        return
    texts = {id_: plain(subject.written[id_]) for id_ in ids}
    lengths = np.array([len(texts[id_]) for id_ in ids])
    longest = np.quantile(lengths, LONG)
    first_late = ids[int(len(ids) * LATE)]
    most = used.n_tokens * RARE
    found = [
        id_
        for id_, length in zip(ids, lengths, strict=True)
        if id_ >= first_late and length >= longest and used.kept[id_] <= most
    ]
    if not found:
        return
    containing = _containing(subject, found)
    tokens = tuple(
        subject.found(id_, _rarely(subject, used, id_, containing[id_]), used.of(id_))
        for id_ in found
    )
    message = (
        "these tokens were learned late, are long, and rarely occur here: a model may have "
        "seen them too rarely to know them"
    )
    yield Finding("BP603", message, tokens, is_fact=False)


def _rarely(subject: Subject, used: Used, id_: int, containing: Iterable[int]) -> str:
    words = f"kept {amount(int(used.kept[id_]), 'time')}"
    names = [repr(plain(subject.written[other])) for other in containing]
    return f"{words}; part of {', '.join(names)}" if names else words


def _containing(subject: Subject, ids: list[int]) -> dict[int, list[int]]:
    """Give, for each token, tokens that merges make from it."""
    wanted = set(ids)
    found: dict[int, list[int]] = defaultdict(list)
    for left, right, id_ in subject.merges:
        for part in {left, right} & wanted:
            if len(found[part]) < MOST_CONTAINING:
                found[part].append(id_)
    return found
