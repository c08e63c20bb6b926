"""The site as plain Markdown: a page beside each page, and ``llms.txt`` with ``llms-full.txt``.

A page that was written as Markdown stands as it is. One that docstrings filled is read back from its HTML.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["Plain", "first_sentence", "full", "index", "read_back"]


class Plain(NamedTuple):
    """A page: its path on the site, as Markdown, its title, the section of the navigation, and its text."""

    path: str
    title: str
    section: str
    text: str


def index(name: str, summary: str, pages: Iterable[Plain]) -> str:
    r"""Write ``llms.txt``: a list of all pages by section.

    >>> print(
    ...     index(
    ...         "x",
    ...         "About.",
    ...         [
    ...             Plain("a.md", "A", "S", "# A\n\nOne. Two."),
    ...             Plain("b.md", "B", "", ""),
    ...         ],
    ...     )
    ... )
    # x
    <BLANKLINE>
    > About.
    <BLANKLINE>
    - [B](b.md)
    <BLANKLINE>
    ## S
    <BLANKLINE>
    - [A](a.md): One.
    <BLANKLINE>
    """
    lines = [f"# {name}", "", f"> {summary}"]
    sections: dict[str, list[str]] = {"": []}
    for page in pages:
        said = first_sentence(page.text)
        row = f"- [{page.title}]({page.path})" + (f": {said}" if said else "")
        sections.setdefault(page.section, []).append(row)
    for title, rows in sections.items():
        if rows:
            lines += [*(["", f"## {title}"] if title else []), "", *rows]
    return "\n".join(lines) + "\n"


def full(pages: Iterable[Plain]) -> str:
    """Write ``llms-full.txt``: all pages, one after the other."""
    return (
        "\n\n".join(f"<!-- {page.path} -->\n\n{page.text.strip()}" for page in pages)
        + "\n"
    )


def first_sentence(text: str) -> str:
    r"""Give the first sentence of a page, without links, nothing if it begins otherwise.

    >>> first_sentence("# T\n\nSee [it](a.md), e.g. this one. More.\n\nText")
    'See it, e.g. this one.'
    >>> first_sentence("# T\n\n| a |")
    ''
    """
    for paragraph in re.split(r"\n{2,}", text.strip()):
        flat = " ".join(paragraph.split())
        if flat.startswith(("#", "!", "<")):
            continue
        if not re.match(r"[\w`*\[(]", flat):
            return ""
        flat = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", flat)
        found = re.match(r".+?[.:?](?= [A-Z`]|$)", flat)
        return found[0] if found else flat
    return ""


def read_back(html: str) -> str:
    """Write the content of a page as Markdown."""
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    soup = BeautifulSoup(html, "html.parser")
    for part in soup.select("a.headerlink, svg, style, script, .doc-labels"):
        part.decompose()
    for block in soup.select("div.highlight"):
        code = block.get_text().strip("\n")
        pre = soup.new_tag("pre")
        pre["data-language"] = next(
            (
                name.removeprefix("language-")
                for name in block["class"]
                if name.startswith("language-")
            ),
            "",
        )
        pre.string = code
        block.replace_with(pre)

    def language(pre: object) -> str:
        return pre.get("data-language", "")  # type: ignore[attr-defined]

    converter = MarkdownConverter(
        heading_style="ATX", bullets="-", code_language_callback=language
    )
    text = converter.convert_soup(soup)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"
