"""What MkDocs calls while it builds the site: pages from the whole repository, and those that are generated.

A page has its path in the repository, by which MkDocs finds what other pages link to.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from docs.website import gallery, measured, reference
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Link, Navigation
from mkdocs.structure.pages import Page

REPOSITORY = Path(__file__).resolve().parents[2]
PLAYGROUND = REPOSITORY / "python/bytepair/playground/index.html"
Entry = str | dict[str, Any]


@event_priority(100)  # before plugins look for pages
def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Give each page its path in the repository, add those outside docs/ and those that are generated."""
    os.chdir(REPOSITORY)
    found = Files([file for file in files if file.src_dir != config.docs_dir])

    def add(path: str, to: str, content: str | bytes) -> None:
        file = File.generated(config, path, content=content)
        file.dest_uri = to.removesuffix(".md") + ".html" if to.endswith(".md") else to
        file.dest_uri = file.dest_uri.replace("README.html", "index.html")
        found.append(file)

    made = generated()
    for file in files:
        if file.src_dir == config.docs_dir and file.inclusion.is_included():
            path = f"docs/{file.src_uri}"
            more = made.pop(path, b"")
            content = (
                file.content_bytes
                if isinstance(more, bytes)
                else file.content_string + "\n" + more
            )
            add(path, file.src_uri, content)
    for path, content in made.items():
        add(path, path.removeprefix("docs/"), content)
    for path in Path().glob("[A-Z]*.md"):
        if path.name != "README.md":
            add(path.name, f"project/{path.name}", path.read_bytes())
    for path in Path("benchmarks/tried").glob("*.md"):
        add(path.as_posix(), path.as_posix(), path.read_bytes())
    config.nav = expanded(config.nav or [], list(found.src_uris))
    return found


def generated() -> dict[str, str | bytes]:
    """Give the content of all pages and files that nobody writes, by their paths."""
    found: dict[str, str | bytes] = {
        "docs/reference/dialects.md": reference.dialects(),
        "docs/reference/patterns.md": reference.patterns(),
        "docs/reference/encodings.md": reference.encodings(),
        "docs/reference/commands.md": reference.all_commands(),
    }
    folders = {
        "docs/reference/command-line": reference.commands(),
        "docs/reference/python": reference.python_pages(),
        "docs/gallery": gallery.pages(Path("docs/examples")),
        "docs/benchmarks": measured.pages(),
    }
    for folder, pages in folders.items():
        found |= {f"{folder}/{name}": content for name, content in pages.items()}
    if PLAYGROUND.exists():
        found["docs/playground/index.html"] = PLAYGROUND.read_bytes()
    return found


def expanded(nav: Sequence[Entry], paths: Sequence[str]) -> list[Entry]:
    """Replace an entry that ends with a star by the pages whose paths begin so.

    >>> expanded([{"A": ["a/x.md", "a/b/*"]}], ["a/b/c.md", "a/b/d.svg"])
    [{'A': ['a/x.md', 'a/b/c.md']}]
    """
    found: list[Entry] = []
    for entry in nav:
        if isinstance(entry, dict):
            ((title, inside),) = entry.items()
            found.append(
                {title: inside if isinstance(inside, str) else expanded(inside, paths)}
            )
        elif entry.endswith("*"):
            found += sorted(
                path
                for path in paths
                if path.startswith(entry[:-1]) and path.endswith(".md")
            )
        else:
            found.append(entry)
    return found


def on_nav(nav: Navigation, *, config: MkDocsConfig, files: Files) -> None:
    """Add the playground, which is no page of the site."""
    if PLAYGROUND.exists():
        nav.items.append(Link("Playground", "playground/index.html"))


def on_page_markdown(
    markdown: str, *, page: Page, config: MkDocsConfig, files: Files
) -> str:
    """Link names to their pages; leave out a list of one page, and what is for the tests.

    That is empty lines of output, and words after a language.
    """
    if page.parent is None:
        page.meta["hide"] = ["navigation"]  # it would list this page alone
    if page.file.src_uri in ("docs/reference/api.md", "docs/reference/commands.md"):
        markdown = reference.with_links(markdown)
    markdown = re.sub(r"^<BLANKLINE>$", "", markdown, flags=re.MULTILINE)
    return re.sub(r"^( *```\w+) (?!title=).*$", r"\1", markdown, flags=re.MULTILINE)
