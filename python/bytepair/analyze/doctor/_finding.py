"""What a diagnosis is: findings, each with the tokens that it is about."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ._codes import CODES, Severity

__all__ = ["Diagnosis", "Finding", "FoundToken"]


@dataclass(frozen=True)
class FoundToken:
    r"""What a finding is about: a token, or a merge or a text where that has no id.

    ``text`` is the token as its file writes it, marks included; bytes that are no characters
    are escapes (``\\xe4``). ``detail`` says more, such as the ids that its text gets instead.
    """

    id: int | None
    text: str
    detail: str = ""


@dataclass(frozen=True)
class Finding:
    """One finding: its code, a sentence, and all that it is about.

    A fact follows from the tokenizer (and the corpus) with certainty. A hint does not: what
    was looked for was not found, in as many places as the sentence says.
    """

    code: str
    message: str
    tokens: tuple[FoundToken, ...]
    is_fact: bool = True

    @property
    def count(self) -> int:
        """The number of tokens, or of whatever is listed."""
        return len(self.tokens)

    @property
    def name(self) -> str:
        """The name of its code, in words."""
        return CODES[self.code].name

    @property
    def severity(self) -> Severity:
        """How grave it is: ``error``, ``warning`` or ``note``."""
        return CODES[self.code].severity

    def as_object(self) -> dict[str, Any]:
        """Give everything as JSON holds it."""
        return {
            "code": self.code,
            "name": self.name,
            "severity": self.severity,
            "is_fact": self.is_fact,
            "message": self.message,
            "count": self.count,
            "tokens": [
                {"id": token.id, "text": token.text, "detail": token.detail}
                for token in self.tokens
            ],
        }


@dataclass(frozen=True)
class Diagnosis:
    """What was found in a tokenizer.

    ``counts`` are numbers that the findings rest on, by name: ``ids`` (holes included),
    ``tokens`` of the vocabulary, ``text_tokens`` that merges may make, ``partial`` ones among
    them, which hold part of a character, ``not_given_back``, whose own text, alone, gives other ids (whole
    characters only), and ``tried_contexts``. Those that were not looked for are absent.
    """

    findings: tuple[Finding, ...]
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_clean(self) -> bool:
        """Whether there are no findings but notes."""
        return all(finding.severity == "note" for finding in self.findings)

    def of(self, code: str) -> tuple[Finding, ...]:
        """Give the findings of a code."""
        return tuple(finding for finding in self.findings if finding.code == code)

    def ids(self, code: str) -> set[int]:
        """Give the ids of all tokens that findings of a code name."""
        tokens = (token for finding in self.of(code) for token in finding.tokens)
        return {token.id for token in tokens if token.id is not None}

    def as_object(self) -> dict[str, Any]:
        """Give everything as JSON holds it."""
        return {
            "counts": dict(self.counts),
            "findings": [finding.as_object() for finding in self.findings],
        }
