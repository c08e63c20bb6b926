"""The codes of findings: their names, their severity, and whether they need a corpus.

Codes keep their meaning. The first digit is the family: 1 reachability, 2 units and merges,
3 added tokens, 4 ids and files, 5 normalizer and pattern, 6 the corpus.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from bytepair._labels import argument
from bytepair.errors import TokenizerError

__all__ = ["CODES", "Code", "Severity", "chosen", "page"]

Severity: TypeAlias = Literal["error", "warning", "note"]

PAGES = Path(__file__).parent / "pages"


class Code(NamedTuple):
    """A kind of finding."""

    code: str
    name: str
    severity: Severity
    """``error``: some text gets wrong ids, no ids, or different ids in another library.
    ``warning``: a part of the vocabulary has no effect, or not the effect it seems to have.
    ``note``: worth knowing."""
    needs_corpus: bool = False


CODES = {
    code.code: code
    for code in (
        Code("BP101", "unreachable-token", "warning"),
        Code("BP102", "incomplete-character", "note"),
        Code("BP103", "no-completion-found", "warning"),
        Code("BP104", "no-text-found", "warning"),
        Code("BP201", "missing-byte", "error"),
        Code("BP202", "merge-before-its-part", "warning"),
        Code("BP203", "merge-of-an-unreachable-part", "warning"),
        Code("BP204", "pair-merged-twice", "warning"),
        Code("BP301", "hidden-added-token", "warning"),
        Code("BP302", "same-text-twice", "warning"),
        Code("BP303", "special-token-in-plain-text", "error"),
        Code("BP304", "added-token-in-any-text", "note"),
        Code("BP305", "hidden-by-added-token", "warning"),
        Code("BP401", "holes-in-ids", "note"),
        Code("BP402", "added-token-id-not-kept", "error"),
        Code("BP403", "config-names-another-token", "error"),
        Code("BP404", "config-names-a-missing-token", "error"),
        Code("BP405", "config-class-differs", "error"),
        Code("BP406", "ids-outside-the-model", "error"),
        Code("BP407", "ids-change-in-conversion", "note"),
        Code("BP501", "changed-by-the-normalizer", "warning"),
        Code("BP502", "cut-by-the-pattern", "warning"),
        Code("BP503", "combining-mark-split-from-letter", "note"),
        Code("BP504", "joiner-split-from-sequence", "note"),
        Code("BP505", "text-does-not-come-back", "warning"),
        Code("BP601", "never-used", "note", needs_corpus=True),
        Code("BP602", "intermediate-token", "note", needs_corpus=True),
        Code("BP603", "glitch-candidate", "note", needs_corpus=True),
        Code("BP604", "character-without-a-token", "error", needs_corpus=True),
    )
}
"""All kinds of findings, by code."""
FROM_SETTINGS = {"BP403", "BP404", "BP405", "BP406"}
"""The codes of what is found in the settings beside a tokenizer."""


def chosen(
    select: Iterable[str] | None = None, ignore: Iterable[str] | None = None
) -> set[str]:
    """List the codes that begin with one of ``select``, and with none of ``ignore``.

    >>> sorted(chosen(["BP2"], ["BP203", "BP204"]))
    ['BP201', 'BP202']

    Raises
    ------
    TokenizerError
        No code begins with one of them.
    """
    wanted = set(CODES) if select is None else _matching("select", select)
    return wanted - _matching("ignore", ignore or ())


def _matching(option: str, prefixes: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for prefix in prefixes:
        matching = {code for code in CODES if prefix and code.startswith(prefix)}
        if not matching:
            message = (
                f"{argument(option, prefix)}: no code begins with this; codes are "
                f"{', '.join(CODES)}, and BP1 stands for all that begin with BP1"
            )
            raise TokenizerError(message)
        found |= matching
    return found


def page(code: str) -> str:
    """Give the page of a code, in Markdown.

    >>> page("BP101").splitlines()[0]
    '# BP101 unreachable-token'

    Raises
    ------
    TokenizerError
        The code does not exist.
    """
    if code not in CODES:
        message = f"there is no finding {code!r}; codes are {', '.join(CODES)}"
        raise TokenizerError(message)
    return (PAGES / f"{code}.md").read_text(encoding="utf-8")
