"""Check the built site: every link leads to a file and an anchor that are there, and nothing is loaded from elsewhere.

    python -m docs.website.check_links target/site

Pages are read as a browser reads them, after all that made them. Links to other hosts are only listed: no
connection is made.
"""

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

__all__ = ["Found", "faults", "main", "read"]

LOADED = {
    "script": "src",
    "img": "src",
    "source": "src",
    "iframe": "src",
    "video": "src",
    "audio": "src",
}
IS_LOADED = {"stylesheet", "icon", "preload", "manifest", "modulepreload", "preconnect"}


class Found(NamedTuple):
    """What a page has: anchors, and links with whether a browser loads them with the page."""

    anchors: set[str]
    links: list[tuple[str, bool]]


class Reader(HTMLParser):
    """Collects anchors and links."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found = Found({"", "top"}, [])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag says."""
        given = {name: value or "" for name, value in attrs}
        self.found.anchors.update(given[key] for key in ("id", "name") if key in given)
        if tag in LOADED and LOADED[tag] in given:
            self.found.links.append((given[LOADED[tag]], True))
        elif tag == "link" and "href" in given:
            kinds = set(given.get("rel", "").split())
            if kinds & IS_LOADED:
                self.found.links.append((given["href"], True))
        elif tag == "a" and "href" in given:
            self.found.links.append((given["href"], False))


def read(html: str) -> Found:
    """Read a page.

    >>> read('<h1 id="a">A</h1> <a href="b.html#c">x</a> <img src="d.svg">').links
    [('b.html#c', False), ('d.svg', True)]
    """
    reader = Reader()
    reader.feed(html)
    return reader.found


def faults(pages: dict[str, Found], files: set[str], base: str = "/") -> Iterator[str]:
    """List the links that lead nowhere, and what is loaded from other hosts.

    ``base`` is the path at which the site is published.

    >>> pages = {
    ...     "a/b.html": read(
    ...         '<a href="../c.html#d">x</a><a href="e.txt">x</a><img src="//h/i.png">'
    ...     )
    ... }
    >>> pages["c.html"] = read('<p id="e">')
    >>> for fault in faults(pages, {"a/e.txt"}):
    ...     print(fault)
    a/b.html: ../c.html#d: c.html has no such anchor
    a/b.html: //h/i.png is loaded from another host
    """
    for name, page in pages.items():
        for link, is_loaded in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if is_loaded and parts.scheme != "data":
                    yield f"{name}: {link} is loaded from another host"
                continue
            target = place_of(unquote(parts.path), name, base)
            if target not in pages and target not in files:
                yield f"{name}: {link}: there is no {target}"
            elif (
                target in pages and unquote(parts.fragment) not in pages[target].anchors
            ):
                is_script = parts.fragment.startswith("__") or not target.endswith(
                    ".html"
                )
                if not is_script and not is_state(target):
                    yield f"{name}: {link}: {target} has no such anchor"


def is_state(target: str) -> bool:
    """Tell whether fragments of a page are its state, not anchors."""
    return target.startswith("playground/")


def place_of(path: str, page: str, base: str) -> str:
    """Give the file to which a path leads from a page.

    >>> (
    ...     place_of("../b/", "a/c.html", "/"),
    ...     place_of("/x/b.html", "a.html", "/x/"),
    ...     place_of("", "a.html", "/"),
    ... )
    ('b/index.html', 'b.html', 'a.html')
    """
    if not path:
        return page
    folder = [] if path.startswith("/") else page.split("/")[:-1]
    path = path.removeprefix(base) if path.startswith("/") else path
    for part in path.split("/"):
        if part == "..":
            folder = folder[:-1]
        elif part not in (".", ""):
            folder.append(part)
    name = "/".join(folder)
    is_folder = not path or path.endswith(("/", "..")) or path == "."
    return f"{name}/index.html".lstrip("/") if is_folder else name


def main(arguments: list[str]) -> int:
    """Check a folder; 1 if there is a fault."""
    folder = Path(arguments[0])
    base = urlsplit(arguments[1]).path if len(arguments) > 1 else "/"
    files = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file()
    }
    pages = {
        name: read((folder / name).read_text(encoding="utf-8"))
        for name in sorted(files)
        if name.endswith(".html")
    }
    found = list(faults(pages, files, base or "/"))
    print(*found, sep="\n", end="\n" * bool(found))
    links = {link for page in pages.values() for link, _ in page.links}
    hosts = sorted(link for link in links if urlsplit(link).netloc)
    n_links = sum(len(page.links) for page in pages.values())
    print(
        f"{len(pages)} pages, {n_links:,} links, {len(found)} of them dead; {len(hosts)} links to other hosts"
    )
    print(*(f"  {link}" for link in hosts), sep="\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
