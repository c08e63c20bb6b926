"""A diagnosis as terminal lines: each finding, its first tokens, and where to read more.

Messages are wrapped and details are cut at the width. Only printable characters reach the
terminal.
"""

import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator

from bytepair._plurals import amount
from bytepair.views._glyphs import fitted, width as columns_of

from . import Diagnosis, Finding, FoundToken, Loader
from ._codes import Severity

__all__ = ["diagnosis_text", "page_text", "severities"]

COLOURS: dict[Severity, str] = {"error": "1;31", "warning": "1;33", "note": "1;36"}
FAINT = "2"
MAX_SENTENCE = 100
MAX_TEXT = 32
INDENT = "    "
NARROWEST = 30


def diagnosis_text(
    diagnosis: Diagnosis, *, width: int, n_shown: int, is_painted: bool
) -> str:
    """Write a diagnosis, with the first ``n_shown`` tokens of each finding."""

    def paint(text: str, colour: str) -> str:
        return f"\x1b[{colour}m{text}\x1b[0m" if is_painted and text else text

    blocks = []
    for finding in diagnosis.findings:
        lines = _head(finding, width, paint)
        lines += textwrap.wrap(
            finding.message,
            min(width, MAX_SENTENCE),
            initial_indent="  ",
            subsequent_indent="  ",
            break_on_hyphens=False,
        )
        for line, detail in _rows(finding.tokens[:n_shown], width):
            lines.append(line + paint(detail, FAINT))
        n_more = finding.count - n_shown
        if n_more > 0 and n_shown > 0:
            lines.append(paint(f"{INDENT}… {n_more:,} more", FAINT))
        blocks.append("\n".join(lines))
    ids = ["\n".join(_ids_of_loaders(diagnosis.loaders, width))]
    ids = ids if diagnosis.loaders else []
    end = [*diagnosis.unchecked, _summary(diagnosis, width)]
    return "\n\n".join([*ids, *blocks, *end])


def _ids_of_loaders(loaders: tuple[Loader, ...], width: int) -> Iterator[str]:
    """Compare the ids that each library gives with those of the tokenizer itself."""
    yield from textwrap.wrap(
        "Ids by library, and the hash of those of a fixed text:", width
    )
    name_width = max((len(loader.name) for loader in loaders), default=0)
    for loader in loaders:
        name = f"{INDENT}{loader.name:<{name_width}}"
        row = f"{name}  {loader.behaviour or '-':<16}  {_judged(loader)}"
        yield from textwrap.wrap(row, width, subsequent_indent=INDENT * 2)
        for line, detail in _rows((loader.first,) if loader.first else (), width):
            yield f"{INDENT}{line}{detail}"[:width]


def _judged(loader: Loader) -> str:
    """Say whether a library gives the ids of the tokenizer, and why not."""
    if loader.problem:
        return f"does not load: {loader.problem}"
    if not loader.made:
        return ""
    why = f"{loader.made} replaces {', '.join(loader.replaced)}"
    why = why if loader.replaced else loader.made
    why += "" if loader.decodes_alike else "; decodes ids to another text"
    if not loader.n_differing:
        return f"the same ids; {why}"
    return f"other ids for {loader.n_differing:,} of {loader.n_texts:,} texts; {why}"


def _head(finding: Finding, width: int, paint: Callable[[str, str], str]) -> list[str]:
    first, *rest = textwrap.wrap(
        finding.heading, width, subsequent_indent="  ", break_on_hyphens=False
    )
    colour = COLOURS[finding.severity]
    return [first.replace(finding.code, paint(finding.code, colour), 1), *rest]


def _rows(tokens: tuple[FoundToken, ...], width: int) -> Iterator[tuple[str, str]]:
    """Lay tokens out in columns: id, text and detail."""
    ids = ["" if token.id is None else f"{token.id:,}" for token in tokens]
    texts = [f"'{_printable(token.text)}'" if token.text else "" for token in tokens]
    id_width = max(map(len, ids), default=0)
    begin_width = len(INDENT) + (id_width + 2 if id_width else 0)
    room = max(8, min(MAX_TEXT, width - begin_width - 2))
    text_width = min(room, max(map(columns_of, texts), default=0))
    left = width - begin_width - text_width - 2
    for token, id_, text in zip(tokens, ids, texts, strict=True):
        begin = INDENT + (f"{id_:>{id_width}}  " if id_width else "")
        line = begin + fitted(text, text_width)
        detail = _printable(token.detail)
        if not detail or left < 8:
            yield line.rstrip(), ""
        else:
            yield f"{line}  ", fitted(detail, left).rstrip()


def page_text(page: str, width: int) -> str:
    r"""Write a page for a terminal: its Markdown without links, and with indented examples.

    >>> print(page_text("# BP1 a\n\n## Why\n\nSee [BP2](BP2.md).", 80))
    BP1 a
    <BLANKLINE>
    Why
    <BLANKLINE>
      See BP2.
    """
    page = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", page)
    blocks = []
    for place, part in enumerate(re.split(r"^```.*\n", page, flags=re.MULTILINE)):
        if place % 2:
            blocks.append(textwrap.indent(part.strip(), INDENT))
            continue
        for block in re.split(r"\n\n|\n(?=- )", part.strip()):
            title = re.fullmatch("#+ (.*)", block)
            blocks.append(title[1] if title else _wrapped(block, width))
    return "\n\n".join(block for block in blocks if block.strip())


def _wrapped(block: str, width: int) -> str:
    """Wrap a paragraph or an item of a list, indented."""
    lines = textwrap.wrap(
        " ".join(block.split()),
        max(NARROWEST, min(width, MAX_SENTENCE)),
        initial_indent="  ",
        subsequent_indent="    " if block.startswith("- ") else "  ",
        break_on_hyphens=False,
        break_long_words=False,
    )
    return "\n".join(lines)


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def severities(diagnosis: Diagnosis) -> str:
    """Count the findings of each severity; empty without findings."""
    counts = Counter(finding.severity for finding in diagnosis.findings)
    return ", ".join(amount(counts[kind], kind) for kind in COLOURS if counts[kind])


def _summary(diagnosis: Diagnosis, width: int) -> str:
    if not diagnosis.findings:
        return "Nothing found."
    code = diagnosis.findings[0].code
    summary = f"Found {severities(diagnosis)}. To explain a code: bytepair doctor --explain {code}"
    return "\n".join(
        textwrap.wrap(summary, min(width, MAX_SENTENCE), break_on_hyphens=False)
    )
