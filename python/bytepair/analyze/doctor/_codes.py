"""The codes of findings: their names, levels and meanings, read from the pages in ``pages``.

Codes keep their meaning. The first digit is the family: 1 reachability, 2 units and merges,
3 added tokens, 4 ids and files, 5 normalizer and pattern, 6 the corpus.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, cast

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
    meaning: str
    """The first paragraph of its page."""

    @property
    def needs_corpus(self) -> bool:
        """Whether it needs a corpus."""
        return self.code.startswith("BP6")


def _read(path: Path) -> Code:
    """Read the heading, the level and the first paragraph of a page."""
    heading, level, _, meaning, *_ = path.read_text(encoding="utf-8").split("\n\n")
    _, code, name = heading.split()
    severity = cast("Severity", level.partition(".")[0].lower())
    return Code(code, name, severity, " ".join(meaning.split()))


CODES = {path.stem: _read(path) for path in sorted(PAGES.glob("BP*.md"))}
"""All kinds of findings, by code."""
FROM_SETTINGS = {"BP403", "BP404", "BP405", "BP406", "BP408"}
"""The codes of findings about the settings files of a tokenizer."""


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
    if isinstance(prefixes, str):
        message = f"{option} must be a list of codes, not one string"
        raise TypeError(message)
    found: set[str] = set()
    for prefix in prefixes:
        matching = {code for code in CODES if prefix and code.startswith(prefix)}
        if not matching:
            message = (
                f"{argument(option, prefix)}: no code begins with this; the codes are "
                f"{', '.join(CODES)}, and BP1 stands for all that begin with BP1"
            )
            raise TokenizerError(message)
        found |= matching
    return found


def page(code: str) -> str:
    """Return the page of a code, in Markdown.

    >>> page("BP101").splitlines()[0]
    '# BP101 unreachable-token'

    Raises
    ------
    TokenizerError
        The code does not exist.
    """
    if code not in CODES:
        message = f"there is no finding {code!r}; the codes are {', '.join(CODES)}"
        raise TokenizerError(message)
    return (PAGES / f"{code}.md").read_text(encoding="utf-8")
