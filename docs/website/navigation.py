"""The navigation: entries of ``mkdocs.yml`` that name a folder become the pages of that folder.

Pages that the first page of the documentation names follow in its order, the others by their names.
A page stands where it is named itself, if anywhere.
"""

import posixpath
import re
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["completed", "order_of"]

Entry = str | dict[str, Any]


def order_of(markdown: str) -> list[str]:
    """List the pages that a page links to.

    >>> order_of("[a](how-to/a.md#x), [b](b.md), [a](how-to/a.md)")
    ['how-to/a.md', 'b.md']
    """
    return list(dict.fromkeys(re.findall(r"\]\(([\w./-]+\.md)", markdown)))


def completed(
    nav: Sequence[Entry], pages: Iterable[str], order: Sequence[str]
) -> list[Entry]:
    """Replace folders by their pages, and leave out pages that do not exist.

    >>> nav = [
    ...     {"Home": "index.md"},
    ...     {"How-to": "how-to/"},
    ...     {"Reference": ["r/b.md", "r/"]},
    ...     "x.md",
    ... ]
    >>> pages = [
    ...     "index.md",
    ...     "how-to/b.md",
    ...     "how-to/a.md",
    ...     "how-to/more/c.md",
    ...     "r/a.md",
    ...     "r/b.md",
    ... ]
    >>> for entry in completed(nav, pages, ["how-to/b.md"]):
    ...     print(entry)
    {'Home': 'index.md'}
    {'How-to': ['how-to/b.md', 'how-to/a.md', {'More': ['how-to/more/c.md']}]}
    {'Reference': ['r/b.md', 'r/a.md']}
    """
    pages = list(pages)
    named = set(_named(nav))
    return _filled(
        nav, [page for page in pages if page not in named], set(pages), order
    )


def _named(nav: Sequence[Entry]) -> Iterable[str]:
    for entry in nav:
        for value in entry.values() if isinstance(entry, dict) else [entry]:
            yield from _named(value) if isinstance(value, list) else [value]


def _filled(
    nav: Sequence[Entry], free: list[str], known: set[str], order: Sequence[str]
) -> list[Entry]:
    filled: list[Entry] = []
    for entry in nav:
        if isinstance(entry, dict):
            ((title, value),) = entry.items()
            inside = _filled(
                value if isinstance(value, list) else [value], free, known, order
            )
            is_page = isinstance(value, str) and not value.endswith("/")
            if inside:
                filled.append({title: inside[0] if is_page else inside})
        elif entry.endswith("/"):
            filled += _folder(entry, free, order)
        elif entry in known:
            filled.append(entry)
    return filled


def _folder(folder: str, free: list[str], order: Sequence[str]) -> list[Entry]:
    """List the pages of a folder, the index first, and then its folders."""
    inside = [page for page in free if page.startswith(folder)]
    for page in inside:
        free.remove(page)
    places = {page: place for place, page in enumerate(order)}

    def place(page: str) -> tuple[bool, int, str]:
        is_index = posixpath.basename(page) in ("index.md", "README.md")
        return (not is_index, places.get(page, len(places)), page)

    own = sorted((page for page in inside if "/" not in page[len(folder) :]), key=place)
    below: dict[str, list[str]] = {}
    for page in inside:
        name, slash, _ = page[len(folder) :].partition("/")
        if slash:
            below.setdefault(name, []).append(page)
    groups: list[Entry] = [
        {name.replace("-", " ").capitalize(): _folder(f"{folder}{name}/", pages, order)}
        for name, pages in sorted(below.items())
    ]
    return [*own, *groups]
