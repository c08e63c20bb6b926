"""Check the built site: every link leads to a file and an anchor that are there, and nothing is loaded from elsewhere.

    python -m docs.website.check_links target/site

Links to other hosts are not followed.
"""

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

__all__ = ["Page", "faults", "main"]

HOST = "http://site"
LINKS = {("a", "href"), ("link", "href"), ("iframe", "src")}
LINKS |= {(tag, "src") for tag in ("script", "img", "source", "video", "audio")}
NOT_LOADED = {"canonical", "x-canonical", "prev", "next", "alternate"}


class Page(HTMLParser):
    """The anchors of a page, and its links with whether a browser loads them with the page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.anchors = {"", "top"}
        self.links: list[tuple[str, bool]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag says."""
        is_loaded = tag != "a" and dict(attrs).get("rel") not in NOT_LOADED
        for name, value in attrs:
            if name in ("id", "name"):
                self.anchors.add(value or "")
            elif (tag, name) in LINKS:
                self.links.append((value or "", is_loaded))


def faults(pages: dict[str, Page], files: set[str], base: str = "/") -> Iterator[str]:
    """List the links that lead nowhere, and what is loaded from other hosts.

    ``base`` is the path at which the site is published.

    >>> pages = {"a/b.html": Page('<a href="../c.html#d">x</a><img src="//h/i.png">')}
    >>> pages["c.html"] = Page('<p id="e">')
    >>> for fault in faults(pages, {*pages}):
    ...     print(fault)
    a/b.html: ../c.html#d: c.html has no such anchor
    a/b.html: //h/i.png is loaded from another host
    """
    for name, page in pages.items():
        for link, is_loaded in page.links:
            to = urlsplit(urljoin(f"{HOST}{base}{name}", link))
            if f"{to.scheme}://{to.netloc}" != HOST:
                if is_loaded and to.scheme != "data":
                    yield f"{name}: {link} is loaded from another host"
                continue
            target = unquote(to.path).removeprefix(base)
            target += "index.html" if target.endswith("/") or not target else ""
            if target not in files:
                yield f"{name}: {link}: there is no {target}"
            elif target in pages and not target.startswith("playground/"):
                anchor = unquote(to.fragment)
                if anchor not in pages[target].anchors and not anchor.startswith("__"):
                    yield f"{name}: {link}: {target} has no such anchor"


def main(folder: Path, address: str = "/") -> int:
    """Check a folder; 1 if there is a fault."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    files = {path.relative_to(folder).as_posix() for path in paths}
    names = sorted(name for name in files if name.endswith(".html"))
    pages = {name: Page((folder / name).read_text(encoding="utf-8")) for name in names}
    found = list(faults(pages, files, urlsplit(address).path or "/"))
    n_links = sum(len(page.links) for page in pages.values())
    print(
        *found, f"{len(pages)} pages, {n_links:,} links, {len(found)} faults", sep="\n"
    )
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:3]))
