"""A diagnosis: findings, each with the tokens that it is about."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from bytepair._results import Result

from ._codes import CODES, Severity

if TYPE_CHECKING:
    from ._loaders import Loader

__all__ = ["Diagnosis", "Finding", "FoundToken", "TokenUsage"]


@dataclass(frozen=True)
class TokenUsage:
    """How often a token is formed in encoding a corpus, and how often it is kept.

    A token is formed by a merge, by a unit of the text, or as a whole piece; it is kept if no
    merge makes a longer token of it. Both counts are exact.

    >>> TokenUsage(formed=8, kept=2).kept_share
    0.25
    """

    formed: int
    kept: int

    @property
    def kept_share(self) -> float:
        """``kept`` divided by ``formed``; 0 for a token that is never formed."""
        return self.kept / self.formed if self.formed else 0.0

    def as_object(self) -> dict[str, Any]:
        """Return the counts and their ratio as a JSON object."""
        return {**asdict(self), "kept_share": self.kept_share}


@dataclass(frozen=True)
class FoundToken:
    r"""An entry of a finding: a token, or a merge or a text without an id.

    ``text`` is the token as in its file, with marks; bytes that are not part of a character
    are escaped (``\xe4``). ``detail`` adds information, such as the ids of its text.
    ``usage`` has the counts of a corpus; ``None`` for findings that need no corpus.
    """

    id: int | None
    text: str
    detail: str = ""
    usage: TokenUsage | None = field(default=None, repr=False)

    def as_object(self) -> dict[str, Any]:
        """Return everything as a JSON object."""
        counts = {} if self.usage is None else self.usage.as_object()
        return {"id": self.id, "text": self.text, "detail": self.detail, **counts}


@dataclass(frozen=True, repr=False)
class Finding(Result):
    """One finding: its code, and the tokens that it is about.

    A fact follows from the tokenizer (and the corpus) with certainty. A hint is not certain;
    ``limits`` says why, such as the extent of a search that did not find the tokens.
    """

    code: str
    tokens: tuple[FoundToken, ...]
    limits: str = ""

    @property
    def is_fact(self) -> bool:
        """Whether the finding is certain."""
        return not self.limits

    @property
    def message(self) -> str:
        """What the finding means, and why a hint is not certain."""
        return f"{CODES[self.code].meaning} {self.limits}".rstrip()

    @property
    def count(self) -> int:
        """The number of entries."""
        return len(self.tokens)

    @property
    def name(self) -> str:
        """The name of its code, in words."""
        return CODES[self.code].name

    @property
    def severity(self) -> Severity:
        """The severity: ``error``, ``warning`` or ``note``."""
        return CODES[self.code].severity

    @property
    def heading(self) -> str:
        """The code, its name, the number of entries and the severity."""
        certainty = "" if self.is_fact else ", a hint"
        severity = f"({self.severity}{certainty})"
        return f"{self.code} {self.name}: {self.count:,} {severity}"

    def as_object(self) -> dict[str, Any]:
        """Return everything as a JSON object."""
        return {
            "code": self.code,
            "name": self.name,
            "severity": self.severity,
            "is_fact": self.is_fact,
            "message": self.message,
            "count": self.count,
            "tokens": [token.as_object() for token in self.tokens],
        }


@dataclass(frozen=True, repr=False)
class Diagnosis(Result):
    """The findings about a tokenizer.

    ``counts`` has numbers about the findings, by name: ``ids`` (holes included); ``partial``,
    tokens with part of a character; ``not_given_back``, tokens of whole characters whose text
    alone is encoded as other ids; ``tried_contexts``; and ``corpus_tokens``. Numbers that were not needed
    are absent. ``unchecked`` lists the checks that were not possible, with the reasons.
    ``loaders`` compares the ids of a folder with those that transformers gives.

    >>> import bytepair
    >>> from bytepair.analyze import diagnose
    >>> tokenizer = bytepair.train_from_iterator([" é è ê ë"], vocab_size=257)
    >>> diagnosis = diagnose(tokenizer, select=["BP102"])
    >>> diagnosis.is_clean, diagnosis.ids("BP102"), diagnosis.findings[0].heading
    (True, {256}, 'BP102 incomplete-character: 1 (note)')
    """

    findings: tuple[Finding, ...]
    counts: Mapping[str, int] = field(default_factory=dict)
    unchecked: tuple[str, ...] = ()
    loaders: "tuple[Loader, ...]" = ()

    @property
    def is_clean(self) -> bool:
        """Whether there are no errors and no warnings."""
        return all(finding.severity == "note" for finding in self.findings)

    def of(self, code: str) -> tuple[Finding, ...]:
        """Return the findings of a code."""
        return tuple(finding for finding in self.findings if finding.code == code)

    def ids(self, code: str) -> set[int]:
        """Return the ids of all tokens in the findings of a code."""
        tokens = (token for finding in self.of(code) for token in finding.tokens)
        return {token.id for token in tokens if token.id is not None}

    def as_object(self) -> dict[str, Any]:
        """Return everything as a JSON object."""
        return {
            "loaders": [loader.as_object() for loader in self.loaders],
            "counts": dict(self.counts),
            "unchecked": list(self.unchecked),
            "findings": [finding.as_object() for finding in self.findings],
        }

    def _texts(self) -> list[str]:
        from ._draw import diagnosis_text

        text = diagnosis_text(self, width=100, n_shown=5, is_painted=False)
        return text.splitlines()
